//! What goes to a model besides text: pictures, sounds, and resources of other servers.

use std::{borrow::Cow, sync::Arc};

use crate::Redactor;

/// The most that one attachment may have, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// Something that goes to the model beside the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attachment {
    /// A picture.
    Image(Media),
    /// A sound.
    Audio(Media),
    /// What a server keeps under an address, with what is in it.
    Resource {
        /// The server's own address for it.
        uri: String,
        /// Its type, if known.
        media_type: Option<String>,
        /// What is in it.
        body: Body,
    },
    /// The same by address alone.
    Link {
        /// The server's own address for it.
        uri: String,
        /// What it is called.
        name: String,
        /// What it is, for the model.
        description: Option<String>,
        /// Its type, if known.
        media_type: Option<String>,
    },
}

/// A picture or a sound, as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// Its type, for example `image/png`.
    pub media_type: String,
    /// The file, byte for byte.
    pub bytes: Arc<[u8]>,
}

/// What is in a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Text.
    Text(String),
    /// Anything else.
    Bytes(Arc<[u8]>),
}

impl Attachment {
    /// Takes secrets out of its texts, and counts them.
    pub(crate) fn redact(&mut self, redactor: &Redactor) -> usize {
        let texts: Vec<&mut String> = match self {
            Attachment::Image(_) | Attachment::Audio(_) => return 0,
            Attachment::Resource { uri, body: Body::Text(text), .. } => vec![uri, text],
            Attachment::Resource { uri, .. } => vec![uri],
            Attachment::Link { uri, name, description, .. } => {
                [uri, name].into_iter().chain(description).collect()
            }
        };
        let mut count = 0;
        for text in texts {
            let (clean, found) = redactor.text(text);
            count += found;
            if let Cow::Owned(clean) = clean {
                *text = clean;
            }
        }
        count
    }

    /// True when it fits: its text like any output, its bytes within what clients take.
    pub(crate) fn fits(&self, text: usize) -> bool {
        match self {
            Attachment::Image(it) | Attachment::Audio(it) => it.bytes.len() <= MAX_BYTES,
            Attachment::Resource { body: Body::Text(it), .. } => it.len() <= text,
            Attachment::Resource { body: Body::Bytes(it), .. } => it.len() <= MAX_BYTES,
            Attachment::Link { .. } => true,
        }
    }
}
