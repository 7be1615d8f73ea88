//! A record that was written straight down is the one that the derived form writes.

use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::json;

use super::super::{
    body::{Because, Body, Hex, OutputNote},
    form::{RECORD_VERSION, canonical},
};
use crate::{Decision, Hash, Reason, Redactor, Source};

/// Texts with everything that JSON writes otherwise.
fn text() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[ -~\\x00-\\x1f\\x7f\"\\\\é€😀]{0,12}").unwrap()
}

proptest! {
    #[test]
    fn what_is_written_straight_down_is_what_is_derived(
        texts in proptest::collection::vec(text(), 10),
        numbers in proptest::collection::vec(any::<u64>(), 6),
        parts in proptest::collection::vec(any::<bool>(), 20),
    ) {
        let redactor = Redactor::off();
        let text = |at: usize| texts[at].as_str();
        let has = |at: usize| parts[at];
        let args = json!({"b": [1, 2.5, 1.0, null, {"d": 1, "c": text(1)}], "a": text(0)});
        let reasons: Vec<Reason> = (0..2)
            .map(|at| Reason {
                decision: if has(at) { Decision::Ask } else { Decision::Deny },
                source: Source::Rule,
                origin: text(2).to_owned().into(),
                text: text(3 + at).to_owned().into(),
            })
            .collect();
        let body = Body {
            args: has(2).then_some(Cow::Borrowed(&args)),
            args_redacted: if has(3) { 0 } else { 7 },
            args_sha256: has(4).then(|| Hex(Hash::sha256(text(0).as_bytes()))),
            at: numbers[0],
            because: Because(has(5).then_some((&reasons[..usize::from(has(6)) * 2], &redactor))),
            call: text(5),
            sandbox: has(7).then_some(text(6)),
            checkpoint: has(8).then_some(text(7)),
            class: has(9).then_some("shell"),
            client: has(10).then_some(text(8)),
            code: has(11).then_some("ok"),
            conversation: text(9),
            decision: has(12).then_some("allow"),
            destructive: has(13),
            event: "ended",
            message: has(14).then_some(Cow::Borrowed(text(0))),
            mode: has(15).then_some("ask"),
            ms: has(16).then_some(numbers[1]),
            operation: has(17).then_some(text(1)),
            origin: has(18).then_some("model"),
            output: has(19).then(|| OutputNote {
                bytes: 12,
                attachments: usize::from(has(0)),
                redacted: usize::from(has(1)),
                sha256: Hex(Hash::sha256(b"x")),
                spool: has(2).then_some(text(2)),
                truncated: has(3),
                undo: has(4).then_some(text(3)),
            }),
            parent: has(5).then_some(numbers[2]),
            principal: if has(6) { "" } else { text(4) },
            reason: has(7).then_some(Cow::Borrowed(text(5))),
            server: has(8).then_some(text(6)),
            stage: has(9).then_some("run"),
            start: has(10).then_some(numbers[3]),
            taint: has(13).then_some(Cow::Borrowed(text(9))),
            tool: Cow::Borrowed(text(7)),
            tool_revision: has(11).then_some(text(8)),
            turn: has(12).then_some(numbers[4]),
            v: RECORD_VERSION,
            ..Body::default()
        };
        let value = serde_json::to_value(&body).unwrap();
        prop_assert_eq!(body.usual_line(), canonical(&value));
    }
}
