//! The first message of a TLS connection, read as far as the name of the host in it.

/// The longest greeting that is read.
pub(super) const MAX_GREETING: usize = 64 * 1024;

/// What the greeting says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Greeting {
    /// More bytes are needed.
    Partial,
    /// The host that it names; none if it names none.
    Whole(Option<String>),
}

/// Reads the greeting from the first bytes of a connection. An error says why it is none.
pub(super) fn read(bytes: &[u8]) -> Result<Greeting, &'static str> {
    let mut rest = Bytes(bytes);
    let mut message = Vec::new();
    loop {
        // The message may be spread over several records.
        if let Some(length) = length(&message)? {
            let Some(body) = message.get(4..4 + length) else {
                match record(&mut rest)? {
                    Some(part) => message.extend_from_slice(part),
                    None => return Ok(Greeting::Partial),
                }
                continue;
            };
            return hello(body).map(Greeting::Whole);
        }
        match record(&mut rest)? {
            Some(part) => message.extend_from_slice(part),
            None => return Ok(Greeting::Partial),
        }
    }
}

/// The length of the handshake message that these bytes begin, if they are enough to tell.
fn length(message: &[u8]) -> Result<Option<usize>, &'static str> {
    match message {
        [1, a, b, c, ..] => {
            let length = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
            if length > MAX_GREETING { Err("its greeting is too long") } else { Ok(Some(length)) }
        }
        [1, ..] | [] => Ok(None),
        _ => Err("it begins with another message"),
    }
}

/// The content of the next record. `None`: it has not arrived whole.
fn record<'a>(rest: &mut Bytes<'a>) -> Result<Option<&'a [u8]>, &'static str> {
    match rest.0 {
        [] => Ok(None),
        [22] | [22, 3] => Ok(None),
        [22, 3, _, high, low, content @ ..] => {
            let length = usize::from(*high) << 8 | usize::from(*low);
            if length == 0 || length > 1 << 14 {
                return Err("its first record has no proper length");
            }
            let Some((record, after)) = content.split_at_checked(length) else { return Ok(None) };
            rest.0 = after;
            Ok(Some(record))
        }
        [22, 3, ..] => Ok(None),
        _ => Err("it is not TLS"),
    }
}

/// The name in a greeting.
fn hello(body: &[u8]) -> Result<Option<String>, &'static str> {
    const SHORT: &str = "its greeting is cut short";
    let mut body = Bytes(body);
    body.take(2 + 32).ok_or(SHORT)?;
    body.counted(1).ok_or(SHORT)?;
    body.counted(2).ok_or(SHORT)?;
    body.counted(1).ok_or(SHORT)?;
    if body.0.is_empty() {
        return Ok(None);
    }
    let mut extensions = Bytes(body.counted(2).ok_or(SHORT)?);
    if !body.0.is_empty() {
        return Err("its greeting is followed by something");
    }
    let mut found = None;
    while !extensions.0.is_empty() {
        let kind = extensions.number(2).ok_or(SHORT)?;
        let content = extensions.counted(2).ok_or(SHORT)?;
        if kind == 0 {
            if found.is_some() {
                return Err("it names a host twice");
            }
            found = Some(server_name(content)?);
        }
    }
    Ok(found)
}

/// The one name in the extension.
fn server_name(content: &[u8]) -> Result<String, &'static str> {
    const WRONG: &str = "the name in its greeting is malformed";
    let mut content = Bytes(content);
    let mut list = Bytes(content.counted(2).ok_or(WRONG)?);
    let kind = list.number(1).ok_or(WRONG)?;
    let name = list.counted(2).ok_or(WRONG)?;
    if kind != 0 || !list.0.is_empty() || !content.0.is_empty() || !name.is_ascii() {
        return Err(WRONG);
    }
    Ok(String::from_utf8_lossy(name).into_owned())
}

/// Bytes that are read from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self, width: usize) -> Option<usize> {
        Some(self.take(width)?.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
    }

    /// Bytes that are preceded by their number.
    fn counted(&mut self, width: usize) -> Option<&'a [u8]> {
        let count = self.number(width)?;
        self.take(count)
    }
}
