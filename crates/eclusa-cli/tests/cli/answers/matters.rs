//! What is asked about, what happens meanwhile, and what is looked at in the end. Each matter has a second play with
//! its mechanism off: another answer, another setting, or nothing that happens meanwhile.

use std::{fs, sync::LazyLock};

use super::{
    Matter, Way, queued,
    somebody::{Said, Wanted},
};
use crate::{
    pending::{git, repository},
    pending_git::touch,
    world::World,
};

/// How a cell is played.
pub(crate) struct Play {
    pub(crate) config: String,
    pub(crate) files: fn(&World),
    pub(crate) wanted: Wanted,
    /// What somebody does and says, by how often they were asked before and what they are shown.
    pub(crate) answers: fn(&World, usize, &str) -> Said,
    /// What became of the workspace, with what the model was told.
    pub(crate) look: fn(&World, &str) -> String,
}

/// What is applied in the first play of a cell: so much is no matter of what was kept.
pub(crate) fn expected(matter: Matter, way: Way) -> &'static str {
    let itself = way == Way::PromptTool;
    match matter {
        Matter::ToolEdit | Matter::RuleAndEdit => "done",
        Matter::ShellEdit | Matter::Commit | Matter::GitStatus => "what was shown",
        Matter::Host => "opened",
        Matter::EditedArguments => match way {
            Way::Terminal | Way::Chat | Way::Page | Way::Phone | Way::Queue => "what was edited",
            // An answer that was not offered is no yes.
            Way::Editor | Way::Form | Way::PromptTool => "nothing",
            Way::Webhook | Way::AgentPrompt => "what was called",
        },
        Matter::MovedOn | Matter::ChangedScript => "nothing",
        Matter::KilledAsker => match way {
            Way::Page | Way::Queue | Way::Webhook | Way::Phone => "done",
            _ => "nothing",
        },
        // What runs afterwards by itself does so as often as it was allowed.
        Matter::TwoAtOnce if itself => "twice",
        Matter::TwoAtOnce => "once",
    }
}

fn yes(_: &World, _: usize, _: &str) -> Said {
    Said::Yes
}

fn no(_: &World, _: usize, _: &str) -> Said {
    Said::No
}

fn bash(command: &str) -> Wanted {
    Wanted::Bash(command.to_owned())
}

fn no_files(_: &World) {}

fn a_file(world: &World) {
    world.write("workspace/a.txt", "one\n");
}

const ASK_TOUCH: &str = "[[rules]]\ndecision = \"ask\"\ncommand = \"touch\"\n";
const ASK_NEW: &str =
    "[[rules]]\ndecision = \"ask\"\npath = \"new.txt\"\nreason = \"look first\"\n";
const ASK_SH: &str = "[[rules]]\ndecision = \"ask\"\ncommand = \"sh\"\n";
const COMMIT: &str = "git commit -qam two && git rev-parse HEAD";
const FETCH: &str = "curl -sS http://192.0.2.8/ | cat";

pub(crate) fn play(matter: Matter, way: Way, off: bool) -> Play {
    let config = match way {
        Way::Terminal | Way::Chat | Way::Form | Way::PromptTool | Way::AgentPrompt => "",
        // What its own prompt does not ask waits in the queue.
        Way::Editor => queued::config(Way::Queue),
        Way::Page | Way::Queue | Way::Webhook | Way::Phone => queued::config(way),
    };
    let plain = Play {
        config: config.to_owned(),
        files: no_files,
        wanted: bash("echo agent >> a.txt"),
        answers: if off { no } else { yes },
        look: file_a,
    };
    let rule = |text: &str| {
        let first = text.to_owned();
        // Keys of no table stand before the tables.
        format!("{config}{first}")
    };
    match matter {
        Matter::ToolEdit => {
            Play { wanted: Wanted::Write("new.txt", "new\n"), look: new_file, ..plain }
        }
        Matter::ShellEdit => {
            Play { wanted: bash("date +%N > when; cat when"), look: when, ..plain }
        }
        Matter::Commit => Play { wanted: bash(COMMIT), files: two, look: head, ..plain },
        Matter::Host => Play { wanted: bash(FETCH), files: own_curl, look: host, ..plain },
        Matter::RuleAndEdit => Play {
            // A rule over what is changed is a question of its own.
            config: if off { rule(&format!("{ASK_TOUCH}{ASK_NEW}")) } else { rule(ASK_TOUCH) },
            wanted: bash("f=new.txt; touch $f"),
            answers: if off && way == Way::PromptTool { no } else { yes },
            look: new_file,
            ..plain
        },
        Matter::EditedArguments => Play {
            config: rule(ASK_TOUCH),
            wanted: bash("touch called.txt"),
            answers: if off { yes } else { |_, _, _| Said::Edit("touch edited.txt") },
            look: edited,
            ..plain
        },
        Matter::MovedOn => Play {
            files: a_file,
            answers: if off {
                yes
            } else {
                |world, _, _| {
                    world.write("workspace/a.txt", "mine\n");
                    Said::Yes
                }
            },
            ..plain
        },
        Matter::GitStatus => Play {
            wanted: bash(COMMIT),
            files: two,
            answers: match off {
                // Its commit is made after the yes, whatever was staged meanwhile.
                true if way == Way::PromptTool => no,
                true => stages_something,
                false => looks_at_the_status,
            },
            look: head,
            ..plain
        },
        Matter::ChangedScript => Play {
            config: rule(ASK_SH),
            files: |world| drop(world.write("workspace/deploy.sh", "echo shown > out.txt\n")),
            wanted: bash("sh deploy.sh"),
            answers: if off {
                yes
            } else {
                |world, _, _| {
                    world.write("workspace/deploy.sh", "echo swapped > out.txt\n");
                    Said::Yes
                }
            },
            look: script,
        },
        Matter::KilledAsker => Play {
            files: a_file,
            // In an editor a command's changes wait in the queue, whose asker is another program.
            wanted: match way {
                Way::Editor => Wanted::Write("a.txt", "one\nagent\n"),
                _ => bash("echo agent >> a.txt"),
            },
            answers: if off { yes } else { |_, _, _| Said::KillAsker },
            ..plain
        },
        Matter::TwoAtOnce => {
            Play { wanted: bash("echo agent >> list.txt"), answers: yes, look: list, ..plain }
        }
    }
}

/// A repository with two files and a change in its work tree, made once.
static REPOSITORY: LazyLock<World> = LazyLock::new(|| {
    let world = repository();
    world.write("workspace/b.txt", "b\n");
    git(&world, &["add", "b.txt"]);
    git(&world, &["commit", "-qm", "b"]);
    world
});

fn two(world: &World) {
    #[expect(clippy::disallowed_methods, reason = "the test copies a repository")]
    let mut copy = std::process::Command::new("cp");
    let from = REPOSITORY.path("workspace").join(".");
    let copied = copy.arg("-a").arg(from).arg(world.path("workspace")).status().unwrap();
    assert!(copied.success());
}

/// What an agent's own shell finds instead of a network.
fn own_curl(world: &World) {
    fs::create_dir_all(world.path("bin")).unwrap();
    world.script("bin/curl", "echo fetched by itself");
}

/// As an editor does every few seconds, with times that git has not seen yet.
fn looks_at_the_status(world: &World, _: usize, _: &str) -> Said {
    let before = fs::read(world.path("workspace/.git/index")).unwrap();
    touch(world, "b.txt");
    git(world, &["status"]);
    let after = fs::read(world.path("workspace/.git/index")).unwrap();
    assert_ne!(after, before, "it was refreshed");
    Said::Yes
}

fn stages_something(world: &World, _: usize, _: &str) -> Said {
    world.write("workspace/mine.txt", "mine\n");
    git(world, &["add", "mine.txt"]);
    Said::Yes
}

fn new_file(world: &World, _: &str) -> String {
    there(world, "new.txt", "done")
}

fn there(world: &World, name: &str, word: &str) -> String {
    let there = world.path("workspace").join(name).exists();
    if there { word.to_owned() } else { "nothing".to_owned() }
}

fn when(world: &World, told: &str) -> String {
    let when = world.read("workspace/when");
    match when.trim() {
        "" => "nothing".to_owned(),
        shown if told.contains(shown) => "what was shown".to_owned(),
        _ => "something else".to_owned(),
    }
}

fn head(world: &World, told: &str) -> String {
    let head = git(world, &["rev-parse", "HEAD"]);
    match () {
        () if head == git(&REPOSITORY, &["rev-parse", "HEAD"]) => "nothing".to_owned(),
        () if told.contains(&head) => "what was shown".to_owned(),
        () => "something else".to_owned(),
    }
}

fn host(_: &World, told: &str) -> String {
    // The proxy opens it, and then finds that nobody has the address; an agent's own shell has its own.
    let opened = told.contains("has the address") || told.contains("fetched by itself");
    if opened { "opened".to_owned() } else { "nothing".to_owned() }
}

fn edited(world: &World, _: &str) -> String {
    let words = [there(world, "called.txt", "what was called")];
    let edited = there(world, "edited.txt", "what was edited");
    match words {
        [word] if word == "nothing" => edited,
        [word] if edited == "nothing" => word,
        _ => "both".to_owned(),
    }
}

fn file_a(world: &World, _: &str) -> String {
    match world.read("workspace/a.txt").as_str() {
        "one\nagent\n" => "done".to_owned(),
        "one\n" | "mine\n" => "nothing".to_owned(),
        "mine\nagent\n" => "on top of what changed".to_owned(),
        other => format!("{other:?}"),
    }
}

fn script(world: &World, _: &str) -> String {
    match world.read("workspace/out.txt").trim() {
        "" => "nothing".to_owned(),
        word => word.to_owned(),
    }
}

fn list(world: &World, _: &str) -> String {
    match world.read("workspace/list.txt").lines().count() {
        0 => "nothing".to_owned(),
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        several => format!("{several} times"),
    }
}
