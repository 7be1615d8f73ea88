//! Globs that are literal characters and `*`, perhaps at any depth and with all that is below.

/// Such a glob. It fits what the same text fits as a glob; a test holds both against each other.
#[derive(Debug, Clone)]
pub(super) struct SimpleGlob {
    /// `**/` stands before it.
    anywhere: bool,
    /// `/**` stands behind it.
    below: bool,
    any_case: bool,
    /// What is between, with a slash between its parts.
    body: Box<str>,
}

impl SimpleGlob {
    /// The glob, unless more is in it.
    pub(super) fn new(glob: &str, any_case: bool) -> Option<SimpleGlob> {
        let anywhere = glob.strip_prefix("**/");
        let rest = anywhere.unwrap_or(glob);
        let above = rest.strip_suffix("/**");
        let body = above.unwrap_or(rest);
        let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"._-+@=~*/ ".contains(&it);
        // A name that ends with a dot is no name to globs that go by names.
        let parts = |part: &str| part.is_empty() || part.contains("**") || part.ends_with('.');
        let simple = body.bytes().all(is_plain) && !body.split('/').any(parts);
        simple.then(|| SimpleGlob {
            anywhere: anywhere.is_some(),
            below: above.is_some(),
            any_case,
            body: body.into(),
        })
    }

    pub(super) fn fits(&self, path: &[u8]) -> bool {
        if self.fits_from(path) {
            return true;
        }
        let mut slashes = memchr::memchr_iter(b'/', path);
        self.anywhere
            && slashes.any(|at| path.get(at + 1..).is_some_and(|rest| self.fits_from(rest)))
    }

    /// Whether it fits a path from its beginning: each part of the body the part of the path.
    fn fits_from(&self, mut path: &[u8]) -> bool {
        let mut parts = self.body.as_bytes().split(|it| *it == b'/').peekable();
        while let Some(part) = parts.next() {
            let end = memchr::memchr(b'/', path);
            let (name, rest) = path.split_at(end.unwrap_or(path.len()));
            if !self.fits_name(part, name) {
                return false;
            }
            match (parts.peek(), end) {
                (None, end) => return end.is_some() == self.below,
                (Some(_), None) => return false,
                (Some(_), Some(_)) => path = rest.get(1..).unwrap_or_default(),
            }
        }
        false
    }

    /// Whether one part fits one name: from star to star, each as early as it can.
    fn fits_name(&self, part: &[u8], name: &[u8]) -> bool {
        let same = |one: u8, other: u8| match self.any_case {
            true => one.eq_ignore_ascii_case(&other),
            false => one == other,
        };
        let (mut in_part, mut in_name) = (0, 0);
        // Behind the last star, and the place in the name where it ended.
        let mut star: Option<(usize, usize)> = None;
        while let Some(byte) = name.get(in_name) {
            match part.get(in_part) {
                Some(b'*') => {
                    in_part += 1;
                    star = Some((in_part, in_name));
                }
                Some(wanted) if same(*wanted, *byte) => {
                    in_part += 1;
                    in_name += 1;
                }
                _ => match &mut star {
                    Some((behind, ended)) => {
                        *ended += 1;
                        (in_part, in_name) = (*behind, *ended);
                    }
                    None => return false,
                },
            }
        }
        part.get(in_part..).is_some_and(|rest| rest.iter().all(|it| *it == b'*'))
    }
}
