//! The code is drawn whole, in two rows of modules a line, with light around it.

use super::{Paint, lines};

/// What is drawn, as modules: true is dark.
fn modules(drawn: &[String]) -> Vec<Vec<bool>> {
    let mut rows = Vec::new();
    for line in drawn {
        let blocks = line.strip_prefix("\x1b[30;107m").and_then(|it| it.strip_suffix("\x1b[0m"));
        let blocks = blocks.unwrap_or_else(|| panic!("{line:?}"));
        rows.push(blocks.chars().map(|it| matches!(it, '█' | '▀')).collect());
        rows.push(blocks.chars().map(|it| matches!(it, '█' | '▄')).collect());
    }
    rows
}

/// The square by which a camera finds a corner: dark, light, dark, seven modules wide.
fn has_finder(rows: &[Vec<bool>], left: usize, top: usize) -> bool {
    (0..7_usize).all(|y| {
        (0..7_usize).all(|x| {
            let distance = x.abs_diff(3).max(y.abs_diff(3));
            rows[top + y][left + x] == (distance != 2)
        })
    })
}

#[test]
fn cameras_find_three_corners_with_light_around_them() {
    for link in
        ["http://localhost:8378/pair#x", &format!("https://example.org/{}", "y".repeat(200))]
    {
        let rows = modules(&lines(link, Paint::always()).unwrap());
        let side = rows[0].len();
        let far = side - 2 - 7;
        assert!(has_finder(&rows, 2, 2) && has_finder(&rows, far, 2) && has_finder(&rows, 2, far));
        assert!(!has_finder(&rows, far, far), "the fourth corner says which way is up");
        assert!(rows[..2].iter().flatten().all(|it| !it), "no light above it");
        assert!(rows.iter().all(|it| !it[0] && !it[1] && !it[side - 1] && !it[side - 2]));
    }
}

#[test]
fn without_colours_or_room_there_is_none() {
    assert!(lines("http://localhost:8378/pair#x", Paint::never()).is_none());
    assert!(lines(&"x".repeat(301), Paint::always()).is_none());
}
