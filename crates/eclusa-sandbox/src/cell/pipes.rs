//! A command that is talked to: its input and its output are pipes of the caller's, and only what
//! it writes to standard error is kept.

use std::os::fd::OwnedFd;

use super::{Cell, pipe};
use crate::ground::Ground;
use crate::plan::Plan;
use crate::recipe::Recipe;
use crate::step::CellError;

/// The caller's ends. Closing them is how the command learns that nobody talks to it any more.
#[derive(Debug)]
pub struct Pipes {
    /// What is written here, the command reads.
    pub input: OwnedFd,
    /// What the command writes can be read here.
    pub output: OwnedFd,
}

/// The command's ends.
pub(crate) struct Ends {
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
}

impl Cell {
    /// Starts the command of a plan and keeps its standard input and output open for the caller.
    /// `progress` gets what it writes to standard error, of which the plan says how much is kept.
    pub fn talk(
        plan: &Plan,
        ground: &Ground,
        progress: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<(Cell, Pipes), CellError> {
        let (read, input) = pipe()?;
        let (output, write) = pipe()?;
        let mut recipe = Recipe::build(plan, ground)?;
        recipe.ends = Some(Ends { input: read, output: write });
        let cell = Cell::begin(recipe, plan, ground, progress)?;
        Ok((cell, Pipes { input, output }))
    }
}
