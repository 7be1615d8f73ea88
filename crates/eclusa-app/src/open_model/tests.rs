//! Tests of opening models.

use eclusa::Redactor;

use super::literal;

#[test]
fn a_key_is_taken_out_wherever_it_stands() {
    let redactor = Redactor::off().with_rules([literal("a.b+c$d/e-1\"").unwrap()]);
    assert_eq!(redactor.text("x=a.b+c$d/e-1\";").0, "x=[redacted:model-key];");
    assert_eq!(redactor.text("aXb+c$d/e-1\"").0, "aXb+c$d/e-1\"");
}
