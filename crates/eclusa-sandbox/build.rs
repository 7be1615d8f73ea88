//! Says whether this build can enforce anything: on Linux with x86-64 or aarch64, and not where the other face of
//! the crate is wanted for a test (the feature `portable`).

fn main() {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|it| it == value);
    let arch = "CARGO_CFG_TARGET_ARCH";
    let known = is("CARGO_CFG_TARGET_OS", "linux") && (is(arch, "x86_64") || is(arch, "aarch64"));
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(enforced)");
    if known && std::env::var_os("CARGO_FEATURE_PORTABLE").is_none() {
        println!("cargo::rustc-cfg=enforced");
    }
}
