//! `eclusa people`, as typed.

use std::path::PathBuf;

use clap::Subcommand;

pub(crate) const EXAMPLES: &str = "\
Examples:
  eclusa people                                     who may answer, and with which keys
  eclusa people add ana --group release --new-key ~/ana.key
                                                    a key for ana, in a file that only you can read
  eclusa approvals yes 12 --key ~/ana.key           answer with it
  eclusa people pair ana                            a link for ana's browser, which works once
  eclusa people remove 4f1c09ab12cd34ef             revoke this key

A rule says whose answer it needs: decision = \"ask\", of = [\"release\"], need = 2, with = \"key\". \
Signatures are checked where the call runs. Browsers register their keys when they open the link of \
`eclusa approvals serve` or of `eclusa people pair`.";

#[derive(Debug, Subcommand)]
pub(crate) enum PeopleCommand {
    /// Who may answer, in which groups and with which keys (default)
    List,
    /// Add a person, a group of theirs or a key
    Add {
        /// The name that goes on record
        name: String,
        /// A group that they are in; repeatable
        #[arg(long, value_name = "NAME")]
        group: Vec<String>,
        /// Make a key, in this new file
        #[arg(long, value_name = "FILE")]
        new_key: Option<PathBuf>,
        /// Register a key that was made elsewhere: the public part, as `add --new-key` printed it
        #[arg(long, value_name = "BASE64", conflicts_with = "new_key")]
        public: Option<String>,
    },
    /// Print a link that lets a browser in, once, within ten minutes: its key answers for the person
    Pair {
        /// Who answers with it; you, unless said
        name: Option<String>,
        /// The address of the page, where it is neither `approvals.url` nor port 8378 of this machine
        #[arg(long, value_name = "URL")]
        url: Option<String>,
    },
    /// Remove a key, or a person with all keys and groups
    Remove {
        /// A key, or the name of a person
        name: String,
    },
}
