//! Which names are blocked, and that this holds on every way to a file.

use super::*;

#[track_caller]
fn check(path: &str, blocked: bool) {
    assert_eq!(Blocked::default().by(Path::new(path)).is_some(), blocked, "{path}");
}

/// Facts F, S1.20, S1.24: what is blocked where nobody says otherwise.
#[test]
fn secrets_are_blocked_at_any_depth_and_in_any_case() {
    for path in [
        ".env",
        "config/.env",
        ".env.production",
        ".env.local",
        ".ENV",
        "a/b/c/.Env",
        ".env/inside",
        "server.pem",
        "certs/prod/SERVER.PEM",
        "private.key",
        ".ssh",
        ".ssh/id_rsa",
        "home/.ssh/config",
        "home/.ssh/sub/deep",
        "id_rsa",
        "deploy/id_ed25519",
        "aws_credentials",
        "AWS_CREDENTIALS",
        "config/credentials.json",
        ".git-credentials",
        "credentials/readme.md",
        ".ssh/.env.example",
        ".env.example/secret",
        ".ENV.EXAMPLE",
        // What a disk that does not tell letters apart takes for the same.
        ".\u{17f}sh/config",
        "a.\u{212a}ey",
        ".e\u{200d}nv",
        "deep/.\u{feff}env.local",
    ] {
        check(path, true);
    }
    for path in [
        "src/main.py",
        "environment.txt",
        "package.lock",
        ".env.example",
        "web/.env.sample",
        ".env.template",
        "docs/pem-format.md",
        "src/env.rs",
        "monkey.rs",
        "größe.txt",
        "key.txt",
        "ssh/config",
        "env",
    ] {
        check(path, false);
    }
}

#[test]
fn a_pattern_is_named_and_one_that_is_none_is_refused() {
    let blocked = Blocked::new(["/top.txt", "keys/*", "!keys/readme"]).unwrap();
    assert_eq!(blocked.by(Path::new("top.txt")), Some("/top.txt"));
    assert_eq!(blocked.by(Path::new("sub/top.txt")), None);
    assert_eq!(blocked.by(Path::new("sub/keys")), Some("keys/*"));
    // An exception does not reach into a directory that is blocked itself.
    assert_eq!(blocked.by(Path::new("keys/readme")), Some("keys/*"));
    assert_eq!(blocked.patterns(), ["/top.txt", "keys/*"]);
    for pattern in ["", "/", "../x", "a/[", "{a"] {
        let error = Blocked::new([pattern]).unwrap_err().to_string();
        assert!(error.contains("is not a pattern for blocked files"), "{error}");
    }
    assert_eq!(Blocked::nothing().by(Path::new(".env")), None);
}

/// Names that are not UTF-8, or have line breaks, are no way round a pattern.
#[test]
fn strange_names_are_blocked_all_the_same() {
    use std::os::unix::ffi::OsStrExt;
    for name in [b"\xff.pem".as_slice(), b"a\nb.pem", b"\xffcredentials\xfe", b"\n/.env"] {
        let path = Path::new(OsStr::from_bytes(name));
        assert!(Blocked::default().by(path).is_some(), "{name:?}");
    }
}

/// C5: no operation sees a blocked file, by its name or through a link.
#[test]
fn no_operation_sees_a_blocked_file() {
    let setup = "printf S > ws/.env; mkdir ws/.ssh; printf S > ws/.ssh/id; ln -s .env ws/plain
        ln -s .ssh ws/dir; ln -s \"$PWD/ws/.env\" ws/abs; ln -s a.txt ws/x.pem; ln -s x.pem ws/two";
    for world in World::both(setup) {
        let files = &world.files;
        let asked = [
            ".env",
            "plain",
            "abs",
            "src/../.env",
            ".ssh/id",
            "dir/id",
            "dir/new",
            ".ssh/new",
            "x.pem",
            "./.ENV",
            "two",
        ];
        for asked in asked {
            let blocked = |err: FileError| matches!(err, FileError::Blocked { .. });
            assert!(blocked(files.file(asked).unwrap_err()), "{asked}");
            assert!(blocked(files.reach(Path::new(asked)).unwrap_err()), "{asked}");
            assert!(blocked(files.node(asked, HOLD).unwrap_err()), "{asked}");
            assert!(blocked(files.directory(asked).unwrap_err()), "{asked}");
        }
        assert!(matches!(files.directory("dir"), Err(FileError::Blocked { .. })));
        assert!(matches!(files.parent(Path::new(".env")), Err(FileError::Blocked { .. })));
        assert!(matches!(files.entry(".env", 0), Err(FileError::Blocked { .. })));
        let mut root = files.directory(".").unwrap();
        let names: Vec<OsString> = root.by_ref().map(|it| it.unwrap().name).collect();
        assert!(!names.contains(&".env".into()) && !names.contains(&".ssh".into()), "{names:?}");
        // `.env`, `.ssh` and `x.pem` were left out, and it says so.
        assert_eq!(root.blocked(), 3);
    }
}
