//! Variables whose value comes from outside the script: printing one may print a secret.

use eclusa_shell::{Command, Part, Unknown};

use super::{defaults::Refused, quoted};
use crate::Decision;

/// Variables of the environment that tell nothing that the workspace does not: who and where one is,
/// how output looks, where tools are.
const HARMLESS: [&str; 46] = [
    "PATH",
    "HOSTNAME",
    "LC_ALL",
    "LC_CTYPE",
    "PWD",
    "OLDPWD",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "SHLVL",
    "TERM",
    "COLORTERM",
    "LANG",
    "TZ",
    "TMPDIR",
    "COLUMNS",
    "LINES",
    "RANDOM",
    "SECONDS",
    "LINENO",
    "EPOCHSECONDS",
    "BASH",
    "BASH_VERSION",
    "OSTYPE",
    "HOSTTYPE",
    "MACHTYPE",
    "CI",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "DISPLAY",
    "NODE_ENV",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "JAVA_HOME",
    "GOPATH",
    "GOROOT",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
];

/// `Ok` when every variable in the words of a command is set by the script itself, which the
/// reading of the text knows, or harmless.
pub(super) fn told(command: &Command) -> Result<(), Refused> {
    let is_variable = |it: &Part| matches!(it, Part::Unknown { why: Unknown::Variable, .. });
    // What a here-document holds is printed as well.
    let words = command.words.iter().chain(command.texts());
    for word in words.filter(|it| it.parts.iter().any(is_variable)) {
        for name in names(&word.source) {
            if !HARMLESS.contains(&name) {
                let why = format!("uses {}, which comes from the environment", quoted(name));
                return Err((Decision::Stage, why));
            }
        }
        // `${!NAME}` is whatever the value of another variable names.
        if word.source.contains("${!") {
            return Err((Decision::Stage, "uses a variable by way of another".to_owned()));
        }
    }
    Ok(())
}

/// The names behind dollar signs. Positions and the like (`$1`, `$?`) have none.
fn names(source: &str) -> impl Iterator<Item = &str> {
    source.split('$').skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let rest = rest.strip_prefix('#').unwrap_or(rest);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = rest.get(..end.unwrap_or(rest.len()))?;
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_').then_some(name)
    })
}
