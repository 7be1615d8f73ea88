//! What no file may mention: what the library must not know of, and places that exist only on
//! somebody's machine. Methods and `unsafe` are forbidden by lints.

use std::collections::HashMap;

use crate::source::Source;
use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Item, ItemUse, Macro, Path, UseTree,
    visit::{self, Visit},
};

/// A crate that does not take the lints of the workspace, which forbid `unsafe` and the methods of
/// `clippy.toml`. The sandbox has a list of its own, because it needs `unsafe`.
pub fn own_lints(source: &Source) -> Vec<String> {
    let crates = source.path.ends_with("Cargo.toml") && source.text.contains("[package]");
    let takes = source.text.contains("[lints]\nworkspace = true");
    // What is built by cargo-fuzz alone is in no workspace.
    let apart = ["crates/eclusa-sandbox/Cargo.toml", "fuzz/Cargo.toml"];
    if crates && !takes && !apart.contains(&source.path.as_str()) {
        vec![format!("{}: has no `[lints] workspace = true`", source.path)]
    } else {
        Vec::new()
    }
}

/// Modules that the library must not know of: it has no environment, terminal, process or network.
const OUTSIDE: [&str; 9] = [
    "std::env",
    "std::process",
    "std::net",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "tokio::process",
    "tokio::net",
    "tokio::fs",
];

/// Macros that speak to a terminal.
const SPEAKERS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];

/// What the library mentions and must not.
pub fn library(source: &Source) -> Vec<String> {
    let inside = source.path.starts_with("crates/eclusa/src/");
    if !inside || !source.is_rust() || source.is_test() {
        return Vec::new();
    }
    let found = mentions(source);
    let found = found.iter().filter(|it| {
        let macros = it.strip_suffix('!').is_some_and(|it| SPEAKERS.contains(&it));
        let path = it.strip_suffix("::*").unwrap_or(it);
        let below = |outside: &str| {
            path.strip_prefix(outside).is_some_and(|it| it.is_empty() || it.starts_with("::"))
        };
        macros || OUTSIDE.into_iter().any(below)
    });
    found.map(|it| format!("{}: the library must not use `{it}`", source.path)).collect()
}

/// Where commands change files while we look: what is removed, moved or written there goes through
/// handles that follow no link.
const TREES_OF_COMMANDS: [&str; 4] = [
    "crates/eclusa-sandbox/src/",
    "crates/eclusa-tools/src/owner",
    "crates/eclusa-tools/src/sandboxes",
    "crates/eclusa-tools/src/bash",
];

/// Files there that only touch our own state, which no command reaches.
const OWN_STATE: [&str; 7] = [
    "crates/eclusa-sandbox/src/probe.rs",
    "crates/eclusa-sandbox/src/recall.rs",
    "crates/eclusa-sandbox/src/resource_caps.rs",
    "crates/eclusa-tools/src/owner/held_job.rs",
    "crates/eclusa-tools/src/sandboxes/bound_layer.rs",
    "crates/eclusa-tools/src/sandboxes/caches.rs",
    "crates/eclusa-tools/src/sandboxes/unnamed_file.rs",
];

/// Functions that change files by a path, which may lead elsewhere by the time they do.
const BY_PATH: [&str; 13] = [
    "std::fs::remove_file",
    "std::fs::remove_dir",
    "std::fs::remove_dir_all",
    "std::fs::rename",
    "std::fs::copy",
    "std::fs::write",
    "std::fs::hard_link",
    "std::fs::create_dir_all",
    "std::fs::set_permissions",
    "std::fs::File::create",
    "std::os::unix::fs::symlink",
    "std::os::unix::fs::chown",
    "std::os::unix::fs::lchown",
];

/// What a file changes by a path in a tree that commands change.
pub fn by_path(source: &Source) -> Vec<String> {
    let inside = TREES_OF_COMMANDS.iter().any(|it| source.path.starts_with(it));
    let support = source.path.contains("/test_support");
    if !inside || support || source.is_test() || OWN_STATE.contains(&source.path.as_str()) {
        return Vec::new();
    }
    let found = mentions(source).into_iter().filter(|it| BY_PATH.contains(&it.as_str()));
    found.map(|it| format!("{}: `{it}` follows links; use a handle", source.path)).collect()
}

/// Names of places that mean something on one machine only, or that nobody should be sent to.
pub fn places(source: &Source) -> Vec<String> {
    // The lock file is cargo's, and a corpus may hold any address.
    if source.path == "Cargo.lock" || source.path.starts_with("tests/corpus/") {
        return Vec::new();
    }
    // Put together here, so that this file does not name them.
    let hosts = [
        ["crates", "io"].join("."),
        ["static.crates", "io"].join("."),
        ["registry.npmjs", "org"].join("."),
        ["pypi", "org"].join("."),
        ["files.pythonhosted", "org"].join("."),
    ];
    let mut wrong = Vec::new();
    for (number, line) in (1..).zip(source.text.lines()) {
        let at = format!("{}:{number}", source.path);
        for host in hosts.iter().filter(|it| line.contains(it.as_str())) {
            wrong.push(format!("{at}: names the host `{host}`"));
        }
        let workplace = ["", "work", ""].join("/");
        for (found, _) in line.match_indices(&workplace) {
            let before = line.get(..found).and_then(|it| it.chars().next_back());
            if !before.is_some_and(|it| it.is_alphanumeric() || "._-~}/".contains(it)) {
                wrong.push(format!("{at}: names the place `{workplace}`"));
            }
        }
    }
    wrong
}

/// Every path that a file mentions outside its tests, as its imports make it: `fs::write` is
/// `std::fs::write` after `use std::fs`. Macros have a `!` at the end.
pub(crate) fn mentions(source: &Source) -> Vec<String> {
    let Ok(file) = syn::parse_file(&source.text) else { return Vec::new() };
    let mut mentioned = Mentioned::default();
    mentioned.visit_file(&file);
    let Mentioned { imports, paths } = mentioned;
    let resolved = paths.into_iter().map(|path| {
        let (first, rest) = path.split_once("::").unwrap_or((&path, ""));
        match imports.get(first) {
            Some(full) if rest.is_empty() => full.clone(),
            Some(full) => format!("{full}::{rest}"),
            None => path,
        }
    });
    let mut resolved: Vec<String> = resolved.collect();
    resolved.sort();
    resolved.dedup();
    resolved
}

#[derive(Default)]
struct Mentioned {
    imports: HashMap<String, String>,
    paths: Vec<String>,
}

impl Mentioned {
    fn import(&mut self, tree: &UseTree, prefix: &str) {
        let (name, path) = match tree {
            UseTree::Path(it) => return self.import(&it.tree, &join(prefix, &it.ident)),
            UseTree::Group(it) => return it.items.iter().for_each(|it| self.import(it, prefix)),
            UseTree::Glob(_) => return self.paths.push(format!("{prefix}::*")),
            UseTree::Rename(it) => (it.rename.to_string(), join(prefix, &it.ident)),
            UseTree::Name(it) if it.ident == "self" => {
                let last = prefix.rsplit("::").next().unwrap_or_default();
                (last.to_owned(), prefix.to_owned())
            }
            UseTree::Name(it) => (it.ident.to_string(), join(prefix, &it.ident)),
        };
        self.paths.push(path.clone());
        self.imports.insert(name, path);
    }

    /// Paths among tokens that nobody has parsed: the inside of macros.
    fn read(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for tree in tokens {
            match tree {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.flush(&mut path);
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(it) if it.as_char() == ':' => colons += 1,
                TokenTree::Punct(it) if it.as_char() == '!' && !path.is_empty() => {
                    self.paths.push(format!("{}!", path.join("::")));
                    path.clear();
                }
                TokenTree::Group(group) => {
                    self.flush(&mut path);
                    self.read(group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => self.flush(&mut path),
            }
        }
        self.flush(&mut path);
    }

    fn flush(&mut self, path: &mut Vec<String>) {
        if !path.is_empty() {
            self.paths.push(path.join("::"));
            path.clear();
        }
    }
}

fn join(prefix: &str, ident: &proc_macro2::Ident) -> String {
    if prefix.is_empty() { ident.to_string() } else { format!("{prefix}::{ident}") }
}

fn written(path: &Path) -> String {
    let names: Vec<String> = path.segments.iter().map(|it| it.ident.to_string()).collect();
    names.join("::")
}

impl<'ast> Visit<'ast> for Mentioned {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(it) => &it.attrs,
            Item::Fn(it) => &it.attrs,
            _ => &Vec::new(),
        };
        let only_tests = attributes.iter().any(|it| {
            it.path().is_ident("cfg") && it.parse_args::<Path>().is_ok_and(|it| it.is_ident("test"))
        });
        if !only_tests {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, it: &'ast ItemUse) {
        self.import(&it.tree, "");
    }

    fn visit_path(&mut self, it: &'ast Path) {
        self.paths.push(written(it));
        visit::visit_path(self, it);
    }

    fn visit_macro(&mut self, it: &'ast Macro) {
        self.paths.push(format!("{}!", written(&it.path)));
        self.read(it.tokens.clone());
    }
}
