//! The tool: which checks run, and what is said of what they found.

use std::{collections::HashSet, fmt::Write as _, path::Path, time::Duration};

use eclusa::{
    Facts, Files, Hash, Job, Output, PermissionClass, Scene, ToolError, Touch, TypedTool, one_line,
    policy::HiddenPaths, settings::CheckSettings, workspace::FileError,
};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Diagnostic, Parsed, Severity, parse};

/// A check that does not say how long it may run gets so long: compilers take a while.
const TIME: Duration = Duration::from_secs(300);
const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 1000;
/// Of output in no known form, this much of the end is shown.
const TAIL: usize = 4_000;

/// Starts the programs that a person has named. The library starts none.
pub trait Runner: Send + Sync + 'static {
    /// Runs a check to its end. Dropping the future ends the program.
    fn run<'a>(
        &'a self,
        check: &'a CheckSettings,
        job: &'a Job,
    ) -> BoxFuture<'a, Result<CheckRun, String>>;
}

/// What became of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckRun {
    /// What it wrote to its standard output, bounded by whoever ran it.
    pub out: String,
    /// What it wrote to its standard error, bounded too.
    pub err: String,
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
}

/// Runs the checks that a person has named.
pub struct Diagnostics {
    checks: Vec<CheckSettings>,
    files: Files,
    runner: Box<dyn Runner>,
    revision: String,
}

impl Diagnostics {
    /// The tool over these checks, for files of this workspace.
    pub fn new(checks: Vec<CheckSettings>, files: Files, runner: impl Runner) -> Diagnostics {
        // Other programs under the same names are another tool: a yes to the old one is void.
        let what: Vec<_> = checks.iter().map(|it| json!([it.name, it.command, it.env])).collect();
        let revision = Hash::sha256(Value::from(what).to_string().as_bytes()).to_string();
        Diagnostics { checks, files, runner: Box::new(runner), revision }
    }

    fn names(&self) -> String {
        let names: Vec<String> = self.checks.iter().map(|it| format!("`{}`", it.name)).collect();
        names.join(", ")
    }

    /// The checks that are asked for.
    fn wanted(&self, name: Option<&str>) -> Result<Vec<&CheckSettings>, ToolError> {
        let wanted = self.checks.iter().filter(|it| name.is_none_or(|name| it.name == name));
        let wanted: Vec<&CheckSettings> = wanted.collect();
        match (wanted.is_empty(), name) {
            (false, _) => Ok(wanted),
            (true, Some(name)) => Err(ToolError::new(format!(
                "no check is called `{}`; there is {}",
                one_line(name),
                self.names()
            ))),
            (true, None) => Err(ToolError::new("no check is configured")),
        }
    }

    /// A path as the workspace calls it, unless this call may not see it.
    fn seen(&self, it: &mut Diagnostic, hidden: &HiddenPaths) -> bool {
        let Some(path) = &it.path else { return true };
        match self.files.name(path) {
            Ok(own) => {
                let seen = !hidden.hides(&own);
                it.path = Some(own.to_string_lossy().into_owned());
                seen
            }
            Err(FileError::Blocked { .. }) => false,
            // Outside the workspace, such as a library's own file: only its name is told.
            Err(_) => true,
        }
    }
}

/// The arguments of `diagnostics`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DiagnosticsArgs {
    /// Which check; all by default.
    pub check: Option<String>,
    /// Only findings about this file, or files in this directory.
    pub path: Option<String>,
    /// How many findings to show; 100 by default, 1000 at most.
    pub limit: Option<usize>,
    /// How many findings to skip.
    pub offset: Option<usize>,
}

impl TypedTool for Diagnostics {
    type Args = DiagnosticsArgs;
    const NAME: &'static str = "diagnostics";

    fn description(&self, _: &Scene) -> String {
        format!(
            "Runs the project's checks (compiler, linter) and lists what they find, errors first. \
             There is {}. Example: {{\"path\": \"src\"}}",
            self.names()
        )
    }

    fn facts(&self) -> Facts {
        Facts {
            aliases: vec!["Diagnostics".to_owned()],
            search_hint: "check compile lint errors warnings problems types".to_owned(),
            // It runs programs, so it is nothing that only looks: rules allow it, or a person.
            class: Some(PermissionClass::Generic),
            audit_operation: "check".to_owned(),
            ..Facts::default()
        }
    }

    fn revision(&self) -> &str {
        &self.revision
    }

    fn touches(&self, _: &DiagnosticsArgs) -> Vec<Touch> {
        // Whatever is asked for, the program looks at the whole workspace.
        vec![Touch::Read(".".to_owned())]
    }

    fn time(&self, args: &Value) -> Option<Duration> {
        let name = args.get("check").and_then(Value::as_str);
        let wanted = self.wanted(name).ok()?;
        Some(wanted.iter().map(|it| it.time.unwrap_or(TIME)).sum())
    }

    async fn run(&self, args: DiagnosticsArgs, job: &Job) -> Result<Output, ToolError> {
        let hidden = job.hidden();
        let about = match args.path.as_deref().filter(|it| !it.is_empty() && *it != ".") {
            Some(path) => {
                Some(self.files.name(path).map_err(|err| ToolError::new(err.to_string()))?)
            }
            None => None,
        };
        let mut report = ChecksReport::default();
        for check in self.wanted(args.check.as_deref())? {
            let ran = self.runner.run(check, job).await.map_err(ToolError::new)?;
            let parsed = read(ran.clone()).await;
            report.end(check, &ran, &parsed);
            for mut it in parsed.found {
                if !self.seen(&mut it, &hidden) {
                    report.kept_back += 1;
                } else if about.as_ref().is_none_or(|about| {
                    it.path.as_ref().is_some_and(|path| Path::new(path).starts_with(about))
                }) {
                    report.found.push(it);
                }
            }
        }
        let limit = args.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        Ok(report.output(args.offset.unwrap_or(0), limit))
    }
}

/// Reads both outputs where it may take a while.
async fn read(ran: CheckRun) -> Parsed {
    let both = tokio::task::spawn_blocking(move || {
        let (mut out, err) = (parse(&ran.out), parse(&ran.err));
        // What both say of one place is the same in two forms: cargo writes text beside its JSON.
        let place = |it: &Diagnostic| (it.path.clone(), it.line, it.column);
        let told: HashSet<_> = out.found.iter().map(place).collect();
        err.found.into_iter().filter(|it| !told.contains(&place(it))).for_each(|it| out.add(it));
        out.more += err.more;
        out
    });
    both.await.unwrap_or_default()
}

#[derive(Default)]
struct ChecksReport {
    found: Vec<Diagnostic>,
    ends: Vec<String>,
    data: Vec<Value>,
    kept_back: usize,
    more: usize,
    unread: String,
}

impl ChecksReport {
    fn end(&mut self, check: &CheckSettings, ran: &CheckRun, parsed: &Parsed) {
        let how = match ran.code {
            Some(code) => format!("exit code {code}"),
            None => "a signal".to_owned(),
        };
        self.ends.push(format!("`{}` ended with {how}", check.name));
        self.data.push(json!({
            "check": check.name,
            "exit_code": ran.code,
            "found": parsed.found.len() + parsed.more,
        }));
        self.more += parsed.more;
        if ran.code != Some(0) && parsed.found.is_empty() {
            let said = if ran.err.trim().is_empty() { &ran.out } else { &ran.err };
            let from = said.ceil_char_boundary(said.len().saturating_sub(TAIL));
            let tail = said.get(from..).unwrap_or_default().trim();
            let _ =
                writeln!(self.unread, "`{}` said, in no form that is known:\n{tail}", check.name);
        }
    }

    fn output(mut self, offset: usize, limit: usize) -> Output {
        let place = |it: &Diagnostic| (it.severity, it.path.clone(), it.line, it.column);
        self.found.sort_by_cached_key(place);
        let count = |of: Severity| self.found.iter().filter(|it| it.severity == of).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        let total = self.found.len();
        let shown: Vec<&Diagnostic> = self.found.iter().skip(offset).take(limit).collect();
        let mut text: String = shown.iter().map(|it| line(it)).collect();
        text.push_str(&self.unread);
        let _ = write!(text, "[{errors} errors, {warnings} warnings, {total} in all");
        let next = offset.saturating_add(shown.len());
        if next < total {
            let _ = write!(text, "; for more: `offset: {next}`");
        }
        if self.more > 0 {
            let _ = write!(text, "; {} more were not kept", self.more);
        }
        if self.kept_back > 0 {
            let _ = write!(text, "; {} about files kept back", self.kept_back);
        }
        let _ = write!(text, "; {}]", self.ends.join(", "));
        let data = json!({
            "diagnostics": shown,
            "errors": errors,
            "warnings": warnings,
            "total": total,
            "offset": offset,
            "not_kept": self.more,
            "kept_back": self.kept_back,
            "checks": self.data,
        });
        Output { text, data: Some(data), ..Output::default() }
    }
}

fn line(it: &Diagnostic) -> String {
    let mut line = String::new();
    if let Some(path) = &it.path {
        line.push_str(&one_line(path));
        for number in [it.line, it.column].into_iter().flatten() {
            let _ = write!(line, ":{number}");
        }
        line.push_str(": ");
    }
    line.push_str(it.severity.as_str());
    if let Some(code) = &it.code {
        let _ = write!(line, "[{}]", one_line(code));
    }
    let _ = writeln!(line, ": {} ({})", one_line(&it.message), it.source);
    line
}
