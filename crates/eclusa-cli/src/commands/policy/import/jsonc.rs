//! JSON with comments and trailing commas, as agents' settings are written.

use serde_json::Value;

/// The value, or what is wrong.
pub(in crate::commands) fn read(text: &str) -> Result<Value, String> {
    serde_json::from_str(&bare(text)).map_err(|err| err.to_string())
}

/// The text without comments and trailing commas. Lines keep their numbers.
fn bare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut inside = false;
    while let Some(it) = chars.next() {
        match it {
            '\\' if inside => {
                out.push(it);
                out.extend(chars.next());
            }
            '"' => {
                inside = !inside;
                out.push(it);
            }
            '/' if !inside && chars.peek() == Some(&'/') => {
                while chars.next_if(|it| *it != '\n').is_some() {}
            }
            '/' if !inside && chars.peek() == Some(&'*') => {
                let mut last = ' ';
                for it in chars.by_ref().skip(1) {
                    if it == '\n' {
                        out.push(it);
                    }
                    if last == '*' && it == '/' {
                        break;
                    }
                    last = it;
                }
            }
            '}' | ']' if !inside => {
                let end = out.trim_end().len();
                if out.trim_end().ends_with(',') {
                    out.replace_range(end - 1..end, " ");
                }
                out.push(it);
            }
            it => out.push(it),
        }
    }
    out
}

#[cfg(test)]
mod tests;
