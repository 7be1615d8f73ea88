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

#![cfg_attr(
    not(enforced),
    allow(dead_code, reason = "where nothing can be enforced, much is described and not made")
)]

mod advice;
#[cfg(target_os = "linux")]
mod apart;
#[cfg(enforced)]
mod arch;
mod capabilities;
#[cfg(enforced)]
mod child;
#[cfg(enforced)]
mod child_spec;
#[cfg(enforced)]
mod clone;
mod environment;
mod exit;
#[cfg(enforced)]
mod filter;
mod git;
#[cfg(enforced)]
mod guardian;
#[cfg(enforced)]
mod init;
#[cfg(enforced)]
mod kernel;
mod layer_places;
mod layer_pool;
mod memory;
#[cfg(enforced)]
mod network_connect;
#[cfg(enforced)]
mod network_pool;
#[cfg(not(enforced))]
mod no_network;
#[cfg(enforced)]
pub mod notify;
mod output;
mod overlay_hazards;
mod own_servers;
mod plan;
#[cfg(not(enforced))]
mod portable;
#[cfg(enforced)]
mod probe;
pub mod proxy;
#[cfg(enforced)]
mod pseudo_terminal;
mod reach;
#[cfg(enforced)]
mod recall;
mod refusal;
mod resource_caps;
#[cfg(enforced)]
mod sandbox;
pub mod scan;
#[cfg(enforced)]
mod scratch;
mod secrets;
#[cfg(enforced)]
mod shared_network;
#[cfg(enforced)]
mod small_text;
mod step;
#[cfg(enforced)]
#[doc(hidden)]
pub mod test_support;

#[cfg(target_os = "linux")]
pub use apart::{forget_streams, start_apart, step_apart};
pub use capabilities::{Enforcement, HostCapabilities, Missing, PartRefusal, StagingMethod};
pub use environment::clean_environment;
pub use exit::{DirRenames, Ended, Exit, How};
pub use git::{
    GitSigner, Hooks, Identity, Signing, git_environment, git_environment_of, git_signing,
    personal_git_settings, set_git_signer,
};
#[cfg(enforced)]
pub use kernel::inherit_nothing;
pub use layer_places::shared_layer_places;
pub use layer_pool::{Layer, LayerPool};
pub use memory::share_memory;
#[cfg(not(enforced))]
pub use no_network::SharedNetwork;
pub use output::Output;
pub use overlay_hazards::{OverlayHazard, overlay_hazards};
pub use own_servers::OwnServers;
pub use plan::{Hold, Keep, Limits, Outlives, Plan, PrivateMount, SYSTEM_ROOTS, Staging};
#[cfg(not(enforced))]
#[doc(hidden)]
pub use portable::test_support;
#[cfg(not(enforced))]
pub use portable::{
    LeftParts, LeftRunning, Sandbox, enter_scratch, forget, inherit_nothing, listening_ports,
    probe, processes_of, pseudo_terminal, recall_or_probe, surely_holds_something, while_stopped,
    while_stopped_until,
};
#[cfg(enforced)]
pub use probe::{probe, surely_holds_something};
pub use proxy::PROXY_PORT;
#[cfg(enforced)]
pub use pseudo_terminal::pseudo_terminal;
pub use reach::{Cancel, Pipes, Sent};
#[cfg(enforced)]
pub use recall::{forget, recall_or_probe};
pub use refusal::{Refusal, refusals};
pub use resource_caps::{Cap, Caps, delegated_group};
#[cfg(enforced)]
pub use sandbox::{
    LeftParts, LeftRunning, Sandbox, listening_ports, processes_of, while_stopped,
    while_stopped_until,
};
#[cfg(enforced)]
pub use scratch::enter_scratch;
pub use secrets::{is_secret, is_secret_name, secrets};
#[cfg(enforced)]
pub use shared_network::SharedNetwork;
pub use step::{SandboxError, Step};
