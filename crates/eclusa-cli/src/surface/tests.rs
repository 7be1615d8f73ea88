//! The page about configuration says what does not hold where, as the program has it.

use std::{fmt::Write as _, fs};

use super::{Setting, Surface};

#[test]
fn the_page_says_where_a_setting_does_not_hold() {
    let mut table = "| setting | not in | because |\n|---|---|---|\n".to_owned();
    for setting in Setting::ALL {
        let mut lacking: Vec<(&str, Vec<&str>)> = Vec::new();
        for surface in Surface::ALL {
            let Some(why) = surface.lacks(*setting) else { continue };
            match lacking.iter_mut().find(|it| it.0 == why) {
                Some((_, surfaces)) => surfaces.push(surface.name()),
                None => lacking.push((why, vec![surface.name()])),
            }
        }
        for (why, surfaces) in lacking {
            let (name, surfaces) = (setting.name(), surfaces.join("`, `"));
            writeln!(table, "| {name} | `{surfaces}` | {why} |").unwrap();
        }
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains(&table), "docs/configuration.md has another table than\n\n{table}");
}
