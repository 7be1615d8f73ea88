//! The tokens of the gate: each is made in one file, cannot be copied or conjured up, and is
//! opened only where the next gate begins.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{
    Fields, ItemImpl, ItemStruct, ItemType, Macro, Path, Type, UseTree, Visibility,
    visit::{self, Visit},
};

use crate::source::Source;

/// Each token, and the one file of the library that makes it.
pub const HOMES: [(&str, &str); 9] = [
    ("Validated", "tool/validated.rs"),
    ("Reviewed", "gate/review.rs"),
    ("Permit", "gate/permit.rs"),
    ("Job", "tool/job.rs"),
    ("Raw", "gate/execute.rs"),
    ("Settled", "gate/settle.rs"),
    ("Released", "gate/release.rs"),
    ("Started", "gate/ledger.rs"),
    ("Reply", "reply.rs"),
];

/// Each function that opens a token, or makes one for another file, and the files that call it,
/// once each. (`into_call` is two methods: `Permit`'s, called in `execute.rs`, and `Reviewed`'s,
/// called in `permit.rs`.)
pub const OPENERS: [(&str, &[&str]); 7] = [
    ("Job::new", &["gate/execute.rs"]),
    ("Reply::new", &["gate/ledger.rs"]),
    ("Validated::check", &["gate/validate.rs"]),
    ("into_call", &["gate/execute.rs", "gate/permit.rs"]),
    ("unseal", &["gate/release.rs"]),
    ("unseal_for_reply", &["gate/ledger.rs"]),
    ("unseal_for_settling", &["gate/settle.rs"]),
];

/// What would let a token be had without passing its gate.
const CONJURERS: [&str; 5] = ["Clone", "Copy", "Default", "Deserialize", "DeserializeOwned"];

/// Where the tokens live.
const LIBRARY: &str = "crates/eclusa/src/";

/// What is wrong with the tokens of the library.
pub fn complaints(sources: &[Source]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut made: Vec<(String, String)> = Vec::new();
    let mut opened: Vec<(&str, String)> = Vec::new();
    for source in sources.iter().filter(|it| it.is_rust()) {
        let Some(path) = source.path.strip_prefix(LIBRARY) else { continue };
        match syn::parse_file(&source.text) {
            Ok(file) => {
                let mut reader = Reader { path, wrong: &mut wrong, made: Vec::new(), of: None };
                reader.visit_file(&file);
                made.extend(reader.made.into_iter().map(|token| (token, path.to_owned())));
            }
            Err(err) => wrong.push(format!("{}: cannot be read: {err}", source.path)),
        }
        let uses = source.text.parse().map(openers).unwrap_or_default();
        opened.extend(uses.into_iter().map(|opener| (opener, path.to_owned())));
    }
    for (token, home) in HOMES {
        if !made.iter().any(|(it, path)| it == token && path == home) {
            wrong.push(format!("`{token}` is to be made in {home}, and is not"));
        }
    }
    for (token, path) in made {
        if !HOMES.contains(&(&token, &path)) {
            wrong.push(format!("{path}: makes a `{token}`, which only its own gate may"));
        }
    }
    for (opener, homes) in OPENERS {
        for home in homes {
            match opened.iter().filter(|(it, path)| *it == opener && path == home).count() {
                1 => {}
                n => wrong.push(format!("{home}: `{opener}` is to be called once, not {n} times")),
            }
        }
        let elsewhere =
            opened.iter().filter(|(it, path)| *it == opener && !homes.contains(&path.as_str()));
        wrong.extend(elsewhere.map(|(_, path)| {
            format!("{path}: calls `{opener}`, which opens a token outside the next gate")
        }));
    }
    wrong
}

/// Every use of an opener in these tokens: after a `.` or a `:`, not after `fn`.
fn openers(tokens: TokenStream) -> Vec<&'static str> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    for (at, tree) in trees.iter().enumerate() {
        if let TokenTree::Group(group) = tree {
            found.extend(openers(group.stream()));
        }
        let before = at.checked_sub(1).and_then(|it| trees.get(it));
        let called = matches!(before, Some(TokenTree::Punct(it)) if ".:".contains(it.as_char()));
        let Some(name) = ident(&trees, Some(at)).filter(|_| called) else { continue };
        let of = ident(&trees, at.checked_sub(3));
        found.extend(OPENERS.iter().map(|it| it.0).filter(|it| match it.split_once("::") {
            Some((token, method)) => name == method && of.as_deref() == Some(token),
            None => name == *it,
        }));
    }
    found
}

struct Reader<'a> {
    path: &'a str,
    wrong: &'a mut Vec<String>,
    made: Vec<String>,
    /// The token whose `impl` block is being read: its `Self`.
    of: Option<String>,
}

impl Reader<'_> {
    /// The token that this path names as a constructor. `Event::Started` is a variant of another
    /// type, so it names none.
    fn constructor(&self, path: &Path) -> Option<String> {
        let names: Vec<String> = path.segments.iter().map(|it| it.ident.to_string()).collect();
        let (last, before) = names.split_last()?;
        self.token(last, before.last().map(String::as_str))
    }

    fn token(&self, name: &str, before: Option<&str>) -> Option<String> {
        let in_type = before.is_some_and(|it| it.starts_with(char::is_uppercase));
        match name {
            "Self" => self.of.clone(),
            name if !in_type && is_token(name) => Some(name.to_owned()),
            _ => None,
        }
    }

    /// Inside a macro there are only tokens: a token's name before a brace or a parenthesis
    /// counts as making it.
    fn read(&mut self, tokens: TokenStream) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, tree) in trees.iter().enumerate() {
            if let TokenTree::Group(group) = tree {
                self.read(group.stream());
                let opens = matches!(group.delimiter(), Delimiter::Brace | Delimiter::Parenthesis);
                let name = ident(&trees, at.checked_sub(1)).filter(|_| opens);
                let before = ident(&trees, at.checked_sub(4));
                let token = name.and_then(|name| self.token(&name, before.as_deref()));
                self.made.extend(token);
            }
        }
    }

    fn say(&mut self, what: String) {
        self.wrong.push(format!("{}: {what}", self.path));
    }
}

fn ident(trees: &[TokenTree], at: Option<usize>) -> Option<String> {
    match trees.get(at?)? {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    }
}

fn is_token(name: &str) -> bool {
    HOMES.iter().any(|(token, _)| *token == name)
}

fn named(path: &Path) -> Option<String> {
    path.segments.last().map(|it| it.ident.to_string())
}

/// The token that this type is.
fn token_of(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(it) => named(&it.path).filter(|name| is_token(name)),
        _ => None,
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_expr_struct(&mut self, it: &'ast syn::ExprStruct) {
        self.made.extend(self.constructor(&it.path));
        visit::visit_expr_struct(self, it);
    }

    fn visit_expr_path(&mut self, it: &'ast syn::ExprPath) {
        self.made.extend(self.constructor(&it.path));
        visit::visit_expr_path(self, it);
    }

    fn visit_macro(&mut self, it: &'ast Macro) {
        self.read(it.tokens.clone());
        visit::visit_macro(self, it);
    }

    fn visit_item_impl(&mut self, it: &'ast ItemImpl) {
        let of = token_of(&it.self_ty);
        let conjurer = it.trait_.as_ref().and_then(|(_, path, _)| named(path));
        if let (Some(token), Some(conjurer)) = (&of, conjurer)
            && CONJURERS.contains(&conjurer.as_str())
        {
            self.say(format!("`{token}` must not be `{conjurer}`"));
        }
        let outer = std::mem::replace(&mut self.of, of);
        visit::visit_item_impl(self, it);
        self.of = outer;
    }

    fn visit_item_struct(&mut self, it: &'ast ItemStruct) {
        let token = it.ident.to_string();
        if is_token(&token) {
            for attribute in it.attrs.iter().filter(|it| it.path().is_ident("derive")) {
                // A derive that cannot be read does not compile either.
                let _ = attribute.parse_nested_meta(|derived| {
                    let name = named(&derived.path).unwrap_or_default();
                    if CONJURERS.contains(&name.as_str()) {
                        self.say(format!("`{token}` must not be `{name}`"));
                    }
                    Ok(())
                });
            }
            let open = |it: &syn::Field| !matches!(it.vis, Visibility::Inherited);
            if it.fields.iter().any(open) || matches!(it.fields, Fields::Unit) {
                self.say(format!("`{token}` must have fields, and keep them private"));
            }
            if !HOMES.contains(&(&token, self.path)) {
                self.say(format!("defines another `{token}`"));
            }
        }
        visit::visit_item_struct(self, it);
    }

    fn visit_item_type(&mut self, it: &'ast ItemType) {
        if let Some(token) = token_of(&it.ty) {
            self.say(format!("`{}` is another name for the token `{token}`", it.ident));
        }
        visit::visit_item_type(self, it);
    }

    fn visit_use_tree(&mut self, it: &'ast UseTree) {
        if let UseTree::Rename(it) = it
            && is_token(&it.ident.to_string())
        {
            self.say(format!("`{}` is another name for the token `{}`", it.rename, it.ident));
        }
        visit::visit_use_tree(self, it);
    }
}
