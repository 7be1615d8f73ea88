//! This machine as the server of its fleet knows it: its key and number, how far it shipped, and the stores that it ships.

pub(crate) mod local_stores;
pub(crate) mod machine_files;
