//! The face of other systems (feature `portable`): it says that nothing holds, and starts nothing. On a
//! system that can enforce, the other face is here, and says the opposite.
#![cfg_attr(
    feature = "portable",
    allow(
        clippy::unwrap_used,
        reason = "a test that panics has failed; one of the faces has none"
    )
)]

use eclusa_sandbox::{Enforcement, Plan, Sandbox, SharedNetwork, StagingMethod, probe};

#[test]
fn the_level_is_what_this_face_can_enforce() {
    let state = tempfile::tempdir().unwrap();
    let capabilities = probe(state.path());
    let mut plan = Plan::bash("echo ran > /dev/null", "/");
    plan.may_lack = capabilities.missing();
    if cfg!(enforced) {
        assert_ne!(capabilities.enforcement(), Enforcement::None, "{:?}", capabilities.because());
        assert!(Sandbox::spawn(&plan, &capabilities, |_| {}).unwrap().wait().unwrap().success());
        return;
    }
    assert_eq!(capabilities.enforcement(), Enforcement::None);
    assert_eq!(capabilities.staging_method(), StagingMethod::Refuse);
    assert!(capabilities.because().unwrap().contains("no sandbox for this system"));
    let refused = Sandbox::spawn(&plan, &capabilities, |_| {}).unwrap_err().to_string();
    assert!(refused.contains("enforcement here is none"), "{refused}");
    assert!(Sandbox::talk(&plan, &capabilities, |_| {}).is_err());
    assert!(SharedNetwork::new(&capabilities).is_err());
}
