//! Which language the environment names, and that every phrase keeps the place of what it is about.

use eclusa::catalogue::Language;

use super::{Phrase, from_variables};

#[test]
fn the_first_variable_that_is_set_decides() {
    let read = |set: &'static [(&str, &str)]| {
        from_variables(|name| set.iter().find(|it| it.0 == name).map(|it| it.1.to_owned()))
    };
    assert_eq!(read(&[]), Language::English);
    assert_eq!(read(&[("LANG", "pt_BR.UTF-8")]), Language::Portuguese);
    assert_eq!(read(&[("LANG", "pt_BR.UTF-8"), ("LC_MESSAGES", "es_ES")]), Language::Spanish);
    assert_eq!(read(&[("LANG", "es_ES"), ("LC_ALL", "C")]), Language::English);
    assert_eq!(read(&[("LANG", "es"), ("LC_ALL", "")]), Language::Spanish);
    assert_eq!(read(&[("LANG", "de_DE.UTF-8")]), Language::English);
}

#[test]
fn a_phrase_has_as_many_places_in_every_language() {
    let phrases = [
        Phrase::NotAnAnswer,
        Phrase::ForThisSession,
        Phrase::RuleForWorkspace,
        Phrase::RuleForEverywhere,
        Phrase::OutputCut,
        Phrase::Applied,
        Phrase::ApplyAfterAll,
        Phrase::Undone,
        Phrase::Redone,
        Phrase::CannotUndo,
        Phrase::Redo,
    ];
    for phrase in phrases {
        let count = |language| phrase.text_in(language).matches("{}").count();
        assert!(count(Language::English) > 0, "{phrase:?}");
        for language in Language::ALL {
            assert_eq!(count(language), count(Language::English), "{phrase:?} {language:?}");
        }
    }
}
