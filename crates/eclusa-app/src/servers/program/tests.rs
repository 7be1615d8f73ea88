//! Tests of program.

use super::*;

#[test]
fn a_program_is_found_before_it_is_started() {
    let ctx = Path::new("/");
    let words = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let found = |all: &[&str]| found(&words(all), OsStr::new("/nowhere:/bin"), ctx);
    assert_eq!(found(&["sh", "-c", "x"]).unwrap(), ["/bin/sh", "-c", "x"]);
    assert_eq!(found(&["/bin/sh"]).unwrap(), ["/bin/sh"]);
    assert_eq!(found(&["bin/sh"]).unwrap(), ["/bin/sh"]);
    let err = found(&["no-such-program"]).unwrap_err().to_string();
    assert!(err.contains("`no-such-program` is not on the PATH"), "{err}");
    assert!(found(&["./no-such-program"]).is_err());
    assert!(found(&[]).is_err());
}
