//! Jobs where the process lives as long as the session: over MCP and in a chat. Listed, read and ended there, seen by
//! `eclusa jobs` from elsewhere, and told when they have ended.

use serde_json::{Value, json};

use crate::{
    jobs::{jobs, lives, owner, states},
    mcp::client::{Client, text},
    world::{World, until},
};

fn world() -> World {
    World::with("mode = \"auto-approve\"\n")
}

/// Nobody holds anything any more.
fn nothing_left(world: &World) {
    for place in states(world, "sessions") {
        assert_eq!(std::fs::read_dir(place).unwrap().count(), 0);
    }
    assert!(jobs(world).iter().all(|it| it["runs"] == false));
}

#[test]
fn mcp_jobs_are_listed_read_told_of_and_ended() {
    eclusa_testing::needs!(Namespaces);
    for modern in [false, true] {
        let world = world();
        let mut client = match modern {
            true => Client::modern(&world, json!({})),
            false => Client::legacy(&world, "2025-11-25", json!({})),
        };
        let server = "python3 -m http.server 5173 --bind 127.0.0.1";
        let mut call = |tool: &str, args: Value| text(&client.call(tool, args)).to_owned();
        let told = call("bash", json!({"command": server, "background": true}));
        assert!(told.contains("1 process still runs as job 1"), "{told}");
        let waits = "sh -c 'until [ -e /tmp/go ]; do sleep 0.05; done; echo more' & echo left";
        let told = call("bash", json!({"command": waits}));
        assert!(told.contains("left\n") && told.contains("as job 2"), "{told}");
        until("it listens", || {
            call("jobs", json!({"action": "list"}))
                .contains("1  runs, listening on 5173")
                .then_some(())
        });
        assert_eq!(call("bash", json!({"command": "curl -s http://127.0.0.1:5173/x.txt -o /dev/null -w '%{http_code}'"})).trim_end(), "404");
        let read = call("jobs", json!({"action": "read", "id": 1}));
        assert!(read.contains("GET /x.txt"), "{read}");
        assert!(!call("jobs", json!({"action": "read", "id": 1})).contains("GET"), "it was read");
        // Somebody else sees the same, held by this server.
        assert_eq!(
            (jobs(&world)[0]["runs"].clone(), jobs(&world)[0]["ports"].clone()),
            (json!(true), json!([5173]))
        );
        assert!(lives(owner(&world)));
        // The next command says that one has ended, once.
        let mut told = call("bash", json!({"command": "touch /tmp/go"}));
        until("it is told", || {
            let is_told = told.contains("job 2 ended");
            if !is_told {
                told = call("bash", json!({"command": "echo next"}));
            }
            is_told.then_some(())
        });
        assert!(!call("bash", json!({"command": "echo next"})).contains("job 2"));
        let ended = call("jobs", json!({"action": "end", "id": 1}));
        assert!(ended.starts_with("job 1 ended by signal 15"), "{ended}");
        // A person ends one that the server holds.
        call("bash", json!({"command": "sleep 1000", "background": true}));
        let ended = world.eclusa(&["jobs", "end", "3"]);
        assert!(ended.out.contains("job 3 ended by signal 15"), "{ended:?}");
        let told = call("bash", json!({"command": "echo next"}));
        assert!(told.contains("job 3 ended by signal 15"), "{told}");
        call("bash", json!({"command": "sleep 1000", "background": true}));
        assert_eq!(client.close().0.code(), Some(0));
        nothing_left(&world);
    }
}

#[test]
fn a_chat_looks_after_its_jobs() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let call = |tool: &str, args: Value| {
        format!("```tool\n{}\n```\n", json!({"name": tool, "args": args}))
    };
    let script = format!(
        "## says\nI start it.\n{}## expects still runs as job 1\n## says\nI look.\n{}\
         ## expects 1  runs\n## says\nI read.\n{}## expects begun\n## says\nI end it.\n{}\
         ## expects job 1 ended by signal 15\n## says\nEnded.\n",
        call("bash", json!({"command": "echo begun; exec sleep 1000", "background": true})),
        call("jobs", json!({"action": "list"})),
        call("jobs", json!({"action": "read", "id": 1})),
        call("jobs", json!({"action": "end", "id": 1})),
    );
    let model = format!("script:{}", world.write("script.md", &script).display());
    let ran = world.piped(&["chat", "--plain", "--model", &model, "go"], "/quit\n");
    assert!(ran.out.contains("Ended."), "{ran:?}");
    nothing_left(&world);
}

/// A chat that is left ends what it holds.
#[test]
fn a_chat_that_ends_leaves_nothing_running() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let call = format!(
        "```tool\n{}\n```\n",
        json!({"name": "bash", "args": {"command": "sleep 1000", "background": true}})
    );
    let script =
        format!("## says\nI start it.\n{call}## expects still runs as job 1\n## says\nIt runs.\n");
    let model = format!("script:{}", world.write("script.md", &script).display());
    let ran = world.piped(&["chat", "--plain", "--model", &model, "go"], "/quit\n");
    assert!(ran.out.contains("It runs."), "{ran:?}");
    nothing_left(&world);
}
