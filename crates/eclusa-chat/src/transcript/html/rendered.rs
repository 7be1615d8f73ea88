//! What a model writes, as HTML: headings, lists, tables, code, bold words. All of it is escaped first; links stay text.

/// Lists, headings and the like of one text.
pub(super) fn rendered(text: &str) -> String {
    let mut page = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let said = line.trim();
        if let Some(fence) = fence(said) {
            let code: Vec<&str> = lines.by_ref().take_while(|it| it.trim() != fence).collect();
            page.push_str(&format!("<pre><code>{}</code></pre>\n", escaped(&code.join("\n"))));
        } else if said.starts_with('|') && lines.peek().is_some_and(|it| is_rule(it)) {
            lines.next();
            page.push_str("<table><thead>");
            row(&mut page, "th", said);
            page.push_str("</thead><tbody>");
            while let Some(it) = lines.next_if(|it| it.trim().starts_with('|')) {
                row(&mut page, "td", it.trim());
            }
            page.push_str("</tbody></table>\n");
        } else if let Some(title) = heading(said) {
            page.push_str(&format!("<h3>{}</h3>\n", inline(title)));
        } else if let Some(first) = entry(said) {
            page.push_str(&format!("<ul><li>{}</li>", inline(first)));
            while let Some(it) = lines.next_if(|it| entry(it.trim()).is_some()) {
                page.push_str(&format!("<li>{}</li>", inline(entry(it.trim()).unwrap_or(it))));
            }
            page.push_str("</ul>\n");
        } else if !said.is_empty() {
            page.push_str(&format!("<p>{}", inline(said)));
            while let Some(it) = lines.next_if(|it| is_words(it.trim())) {
                page.push_str(&format!("<br>{}", inline(it.trim())));
            }
            page.push_str("</p>\n");
        }
    }
    page
}

/// The fence that a block of code begins with, which also ends it.
fn fence(line: &str) -> Option<String> {
    let sign = line.chars().next().filter(|it| matches!(it, '`' | '~'))?;
    let length = line.chars().take_while(|it| *it == sign).count();
    (length >= 3).then(|| sign.to_string().repeat(length))
}

/// The line below the head of a table.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|') && line.contains('-') && line.chars().all(|it| "|-: ".contains(it))
}

fn row(page: &mut String, cell: &str, line: &str) {
    page.push_str("<tr>");
    for it in line.trim_matches('|').split('|') {
        page.push_str(&format!("<{cell}>{}</{cell}>", inline(it.trim())));
    }
    page.push_str("</tr>");
}

fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    let depth = line.len() - title.len();
    title.strip_prefix(' ').filter(|_| (1..=6).contains(&depth))
}

fn entry(line: &str) -> Option<&str> {
    if let Some(said) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
        return Some(said);
    }
    // Its number is part of it: a list may begin anywhere.
    let digits = line.len() - line.trim_start_matches(|it: char| it.is_ascii_digit()).len();
    let is_numbered = line.get(digits..).is_some_and(|it| it.starts_with(". "));
    (digits > 0 && is_numbered).then_some(line)
}

/// A line that goes on with the words above it.
fn is_words(line: &str) -> bool {
    let begins = fence(line).is_some() || line.starts_with('|');
    !(line.is_empty() || begins || heading(line).is_some() || entry(line).is_some())
}

/// Code and bold words of a line.
fn inline(line: &str) -> String {
    let mut out = String::new();
    for (number, part) in line.split('`').enumerate() {
        // Behind an odd number of signs, of which another follows, it is code.
        let closed = number % 2 == 1 && line.split('`').count() > number + 1;
        match closed {
            true => out.push_str(&format!("<code>{}</code>", escaped(part))),
            false if number % 2 == 1 => out.push_str(&format!("`{}", bold(part))),
            false => out.push_str(&bold(part)),
        }
    }
    out
}

fn bold(text: &str) -> String {
    let parts: Vec<&str> = text.split("**").collect();
    let mut out = String::new();
    for (number, part) in parts.iter().enumerate() {
        let is_open = number % 2 == 1;
        match is_open && parts.len() > number + 1 {
            true => out.push_str(&format!("<b>{}</b>", escaped(part))),
            false if is_open => out.push_str(&format!("**{}", escaped(part))),
            false => out.push_str(&escaped(part)),
        }
    }
    out
}

/// Text that is no markup.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
