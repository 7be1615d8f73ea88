//! The addresses of our own resources.

/// What all addresses of our own begin with.
pub(crate) const OWN_SCHEME: &str = "eclusa://";

/// Where outputs that were cut can be read whole.
pub(crate) const OUTPUTS: &str = "eclusa://output/";

/// Where it can be read what calls changed.
pub(crate) const CHANGES: &str = "eclusa://changes/";
