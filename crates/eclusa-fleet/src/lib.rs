//! One policy for many machines: documents that somebody signed who is not there, and what a machine takes of them.
//!
//! A document is a [signed note](https://c2sp.org/signed-note) over a short text, and a payload that the text names by
//! its digest. Whoever carries documents (a web server, a disk, a post) can withhold them and can change nothing.
//! Everything here is a function of bytes and a time: no file is read, no clock and no network.

mod anchor;
mod apply;
mod author;
mod bundle;
mod digest;
mod document;
mod error;
pub mod export;
pub mod inbox;
mod invite;
mod job_token;
mod key;
mod kind;
mod machine_key;
mod machine_state;
mod membership;
pub mod mirror;
mod note;
mod page_statement;
mod people;
mod person_request;
mod policy;
mod request;
mod rollout;
mod root;
pub mod seal;
mod seal_check;
pub mod seal_proof;
pub mod shipment;
mod shipping;
mod time;
pub mod wire;
mod witness;

pub use anchor::FleetAnchor;
pub use apply::{AskedQuestion, FleetOrder, FleetVote};
pub use author::{Author, Rotation};
pub use bundle::DocumentBundle;
pub use digest::Digest;
pub use document::{Heading, SignedDocument, Verified};
pub use error::FleetError;
pub use invite::{EnrolmentCode, Invite, PERSON};
pub use job_token::{IssuerKey, JobEnrolment, JobIdentity, JobToken};
pub use key::{PublicKey, SigningKey};
pub use kind::{DocumentKind, SigningRole};
pub use machine_key::{MachineKey, MachinePublicKey};
pub use machine_state::{DEFAULT_OFFLINE, MachineState, RefusedSeal, ShippedStore};
pub use membership::{Membership, TakenDocuments};
pub use note::SignedNote;
pub use page_statement::{join_statement, sign_in_statement};
pub use people::{FleetKey, FleetPerson, PeoplePayload};
pub use person_request::PersonAuthor;
pub use policy::{PolicyFile, PolicyPayload};
pub use request::{MAX_CLOCK_OFF, RequestAuthor, RequestLine};
pub use rollout::rollout_place;
pub use root::{FleetRoot, RoleKeys};
pub use shipping::{MAX_SHIPPED, RequestFailure, ShipStep, Shipper, TrailWire};
pub use time::{parse_time, time_text};
pub use witness::{SealWitness, Witnessed};

#[cfg(test)]
mod tests;
