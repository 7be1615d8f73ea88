//! How long a command may run.

use std::time::Duration;

use eclusa::Job;

/// Time to run, where the call does not say (S1.17).
pub(super) const TIME: Duration = Duration::from_secs(120);
/// What builds, tests or installs has so many times as long.
const LONGER: u32 = 5;
/// Beyond its time a command has a moment to end politely, and its changes are read back.
pub(super) const MARGIN: Duration = Duration::from_secs(10);

/// Programs that build, test or install. Naming one wrongly costs nothing but patience.
const LONG: [&str; 58] = [
    "ant",
    "bazel",
    "bazelisk",
    "brew",
    "buck2",
    "bun",
    "bundle",
    "cabal",
    "cargo",
    "cmake",
    "composer",
    "conan",
    "conda",
    "ctest",
    "deno",
    "docker",
    "dotnet",
    "gem",
    "go",
    "gradle",
    "gradlew",
    "helm",
    "jest",
    "just",
    "lein",
    "make",
    "mamba",
    "maven",
    "meson",
    "mix",
    "mvn",
    "mvnw",
    "ninja",
    "nix",
    "nox",
    "npm",
    "npx",
    "pdm",
    "pip",
    "pip3",
    "pipenv",
    "playwright",
    "pnpm",
    "podman",
    "poetry",
    "pytest",
    "rake",
    "rspec",
    "sbt",
    "stack",
    "swift",
    "terraform",
    "tox",
    "turbo",
    "unittest",
    "uv",
    "venv",
    "vitest",
];

/// How long a command may run where the call does not say, if others may run for `usual`.
pub(super) fn time_for(command: &str, usual: Duration) -> Duration {
    let mut words = command.split(|it: char| !it.is_alphanumeric() && it != '-' && it != '_');
    if words.any(|it| LONG.contains(&it)) { usual.saturating_mul(LONGER) } else { usual }
}

/// How long a command may run, and how long people believe it may: it ends before the gate gives it
/// up, so that its output and its changes are kept.
pub(super) fn time_left(asked: Duration, job: &Job) -> (Duration, Duration) {
    let whole = job.deadline().saturating_duration_since(std::time::Instant::now());
    let left = whole.saturating_sub(MARGIN.min(whole / 10));
    (asked.min(left.max(Duration::from_millis(1))), asked.min(whole))
}

#[cfg(test)]
mod tests;
