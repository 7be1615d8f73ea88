//! Any output of any check: nothing panics, it is bounded, and it is read the same way twice.

#![no_main]

use eclusa_tools::diagnostics::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = parse(text);
    assert!(parsed.found.len() <= 10_000);
    assert!(parsed.found.iter().all(|it| it.message.len() <= 2_100));
    assert_eq!(parsed, parse(text));
});
