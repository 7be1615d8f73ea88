//! Tests of exec.

use super::*;

#[test]
fn words_reach_the_program_as_they_were_typed() {
    let table: [(&[&str], &str); 6] = [
        (&["make && echo ok"], "make && echo ok"),
        (&["ls"], "ls"),
        (&["git", "commit", "-m", "it's done"], r"git commit -m 'it'\''s done'"),
        (&["echo", "$HOME", "`id`", "a b", ""], "echo '$HOME' '`id`' 'a b' ''"),
        (&["printf", "%s\n", "*"], "printf '%s\n' '*'"),
        (&["a", "größe", "~", "!x", "#"], "a 'größe' '~' '!x' '#'"),
    ];
    for (words, text) in table {
        let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(shell_text(&words), text);
    }
}
