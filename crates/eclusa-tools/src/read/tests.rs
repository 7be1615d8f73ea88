//! Tests of read, through the gate.
