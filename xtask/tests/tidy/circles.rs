//! Circles of modules are found, whatever way they take.

use xtask::{circles, source::Source};

use crate::can_fail::complains;

#[test]
fn circles_of_modules() {
    let circle = [
        Source::new("crates/a/src/lib.rs", "mod b;\nmod c;\npub use c::Thing;\n"),
        Source::new("crates/a/src/b.rs", "use crate::Thing;\npub struct Other(Thing);\n"),
        Source::new("crates/a/src/c/inner.rs", "fn f() -> super::super::b::Other { todo!() }\n"),
    ];
    complains(&circles::complaints(&circle), "b -> c (crates/a/src/b.rs: Thing)");
    assert_eq!(circles::complaints(&circle[..2]), Vec::<String>::new());
}

#[test]
fn circles_through_the_root() {
    let circle = [
        Source::new("a/src/lib.rs", "mod b;\npub use b::Thing;\npub struct Own(Thing);\n"),
        Source::new("a/src/b.rs", "pub struct Thing;\nfn f(_: &crate::Own) {}\n"),
    ];
    complains(&circles::complaints(&circle), "b -> the root (a/src/b.rs: Own)");
    let re_exported = [
        Source::new("a/src/lib.rs", "mod b;\nmod c;\npub use b::Thing;\npub use other::Own;\n"),
        Source::new("a/src/b.rs", "pub(crate) struct Thing;\nfn f(_: &crate::Own) {}\n"),
        Source::new("a/src/c.rs", "use crate::Thing;\nfn f(_: &Thing) {}\n"),
    ];
    assert_eq!(circles::complaints(&re_exported), Vec::<String>::new());
}

/// A module that hands on what another defines is not what is mentioned.
#[test]
fn circles_through_what_modules_re_export() {
    let circle = [
        Source::new("a/src/lib.rs", "mod b;\nmod c;\nmod d;\n"),
        Source::new("a/src/b.rs", "use crate::d::*;\nfn f(_: &Thing) {}\npub struct Other;\n"),
        Source::new("a/src/c.rs", "mod inner;\npub use inner::Thing as Renamed;\n"),
        Source::new("a/src/c/inner.rs", "pub struct Thing;\nfn f(_: crate::b::Other) {}\n"),
        Source::new("a/src/d.rs", "pub use super::c::Renamed as Thing;\n"),
    ];
    complains(&circles::complaints(&circle), "d -> c (a/src/d.rs: Renamed)");
    let direct = "use crate::d::Thing;\nfn f(_: &Thing) {}\npub struct Other;\n";
    let circle = circle.map(|it| match it.path.as_str() {
        "a/src/b.rs" => Source::new("a/src/b.rs", direct),
        _ => it,
    });
    complains(&circles::complaints(&circle), "b -> c (a/src/b.rs: Thing)");
}
