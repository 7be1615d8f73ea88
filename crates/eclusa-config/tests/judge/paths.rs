//! The way to a file of the workspace together with the shipped rules, over the corpus of paths.

mod corpus;
mod disk;
