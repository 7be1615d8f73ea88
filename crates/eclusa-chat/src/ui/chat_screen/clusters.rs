//! Characters as people count them: a letter with its marks, a family of emoji, a flag.

/// Where what stands before this place begins.
pub(super) fn start_before(text: &[char], place: usize) -> usize {
    let mut at = place.saturating_sub(1);
    while at > 0 && is_joined(text, at) {
        at -= 1;
    }
    at
}

/// Where what stands at this place ends.
pub(super) fn end_after(text: &[char], place: usize) -> usize {
    let mut at = (place + 1).min(text.len());
    while at < text.len() && is_joined(text, at) {
        at += 1;
    }
    at
}

/// Whether the character at this place belongs to the one before it.
fn is_joined(text: &[char], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let (Some(last), Some(it)) = (before.last(), text.get(at)) else { return false };
    if is_flag_letter(*it) {
        // Two make a flag, and the third begins another.
        return before.iter().rev().take_while(|it| is_flag_letter(**it)).count() % 2 == 1;
    }
    *last == '\u{200D}' || !last.is_control() && is_mark(*it)
}

fn is_flag_letter(it: char) -> bool {
    ('\u{1F1E6}'..='\u{1F1FF}').contains(&it)
}

/// Marks, joiners, variants, and colours of skin.
fn is_mark(it: char) -> bool {
    matches!(u32::from(it),
        0x300..=0x36F | 0x483..=0x489 | 0x591..=0x5BD | 0x610..=0x61A | 0x64B..=0x65F | 0x670
        | 0x900..=0x903 | 0x93A..=0x93C | 0x93E..=0x94F | 0xE31 | 0xE34..=0xE3A | 0xE47..=0xE4E
        | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x200C..=0x200D | 0x20D0..=0x20F0
        | 0xFE00..=0xFE0F | 0xFE20..=0xFE2F | 0x1F3FB..=0x1F3FF | 0xE0020..=0xE007F)
}
