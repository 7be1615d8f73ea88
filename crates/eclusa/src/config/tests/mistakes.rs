//! What is wrong with a file, where, and how to mend it.
