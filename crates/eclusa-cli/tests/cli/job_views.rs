//! What a job sees of later changes: contents, listings and events as in a plain directory, and that it cannot turn
//! what we write into its view against anybody else.

use std::fs;

use serde_json::{Value, json};

use crate::{
    hook::{before, claude, rewritten, shell},
    jobs::jobs,
    world::{Ran, World, until},
};

fn world() -> World {
    let world = World::with("mode = \"auto-approve\"\n[effects]\ndelete = \"allow\"\n");
    world.write("workspace/a.txt", "one\n");
    world
}

fn run(world: &World, input: Value) -> Ran {
    crate::jobs::shown(shell(world, &rewritten(&claude(world, &before(world, "Bash", input)))))
}

fn call(world: &World, command: &str) -> Ran {
    let ran = run(world, json!({"command": command}));
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

fn start(world: &World, command: &str) {
    let ran = run(world, json!({"command": command, "run_in_background": true}));
    assert!(ran.out.contains("as job"), "{ran:?}");
}

fn output(world: &World, job: &str) -> String {
    world.eclusa(&["jobs", "output", job]).out
}

fn says(world: &World, job: &str, what: &str) {
    until(what, || output(world, job).contains(what).then_some(()));
}

/// What the server of job 1 answers.
fn served(world: &World, path: &str) -> String {
    let ran = run(world, json!({"command": format!("curl -s http://127.0.0.1:5173/{path}; true")}));
    ran.out
}

const SERVE: &str = "python3 -m http.server 5173 --bind 127.0.0.1";

/// Tells every event of a directory.
const WATCH: &str = r#"
import ctypes, os, struct
c = ctypes.CDLL(None, use_errno=True)
fd = c.inotify_init()
c.inotify_add_watch(fd, b'.', 0x100 | 0x200 | 0x8 | 0x80)
names = {0x100: 'create', 0x200: 'delete', 0x8: 'written', 0x80: 'moved'}
print('watching', flush=True)
while True:
    data = os.read(fd, 65536)
    while data:
        _, mask, _, length = struct.unpack('iIII', data[:16])
        name = data[16:16 + length].rstrip(b'\0').decode()
        print(names.get(mask & 0xfff, mask), name, flush=True)
        data = data[16 + length:]
"#;

#[expect(clippy::disallowed_methods, reason = "the test plays the person")]
#[test]
fn a_job_sees_what_commands_tools_undo_and_people_change() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    world.write("workspace/watch.py", WATCH);
    start(&world, SERVE);
    start(&world, "python3 watch.py");
    says(&world, "2", "watching");
    until("it listens", || (jobs(&world)[0]["ports"] == json!([5173])).then_some(()));
    assert_eq!(served(&world, "a.txt"), "one\n");
    // By a command, which replaces the file.
    call(&world, "printf 'two\\n' > a.new && mv a.new a.txt");
    assert_eq!(served(&world, "a.txt"), "two\n");
    assert_eq!(world.read("workspace/a.txt"), "two\n");
    says(&world, "2", "written a.txt");
    // A name that was asked for before, and what goes again.
    assert!(served(&world, "b.txt").contains("404"));
    call(&world, "echo new > b.txt");
    assert_eq!(served(&world, "b.txt"), "new\n");
    says(&world, "2", "create b.txt");
    call(&world, "rm b.txt");
    assert!(served(&world, "b.txt").contains("404"));
    says(&world, "2", "delete b.txt");
    // An undo.
    let undone = world.eclusa(&["undo"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(served(&world, "b.txt"), "new\n");
    // A tool, from a process of no session.
    assert!(served(&world, "t.txt").contains("404"));
    let wrote = world.eclusa(&["run", "write", "path=t.txt", "content=tool"]);
    assert_eq!(wrote.code, 0, "{wrote:?}");
    assert_eq!(served(&world, "t.txt").trim(), "tool");
    // Directories, in contents and listings; a directory becomes a file and a link.
    assert!(served(&world, "d/c.txt").contains("404"));
    call(&world, "mkdir d && echo in > d/c.txt && ln -s a.txt l");
    assert_eq!(served(&world, "d/c.txt"), "in\n");
    assert_eq!(served(&world, "l"), "two\n");
    call(&world, "rm -r d && echo file > d && rm l && mkdir l && echo deep > l/x");
    assert_eq!((served(&world, "d"), served(&world, "l/x")), ("file\n".into(), "deep\n".into()));
    call(&world, "rm -r d l");
    let listing = served(&world, "");
    assert!(
        listing.contains("b.txt") && !listing.contains(">d<") && !listing.contains(">l/<"),
        "{listing}"
    );
    // A person, who replaces what was brought in: the next call brings it up to date, for itself too.
    fs::remove_file(world.path("workspace/a.txt")).unwrap();
    world.write("workspace/a.txt", "person\n");
    assert_eq!(call(&world, "cat a.txt").out, "person\n");
    assert_eq!(served(&world, "a.txt"), "person\n");
    fs::remove_file(world.path("workspace/t.txt")).unwrap();
    assert!(served(&world, "t.txt").contains("404"));
    // Nothing of all this is the job's doing.
    let ended = world.eclusa(&["jobs", "end", "--all"]);
    assert!(ended.code == 0 && !ended.out.contains("not applied"), "{ended:?}");
    assert_eq!(world.read("workspace/a.txt"), "person\n");
}

#[test]
fn a_program_that_watches_its_files_starts_again() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    world.write("workspace/app.mjs", "console.log('version ' + 1); setInterval(() => {}, 1000);\n");
    start(&world, "node --watch app.mjs");
    says(&world, "1", "version 1");
    call(&world, "sed -i 's/ 1)/ 2)/' app.mjs");
    says(&world, "1", "version 2");
    call(&world, "sed -i 's/ 2)/ 3)/' app.mjs");
    says(&world, "1", "version 3");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}

#[test]
fn what_a_job_wrote_itself_stays_its_own_and_that_is_told() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    for name in ["pipe", "link", "file", "run"] {
        world.write(&format!("workspace/{name}"), "x\n");
    }
    let job = "rm pipe link; mkfifo pipe; ln -s /etc/hostname link; echo mine > file; echo ready; sleep 1000";
    start(&world, job);
    says(&world, "1", "ready");
    for name in ["pipe", "link", "file"] {
        // From the command line: it sees the workspace, not what the job wrote.
        let ran = world.eclusa(&["exec", "--", &format!("echo other > {name}")]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(world.read(&format!("workspace/{name}")), "other\n");
        let told = format!("{}{}", ran.out, ran.err);
        assert!(told.contains(&format!("still has its own `{name}`")), "{told}");
    }
    let ran = world.eclusa(&["exec", "--", "echo other > run"]);
    assert!(!ran.err.contains("its own"), "{ran:?}");
    assert_eq!(call(&world, "cat file").out, "mine\n", "the session sees the job's");
    let ended = world.eclusa(&["jobs", "end", "--all"]);
    assert!(ended.out.contains("of the workspace are not applied"), "{ended:?}");
    assert_eq!(world.read("workspace/file"), "other\n");
}

/// Swaps a directory and a link to an outside place as fast as it can, while we write beneath the directory.
const SWAP: &str = r#"
import ctypes, os, sys
c = ctypes.CDLL(None, use_errno=True)
os.makedirs('d', exist_ok=True)
os.symlink(sys.argv[1], 'l')
print('ready', flush=True)
while True:
    # RENAME_EXCHANGE
    if c.renameat2(-100, b'd', -100, b'l', 2) != 0:
        os.rename('l', 'k'); os.rename('d', 'l'); os.rename('k', 'd')
"#;

#[test]
fn a_job_that_swaps_directories_for_links_leads_us_nowhere() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    fs::create_dir(world.path("outside")).unwrap();
    world.write("outside/kept.txt", "kept\n");
    world.write("workspace/swap.py", SWAP);
    start(&world, &format!("python3 swap.py {}", world.path("outside").display()));
    says(&world, "1", "ready");
    for round in 0..20 {
        let command = format!(
            "mkdir -p d; echo {round} > d/kept.txt; echo {round} > d/new{round}; rm -f d/new{}",
            round - 1
        );
        let ran = world.eclusa(&["exec", "--", &command]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let names: Vec<_> =
        fs::read_dir(world.path("outside")).unwrap().flatten().map(|it| it.file_name()).collect();
    assert_eq!(names, ["kept.txt"]);
    assert_eq!(world.read("outside/kept.txt"), "kept\n");
    assert_eq!(world.read("workspace/d/kept.txt"), "19\n");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
    assert_eq!(world.read("outside/kept.txt"), "kept\n");
}

/// Shuts a directory and a file, holds a lease on another file, and puts sockets, pipes and directories where files were.
const HOLD: &str = r#"
import fcntl, os, signal, socket, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
os.chmod('shut', 0)
os.chmod('kept', 0o444)
leased = os.open('leased', os.O_RDONLY)
try: fcntl.fcntl(leased, fcntl.F_SETLEASE, fcntl.F_RDLCK)
except OSError as err: print(err)
for it in ('socket', 'tree', 'pipe'): os.remove(it)
socket.socket(socket.AF_UNIX).bind('socket')
os.mkdir('tree'); open('tree/own', 'w').close()
os.mkfifo('pipe')
print('ready', flush=True)
time.sleep(1000)
"#;

#[test]
fn a_job_that_shuts_leases_and_swaps_what_changes_holds_nobody_up() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    fs::create_dir(world.path("workspace/shut")).unwrap();
    let names = ["shut/x", "kept", "leased", "socket", "tree", "pipe"];
    for name in names {
        world.write(&format!("workspace/{name}"), "old\n");
    }
    world.write("workspace/hold.py", HOLD);
    start(&world, "python3 hold.py");
    says(&world, "1", "ready");
    for name in names {
        let ran = world.eclusa(&["exec", "--", &format!("echo new > {name}")]);
        assert_eq!(ran.code, 0, "{name}: {ran:?}");
        assert_eq!(world.read(&format!("workspace/{name}")), "new\n");
        if ["socket", "tree", "pipe"].contains(&name) {
            let own = ran.err.contains(&format!("its own `{name}`"));
            assert!(own || ran.err.contains("does not see the change"), "{name}: {ran:?}");
        }
    }
    let ended = world.eclusa(&["jobs", "end", "--all"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(names.iter().all(|it| world.read(&format!("workspace/{it}")) == "new\n"));
}
