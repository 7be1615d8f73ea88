//! The ways into the gate of this program, what a person can configure and expects to hold there,
//! and what does not, with the reason. [`AppContext::gate`](crate::context::AppContext) reads it, and
//! so do the tests and the page about configuration. This file knows no other of the program.

/// An enum whose variants and their words are one list: none can be left out of `ALL`.
macro_rules! listed {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$each])* $variant,)+
        }

        impl $name {
            /// All of them.
            #[allow(dead_code, reason = "tests and pages go through all of them")]
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// What people call it.
            #[allow(dead_code, reason = "tests and pages name them")]
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }
    };
}

listed! {
    /// A way into the gate.
    Surface {
        /// One call that a person or a script makes.
        Run = "run",
        /// The calls in a model's answer.
        Feed = "feed",
        /// A command that a person typed.
        Exec = "exec",
        /// A command that another agent's hook allowed.
        Ticket = "exec --ticket",
        /// Another agent's call, before and after it makes it.
        Hook = "hook",
        /// An agent's call on its way to an editor.
        Acp = "acp",
        /// A call of a client that speaks MCP; the tools of `guard` are served so.
        Mcp = "mcp",
        /// The calls of one turn with a model.
        Ask = "ask",
        /// The calls of a session with a model.
        Chat = "chat",
        /// What was changed, taken back or brought back.
        Undo = "undo and redo",
        /// Calls that waited for an approval, made again.
        Resume = "resume",
        /// What the rules say of a call; nothing is run.
        Check = "check",
        /// The calls of a whole job in a scratch layer; nothing is applied.
        Rehearsal = "`--dry-run`",
        /// The plan of such a job, applied as one call.
        Plan = "`--dry-run --apply`",
        /// What a call did in the sandbox, applied by whoever answers its question.
        Yes = "approvals yes",
        /// What a call did, or what a job wrote, applied by whoever names it.
        Apply = "changes apply, jobs apply",
    }
}

listed! {
    /// Something that a person can configure and expects to hold.
    Setting {
        /// When some sessions and clients are asked about.
        Modes = "`[[modes]]`",
        /// Rules that hold for so many calls.
        CountedRules = "rules with `times`",
        /// What people agreed on beforehand.
        Allowances = "allowances",
        /// Where questions wait for somebody.
        Queue = "the approval queue",
        /// Answers that are kept as rules.
        AlwaysRules = "answers for always",
        /// Whether text from outside came into the session.
        Taint = "text from outside",
        /// How much a session may change.
        Budget = "`[effects.budget]`",
        /// How much undo history is kept.
        UndoKeep = "`undo.keep`",
        /// Who reads calls and outputs.
        Reviewers = "`[[reviewers]]`",
        /// What is taken out of whatever leaves.
        Redaction = "`[redact]`",
        /// How much a call may use.
        Limits = "`[limits]`",
        /// Whether the file of a project may loosen.
        Trust = "trust in the project's file",
        /// Rules over what a call changed.
        DenyByEffect = "rules over effects",
        /// Reviewers that look on and neither delay nor decide.
        Observers = "reviewers with `async`",
        /// Tools that are programs of the person.
        OwnTools = "`[tools.NAME]`",
        /// How many processes a command may leave running.
        JobProcesses = "`commands.job_processes`",
        /// Whether a command runs before the question of another agent.
        Ahead = "`agents.ahead`",
        /// A fleet that nothing was heard of for too long.
        Fleet = "`[fleet]`",
    }
}

impl Surface {
    /// Why a setting does not hold here, for people to read; `None`: it holds.
    pub const fn lacks(self, setting: Setting) -> Option<&'static str> {
        use Setting::{
            Ahead, Allowances, AlwaysRules, Budget, CountedRules, DenyByEffect, Fleet,
            JobProcesses, Limits, Modes, Observers, OwnTools, Queue, Redaction, Reviewers, Taint,
            Trust, UndoKeep,
        };
        match (self, setting) {
            (
                Surface::Check,
                Allowances | Queue | Taint | Budget | UndoKeep | Reviewers | Redaction | Limits
                | DenyByEffect | Observers | JobProcesses,
            ) => Some("it shows what the rules decide; nothing runs and nobody is asked"),
            (
                Surface::Run | Surface::Exec | Surface::Undo | Surface::Resume | Surface::Plan,
                Taint,
            )
            | (Surface::Run | Surface::Exec | Surface::Resume | Surface::Plan, Budget) => {
                Some("each typed command is a session of its own")
            }
            (Surface::Undo, Budget | DenyByEffect) => Some("an undo restores the old content"),
            (Surface::Undo, Allowances | Queue | AlwaysRules) => {
                Some("typing the command is the approval")
            }
            (Surface::Acp, Redaction | Limits) => {
                Some("the editor hands files and outputs to the agent itself")
            }
            (Surface::Rehearsal, Allowances | Queue) => Some("a dry run asks nobody"),
            (Surface::Rehearsal, Taint) => Some("a dry run opens no host"),
            (Surface::Rehearsal, UndoKeep) => Some("a dry run applies nothing"),
            (Surface::Plan, AlwaysRules) => Some("a plan is shown as a whole"),
            (Surface::Plan | Surface::Yes, Redaction | Limits) => {
                Some("it prints nothing of the call")
            }
            (
                Surface::Yes | Surface::Apply,
                Modes | CountedRules | Allowances | Queue | AlwaysRules | Taint | Budget | Fleet,
            ) => Some("what was shown is approved; only denials still count"),
            (
                Surface::Exec
                | Surface::Ticket
                | Surface::Hook
                | Surface::Acp
                | Surface::Undo
                | Surface::Yes
                | Surface::Apply,
                OwnTools,
            ) => Some("no tool is called by its name"),
            (Surface::Hook | Surface::Acp, JobProcesses) => {
                Some("commands of the agent run with a ticket")
            }
            (
                Surface::Run | Surface::Feed | Surface::Resume | Surface::Rehearsal | Surface::Plan,
                JobProcesses,
            ) => Some("a command's processes end with its call"),
            (Surface::Undo | Surface::Yes | Surface::Apply, JobProcesses) => {
                Some("no command runs")
            }
            (
                Surface::Run
                | Surface::Feed
                | Surface::Exec
                | Surface::Ticket
                | Surface::Acp
                | Surface::Mcp
                | Surface::Ask
                | Surface::Chat
                | Surface::Undo
                | Surface::Resume
                | Surface::Check
                | Surface::Rehearsal
                | Surface::Plan
                | Surface::Yes
                | Surface::Apply,
                Ahead,
            ) => Some("no agent has a prompt of its own here"),
            (_, Modes | CountedRules | Allowances | Queue | AlwaysRules | Taint | Budget)
            | (_, UndoKeep | Reviewers | Redaction | Limits | Trust | DenyByEffect)
            | (_, Observers | OwnTools | JobProcesses | Fleet)
            | (Surface::Hook, Ahead) => None,
        }
    }
}
