//! The server without a network and without PostgreSQL.

mod simulation;
