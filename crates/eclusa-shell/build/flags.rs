//! The short notation of flags, operands and classes in the table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A list of flags, by name.
pub(crate) struct Flags {
    by_name: BTreeMap<String, Flag>,
    /// `*`: any flag is accepted.
    pub(crate) any: bool,
    /// `-#`: numbers are flags.
    pub(crate) numbers: bool,
}

struct Flag {
    arity: &'static str,
    role: &'static str,
    class: u8,
}

impl Flags {
    /// True when the flag is in the list.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// The list as an array of statics.
    pub(crate) fn render(&self, names: &mut FlagNames) -> Result<String, String> {
        let mut text = String::new();
        for (name, Flag { arity, role, class }) in &self.by_name {
            let (start, length) = names.place(name)?;
            let _ = write!(
                text,
                "Flag {{ name: FlagName {{ start: {start}, length: {length} }}, \
                 arity: Arity::{arity}, role: Role::{role}, \
                 class: Classes::from_bits({class}) }}, "
            );
        }
        Ok(text)
    }
}

/// The names of all flags, each once, in one text.
#[derive(Default)]
pub(crate) struct FlagNames {
    pub(crate) text: String,
    starts: BTreeMap<String, u16>,
}

impl FlagNames {
    /// Where a name begins, and how long it is.
    fn place(&mut self, name: &str) -> Result<(u16, u8), String> {
        let length = u8::try_from(name.len()).map_err(|_| format!("`{name}` is too long"))?;
        if let Some(start) = self.starts.get(name) {
            return Ok((*start, length));
        }
        let start = u16::try_from(self.text.len())
            .map_err(|_| "the names of flags need more than 16 bits".to_owned())?;
        self.text.push_str(name);
        self.starts.insert(name.to_owned(), start);
        Ok((start, length))
    }
}

/// Reads `-x -[abc] -n= -o=write --color? -i!writes -# @set *`.
pub(crate) fn flag_list(text: &str, sets: &BTreeMap<String, String>) -> Result<Flags, String> {
    let mut flags = Flags { by_name: BTreeMap::new(), any: false, numbers: false };
    for token in text.split_whitespace() {
        match token {
            "*" => flags.any = true,
            "-#" => flags.numbers = true,
            _ if token.starts_with('@') => {}
            _ => one_flag(token, &mut flags.by_name)?,
        }
    }
    // What an entry says itself stands above what a set says.
    for name in text.split_whitespace().filter_map(|it| it.strip_prefix('@')) {
        let set = sets.get(name).ok_or_else(|| format!("there is no set `{name}`"))?;
        let more = flag_list(set, sets)?;
        flags.any |= more.any;
        flags.numbers |= more.numbers;
        for (name, flag) in more.by_name {
            flags.by_name.entry(name).or_insert(flag);
        }
    }
    Ok(flags)
}

fn one_flag(token: &str, flags: &mut BTreeMap<String, Flag>) -> Result<(), String> {
    let (rest, class) = match token.split_once('!') {
        Some((rest, class)) => (rest, classes(&class.replace('+', " "))?),
        None => (token, 0),
    };
    let (names, arity, role) = match rest.find(['=', '?']) {
        Some(at) => {
            let (names, tail) = rest.split_at(at);
            let (arity, name) = if let Some(name) = tail.strip_prefix("==") {
                ("Two", name)
            } else if let Some(name) = tail.strip_prefix('=') {
                ("Required", name)
            } else {
                ("Optional", tail.trim_start_matches('?'))
            };
            (names, arity, role(name)?)
        }
        None => (rest, "None", "Text"),
    };
    let bundle = names.strip_prefix("-[").and_then(|it| it.strip_suffix(']'));
    let names: Vec<String> = match bundle {
        Some(letters) => letters.chars().map(|it| format!("-{it}")).collect(),
        None => vec![names.to_owned()],
    };
    for name in names {
        if !name.starts_with(['-', '+']) || name.len() < 2 {
            return Err(format!("`{token}` is no flag"));
        }
        if flags.insert(name.clone(), Flag { arity, role, class }).is_some() {
            return Err(format!("flag `{name}` is there twice"));
        }
    }
    Ok(())
}

/// Reads `text read* write`: some operands, one that repeats, some more.
pub(crate) fn operands(text: &str) -> Result<String, String> {
    let (mut first, mut rest, mut last) = (String::new(), None, String::new());
    for token in text.split_whitespace() {
        let (token, repeats) = match token.strip_suffix('*') {
            Some(token) => (token, true),
            None => (token, false),
        };
        let (name, class) = match token.split_once('!') {
            Some((name, class)) => (name, classes(&class.replace('+', " "))?),
            None => (token, 0),
        };
        let operand = format!(
            "Operand {{ role: Role::{}, class: Classes::from_bits({class}) }}",
            role(name)?
        );
        match (repeats, &rest) {
            (true, None) => rest = Some(operand),
            (true, Some(_)) => return Err(format!("`{text}`: two operands repeat")),
            (false, None) => first += &format!("{operand}, "),
            (false, Some(_)) => last += &format!("{operand}, "),
        }
    }
    let rest = rest.map_or("None".to_owned(), |it| format!("Some({it})"));
    Ok(format!("Operands {{ first: &[{first}], rest: {rest}, last: &[{last}] }}"))
}

/// Reads `writes network`; `read` is the empty set.
pub(crate) fn classes(text: &str) -> Result<u8, String> {
    let mut bits = 0;
    for name in text.split_whitespace() {
        bits |= match name {
            "read" => 0,
            "reveals" => 1,
            "writes" => 2,
            "runs" => 4,
            "network" => 8,
            "privilege" => 16,
            "destructive" => 32,
            "sweeping" => 64,
            "unknown" => 128,
            other => return Err(format!("there is no class `{other}`")),
        };
    }
    Ok(bits)
}

fn role(name: &str) -> Result<&'static str, String> {
    Ok(match name {
        "" | "text" => "Text",
        "read" => "Read",
        "write" => "Write",
        "delete" => "Delete",
        "move" => "Move",
        "change" => "Change",
        "list" => "List",
        "exec" => "Exec",
        "enter" => "Enter",
        "host" => "Host",
        "url" => "Url",
        "command" => "Command",
        "script" => "Script",
        "assign" => "Assign",
        "name" => "Name",
        "size" => "Size",
        "format" => "Format",
        "revision" => "Revision",
        "argument" => "Argument",
        "pattern" => "Pattern",
        "archive" => "Archive",
        "refspec" => "Refspec",
        "gitformat" => "GitFormat",
        "gitconfig" => "GitConfig",
        "sed" => "Sed",
        "awk" => "Awk",
        "jq" => "Jq",
        "mode" => "Mode",
        "process" => "Process",
        "setting" => "Setting",
        other => return Err(format!("there is no operand `{other}`")),
    })
}
