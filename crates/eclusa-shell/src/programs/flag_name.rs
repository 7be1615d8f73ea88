//! Names of flags, all in one text. A name is a place in it and no pointer: thousands of pointers
//! would have to be set whenever a program that has the table starts.

include!(concat!(env!("OUT_DIR"), "/flag_names.rs"));

/// The name of a flag, with its dashes.
#[derive(Debug)]
pub(crate) struct FlagName {
    pub(crate) start: u16,
    pub(crate) length: u8,
}

impl FlagName {
    pub(crate) fn as_str(&self) -> &'static str {
        let start = usize::from(self.start);
        // The build wrote both; a test reads every name.
        FLAG_NAMES.get(start..start + usize::from(self.length)).unwrap_or_default()
    }
}
