//! Tests of since.

use super::*;

#[test]
fn calls_whiles_and_times_are_told_apart() {
    let table = [
        ("12", Some(Since::Call(12))),
        ("10m", Some(Since::Ago(Duration::from_secs(600)))),
        ("2h", Some(Since::Ago(Duration::from_secs(7_200)))),
        ("1d", Some(Since::Ago(Duration::from_secs(86_400)))),
        ("2024-02-29", Some(Since::Time(Timestamp(1_709_164_800_000)))),
        ("2024-02-29 23:59", Some(Since::Time(Timestamp(1_709_251_140_000)))),
        ("2024-02-29T23:59:59Z", Some(Since::Time(Timestamp(1_709_251_199_000)))),
        ("2023-02-29", None),
        ("2024-13-01", None),
        ("2024-02-29 24:00", None),
        ("10w", None),
        ("m", None),
        ("", None),
        ("99999999999999999999d", None),
    ];
    for (text, wanted) in table {
        assert_eq!(parse_since(text).ok(), wanted, "{text}");
    }
}
