//! Nothing hangs, panics or overflows, whatever the text.

use eclusa_shell::analyse;
use proptest::prelude::*;

/// Stack that the analysis may use: half of what a thread has by default, debug build or not.
const STACK: usize = 1024 * 1024;

fn on_small_stack(script: String) {
    let thread = std::thread::Builder::new().stack_size(STACK);
    thread.spawn(move || drop(analyse(&script))).unwrap().join().unwrap();
}

#[test]
fn deep_nesting_overflows_no_stack() {
    for (open, close) in [
        ("(", ")"),
        ("{ ", "}"),
        ("$(", ")"),
        ("`", "`"),
        ("$((", "))"),
        ("${x:-", "}"),
        ("\"$(", ")\""),
        ("if ", "fi"),
        ("while ", ""),
        ("! ", ""),
        ("a <(", ")"),
        ("[[ ( ", ")"),
        ("f() { ", "}"),
        ("case x in x) ", ";; esac"),
        ("a=(", ")"),
        ("((", "))"),
        ("$[", "]"),
        ("a[", "]=1"),
        ("time ", ""),
        ("coproc ", ""),
        ("{a,", "}"),
        ("a && ", ""),
        ("a | ", ""),
        ("a <<E\n$(", ")\nE\n"),
        ("[", "]"),
        ("<", ""),
        ("-", ""),
        ("@(", ")"),
        ("\\\n", ""),
        ("x=$(", ")"),
        ("function f ", ""),
        ("select x in ", ""),
        ("[[ a && ", ""),
        ("${x[", "]}"),
        ("~", ""),
        ("for x in a; do ", "done;"),
        ("elif ", ""),
        ("$'", "'"),
    ] {
        for depth in [10, 50, 200, 1000, 4000] {
            on_small_stack(format!("{}a{}", open.repeat(depth), close.repeat(depth)));
            on_small_stack(open.repeat(depth));
        }
    }
}

#[test]
fn long_texts_end() {
    for piece in [
        "a ",
        "a;",
        "a|",
        "$a",
        "'",
        "\"",
        "`a`",
        "$(a)",
        "<<E ",
        "<<E\n",
        "a\n",
        "\\",
        "{",
        "}",
        "[",
        "*",
        "((",
        "a=b ",
        "${a}",
        "$((1))",
        "#",
        "&",
        "$",
        "\n<<",
        "$((",
        "a(){ ",
        "\u{200b}",
        "🚀",
        "a <<A <<B\n",
    ] {
        let count = eclusa_shell::limits::MAX_BYTES / piece.len();
        on_small_stack(piece.repeat(count));
    }
}

fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "a", " ", "\n", ";", "&", "|", "<", ">", "(", ")", "{", "}", "$", "`", "\"", "'", "\\", "#", "!", "*",
            "~", "=", "[", "]", "$(", "$((", "))", "${", "<<", "<<-", "<<<", "E", "\\\n", "&&", "||", ";;", "[[", "]]",
            "if ", "then ", "fi ", "do ", "done ", "for ", "in ", "while ", "case ", "esac ", "function ", "select ",
            "time ", "coproc ", "until ", "x=", "x+=(", "$'", "$\"", "<(", ">(", ">&", "2>", "&>", "\t", "\r", "\u{0}",
            "é", "🚀", "\u{200b}", "@P}", ":-", "$[", "{a,b}", "{1..3}", "export ", "declare ", "eval ", "$x", "\"$@\"",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(script in ".{0,200}") {
        analyse(&script);
    }

    #[test]
    fn no_tokens_panic(tokens in prop::collection::vec(token(), 0..60)) {
        let script = tokens.concat();
        let analysis = analyse(&script);
        // Nothing is silently dropped: no commands means a reason.
        prop_assert!(!analysis.commands.is_empty() || !analysis.doubts.is_empty() || analysis.refused.is_some());
    }

    /// The same text, the same answer.
    #[test]
    fn reading_is_a_function(tokens in prop::collection::vec(token(), 0..30)) {
        let script = tokens.concat();
        prop_assert_eq!(analyse(&script), analyse(&script));
    }
}
