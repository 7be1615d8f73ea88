//! The public cases: what must be allowed is read without a doubt.

use crate::analyse;
use serde_json::Value;

fn cases() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/shell.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

/// Issue 5: 95 % of the core cases and 70 % of the stretch ones; here all of both.
#[test]
fn benign_cases_are_read_without_a_doubt() {
    for case in cases().iter().filter(|it| it["must"] == "allow") {
        let analysis = analyse(case["command"].as_str().unwrap());
        assert_eq!(analysis.doubts, [], "{}", case["id"]);
        assert_eq!(analysis.refused, None, "{}", case["id"]);
    }
}
