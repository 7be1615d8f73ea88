//! The page where people answer pending approvals, read the log and see what agents did.
//!
//! It is a server of its own, with a port and sessions of its own: what an agent holds opens
//! nothing here. A cookie reads; an answer is signed by a key that a browser made when it was
//! paired, and that never leaves it ([`People`]). What the page can look at is given to it as
//! [`Workspaces`].

mod key_file;
mod notify;
mod page;
mod people;
mod proof;
mod server;
mod signers;
pub mod web;
mod workspaces;

pub use key_file::KeyFile;
pub use notify::{
    Announcement, NotificationText, OutgoingNotification, WebhookSecrets, test_message,
};
pub use page::headline;
pub use people::{KeyKind, People, PeopleError, Person, PersonKey};
pub use server::{ApprovalsPage, ServerLimits, serve};
pub use signers::KnownSigners;
pub use workspaces::{CallEffects, JobEntry, Suggestion, WorkspaceEntry, Workspaces};
