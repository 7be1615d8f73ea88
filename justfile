# The common tasks. `just` alone lists them.

_list:
    @just --list --unsorted

# Run the demonstration: a scripted conversation through the whole gate.
demo:
    cargo run --release -- demo

# Pass all tests.
test *args:
    ./test {{args}}

# What must hold before a change is accepted.
ci:
    .ci/run

# Format everything.
fmt:
    cargo fmt --all

# Lints, as CI has them.
lint:
    cargo clippy --workspace --all-targets -- -D warnings

# The house rules alone.
tidy:
    cargo test -p eclusa-tidy --test tidy

# Make the mistakes, and see that each is noticed. `just mutants permit` makes those whose name has the word.
mutants *words:
    scripts/mutants {{words}}

# Measure.
bench:
    scripts/bench release

# The documentation of the library.
doc:
    cargo doc --no-deps -p eclusa --open

# Drive the built binary with the official MCP clients and the conformance suite (from the package registries).
mcp:
    cargo build
    scripts/mcp-clients
    scripts/mcp-conformance
