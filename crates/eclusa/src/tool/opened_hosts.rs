//! A yes to hosts.

/// The hosts that a person opened for a call: their answer to that question, and to no other.
#[derive(Debug)]
pub struct OpenedHosts(Vec<String>);

impl OpenedHosts {
    /// What a person who was asked about exactly these hosts has opened.
    pub(crate) fn new(hosts: &[String]) -> OpenedHosts {
        OpenedHosts(hosts.to_vec())
    }

    /// The hosts, as they were asked about.
    pub fn into_names(self) -> Vec<String> {
        self.0
    }
}
