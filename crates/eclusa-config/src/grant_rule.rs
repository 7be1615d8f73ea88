//! A grant as a rule in `eclusa.toml`: what "always" writes, and what a person is shown before.

use eclusa::Grant;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, value};

/// The rule that a grant would be kept as, to be shown before it is.
pub fn rule_text(grant: &Grant) -> String {
    let mut rules = ArrayOfTables::new();
    rules.push(table(grant));
    let mut document = DocumentMut::new();
    document.insert("rules", Item::ArrayOfTables(rules));
    document.to_string().trim().to_owned()
}

fn table(grant: &Grant) -> Table {
    let mut table = Table::new();
    table.insert("tool", value(grant.tool.as_str()));
    table.insert("decision", value("allow"));
    let scope = grant.scope.iter();
    for (key, all) in
        scope.flat_map(|it| [("command", &it.commands), ("path", &it.paths), ("domain", &it.hosts)])
    {
        match all.as_slice() {
            [] => {}
            [only] => {
                table.insert(key, value(only.as_str()));
            }
            all => {
                table.insert(key, value(all.iter().collect::<Array>()));
            }
        }
    }
    table.insert("reason", value("a person answered always"));
    table
}

/// The text of a file with one more rule at the end of its rules. The error completes a sentence
/// that begins with the file's name.
pub fn with_rule(text: &str, grant: &Grant) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|err| format!("is not TOML: {err}"))?;
    let rules = document.entry("rules").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let rules = rules
        .as_array_of_tables_mut()
        .ok_or("writes its rules as a list in brackets, to which none can be added here")?;
    rules.push(table(grant));
    Ok(document.to_string())
}

#[cfg(test)]
mod tests;
