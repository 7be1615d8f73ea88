//! The limits over effects, as they are written.

use eclusa::policy::Budget;

use super::*;

/// The keys of `[effects]`, and that a project's file only tightens them.
#[test]
fn limits_come_from_the_configuration() {
    let text = "[effects]\nmax_files = 2\nmax_lines = 'none'\nmax_bytes = '1KB'\n\
                allow_delete = true\nexecutable = 'deny'\n";
    let mine = Layer::of_person("mine.toml", text);
    let config = Config::load(std::slice::from_ref(&mine)).unwrap();
    let meant = EffectLimits {
        max_files: Some(2),
        max_lines: None,
        max_bytes: Some(1024),
        delete: Allow,
        executable: Deny,
        budget: Budget::default(),
    };
    assert_eq!(config.effects, meant);
    assert_eq!(Config::load(&[]).unwrap().effects, EffectLimits::default());
    let project = |text: &str| {
        let found = Layer::of_project("eclusa.toml", format!("[effects]\n{text}"));
        Config::load(&[mine.clone(), found])
    };
    for tighter in ["max_files = 1", "max_lines = 0", "max_bytes = 7", "allow_delete = false"] {
        assert!(project(tighter).unwrap().left_out.is_empty(), "{tighter}");
    }
    for looser in [
        "max_files = 3",
        "max_files = 'none'",
        "max_bytes = '2KB'",
        "max_bytes = 'none'",
        "executable = 'ask'",
    ] {
        let config = project(looser).unwrap();
        assert!(config.left_out[0].message.contains("can only make rules stricter"), "{looser}");
        assert_eq!(config.effects, meant, "{looser}");
    }
    for wrong in ["max_files = -1", "max_files = 'some'", "executable = 'stage'", "max_dirs = 1"] {
        let layer = Layer::of_person("mine.toml", format!("[effects]\n{wrong}"));
        assert!(Config::load(&[layer]).is_err(), "{wrong}");
    }
}
