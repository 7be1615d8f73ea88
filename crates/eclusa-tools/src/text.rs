//! Text as it is in files: how it is encoded, how its lines end, and edits that change nothing
//! but what they were asked to. Also what is shown of files: pages of lines, and notebooks.

mod edit;
mod encoding;
mod file_kind;
mod newline;
mod not_found;
mod notebook;
mod page;
mod side_by_side;
mod similar;

pub use edit::{Edit, EditError, EditFault, Edited, edit, edit_bytes};
pub use encoding::{Decoded, Encoding, Format, Undecodable, Unencodable, decode};
pub use file_kind::{FileKind, HEAD, Image, file_kind};
pub use newline::Newline;
pub use not_found::TextNotFound;
pub use notebook::notebook;
pub use page::{TextPage, Window, page};
pub(crate) use {
    encoding::latin1_char,
    side_by_side::{Side, listing, short, side_by_side},
    similar::{Nearest, plain},
};
