//! Any shell text is read without a panic, a hang or an overflow, and nothing is silently dropped.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(script) = std::str::from_utf8(data) else { return };
    let analysis = eclusa_shell::analyse(script);
    let said = !analysis.doubts.is_empty() || analysis.refused.is_some();
    assert!(said || !analysis.commands.is_empty(), "no command and no reason");
    assert_eq!(analysis, eclusa_shell::analyse(script), "two readings of one text");
});
