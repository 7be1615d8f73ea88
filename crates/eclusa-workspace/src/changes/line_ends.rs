//! How the lines of a text end, so that it is told once for a file and not at every line.

/// How all lines of a text end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnds {
    /// There is no end of a line.
    None,
    /// `\n`.
    Lf,
    /// `\r\n`.
    Crlf,
    /// Some this way and some that.
    Mixed,
}

impl LineEnds {
    pub(super) fn detect(text: &str) -> LineEnds {
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let returns = memchr::memmem::find_iter(text.as_bytes(), b"\r\n").count();
        // A return that ends no line is shown where it stands.
        let others = memchr::memchr_iter(b'\r', text.as_bytes()).count() - returns;
        match (breaks, returns, others) {
            (_, _, 1..) => LineEnds::Mixed,
            (0, _, _) => LineEnds::None,
            (_, 0, _) => LineEnds::Lf,
            (all, some, _) if all == some => LineEnds::Crlf,
            _ => LineEnds::Mixed,
        }
    }

    /// What is told of a file whose lines ended so and end so now; `None` where there is nothing
    /// to tell, or each line must show it.
    pub(super) fn describe_change(old: LineEnds, new: LineEnds) -> Option<&'static str> {
        match (old, new) {
            (LineEnds::Crlf, LineEnds::Crlf | LineEnds::None)
            | (LineEnds::None, LineEnds::Crlf) => Some("CRLF"),
            (LineEnds::Lf, LineEnds::Crlf) => Some("line ends LF -> CRLF"),
            (LineEnds::Crlf, LineEnds::Lf) => Some("line ends CRLF -> LF"),
            _ => None,
        }
    }
}
