//! Tests of the first look: it is never wrong to the unsafe side, wherever a keyword stands.

use super::*;

#[test]
fn a_keyword_is_held_wherever_it_stands() {
    let keywords = ["api_key", "AKIA", "xox", "token"].map(str::to_owned);
    let sieve = Sieve::new(keywords.iter());
    for keyword in &keywords {
        for before in 0..150 {
            for after in [0, 1, 2, 5, 7, 8, 66] {
                let text = format!("{}{keyword}{}", ".".repeat(before), ".".repeat(after));
                assert!(sieve.may_hold(&text), "{text}");
                assert!(sieve.may_hold(&text.to_uppercase()), "{text}");
            }
        }
    }
}

#[test]
fn words_and_triples_say_the_same() {
    let keywords = ["secret", "abc", "pass"].map(str::to_owned);
    let sieve = Sieve::new(keywords.iter());
    // Numbers that look like chance, and are the same every time.
    let mut state = 1792_u32;
    for length in 0..400 {
        let text: String = (0..length)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                char::from(b'a' + (state >> 24) as u8 % 26)
            })
            .collect();
        let each = text.as_bytes().windows(3).any(|it| sieve.held(number(it)) != 0);
        assert_eq!(sieve.may_hold(&text), each, "{text}");
    }
}

#[test]
fn a_keyword_without_a_triple_holds_everything() {
    let sieve = Sieve::new(["ab".to_owned()].iter());
    assert!(sieve.may_hold("") && sieve.may_hold("nothing"));
}
