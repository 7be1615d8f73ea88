//! What a person has blocked is hidden from commands as it is from `read`: at any depth, by
//! whatever name the command finds for it, on every level.

use eclusa::{Answer, Blocked, settings::RequiredEnforcement};
use eclusa_sandbox::test_support;

use crate::world::{World, plainly};

const START: &str = "echo hunter2 > my.secret; mkdir -p a/b/c/d/e node_modules/x vault/in
    echo hunter2 > a/b/c/d/e/my.secret; echo hunter2 > node_modules/x/my.secret
    echo hunter2 > vault/in/key; echo open > a/open; git init -q .; git add -f .";

fn world() -> World {
    let world = World::lenient(Answer::Once, |it| {
        it.least = RequiredEnforcement::Partial;
        it.blocked = Blocked::new(["*.secret", "vault/**"]).unwrap();
    });
    plainly(&world.root(), START);
    world
}

const TRICKS: &str = "cat my.secret a/b/c/d/e/my.secret node_modules/x/my.secret vault/in/key
    cat < my.secret; cp my.secret copy; cat copy; mv my.secret moved; cat moved; ln my.secret hard; cat hard
    ln -s my.secret soft; cat soft; mv a/b a/other; cat a/other/c/d/e/my.secret; mv vault vault2; cat vault2/in/key
    cat /proc/self/cwd/my.secret; cd a/other/c 2>/dev/null && cat d/e/my.secret; cd \"$OLDPWD\"
    grep -r hunter2 --include='*' --exclude-dir=.git .; tar c . | grep -a hunter; ls vault; cat a/open";

fn holds(world: &World) {
    let reply = world.bash(TRICKS);
    let said = reply.content();
    assert!(!said.contains("hunter2"), "{said}");
    assert!(said.contains("open\n"), "{said}");
    // Where nothing can be written there is no layer, and it is hidden all the same.
    let reply = world.bash("cat my.secret");
    assert!(reply.is_error() && !reply.content().contains("hunter2"), "{}", reply.content());
}

#[test]
fn what_is_blocked_cannot_be_read_by_commands() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    holds(&world);
    // One that comes later is hidden from the next command.
    plainly(&world.root(), "mkdir -p late/er; echo hunter3 > late/er/new.secret");
    let reply = world.bash("cat late/er/new.secret; echo x > b");
    assert!(!reply.content().contains("hunter3"), "{}", reply.content());
    plainly(&world.root(), "mv late/er/new.secret late/er/plain");
    let reply = world.bash("cat late/er/plain; echo y > b");
    assert!(reply.content().contains("hunter3"), "it is not blocked: {}", reply.content());
}

#[test]
fn what_is_blocked_cannot_be_read_by_commands_where_nothing_can_be_staged() {
    eclusa_testing::needs!(Namespaces);
    test_support::overlays().unwrap();
    holds(&world());
}
