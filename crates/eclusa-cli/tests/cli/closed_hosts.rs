//! What fails because a host was closed is offered again with that host named, whatever program it is.

use serde_json::json;

use crate::{prompt::Person, world::World};

fn bash(command: &str) -> String {
    json!({ "command": command }).to_string()
}

#[test]
fn a_program_that_fails_for_want_of_a_host_is_offered_again_in_one_question() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let script = "import sys, urllib.request as u\ntry: u.urlopen('http://192.0.2.8/', timeout=9)\n\
                  except Exception as err: print(err); sys.exit(7)\n";
    world.write("workspace/fetch.py", script);
    let mut person = Person::runs(&world, &["run", "bash", &bash("python3 fetch.py")]);
    person.sees("it tried to reach `192.0.2.8`");
    person.answers("y");
    let (_, seen) = person.ends();
    assert_eq!(seen.matches("? [").count(), 1, "{seen}");
    assert!(seen.contains("exit code 7"), "{seen}");
}
