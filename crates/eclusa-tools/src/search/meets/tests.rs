//! What a filter could meet, and where a pattern starts.

use std::path::Path;

use super::{SearchFilter, start_of};

#[test]
fn a_filter_meets_what_fits_it_and_in_doubt_everything() {
    let table = [
        ("*.rs", ".env", false, false),
        ("*.rs", "src/key.rs", false, true),
        (".env", "sub/.env", false, true),
        ("**/.env*", ".env.local", false, true),
        (".ENV", ".env", false, true),
        ("*.{ts,env}", "a.env", false, true),
        ("*.ts, .env", ".env", false, true),
        ("!*.ts", ".env", false, true),
        ("@(.env|x)", ".env", false, true),
        ("[", ".env", false, true),
        ("src/*.rs", ".env", false, false),
        ("src/**", "secret", true, false),
        ("*.rs", "secret", true, true),
        ("secret/a.rs", "secret", true, true),
        ("./.env", ".env", false, true),
        ("*.{ts,js},.env", ".env", false, true),
        ("/.env", ".env", false, true),
    ];
    for (pattern, path, is_directory, meets) in table {
        let found = SearchFilter::new(pattern).could_meet(Path::new(path), is_directory);
        assert_eq!(found, meets, "{pattern} {path}");
    }
}

#[test]
fn a_pattern_starts_where_its_plain_names_lead() {
    let table = [
        ("*.rs", Some(".")),
        ("src/**/*.rs", Some("src")),
        ("/home/**", Some("/home")),
        ("/*", Some("/")),
        ("/etc/passwd", Some("/etc")),
        ("../../**", Some("../..")),
        ("src/../**", Some("src/..")),
        ("*/../../x", None),
        ("{..,a}/**", None),
        ("{/home,a}/**", None),
        ("{a,/etc}/*", None),
        ("~/x/*", None),
        ("src/*.{ts,tsx}", Some("src")),
        ("{src,test}/**/*.ts", Some(".")),
    ];
    for (pattern, start) in table {
        assert_eq!(start_of(pattern).as_deref(), start, "{pattern}");
    }
}
