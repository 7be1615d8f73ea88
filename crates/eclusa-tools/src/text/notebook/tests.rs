//! Notebooks are readable, and pictures in them are only named.

use insta::assert_snapshot;

use super::*;

#[test]
fn cells_and_outputs_are_shown() {
    let json = r##"{"metadata": {"kernelspec": {"language": "python"}}, "cells": [
        {"cell_type": "markdown", "source": ["# Title\n", "words"]},
        {"cell_type": "code", "source": "1 + 1", "outputs": [
            {"output_type": "stream", "text": ["printed\n"]},
            {"output_type": "execute_result", "data": {"text/plain": ["2"], "image/png": "aGVsbG8="}},
            {"output_type": "error", "ename": "NameError", "evalue": "x", "traceback": ["long"]}]}
    ], "nbformat": 4}"##;
    assert_snapshot!(notebook(json).unwrap(), @r#"
    [cell 1: markdown]
    # Title
    words

    [cell 2: python]
    1 + 1
    [output of cell 2]
    printed
    [output of cell 2]
    2
    (image/png, 8 bytes)
    [output of cell 2]
    NameError: x
    "#);
}

#[test]
fn what_is_no_notebook_is_refused() {
    assert_eq!(notebook("{}").unwrap_err(), "the notebook has no `cells`");
    assert!(notebook("{").unwrap_err().starts_with("the notebook is not valid JSON"));
    let old = r#"{"worksheets": [{"cells": [{"cell_type": "code", "input": "x"}]}]}"#;
    assert_eq!(notebook(old).unwrap(), "[cell 1: code]\nx\n\n");
}
