//! What git keeps in its files, read without running git: index, refs, objects, configuration, and
//! what is ignored.
//!
//! Repositories are strangers' files. Nothing here starts a program, follows a link to a file of
//! git's, or reads more than a bound; what is not understood is `None`, never a guess.

mod config;
mod directory;
mod ignored;
mod index;
mod linked;
mod objects;
mod presence;
mod refs;
mod sha1;
mod signature;
mod to_sign;

pub use config::{ConfigName, read_config_list, read_plain_config};
pub use directory::{common_directory, git_directories, git_directory, read_pointer, read_small};
pub use ignored::{Ignored, add_patterns};
pub use index::{GitIndex, IndexEntry, index_meaning, is_clean, is_tracked, read_index};
pub use linked::{LinkedRepository, is_in_git_directory, linked_repository};
pub use objects::{LooseObject, NewCommit, is_whole_object, loose_object, loose_object_id};
pub use presence::has_object;
pub use refs::{packed_refs, split_git_path};
pub use sha1::blob_id;
pub use signature::{Signable, unsigned_object};
pub use to_sign::ToSign;
