//! A schema of four fields, compiled, beside serde reading the same into a type: what a call costs whose
//! schema says something unusual, or whose arguments do not fit. All others need no compiled schema.

use eclusa::Tool as _;
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::{
    gate::{Nothing, args},
    measure::{Told, line, median},
};

pub(crate) fn run() -> Told {
    let args = args();
    let baseline = median(|| Fields::deserialize(&args).is_ok());
    line("baseline: serde reads the value into a type", baseline, baseline);
    let schema = Nothing.input_schema();
    let validator = jsonschema::validator_for(&schema)?;
    let valid = median(|| validator.is_valid(&args));
    line("four fields, valid, by the compiled schema (goal: under 1 µs)", valid, baseline);
    let wrong: Value = json!({"path": 7, "count": -1, "all": true});
    let errors =
        median(|| validator.iter_errors(&wrong).map(|it| it.to_string().len()).sum::<usize>());
    line("three violations, each in words", errors, baseline);
    let compiling = median(|| jsonschema::validator_for(&schema).is_ok());
    line("compiling the schema (once for each tool)", compiling, baseline);
    Ok(())
}

#[derive(serde::Deserialize)]
#[expect(dead_code, reason = "they are read, and that is all")]
struct Fields {
    path: String,
    count: u64,
    all: bool,
    how: String,
}
