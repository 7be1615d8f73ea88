//! How attempts follow each other.

use super::*;

#[test]
fn attempts_follow_each_other_ever_more_slowly_up_to_ten_minutes() {
    let seconds: Vec<u64> = (0..13).map(|it| retry_after(it).as_secs()).collect();
    assert_eq!(seconds, [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]);
    assert_eq!(retry_after(u64::MAX).as_secs(), 600);
}
