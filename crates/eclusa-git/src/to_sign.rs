//! What is to be signed: the commits and tags of a run that nobody signed, to be known again when they are made a
//! second time. A second time their dates are others, and the names of those among them that they follow.

use std::{collections::BTreeSet, io::Read as _};

use flate2::read::ZlibDecoder;

use crate::{Signable, sha1::sha1, unsigned_object};

/// How much of an object is read.
const MAX_READ: u64 = 64 << 10;

/// Commits and tags without a signature, and which of them have one by now.
#[derive(Debug, Clone, Default)]
pub struct ToSign {
    objects: Vec<(String, SignableText)>,
    signed: BTreeSet<String>,
}

/// The text of a commit or a tag, apart from dates.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SignableText {
    kind: Signable,
    /// The objects that it names beside its tree: what a commit follows, what a tag stands for.
    links: Vec<String>,
    head: Vec<String>,
    body: String,
}

impl ToSign {
    /// What is unsigned among these objects, each by its name and its file.
    #[must_use]
    pub fn unsigned<F: AsRef<[u8]>>(objects: impl IntoIterator<Item = (String, F)>) -> ToSign {
        let read = |(id, file): (String, F)| {
            unsigned_object(file.as_ref())?;
            let mut text = Vec::new();
            ZlibDecoder::new(file.as_ref()).take(MAX_READ).read_to_end(&mut text).ok()?;
            let start = text.iter().position(|it| *it == 0)? + 1;
            Some((id, SignableText::parse(text.get(start..)?)?))
        };
        let objects = objects.into_iter().filter_map(read).collect();
        ToSign { objects, signed: BTreeSet::new() }
    }

    /// Whether there is nothing to sign.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// How many commits and tags there are.
    #[must_use]
    pub fn count(&self, kind: Signable) -> usize {
        self.objects.iter().filter(|it| it.1.kind == kind).count()
    }

    /// Without those of a kind.
    #[must_use]
    pub fn without(mut self, kind: Signable) -> ToSign {
        self.objects.retain(|it| it.1.kind != kind);
        self
    }

    /// The first line of each message.
    pub fn subjects(&self) -> impl Iterator<Item = &str> {
        self.objects.iter().map(|it| it.1.body.lines().next().unwrap_or_default())
    }

    /// Whether this text is one of them: the same but for dates, and for the names of those among
    /// them that were signed since.
    #[must_use]
    pub fn covers(&self, text: &[u8]) -> bool {
        let Some(text) = SignableText::parse(text) else { return false };
        self.objects.iter().any(|(_, known)| self.is_again(known, &text))
    }

    fn is_again(&self, known: &SignableText, text: &SignableText) -> bool {
        let is_new = |id: &String| self.objects.iter().any(|it| it.0 == *id);
        let follows = |(old, new): (&String, &String)| match is_new(old) {
            true => self.signed.contains(new),
            false => old == new,
        };
        known.links.len() == text.links.len()
            && known.links.iter().zip(&text.links).all(follows)
            && (known.kind, &known.head, &known.body) == (text.kind, &text.head, &text.body)
    }

    /// Keeps that this text has got this signature, so that others may follow it.
    pub fn signed(&mut self, text: &[u8], signature: &[u8]) {
        if let Some(id) = signed_id(text, signature) {
            self.signed.insert(id);
        }
    }
}

impl SignableText {
    fn parse(text: &[u8]) -> Option<SignableText> {
        let text = str::from_utf8(text).ok()?;
        let (head, body) = text.split_once("\n\n")?;
        let kind = match head.split_once(' ')?.0 {
            "tree" => Signable::Commit,
            "object" => Signable::Tag,
            _ => return None,
        };
        let link = if kind == Signable::Commit { "parent " } else { "object " };
        let (links, head): (Vec<&str>, Vec<&str>) =
            head.lines().partition(|it| it.starts_with(link));
        let links = links.iter().filter_map(|it| it.strip_prefix(link)).map(str::to_owned);
        let head = head.into_iter().map(without_date).map(str::to_owned);
        let (links, head, body) = (links.collect(), head.collect(), body.to_owned());
        Some(SignableText { kind, links, head, body })
    }
}

/// `author Ana <ana@example.org> 1767600000 +0000` without its date.
fn without_date(line: &str) -> &str {
    let dated = ["author ", "committer ", "tagger "].iter().any(|it| line.starts_with(it));
    let end = line.rfind('>').filter(|_| dated).map_or(line.len(), |it| it + 1);
    line.get(..end).unwrap_or(line)
}

/// The name of what git makes of a text and its signature.
fn signed_id(text: &[u8], signature: &[u8]) -> Option<String> {
    let text = str::from_utf8(text).ok()?;
    let signature = str::from_utf8(signature).ok()?.replace('\r', "");
    let (kind, whole) = if text.starts_with("tree ") {
        let (head, body) = text.split_once("\n\n")?;
        let lines: Vec<&str> = signature.trim_end_matches('\n').split('\n').collect();
        ("commit", format!("{head}\ngpgsig {}\n\n{body}", lines.join("\n ")))
    } else {
        ("tag", format!("{text}{signature}"))
    };
    let object = format!("{kind} {}\0{whole}", whole.len());
    Some(sha1(object.as_bytes()).iter().map(|it| format!("{it:02x}")).collect())
}
