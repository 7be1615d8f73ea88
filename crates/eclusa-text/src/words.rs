//! Which letters pass for others: the look-alikes in a text.

use super::characters::{
    WritingSystem, is_costume, is_costume_punctuation, is_east_asian, is_full_width_punctuation,
    is_look_alike, is_of_word, is_right_to_left, script,
};

/// For every character, whether it must be named. Empty when none must.
pub(super) fn named(chars: &[char]) -> Vec<bool> {
    if chars.iter().all(char::is_ascii) {
        return Vec::new();
    }
    // A dotless i is ordinary where Turkish is written, and a costume elsewhere.
    let turkish = chars.iter().any(|c| matches!(c, 'ğ' | 'Ğ' | 'ş' | 'Ş' | 'İ'));
    let dotless = |at| !turkish && matches!(chars.get(at), Some('ı' | 'ȷ' | 'ſ'));
    let suspect = |at| dotless(at) || is_alone_suspect(chars, at);
    let mut named: Vec<bool> = (0..chars.len()).map(suspect).collect();
    let words = words(chars);
    for (index, word) in words.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| words.get(before));
        let near = [before, words.get(index + 1)];
        for at in suspects(chars, word, near.into_iter().flatten()) {
            if let Some(flag) = named.get_mut(at) {
                *flag = true;
            }
        }
    }
    named
}

/// A character that passes for another whatever word it stands in.
fn is_alone_suspect(chars: &[char], at: usize) -> bool {
    let Some(c) = chars.get(at).copied().filter(|c| !c.is_ascii()) else { return false };
    let neighbour = |at: Option<usize>| {
        at.and_then(|at| chars.get(at)).is_some_and(|c| {
            is_east_asian(*c) && (c.is_alphanumeric() || ('\u{3000}'..='\u{303F}').contains(c))
        })
    };
    is_costume(c)
        || is_costume_punctuation(c)
        || (is_full_width_punctuation(c)
            && !neighbour(at.checked_sub(1))
            && !neighbour(at.checked_add(1)))
}

/// Where a word begins and ends, and the scripts in it.
struct Word {
    start: usize,
    end: usize,
    scripts: Vec<WritingSystem>,
    /// Every letter of it is drawn like a Latin one, though none is.
    look_alike: bool,
}

fn words(chars: &[char]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let rest = chars.get(at..).unwrap_or_default();
        let length = rest.iter().take_while(|c| is_of_word(**c)).count();
        if length == 0 {
            at += 1;
            continue;
        }
        let letters = rest.get(..length).unwrap_or_default();
        words.push(word(at, letters));
        at += length;
    }
    words
}

fn word(start: usize, letters: &[char]) -> Word {
    let mut scripts = Vec::new();
    for of in letters.iter().filter_map(|c| script(*c)) {
        if !scripts.contains(&of) {
            scripts.push(of);
        }
    }
    let mut lettered = letters.iter().filter(|c| c.is_alphabetic()).peekable();
    let look_alike = lettered.peek().is_some() && lettered.all(|c| is_look_alike(*c));
    Word { start, end: start + letters.len(), scripts, look_alike }
}

/// The letters of a word that pass for others: those of another script than Latin in a word that
/// has more than one, and all of a word that is wholly made of look-alikes, unless a word beside
/// it shows plainly which script is being written.
fn suspects<'a>(chars: &[char], word: &Word, near: impl Iterator<Item = &'a Word>) -> Vec<usize> {
    let foreign = |script: &&WritingSystem| **script != WritingSystem::EastAsian;
    let mixed = word.scripts.iter().filter(foreign).count() > 1;
    let plainly = |other: &Word| {
        let gap = if other.start < word.start {
            chars.get(other.end..word.start)
        } else {
            chars.get(word.end..other.start)
        };
        matches!(gap, Some([' '] | [',', ' ']))
            && !other.look_alike
            && other.scripts == word.scripts
    };
    let disguised = word.look_alike && !near.into_iter().any(plainly);
    if !mixed && !disguised {
        return Vec::new();
    }
    let named = |at: &usize| {
        chars.get(*at).is_some_and(|c| {
            !is_right_to_left(*c)
                && matches!(
                    script(*c),
                    Some(WritingSystem::Greek | WritingSystem::Cyrillic | WritingSystem::Other)
                )
        })
    };
    (word.start..word.end).filter(named).collect()
}
