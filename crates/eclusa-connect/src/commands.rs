//! What a person has of other people's agents: `eclusa install`, `uninstall` and `status`, the hook that an agent
//! asks, `guard` and `acp`.
//!
//! They read files and run programs, and use the rest of the crate, which does not know them. The options of each
//! command stand beside what the command does.

use eclusa_app::{
    context, exec, fleet, gates, global, paths, raised_policy, read_text, remember, servers, shell,
    surface, tickets, values,
};
use eclusa_spawn as spawn;
use eclusa_term::{failure, screen, terminal};

mod acp;
mod agent_session;
pub mod agents;
mod guard;
pub mod hook;
mod loopback;
