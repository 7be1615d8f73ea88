//! A page of Markdown in the making.

use url::Url;

/// How deep lists and quotes are shown; what is deeper is shown at this depth.
const DEEPEST: usize = 12;

/// A page of Markdown in the making: what is written, and where in it we are.
pub(super) struct MarkdownPage<'a> {
    base: &'a Url,
    out: String,
    /// How long it may become: links and indentation must not make much of a small page.
    most: usize,
    title: Option<String>,
    in_title: bool,
    /// Line ends owed before the next text: 0, 1, or 2 for an empty line.
    owed: usize,
    /// How many quotes the empty line that is owed lies in.
    gap: usize,
    /// A blank is owed before the next text.
    blank: bool,
    /// What the next line begins with, after quotes and indentation.
    lead: String,
    quotes: usize,
    /// For each open list, the number of the next entry, or none for bullets.
    lists: Vec<Option<usize>>,
    /// The text of a block of code, which is written when its fence is known.
    code: Option<String>,
    /// Where the text of the open link begins, and where it leads.
    link: Option<(usize, String)>,
    /// Cells in the row, and rows in the table.
    cells: usize,
    rows: usize,
    /// Where the main part of the page begins and ends.
    main: Option<(usize, Option<usize>)>,
}

impl<'a> MarkdownPage<'a> {
    pub(super) fn new(base: &'a Url, most: usize) -> MarkdownPage<'a> {
        MarkdownPage {
            base,
            out: String::new(),
            most,
            title: None,
            in_title: false,
            owed: 0,
            gap: 0,
            blank: false,
            lead: String::new(),
            quotes: 0,
            lists: Vec::new(),
            code: None,
            link: None,
            cells: 0,
            rows: 0,
            main: None,
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.in_title {
            self.title.get_or_insert_default().push_str(text);
        } else if let Some(code) = &mut self.code {
            code.push_str(text);
        } else {
            for piece in text.split_inclusive(char::is_whitespace) {
                let word = piece.trim_end();
                if !word.is_empty() {
                    self.word(word);
                }
                self.blank |= word.len() < piece.len();
            }
        }
    }

    pub(super) fn open(&mut self, tag: &str, attribute: impl Fn(&str) -> Option<String>) {
        match tag {
            "title" if self.title.is_none() => self.in_title = true,
            "main" | "article" => {
                self.lines(2);
                self.main.get_or_insert((self.out.len(), None));
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.lines(2);
                let level = tag.bytes().last().map_or(1, |digit| usize::from(digit - b'0'));
                self.lead = format!("{} ", "#".repeat(level));
            }
            "ul" | "ol" | "menu" => {
                self.lines(if self.lists.is_empty() { 2 } else { 1 });
                if self.lists.len() < DEEPEST {
                    let first = attribute("start").and_then(|start| start.parse().ok());
                    self.lists.push((tag == "ol").then(|| first.unwrap_or(1)));
                }
            }
            "li" => {
                self.lines(1);
                self.lead = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let lead = format!("{number}. ");
                        *number = number.saturating_add(1);
                        lead
                    }
                    _ => "- ".to_owned(),
                };
            }
            "blockquote" => {
                self.lines(2);
                self.quotes = (self.quotes + 1).min(DEEPEST);
            }
            "pre" => {
                self.lines(2);
                self.code.get_or_insert_default();
            }
            "br" => match &mut self.code {
                Some(code) => code.push('\n'),
                None => self.lines(1),
            },
            "hr" => {
                self.lines(2);
                self.word("---");
                self.lines(2);
            }
            "table" => {
                self.lines(2);
                self.rows = 0;
            }
            "tr" => {
                self.lines(1);
                self.cells = 0;
            }
            "td" | "th" => {
                self.blank = self.cells > 0;
                self.word("|");
                self.blank = true;
                self.cells += 1;
            }
            "a" => {
                self.end_link();
                if let Some(to) = attribute("href").and_then(|href| self.reach(&href))
                    && self.code.is_none()
                    && !self.full()
                {
                    self.word("[");
                    self.link = Some((self.out.len(), to));
                }
            }
            "img" => {
                let alt = attribute("alt").unwrap_or_default();
                if !alt.trim().is_empty() && self.code.is_none() {
                    self.word(&format!("(picture: {})", alt.trim()));
                }
            }
            _ => self.both(tag),
        }
    }

    pub(super) fn close(&mut self, tag: &str) {
        match tag {
            "title" => self.in_title = false,
            "main" | "article" => {
                self.lines(2);
                if let Some((_, end)) = &mut self.main {
                    *end = Some(self.out.len());
                }
            }
            "ul" | "ol" | "menu" => {
                self.lists.pop();
                self.lines(if self.lists.is_empty() { 2 } else { 1 });
            }
            "blockquote" => {
                self.lines(2);
                self.quotes = self.quotes.saturating_sub(1);
            }
            "pre" => self.end_code(),
            "tr" if self.cells > 0 => {
                self.word(" |");
                self.rows += 1;
                self.lines(1);
                if self.rows == 1 {
                    self.word(&format!("|{}", "---|".repeat(self.cells.min(100))));
                    self.lines(1);
                }
                self.cells = 0;
            }
            "table" => {
                self.cells = 0;
                self.lines(2);
            }
            // What was empty leaves no mark behind for the text after it.
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.lead.clear();
                self.lines(2);
            }
            "li" => {
                self.lead.clear();
                self.lines(1);
            }
            "a" => self.end_link(),
            _ => self.both(tag),
        }
    }

    /// What is the same for the beginning and the end of a tag.
    fn both(&mut self, tag: &str) {
        match tag {
            "code" | "kbd" | "samp" if self.code.is_none() => self.word("`"),
            "p" | "div" | "section" | "header" | "footer" | "nav" | "aside" | "figure" | "form"
            | "dl" | "fieldset" | "details" | "address" | "body" | "noscript"
                // A table's cells and an entry's first paragraph stay on their line.
                if self.cells == 0 && self.lead.is_empty() =>
            {
                self.lines(if self.lists.is_empty() { 2 } else { 1 });
            }
            "dt" | "dd" | "summary" | "figcaption" | "option" | "button" | "legend" => {
                self.lines(1);
            }
            _ => {}
        }
    }

    pub(super) fn finish(mut self) -> String {
        self.end_link();
        self.end_code();
        let title: Vec<&str> =
            self.title.iter().flat_map(|title| title.split_whitespace()).collect();
        let title = title.join(" ");
        // Menus and footers go where the page says which part matters.
        let main =
            self.main.and_then(|(from, to)| self.out.get(from..to.unwrap_or(self.out.len())));
        let body = main.filter(|main| main.len() >= 200).unwrap_or(&self.out).trim();
        let rest = if self.full() { "\n\n(The rest of the page is left out.)" } else { "" };
        match (title.is_empty(), body.is_empty()) {
            (true, _) => format!("{body}{rest}"),
            (false, true) => format!("Title: {title}"),
            (false, false) => format!("Title: {title}\n\n{body}{rest}"),
        }
    }

    /// Owes line ends, and no blank before or after them.
    fn lines(&mut self, count: usize) {
        if let Some(code) = &mut self.code {
            if !code.ends_with('\n') {
                code.push('\n');
            }
            return;
        }
        self.gap = if self.owed == 0 { self.quotes } else { self.gap.min(self.quotes) };
        self.owed = self.owed.max(count);
        self.blank = false;
    }

    /// Writes a word, after what is owed before it.
    fn word(&mut self, word: &str) {
        if self.full() {
            return;
        }
        if self.owed > 0 || self.out.is_empty() {
            self.begin_line();
        } else if self.blank && !self.out.ends_with(['[', ' ', '\n']) {
            self.out.push(' ');
        }
        self.blank = false;
        self.out.push_str(word);
    }

    fn full(&self) -> bool {
        self.out.len() >= self.most
    }

    fn begin_line(&mut self) {
        let quotes = "> ".repeat(self.quotes);
        if !self.out.is_empty() {
            self.out.push('\n');
            if self.owed > 1 {
                self.out.push_str("> ".repeat(self.gap).trim_end());
                self.out.push('\n');
            }
        }
        self.owed = 0;
        self.out.push_str(&quotes);
        // An entry's mark stands where the text of the list around it begins.
        let marks = usize::from(!self.lead.is_empty());
        self.out.push_str(&"  ".repeat(self.lists.len().saturating_sub(marks)));
        self.out.push_str(&std::mem::take(&mut self.lead));
    }

    fn end_link(&mut self) {
        let Some((from, to)) = self.link.take() else { return };
        if self.out.get(from..).is_none_or(|text| text.trim().is_empty()) {
            self.out.truncate(from.saturating_sub(1));
        } else {
            self.out.push_str(&format!("]({to})"));
        }
    }

    fn end_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        let code = code.trim_matches('\n');
        if code.trim().is_empty() {
            return;
        }
        let fence = "`".repeat(longest_run(code).max(2) + 1);
        self.word(&fence);
        for line in code.lines().chain([fence.as_str()]) {
            self.owed = 1;
            self.word("");
            if !self.full() {
                self.out.push_str(line.trim_end());
            }
        }
        self.lines(2);
    }

    /// Where a link leads, if it is somewhere that can be gone to.
    fn reach(&self, href: &str) -> Option<String> {
        let href = href.trim();
        if href.is_empty() || href.starts_with('#') {
            return None;
        }
        let to = self.base.join(href).ok()?;
        matches!(to.scheme(), "http" | "https" | "mailto").then(|| to.to_string())
    }
}

/// The longest run of backticks in a text, which its fence must be longer than.
fn longest_run(text: &str) -> usize {
    text.split(|char| char != '`').map(str::len).max().unwrap_or(0)
}
