//! A cell for one command: a plan says what it may reach, the kernel holds it to that, and what it
//! would do to the workspace is read back from an overlay before it is real.
//!
//! [`probe`] finds out what this machine can hold a command to. [`Plan`] says what a command may
//! reach. [`Cell::spawn`] starts it, or refuses if the machine can't hold it to the plan.
//!
//! ```
//! use eclusa_sandbox::{Cell, How, Plan, probe};
//!
//! let state = tempfile::tempdir()?;
//! let ground = probe(state.path());
//! let mut plan = Plan::bash("echo hello; touch /etc/new", "/");
//! plan.env.push(("PATH".into(), "/usr/bin:/bin".into()));
//! plan.may_lack = ground.missing();
//! let exit = Cell::spawn(&plan, &ground, |_bytes| {})?.wait()?;
//! assert!(exit.output.text().starts_with("hello\n"));
//! assert_eq!(exit.how, How::Code(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("eclusa-sandbox knows Linux on x86-64 only: see docs/sandbox.md");

mod caps;
mod cell;
mod child;
mod clone;
mod environment;
mod filter;
#[doc(hidden)]
pub mod forbid;
mod git;
mod ground;
mod init;
mod kernel;
pub mod notify;
mod output;
mod plan;
mod probe;
pub mod proxy;
mod recipe;
mod refusal;
pub mod scan;
mod secrets;
mod shelf;
mod step;
mod trap;

pub use caps::{Cap, Caps, delegated_group};
pub use cell::{Cancel, Cell, Ended, Exit, How, Pipes, Sent};
pub use environment::clean_environment;
pub use git::{Identity, git_environment, git_environment_of};
pub use ground::{Enforcement, Ground, Missing, Rung};
pub use output::Output;
pub use plan::{Hold, Keep, Limits, Plan, SYSTEM_ROOTS, Staging};
pub use probe::probe;
pub use refusal::{Refusal, refusals};
pub use secrets::{SECRET_NAMES, SECRET_PLACES, SYSTEM_SECRETS, is_secret_name, secrets};
pub use shelf::{Blank, Shelf};
pub use step::{CellError, Step};
pub use trap::{Trap, traps};

/// Where the listener of a cell with hosts is, on its own loopback interface.
pub const PROXY_PORT: u16 = 3128;
