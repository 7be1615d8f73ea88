//! Server-sent events: the data of each, however the bytes are cut into chunks.

/// One event is no longer than this.
const MAX_EVENT: usize = 8 << 20;

/// Reads the data of events.
#[derive(Debug, Default)]
pub struct EventReader {
    /// A line whose end has not come.
    line: Vec<u8>,
    /// The data of the event so far.
    data: Option<String>,
    /// The last byte was a carriage return: a line feed after it ends no other line.
    after_return: bool,
}

impl EventReader {
    /// Takes bytes, and gives the data of the events that are whole now.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, String> {
        let mut whole = Vec::new();
        for &byte in bytes {
            let ends = match byte {
                b'\n' if std::mem::take(&mut self.after_return) => continue,
                b'\n' => true,
                b'\r' => {
                    self.after_return = true;
                    true
                }
                _ => {
                    self.after_return = false;
                    self.line.push(byte);
                    false
                }
            };
            if ends {
                whole.extend(self.end_line());
            }
            if self.line.len() + self.data.as_ref().map_or(0, String::len) > MAX_EVENT {
                return Err("an event of the stream is longer than 8 MiB".to_owned());
            }
        }
        Ok(whole)
    }

    /// The stream has ended: an event without the empty line after it counts.
    pub fn finish(mut self) -> Option<String> {
        if !self.line.is_empty() {
            drop(self.end_line());
        }
        self.data
    }

    /// A line is whole: an empty one ends its event.
    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.data.take();
        }
        if let Some(rest) = line.strip_prefix(b"data:") {
            let rest = rest.strip_prefix(b" ").unwrap_or(rest);
            let text = String::from_utf8_lossy(rest);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(&text);
                }
                None => self.data = Some(text.into_owned()),
            }
        }
        None
    }
}
