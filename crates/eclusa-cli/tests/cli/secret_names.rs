//! Secrets through each way there is: every name by `read`, `grep`, `glob`, `list` and a command,
//! and the places of a person and of Eclusa where the workspace contains them.

use std::fs;

use serde_json::json;

use crate::{mcp::client::Client, servers, world::World};

const NAMES: [&str; 33] = [
    ".env",
    ".ENV.local",
    "prod.env",
    ".envrc",
    ".aws/credentials",
    ".ssh/deploy_key",
    ".gnupg/secring.gpg",
    "id_rsa.bak",
    "id_ed25519_work",
    "ID_RSA",
    "SERVER.PEM",
    "a.key",
    "a.p12",
    "a.pfx",
    "app.jks",
    "my.keystore",
    "db.kdbx",
    "k.ppk",
    "credentials",
    "aws-credentials.csv",
    "db-credentials.yml",
    "service-account-x.json",
    "secrets.yml",
    "secrets.json",
    "prod.tfvars",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".dockercfg",
];

fn ways(world: &World, names: &[&str], root: &str) {
    for (tool, args) in [
        ("grep", json!({"pattern": "S3CR3T", "ignored": true})),
        ("grep", json!({"pattern": "S3CR3T"})),
        ("glob", json!({"pattern": "**/*"})),
        ("bash", json!({"command": "grep -rs S3CR3T . ; echo done"})),
    ] {
        let ran = world.eclusa(&["--workspace", root, "run", tool, &args.to_string()]);
        let said = format!("{}{}", ran.out, ran.err);
        assert!(!said.contains("S3CR3T of"), "{tool}: {said}");
    }
    for name in names {
        for (tool, args) in [
            ("read", json!({"path": name})),
            ("write", json!({"path": name, "content": "x"})),
            ("bash", json!({"command": format!("cat '{name}'")})),
        ] {
            let mode = ["--mode", "auto-approve", "--workspace", root, "run", tool];
            let mut arguments = mode.to_vec();
            let args = args.to_string();
            arguments.push(&args);
            let ran = world.eclusa(&arguments);
            let said = format!("{}{}", ran.out, ran.err);
            assert!(ran.code != 0 && !said.contains("S3CR3T of"), "{tool} {name}: {said}");
        }
    }
}

fn put(world: &World, directory: &str, names: &[&str]) {
    for name in names {
        let path = format!("{directory}/{name}");
        fs::create_dir_all(world.path(&path).parent().unwrap()).unwrap();
        world.write(&path, &format!("S3CR3T of {name}\n"));
    }
}

/// Hole 3: there is one list and one matcher, whatever a secret is reached by.
#[test]
fn every_secret_name_is_out_of_reach_in_every_way() {
    let world = World::new();
    put(&world, "workspace", &NAMES);
    ways(&world, &NAMES, ".");
    for name in NAMES {
        assert_eq!(world.read(&format!("workspace/{name}")), format!("S3CR3T of {name}\n"));
    }
}

/// Hole 3, for the program of a server: the same list keeps the same names from it.
#[test]
fn every_secret_name_is_out_of_reach_of_a_server() {
    let world = servers::behind(&[("fake", &[])]);
    put(&world, "workspace", &NAMES);
    world.write("workspace/plain.txt", "plain\n");
    let mut client = Client::modern(&world, json!({}));
    let read = |client: &mut Client, name: &str| {
        client.call("mcp_fake_read", json!({"path": name})).to_string()
    };
    assert!(read(&mut client, "plain.txt").contains("plain"));
    for name in NAMES {
        let said = read(&mut client, name);
        assert!(said.contains("PermissionError") && !said.contains("S3CR3T of"), "{name}: {said}");
    }
}

/// Hole 4: a workspace that contains the home directory opens neither its secrets nor our state.
#[test]
fn places_of_secrets_are_out_of_reach_where_the_workspace_contains_them() {
    let world = World::new();
    let names = [
        "home/.claude.json",
        "home/.claude/settings.json",
        "home/.codex/auth.json",
        "home/.config/gh/hosts.yml",
        "home/.bash_history",
        "home/.ssh/config",
        "config/eclusa/other.toml",
        "state/eclusa/other-573374e149e6/trusted",
    ];
    put(&world, ".", &names);
    ways(&world, &names, world.path(".").to_str().unwrap());
    // From the home directory itself, too.
    let names: Vec<&str> = names.iter().filter_map(|it| it.strip_prefix("home/")).collect();
    ways(&world, &names, world.path("home").to_str().unwrap());
}

/// Certificates, public keys and source code are read; a key is not, whatever it is called.
#[test]
fn public_material_is_read_and_a_refusal_names_file_and_pattern() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let names = ["node_modules/x/cacert.pem", "id_ed25519.pub", "src/credentials.py"];
    put(&world, "workspace", &names);
    for name in names {
        let ran = world.eclusa(&["run", "read", &json!({"path": name}).to_string()]);
        assert!(ran.out.contains("S3CR3T of"), "{name}: {ran:?}");
        let command = json!({"command": format!("cat {name}")}).to_string();
        let ran = world.eclusa(&["run", "bash", &command]);
        assert!(ran.out.contains("S3CR3T of"), "{name}: {ran:?}");
    }
    put(&world, "workspace", &["certs/server.pem"]);
    let ran = world.eclusa(&["run", "read", &json!({"path": "certs/server.pem"}).to_string()]);
    let said = format!("{}{}", ran.out, ran.err);
    assert!(said.contains("`certs/server.pem` matches `*.pem`"), "{said}");
}

/// What git tracks is no secret by its name, so that git works; what it does not track, or what
/// holds a key, is.
#[test]
fn settings_that_git_tracks_are_judged_by_their_content() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    world.write("workspace/.gitignore", "local.tfvars\n");
    fs::create_dir_all(world.path("workspace/envs")).unwrap();
    world.write("workspace/envs/prod.tfvars", "instances = 6\n");
    world.write("workspace/local.tfvars", "password = S3CR3T\n");
    let key = format!("-----BEGIN PRIVATE KEY-----\n{}\n", "MIIEvQIBADANBgkqhkiG9w0BAQE".repeat(4));
    world.write("workspace/key.tfvars", &key);
    let git = |words: &[&str]| {
        #[expect(clippy::disallowed_methods, reason = "the test runs git")]
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=A", "-c", "user.email=a@example.org", "-C"]);
        command.arg(world.path("workspace")).args(words);
        let ran = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        assert!(ran.status.success(), "{words:?}: {ran:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "all"]);
    let bash = |command: &str| {
        let ran = world.eclusa(&["run", "bash", &json!({"command": command}).to_string()]);
        format!("{}{}", ran.out, ran.err)
    };
    assert!(bash("cat envs/prod.tfvars").contains("instances = 6"));
    assert!(!bash("cat local.tfvars; cat key.tfvars").contains("S3CR3T"));
    assert!(!bash("python3 -c 'print(open(\"local.tfvars\").read())'").contains("S3CR3T"));
    let read = world.eclusa(&["run", "read", r#"{"path": "envs/prod.tfvars"}"#]);
    assert!(read.out.contains("instances = 6"), "{read:?}");
    for name in ["local.tfvars", "key.tfvars"] {
        let read = world.eclusa(&["run", "read", &json!({"path": name}).to_string()]);
        assert!(read.code != 0 && !read.out.contains("S3CR3T"), "{read:?}");
    }
    let edit = json!({"path": "envs/prod.tfvars", "old_string": "6", "new_string": "7"});
    let mode = ["--mode", "auto-approve", "run", "edit"];
    let ran = world.eclusa(&[&mode[..], &[&edit.to_string()]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    // An entry that was put into the index without looking at the file says nothing.
    git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        "100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,local.tfvars",
    ]);
    assert!(!bash("cat local.tfvars").contains("S3CR3T"));
}
