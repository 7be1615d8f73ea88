//! Rules hold for shell commands: paths that are denied are hidden, hosts that are denied are not
//! reached, and a yes opens the hosts that the question names. Addresses are of a network that nobody
//! has, so that nothing depends on one.

use serde_json::json;

use crate::{prompt::Person, world::World};

fn bash(command: &str) -> String {
    json!({ "command": command }).to_string()
}

const NO_DATA: &str = r#"
mode = "yolo"
[[rules]]
id = "no-data"
decision = "deny"
path = ["data/**", "!data/public.txt"]
reason = "customers are nobody's business"
[[rules]]
decision = "allow"
path = "data/open/**"
except = "no-data"
"#;

/// A world with data that a rule denies.
fn with_data() -> World {
    let world = World::with(NO_DATA);
    for name in ["data/open", "data/deep/er"] {
        std::fs::create_dir_all(world.path("workspace").join(name)).unwrap();
    }
    world.write("workspace/data/customers.csv", "name\nAda Lovelace\n");
    world.write("workspace/data/deep/er/more.csv", "Ada again\n");
    world.write("workspace/data/public.txt", "Everybody knows\n");
    world.write("workspace/data/open/list.csv", "Opened\n");
    world
}

#[test]
fn what_a_rule_denies_to_read_is_hidden_from_commands() {
    eclusa_testing::needs!(Namespaces);
    let world = with_data();
    for command in [
        "cat d*/*.csv",
        "grep -rh A . ; true",
        "cat $(find . -name '*.csv')",
        "python3 -c \"print(open('da' + 'ta/customers.csv').read())\"",
        "cp -r data /tmp/copy; cat /tmp/copy/* /tmp/copy/deep/er/*",
    ] {
        let ran = world.eclusa(&["run", "bash", &bash(command)]);
        assert!(!ran.out.contains("Ada") && !ran.err.contains("Ada"), "{command}: {ran:?}");
    }
    let open = "python3 -c \"[print(open('da' + it).read()) for it in ('ta/public.txt', 'ta/open/list.csv')]\"";
    let ran = world.eclusa(&["run", "bash", &bash(open)]);
    assert!(ran.out.contains("Everybody") && ran.out.contains("Opened"), "{ran:?}");
    // What is named is denied before anything runs, with the rule's own reason.
    let ran = world.eclusa(&["exec", "--", "cat data/customers.csv"]);
    assert!(ran.code == 3 && ran.err.contains("nobody's business"), "{ran:?}");
    // A pattern that comes to nothing is explained.
    let ran = world.eclusa(&["run", "bash", &bash("cat d*/deep/*/*.csv")]);
    assert!(ran.code != 0 && ran.out.contains("hidden from commands by rules"), "{ran:?}");
}

#[test]
fn what_rules_hide_may_change_between_commands() {
    let world = World::with("mode = \"yolo\"\n");
    world.write("workspace/a.secretive", "Ada\n");
    let cat = bash("cat *.secretive");
    assert!(world.eclusa(&["run", "bash", &cat]).out.contains("Ada"));
    world.write(
        "config/eclusa/eclusa.toml",
        "mode = \"yolo\"\n[[rules]]\ndecision = \"deny\"\npath = \"*.secretive\"\n",
    );
    assert!(!world.eclusa(&["run", "bash", &cat]).out.contains("Ada"));
}

/// A program that asks the proxy for an address, of which no text tells.
pub(crate) const FETCH: &str = "import sys, urllib.request\n\
    try: urllib.request.urlopen('http://' + sys.argv[1] + '/', timeout=30)\n\
    except Exception as err: print(err)\n";

#[test]
fn domain_rules_hold_in_the_proxy() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(
        r#"
mode = "yolo"
[commands]
hosts = ["192.0.2.7", "192.0.2.17"]
[[rules]]
id = "closed"
decision = "deny"
domain = ["192.0.2.7", "192.0.2.17"]
[[rules]]
decision = "allow"
domain = "192.0.2.17"
except = "closed"
[[rules]]
decision = "allow"
domain = "192.0.2.8"
"#,
    );
    world.write("workspace/fetch.py", FETCH);
    let fetch = |host: &str| {
        let ran = world.eclusa(&["run", "bash", &bash(&format!("python3 fetch.py {host}"))]);
        ran.out
    };
    let denied = fetch("192.0.2.7");
    assert!(denied.contains("a rule denies `192.0.2.7`"), "{denied}");
    assert!(!denied.contains("commands.hosts"), "no setting opens it: {denied}");
    // In a preview too, which applies nothing and runs all the same.
    let preview = bash("python3 fetch.py 192.0.2.7");
    let preview = world.eclusa(&["run", "--discard", "bash", &preview]);
    assert!(preview.out.contains("a rule denies `192.0.2.7`"), "{preview:?}");
    // Through the rules; only then is the address looked at.
    for open in ["192.0.2.8", "192.0.2.17"] {
        let ran = fetch(open);
        assert!(ran.contains(&format!("`{open}` has the address")), "{ran}");
    }
    let other = fetch("192.0.2.9");
    assert!(other.contains("not among the hosts"), "{other}");
    // And in the verdict.
    let ran = world.eclusa(&["check", "bash", &bash("curl -sS https://192.0.2.7/")]);
    assert!(ran.out.starts_with("deny"), "{ran:?}");
}

/// A rule about a command and a host allows exactly that, and opens it.
#[test]
fn a_rule_for_a_command_and_a_host_opens_the_host_for_that_command() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(
        "[[rules]]\ndecision = \"allow\"\ncommand = \"curl\"\ndomain = \"192.0.2.8\"\n",
    );
    let ran = world.eclusa(&["run", "bash", &bash("curl -sS http://192.0.2.8/x")]);
    assert!(ran.out.contains("`192.0.2.8` has the address"), "{ran:?}");
    let ran = world.eclusa(&["run", "bash", &bash("curl -sS http://192.0.2.8/ http://192.0.2.9/")]);
    assert!(ran.out.contains("not among the hosts"), "tried, and nothing is open: {ran:?}");
    assert!(!ran.out.contains("has the address"), "{ran:?}");
    let ran = world.eclusa(&["run", "bash", &bash("curl -sS http://192.0.2.8/ && ./other")]);
    assert!(!ran.out.contains("has the address"), "{ran:?}");
}

#[test]
fn a_yes_opens_the_hosts_that_the_question_names_and_no_others() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let command = bash("curl -sS http://192.0.2.8/ -o /dev/null");
    let mut person = Person::runs(&world, &["run", "bash", &command]);
    person.sees("192.0.2.8");
    person.answers("y");
    let (_, seen) = person.ends();
    assert!(seen.contains("has the address"), "{seen}");
    // A mode answers for nobody here.
    let ran = world.eclusa(&["--mode", "yolo", "run", "bash", &command]);
    assert!(ran.out.contains("not among the hosts"), "{ran:?}");
}

/// Hosts that nobody could know before are asked about when they were tried.
#[test]
fn hosts_that_an_approved_command_tried_are_asked_about_and_opened() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("[[rules]]\ndecision = \"ask\"\ncommand = \"python3\"\n");
    world.write("workspace/fetch.py", &format!("{FETCH}print('ran'); sys.exit(1)\n"));
    let command = bash("python3 fetch.py 192.0.2.8");
    let mut person = Person::runs(&world, &["run", "bash", &command]);
    person.answers("y");
    person.sees("it tried to reach `192.0.2.8`");
    person.answers("y");
    let (_, seen) = person.ends();
    assert!(seen.contains("has the address"), "{seen}");
    let end = world.records().into_iter().rfind(|it| it["event"] == "ended").unwrap();
    assert!(end["sandbox"].as_str().unwrap().contains("a person opened 192.0.2.8"), "{end}");
    let mut person = Person::runs(&world, &["run", "bash", &command]);
    person.answers("y");
    person.sees("it tried to reach");
    person.answers("n");
    person.sees("Why?");
    person.types("");
    let (_, seen) = person.ends();
    assert!(seen.contains("not among the hosts"), "{seen}");
}

/// What only fetches is tried without a network: with nobody there it says what would open the host,
/// and a person is asked about the host, even where the pipeline around it went well.
#[test]
fn what_only_fetches_is_tried_without_a_network_and_its_hosts_are_asked_about() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let command = bash("curl -sS http://192.0.2.8/ | cat");
    let ran = world.eclusa(&["run", "bash", &command]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("adding `192.0.2.8` to `commands.hosts`"), "{ran:?}");
    let mut person = Person::runs(&world, &["run", "bash", &command]);
    person.sees("it tried to reach `192.0.2.8");
    person.answers("y");
    let (_, seen) = person.ends();
    assert!(seen.contains("has the address"), "{seen}");
    let mut person = Person::runs(&world, &["run", "bash", &command]);
    person.sees("it tried to reach");
    person.answers("n");
    person.sees("Why?");
    person.types("");
    let (_, seen) = person.ends();
    assert!(seen.contains("not among the hosts"), "{seen}");
    // A mode answers for nobody.
    let ran = world.eclusa(&["--mode", "auto-approve", "run", "bash", &command]);
    assert!(ran.out.contains("not among the hosts"), "{ran:?}");
}

#[test]
fn reasons_quote_what_was_written() {
    let world = World::new();
    let ran = world.eclusa(&["check", "bash", &bash("npm install 'left pad' \"it's\"")]);
    assert!(ran.out.contains("'left pad' \"it's\""), "{ran:?}");
    assert!(!ran.out.contains("\\'"), "{ran:?}");
}

/// A1.5: the absolute path of something in the workspace means just that (A1.5).
#[test]
fn an_absolute_path_of_the_workspace_is_read_from_there() {
    let world = World::new();
    let root = world.path("workspace").canonicalize().unwrap();
    let rule = format!("[[rules]]\ndecision = \"deny\"\npath = \"{}/data/**\"\n", root.display());
    world.write("config/eclusa/eclusa.toml", &rule);
    let ran = world.eclusa(&["check", "read", r#"{"path": "data/customers.csv"}"#]);
    assert!(ran.out.starts_with("deny"), "{ran:?}");
    let ran = world.eclusa(&["check", "read", r#"{"path": "other/customers.csv"}"#]);
    assert!(ran.out.starts_with("allow"), "{ran:?}");
}

/// What is wrong in any file is told at once, with the line and marks under it.
#[test]
fn all_mistakes_of_all_files_are_told_at_once_with_their_lines() {
    let world = World::with(
        r#"mode = "often"
[commands]
hosts = ["https://registry.example/"]
[[rules]]
id = "broken"
decision = "perhaps"
[[rules]]
decision = "ask"
tool = "bash"
except = "broken"
[[rules]]
decision = "allow"
tool = "Bash(git push:*)"
[[rules]]
decision = "deny"
path = "a//b"
[[rules]]
decision = "deny"
domain = "https://evil.test/"
"#,
    );
    world.write("workspace/eclusa.toml", "[[rules]]\ndecision = \"deny\"\ncommand = \"a | b\"\n");
    let ran = world.eclusa(&["config", "check"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let told = world.plain(&ran.err);
    for part in [
        "eclusa.toml:1:8: `mode` cannot be `often`",
        "1 | mode = \"often\"",
        "  |        ^^^^^^^",
        "eclusa.toml:3:10: `https://registry.example/` is not a host",
        "eclusa.toml:6:12: `rules.decision` cannot be `perhaps`",
        "nothing is called `Bash(git push:*)`",
        "no path is written like `a//b`",
        "`https://evil.test/` is not a host",
        "workspace/eclusa.toml:3:11: ",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("is called `broken`"), "its own mistake is told: {told}");
}

/// `times` holds for what is allowed anyway, and `per` says in how long.
#[test]
fn four_calls_an_hour() {
    let world = World::with(
        "[[rules]]\nid = \"reads\"\ndecision = \"allow\"\ntool = \"read\"\ntimes = 2\nper = \"1h\"\n",
    );
    world.write("workspace/a.txt", "hello\n");
    let read = || world.eclusa(&["run", "read", r#"{"path": "a.txt"}"#]);
    assert_eq!((read().code, read().code), (0, 0));
    assert_eq!(read().code, 3, "nobody is there to be asked");
    let record = world.records().into_iter().next_back().unwrap();
    assert!(record["because"].to_string().contains("good for 2 calls in"), "{record}");
    let world = World::with("[[rules]]\ndecision = \"allow\"\ntool = \"read\"\nper = \"1h\"\n");
    let ran = world.eclusa(&["config", "check"]);
    assert!(ran.code == 2 && ran.err.contains("needs a `times`"), "{ran:?}");
}

/// G: a rule may remark on a call and decide nothing (G).
#[test]
fn a_rule_that_warns_decides_nothing_and_says_so() {
    let world = World::with(
        r#"
[[rules]]
decision = "warn"
arg = { "/content" = { contains = "eval(" } }
reason = "eval is hard to review"
[[rules]]
decision = "deny"
arg = { "/content" = { contains = "exec(" } }
"#,
    );
    let write = |text: &str| {
        let args = json!({ "path": "a.py", "content": text }).to_string();
        world.eclusa(&["--mode", "auto-approve", "--json", "run", "write", &args])
    };
    let ran = write("eval(x)\n");
    assert!(ran.code == 0 && world.read("workspace/a.py") == "eval(x)\n", "{ran:?}");
    assert!(ran.json()["warnings"][0].as_str().unwrap().contains("hard to review"), "{ran:?}");
    let end = world.records().into_iter().rfind(|it| it["event"] == "ended").unwrap();
    assert!(end["warnings"][0].as_str().unwrap().contains("hard to review"), "{end}");
    assert!(write("plain\n").json().get("warnings").is_none());
    assert_eq!(write("exec(x)\n").code, 3);
}

/// A rule about whole calls can be an exception to one about commands, and the other way round.
#[test]
fn exceptions_reach_across_kinds_of_conditions() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(
        r#"
[[rules]]
id = "no-push"
decision = "deny"
command = "git push"
[[rules]]
decision = "ask"
tool = "bash"
arg = { "/command" = { equals = "git push origin docs" } }
except = "no-push"
[[rules]]
id = "no-data"
decision = "deny"
path = "data/**"
[[rules]]
decision = "allow"
command = "sort data/names.txt $"
except = "no-data"
"#,
    );
    std::fs::create_dir(world.path("workspace/data")).unwrap();
    world.write("workspace/data/names.txt", "b\na\n");
    let judged = |command: &str| world.eclusa(&["check", "bash", &bash(command)]).out;
    for (command, decision) in [
        ("git push origin docs", "ask"),
        ("git push origin main", "deny"),
        ("sort data/names.txt", "allow"),
        ("sort data/names.txt; cat data/names.txt", "deny"),
    ] {
        let told = judged(command);
        assert!(told.starts_with(decision), "{command}: {told}");
    }
    let ran = world.eclusa(&["run", "bash", &bash("sort data/names.txt")]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "a\nb\n"), "{ran:?}");
}

/// A2.7: replaying the configuration in force tells no difference, also after an undo (A2.7).
#[test]
fn replaying_the_configuration_in_force_tells_no_difference() {
    let world = World::with("mode = \"auto-approve\"\n");
    let write = r#"{"path": "a.txt", "content": "hello\n"}"#;
    assert_eq!(world.eclusa(&["run", "write", write]).code, 0);
    assert_eq!(world.eclusa(&["run", "bash", &bash("cat a.txt")]).code, 0);
    let undone = world.eclusa(&["undo"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    let config = world.path("config/eclusa/eclusa.toml");
    let ran = world.eclusa(&["policy", "replay", config.to_str().unwrap()]);
    assert!(ran.code == 0 && ran.out.contains("2 calls judged again, 2 as before"), "{ran:?}");
    assert!(!ran.out.contains("->"), "{ran:?}");
}
