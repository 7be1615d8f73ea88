//! A command runs, says how it ended, and changes what it may.

use eclusa_sandbox::{Enforcement, How, Plan, Sandbox, SandboxError, StagingMethod, Step};

use crate::world::{World, capabilities, is_root, run};

#[test]
fn this_machine_holds_everything() {
    eclusa_testing::needs!(Namespaces);
    // S1.61, S1.62, S1.63
    let capabilities = capabilities();
    assert_eq!(capabilities.enforcement(), Enforcement::Full, "{:?}", capabilities.because());
    let level = if is_root() {
        StagingMethod::OverlayAsRoot
    } else {
        StagingMethod::OverlayInUserNamespace
    };
    assert_eq!(capabilities.staging_method(), level);
}

/// Shows E8.
#[test]
fn the_exit_code_and_the_output_are_kept() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let exit = run(&world.staged("echo out; echo err >&2; exit 3"));
    assert_eq!((exit.how, exit.output.text().as_str()), (How::Code(3), "out\nerr\n"));
    assert_eq!(exit.ended, None);
    assert_eq!(exit.enforcement, Enforcement::Full);
}

/// Shows E13.
#[test]
fn success_is_reported_too() {
    eclusa_testing::needs!(Namespaces);
    let exit = run(&World::new().read_only("true"));
    assert!(exit.success());
}

#[test]
fn a_signal_is_reported_as_one() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    for (text, signal) in [("kill -9 $$", 9), ("kill -SEGV $$", 11), ("kill -TERM $$", 15)] {
        assert_eq!(run(&world.read_only(text)).how, How::Signal(signal), "{text}");
    }
}

/// Shows E12.
#[test]
fn standard_input_is_empty() {
    eclusa_testing::needs!(Namespaces);
    let exit = run(&World::new().read_only("cat; echo end"));
    assert_eq!(exit.output.text(), "end\n");
}

/// Shows E15, S1.29.
#[test]
fn it_starts_where_the_plan_says() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let exit = run(&world.staged("pwd; cat in.txt"));
    assert_eq!(exit.output.text(), format!("{}\ninside\n", world.ws().display()));
}

#[test]
fn staged_changes_are_in_the_upper_layer_and_nowhere_else() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let exit =
        run(&world.staged("echo new > new.txt; echo more >> in.txt; rm -f none; cat in.txt"));
    assert_eq!((exit.how, exit.output.text().as_str()), (How::Code(0), "inside\nmore\n"));
    assert_eq!(world.read("ws/in.txt"), "inside\n");
    assert!(!world.has("ws/new.txt"));
    assert_eq!(world.read("state/upper/new.txt"), "new\n");
    assert_eq!(world.read("state/upper/in.txt"), "inside\nmore\n");
}

#[test]
fn a_workspace_beneath_tmp_is_there_although_the_rest_of_tmp_is_not() {
    eclusa_testing::needs!(Namespaces);
    let world = World::in_tmp();
    let exit = run(&world.staged("echo new > new.txt; cat in.txt; ls ..; ls -A /tmp | wc -l"));
    assert_eq!(exit.output.text(), "inside\nws\n1\n");
    assert_eq!(world.read("state/upper/new.txt"), "new\n");
    assert!(run(&world.in_place("echo real > real.txt")).success());
    assert_eq!(world.read("ws/real.txt"), "real\n");
    let exit = run(&world.read_only("cat in.txt; touch x"));
    assert!(exit.output.text().starts_with("inside\ntouch: "), "{}", exit.output.text());
    let mut plan = world.read_only("cat in.txt; touch x");
    plan.read = vec![world.ws(), "/".into()];
    let exit = run(&plan);
    assert!(exit.output.text().starts_with("inside\ntouch: "), "{}", exit.output.text());
}

#[test]
fn changes_in_place_are_real() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    assert!(run(&world.in_place("echo new > new.txt")).success());
    assert_eq!(world.read("ws/new.txt"), "new\n");
}

#[test]
fn a_program_that_is_not_there_is_an_error_that_names_the_step() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut plan = world.staged("");
    plan.argv = vec!["/no/such/program".into()];
    let error = Sandbox::spawn(&plan, capabilities(), |_| {}).unwrap().wait().unwrap_err();
    assert!(matches!(error, SandboxError::Step { step: Step::Execute, .. }), "{error}");
    assert!(error.to_string().starts_with("could not execute the program"), "{error}");
}

#[test]
fn what_can_not_be_meant_is_refused_before_anything_starts() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let refused = |change: &dyn Fn(&mut Plan), says: &str| {
        let mut plan = world.staged("true");
        change(&mut plan);
        let error = Sandbox::spawn(&plan, capabilities(), |_| {}).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    };
    refused(&|plan| plan.argv.clear(), "no program");
    refused(&|plan| plan.argv = vec!["bash".into()], "`bash` is not an absolute path");
    refused(&|plan| plan.cwd = "here".into(), "`here` is not absolute");
    refused(&|plan| plan.cwd = "/no/such".into(), "working directory `/no/such`");
    refused(&|plan| plan.env.push(("A=B".into(), "".into())), "`A=B` is not a name");
    refused(&|plan| plan.env.push(("A".into(), "a\0b".into())), "NUL");
    refused(&|plan| plan.stage[0].live.push("../x".into()), "not beneath");
}
