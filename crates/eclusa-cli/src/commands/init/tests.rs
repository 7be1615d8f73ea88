//! Tests of init.

use super::*;

#[test]
fn scripts_and_targets_that_check_are_found_and_the_file_can_be_read() {
    let scripts = r#"{"scripts": {"test": "x", "lint": "y", "deploy": "z"}}"#;
    assert_eq!(package_scripts(scripts, "npm"), ["npm run lint", "npm test"]);
    assert_eq!(package_scripts("not json", "npm"), [""; 0]);
    assert_eq!(make_targets("all: x\ntest: all\n\tcc\nclean:\n"), ["make test"]);
    let found = vec![("make".to_owned(), vec!["make test".to_owned()])];
    for found in [found, Vec::new()] {
        let layer = eclusa_config::Layer::of_person("f", toml(&found));
        eclusa_config::Config::load(&[layer]).unwrap();
    }
}
