//! What programs write for themselves below the home: it lasts for the session, and nothing of it reaches the home.

use serde_json::json;

use crate::{
    mcp::client::{Client, text},
    world::World,
};

/// A person's home with settings of programs, and a secret among them.
fn world() -> World {
    let world = World::new();
    for name in [".config/app", ".config/gh", ".config/git", ".local/share"] {
        std::fs::create_dir_all(world.path("home").join(name)).unwrap();
    }
    world.write("home/.config/app/c", "mine\n");
    world.write(
        "home/.config/gh/hosts.yml",
        "oauth_token: gho_16C7e42F292c6912E7710c838347Ae178B4a\n",
    );
    world
}

fn session(world: &World) -> Client {
    let mut client = Client::start(world, &["--mode", "yolo", "mcp"]);
    client.initialize("2025-06-18", json!({}));
    client
}

fn bash(client: &mut Client, command: &str) -> String {
    text(&client.call("bash", json!({"command": command}))).to_owned()
}

#[test]
fn settings_and_data_of_programs_last_for_the_session_and_no_longer() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let mut client = session(&world);
    let write = "echo new > ~/.config/app/c; mkdir ~/.local/share/tool; echo kept > ~/.local/share/tool/d; echo x > a";
    bash(&mut client, write);
    let read = "cat ~/.config/app/c ~/.local/share/tool/d";
    // One that only reads, and one that writes, are shown the same.
    assert_eq!(bash(&mut client, read), "new\nkept\n");
    assert!(bash(&mut client, &format!("{read}; echo y > a")).starts_with("new\nkept\n"));
    assert_eq!(world.read("home/.config/app/c"), "mine\n");
    assert!(!world.path("home/.local/share/tool").exists());
    let mut other = session(&world);
    assert!(bash(&mut other, "cat ~/.config/app/c; echo z > a").starts_with("mine\n"));
}

#[test]
fn where_the_home_has_no_such_directory_programs_are_told_another() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut client = session(&world);
    let write = "mkdir -p $XDG_CONFIG_HOME/app $XDG_DATA_HOME $XDG_STATE_HOME && echo set > $XDG_CONFIG_HOME/app/c; echo x > a";
    bash(&mut client, write);
    assert_eq!(bash(&mut client, "cat $XDG_CONFIG_HOME/app/c"), "set\n");
    assert!(!world.path("home/.config").exists() && !world.path("home/.local").exists());
    // A home in `/tmp` is covered by the sandbox's own.
    if world.path("home").starts_with("/tmp") {
        return;
    }
    // A program that knows no variables finds them where they usually are.
    let usual = "mkdir -p ~/.config/other ~/.local/share/other ~/.local/state && echo own > ~/.config/other/c && cat ~/.config/app/c; echo y > a";
    assert!(bash(&mut client, usual).contains("set\n"));
    assert_eq!(bash(&mut client, "cat ~/.config/other/c"), "own\n");
    let elsewhere = bash(&mut client, "mkdir ~/.cargo-of-mine ~/.local/bin 2>&1; echo z > a");
    assert_eq!(elsewhere.matches("Read-only file system").count(), 2, "{elsewhere}");
    assert!(!world.path("home/.config").exists() && !world.path("home/.local").exists());
}

#[test]
fn what_programs_run_by_themselves_and_secrets_there_are_out_of_reach() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let mut client = session(&world);
    for file in ["git/config", "pip/pip.conf", "systemd/user/x.service", "fish/config.fish"] {
        let said = bash(
            &mut client,
            &format!("echo x > ~/.config/{file}; mkdir -p ~/.config/{file}; echo x > a"),
        );
        assert!(said.contains("Read-only file system"), "{file}: {said}");
    }
    let said = bash(&mut client, "cat ~/.config/gh/hosts.yml; echo y > a");
    assert!(!said.contains("oauth_token"), "{said}");
}
