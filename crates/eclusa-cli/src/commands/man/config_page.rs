//! The manual page eclusa.toml(5), made from the schema of the configuration.

use eclusa_config::Config;
use serde_json::Value;

const HEAD: &str = r#".TH eclusa.toml 5
.SH NAME
eclusa.toml \- configuration of eclusa
.SH DESCRIPTION
Settings and rules, in TOML. Your own file is \fI~/.config/eclusa/eclusa.toml\fR; a project can have
one in its root, which may only add restrictions until you trust it with \fBeclusa config trust\fR;
\fI/etc/eclusa/eclusa.toml\fR is the administrator's. \fBeclusa config show\fR prints every value and
where it comes from, \fBeclusa config check\fR checks the files.
.SH KEYS
"#;

const FOOT: &str = r#".SH EXAMPLE
.nf
mode = "confirm\-sensitive"

[[rules]]
decision = "allow"
command = ["cargo test", "cargo fmt"]

[[rules]]
decision = "deny"
path = "migrations/**"
reason = "migrations are written by hand"
.fi
.SH SEE ALSO
eclusa(1), eclusa\-config(1), eclusa\-policy(1)
"#;

/// The whole page.
pub(super) fn render() -> String {
    let schema = Config::schema();
    let mut page = HEAD.to_owned();
    keys(&schema, &schema, "", 0, &mut page);
    page.push_str(FOOT);
    page
}

/// The keys of a table, each with what it means.
fn keys(root: &Value, table: &Value, prefix: &str, depth: usize, page: &mut String) {
    let table = resolved(root, table);
    let Some(fields) = table.get("properties").and_then(Value::as_object) else { return };
    for (name, field) in fields {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let inner = resolved(root, field);
        let text = |value: &Value| value.get("description").and_then(Value::as_str).map(escaped);
        let meaning = text(field).or_else(|| text(inner)).unwrap_or_default();
        page.push_str(&format!(".TP\n\\fB{}\\fR\n{meaning}\n", escaped(&path)));
        let is_table = inner.get("properties").is_some();
        if is_table && depth < 2 {
            keys(root, inner, &path, depth + 1, page);
        }
        if let Some(items) = inner.get("items").filter(|_| depth < 2) {
            keys(root, items, &format!("{path}[]"), depth + 1, page);
        }
    }
}

/// What a value of the schema stands for: itself, or what it refers to.
fn resolved<'a>(root: &'a Value, value: &'a Value) -> &'a Value {
    let choices = ["anyOf", "allOf", "oneOf"].iter().find_map(|it| value.get(*it)?.as_array());
    let first = choices.and_then(|it| it.iter().find(|it| it.get("$ref").is_some()));
    let value = first.unwrap_or(value);
    let target = value.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix('#'));
    target.and_then(|it| root.pointer(it)).unwrap_or(value)
}

/// A text that roff takes for nothing but itself.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    let guard = |line: &str| match line.starts_with(['.', '\'']) {
        true => format!("\\&{line}"),
        false => line.to_owned(),
    };
    text.lines().map(guard).collect::<Vec<_>>().join("\n")
}
