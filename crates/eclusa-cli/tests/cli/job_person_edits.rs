//! What a job sees of edits that a person makes while it runs: nobody tells of them, so each call of its session looks.

use std::{fs, path::Path};

use serde_json::json;

use crate::{
    jobs::{call, jobs, start, world},
    world::{World, until},
};

const SERVE: &str = "python3 -m http.server 5173 --bind 127.0.0.1";

/// Tells every event of a directory, once it has seen every file of it.
const WATCH: &str = r#"
import ctypes, os, struct
for it in os.listdir('.'): os.stat(it)
c = ctypes.CDLL(None, use_errno=True)
fd = c.inotify_init()
c.inotify_add_watch(fd, b'.', 0x100 | 0x200 | 0x8 | 0x80 | 0x4)
names = {0x100: 'create', 0x200: 'delete', 0x8: 'written', 0x80: 'moved', 0x4: 'touched'}
print('watching', flush=True)
while True:
    data = os.read(fd, 65536)
    while data:
        _, mask, _, length = struct.unpack('iIII', data[:16])
        name = data[16:16 + length].rstrip(b'\0').decode()
        print(names.get(mask & 0xfff, mask), name, flush=True)
        data = data[16 + length:]
"#;

fn git(world: &World, args: &[&str]) {
    #[expect(clippy::disallowed_methods, reason = "the test plays the person")]
    let mut git = std::process::Command::new("git");
    let who = ["-c", "user.name=p", "-c", "user.email=p@example.org"];
    let ran = git.arg("-C").arg(world.path("workspace")).args(who).args(args).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
}

/// As editors do it: beside, and renamed.
fn replace(path: &Path, text: &str) {
    let beside = path.with_extension("swp");
    #[expect(clippy::disallowed_methods, reason = "the test plays the person")]
    {
        fs::write(&beside, text).unwrap();
        fs::rename(&beside, path).unwrap();
    }
}

fn served(world: &World, path: &str) -> String {
    call(world, &format!("curl -s http://127.0.0.1:5173/{path}; true")).out
}

fn says(world: &World, job: &str, what: &str) {
    until(what, || world.eclusa(&["jobs", "output", job]).out.contains(what).then_some(()));
}

#[expect(clippy::disallowed_methods, reason = "the test plays the person")]
#[test]
fn a_job_sees_what_a_person_replaced_made_and_deleted() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    fs::create_dir(world.path("workspace/old")).unwrap();
    for (name, text) in [("b.txt", "b\n"), ("old/x.txt", "x\n"), ("watch.py", WATCH)] {
        world.write(&format!("workspace/{name}"), text);
    }
    world.write("workspace/.gitignore", "built\n");
    git(&world, &["init", "-q"]);
    git(&world, &["add", "."]);
    git(&world, &["commit", "-qm", "one"]);
    start(&world, SERVE);
    start(&world, "python3 watch.py");
    says(&world, "2", "watching");
    until("it listens", || (jobs(&world)[0]["ports"] == json!([5173])).then_some(()));
    // The server has looked each of them up, and what is not there too.
    let all = ["a.txt", "b.txt", "new.txt", "dir/in.txt", "old/x.txt", "built/y.txt"];
    let before: Vec<String> = all.iter().map(|it| served(&world, it)).collect();
    assert!(before[0] == "one\n" && before[2].contains("404"), "{before:?}");
    let at = |name: &str| world.path(&format!("workspace/{name}"));
    replace(&at("a.txt"), "person\n");
    fs::remove_file(at("b.txt")).unwrap();
    world.write("workspace/new.txt", "new\n");
    for directory in ["dir", "built"] {
        fs::create_dir(at(directory)).unwrap();
    }
    world.write("workspace/dir/in.txt", "in\n");
    world.write("workspace/built/y.txt", "y\n");
    fs::remove_dir_all(at("old")).unwrap();
    let now: Vec<String> = all.iter().map(|it| served(&world, it)).collect();
    assert_eq!((now[0].as_str(), now[2].as_str()), ("person\n", "new\n"), "{now:?}");
    assert!(now[1].contains("404") && now[4].contains("404"), "{now:?}");
    assert_eq!(now[3], "in\n", "a whole directory");
    for event in ["written a.txt", "delete b.txt", "written new.txt", "touched dir"] {
        says(&world, "2", event);
    }
    let told = world.eclusa(&["jobs", "output", "2"]).out;
    assert!(!told.contains("built"), "what git ignores is nobody's edit: {told}");
    // Once is enough.
    let count = |told: &str| told.matches("written a.txt").count();
    call(&world, "true");
    assert_eq!(count(&world.eclusa(&["jobs", "output", "2"]).out), count(&told));
    // In place, which shows by itself, has its event too; and it comes back.
    fs::write(at("a.txt"), "in place\n").unwrap();
    world.write("workspace/b.txt", "again\n");
    assert_eq!(
        (served(&world, "a.txt"), served(&world, "b.txt")),
        ("in place\n".into(), "again\n".into())
    );
    says(&world, "2", "create b.txt");
    until("it is told", || {
        (count(&world.eclusa(&["jobs", "output", "2"]).out) > count(&told)).then_some(())
    });
    // Nothing of it is the jobs' doing, and the person's files are as they left them.
    let ended = world.eclusa(&["jobs", "end", "--all"]);
    assert!(ended.code == 0 && !ended.out.contains("not applied"), "{ended:?}");
    assert_eq!(world.read("workspace/a.txt"), "in place\n");
    assert!(!at("old").exists());
}

/// Whether a file of this name lies anywhere beneath.
fn holds(directory: &Path, name: &str) -> bool {
    fs::read_dir(directory).into_iter().flatten().flatten().any(|it| {
        it.file_name() == name || it.file_type().unwrap().is_dir() && holds(&it.path(), name)
    })
}

/// What is a secret by its name is not brought in, however it came.
#[test]
fn a_secret_that_a_person_adds_is_brought_to_no_job() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    start(&world, SERVE);
    until("it listens", || (jobs(&world)[0]["ports"] == json!([5173])).then_some(()));
    assert!(served(&world, "plain.txt").contains("404"));
    world.write("workspace/id_rsa", "KEY\n");
    world.write("workspace/plain.txt", "plain\n");
    assert_eq!(served(&world, "plain.txt"), "plain\n");
    let state = world.path("state");
    assert!(holds(&state, "plain.txt") && !holds(&state, "id_rsa"));
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}

#[expect(clippy::disallowed_methods, reason = "the test plays the person")]
#[test]
fn where_there_is_too_much_to_look_at_it_is_told_once() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let many = world.path("workspace/many");
    fs::create_dir_all(&many).unwrap();
    // Names of one file are as many as files.
    fs::write(many.join("0"), "").unwrap();
    let (mut from, mut links) = (many.join("0"), 1);
    for it in 1..=50_000 {
        if links == 60_000 {
            from = many.join(format!("f{it}"));
            fs::write(&from, "").unwrap();
            links = 0;
        }
        fs::hard_link(&from, many.join(it.to_string())).unwrap();
        links += 1;
    }
    start(&world, "sleep 1000");
    let told = "job 1 does not see your edits";
    let first = call(&world, "echo first");
    assert!(first.code == 0 && first.out.contains(told), "{first:?}");
    let second = call(&world, "echo second");
    assert!(second.code == 0 && !second.out.contains(told), "{second:?}");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}
