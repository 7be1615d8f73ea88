//! What is to be signed: the commits and tags of a run that nobody signed, to be known again when they are made a
//! second time. A second time their dates are others, and the names of those among them that they follow.

use std::{collections::BTreeSet, io::Read as _, path::Path};

use flate2::read::ZlibDecoder;

use crate::{LooseObject, Signable, sha1::sha1, unsigned_object};

/// How much of an object is read.
const MAX_READ: u64 = 64 << 10;

/// Commits and tags without a signature, and which of them have one by now.
#[derive(Debug, Clone, Default)]
pub struct ToSign {
    objects: Vec<(LooseObject, SignableText)>,
    signed: BTreeSet<String>,
}

/// The text of a commit or a tag, apart from dates.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SignableText {
    kind: Signable,
    /// The objects that it names beside its tree: what a commit follows, what a tag stands for.
    links: Vec<String>,
    /// Its header, in which these names are left out: where a line stands decides what git takes it for.
    head: Vec<String>,
    body: String,
}

impl ToSign {
    /// What is unsigned among these objects, each with its file.
    #[must_use]
    pub fn unsigned<F: AsRef<[u8]>>(objects: impl IntoIterator<Item = (LooseObject, F)>) -> ToSign {
        let read = |(id, file): (LooseObject, F)| {
            unsigned_object(file.as_ref())?;
            let mut text = Vec::new();
            ZlibDecoder::new(file.as_ref()).take(MAX_READ + 1).read_to_end(&mut text).ok()?;
            // Of what is longer only the beginning would be known again.
            if text.len() as u64 > MAX_READ {
                return None;
            }
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

    /// Which kinds there are.
    pub fn kinds(&self) -> impl Iterator<Item = Signable> {
        [Signable::Tag, Signable::Commit].into_iter().filter(move |it| self.count(*it) > 0)
    }

    /// The directories of git that they lie in.
    pub fn places(&self) -> impl Iterator<Item = &Path> {
        let places: BTreeSet<&Path> = self.objects.iter().map(|it| &*it.0.place).collect();
        places.into_iter()
    }

    /// What each is, in whose name, and what its message begins with: tags first, which say the most.
    pub fn described(&self) -> impl Iterator<Item = String> {
        let of = |kind| self.objects.iter().filter(move |it| it.1.kind == kind);
        of(Signable::Tag).chain(of(Signable::Commit)).map(|it| it.1.describe())
    }

    /// Whether this text is one of them: the same but for dates, and for the names of those among
    /// them that were signed since.
    #[must_use]
    pub fn covers(&self, text: &[u8]) -> bool {
        let Some(text) = SignableText::parse(text) else { return false };
        self.objects.iter().any(|(_, known)| self.is_again(known, &text))
    }

    fn is_again(&self, known: &SignableText, text: &SignableText) -> bool {
        let is_new = |id: &String| self.objects.iter().any(|it| it.0.id == *id);
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
        let names = head.split('\n').filter_map(|it| it.strip_prefix(link));
        let links = names.map(str::to_owned).collect();
        let without_name = |it| if str::starts_with(it, link) { link } else { without_date(it) };
        let head = head.split('\n').map(without_name).map(str::to_owned).collect();
        Some(SignableText { kind, links, head, body: body.to_owned() })
    }

    fn describe(&self) -> String {
        let said = |name: &str| self.head.iter().find_map(|it| it.strip_prefix(name));
        let subject = self.body.lines().find(|it| !it.trim().is_empty()).unwrap_or_default();
        match self.kind {
            Signable::Commit => {
                let by = said("committer ").unwrap_or("nobody");
                format!("commit of {by}: {subject}")
            }
            Signable::Tag => {
                let (kind, by) = (said("type ").unwrap_or("nothing"), said("tagger "));
                let (name, by) = (said("tag ").unwrap_or_default(), by.unwrap_or("nobody"));
                format!("tag {name} for a {kind}, of {by}: {subject}")
            }
        }
    }
}

/// `author Ana <ana@example.org> 1767600000 +0000` without its date. With anything else behind the name it stays whole.
fn without_date(line: &str) -> &str {
    let dated = ["author ", "committer ", "tagger "].iter().any(|it| line.starts_with(it));
    let is_date = |it: &str| it.bytes().all(|it| matches!(it, b'0'..=b'9' | b' ' | b'+' | b'-'));
    let end = line.rfind('>').filter(|_| dated).map_or(line.len(), |it| it + 1);
    match line.split_at_checked(end) {
        Some((named, date)) if is_date(date) => named,
        _ => line,
    }
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

#[cfg(test)]
mod tests;
