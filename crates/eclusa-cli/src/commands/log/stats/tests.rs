//! Tests of stats.

use super::*;

#[test]
fn percentiles_are_values_that_were_measured() {
    let all: Vec<u64> = (1..=100).collect();
    assert_eq!([50, 95, 100].map(|it| percentile(&all, it)), [50, 95, 100]);
    assert_eq!((percentile(&[7], 50), percentile(&[], 50)), (7, 0));
}
