//! Tests of config edit.

use eclusa::settings::WorkspaceAccess;

use super::*;

fn server(name: &str, command: &[&str]) -> ServerSettings {
    let command = command.iter().map(|it| (*it).to_owned()).collect();
    ServerSettings::new(name, Endpoint::Command(command))
}

fn text(before: &str, change: impl FnOnce(&Path)) -> String {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("eclusa.toml");
    replace(&file, before).unwrap();
    change(&file);
    std::fs::read_to_string(&file).unwrap()
}

#[test]
fn what_was_there_stays_and_what_is_added_can_be_taken_away_again() {
    for before in [
        "# mine\nmode = \"confirm-all\" # careful\n",
        "[servers.old] # why\ncommand = [\"old\"]\n\n[commands]\nhosts = [] # none\n",
        "# nothing but this\n",
        "",
    ] {
        let added = text(before, |file| {
            let mut new = server("new", &["uvx", "it"]);
            new.env.push("TOKEN".to_owned());
            new.workspace = WorkspaceAccess::Hidden;
            add(file, &[new]).unwrap();
        });
        for line in before.lines() {
            assert!(added.contains(line), "{added}");
        }
        assert!(added.contains("[servers.new]\ncommand = [\"uvx\", \"it\"]\n"), "{added}");
        let config = Config::load(&[Layer::of_person("f", added.as_str())]).unwrap();
        let new = config.servers.iter().find(|it| it.name == "new").unwrap();
        assert_eq!(
            (new.env.as_slice(), new.workspace),
            (&["TOKEN".to_owned()][..], WorkspaceAccess::Hidden)
        );
        let after = text(&added, |file| assert!(remove(file, "new").unwrap()));
        if before != "# nothing but this\n" {
            assert_eq!(after.trim_end(), before.trim_end());
        }
        text(&after, |file| assert!(!remove(file, "new").unwrap()));
    }
}

#[test]
fn what_could_not_be_read_is_not_written() {
    let same = text("mode = \"yolo\"\n", |file| {
        assert!(add(file, &[server("not a name", &["x"])]).is_err());
    });
    assert_eq!(same, "mode = \"yolo\"\n");
}

#[test]
fn secrets_in_commands_and_addresses_are_seen() {
    let redactor = Redactor::default();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    assert!(secret_in(&server("x", &["forge", &token]), &redactor).is_some());
    assert!(secret_in(&server("x", &["forge", &format!("--token={token}")]), &redactor).is_some());
    assert!(secret_in(&server("x", &["npx", "-y", "@scope/server"]), &redactor).is_none());
    for (url, secret) in [("https://a.example/mcp", false), ("https://me:word@a.example/mcp", true)]
    {
        let reach = Endpoint::Url { url: url.to_owned(), headers: Default::default() };
        let found = secret_in(&ServerSettings::new("x", reach), &redactor);
        assert_eq!(found.is_some(), secret, "{url}");
    }
}
