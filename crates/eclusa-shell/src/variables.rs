//! What setting a variable does to programs that run later: a table, `data/variables.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What a variable does to the programs that see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Influence {
    /// It makes programs run or load something else, or the shell read the rest differently.
    Steers,
    /// The shell keeps a number in it: what is put into it is worked out, and can run commands.
    Counts,
    /// It changes how output looks.
    Looks,
    /// Not in the table.
    Unlisted,
}

impl Influence {
    /// True when setting it to something unknown can run or load something.
    pub fn is_grave(self) -> bool {
        matches!(self, Influence::Steers | Influence::Counts)
    }
}

struct VariableTable {
    exact: HashMap<&'static str, Influence>,
    starts: Vec<(&'static str, Influence)>,
    ends: Vec<(&'static str, Influence)>,
}

static TABLE: LazyLock<VariableTable> =
    LazyLock::new(|| load(include_str!("../data/variables.txt")));

/// What setting `name` does.
pub fn influence(name: &str) -> Influence {
    let table = &*TABLE;
    if let Some(known) = table.exact.get(name) {
        return *known;
    }
    let starts = table.starts.iter().filter(|(start, _)| name.starts_with(start));
    let ends = table.ends.iter().filter(|(end, _)| name.ends_with(end));
    let mut found = starts.chain(ends).map(|(_, influence)| *influence);
    match found.next() {
        Some(Influence::Looks) if found.any(|it| it == Influence::Steers) => Influence::Steers,
        Some(influence) => influence,
        None => Influence::Unlisted,
    }
}

/// True for a pager that is set to show everything at once: `GIT_PAGER=cat git log`. It names a
/// program to run, but one that does nothing.
pub fn is_plain_pager(name: &str, value: Option<&str>) -> bool {
    let pager = matches!(name, "PAGER" | "GIT_PAGER" | "MANPAGER" | "GH_PAGER");
    pager && matches!(value, Some("cat" | ""))
}

/// True for a variable whose value is a command line that programs hand to a shell.
pub(crate) fn holds_command(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "EDITOR",
        "GIT_EDITOR",
        "GIT_EXTERNAL_DIFF",
        "GIT_SEQUENCE_EDITOR",
        "GIT_SSH_COMMAND",
        "PROMPT_COMMAND",
        "VISUAL",
        "PAGER",
        "MANPAGER",
    ];
    NAMES.contains(&name) || matches!(name, "GIT_PAGER" | "GH_PAGER")
}

fn load(text: &'static str) -> VariableTable {
    let mut table = VariableTable { exact: HashMap::new(), starts: Vec::new(), ends: Vec::new() };
    for line in text.lines() {
        let mut fields = line.split_whitespace();
        let influence = match fields.next() {
            Some("!") => Influence::Steers,
            Some(".") => Influence::Looks,
            Some("#!") => Influence::Counts,
            _ => continue,
        };
        for name in fields {
            match (name.strip_prefix('*'), name.strip_suffix('*')) {
                (Some(end), _) => table.ends.push((end, influence)),
                (None, Some(start)) => table.starts.push((start, influence)),
                (None, None) => {
                    table.exact.insert(name, influence);
                }
            }
        }
    }
    table
}
