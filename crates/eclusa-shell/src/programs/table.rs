//! The table itself, as the build wrote it from `table/*.toml`.

use super::class::Classes;
use super::entry::{Arity, Entry, Flag, Operand, Operands, Order, Reader, Role, find};
use super::flag_name::FlagName;

include!(concat!(env!("OUT_DIR"), "/table.rs"));

/// The entry of the program of this name.
pub(crate) fn program(name: &str) -> Option<&'static Entry> {
    find(PROGRAMS, name)
}
