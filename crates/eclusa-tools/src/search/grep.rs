//! `grep`: text in files.

use eclusa::{Facts, Files, Job, Output, Scene, ToolError, Touch, TypedTool, one_line};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{cancel::blocking, grep_run::grep, messages};

/// Searches the files of the workspace.
#[derive(Debug, Clone)]
pub struct Grep {
    files: Files,
}

impl Grep {
    /// Searches files of this workspace.
    pub fn new(files: Files) -> Grep {
        Grep { files }
    }
}

/// The arguments of `grep`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrepArgs {
    /// A regular expression, or with `literal` the text itself.
    pub pattern: String,
    /// The directory or file; the workspace by default.
    pub path: Option<String>,
    /// The pattern is plain text.
    pub literal: Option<bool>,
    /// `regex` or `literal`: another way to say `literal`.
    #[serde(rename = "type")]
    pub how: Option<GrepMode>,
    /// Letters match in either case.
    pub ignore_case: Option<bool>,
    /// Only files that fit, such as `*.rs`; `!*.rs` is all others.
    pub glob: Option<String>,
    /// Only files of a type, such as `rust`, `py`, `js`.
    pub file_type: Option<String>,
    /// Lines shown before and after each match, 20 at most.
    #[schemars(range(max = 20))]
    pub context: Option<usize>,
    /// Lines shown before each match.
    #[schemars(range(max = 20))]
    pub before: Option<usize>,
    /// Lines shown after each match.
    #[schemars(range(max = 20))]
    pub after: Option<usize>,
    /// A match may go over several lines, and `.` matches their ends too.
    pub multiline: Option<bool>,
    /// `content` (default) shows lines, `files` names of files, `count` matches of each file.
    pub output: Option<OutputShape>,
    /// How many matches or files to show; 100 by default, 1000 at most.
    pub limit: Option<usize>,
    /// How many matches or files to skip.
    pub offset: Option<usize>,
    /// Also in files that .gitignore hides.
    pub ignored: Option<bool>,
}

/// What a pattern is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GrepMode {
    /// A regular expression.
    Regex,
    /// Plain text.
    Literal,
}

/// What is shown of the matches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputShape {
    /// The lines.
    #[default]
    Content,
    /// The files that have any.
    Files,
    /// How many there are in each file.
    Count,
}

impl TypedTool for Grep {
    type Args = GrepArgs;
    const NAME: &'static str = "grep";

    fn description(&self, _: &Scene) -> String {
        "Searches text in files with a regular expression (Rust syntax), sorted by path. What \
         .gitignore hides and binary files are left out. \
         Example: {\"pattern\": \"fn \\\\w+_test\", \"glob\": \"*.rs\", \"context\": 2}"
            .to_owned()
    }

    fn facts(&self) -> Facts {
        messages::facts(&["search", "Grep"], "search text in files, regular expression, ripgrep")
    }

    fn touches(&self, args: &GrepArgs) -> Vec<Touch> {
        vec![Touch::Read(messages::asked(args.path.as_deref()).to_owned())]
    }

    async fn run(&self, args: GrepArgs, job: &Job) -> Result<Output, ToolError> {
        let (files, hidden) = (self.files.clone(), job.hidden().beside(&self.files));
        blocking(job, move |cancel| grep(&files, &hidden, &args, cancel)).await
    }
}

impl GrepArgs {
    /// The pattern, ready to search with.
    pub(super) fn regex(&self) -> Result<RegexMatcher, ToolError> {
        let pattern = one_line(&self.pattern);
        if self.pattern.is_empty() {
            return Err(ToolError::new("`pattern` is empty; say what to search for"));
        }
        let literal = match (self.literal, self.how) {
            (Some(true), Some(GrepMode::Regex)) | (Some(false), Some(GrepMode::Literal)) => {
                let why = "`literal` and `type` contradict each other; leave one of them out";
                return Err(ToolError::new(why));
            }
            (literal, how) => literal.unwrap_or(how == Some(GrepMode::Literal)),
        };
        let multiline = self.multiline.unwrap_or(false);
        if !multiline && literal && self.pattern.contains('\n') {
            let why = "`pattern` has more than one line; set `multiline: true`";
            return Err(ToolError::new(why));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder.multi_line(true).fixed_strings(literal);
        builder.case_insensitive(self.ignore_case.unwrap_or(false));
        match multiline {
            true => builder.dot_matches_new_line(true),
            false => builder.line_terminator(Some(b'\n')),
        };
        builder.build(&self.pattern).map_err(|err| {
            let whole = err.to_string();
            let why = whole.lines().last().unwrap_or_default();
            let why = why.strip_prefix("error: ").unwrap_or(why);
            let hint = match why.contains("\\n") {
                true => "set `multiline: true` to match across lines",
                false => "escape what is meant as it is (`\\(`), or set `literal: true`",
            };
            ToolError::new(format!("`{pattern}` is not a regular expression: {why}; {hint}"))
        })
    }

    /// Lines to show before and after a match.
    pub(super) fn around(&self) -> (usize, usize) {
        let both = self.context.unwrap_or(0);
        (self.before.unwrap_or(both).min(20), self.after.unwrap_or(both).min(20))
    }
}
