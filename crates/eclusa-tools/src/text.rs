//! Text as it is in files: how it is encoded, how its lines end, and edits that change nothing
//! but what they were asked to. Also what is shown of files: pages of lines, and notebooks.

mod edit;
mod encoding;
mod look;
mod miss;
mod near;
mod newline;
mod notebook;
mod page;
mod show;

pub use edit::{Edit, EditError, EditFault, Edited, edit, edit_bytes};
pub use encoding::{Decoded, Encoding, Format, Undecodable, Unencodable, decode};
pub use look::{HEAD, Image, Look, look};
pub use miss::Miss;
pub use newline::Newline;
pub use notebook::notebook;
pub use page::{Page, Window, page};
pub(crate) use {
    encoding::latin1_char,
    near::{Nearest, plain},
    show::{Side, listing, short, side_by_side},
};
