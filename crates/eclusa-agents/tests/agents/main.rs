//! What agents send and get back, and what is written into their settings.

mod golden;
mod settings;
