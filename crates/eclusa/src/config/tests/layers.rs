//! Layers on top of each other.
