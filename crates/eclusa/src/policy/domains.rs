//! Hosts in words alone: who is meant by a text, and which patterns name them. Nothing here asks
//! a name server; which addresses a name has is the business of whoever connects.

use eclusa_net::{Endpoint, HostPattern};

use super::matcher::Holds;

/// Patterns over hosts, with exceptions.
///
/// Where a fit allows, a pattern without a port covers the usual ports only; where it tightens, every
/// port. Exceptions are read the other way.
#[derive(Debug, Clone)]
pub(crate) struct Domains {
    any: Vec<HostPattern>,
    but: Vec<HostPattern>,
    tightens: bool,
}

impl Domains {
    /// Reads patterns; those that begin with `!` are exceptions. `tightens` says what a fit means
    /// for the call.
    pub(crate) fn new<S: AsRef<str>>(
        patterns: impl IntoIterator<Item = S>,
        tightens: bool,
    ) -> Result<Domains, String> {
        let (mut any, mut but) = (Vec::new(), Vec::new());
        for pattern in patterns {
            match pattern.as_ref().strip_prefix('!') {
                Some(exception) => but.push(read(exception)?),
                None => any.push(read(pattern.as_ref())?),
            }
        }
        match any.is_empty() {
            true => Err("there is no host here to match; write `*` for all hosts".to_owned()),
            false => Ok(Domains { any, but, tightens }),
        }
    }

    /// Whether a text names one of the hosts. What nobody can read is in doubt.
    pub(crate) fn fit(&self, text: &str) -> Holds {
        let Ok(endpoint) = Endpoint::parse(text) else { return Holds::Doubt };
        let fits = |it: &HostPattern, wide: bool| match wide {
            true => it.concerns(&endpoint),
            false => it.covers(&endpoint),
        };
        let any = self.any.iter().any(|it| fits(it, self.tightens));
        (any && !self.but.iter().any(|it| fits(it, !self.tightens))).into()
    }
}

fn read(written: &str) -> Result<HostPattern, String> {
    HostPattern::parse(written).map_err(|err| format!("`{written}` is not a host: {err}"))
}
