//! Laying out text for a terminal: how wide it is, our own words wrapped, cells of tables cut.

/// The narrowest that a column is cut to.
const MIN_COLUMN: usize = 8;

/// The narrowest that a text is broken to.
const MIN_TEXT: usize = 20;

/// What a text that stands below its name begins with.
const BELOW: &str = "    ";

/// The space between two columns.
const GAP: usize = 2;

/// How many columns a text takes; colour codes take none.
pub fn width(text: &str) -> usize {
    char_widths(text).sum()
}

/// How many columns each character takes; colour codes are left out.
pub fn char_widths(text: &str) -> impl Iterator<Item = usize> {
    let mut in_code = false;
    text.chars().filter_map(move |it| match (in_code, it) {
        (true, it) => {
            in_code = it != 'm';
            None
        }
        (false, '\x1b') => {
            in_code = true;
            None
        }
        (false, it) => Some(char_width(it)),
    })
}

fn char_width(it: char) -> usize {
    match u32::from(it) {
        // Marks that stand on the character before them.
        0x300..=0x36F | 0x200D | 0x20D0..=0x20F0 | 0xFE00..=0xFE0F => 0,
        0x1100..=0x115F
        | 0x2E80..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        // Signs that are shown as pictures: watches, check marks, stars and the like.
        0x231A..=0x231B
        | 0x23E9..=0x23EC
        | 0x23F0
        | 0x23F3
        | 0x25FD..=0x25FE
        | 0x2614..=0x2615
        | 0x2648..=0x2653
        | 0x267F
        | 0x2693
        | 0x26A1
        | 0x26AA..=0x26AB
        | 0x26BD..=0x26BE
        | 0x26C4..=0x26C5
        | 0x26CE
        | 0x26D4
        | 0x26EA
        | 0x26F2..=0x26F3
        | 0x26F5
        | 0x26FA
        | 0x26FD
        | 0x2705
        | 0x270A..=0x270B
        | 0x2728
        | 0x274C
        | 0x274E
        | 0x2753..=0x2755
        | 0x2757
        | 0x2795..=0x2797
        | 0x27B0
        | 0x27BF
        | 0x2B1B..=0x2B1C
        | 0x2B50
        | 0x2B55
        | 0x1F004
        | 0x1F0CF
        | 0x1F18E
        | 0x1F191..=0x1F19A
        | 0x1F200..=0x1F265 => 2,
        _ => 1,
    }
}

/// A line in pieces that fit, broken between words. Further pieces are indented like the first.
/// A word that is too long alone is left whole: the terminal breaks it.
pub fn wrap(line: &str, columns: usize) -> Vec<String> {
    if width(line) <= columns {
        return vec![line.to_owned()];
    }
    let indent: String = line.chars().take_while(|it| *it == ' ').collect();
    let (mut pieces, mut piece) = (Vec::new(), indent.clone());
    for word in line.split(' ').filter(|it| !it.is_empty()) {
        let empty = piece.trim_start().is_empty();
        if !empty && width(&piece) + 1 + width(word) > columns {
            pieces.push(std::mem::replace(&mut piece, format!("{indent}{word}")));
            continue;
        }
        if !empty {
            piece.push(' ');
        }
        piece.push_str(word);
    }
    pieces.push(piece);
    pieces
}

/// A question for a line that is typed behind it, broken between words, with room for a letter. Its last word and the
/// answers stay together where they fit a line.
pub fn prompt(text: &str, columns: usize) -> String {
    const TOGETHER: &str = "\u{a0}[";
    let (text, room) = (text.trim_end(), columns.saturating_sub(" y".len()));
    let pieces = wrap(&text.replace(" [", TOGETHER), room);
    match pieces.iter().all(|it| width(it) <= room) {
        true => pieces.join("\n").replace(TOGETHER, " ["),
        false => wrap(text, room).join("\n"),
    }
}

/// A text that is no wider than this; what was cut off is marked.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    fitting(text.chars(), columns.saturating_sub(1)).chain(['…']).collect()
}

/// A text that is no wider than this; what its middle lost is marked. Paths say most at their ends.
pub fn cut_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let head: String = fitting(text.chars(), room / 2).collect();
    let tail: Vec<char> = fitting(text.chars().rev(), room - width(&head)).collect();
    format!("{head}…{}", tail.iter().rev().collect::<String>())
}

/// The first of these characters, as many as have room.
fn fitting(chars: impl Iterator<Item = char>, columns: usize) -> impl Iterator<Item = char> {
    chars
        .scan(0, |used, it| {
            *used += char_width(it);
            Some((it, *used))
        })
        .take_while(move |(_, used)| *used <= columns)
        .map(|(it, _)| it)
}

/// A text in pieces that fit, broken at a space where there is one. A word that is too long alone is
/// broken too, so that nothing of it is left out.
pub fn fill(text: &str, columns: usize) -> Vec<String> {
    let (mut pieces, mut piece) = (Vec::new(), String::new());
    for it in text.chars() {
        if width(&piece) + char_width(it) <= columns {
            piece.push(it);
            continue;
        }
        let last = piece.rfind(' ').filter(|_| it != ' ');
        let rest = last.map(|at| piece.split_off(at + 1)).unwrap_or_default();
        pieces.push(std::mem::replace(&mut piece, rest).trim_end().to_owned());
        if it != ' ' {
            piece.push(it);
        }
    }
    pieces.push(piece);
    pieces
}

/// A line that begins with `head`, broken between words; what follows stands below the text.
pub fn hang(head: &str, text: &str, columns: usize) -> Vec<String> {
    let indent = " ".repeat(width(head));
    let room = columns.saturating_sub(indent.len());
    if room < MIN_TEXT {
        // Beside the head there is no room.
        return wrap(&format!("{head}{text}"), columns);
    }
    let pieces = wrap(text, room);
    let head = std::iter::once(head).chain(std::iter::repeat(indent.as_str()));
    head.zip(pieces).map(|(head, piece)| format!("{head}{piece}")).collect()
}

/// Names and texts beside each other. A text that is too long goes on below itself.
pub fn details(rows: &[Vec<String>], columns: usize) -> Vec<String> {
    let name = |row: &Vec<String>| row.first().cloned().unwrap_or_default();
    let widest = rows.iter().map(|it| width(&name(it))).max().unwrap_or_default();
    let room = columns.saturating_sub(widest + GAP);
    let mut lines = Vec::new();
    if room < MIN_TEXT {
        // Beside the names there is no room: each text stands below its name.
        for row in rows {
            lines.extend(wrap(&name(row), columns));
            let text = format!("{BELOW}{}", row.get(1).map_or("", String::as_str));
            lines.extend(wrap(&text, columns));
        }
        return lines;
    }
    for row in rows {
        let mut name = name(row);
        for piece in fill(row.get(1).map_or("", String::as_str), room) {
            lines.push(line(&[std::mem::take(&mut name), piece], &[widest, room]));
        }
    }
    lines
}

/// The lines of a table. Where a width is given, the widest columns are cut until a row fits it; those
/// that are `firm` are not.
pub fn table(
    rows: &[Vec<String>],
    columns: Option<usize>,
    firm: impl Fn(usize) -> bool,
) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|it| width(it)).max().unwrap_or_default()
    };
    let mut widths: Vec<usize> = (0..count).map(widest).collect();
    if let Some(columns) = columns {
        let room = columns.saturating_sub(GAP * count.saturating_sub(1));
        let (kept, cut): (Vec<usize>, Vec<usize>) = (0..count).partition(|it| firm(*it));
        let at = |it: &usize| widths.get(*it).copied().unwrap_or_default();
        let mut loose: Vec<usize> = cut.iter().map(at).collect();
        narrow(&mut loose, room.saturating_sub(kept.iter().map(at).sum()));
        for (column, narrowed) in cut.into_iter().zip(loose) {
            if let Some(width) = widths.get_mut(column) {
                *width = narrowed;
            }
        }
    }
    rows.iter().map(|row| line(row, &widths)).collect()
}

/// Takes from the widest column what is too much, then from the next.
fn narrow(widths: &mut [usize], room: usize) {
    loop {
        let total: usize = widths.iter().sum();
        let Some(over) = total.checked_sub(room).filter(|it| *it > 0) else { return };
        let mut sorted = widths.to_vec();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let most = sorted.first().copied().unwrap_or_default();
        let next = sorted.iter().copied().find(|it| *it < most).unwrap_or(MIN_COLUMN);
        let target = most.saturating_sub(over).max(next).max(MIN_COLUMN).min(most);
        let target = if target == most { most.saturating_sub(1) } else { target };
        match widths.iter_mut().find(|it| **it == most && most > MIN_COLUMN) {
            Some(column) => *column = target.max(MIN_COLUMN),
            None => return,
        }
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, column) in row.iter().zip(widths) {
        let cell = cut(cell, *column);
        let padding = column.saturating_sub(width(&cell)) + GAP;
        line.push_str(&cell);
        line.extend(std::iter::repeat_n(' ', padding));
    }
    line.truncate(line.trim_end().len());
    line
}
