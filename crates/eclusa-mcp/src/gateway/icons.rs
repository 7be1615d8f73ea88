//! What clients get of a server's icons and remarks for programs (`_meta`).
//!
//! An icon at an address is fetched by the client, with whatever the address says: a server that
//! reaches nobody could tell the world what it has read. So an address is passed on only if the
//! server may reach that host itself; a picture that is written out always is.

use eclusa::settings::{Endpoint, ServerSettings};
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
mod tests;
