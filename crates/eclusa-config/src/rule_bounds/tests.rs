//! Tests of rule bounds.

use super::*;

#[test]
fn times_are_counted_from_1970() {
    assert_eq!(moment("1970-01-01"), Ok(0));
    assert_eq!(moment("2000-03-01"), Ok(951_868_800_000));
    assert_eq!(moment("2026-12-01T18:00:30Z"), Ok(1_796_148_030_000));
    assert_eq!(moment("2026-12-01T18:00:30+02:00"), Ok(1_796_140_830_000));
    assert_eq!(moment("2024-02-29T00:00:00Z"), Ok(1_709_164_800_000));
    for wrong in ["", "tomorrow", "2026-13-01", "18:00:00", "2026-12-01T18:00:00", "1969-01-01"] {
        assert!(moment(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn amounts_are_compared_one_way_or_the_other() {
    assert_eq!(amount("> 5", number), Ok(Amount::Above(5)));
    assert_eq!(amount("<=2MB", bytes), Ok(Amount::UpTo(2 << 20)));
    for wrong in ["5", ">= 5", "< 5", "> five", ">", "= 5"] {
        assert!(amount(wrong, number).is_err(), "{wrong}");
    }
}
