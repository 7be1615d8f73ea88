//! A cell for one command: a plan says what it may reach, the kernel holds it to that, and what it
//! would do to the workspace is read back from an overlay before it is real.

pub mod notify;
pub mod proxy;
pub mod scan;
