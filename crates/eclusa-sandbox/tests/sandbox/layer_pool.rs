//! Layers that are taken, given back and used again: nothing of one command reaches another.

use std::collections::HashSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;

use eclusa_sandbox::{Exit, Layer, LayerPool};
use rustix::fs::XattrFlags;

use crate::world::{World, run};

impl World {
    fn pool(&self) -> LayerPool {
        LayerPool::new(self.path("state/stages"), |path, err| panic!("{}: {err}", path.display()))
    }

    /// Layers that are there, whoever has them.
    fn layers(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("state/stages")).into_iter().flatten();
        entries.map(|it| it.unwrap().path()).collect()
    }

    fn run_over(&self, layer: &Layer, text: &str) -> Exit {
        let mut plan = self.read_only(text);
        plan.stage.push(layer.over(self.ws(), &[]));
        plan.hide.push(self.path("state/stages"));
        run(&plan)
    }
}

#[test]
fn nothing_of_a_command_is_left_for_the_next() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let pool = world.pool();
    let seen = r#"
        stat -c %a .; stat -c %a in.txt; cat in.txt; ls -A
        test $(stat -c %Y .) -gt 1000000000 && echo today
    "#;
    let first = pool.take().unwrap();
    let before = world.run_over(&first, seen).output.text();
    let mode = first.upper().metadata().unwrap().permissions().mode();
    drop(first);
    pool.settle();
    let mess = r#"
        echo x > new; echo more >> in.txt; mkdir -p shut/in; echo y > shut/in/f; chmod 0 shut/in shut
        mkfifo pipe; ln -s / link; rm -f in.txt; echo z > in.txt; chmod 711 in.txt
        touch -d @1 .; chmod 700 .
    "#;
    let used = pool.take().unwrap();
    let (path, inode) = (used.path().to_owned(), used.upper().metadata().unwrap().ino());
    let held: OwnedFd = fs::File::open(used.upper()).unwrap().into();
    assert!(world.run_over(&used, mess).success());
    let value = rustix::fs::setxattr(used.upper(), "user.left", b"over", XattrFlags::empty());
    assert_eq!(value, Ok(()));
    assert!(fs::read_dir(used.upper()).unwrap().count() > 3);
    drop(used);
    pool.settle();

    let again = pool.take().unwrap();
    assert_eq!(again.path(), path, "it is the one that was used");
    let upper = again.upper().metadata().unwrap();
    assert_ne!(upper.ino(), inode, "but not what a command had");
    assert_eq!(upper.permissions().mode(), mode);
    assert_eq!(rustix::fs::listxattr(again.upper(), &mut [0; 64][..]), Ok(0));
    for part in [again.upper(), again.work()] {
        assert_eq!(fs::read_dir(part).unwrap().count(), 0);
    }
    // Whoever still has the old one can put nothing there.
    let mode = rustix::fs::Mode::from(0o755);
    assert_eq!(rustix::fs::mkdirat(&held, "late", mode), Err(rustix::io::Errno::NOENT));
    assert_eq!(world.run_over(&again, seen).output.text(), before);
    assert_eq!(fs::read_dir(again.upper()).unwrap().count(), 0);
}

#[test]
fn layers_are_apart_few_and_gone_in_the_end() {
    let world = World::new();
    let pool = world.pool();
    assert_eq!(world.layers(), [] as [PathBuf; 0], "none before it is wanted");
    for _ in 0..3 {
        let taken: Vec<Layer> = (0..20).map(|_| pool.take().unwrap()).collect();
        let paths: HashSet<_> = taken.iter().map(Layer::path).collect();
        assert_eq!(paths.len(), 20);
        drop(taken);
        pool.settle();
        assert!((1..=4).contains(&world.layers().len()), "{:?}", world.layers());
    }
    // A layer can outlive the pool, and what is in it goes with it.
    let last = pool.take().unwrap();
    drop(pool);
    fs::write(last.upper().join("late"), "x").unwrap();
    drop(last);
    assert_eq!(world.layers(), [] as [PathBuf; 0]);
}

#[test]
fn only_layers_of_the_dead_are_swept() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let (pool, other) = (world.pool(), world.pool());
    let (used, ready) = (pool.take().unwrap(), pool.take().unwrap());
    drop(ready);
    pool.settle();
    let dead = world.path("state/stages/1-0");
    fs::create_dir_all(dead.join("upper/some")).unwrap();
    assert_eq!(other.sweep().unwrap(), 1);
    assert!(!dead.exists() && world.layers().len() == 2 && used.upper().exists());
    // What somebody else has tidied away is not handed out.
    let ready = world.layers().into_iter().find(|it| it != used.path()).unwrap();
    fs::remove_dir_all(&ready).unwrap();
    assert!(world.run_over(&pool.take().unwrap(), "echo x > a").success());
}

/// Threads that take layers and write to them, and processes that start and sweep meanwhile.
#[test]
fn many_at_once_and_those_who_sweep() {
    let world = World::new();
    let pool = world.pool();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (pool, world) = (&pool, &world);
            scope.spawn(move || {
                for round in 0..100 {
                    let layer = pool.take().unwrap();
                    let name = format!("{thread}-{round}");
                    fs::write(layer.upper().join(&name), &name).unwrap();
                    let there: Vec<_> = fs::read_dir(layer.upper()).unwrap().collect();
                    assert_eq!(there.len(), 1, "{there:?}");
                    if round % 10 == thread {
                        world.pool().sweep().unwrap();
                    }
                }
            });
        }
    });
    drop(pool);
    assert_eq!(world.layers(), [] as [PathBuf; 0]);
}
