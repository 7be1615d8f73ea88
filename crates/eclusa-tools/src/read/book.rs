//! A notebook, shown as its cells; the one kind of file that must be held to be read.

use std::io::Read as _;

use eclusa::{Output, ToolError};
use memchr::{memchr_iter, memchr3_iter};
use serde_json::Value;

use super::{Reading, failed, lines};
use crate::text::{Format, decode, notebook, page};

/// Larger notebooks are shown as the JSON that they are.
const LARGEST: u64 = 8 * 1024 * 1024;
/// So are those with more objects, or more values, than anybody puts into cells: in memory each
/// of them takes many times the room that it has in the file.
const OBJECTS: usize = 20_000;
const VALUES: usize = 400_000;

/// The cells, as lines. What cannot be shown so is shown as it is, and the answer says why.
pub(super) fn show(
    reading: Reading,
    format: Format,
    first: u64,
    count: u64,
    shown: usize,
) -> Result<Output, ToolError> {
    if reading.size > LARGEST {
        return plainly(reading, format, first, count, shown, "the notebook is very large");
    }
    let Reading { path, size, head, mut rest } = reading;
    let mut bytes = head;
    let more = size.saturating_sub(bytes.len() as u64);
    rest.by_ref().take(more).read_to_end(&mut bytes).map_err(|err| failed(&path, &err))?;
    match cells(&bytes) {
        Ok(text) => {
            let window = lines::window(first, count, shown);
            let read = page(text.as_bytes(), text.len() as u64, Format::NEW, window);
            let page = read.map_err(|err| failed(&path, &err))?;
            let mut output = lines::page_output(&path, size, format, first, page)?;
            output.text.push_str("(these are the cells of a notebook; the file itself is JSON)\n");
            if let Some(data) = output.data.as_mut().and_then(Value::as_object_mut) {
                data.insert("notebook".to_owned(), true.into());
            }
            Ok(output)
        }
        Err(why) => {
            let reading = Reading { path, size, head: bytes, rest };
            plainly(reading, format, first, count, shown, &why)
        }
    }
}

fn cells(bytes: &[u8]) -> Result<String, String> {
    let objects = memchr_iter(b'{', bytes).count();
    if objects > OBJECTS || memchr3_iter(b',', b'[', b':', bytes).count() > VALUES {
        return Err("the notebook has very many values".to_owned());
    }
    let decoded = decode(bytes).map_err(|err| err.to_string())?;
    notebook(&decoded.text)
}

fn plainly(
    reading: Reading,
    format: Format,
    first: u64,
    count: u64,
    shown: usize,
    why: &str,
) -> Result<Output, ToolError> {
    let mut output = lines::show(reading, format, first, count, shown)?;
    output.text.push_str(&format!("({why}, so it is shown as it is)\n"));
    Ok(output)
}
