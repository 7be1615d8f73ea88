//! What an approval of changes binds to.

use std::path::Path;

use super::{Change, Changes, Node};
use crate::{Hash, HashBuilder};

/// Says which encoding was hashed, so that another one never gives the same digest.
const FORM: &[u8] = b"eclusa changes 1\0";

impl Changes {
    /// The digest of everything that the changes say: paths, kinds, modes, contents before and
    /// after, targets of links, moves. Where a content lies does not matter, and neither does how
    /// a file was recognised.
    pub fn digest(&self) -> Hash {
        let mut form = Form(HashBuilder::default());
        form.0.add(FORM);
        form.number(self.len() as u64);
        for change in self {
            form.change(change);
        }
        form.0.finish()
    }
}

/// Every part has a fixed length or says how long it is, so different changes have different
/// forms.
struct Form(HashBuilder);

impl Form {
    fn change(&mut self, change: &Change) {
        self.path(&change.path);
        match &change.from {
            None => self.0.add(&[0]),
            Some(from) => {
                self.0.add(&[1]);
                self.path(from);
            }
        }
        self.node(change.before.as_ref());
        self.node(change.after.as_ref());
    }

    fn node(&mut self, node: Option<&Node>) {
        match node {
            None => self.0.add(&[0]),
            Some(Node::File(file)) => {
                self.0.add(&[1]);
                self.0.add(&file.digest.0);
                self.number(file.size);
                self.number(file.mode.into());
            }
            Some(Node::Directory { mode }) => {
                self.0.add(&[2]);
                self.number((*mode).into());
            }
            Some(Node::Link { target }) => {
                self.0.add(&[3]);
                self.path(target);
            }
        }
    }

    fn path(&mut self, path: &Path) {
        let bytes = path.as_os_str().as_encoded_bytes();
        self.number(bytes.len() as u64);
        self.0.add(bytes);
    }

    fn number(&mut self, number: u64) {
        self.0.add(&number.to_be_bytes());
    }
}
