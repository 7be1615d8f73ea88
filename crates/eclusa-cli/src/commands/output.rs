//! `eclusa output`: reads an output that was too long for the model.

use std::ops::Range;

use eclusa_app::values::range;

use crate::{
    failure::{Exit, Failure},
    paths::Paths,
    screen::Screen,
};

/// Print a saved output that was too long for the model
#[derive(Debug, clap::Args)]
pub(crate) struct OutputArgs {
    /// The reference that the reply gave
    reference: String,
    /// Bytes to read, as `A..B`, `A..` or `..B`
    #[arg(long, value_parser = range)]
    range: Option<Range<usize>>,
}

pub(super) async fn run(paths: &Paths, args: OutputArgs) -> Result<Exit, Failure> {
    let store = paths.log()?;
    let text =
        store.read(&args.reference, args.range.unwrap_or(0..usize::MAX)).await.map_err(|err| {
            Failure::failed(err.to_string()).hint("replies and `eclusa log show` name references")
        })?;
    let mut screen = Screen::stdout();
    screen.foreign(&text)?;
    screen.flush()?;
    Ok(Exit::Done)
}
