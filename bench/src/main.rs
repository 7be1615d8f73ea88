//! What the gate costs: each number beside a baseline measured in the same run.
//!
//! `cargo run --release -p eclusa-bench [gate|validate|parse|store]`; the numbers that were seen
//! are in `bench/README.md`.

mod gate;
mod measure;

fn main() {
    let only = std::env::args().nth(1);
    let sections: [(&str, fn()); 2] = [("gate", gate::run), ("spin", gate::spin)];
    for (name, run) in sections {
        if only.as_deref().is_none_or(|only| only == name) {
            println!("\n{name}");
            run();
        }
    }
}
