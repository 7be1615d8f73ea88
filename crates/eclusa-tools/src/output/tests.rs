//! Tests of output, through the gate.
