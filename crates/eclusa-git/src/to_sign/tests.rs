//! Texts that are known again, and what is told of them.

use std::io::Write as _;

use super::*;

const TEXT: &str = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent 1111111111111111111111111111111111111111\n\
    author Ana <ana@example.org> 1 +0000\ncommitter Ana <ana@example.org> 1 +0000\n\nfirst\n";

fn file(kind: &str, text: &str) -> Vec<u8> {
    let mut file = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    write!(file, "{kind} {}\0{text}", text.len()).unwrap();
    file.finish().unwrap()
}

fn named(id: &str) -> LooseObject {
    LooseObject { id: id.repeat(20), place: ".git".into() }
}

fn made(kind: &str, text: &str) -> ToSign {
    ToSign::unsigned([(named("22"), file(kind, text))])
}

#[test]
fn a_text_is_known_again_with_other_dates_and_in_no_other_way() {
    let known = made("commit", TEXT);
    assert!(known.covers(TEXT.as_bytes()));
    assert!(known.covers(TEXT.replace("> 1 +", "> 1795121475 -").as_bytes()));
    let parent = "parent 1111111111111111111111111111111111111111\n";
    let later = |line: &str| TEXT.replace(parent, "").replace("\n\n", &format!("\n{line}\n\n"));
    for other in [
        // Behind the committer git takes it for no parent.
        later(parent.trim_end()),
        TEXT.replace("904\n", "904\r\n"),
        TEXT.replace("> 1 +0000\ncommitter", "> 1 +0000 by bob\ncommitter"),
        TEXT.replace("author Ana", "author Bob"),
        TEXT.replace("first", "first\nand more"),
        TEXT.replace(parent, ""),
        TEXT.replace("1111", "2222"),
    ] {
        assert!(!known.covers(other.as_bytes()), "{other}");
    }
    // What is longer than is read is not known.
    let long = TEXT.replace("first", &"x".repeat(70_000));
    assert!(made("commit", &long).is_empty());
}

#[test]
fn it_is_told_what_is_signed_and_in_whose_name() {
    let told = |it: ToSign| it.described().collect::<Vec<_>>();
    let text = TEXT.replace("first", "\n\nbehind two blank lines");
    let commit = "commit of Ana <ana@example.org>: behind two blank lines";
    assert_eq!(told(made("commit", &text)), [commit]);
    let tag = "object 1111111111111111111111111111111111111111\ntype commit\ntag v9\ntagger Bob <b@c> 1 +0000\n\nfix\n";
    let both = [(named("22"), file("commit", TEXT)), (named("33"), file("tag", tag))];
    let tag = "tag v9 for a commit, of Bob <b@c>: fix";
    assert_eq!(told(ToSign::unsigned(both)), [tag, "commit of Ana <ana@example.org>: first"]);
}
