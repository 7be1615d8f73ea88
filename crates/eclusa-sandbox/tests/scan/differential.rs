//! Random scripts, run plainly on one copy of a tree and staged over another: what is read back is
//! exactly what differs.

use proptest::prelude::*;

use crate::{
    overlay::{World, mounters, shell},
    scripts::{START, line},
    tree,
};

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 10, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_read_back_is_what_a_plain_run_would_change(lines in prop::collection::vec(line(), 1..14)) {
        let script = format!("set +e; exec 2>/dev/null; {}; true", lines.join("\n"));
        for &mounter in mounters() {
            let plain = World::new(mounter, START);
            shell(&plain.lower(), &script);
            let world = World::new(mounter, START);
            let before = tree::read(&world.lower());
            let effects = world.run(&script).scan();
            prop_assert_eq!(&tree::read(&world.lower()), &before, "the workspace is untouched");
            let expected = tree::differences(&before, &tree::read(&plain.lower()));
            prop_assert_eq!(tree::told(&effects), expected, "{}", script);
            prop_assert_eq!(world.layer().conflicts(&effects).unwrap(), []);
        }
    }
}
