//! The last stage: every command of a script with what it runs in turn, every reason to doubt that
//! these are all, and the catastrophe among them, if there is one.

use crate::catastrophe::{self, Bindings, Catastrophe, PipeData, Suspect, Target, Verb};
use crate::commands::{self, Outer};
use crate::limits::{MAX_BYTES, MAX_COMMANDS, MAX_NESTING, MAX_SUSPECT_BYTES, MAX_SUSPECTS};
use crate::syntax::{self, characters, line};
use crate::variables::{holds_command, is_plain_pager};
use crate::{Assignment, Command, Doubt, NestedCommands, Part, Unknown, Word, programs};

mod builtins;

/// Doubts that are kept. One is enough for a verdict; more are for people.
const MAX_DOUBTS: usize = 16;

/// What a script does, as far as its text tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Every simple command anywhere in the script, in the order of the text; what a command runs
    /// follows it.
    pub commands: Vec<Command>,
    /// Why the list may not be the whole truth. Any doubt makes the verdict at least a question.
    pub doubts: Vec<Doubt>,
    /// Why the script was not read whole. Deny rules cannot be applied to what was not read, so
    /// the call is refused.
    pub refused: Option<Doubt>,
    /// The name of a function that starts itself again and again.
    pub fork_bomb: Option<String>,
    /// What would destroy a machine, a home or a disk, if anything would.
    pub catastrophe: Option<Catastrophe>,
    /// Where its `cd`s leave the shell, from where it began, if everything in it goes well: a guess,
    /// good for nothing that must be safe. `None`: it has none, or they cannot be followed.
    pub left_in: Option<String>,
}

/// Reads `script`, and every command in it by the table of programs.
pub fn analyse(script: &str) -> Analysis {
    read_with(script, &programs::read)
}

/// Reads `script` without the table of programs; `look` says what a command runs in turn.
pub fn analyse_with(script: &str, look: &dyn Fn(&[Word]) -> NestedCommands) -> Analysis {
    read_with(script, &|words| {
        let NestedCommands { runs, scripts, reads_script } = look(words);
        programs::CommandProfile { runs, scripts, reads_script, ..Default::default() }
    })
}

fn read_with(script: &str, look: &dyn Fn(&[Word]) -> programs::CommandProfile) -> Analysis {
    let (analysis, suspects) = (Analysis::default(), MAX_SUSPECTS);
    let (bytes, blind, looked, level) = (0, false, 0, 0);
    let mut analyser = Analyser { look, analysis, bytes, blind, suspects, looked, level };
    analyser.script(script, &Outer::default());
    analyser.analysis
}

struct Analyser<'f> {
    look: &'f dyn Fn(&[Word]) -> programs::CommandProfile,
    analysis: Analysis,
    /// Bytes of all scripts so far.
    bytes: usize,
    /// True when something runs text that nobody knows.
    blind: bool,
    /// How many suspects are still looked at.
    suspects: usize,
    /// Bytes of the suspects that were looked at.
    looked: usize,
    /// How deep suspects stand in each other.
    level: usize,
}

/// Suspects are followed into each other this far.
const MAX_LEVEL: usize = 4;

impl Analyser<'_> {
    fn script(&mut self, script: &str, outer: &Outer) {
        self.bytes = self.bytes.saturating_add(script.len());
        if let Some(doubt) = characters::refuse(script) {
            return self.refuse(doubt);
        }
        if self.bytes > MAX_BYTES {
            let what = format!("the scripts in each other have more than {MAX_BYTES} bytes");
            return self.refuse(Doubt::new(what, line(script, 0)));
        }
        if let Some(doubt) = characters::find_invisible(script) {
            self.doubt(doubt.what, doubt.at);
        }
        let syntax = match syntax::read(script) {
            Ok(syntax) => syntax,
            Err(doubt) => return self.refuse(doubt),
        };
        let account = syntax.compare(script);
        for doubt in account.doubts {
            self.add_doubt(doubt);
        }
        if account.commands.is_empty() {
            self.doubt("there is no command in it", line(script, 0));
        }
        if let Some(name) = syntax.fork_bomb(script) {
            let bomb = Catastrophe::new(Verb::Multiply, Target::Function);
            self.analysis.catastrophe.get_or_insert(bomb.with_command(name.clone()));
            self.analysis.fork_bomb.get_or_insert(name);
        }
        if let Some(span) = syntax.second.spawning {
            let endless = Catastrophe::new(Verb::Multiply, Target::Loop);
            self.analysis.catastrophe.get_or_insert(endless.with_command(line(script, span.start)));
        }
        let commands = commands::read(script, &syntax, &account.commands, outer);
        if outer.depth == 0 && self.level == 0 {
            self.analysis.left_in.clone_from(&commands.left_in);
        }
        let feeds = catastrophe::between(&commands.list, &commands.starts, &syntax.second.pipes);
        let values = Bindings::collect(&commands.list, &feeds, &syntax.second, script);
        // Nothing that nobody knows is run without one of these.
        let tells = script.contains(['$', '`', '|', '<', '>']);
        let mut held = if tells { catastrophe::held(&commands.list, &feeds) } else { Vec::new() };
        let runs_own = catastrophe::runs_own(&commands.list);
        let works_out =
            syntax.works_out(script) || commands.list.iter().any(builtins::works_out_names);
        if builtins::leaves_by_links(&commands.list) {
            self.doubt("where `..` leads after `cd -P` depends on links", line(script, 0));
        }
        for (what, at) in commands.doubts {
            self.doubt(what, line(script, at));
        }
        let around = std::mem::take(&mut self.blind);
        let goes_on = commands::last_use(script, &commands.list);
        for (at, (command, feed)) in commands.list.into_iter().zip(feeds).enumerate() {
            let index = self.analysis.commands.len();
            self.command(command, feed.as_ref(), &values, outer.depth);
            // `cd sub && ls && cd ..`: nothing is looked at where the last one goes.
            if outer.depth == 0
                && self.level == 0
                && at >= goes_on
                && let Some(moved) = self.analysis.commands.get_mut(index)
            {
                moved.profile.paths.retain(|it| it.how != programs::How::Entered);
            }
        }
        // What is printed or kept may be what is run: `eval "$(echo …)"`, `x='…'; bash -c "$x"`.
        if self.blind || runs_own {
            held.extend(values.quoted());
            held.into_iter().for_each(|it| self.suspect(Suspect::Text(it), None));
        }
        self.blind |= around;
        if works_out {
            values.substituting().into_iter().for_each(|it| self.suspect(Suspect::Text(it), None));
        }
        for text in syntax.groups(script) {
            self.suspect(Suspect::Text(text), None);
        }
    }

    /// Looks at something that may be run, for catastrophes alone. `within` is the entry of the
    /// command that may run it.
    fn suspect(&mut self, suspect: Suspect, within: Option<&'static str>) {
        if self.analysis.catastrophe.is_some() || self.level >= MAX_LEVEL {
            return;
        }
        let left = self.suspects.checked_sub(1).filter(|_| self.looked <= MAX_SUSPECT_BYTES);
        let Some(suspects) = left else {
            let what = "there are too many words in it that may be commands";
            return self.doubt(what, format!("more than {MAX_SUSPECTS}"));
        };
        let (look, bytes, analysis) = (self.look, self.bytes, Analysis::default());
        let (blind, looked, level) = (false, self.looked, self.level + 1);
        let mut inner = Analyser { look, analysis, bytes, blind, suspects, looked, level };
        let (mut in_words, mut shell) = (false, false);
        match suspect {
            Suspect::Command(words) => {
                let command = Command { words, ..Command::default() };
                inner.command(command, None, &Bindings::default(), 0);
            }
            Suspect::Text(text) => inner.script(&text, &Outer::default()),
            Suspect::Words(words) => {
                in_words = true;
                shell = catastrophe::is_shell(&words);
                let command = Command { words, ..Command::default() };
                inner.command(command, None, &Bindings::default(), 0);
            }
        }
        self.suspects = inner.suspects;
        self.looked = inner.looked + inner.bytes.saturating_sub(bytes);
        let multiplies = inner.analysis.fork_bomb.is_some();
        let Some(found) = inner.analysis.catastrophe else { return };
        // In `hg rm -r .` the word is no program, in `wsl bash -c '…'` it is one, and a container
        // has files of its own.
        let elsewhere = matches!(within, Some("docker" | "kubectl"));
        let certain = multiplies || found.is_everywhere();
        let here = found.target == Target::WorkingDirectory && !shell;
        if in_words && (here || (elsewhere && !certain)) {
            return;
        }
        self.analysis.catastrophe = Some(Catastrophe { indirect: true, ..found });
    }

    /// Lists a command, and what it runs in turn. `feed` is what a pipe hands to it, `values` what
    /// the script gives to variables.
    fn command(
        &mut self,
        mut command: Command,
        feed: Option<&PipeData>,
        values: &Bindings,
        depth: usize,
    ) {
        if self.analysis.commands.len() >= MAX_COMMANDS {
            let what = format!("there are more than {MAX_COMMANDS} commands");
            return self.refuse(Doubt::new(what, displayed(&command)));
        }
        for (what, contained) in builtins::doubts(&command) {
            self.add_doubt(Doubt { contained, ..Doubt::new(what, displayed(&command)) });
        }
        command.profile = (self.look)(&command.words);
        if let Some(feed) = feed {
            feed.describe_in(&mut command);
        }
        if let Some(found) = catastrophe::of_command(&command) {
            self.analysis.catastrophe.get_or_insert(found.with_command(displayed(&command)));
        }
        if command.background && catastrophe::is_itself(&command.words) {
            let bomb = Catastrophe::new(Verb::Multiply, Target::Script);
            self.analysis.catastrophe.get_or_insert(bomb.with_command(displayed(&command)));
        }
        let own = catastrophe::given(&command);
        let feed = own.as_ref().or(feed);
        for suspect in catastrophe::candidates(&command, feed, values) {
            self.suspect(suspect, command.profile.entry);
        }
        self.blind |= catastrophe::is_blind(&command);
        let mut runs = command.profile.runs.clone();
        let mut scripts = command.profile.scripts.clone();
        // `GIT_PAGER='rm -rf x' git log`
        scripts.extend(command.assignments.iter().filter_map(named_command));
        if command.profile.reads_script {
            // What is known of a text is looked at even where not all of it is.
            let unsure = command.texts().filter(|it| it.text().is_none());
            scripts.extend(unsure.map(|it| Word::literal(programs::as_far_as_known(it))));
            scripts.extend(command.texts().cloned());
        }
        if let Some(feed) = feed {
            let fed = feed.runs_in(&command);
            runs.extend(fed.runs);
            scripts.extend(fed.scripts);
        }
        let name = command.words.first().and_then(Word::text).unwrap_or_default().into_owned();
        // `env -C / rm -rf etc`
        let entered = command.profile.paths.iter().filter(|it| it.how == programs::How::Entered);
        let entered: Vec<Word> = entered.map(|it| it.word.clone()).collect();
        let mut outer = Outer {
            via: command.via.clone(),
            moved: command.moved.clone(),
            background: command.background,
            depth: depth + 1,
        };
        self.analysis.commands.push(command);
        if runs.is_empty() && scripts.is_empty() {
            return;
        }
        if outer.depth > MAX_NESTING {
            let what = format!("commands run commands more than {MAX_NESTING} deep");
            return self.refuse(Doubt::new(what, name));
        }
        // Names of files in a known text are contained as a file of the workspace is that is run.
        let found = outer.via.last().is_some_and(|it| matches!(&**it, "find" | "fd"));
        outer.via.push(name);
        outer.moved.extend(entered);
        for words in runs {
            let inner = Command {
                words,
                background: outer.background,
                via: outer.via.clone(),
                moved: outer.moved.clone(),
                ..Command::default()
            };
            self.command(inner, feed, values, outer.depth);
        }
        for script in scripts {
            match script.text() {
                Some(text) => self.script(&text, &outer),
                None => {
                    let what = "it runs shell text that is not known in advance";
                    let contained = found || feed.is_some_and(PipeData::is_known_here);
                    let contained = contained && is_filled_in(&script);
                    self.add_doubt(Doubt { contained, ..Doubt::new(what, script.source) });
                }
            }
        }
    }

    fn refuse(&mut self, doubt: Doubt) {
        self.analysis.refused.get_or_insert(doubt);
    }

    fn doubt(&mut self, what: impl Into<String>, at: impl Into<String>) {
        self.add_doubt(Doubt::new(what, at));
    }

    fn add_doubt(&mut self, doubt: Doubt) {
        let doubts = &mut self.analysis.doubts;
        if doubts.contains(&doubt) {
            return;
        }
        // A list that is full of what a sandbox contains must not hide what it does not.
        if doubts.len() < MAX_DOUBTS {
            doubts.push(doubt);
        } else if !doubt.contained
            && let Some(slot) = doubts.iter_mut().find(|it| it.contained)
        {
            *slot = doubt;
        }
    }
}

/// True for known text into which `xargs` or `find` puts something.
fn is_filled_in(script: &Word) -> bool {
    let known = |it: &Part| matches!(it, Part::Text(_) | Part::Unknown { why: Unknown::Input, .. });
    script.parts.iter().all(known)
}

fn displayed(command: &Command) -> String {
    let assignments =
        command.assignments.iter().map(|it| format!("{}={}", it.name, it.value.source));
    let words = command.words.iter().map(|it| it.source.clone());
    let texts: Vec<String> = assignments.chain(words).collect();
    texts.join(" ").chars().take(120).collect()
}

/// The command line that a variable gives to programs, where it is known.
fn named_command(assignment: &Assignment) -> Option<Word> {
    let text = assignment.value.text().filter(|_| holds_command(&assignment.name))?;
    let plain = text.trim().is_empty() || is_plain_pager(&assignment.name, Some(&text));
    (!plain).then(|| Word::literal(&*text))
}
