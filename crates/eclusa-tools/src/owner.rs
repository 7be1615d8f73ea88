//! What a session needs between its calls, and who holds it: its network, and the jobs that go on in it.
//!
//! [`SessionOwner`](session_owner::SessionOwner) is one type with two homes: a thread of a process that lives as long
//! as the session, or a process of its own, which the first call starts that leaves something running.

mod agent_process;
mod client;
mod held_job;
mod home;
mod job_end;
mod job_mount;
mod kept_run;
mod offer;
mod person_edits;
mod places;
mod records;
mod same_node;
mod session_log;
mod session_owner;
mod show;
mod wire;

pub use agent_process::{AgentProcess, unreaped_owners};
pub use client::{OwnerClient, OwnerError, OwnerProcess};
pub use home::{JobHome, run_owner};
pub use kept_run::run_of_job;
pub use records::{JobRecord, JobRecords, MAX_KEPT_OUTPUT};
pub use show::{refresh_jobs, show_to_jobs};

pub(crate) use held_job::{HeldJob, HeldRun, OutputSlot, shown};
pub(crate) use home::{OwnerHere, start_owner};
pub(crate) use kept_run::keep_stamps;
pub(crate) use offer::{forget_offer, offer_of_job, offered_paths};
pub(crate) use places::{all_sessions, sweep_sessions};
pub(crate) use show::heal_views;
pub(crate) use wire::JobAbout;
