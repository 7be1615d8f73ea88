//! A script that is swapped between a person's yes and the start of the command.
#![expect(clippy::disallowed_methods, reason = "the test swaps a file")]

use eclusa::{
    AuditSink, Decision, Rule,
    audit::{Appending, Draft},
};

use super::*;

/// A log that swaps a file while the start of a call is recorded: after the yes, before the run.
struct SwapAtStart(PathBuf, MemoryLog);

impl AuditSink for SwapAtStart {
    fn append(&self, draft: Draft) -> Appending {
        fs::write(&self.0, "echo swapped in\n").unwrap();
        self.1.append(draft)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_is_swapped_after_the_yes_is_not_run() {
    eclusa_testing::needs!(Namespaces);
    for (swapped, code, said) in
        [("deploy.sh", "tool_failed", "has changed since"), ("other", "ok", "harmless")]
    {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("workspace");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("deploy.sh"), "echo harmless\n").unwrap();
        let (workspace, _) = Workspace::open(&root, dir.path().join("state")).unwrap();
        let settings = SandboxSettings::new(workspace.root(), workspace.state());
        let files = Files::open(&root, Blocked::default()).unwrap();
        let registry = Registry::new();
        registry.add(Bash::new(Sandboxes::new(settings).unwrap(), files)).unwrap();
        let rule = Rule::new(Decision::Ask).tool(["bash"]).unwrap();
        let gate = Gate::builder()
            .registry(registry)
            .policy(Rules::new(vec![rule], &root))
            .log(Arc::new(SwapAtStart(root.join(swapped), MemoryLog::default())))
            .workspace(workspace)
            .durability(Durability::Crash)
            .approver(Person(Answer::Once, Arc::default()))
            .build()
            .unwrap();
        let args = json!({"command": "sh deploy.sh"});
        let reply = gate.pass(ToolCall::new("c1", "bash", args)).await;
        assert_eq!(reply.code(), code, "{}", reply.content());
        assert!(reply.content().contains(said), "{}", reply.content());
    }
}
