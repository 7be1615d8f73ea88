//! How long commands may run where nobody says.

use std::time::Duration;

use super::{TIME, time_for};

#[test]
fn what_builds_tests_or_installs_has_ten_minutes_and_all_else_two() {
    for (command, seconds) in [
        ("ls -la", 120),
        ("git status", 120),
        ("sleep 1000", 120),
        ("python3 -m venv .venv && .venv/bin/pip install x", 600),
        ("go test -fuzz=. ./...", 600),
        ("cd sub && npm ci", 600),
        ("make -j4", 600),
        ("./gradlew build", 600),
    ] {
        assert_eq!(time_for(command, TIME), Duration::from_secs(seconds), "{command}");
    }
}
