# The common tasks. `just` alone lists them.

_list:
    @just --list --unsorted

# Run the demonstration: a scripted conversation through the whole gate.
demo:
    cargo run --release -- demo

# Pass all tests.
test *args:
    ./test {{args}}

# What must hold before a change is accepted; with names, only those steps (`scripts/ci` lists them).
ci *steps:
    {{ if steps == "" { ".ci/run" } else { "scripts/ci " + steps } }}

# Everything there is to check, which takes hours; or the checks that are named.
all *checks:
    scripts/all {{checks}}

# Format everything.
fmt:
    cargo fmt --all

# Lints, as CI has them.
lint:
    cargo clippy --workspace --all-targets -- -D warnings

# The house rules alone.
tidy:
    cargo test --workspace --test tidy

# Make the mistakes, and see that each is noticed. `just mutants permit` makes those whose name has the word.
mutants *words:
    scripts/mutants {{words}}

# Measure.
bench:
    scripts/bench release

# The documentation of the library.
doc:
    cargo doc --no-deps -p eclusa --open

# The end-to-end tests: without a name they are listed.
e2e *names:
    tests/e2e/run {{names}}

# Write the tables that are made from the code.
pages:
    scripts/pages
