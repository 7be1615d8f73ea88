//! How much may change.

use super::*;

fn rules(limits: EffectLimits) -> Rules {
    Rules::new(vec![], "/ws".as_ref()).with_effects(limits)
}

fn judge(limits: EffectLimits, changes: &Changes, lines: Option<u64>) -> Verdict {
    let args = json!({});
    let author = Author {
        name: "tool",
        aliases: &[],
        class: File,
        server: None,
        args: &args,
        touches: &[],
        call: None,
    };
    rules(limits).judge_effects(&Effects {
        author,
        changes,
        lines,
        facts: RepositoryFacts::unknown(),
        moment: JudgeContext::unknown(),
        unruled: Allow,
    })
}

fn files(most: u64) -> EffectLimits {
    EffectLimits { max_files: Some(most), ..EffectLimits::default() }
}

/// G: with two files at most, the third is refused.
/// Shows G.
#[test]
fn a_third_file_is_refused() {
    let two = Changes::of([made("a"), made("b")]);
    let three = Changes::of([made("a"), made("b"), made("c")]);
    assert_eq!(judge(files(2), &two, None).decision, Allow);
    let refused = judge(files(2), &three, None);
    assert_eq!(refused.decision, Deny);
    let why = "3 files would have changed, and the limit is 2 (effects.max_files)";
    assert_eq!(&*refused.why(), why);
}

/// G: the same file changed twice counts once.
/// Shows G.
#[test]
fn each_file_counts_once() {
    let twice = Changes::of([made("a"), change("a", file("x\n", 0o644), file("y", 0o644))]);
    assert_eq!(judge(files(1), &twice, None).decision, Allow);
    let node = file("x", 0o644);
    let move_ = Changes::of(moved("a", "b", node.clone(), node));
    assert_eq!(judge(files(1), &move_, None).decision, Allow);
}

#[test]
fn directories_count_where_nothing_in_them_does() {
    let one = [change("d", None, directory()), change("d/e", None, directory()), made("d/e/f")];
    assert_eq!(judge(files(1), &Changes::of(one), None).decision, Allow);
    let empty = [change("d", None, directory()), change("e", None, directory())];
    assert_eq!(judge(files(1), &Changes::of(empty), None).decision, Deny);
}

#[test]
fn lines_and_bytes_have_limits() {
    let limits = EffectLimits { max_lines: Some(10), max_bytes: Some(8), ..Default::default() };
    let small = Changes::of([change("a", file("12345678", 0o644), file("1234", 0o644))]);
    assert_eq!(judge(limits.clone(), &small, Some(10)).decision, Allow);
    assert_eq!(judge(limits.clone(), &small, Some(11)).decision, Deny);
    let uncounted = judge(limits.clone(), &small, None);
    assert!(
        uncounted.why().contains("the lines that change cannot be counted"),
        "{}",
        uncounted.why()
    );
    assert_eq!(uncounted.decision, Deny);
    let large = Changes::of([change("a", None, file("123456789", 0o644))]);
    assert_eq!(judge(limits, &large, Some(1)).decision, Deny);
}
