//! Which characters hide, move or cover others.

use unicode_general_category::{GeneralCategory as Category, get_general_category};

/// Draws nothing, or something that depends on where it is drawn: control and format characters,
/// blanks other than space, private and unassigned ones, and the letters that are invisible.
pub fn is_hidden(c: char) -> bool {
    match get_general_category(c) {
        Category::Control
        | Category::Format
        | Category::Surrogate
        | Category::PrivateUse
        | Category::Unassigned
        | Category::LineSeparator
        | Category::ParagraphSeparator => true,
        Category::SpaceSeparator => c != ' ',
        _ => is_blank_letter(c) || is_selector(c),
    }
}

/// Unicode lets programs ignore it (Default_Ignorable_Code_Point): it draws nothing, and some
/// programs and disks take a name for the same with it and without.
pub fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{34F}'
            | '\u{61C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFF8}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Chooses how the character before it looks, an emoji for instance, and draws nothing itself.
pub fn is_selector(c: char) -> bool {
    matches!(c, '\u{FE00}'..='\u{FE0F}')
}

/// Characters of a visible category that draw nothing: fillers, blank patterns, rare selectors.
fn is_blank_letter(c: char) -> bool {
    matches!(
        c,
        '\u{34F}'
            | '\u{115F}'
            | '\u{1160}'
            | '\u{17B4}'
            | '\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{FFA0}'
            | '\u{FFFC}'
            | '\u{13441}'..='\u{13446}'
            | '\u{16FE4}'
            | '\u{1D159}'
            | '\u{E0100}'..='\u{E01EF}'
    )
}

/// Is drawn onto the character before it.
pub(super) fn is_mark(c: char) -> bool {
    !c.is_ascii()
        && matches!(
            get_general_category(c),
            Category::NonspacingMark | Category::SpacingMark | Category::EnclosingMark
        )
}

/// A mark that belongs to no script and can be put on anything: it strikes out, encircles, piles
/// up, or makes a letter look like another. An accented letter that is one character is none.
pub(super) fn is_stray_mark(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{36F}'
            | '\u{483}'..='\u{489}'
            | '\u{1AB0}'..='\u{1AFF}'
            | '\u{1DC0}'..='\u{1DFF}'
            | '\u{20D0}'..='\u{20FF}'
            | '\u{302A}'..='\u{302F}'
            | '\u{3099}'
            | '\u{309A}'
            | '\u{FE20}'..='\u{FE2F}'
            | '\u{1D165}'..='\u{1D1AD}'
    ) || get_general_category(c) == Category::EnclosingMark
        || (is_mark(c) && is_hidden(c))
}

/// Belongs to a script that is written from right to left, digits of such scripts included.
pub(super) fn is_right_to_left(c: char) -> bool {
    matches!(
        c,
        '\u{590}'..='\u{8FF}'
            | '\u{FB1D}'..='\u{FDFF}'
            | '\u{FE70}'..='\u{FEFC}'
            | '\u{10800}'..='\u{10FFF}'
            | '\u{1E800}'..='\u{1EFFF}'
    )
}

/// Part of a word: letter, digit or mark.
pub(super) fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || is_mark(c)
}

/// Which family a letter or digit belongs to, as far as passing for another goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WritingSystem {
    /// Latin letters, everyday ones, and ASCII digits.
    Latin,
    /// Greek.
    Greek,
    /// Cyrillic.
    Cyrillic,
    /// Chinese, Japanese and Korean: usual beside Latin, and not mistaken for it.
    EastAsian,
    /// Anything else.
    Other,
}

/// The family of a letter or digit; `None` for what mixes with all of them.
pub(super) fn script(c: char) -> Option<WritingSystem> {
    match c {
        '0'..='9' => None,
        _ if !c.is_alphanumeric() => None,
        '\u{AA}' | '\u{B5}' | '\u{BA}' | '\u{B2}' | '\u{B3}' | '\u{B9}' | '\u{BC}'..='\u{BE}' => {
            None
        }
        'a'..='z' | 'A'..='Z' | '\u{C0}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}' => {
            Some(WritingSystem::Latin)
        }
        '\u{370}'..='\u{3FF}' | '\u{1F00}'..='\u{1FFF}' => Some(WritingSystem::Greek),
        '\u{400}'..='\u{52F}'
        | '\u{1C80}'..='\u{1C8F}'
        | '\u{2DE0}'..='\u{2DFF}'
        | '\u{A640}'..='\u{A69F}' => Some(WritingSystem::Cyrillic),
        _ if is_east_asian(c) => Some(WritingSystem::EastAsian),
        // Numbers in circles, superscripts and the like are plainly not the digits they stand for.
        _ if !c.is_alphabetic() && get_general_category(c) == Category::OtherNumber => None,
        _ => Some(WritingSystem::Other),
    }
}

/// Chinese characters, kana and hangul.
pub(super) fn is_east_asian(c: char) -> bool {
    matches!(
        c,
        '\u{1100}'..='\u{11FF}'
            | '\u{2E80}'..='\u{9FFF}'
            | '\u{A960}'..='\u{A97F}'
            | '\u{AC00}'..='\u{D7FF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{FF66}'..='\u{FFDC}'
            | '\u{1AFF0}'..='\u{1B16F}'
            | '\u{20000}'..='\u{3FFFF}'
    )
}

/// Letters and digits that are made to look like ASCII wherever they stand: full width, letters
/// of mathematics and phonetics, roman numerals, ligatures, and scripts whose capitals are drawn
/// like Latin ones.
pub(super) fn is_costume(c: char) -> bool {
    let lettery = matches!(
        c,
        '\u{1C0}'..='\u{1C3}'
            | '\u{250}'..='\u{2FF}'
            | '\u{1D00}'..='\u{1DBF}'
            | '\u{2100}'..='\u{214F}'
            | '\u{2160}'..='\u{2188}'
            | '\u{2C80}'..='\u{2CFF}'
            | '\u{A4D0}'..='\u{A4FF}'
            | '\u{A720}'..='\u{A7FF}'
            | '\u{AB30}'..='\u{ABBF}'
            | '\u{13A0}'..='\u{13FF}'
            | '\u{FB00}'..='\u{FB06}'
            | '\u{10280}'..='\u{1031F}'
            | '\u{10400}'..='\u{1044F}'
            | '\u{118A0}'..='\u{118FF}'
            | '\u{1D400}'..='\u{1D7FF}'
            | '\u{1F100}'..='\u{1F189}'
            | '\u{1FBF0}'..='\u{1FBF9}'
    );
    (lettery && !is_emoji_like(c))
        || matches!(c, '\u{FF10}'..='\u{FF19}' | '\u{FF21}'..='\u{FF3A}' | '\u{FF41}'..='\u{FF5A}')
}

/// Signs among the letter-like ones that people use as signs: ™, №, ℃.
fn is_emoji_like(c: char) -> bool {
    matches!(
        c,
        '\u{2103}' | '\u{2109}' | '\u{2116}' | '\u{2117}' | '\u{2120}' | '\u{2122}' | '\u{2139}'
    )
}

/// Punctuation that is drawn like punctuation of ASCII: slashes, dots, colons, bars, dashes.
pub(super) fn is_costume_punctuation(c: char) -> bool {
    matches!(
        c,
        '\u{37E}'
            | '\u{387}'
            | '\u{589}'
            | '\u{5C3}'
            | '\u{2010}'..='\u{2012}'
            | '\u{2024}'
            | '\u{2027}'
            | '\u{2035}'
            | '\u{2039}'..='\u{203A}'
            | '\u{2041}'
            | '\u{2043}'
            | '\u{2044}'
            | '\u{204E}'
            | '\u{204F}'
            | '\u{2052}'
            | '\u{2055}'
            | '\u{2212}'
            | '\u{2215}'..='\u{2217}'
            | '\u{2223}'
            | '\u{2236}'
            | '\u{223C}'
            | '\u{2571}'..='\u{2572}'
            | '\u{2758}'
            | '\u{275C}'
            | '\u{29F5}'..='\u{29F9}'
            | '\u{4E28}'
            | '\u{A789}'
            | '\u{FE50}'..='\u{FE6F}'
    )
}

/// Full-width punctuation: usual in East Asian text, a costume elsewhere.
pub(super) fn is_full_width_punctuation(c: char) -> bool {
    matches!(
        c,
        '\u{FF01}'..='\u{FF0F}'
            | '\u{FF1A}'..='\u{FF20}'
            | '\u{FF3B}'..='\u{FF40}'
            | '\u{FF5B}'..='\u{FF5E}'
            | '\u{FFE8}'
    )
}

/// Letters of Greek, Cyrillic and Armenian that are drawn like a Latin one.
pub(super) fn is_look_alike(c: char) -> bool {
    const GREEK: &str = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορυϲϳ";
    const CYRILLIC: &str = "АВЕЅІЈКМНОРСТУХЬҮаеорсухѕіјһӏԁԛԝүԍѵ";
    const ARMENIAN: &str = "ՍՕօսոհցգզձ";
    GREEK.contains(c) || CYRILLIC.contains(c) || ARMENIAN.contains(c)
}
