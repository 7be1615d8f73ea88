//! Tests of todo, through the gate.
