//! `eclusa demo`: to come.
use crate::{args::Global, failure::{Exit, Failure}};
pub(super) async fn run(_: &Global) -> Result<Exit, Failure> { Ok(Exit::Done) }
