//! What is shown: nothing hidden, nothing left out, nothing that two texts share.

use proptest::prelude::*;
use unicode_general_category::{GeneralCategory as Category, get_general_category};

use super::{is_plain, one_line, visible, written};

/// Reads a shown text back. That it can be done is the proof that nothing was lost.
fn read_back(shown: &str) -> String {
    let chars: Vec<char> = shown.chars().filter(|c| *c != '\n').collect();
    let mut out = String::new();
    let mut at = 0;
    while at < chars.len() {
        match chars[at] {
            '⟨' => {
                let end = at + chars[at..].iter().position(|c| *c == '⟩').unwrap();
                out.push_str(&sign(&chars[at + 1..end].iter().collect::<String>()));
                at = end + 1;
            }
            '⏎' => {
                out.push('\n');
                at += 1;
            }
            _ => at = character(&chars, at, &mut out),
        }
    }
    out
}

/// One character, escaped or not; says where to go on.
fn character(chars: &[char], at: usize, out: &mut String) -> usize {
    if chars[at..].starts_with(&['\\', 'u', '{']) {
        let end = at + chars[at..].iter().position(|c| *c == '}').unwrap();
        let number: String = chars[at + 3..end].iter().collect();
        out.push(char::from_u32(u32::from_str_radix(&number, 16).unwrap()).unwrap());
        return end + 1;
    }
    out.push(chars[at]);
    at + 1
}

/// What stands for something between `⟨` and `⟩`.
fn sign(inside: &str) -> String {
    if let Some(text) = inside.strip_prefix("rtl ").and_then(|it| it.strip_suffix(" ltr")) {
        return text.to_owned();
    }
    if inside.starts_with("U+") && !inside.contains('×') {
        return String::new();
    }
    inside.split(' ').map(item).collect()
}

fn item(item: &str) -> String {
    let (unit, times) = item.rsplit_once('×').unwrap_or((item, "1"));
    let chars: Vec<char> = unit.chars().collect();
    let mut text = String::new();
    let mut at = 0;
    while at < chars.len() {
        match chars[at] {
            '␠' => text.push(' '),
            '⏎' => text.push('\n'),
            _ => {
                at = character(&chars, at, &mut text);
                continue;
            }
        }
        at += 1;
    }
    text.repeat(times.parse().unwrap())
}

/// Texts made of what matters here, and of anything at all.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z ./;|\\\\u{}0-9A-F]{0,8}",
        2 => "\\PC{0,6}",
        2 => any::<String>(),
        1 => (any::<char>(), 1..80_usize).prop_map(|(c, n)| c.to_string().repeat(n)),
        1 => ("[ \\n\\r\\t#a]{1,4}", 1..40_usize).prop_map(|(unit, n)| unit.repeat(n)),
        1 => "[ \\n]{0,40}",
        1 => "[⟨⟩⏎␠×│U+0-9]{1,6}",
        1 => "[שלוםא ,0-9a-z/]{1,12}",
        1 => "[aсοеxｒ１ﬁ𝐫ж]{1,8}",
        1 => "[e\u{301}\u{338}\u{20DD}\u{5B0}\u{E31}กש]{1,8}",
        1 => "[\u{200B}\u{202E}\u{2066}\u{E0041}\u{FE0F}\u{3164}\u{A0}\u{1b}\u{9b}\u{7f}]{1,5}",
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn what_is_plain_is_written_as_it_is(
        text in "[ -~]{0,90}|[a-c]{0,90}|( ?[a-z./-]{1,4}){0,24}",
        breaks: bool,
    ) {
        if is_plain(&text) {
            prop_assert_eq!(written(&text, breaks), text);
        }
    }

    /// No information is lost, so two different texts never look the same.
    #[test]
    fn what_is_shown_can_be_read_back(text in any_text()) {
        prop_assert_eq!(read_back(&visible(&text)), text.clone());
        prop_assert_eq!(read_back(&one_line(&text)), text);
    }

    /// Whatever goes in, nothing comes out that hides, moves or covers anything.
    #[test]
    fn nothing_hidden_comes_out(text in any_text()) {
        for shown in [visible(&text).replace("⏎\n", "").replace("⟩\n", ""), one_line(&text)] {
            for c in shown.chars() {
                prop_assert!(!matches!(
                    get_general_category(c),
                    Category::Control | Category::Format | Category::PrivateUse
                        | Category::Unassigned | Category::LineSeparator
                        | Category::ParagraphSeparator | Category::EnclosingMark
                ), "{:?} in {:?}", c, shown);
                prop_assert!(c == ' ' || !c.is_whitespace(), "{c:?} in {shown:?}");
            }
            prop_assert!(!shown.contains(&" ".repeat(17)), "{shown:?}");
        }
    }

    /// Line breaks are made where they are marked, and `one_line` makes none.
    #[test]
    fn one_line_is_the_same_without_breaks(text in any_text()) {
        prop_assert_eq!(visible(&text).replace('\n', ""), one_line(&text));
    }
}

#[track_caller]
fn check(text: &str, shown: &str) {
    assert_eq!(visible(text), shown);
    assert_eq!(read_back(shown), text);
}

#[test]
fn ordinary_text_is_itself() {
    for text in [
        "cargo test --workspace",
        "a  b",
        r"C:\Users\me\unit.txt",
        r"grep '\bfoo\b' | sed 's/\x41/b/'",
        "naïve café, Straße, Żółć, Tiếng Việt",
        "你好，世界！使用API，然后。",
        "日本語のテキスト「引用」、カタカナ",
        "한국어 텍스트",
        "Привет, как у вас дела",
        "Καλημέρα κόσμε",
        "ışığı aç, şimdi",
        "नमस्ते दुनिया",
        "สวัสดีชาวโลก",
        "emoji 🎉 👍🏽 🇨🇭",
        "“quoted” – dashed — and it’s fine…",
        "┌──────┐",
    ] {
        check(text, text);
    }
}

#[test]
fn what_a_terminal_would_obey_is_escaped() {
    check("a\u{1b}[2K\u{7}\u{8}\u{7f}\u{9b}", "a\\u{1B}[2K\\u{7}\\u{8}\\u{7F}\\u{9B}");
    check("a\tb\rc\0", "a\\u{9}b\\u{D}c\\u{0}");
    check("a\u{85}b\u{2028}c\u{2029}", "a\\u{85}b\\u{2028}c\\u{2029}");
}

#[test]
fn what_nobody_would_see_is_escaped() {
    check("git\u{2060} \u{feff}\u{200b}", "git\\u{2060} \\u{FEFF}\\u{200B}");
    check("rm\u{ad}\u{34f}\u{3164}\u{2800}", "rm\\u{AD}\\u{34F}\\u{3164}\\u{2800}");
    check("a\u{a0}b\u{3000}c\u{2003}", "a\\u{A0}b\\u{3000}c\\u{2003}");
    check("\u{e0041}\u{e0101}\u{fe0f}", "\\u{E0041}\\u{E0101}\\u{FE0F}");
    check("\u{e000}\u{378}\u{ffff}", "\\u{E000}\\u{378}\\u{FFFF}");
    check("ends in blanks  ", "ends in blanks⟨␠×2⟩");
    check(" starts with one", "⟨␠⟩starts with one");
}

#[test]
fn marks_that_cover_others_are_escaped() {
    check("r\u{336}m\u{336}", "r\\u{336}m\\u{336}");
    check("cafe\u{301}", "cafe\\u{301}");
    check("1\u{20e3}", "1\\u{20E3}");
    check("a\u{e31}", "a\\u{E31}");
}

#[test]
fn own_signs_cannot_be_forged() {
    check("⟨␠×500⟩⏎", "\\u{27E8}␠×500\\u{27E9}\\u{23CE}");
    check(r"\u{1B}", r"\u{5C}u{1B}");
    check(r"\\u{1B}", r"\\u{5C}u{1B}");
    check("\\\u{1b}", "\\\\u{1B}");
}

#[test]
fn breaks_are_marked_and_runs_are_counted() {
    check("a\nb\n\nc", "a⏎\nb⏎\n⏎\nc");
    check(&format!("a{}b", "\n".repeat(200)), "a⟨⏎×200⟩\nb");
    check(&format!("a{}b", "\r\n".repeat(200)), "a⟨\\u{D}⏎×200⟩\nb");
    check(&format!("a{}b", " \n".repeat(200)), "a⟨␠⏎×200⟩\nb");
    check("a\n \n  \n   \nb", "a⟨⏎ ␠ ⏎ ␠×2 ⏎ ␠×3 ⏎⟩\nb");
    check(&format!("a{}b", " ".repeat(500)), "a⟨␠×500⟩b");
    check(&format!("a{}b", "\t".repeat(90)), "a⟨\\u{9}×90⟩b");
    check(&format!("a{}b", "\u{3000}".repeat(90)), "a⟨\\u{3000}×90⟩b");
    check(&"0".repeat(40), &"0".repeat(40));
    check(&"-".repeat(80), &"-".repeat(80));
    check(&"x".repeat(81), "⟨x×81⟩");
    check(&format!("{}rm", "# nothing\n".repeat(100)), "⟨#␠nothing⏎×100⟩\nrm");
}

#[test]
fn right_to_left_text_stays_readable_and_in_its_place() {
    check("grep \"שלום\" notes.md", "grep \"⟨rtl שלום ltr⟩\" notes.md");
    check("שלום, עולם 12/34 אב", "⟨rtl שלום, עולם ltr⟩ 12/34 ⟨rtl אב ltr⟩");
    check("rm מאגר/src", "rm ⟨rtl מאגר ltr⟩/src");
    check("مرحبا بالعالم", "⟨rtl مرحبا بالعالم ltr⟩");
}

#[test]
fn look_alikes_are_named() {
    check("сurl x", "с⟨U+0441⟩url x");
    check("gοοgle.com", "gοο⟨U+03BF U+03BF⟩gle.com");
    check("сору a b", "сору⟨U+0441 U+043E U+0440 U+0443⟩ a b");
    check("ｒｍ -rf", "ｒｍ⟨U+FF52 U+FF4D⟩ -rf");
    check("a；rm", "a；⟨U+FF1B⟩rm");
    check("evil.com∕x", "evil.com∕⟨U+2215⟩x");
    check("rm −rf", "rm −⟨U+2212⟩rf");
    check("𝐫𝐦", "𝐫𝐦⟨U+1D42B U+1D426⟩");
    check("ɡit", "ɡ⟨U+0261⟩it");
    check("gıt", "gı⟨U+0131⟩t");
    check("ꓡꓢ", "ꓡꓢ⟨U+A4E1 U+A4E2⟩");
    check("us৪r", "us৪⟨U+09EA⟩r");
    check(&format!("с{}", "сх".repeat(50)), "с⟨U+0441⟩⟨\\u{441}\\u{445}×50⟩");
}
