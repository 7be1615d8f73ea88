//! The pages of the book: each is in its list of contents, begins with what one can do after reading it, and has no
//! dead link.

use std::collections::BTreeSet;

use crate::source::Source;

/// The list of contents.
const CONTENTS: &str = "docs/SUMMARY.md";

/// The words that a page begins with, after its title.
const OPENING: &str = "After this page ";

/// Pages that are in no list, list what is not there, or begin otherwise.
pub fn contents(pages: &[&Source]) -> Vec<String> {
    let Some(list) = pages.iter().find(|it| it.path == CONTENTS) else {
        return vec![format!("{CONTENTS}: there is no list of contents")];
    };
    let listed: BTreeSet<String> = links(&list.text).map(|(_, to)| format!("docs/{to}")).collect();
    let mut wrong = Vec::new();
    for page in pages.iter().filter(|it| it.path.starts_with("docs/") && it.path != CONTENTS) {
        if !listed.contains(&page.path) {
            wrong.push(format!("{}: it is not in {CONTENTS}", page.path));
        }
        let opening = page.text.lines().skip(1).find(|it| !it.is_empty());
        if !opening.is_some_and(|it| it.starts_with(OPENING)) {
            wrong.push(format!("{}: it does not begin with `{OPENING}`", page.path));
        }
    }
    wrong
}

/// Links that lead to no file, to no heading or, from a page of the book, out of it. `is_there` knows the files of the repository.
pub fn dead_links(pages: &[&Source], is_there: impl Fn(&str) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for page in pages {
        for (line, to) in links(&page.text) {
            if to.contains("://") || to.starts_with("mailto:") {
                continue;
            }
            let (file, heading) = to.split_once('#').unwrap_or((to, ""));
            let target = match file {
                "" => page.path.clone(),
                file => beside(&page.path, file),
            };
            let known = pages.iter().find(|it| it.path == target);
            let found = match known {
                Some(known) => heading.is_empty() || headings(&known.text).any(|it| it == heading),
                None => is_there(&target),
            };
            if !found {
                wrong.push(format!("{}:{line}: `{to}` leads nowhere", page.path));
            }
            if page.path.starts_with("docs/") && !target.starts_with("docs/") {
                wrong.push(format!("{}:{line}: `{to}` leads out of the book", page.path));
            }
        }
    }
    wrong
}

/// The links of a page outside of code, with their lines.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().flat_map(move |(number, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        let line = if in_code || fence { "" } else { line };
        line.split("](").skip(1).filter_map(move |rest| {
            let to = rest.split_once(')')?.0;
            (!to.contains(' ')).then_some((number + 1, to))
        })
    })
}

/// The headings of a page, as links name them.
fn headings(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| line.strip_prefix('#')).map(|line| {
        let line = line.trim_start_matches('#').trim().to_lowercase();
        let kept = line.chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
        kept.map(|it| if it == ' ' { '-' } else { it }).collect()
    })
}

/// A path beside another, without its dots.
fn beside(page: &str, file: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}
