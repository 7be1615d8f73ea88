//! The table of crates and rooms in ARCHITECTURE.md, made from cargo's view of the workspace and from the first sentence
//! of each crate and module.

use std::{collections::BTreeMap, path::Path};

use crate::{direction::Package, source::Source};

/// The crate whose every module is a room; of the others only modules of several files are.
const LIBRARY: &str = "eclusa";

/// What stands between these lines of a page is made from the code.
const BEGIN: &str = "<!-- made by scripts/pages from the code: crates -->";
const END: &str = "<!-- until here -->";

/// The page with the table in it.
pub fn with_table(page: &str, table: &str) -> Result<String, String> {
    let (before, rest) = page.split_once(BEGIN).ok_or(format!("there is no line `{BEGIN}`"))?;
    let (_, after) = rest.split_once(END).ok_or(format!("there is no line `{END}`"))?;
    Ok(format!("{before}{BEGIN}\n\n{table}\n{END}{after}"))
}

/// The table: those that know nobody first, each below all that it knows.
pub fn table(packages: &[Package], sources: &[Source], root: &Path) -> Result<String, String> {
    let mut floors: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in packages {
        for package in packages {
            let below = package.knows();
            let below = below.iter().filter_map(|it| floors.get(it.as_str()));
            let floor = below.max().map_or(0, |it| it + 1);
            floors.insert(&package.name, floor);
        }
    }
    let mut sorted: Vec<&Package> = packages.iter().collect();
    sorted.sort_by_key(|it| {
        let home = it.home(root).unwrap_or_default();
        (!home.starts_with("crates/"), floors.get(it.name.as_str()), it.name.clone())
    });
    let mut text = String::from("| crate | what it is | knows |\n|---|---|---|\n");
    for package in &sorted {
        let home = package.home(root).ok_or("a crate outside of the repository")?;
        let said = said(package, sources, root)?;
        let knows: Vec<String> = package.knows().into_iter().collect();
        let short = |it: &String| it.strip_prefix("eclusa-").unwrap_or("the library").to_owned();
        let knows: Vec<String> = knows.iter().map(short).collect();
        text += &format!("| `{home}` | {said} | {} |\n", knows.join(", "));
    }
    text += "\n| room | what it is for |\n|---|---|\n";
    for package in sorted {
        let home = package.home(root).ok_or("a crate outside of the repository")?;
        let src = format!("{home}/src/");
        for source in sources.iter().filter(|it| is_room(&package.name, &src, it, sources)) {
            text += &format!("| `{}` | {} |\n", source.path, sentence(&source.text));
        }
    }
    Ok(text)
}

/// The first sentence of a crate; of one that is a handful of programs, what its manifest says.
fn said(package: &Package, sources: &[Source], root: &Path) -> Result<String, String> {
    let file = package.root_file(root);
    let source = sources.iter().find(|it| Some(&it.path) == file.as_ref());
    let said = source.map(|it| sentence(&it.text)).or_else(|| package.description.clone());
    said.ok_or(format!("nothing says what `{}` is", package.name))
}

/// True for a module at the top of a crate that deserves a row.
fn is_room(name: &str, src: &str, source: &Source, sources: &[Source]) -> bool {
    let Some(stem) = source.path.strip_prefix(src).and_then(|it| it.strip_suffix(".rs")) else {
        return false;
    };
    if stem.contains('/') || matches!(stem, "lib" | "main" | "tests") {
        return false;
    }
    let inside = format!("{src}{stem}/");
    let is_part = |it: &Source| it.path.starts_with(&inside) && it.is_rust() && !it.is_test();
    name == LIBRARY || (src.starts_with("crates/") && sources.iter().any(is_part))
}

/// The first sentence of the comment at the head of a file, in one line that a table can hold.
pub fn sentence(text: &str) -> String {
    let head = text.lines().map_while(|it| it.strip_prefix("//!")).map(str::trim);
    let paragraph: Vec<&str> = head.take_while(|it| !it.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let first = paragraph.split_once(". ").map_or(paragraph.as_str(), |it| it.0);
    first.trim_end_matches('.').replace('|', "\\|")
}
