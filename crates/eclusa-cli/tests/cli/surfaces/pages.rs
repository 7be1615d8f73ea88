//! What holds where, as the page of the workshop says it: made from the table and compared with it.

use std::path::Path;

use super::{Setting, Surface};

const BEGIN: &str = "<!-- made from the tests: what holds where -->\n";
const END: &str = "<!-- until here -->\n";

/// The cells of the table that are empty, put together by their reasons.
fn page() -> String {
    let mut rows: Vec<(&str, Vec<&str>, Vec<&str>)> = Vec::new();
    for setting in Setting::ALL.iter().copied() {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for surface in Surface::ALL {
            let Some(reason) = surface.lacks(setting) else { continue };
            match reasons.iter_mut().find(|it| it.0 == reason) {
                Some((_, surfaces)) => surfaces.push(surface.name()),
                None => reasons.push((reason, vec![surface.name()])),
            }
        }
        for (reason, surfaces) in reasons {
            match rows.iter_mut().find(|it| it.0 == reason && it.1 == surfaces) {
                Some((_, _, settings)) => settings.push(setting.name()),
                None => rows.push((reason, surfaces, vec![setting.name()])),
            }
        }
    }
    let mut text = "| at | does not apply | because |\n|---|---|---|\n".to_owned();
    for (reason, surfaces, settings) in rows {
        let lacking: Vec<&str> =
            Surface::ALL.iter().map(|it| it.name()).filter(|it| !surfaces.contains(it)).collect();
        let surfaces = match lacking.len() < surfaces.len() {
            true => format!("all but {}", lacking.join(", ")),
            false => surfaces.join(", "),
        };
        text.push_str(&format!("| {surfaces} | {} | {reason} |\n", settings.join(", ")));
    }
    text
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the page is written where a person asks for that")]
fn the_page_says_what_holds_where() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workshop/where.md");
    let docs = std::fs::read_to_string(&file).unwrap();
    let (before, rest) = docs.split_once(BEGIN).unwrap();
    let (kept, after) = rest.split_once(END).unwrap();
    let made = page();
    if std::env::var_os("ECLUSA_WRITE_GOLDENS").is_some() {
        std::fs::write(&file, format!("{before}{BEGIN}{made}{END}{after}")).unwrap();
        return;
    }
    assert!(
        kept == made,
        "workshop/where.md says\n{kept}\nand it is\n{made}\nECLUSA_WRITE_GOLDENS=1 writes it"
    );
}
