//! `eclusa output`: reads an output that was too long for the model.

use std::ops::Range;

use eclusa::Spool;

use crate::{
    failure::{Exit, Failure},
    paths::Paths,
    screen::Screen,
};

pub(super) async fn run(
    paths: &Paths,
    reference: &str,
    range: Option<Range<usize>>,
) -> Result<Exit, Failure> {
    let store = paths.log()?;
    let text = store.read(reference, range.unwrap_or(0..usize::MAX)).await.map_err(|err| {
        Failure::failed(err.to_string()).hint("replies and `eclusa log show` name references")
    })?;
    let mut screen = Screen::stdout();
    screen.foreign(&text)?;
    screen.flush()?;
    Ok(Exit::Done)
}
