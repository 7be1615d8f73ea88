//! `eclusa doctor`: what holds here, and what is missing.

use crate::world::World;

#[test]
fn it_says_that_everything_holds_where_it_does() {
    let world = World::with("[commands]\nprocesses = 100");
    let ran = world.eclusa(&["doctor"]);
    assert_eq!(ran.code, 0, "this kernel has all of it: {ran:?}");
    for text in ["level: full", "sandbox: overlay", "landlock", "bash 5", "eclusa.toml"] {
        assert!(ran.out.contains(text), "`{text}` is not in {}", ran.out);
    }
    assert!(ran.out.contains("on the workspace's filesystem"), "{}", ran.out);
    let told = world.eclusa(&["--json", "doctor"]).json();
    assert_eq!((&told["level"], &told["same_filesystem"]), (&"full".into(), &true.into()));
    let parts = told["parts"].as_array().unwrap();
    assert!(parts.len() == 5 && parts.iter().all(|it| it["holds"] == true), "{told}");
}

/// A status that does not lie: where nothing can be staged it says so, and how to fix it.
#[test]
fn it_says_what_is_missing_and_how_to_get_it() {
    let world = World::new();
    let nowhere = ["--state", "/proc/self/nowhere"];
    let ran = world.eclusa(&[nowhere[0], nowhere[1], "doctor"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for text in ["partial, without an overlay", "to get staging:", "--state DIR"] {
        assert!(ran.out.contains(text), "`{text}` is not in {}", ran.out);
    }
    let told = world.eclusa(&["--json", nowhere[0], nowhere[1], "doctor"]).json();
    assert_eq!(told["parts"][0]["holds"], false);
    assert!(told["because"].is_string(), "{told}");
}
