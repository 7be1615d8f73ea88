//! Real programs, staged: they work, and what they did is in the upper layer alone.

use std::path::Path;

use eclusa_sandbox::{clean_environment, git_environment};

use crate::world::{World, run};

/// Runs a text that must succeed, with the environment that a tool would give it.
fn works(program: &str, text: &str) -> Option<(World, String)> {
    let path =
        format!("/usr/local/bin:/usr/bin:/bin:{}", Path::new(env!("CARGO")).parent()?.display());
    if !path.split(':').any(|at| Path::new(at).join(program).exists()) {
        return None;
    }
    let world = World::in_tmp();
    let mut plan = world.staged(&format!("set -e; {text}"));
    plan.env = clean_environment([("PATH".into(), path.into())], &[world.ws()]);
    plan.env.push(("HOME".into(), "/tmp".into()));
    let who = eclusa_sandbox::Identity { name: "n", email: "n@example.org" };
    plan.env.extend(git_environment(&[world.ws()], Some(who)));
    plan.limits.wall = Some(std::time::Duration::from_secs(300));
    let exit = run(&plan);
    let said = exit.output.text();
    assert!(exit.success(), "{program}: {:?} {said}", exit.how);
    assert_eq!(
        std::fs::read_dir(world.ws()).unwrap().count(),
        1,
        "{program} changed the real thing"
    );
    Some((world, said))
}

#[test]
fn git() {
    eclusa_testing::needs!(Namespaces);
    let text = "git init -q -b main; git add .; git commit -qm one; git checkout -qb side; echo s > s; git add s
        git commit -qm side; git checkout -q main; echo m > m; git add m; git commit -qm two; git rebase -q side
        mkdir d; git mv m d/m; git mv d e; git commit -qm moved; git gc -q; git fsck; git status --short; git log --format=%s";
    let Some((world, said)) = works("git", text) else { return };
    assert!(said.ends_with("moved\ntwo\nside\none\n"), "{said}");
    assert!(world.has("state/upper/e/m"));
}

#[test]
fn sqlite() {
    eclusa_testing::needs!(Namespaces);
    let text = "sqlite3 a.db 'pragma journal_mode=wal; create table t(x); insert into t values (1),(2); select sum(x) from t'";
    let Some((world, said)) = works("sqlite3", text) else { return };
    assert_eq!(said, "wal\n3\n");
    assert!(world.has("state/upper/a.db"));
}

#[test]
fn make_and_a_compiler() {
    eclusa_testing::needs!(Namespaces);
    let text = "printf 'int main(){return 0;}' > a.c; printf 'a: a.o\\n\\tcc -o a a.o\\na.o: a.c\\n\\tcc -c a.c\\n' > Makefile
        make -j4 >/dev/null; ./a && echo ran";
    let Some((world, said)) = works("cc", text) else { return };
    assert_eq!(said, "ran\n");
    assert!(world.has("state/upper/a.o"));
}

#[test]
fn cargo() {
    eclusa_testing::needs!(Namespaces);
    let text = "mkdir -p p/src; cd p; printf '[package]\\nname=\"p\"\\nversion=\"0.1.0\"\\nedition=\"2021\"\\n[workspace]\\n' > Cargo.toml
        echo 'fn main() { println!(\"built\"); }' > src/main.rs; CARGO_HOME=/tmp/c cargo run -q --offline";
    let Some((world, said)) = works("cargo", text) else { return };
    assert_eq!(said, "built\n");
    assert!(world.has("state/upper/p/target/debug/p"));
}

#[test]
fn python() {
    eclusa_testing::needs!(Namespaces);
    let text =
        "/usr/bin/python3 -c 'import multiprocessing as m, subprocess as s, os, tempfile, threading
p = m.get_context(\"fork\").Pool(2); print(sum(p.map(abs, [-1, -2, 3]))); p.close(); p.join()
print(s.run([\"echo\", \"sub\"], capture_output=True, text=True).stdout.strip())
os.mkdir(\"a\"); os.rename(\"a\", \"b\"); print(os.listdir(\".\"), tempfile.gettempdir())'
        /usr/bin/python3 -m venv --without-pip v; v/bin/python -c 'print(1)'";
    let Some((world, said)) = works("python3", text) else { return };
    assert!(said.starts_with("6\nsub\n") && said.ends_with("/tmp\n1\n"), "{said}");
    assert!(world.has("state/upper/v/bin/python"));
}

#[test]
fn node() {
    eclusa_testing::needs!(Namespaces);
    let text = "node -e 'const fs = require(\"fs\"), cp = require(\"child_process\");
        fs.mkdirSync(\"d\"); fs.renameSync(\"d\", \"e\"); console.log(fs.readdirSync(\".\").join());
        console.log(cp.execSync(\"echo sub\").toString().trim());
        const f = cp.fork(\"-e\", [\"1\"], {execArgv: []}); f.kill();
        new (require(\"worker_threads\").Worker)(\"console.log(1+1)\", {eval: true});
        WebAssembly.compile(new Uint8Array([0,97,115,109,1,0,0,0])).then(() => console.log(\"wasm\"));'";
    let Some((_, said)) = works("node", text) else { return };
    assert!(
        said.starts_with("e,in.txt\nsub\n") && said.contains("wasm") && said.contains('2'),
        "{said}"
    );
}

/// The kernel refuses it, and what a shell says of that arrives.
#[test]
fn a_program_for_another_machine() {
    eclusa_testing::needs!(Namespaces);
    let world = World::in_tmp();
    let mut program = std::fs::read("/bin/true").unwrap();
    // A processor that nobody makes.
    program[18..20].copy_from_slice(&[0x34, 0x12]);
    put(&world, &program);
    let exit = run(&world.staged("./program; echo code $?"));
    let said = exit.output.text();
    assert!(said.contains("Exec format error") && said.ends_with("code 126\n"), "{said}");
}

/// The numbers of calls mean others there, so that the filter could be led astray: it ends the program.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_program_with_the_32_bit_interface_is_ended() {
    eclusa_testing::needs!(Namespaces);
    let world = World::in_tmp();
    put(&world, &ends_with_seven());
    let outside = std::process::Command::new(world.path("ws/program")).status();
    let runs_here = outside.is_ok_and(|it| it.code() == Some(7));
    let exit = run(&world.staged("./program; echo code $?"));
    let said = exit.output.text();
    let expected = if runs_here { "code 159\n" } else { "code 126\n" };
    assert!(said.ends_with(expected), "{said}");
}

/// `exit(7)` by `int 0x80`, in an ELF of one segment.
#[cfg(target_arch = "x86_64")]
fn ends_with_seven() -> Vec<u8> {
    let half = |number: u16| number.to_le_bytes().to_vec();
    let word = |number: u32| number.to_le_bytes().to_vec();
    let at = 0x0804_8000;
    let ident = [0x7f, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0].to_vec();
    let kind = [half(2), half(3), word(1), word(at + 84), word(52), word(0), word(0)].concat();
    let sizes = [52, 32, 1, 0, 0, 0].map(half).concat();
    let segment = [1, 0, at, at, 96, 96, 5, 0x1000].map(word).concat();
    let code = [0xb8, 1, 0, 0, 0, 0xbb, 7, 0, 0, 0, 0xcd, 0x80].to_vec();
    [ident, kind, sizes, segment, code].concat()
}

fn put(world: &World, program: &[u8]) {
    use std::os::unix::fs::PermissionsExt as _;
    let at = world.path("ws/program");
    std::fs::write(&at, program).unwrap();
    std::fs::set_permissions(&at, std::fs::Permissions::from_mode(0o755)).unwrap();
}
