//! The numbers of the lines of a diff that people read.

/// Which line of the file before and of the one after a line of a diff is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineNumbers {
    /// In the file before, if it is in that.
    pub old: Option<u64>,
    /// In the file after, if it is in that.
    pub new: Option<u64>,
    /// It says where the lines behind it are (`@@ -1,3 +1,4 @@`), and is none itself.
    pub begins_hunk: bool,
}

impl LineNumbers {
    /// The numbers of each line of a diff for people ([`Diff::shown`](super::Diff::shown)).
    pub fn of(lines: &[&str]) -> Vec<LineNumbers> {
        let (mut old, mut new) = (0, 0);
        let numbers = lines.iter().map(|line| {
            if let Some(begins) = hunk_begins(line) {
                (old, new) = begins;
                return LineNumbers { begins_hunk: true, ..LineNumbers::default() };
            }
            let (is_old, is_new) = match line.as_bytes().first() {
                Some(b'-') => (true, false),
                Some(b'+') => (false, true),
                Some(b' ') => (true, true),
                _ => (false, false),
            };
            let numbers = LineNumbers {
                old: is_old.then_some(old),
                new: is_new.then_some(new),
                begins_hunk: false,
            };
            old += u64::from(is_old);
            new += u64::from(is_new);
            numbers
        });
        numbers.collect()
    }

    /// How wide the widest of them is.
    pub fn digits(all: &[LineNumbers]) -> usize {
        let last = all.iter().flat_map(|it| [it.old, it.new]).flatten().max();
        last.unwrap_or_default().to_string().len()
    }

    /// Both, below those of other lines.
    pub fn gutter(&self, digits: usize) -> String {
        let number = |it: Option<u64>| it.map(|it| it.to_string()).unwrap_or_default();
        format!("{:>digits$} {:>digits$}", number(self.old), number(self.new))
    }
}

/// The first lines before and after of a hunk that begins here: `@@ -1,3 +1,4 @@`.
fn hunk_begins(line: &str) -> Option<(u64, u64)> {
    let mut words = line.strip_prefix("@@ -")?.split([' ', ',']);
    let old = words.next()?.parse().ok()?;
    let new = words.find_map(|it| it.strip_prefix('+'))?.parse().ok()?;
    Some((old, new))
}

#[cfg(test)]
mod tests;
