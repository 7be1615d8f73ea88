//! What the tests of all crates share. No part of the program depends on it.

mod needs;

pub use needs::{Need, is_here};
