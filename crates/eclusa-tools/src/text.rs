//! Text as it is in files: how it is encoded, how its lines end, and edits that change nothing
//! but what they were asked to.

mod edit;
mod encoding;
mod miss;
mod near;
mod newline;
mod show;

pub use edit::{Edit, EditError, EditFault, Edited, edit, edit_bytes};
pub use encoding::{Decoded, Encoding, Format, Undecodable, Unencodable, decode};
pub use miss::Miss;
pub use newline::Newline;
pub(crate) use {
    near::{Nearest, plain},
    show::{Side, listing, short, side_by_side},
};
