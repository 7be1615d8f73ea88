//! Variables: which ones a program may be given without harm, and which change what runs.

/// What setting a variable can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Variable {
    /// It changes how programs print, at most.
    Harmless,
    /// It changes which programs or libraries run, or where files are found.
    Dangerous,
    /// Nobody knows. As a variable of the shell it is only a name; in the environment of a
    /// program it may be anything.
    Other,
}

/// Language, terminal, time zone, colours, verbosity.
const HARMLESS: [&str; 32] = [
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "DEBIAN_FRONTEND",
    "FORCE_COLOR",
    "GREP_COLOR",
    "GREP_COLORS",
    "LANG",
    "LANGUAGE",
    "LC_ADDRESS",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "LINES",
    "LS_COLORS",
    "NO_COLOR",
    "POSIXLY_CORRECT",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "SOURCE_DATE_EPOCH",
    "TABSIZE",
    "TERM",
    "TIME_STYLE",
    "TZ",
    "CARGO_TERM_COLOR",
];

/// Names that a shell, the loader or many programs act on.
const DANGEROUS: [&str; 47] = [
    "BASHOPTS",
    "BASH_ENV",
    "BASH_FUNC",
    "BASH_LOADABLES_PATH",
    "BASH_XTRACEFD",
    "BROWSER",
    "CDPATH",
    "CLASSPATH",
    "COMSPEC",
    "EDITOR",
    "EMACS",
    "ENV",
    "EXECIGNORE",
    "FCEDIT",
    "GCONV_PATH",
    "GLOBIGNORE",
    "HISTFILE",
    "HOME",
    "IFS",
    "LESS",
    "LESSCLOSE",
    "LESSEDIT",
    "LESSOPEN",
    "LOCPATH",
    "MAIL",
    "MAILPATH",
    "MANOPT",
    "MANPAGER",
    "MANPATH",
    "MORE",
    "NLSPATH",
    "OLDPWD",
    "PAGER",
    "PATH",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "PWD",
    "SHELL",
    "SHELLOPTS",
    "TAR_OPTIONS",
    "TERMINFO",
    "TMPDIR",
    "VISUAL",
    "XDG_CONFIG_HOME",
];

/// Beginnings of names that loaders, interpreters and build tools act on.
const DANGEROUS_PREFIXES: [&str; 26] = [
    "BASH_",
    "BUNDLE_",
    "CARGO",
    "CURL_",
    "DOCKER_",
    "DYLD_",
    "GEM_",
    "GIT_",
    "GO",
    "HTTP",
    "JAVA_",
    "LD_",
    "LUA_",
    "MAKE",
    "NODE_",
    "NPM_",
    "PERL",
    "PIP_",
    "PYTHON",
    "RIPGREP_",
    "RUBY",
    "RUST",
    "SSH_",
    "npm_",
    "http",
    "all_proxy",
];

/// What setting the variable of this name can do.
pub fn variable(name: &str) -> Variable {
    if HARMLESS.contains(&name) {
        return Variable::Harmless;
    }
    let begins = DANGEROUS_PREFIXES.iter().any(|it| name.starts_with(it));
    let ends = ["_OPTIONS", "_OPTS", "OPTS", "_PROXY", "_HOME", "_PATH", "_COMMAND", "FLAGS"]
        .iter()
        .any(|it| name.ends_with(it));
    if begins || ends || DANGEROUS.contains(&name) { Variable::Dangerous } else { Variable::Other }
}
