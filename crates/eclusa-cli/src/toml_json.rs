//! TOML as a value of JSON, so that one reader serves files of both kinds.

use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item, TableLike};

/// The value, or what is wrong.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    let document: DocumentMut = text.parse().map_err(|err| format!("it is not TOML: {err}"))?;
    Ok(table(document.as_table()))
}

fn table(table: &dyn TableLike) -> Value {
    let fields = table.iter().map(|(name, it)| (name.to_owned(), item(it)));
    Value::Object(fields.collect::<Map<String, Value>>())
}

fn item(item: &Item) -> Value {
    match item {
        Item::Value(it) => value(it),
        Item::Table(it) => table(it),
        Item::ArrayOfTables(all) => all.iter().map(|it| table(it)).collect(),
        Item::None => Value::Null,
    }
}

/// One value. What JSON has no word for is text.
pub(crate) fn value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(it) => it.value().as_str().into(),
        toml_edit::Value::Integer(it) => (*it.value()).into(),
        toml_edit::Value::Float(it) => (*it.value()).into(),
        toml_edit::Value::Boolean(it) => (*it.value()).into(),
        toml_edit::Value::Datetime(it) => it.value().to_string().into(),
        toml_edit::Value::Array(all) => all.iter().map(self::value).collect(),
        toml_edit::Value::InlineTable(it) => table(it),
    }
}
