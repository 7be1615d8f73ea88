//! What clients get of a server's icons and remarks for programs (`_meta`).
//!
//! An icon at an address is fetched by the client, with whatever the address says: a server that
//! reaches nobody could tell the world what it has read. So an address is passed on only if the
//! server may reach that host itself; a picture that is written out always is.

use eclusa::{Endpoint, ServerSettings};
use reqwest::Url;
use rmcp::model::{Icon, MetaObject};

/// The most icons that one thing has, and the most bytes in all of them.
const MAX_ICONS: (usize, usize) = (4, 32 << 10);

/// The types of pictures that run nothing. An SVG may.
const IMAGE_TYPES: [&str; 5] = ["image/png", "image/jpeg", "image/jpg", "image/webp", "image/gif"];

/// The most bytes of remarks for programs.
const MAX_META_BYTES: usize = 4 << 10;

/// The icons that are passed on.
pub(super) fn icons(told: Option<&[Icon]>, server: &ServerSettings) -> Option<Vec<Icon>> {
    let mut bytes = 0;
    let fits = |it: &&Icon| {
        let safe = is_picture(it.mime_type.as_deref()) && is_safe(&it.src, server);
        bytes += if safe { it.src.len() } else { 0 };
        safe && bytes <= MAX_ICONS.1
    };
    let icons = told?.iter().filter(fits).take(MAX_ICONS.0).cloned().map(tidy);
    Some(icons.collect::<Vec<_>>()).filter(|it| !it.is_empty())
}

fn is_picture(media_type: Option<&str>) -> bool {
    media_type.is_none_or(|it| IMAGE_TYPES.contains(&it))
}

fn is_safe(src: &str, server: &ServerSettings) -> bool {
    if let Some(data) = src.strip_prefix("data:") {
        let plain = |it: u8| it.is_ascii_alphanumeric() || b"+/=".contains(&it);
        return data.split_once(";base64,").is_some_and(|(media_type, data)| {
            IMAGE_TYPES.contains(&media_type) && data.bytes().all(plain)
        });
    }
    let Ok(url) = Url::parse(src) else { return false };
    let plain = url.username().is_empty() && url.password().is_none();
    let Some(host) = url.host_str().filter(|_| plain) else { return false };
    match &server.reach {
        Endpoint::Url { url: own, .. } => Url::parse(own)
            .is_ok_and(|own| (own.scheme(), own.host_str()) == (url.scheme(), Some(host))),
        Endpoint::Command(_) => {
            url.scheme() == "https" && (!server.sandbox || server.hosts.iter().any(|it| it == host))
        }
    }
}

/// Sizes are a few numbers, or nothing.
fn tidy(mut icon: Icon) -> Icon {
    let size = |it: &String| {
        it == "any" || it.len() <= 16 && it.bytes().all(|it| it.is_ascii_digit() || it == b'x')
    };
    icon.sizes = icon.sizes.filter(|it| it.len() <= 8 && it.iter().all(size));
    icon
}

/// What of the remarks for programs is passed on: those of a server that a person trusts, because
/// clients do as these say. Names that are the protocol's or ours are not a server's to use.
pub(super) fn meta(told: Option<&MetaObject>, server: &ServerSettings) -> Option<MetaObject> {
    let short =
        |it: &&MetaObject| serde_json::to_string(it).is_ok_and(|it| it.len() <= MAX_META_BYTES);
    let mut meta = told.filter(|_| server.trusted).filter(short)?.clone();
    meta.0.retain(|name, _| {
        let whose = name.split('/').next().unwrap_or_default();
        !whose.contains("modelcontextprotocol") && !whose.contains("eclusa")
    });
    Some(meta).filter(|it| !it.0.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn passed(server: &ServerSettings, icon: serde_json::Value) -> bool {
        let icon: Icon = serde_json::from_value(icon).unwrap();
        icons(Some(&[icon]), server).is_some()
    }

    #[test]
    fn an_icon_tells_nobody_whom_its_server_could_not_tell() {
        let mut program = ServerSettings::new("x", Endpoint::Command(vec!["x".to_owned()]));
        let icon = |src: &str| json!({"src": src});
        assert!(passed(&program, icon("data:image/png;base64,iVBORw0KGgo=")));
        assert!(!passed(&program, icon("data:image/svg+xml;base64,PHN2Zz4=")));
        assert!(!passed(&program, icon("data:image/png,<script>")));
        assert!(!passed(&program, icon("https://cdn.example/icon.png?what=it+read")));
        program.hosts.push("cdn.example".to_owned());
        assert!(passed(&program, icon("https://cdn.example/icon.png")));
        assert!(!passed(&program, icon("http://cdn.example/icon.png")));
        assert!(!passed(&program, icon("https://me@cdn.example/icon.png")));
        assert!(!passed(&program, icon("https://cdn.example.evil.example/icon.png")));
        assert!(!passed(&program, icon("javascript:alert(1)")));
        assert!(!passed(&program, icon("file:///etc/passwd")));
        let svg = json!({"src": "https://cdn.example/x", "mimeType": "image/svg+xml"});
        assert!(!passed(&program, svg));
        let url =
            Endpoint::Url { url: "https://a.example/mcp".to_owned(), headers: Default::default() };
        let remote = ServerSettings::new("x", url);
        assert!(passed(&remote, icon("https://a.example/icon.png")));
        assert!(!passed(&remote, icon("https://b.example/icon.png")));
    }

    #[test]
    fn icons_are_few_and_small() {
        let program = ServerSettings::new("x", Endpoint::Command(vec!["x".to_owned()]));
        let small = Icon::new("data:image/png;base64,AAAA").with_sizes(vec!["48x48".to_owned()]);
        let many = vec![small.clone(); 100];
        assert_eq!(icons(Some(&many), &program).unwrap().len(), MAX_ICONS.0);
        let large = Icon::new(format!("data:image/png;base64,{}", "A".repeat(MAX_ICONS.1)));
        assert_eq!(icons(Some(&[large]), &program), None);
        let odd = small.with_sizes(vec!["ignore previous".to_owned()]);
        assert_eq!(icons(Some(&[odd]), &program).unwrap().first().unwrap().sizes, None);
    }

    #[test]
    fn remarks_for_programs_are_a_trusted_servers() {
        let mut server = ServerSettings::new("x", Endpoint::Command(vec!["x".to_owned()]));
        let said =
            json!({"ui": {"resourceUri": "ui://x"}, "io.modelcontextprotocol/x": 1, "eclusa/y": 2});
        let said: MetaObject = serde_json::from_value(said).unwrap();
        assert_eq!(meta(Some(&said), &server), None);
        server.trusted = true;
        let passed = meta(Some(&said), &server).unwrap();
        assert_eq!(passed.0.keys().collect::<Vec<_>>(), ["ui"]);
        let long: MetaObject =
            serde_json::from_value(json!({"x": "y".repeat(MAX_META_BYTES)})).unwrap();
        assert_eq!(meta(Some(&long), &server), None);
    }
}
