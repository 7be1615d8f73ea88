//! `eclusa man`: the manual page.

use std::io::Write;

use clap::CommandFactory;

use crate::{
    args::Args,
    failure::{Exit, Failure},
};

pub(super) fn run() -> Result<Exit, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Args::command()).render(&mut page)?;
    std::io::stdout().lock().write_all(&page)?;
    Ok(Exit::Done)
}
