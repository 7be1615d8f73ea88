//! What paths mean, link by link.

use super::*;

/// S4.11, S4.12, S4.16: the name asked for, in words.
#[test]
fn a_name_is_relative_and_collapsed() {
    for world in World::both("ln -s \"$PWD/ws\" wslink") {
        let name = |asked: &str| {
            let asked = asked.replace("{TMP}", world.tmp.path().to_str().unwrap());
            world.files.name(&asked).map(|it| it.to_str().unwrap().to_owned()).ok()
        };
        for (asked, expected) in [
            ("a.txt", "a.txt"),
            ("./src//..//a.txt", "a.txt"),
            ("missing/deep/", "missing/deep"),
            ("{TMP}/ws/src/x", "src/x"),
            ("{TMP}/outside/../ws/src/x", "src/x"),
            ("{TMP}/wslink/a.txt", "a.txt"),
            ("../ws/a.txt", "a.txt"),
            (".", "."),
            ("src/..", "."),
            ("{TMP}/ws", "."),
        ] {
            assert_eq!(name(asked).as_deref(), Some(expected), "{asked}");
        }
        for asked in [
            "",
            "..",
            "../",
            "../outside",
            "/",
            "/etc/passwd",
            "{TMP}",
            "{TMP}/ws2/x",
            "{TMP}/WS/a",
            "~",
            "~/x",
            "~user/x",
            "a\0b",
            "src/../../x",
            "/proc/self/cwd/a.txt",
        ] {
            assert_eq!(name(asked), None, "{asked}");
        }
    }
}

/// Links that stay inside are followed, relative or absolute, and the name reached is told.
#[test]
fn the_name_reached_is_the_files_own() {
    let setup = r#"printf X > ws/src/x.txt; ln -s src ws/lib; ln -s "$PWD/ws/lib/x.txt" ws/abs
        ln -s "$PWD/wslink/src" ws/odd; ln -s ws wslink; ln -s lib/../a.txt ws/back; ln -s x ws/~x
        ln -s ../../ws/src/x.txt ws/src/round; ln -s x.txt/ ws/src/slash; mkdir ws/src/deep
        ln -s src/deep ws/deep; printf Y > ws/~; printf Z > 'ws/~$draft'"#;
    for world in World::both(setup) {
        let reached =
            |asked: &str| world.files.file(asked).map(|it| it.path.to_str().unwrap().to_owned());
        for (asked, expected) in [
            ("lib/x.txt", "src/x.txt"),
            ("abs", "src/x.txt"),
            ("odd/x.txt", "src/x.txt"),
            ("back", "a.txt"),
            ("src/round", "src/x.txt"),
            // The kernel's meaning of `..`: the directory above where the link leads.
            ("deep/../x.txt", "src/x.txt"),
            ("../ws/a.txt", "a.txt"),
            ("./~", "~"),
            ("~$draft", "~$draft"),
        ] {
            assert_eq!(reached(asked).ok().as_deref(), Some(expected), "{asked}");
        }
        assert!(matches!(reached("deep/../a.txt"), Err(FileError::NotFound { .. })));
        assert!(matches!(reached("src/slash"), Err(FileError::NotADirectory { .. })));
    }
}

/// S4.13: links that lead out are refused, and so is what is made behind them.
#[test]
fn links_that_lead_out_are_refused() {
    let setup = r#"ln -s ../outside ws/dir; ln -s / ws/top; ln -s "$PWD/outside" ws/abs
        ln -s ../outside/new ws/dangling; mkdir outside/sub; ln -s ../outside/sub ws/sub
        ln -s /proc/self/cwd ws/cwd; ln -s /dev/null ws/null"#;
    for world in World::both(setup) {
        for asked in [
            "dir/secret.txt",
            "dir/new.txt",
            "top/etc/passwd",
            "abs/secret.txt",
            "dangling",
            "dangling/x",
            "sub/../secret.txt",
            "cwd/a.txt",
            "null",
            "dir",
            "dir/",
        ] {
            let outside = |err: FileError| matches!(err, FileError::Outside { .. });
            assert!(outside(world.files.file(asked).unwrap_err()), "{asked}");
            assert!(outside(world.files.node(asked, 0).unwrap_err()), "{asked}");
            assert!(outside(world.files.directory(asked).unwrap_err()), "{asked}");
        }
        // The link itself is a thing of the workspace: it can be deleted or moved.
        let found = world.files.entry("dir", 0).unwrap();
        assert_eq!(found.node, Some(Node::Link { target: "../outside".into() }));
        assert!(matches!(world.files.entry("dir/", 0), Err(FileError::NotADirectory { .. })));
        assert!(matches!(world.files.entry("dir/secret.txt", 0), Err(FileError::Outside { .. })));
        delete(&world.files, found).unwrap();
        assert!(world.sh("test -e outside/secret.txt && ! test -L ws/dir"));
    }
}

/// E14, E15: a working directory is asked for like any other.
#[test]
fn the_workspace_is_the_default_directory_and_nothing_above_it_is_one() {
    for world in World::both("true") {
        assert_eq!(world.list(".").unwrap(), ["a.txt", "src"]);
        assert_eq!(world.files.directory(".").unwrap().path, Path::new(""));
        assert!(matches!(world.files.directory("../../../etc"), Err(FileError::Outside { .. })));
        assert!(matches!(world.files.entry(".", 0), Err(FileError::Workspace { .. })));
        assert!(matches!(world.files.node("src/..", 0), Err(FileError::Workspace { .. })));
        assert!(matches!(world.files.file("."), Err(FileError::NotAFile { .. })));
    }
}

/// What is no file is refused at once: nobody waits for the other end of a pipe.
#[test]
fn pipes_sockets_and_directories_are_refused_without_waiting() {
    for world in World::both("mkfifo ws/pipe; ln -s pipe ws/link") {
        let socket = world.tmp.path().join("ws/socket");
        let _bound = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for (asked, kind) in [
            ("pipe", Kind::Pipe),
            ("link", Kind::Pipe),
            ("socket", Kind::Socket),
            ("src", Kind::Directory),
        ] {
            let error = world.files.file(asked).unwrap_err();
            assert!(matches!(error, FileError::NotAFile { kind: it, .. } if it == kind), "{error}");
        }
        assert!(matches!(world.files.node("pipe", 0), Err(FileError::NotAFile { .. })));
    }
}

/// S4.17: the workspace is a handle, not a path.
#[test]
fn a_workspace_that_is_replaced_is_not_mistaken_for_the_new_one() {
    for world in World::both("true") {
        assert!(world.sh("mv ws ws0; mkdir ws; printf OTHER > ws/a.txt"));
        assert_eq!(world.read("a.txt").unwrap(), "INSIDE");
        let absolute = world.tmp.path().join("ws/a.txt");
        assert_eq!(world.read(absolute.to_str().unwrap()).unwrap(), "INSIDE");
    }
}

/// A path for the commit goes through no link, and means nothing but itself.
#[test]
fn a_parent_is_reached_through_no_link() {
    for world in World::both("ln -s src ws/lib; ln -s ../outside ws/dir") {
        let parent = |path: &str| world.files.parent(Path::new(path));
        assert_eq!(parent("src/x").unwrap().1, "x");
        assert_eq!(parent("x").unwrap().1, "x");
        assert!(matches!(parent("lib/x"), Err(FileError::Linked { .. })));
        assert!(matches!(parent("dir/x"), Err(FileError::Linked { .. })));
        assert!(matches!(parent("missing/x"), Err(FileError::NotFound { .. })));
        for path in ["../x", "/etc/x", "src/../x", "src/x/"] {
            assert!(matches!(parent(path), Err(FileError::Outside { .. })), "{path}");
        }
    }
}

/// The choice between the kernel and the walk is made once, and can be seen.
#[test]
fn the_kernel_keeps_to_the_workspace_where_it_can() {
    let world = World::new("true", Beneath::Walked);
    let chosen = Files::open(world.files.root(), Blocked::default()).unwrap();
    assert_eq!(chosen.beneath(), Beneath::Kernel);
    assert_eq!(chosen.root(), world.files.root());
}

/// As many links as the kernel follows itself, and not one more.
#[test]
fn links_are_counted() {
    let setup = "cd ws; ln -s a.txt l1; for i in $(seq 2 41); do ln -s l$((i-1)) l$i; done";
    for world in World::both(setup) {
        assert_eq!(world.read("l40").unwrap(), "INSIDE");
        assert!(matches!(world.files.file("l41"), Err(FileError::Loop { .. })));
    }
}
