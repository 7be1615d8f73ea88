//! Secret redaction of clean text, beside a search for one byte.

use eclusa::Redactor;

use crate::measure::{Told, allocations, line, median, rate, shortest};

pub(crate) fn run() -> Told {
    let redactor = Redactor::default();
    let sentence = "The lock has two gates, and they are never open at the same time. ";
    let short = sentence.repeat(5);
    let baseline = median(|| memchr::memchr(b'@', short.as_bytes()));
    line("baseline: memchr over 330 bytes", baseline, baseline);
    line("clean text of 330 bytes", median(|| redactor.text(&short).1), baseline);
    let args = crate::gate::args();
    line("clean arguments of a call", median(|| redactor.value(&args).1), baseline);
    println!("  allocations for clean text: {}", allocations(|| drop(redactor.text(&short))));
    let long = sentence.repeat(100_000);
    let mb = |took: std::time::Duration| long.len() as f64 / 1e6 / took.as_secs_f64();
    let one = mb(shortest(9, || memchr::memchr(b'@', long.as_bytes())));
    rate("baseline: memchr over 6.6 MB", one, "MB/s", one);
    rate("clean text of 6.6 MB", mb(shortest(9, || redactor.text(&long).1)), "MB/s", one);
    Ok(())
}
