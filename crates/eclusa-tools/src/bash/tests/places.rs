//! Where a command may write besides the workspace: `/tmp` for the session, caches for the
//! workspace, and nothing else.

use std::{fs, path::PathBuf, time::Duration};

use eclusa::{Answer, Run, Spool as _, ToolCall};
use eclusa_sandbox::Keep;
use serde_json::json;

use super::{SandboxSettings, World};

#[tokio::test(flavor = "multi_thread")]
async fn tmp_lasts_for_the_conversation_and_goes_with_it() {
    eclusa_testing::needs!(Namespaces);
    let world = World::yes();
    let reply = world.bash("mkdir /tmp/d; echo hi > /tmp/d/s.txt; echo x > /var/tmp/other").await;
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    let reply = world.bash("cat /tmp/d/s.txt /tmp/other").await;
    assert_eq!(reply.text(), "hi\nx\n", "{}", reply.content());
    let other = world.gate.for_run(Run { session: "other".into(), ..Run::default() });
    let reply = other.pass(ToolCall::new("c1", "bash", json!({"command": "ls /tmp/d"}))).await;
    assert!(reply.is_error(), "{}", reply.content());
    let left = || fs::read_dir(world.dir.path().join("state/tmp")).unwrap().count();
    assert_eq!(left(), 2);
    world.gate.end_session();
    assert_eq!(left(), 1);
    let reply = world.bash("ls -A /tmp/d").await;
    assert!(reply.is_error(), "a new conversation begins: {}", reply.content());
}

/// The workspace of this test lies beneath `/tmp`, so that a command can get in the way of the next.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_command_puts_in_the_way_is_cleared_away() {
    let world = World::yes();
    let parent = world.dir.path().to_owned();
    let aside = format!("mv {0} {0}-aside; ln -s /etc {0}", parent.display());
    world.bash(&aside).await;
    let reply = world.bash("echo x > a; pwd").await;
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    assert_eq!(world.read("a").as_deref(), Some("x\n"));
}

/// A home with a cache of npm and one of cargo, and with secrets.
fn home() -> (tempfile::TempDir, impl FnOnce(&mut crate::SandboxSettings)) {
    let home = tempfile::tempdir().unwrap();
    for dir in [".ssh", ".npm/_cacache", ".cargo/registry/src", "documents"] {
        fs::create_dir_all(home.path().join(dir)).unwrap();
    }
    for file in [".ssh/id_rsa", ".npm/_cacache/one", ".cargo/registry/src/two", ".bashrc"] {
        fs::File::create(home.path().join(file)).unwrap();
    }
    let inner: PathBuf = home.path().to_owned();
    let settle = move |it: &mut crate::SandboxSettings| {
        it.env.push(("HOME".into(), inner.clone().into()));
        it.home = Some(inner);
    };
    (home, settle)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_home_directory_is_read_only_and_secrets_are_not_seen() {
    eclusa_testing::needs!(Namespaces);
    let (home, settle) = home();
    let world = World::new(Answer::Once, settle);
    fs::File::create(world.path(".env")).unwrap();
    let text = "echo x > ~/new; echo x >> ~/.bashrc; mkdir ~/.local; ls -A ~/.ssh; wc -c < .env; echo x > a";
    let reply = world.bash(text).await;
    let said = reply.content().to_string();
    assert_eq!(said.matches("Read-only file system").count(), 3, "{said}");
    assert!(!said.contains("id_rsa"), "{said}");
    assert!(!home.path().join("new").exists() && !home.path().join(".local").exists());
    assert_eq!(world.read("a").as_deref(), Some("x\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn caches_are_warm_private_and_last_for_the_workspace() {
    eclusa_testing::needs!(Namespaces);
    let (home, settle) = home();
    let world = World::new(Answer::Once, settle);
    let text = "ls ~/.npm/_cacache ~/.cargo/registry/src; echo new > ~/.npm/_cacache/three
        rm ~/.npm/_cacache/one; mv ~/.cargo/registry/src ~/.cargo/registry/moved
        mkdir -p $XDG_CACHE_HOME/go-build; echo built > $XDG_CACHE_HOME/go-build/x; echo x > a";
    let reply = world.bash(text).await;
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    assert!(reply.text().contains("one") && reply.text().contains("two"), "{}", reply.content());
    // Another session works in the same workspace.
    let other = world.gate.for_run(Run { session: "other".into(), ..Run::default() });
    let text = "cat ~/.npm/_cacache/three $XDG_CACHE_HOME/go-build/x; ls ~/.npm/_cacache ~/.cargo/registry/moved; echo y > a";
    let mut reply = other.pass(ToolCall::new("c1", "bash", json!({"command": text}))).await;
    // Whoever begins while another command still lets go of the caches works without them.
    for at in 0..600 {
        if reply.text().starts_with("new\n") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        let again = ToolCall::new(format!("again-{at}"), "bash", json!({"command": text}));
        reply = other.pass(again).await;
    }
    let said = reply.text();
    assert!(said.starts_with("new\nbuilt\n") && said.contains("two"), "{}", reply.content());
    assert!(!said.contains("one"), "{}", reply.content());
    assert!(home.path().join(".npm/_cacache/one").exists());
    assert!(!home.path().join(".npm/_cacache/three").exists());
    assert!(home.path().join(".cargo/registry/src/two").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_at_the_same_time_do_not_share_a_layer() {
    eclusa_testing::needs!(Namespaces);
    let (_home, settle) = home();
    let world = World::new(Answer::Once, settle);
    let job =
        json!({"command": "echo job > ~/.npm/job; echo ready; sleep 1000", "background": true});
    let reply = world.pass("bash", job).await;
    let id = reply.data().unwrap()["job"].as_u64().unwrap();
    super::jobs::until(&world, id, "ready").await;
    let reply = world.bash("ls ~/.npm; echo x > ~/.npm/mine; echo x > a").await;
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    assert!(!reply.text().contains("job"), "{}", reply.content());
    let reply = world.bash("ls ~/.npm; echo y > a").await;
    assert!(reply.text().contains("mine"), "{}", reply.content());
    world.pass("jobs", json!({"action": "end", "id": id})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_in_the_home_directory_is_staged_as_well() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new(Answer::Once, |it| {
        // The state is in the home directory too, where it is for most people.
        it.home = it.root.parent().map(Into::into);
    });
    let reply = world.bash("cd ..; echo y > workspace/a; ls").await;
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    assert_eq!(world.read("a").as_deref(), Some("y\n"));
}

/// Which host it was is known although none may be reached.
#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_was_tried_is_named() {
    eclusa_testing::needs!(Namespaces);
    let world = World::yes();
    let script = "curl -sS https://$(printf crates).example 2>&1; echo x > a";
    let reply = world.bash(script).await;
    assert!(reply.text().contains("403"), "{}", reply.content());
    assert!(
        reply.text().contains("adding `crates.example` to `commands.hosts`"),
        "{}",
        reply.content()
    );
    assert_eq!(reply.data().unwrap()["network"][0]["host"], "crates.example");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_outside_is_written_where_a_person_has_opened_it() {
    eclusa_testing::needs!(Namespaces);
    let outside = tempfile::tempdir().unwrap();
    let (open, shut) = (outside.path().join("open"), outside.path().join("shut"));
    fs::create_dir(&open).unwrap();
    fs::create_dir(&shut).unwrap();
    let world = World::new(Answer::Once, |it| it.writable = vec![open.clone(), "/gone".into()]);
    let script = "for it in \"$0\" \"$1\"; do mkdir -p $it/bin; echo x > $it/bin/tool; done";
    let command = format!("sh -c '{script}' {} {}", open.display(), shut.display());
    let reply = world.bash(&command).await;
    assert!(open.join("bin/tool").exists(), "{}", reply.content());
    assert!(!shut.join("bin").exists(), "{}", reply.content());
    assert_eq!(reply.data().unwrap()["live"], json!([open.canonicalize().unwrap()]));
}

/// S1.22, S1.32, C16, E10: memory keeps a little of it, the output store has all of it.
#[tokio::test(flavor = "multi_thread")]
async fn output_beyond_what_memory_keeps_is_saved_whole() {
    let little = |it: &mut SandboxSettings| it.keep = Keep { head: 1000, tail: 1000 };
    let world = World::new(Answer::Once, little);
    let reply = world.bash("seq 1 100000").await;
    let data = reply.data().unwrap();
    assert_eq!((&data["output_bytes"], &data["lost_bytes"]), (&json!(588_895), &json!(0)));
    let reference = reply.spool().unwrap();
    assert!(reply.truncated() && reply.text().contains(reference), "{}", reply.text());
    let whole = world.spool.read(reference, 0..usize::MAX).await.unwrap();
    let all: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    assert!(whole == all, "{} bytes", whole.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn long_output_is_kept_whole_and_what_is_cut_is_said() {
    let world = World::yes();
    let reply = world.bash("seq 1 100000; echo x > a").await;
    let data = reply.data().unwrap();
    assert_eq!((&data["truncated"], &data["lost_bytes"]), (&json!(true), &json!(0)));
    assert_eq!(data["output_bytes"], 588_895);
    assert!(reply.text().starts_with("1\n2\n") && reply.text().contains("100000\n"));
    let reply = world.pass("bash", json!({"command": "echo short", "timeout": 20_000})).await;
    assert_eq!(reply.data().unwrap()["truncated"], false);
    let reply = world.pass("bash", json!({"command": "echo short", "timeout_ms": 600_001})).await;
    assert!(reply.is_error(), "{}", reply.content());
}
