//! Buckets run dry and fill up, each for itself.

use super::*;

#[test]
fn a_bucket_runs_dry_and_fills_up_again() {
    let buckets = Buckets::new(3, Duration::from_secs(60));
    let start = Instant::now();
    let takes = |name: &str, seconds| buckets.take(name, start + Duration::from_secs(seconds));
    assert!(takes("a", 0) && takes("a", 0) && takes("a", 0));
    assert!(!takes("a", 0) && !takes("a", 19));
    assert!(takes("b", 0), "another one's bucket");
    assert!(takes("a", 41) && takes("a", 41), "a token comes every twenty seconds");
    assert!(!takes("a", 41));
    assert!(takes("a", 200) && takes("a", 200) && takes("a", 200) && !takes("a", 200));
}
