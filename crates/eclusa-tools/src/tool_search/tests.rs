//! Tests of tool_search, through the gate.
