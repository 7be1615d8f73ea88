//! Globs that are literal characters and `*`, perhaps at any depth and with all that is below, and
//! with any number of directories at one place in the middle.

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
        let body = rest.trim_end_matches("/**");
        let below = body.len() < rest.len();
        let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"._-+@=~*/ ".contains(&it);
        let mut wide = 0;
        let fits_names = body.split('/').all(|part| match part {
            "" => false,
            "**" => {
                wide += 1;
                true
            }
            // A name that ends with a dot is no name to globs that go by names.
            part => !part.ends_with('.') && !part.as_bytes().windows(2).any(|it| it == b"**"),
        });
        // Directories stand between others.
        let between = !body.starts_with("**") && !body.ends_with("**");
        let simple = body.bytes().all(is_plain) && fits_names && wide <= 1 && between;
        simple.then(|| SimpleGlob {
            anywhere: anywhere.is_some(),
            below,
            any_case,
            body: body.into(),
        })
    }

    pub(super) fn fits(&self, path: &[u8]) -> bool {
        let body = self.body.as_bytes();
        match self.anywhere {
            true => self.fits_from_any(body, path),
            false => self.fits_from(body, path),
        }
    }

    /// Whether this rest of the body fits a path from its beginning, or from a directory in it.
    fn fits_from_any(&self, body: &[u8], path: &[u8]) -> bool {
        let mut slashes = memchr::memchr_iter(b'/', path);
        self.fits_from(body, path)
            || slashes.any(|at| path.get(at + 1..).is_some_and(|rest| self.fits_from(body, rest)))
    }

    /// Whether this rest of the body fits a path from its beginning: each part of it the part of the
    /// path.
    fn fits_from(&self, body: &[u8], path: &[u8]) -> bool {
        let (part, others) = split(body);
        let (name, rest) = split(path);
        match (part, others) {
            (b"**", Some(others)) => self.fits_from_any(others, path),
            _ if !self.fits_name(part, name) => false,
            (_, None) => rest.is_some() == self.below,
            (_, Some(others)) => rest.is_some_and(|rest| self.fits_from(others, rest)),
        }
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

/// The part before the first slash, and what is behind it.
fn split(path: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr(b'/', path) {
        Some(at) => (path.get(..at).unwrap_or_default(), path.get(at + 1..)),
        None => (path, None),
    }
}
