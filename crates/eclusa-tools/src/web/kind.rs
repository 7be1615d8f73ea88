//! What a server says that its answer is.

/// What an answer is, judged by its content type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A page, which is made readable.
    Html,
    /// Other text, which is shown as it is.
    Text,
    /// Neither, which is described and not read.
    Binary,
    /// The server does not say; the first bytes tell.
    Unsaid,
}

impl Kind {
    /// Reads the value of a `Content-Type` header.
    pub fn of(content_type: Option<&str>) -> Kind {
        let Some(written) = content_type else { return Kind::Unsaid };
        let essence = written.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let (kind, sub) = match essence.split_once('/') {
            Some(parts) => parts,
            None => return Kind::Unsaid,
        };
        match (kind, sub) {
            ("text", "html") | ("application", "xhtml+xml") => Kind::Html,
            ("text", _) => Kind::Text,
            (_, sub) if sub.ends_with("+json") || sub.ends_with("+xml") => Kind::Text,
            (
                "application",
                "json"
                | "xml"
                | "javascript"
                | "ecmascript"
                | "x-javascript"
                | "yaml"
                | "x-yaml"
                | "toml"
                | "graphql"
                | "sql"
                | "x-sh"
                | "x-ndjson"
                | "ndjson"
                | "jsonl"
                | "rtf"
                | "x-www-form-urlencoded"
                | "x-tex"
                | "x-httpd-php",
            ) => Kind::Text,
            // Servers say this of anything that they do not know.
            ("application", "octet-stream") => Kind::Unsaid,
            _ => Kind::Binary,
        }
    }
}
