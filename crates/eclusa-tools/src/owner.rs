//! What a session needs between its calls, and who holds it: its network, and the jobs that go on in it.
//!
//! [`SessionOwner`](session_owner::SessionOwner) is one type with two homes: a thread of a process that lives as long
//! as the session, or a process of its own, which the first call starts that leaves something running.

mod agent_process;
mod client;
mod held_job;
mod home;
mod job_mount;
mod places;
mod records;
mod session_owner;
mod show;
mod wire;

pub use agent_process::AgentProcess;
pub use client::{OwnerClient, OwnerError, OwnerProcess};
pub use home::{JobHome, run_owner};
pub use records::{JobRecord, JobRecords, MAX_KEPT_OUTPUT};
pub use show::show_to_jobs;

pub(crate) use held_job::{HeldJob, HeldRun, OutputSlot, keep_stamps, shown};
pub(crate) use home::{OwnerHere, start_owner};
pub(crate) use places::all_sessions;
pub(crate) use show::{heal_views, was_shown_anything};
pub(crate) use wire::JobAbout;
