//! A sandbox for one command: a plan says what it may reach, the kernel holds it to that, and what it
//! would do to the workspace is read back from an overlay before it is real.
//!
//! [`probe`] finds out what this machine can hold a command to. [`Plan`] says what a command may
//! reach. [`Sandbox::spawn`] starts it, or refuses if the machine can't hold it to the plan.
//!
//! ```
//! use eclusa_sandbox::{Sandbox, How, Plan, probe};
//!
//! let state = tempfile::tempdir()?;
//! let capabilities = probe(state.path());
//! let mut plan = Plan::bash("echo hello; touch /etc/new", "/");
//! plan.env.push(("PATH".into(), "/usr/bin:/bin".into()));
//! plan.may_lack = capabilities.missing();
//! let exit = Sandbox::spawn(&plan, &capabilities, |_bytes| {})?.wait()?;
//! assert!(exit.output.text().starts_with("hello\n"));
//! assert_eq!(exit.how, How::Code(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("eclusa-sandbox knows Linux on x86-64 only: see docs/sandbox.md");

mod capabilities;
mod child;
mod child_spec;
mod clone;
mod environment;
mod filter;
mod git;
mod init;
mod kernel;
mod layer_pool;
pub mod notify;
mod output;
mod overlay_hazards;
mod plan;
mod probe;
pub mod proxy;
mod refusal;
mod resource_caps;
mod sandbox;
pub mod scan;
mod secrets;
mod shared_network;
mod step;
#[doc(hidden)]
pub mod test_support;

pub use capabilities::{Enforcement, HostCapabilities, Missing, StagingMethod};
pub use environment::clean_environment;
pub use git::{Identity, git_environment, git_environment_of, personal_git_settings};
pub use layer_pool::{Layer, LayerPool};
pub use output::Output;
pub use overlay_hazards::{OverlayHazard, overlay_hazards};
pub use plan::{Hold, Keep, Limits, Plan, PrivateMount, SYSTEM_ROOTS, Staging};
pub use probe::probe;
pub use refusal::{Refusal, refusals};
pub use resource_caps::{Cap, Caps, delegated_group};
pub use sandbox::{Cancel, Ended, Exit, How, Pipes, Sandbox, Sent};
pub use secrets::{SECRET_NAMES, SECRET_PLACES, SYSTEM_SECRETS, is_secret_name, secrets};
pub use shared_network::SharedNetwork;
pub use step::{SandboxError, Step};

/// Where the listener of a sandbox with hosts is, on its own loopback interface.
pub const PROXY_PORT: u16 = 3128;
