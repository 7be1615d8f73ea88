//! Signed notes (C2SP signed-note): a text, an empty line, and a line for each signature.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{FleetError, PublicKey, SigningKey, key::check_name};

/// The longest note that is read, in bytes.
const MAX_NOTE: usize = 64 << 10;

/// How many signatures are read.
const MAX_SIGNATURES: usize = 64;

/// A text and the signatures over it. Nothing in it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedNote {
    text: String,
    signatures: Vec<NoteSignature>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct NoteSignature {
    name: String,
    id: [u8; 4],
    bytes: Vec<u8>,
}

impl SignedNote {
    /// A text that nobody has signed yet. It ends with a line break.
    pub(crate) fn new(text: String) -> SignedNote {
        SignedNote { text, signatures: Vec::new() }
    }

    /// What is signed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Signs it. A key signs once.
    pub fn sign(&mut self, key: &SigningKey) {
        let public = key.public();
        if !self.is_signed_by(public) {
            let (name, id) = (public.name().to_owned(), public.id());
            self.signatures.push(NoteSignature { name, id, bytes: key.sign(&self.text) });
        }
    }

    /// Whether this key signed exactly this text.
    pub fn is_signed_by(&self, key: &PublicKey) -> bool {
        let mut of_key =
            self.signatures.iter().filter(|it| it.name == key.name() && it.id == key.id());
        of_key.any(|it| key.signed(&self.text, &it.bytes))
    }
}

impl fmt::Display for SignedNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        for it in &self.signatures {
            let mut whole = it.id.to_vec();
            whole.extend(&it.bytes);
            writeln!(f, "— {} {}", it.name, STANDARD.encode(whole))?;
        }
        Ok(())
    }
}

impl FromStr for SignedNote {
    type Err = FleetError;

    fn from_str(note: &str) -> Result<SignedNote, FleetError> {
        let wrong = |why: &str| FleetError::malformed(format!("this is not a signed note: {why}"));
        if note.len() > MAX_NOTE {
            return Err(wrong("it is too long"));
        }
        if note.chars().any(|it| it.is_ascii_control() && it != '\n') {
            return Err(wrong("it holds a control character"));
        }
        let (text, lines) =
            note.rsplit_once("\n\n").ok_or_else(|| wrong("no empty line is in it"))?;
        let lines = lines.strip_suffix('\n').ok_or_else(|| wrong("its last line does not end"))?;
        let mut signatures = Vec::new();
        for line in lines.split('\n') {
            let signature = signature(line).ok_or_else(|| wrong("a signature cannot be read"))?;
            signatures.push(signature);
            if signatures.len() > MAX_SIGNATURES {
                return Err(wrong("it has too many signatures"));
            }
        }
        Ok(SignedNote { text: format!("{text}\n"), signatures })
    }
}

fn signature(line: &str) -> Option<NoteSignature> {
    let (name, base64) = line.strip_prefix("— ")?.split_once(' ')?;
    check_name(name).ok()?;
    let whole = STANDARD.decode(base64).ok()?;
    let (id, bytes) = whole.split_first_chunk::<4>()?;
    Some(NoteSignature { name: name.to_owned(), id: *id, bytes: bytes.to_vec() })
}
