//! Where a name of a crate is defined: paths followed through imports and re-exports to a file.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Item, UseTree};

use crate::source::Source;

/// A re-export may lead to a re-export, and no further than this.
const HOPS: usize = 16;

/// A module, as the way from the root of its crate: the root is empty.
type Way = Vec<String>;

/// The modules of one crate and what each of them says.
#[derive(Default)]
pub(crate) struct Homes {
    modules: BTreeMap<Way, Module>,
}

#[derive(Default)]
struct Module {
    defined: BTreeSet<String>,
    /// Names it imports or re-exports, and the paths of each as they are written there: which of
    /// several holds depends on the platform.
    imported: BTreeMap<String, Vec<Way>>,
    /// Paths whose every name it imports.
    globs: Vec<Way>,
}

/// What a path leads to.
enum End {
    Module(Way),
    /// Something that this module defines.
    Item(Way),
    /// Something of another crate, which this one re-exports.
    Elsewhere,
}

/// The crate of a file, as its directory, and the way to the module that it is.
pub(crate) fn place(source: &Source) -> Option<(&str, Way)> {
    if !source.is_rust() || source.is_test() {
        return None;
    }
    let (name, file) = source.path.split_once("/src/")?;
    let file = file.strip_suffix(".rs")?;
    let root = matches!(file, "lib" | "main");
    let parts = file.split('/').filter(|_| !root).map(str::to_owned);
    Some((name, parts.collect()))
}

impl Homes {
    /// Reads the files of a crate.
    pub(crate) fn of_crate(name: &str, sources: &[Source]) -> Homes {
        let mut homes = Homes::default();
        for source in sources {
            let Some((_, way)) = place(source).filter(|it| it.0 == name) else { continue };
            let Ok(file) = syn::parse_file(&source.text) else { continue };
            // A directory is a module, whether or not the file of its name is among the sources.
            for depth in 0..way.len() {
                homes.modules.entry(way.iter().take(depth).cloned().collect()).or_default();
            }
            let module = homes.modules.entry(way).or_default();
            file.items.iter().for_each(|it| module.read(it));
        }
        homes
    }

    /// The modules that define what this path names when it is written in that module; the module
    /// itself, where the path names one. None, where it is not of this crate.
    pub(crate) fn find(&self, from: &[String], path: &str) -> Vec<Way> {
        let path = path.trim_end_matches('!').trim_end_matches("::*");
        let path: Way = path.split("::").map(str::to_owned).collect();
        // `pub(crate)` and `pub(super)` name nothing.
        if path.iter().all(|it| matches!(it.as_str(), "crate" | "self" | "super")) {
            return Vec::new();
        }
        let ends = self.follow(from, &path, HOPS).into_iter();
        let ways = ends.filter_map(|it| match it {
            End::Module(way) | End::Item(way) => Some(way),
            End::Elsewhere => None,
        });
        ways.collect()
    }

    fn follow(&self, from: &[String], path: &[String], hops: usize) -> Vec<End> {
        let (Some((first, rest)), Some(hops)) = (path.split_first(), hops.checked_sub(1)) else {
            return Vec::new();
        };
        let begun = match first.as_str() {
            "crate" => vec![End::Module(Way::new())],
            "self" => vec![End::Module(from.to_vec())],
            "super" => above(from),
            _ => self.step(from, first, hops),
        };
        begun.into_iter().flat_map(|it| self.go_on(it, rest, hops)).collect()
    }

    /// The rest of a path, from where its beginning leads.
    fn go_on(&self, begun: End, rest: &[String], hops: usize) -> Vec<End> {
        let (End::Module(module), Some((name, rest))) = (&begun, rest.split_first()) else {
            return vec![begun];
        };
        let next = match name.as_str() {
            "super" => above(module),
            "self" => vec![End::Module(module.clone())],
            _ => self.step(module, name, hops),
        };
        if next.is_empty() {
            // What no item says, such as what a macro makes, is of the module that is named.
            return vec![End::Item(module.clone())];
        }
        next.into_iter().flat_map(|it| self.go_on(it, rest, hops)).collect()
    }

    /// One name further, from this module.
    fn step(&self, module: &[String], name: &str, hops: usize) -> Vec<End> {
        let Some(said) = self.modules.get(module) else { return Vec::new() };
        let below: Way = module.iter().cloned().chain([name.to_owned()]).collect();
        if said.defined.contains(name) {
            return vec![End::Item(module.to_vec())];
        }
        if self.modules.contains_key(&below) {
            return vec![End::Module(below)];
        }
        if let Some(paths) = said.imported.get(name) {
            let imported = |path: &Way| match self.follow(module, path, hops) {
                ends if ends.is_empty() => vec![End::Elsewhere],
                ends => ends,
            };
            return paths.iter().flat_map(imported).collect();
        }
        let Some(hops) = hops.checked_sub(1) else { return Vec::new() };
        let globs = said.globs.iter().flat_map(|it| self.follow(module, it, hops));
        let named = globs.flat_map(|it| match it {
            End::Module(of) if of != module => self.step(&of, name, hops),
            End::Module(_) | End::Item(_) | End::Elsewhere => Vec::new(),
        });
        named.collect()
    }
}

/// The module that this one is part of.
fn above(module: &[String]) -> Vec<End> {
    module.split_last().map(|it| End::Module(it.1.to_vec())).into_iter().collect()
}

impl Module {
    fn read(&mut self, item: &Item) {
        let name = match item {
            Item::Const(it) => Some(&it.ident),
            Item::Enum(it) => Some(&it.ident),
            Item::Fn(it) => Some(&it.sig.ident),
            Item::Macro(it) => it.ident.as_ref(),
            Item::Mod(it) => it.content.as_ref().map(|_| &it.ident),
            Item::Static(it) => Some(&it.ident),
            Item::Struct(it) => Some(&it.ident),
            Item::Trait(it) => Some(&it.ident),
            Item::TraitAlias(it) => Some(&it.ident),
            Item::Type(it) => Some(&it.ident),
            Item::Union(it) => Some(&it.ident),
            Item::Use(it) => return self.import(&it.tree, &Way::new()),
            _ => None,
        };
        self.defined.extend(name.map(ToString::to_string));
    }

    fn import(&mut self, tree: &UseTree, before: &Way) {
        let with = |name: String| before.iter().cloned().chain([name]).collect::<Way>();
        match tree {
            UseTree::Path(it) => self.import(&it.tree, &with(it.ident.to_string())),
            UseTree::Group(it) => it.items.iter().for_each(|it| self.import(it, before)),
            UseTree::Name(it) if it.ident == "self" => {
                if let Some(name) = before.last() {
                    self.imported.entry(name.clone()).or_default().push(before.clone());
                }
            }
            UseTree::Name(it) => {
                let path = with(it.ident.to_string());
                self.imported.entry(it.ident.to_string()).or_default().push(path);
            }
            UseTree::Rename(it) if it.rename == "_" => {}
            UseTree::Rename(it) => {
                let path = with(it.ident.to_string());
                self.imported.entry(it.rename.to_string()).or_default().push(path);
            }
            UseTree::Glob(_) => self.globs.push(before.clone()),
        }
    }
}
