//! Decisions that are read out of texts for people. Whoever rewords a message must not change what
//! happens: what is decided by has a type.

use syn::{
    BinOp, Expr, ExprBinary, ExprLit, ExprMatch, ExprMethodCall, ItemMod, Lit, Member, Pat,
    visit::{self, Visit},
};

use crate::source::Source;

/// Methods, fields and variables that are sentences for people.
const SENTENCES: [&str; 5] = ["because", "message", "problem", "why", "why_not"];

/// What errors are called; their `to_string` is a sentence too.
const ERRORS: [&str; 6] = ["err", "error", "fault", "reason", "stop", "verdict"];

/// Ways to look for something in a text.
const LOOKS: [&str; 8] = [
    "contains",
    "ends_with",
    "eq",
    "eq_ignore_ascii_case",
    "find",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
];

/// Files that look into somebody else's sentence, because there is nothing else to look at. A line
/// that is no longer needed is an error.
const EXCUSED: [(&str, &str); 3] = [
    ("crates/eclusa-tools/src/diagnostics/braces.rs", "findings of compilers, which are text"),
    ("crates/eclusa-tools/src/diagnostics/lines.rs", "findings of compilers, which are text"),
    ("crates/eclusa-tools/src/search/grep.rs", "the hint that goes with an error of the engine"),
];

/// Where a sentence is looked into.
pub fn complaints(sources: &[Source]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut excused = Vec::new();
    for source in sources {
        if !source.is_rust() || source.is_test() || !source.path.starts_with("crates/") {
            continue;
        }
        let found = looked_into(source);
        match EXCUSED.iter().find(|it| it.0 == source.path) {
            Some(excuse) if !found.is_empty() => excused.push(excuse.0),
            _ => wrong.extend(found),
        }
    }
    let is_here = |it: &&(&str, &str)| sources.iter().any(|source| source.path == it.0);
    let stale = EXCUSED.iter().filter(is_here).filter(|it| !excused.contains(&it.0));
    wrong.extend(
        stale.map(|it| format!("{}: needs no excuse any more in xtask/src/messages.rs", it.0)),
    );
    wrong
}

fn looked_into(source: &Source) -> Vec<String> {
    let Ok(file) = syn::parse_file(&source.text) else { return Vec::new() };
    let mut reader = Reader { path: &source.path, wrong: Vec::new() };
    reader.visit_file(&file);
    reader.wrong
}

struct Reader<'a> {
    path: &'a str,
    wrong: Vec<String>,
}

impl Reader<'_> {
    fn complain(&mut self, sentence: &str) {
        self.wrong.push(format!(
            "{}: looks into `{sentence}`, which is a sentence for people; give it a type",
            self.path
        ));
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, it: &'ast ItemMod) {
        if it.ident != "tests" {
            visit::visit_item_mod(self, it);
        }
    }

    fn visit_expr_method_call(&mut self, it: &'ast ExprMethodCall) {
        let looks = LOOKS.iter().any(|look| it.method == look);
        if looks
            && it.args.first().is_some_and(is_text)
            && let Some(name) = sentence(&it.receiver)
        {
            self.complain(&name);
        }
        visit::visit_expr_method_call(self, it);
    }

    fn visit_expr_binary(&mut self, it: &'ast ExprBinary) {
        if matches!(it.op, BinOp::Eq(_) | BinOp::Ne(_)) {
            for (one, other) in [(&it.left, &it.right), (&it.right, &it.left)] {
                if is_text(other)
                    && let Some(name) = sentence(one)
                {
                    self.complain(&name);
                }
            }
        }
        visit::visit_expr_binary(self, it);
    }

    fn visit_expr_match(&mut self, it: &'ast ExprMatch) {
        let by_text = it.arms.iter().any(|arm| matches!(&arm.pat, Pat::Lit(it) if is_str(&it.lit)));
        if by_text && let Some(name) = sentence(&it.expr) {
            self.complain(&name);
        }
        visit::visit_expr_match(self, it);
    }
}

fn is_str(lit: &Lit) -> bool {
    matches!(lit, Lit::Str(_) | Lit::ByteStr(_))
}

fn is_text(it: &Expr) -> bool {
    match it {
        Expr::Lit(ExprLit { lit, .. }) => is_str(lit),
        Expr::Reference(it) => is_text(&it.expr),
        _ => false,
    }
}

/// What a sentence for people is called, if this is one.
fn sentence(it: &Expr) -> Option<String> {
    let known = |name: String| SENTENCES.contains(&name.as_str()).then_some(name);
    match it {
        Expr::Reference(it) => sentence(&it.expr),
        Expr::Paren(it) => sentence(&it.expr),
        Expr::Unary(it) => sentence(&it.expr),
        Expr::Path(it) => known(it.path.get_ident()?.to_string()),
        Expr::Field(it) => match &it.member {
            Member::Named(name) => known(name.to_string()),
            Member::Unnamed(_) => None,
        },
        Expr::MethodCall(it) if it.method == "to_string" => {
            let name = last_name(&it.receiver)?;
            let is_error = ERRORS.contains(&name.as_str());
            is_error.then(|| format!("{name}.to_string()")).or_else(|| sentence(&it.receiver))
        }
        Expr::MethodCall(it) => match it.method.to_string().as_str() {
            "as_str" | "as_ref" | "as_deref" | "trim" | "to_lowercase" | "clone" => {
                sentence(&it.receiver)
            }
            name => known(name.to_owned()),
        },
        _ => None,
    }
}

fn last_name(it: &Expr) -> Option<String> {
    match it {
        Expr::Path(it) => it.path.get_ident().map(ToString::to_string),
        Expr::Field(it) => match &it.member {
            Member::Named(name) => Some(name.to_string()),
            Member::Unnamed(_) => None,
        },
        Expr::Reference(it) => last_name(&it.expr),
        _ => None,
    }
}
