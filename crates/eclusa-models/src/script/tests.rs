//! Scripts are read as they are written, and say what is wrong with them.

use proptest::prelude::*;

use super::{Fault, ScriptModel, read};

#[test]
fn a_script_is_read_as_it_is_written() {
    let script =
        "rate: 7\n\n## says\nHello.\n\n## expects a b\n## fails 529\n## breaks\n## says\nBye.\n";
    let (rate, steps) = read(script).unwrap();
    assert_eq!(rate, 7);
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[0].says.as_deref(), Some("Hello.\n\n"));
    assert_eq!(steps[1].expects, ["a b"]);
    assert_eq!(steps[1].faults, [Fault::Status(529), Fault::Break]);
}

#[test]
fn mistakes_name_their_line() {
    for (script, part) in [
        ("## shouts\n", "line 1"),
        ("\n## fails often\n", "line 2"),
        ("hello\n", "neither a heading"),
        ("rate: fast\n", "rate: N"),
        ("## expects\n", "`## expects`"),
    ] {
        let err = ScriptModel::new("s", script).map(drop).unwrap_err();
        assert!(err.contains(part), "{script:?}: {err}");
    }
}

#[test]
fn faults_are_played_once_and_in_order() {
    let model = ScriptModel::new("s", "## fails 500\n## says\na\n## breaks\n## says\nb\n").unwrap();
    assert_eq!(model.fault(0), Some(Fault::Status(500)));
    assert_eq!(model.fault(0), None);
    assert_eq!(model.fault(1), Some(Fault::Break));
    assert_eq!((model.fault(1), model.fault(2)), (None, None));
}

proptest! {
    /// Any text is a script or says what is wrong with it.
    #[test]
    fn noise_is_no_crash(
        lines in prop::collection::vec(
            prop_oneof![
                ".{0,12}",
                "(rate: ?|## says|## expects ?|## fails ?|## breaks|## system ?|```tool|```|\\{\"name\").{0,6}",
            ],
            0..12,
        ),
    ) {
        if let Err(err) = ScriptModel::new("s", &lines.join("\n")) {
            prop_assert!(err.starts_with("line "), "{}", err);
        }
    }
}
