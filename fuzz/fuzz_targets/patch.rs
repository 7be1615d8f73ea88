//! Any patch on any file: nothing panics, and what is applied is applied the same way twice.

#![no_main]

use eclusa_tools::{
    patch::{apply_all, parse},
    text::{Edit, edit},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str)| {
    let (patch, file) = input;
    if let Ok(files) = parse(patch) {
        let apply = || apply_all(&files, |_| Ok(Some(file.as_bytes().to_vec())));
        let first = apply();
        assert_eq!(first, apply());
        match first {
            Ok(outcomes) => assert!(!outcomes.is_empty()),
            Err(err) => assert!(!err.to_string().is_empty()),
        }
    }
    // The same two texts as an edit.
    if let Err(err) = edit(Some(file), &[Edit { old_string: patch, new_string: "", replace_all: false }]) {
        assert!(!err.to_string().is_empty());
    }
});
