//! Hosts that are not ASCII, and the form in which the network knows them.

/// The hosts of URLs in a text that are not ASCII, each with its `xn--` form.
pub(super) fn hosts(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for after in text.split("://").skip(1) {
        let ends = |it: char| it.is_whitespace() || "/?#'\"`;|&<>()".contains(it);
        let authority = after.split(ends).next().unwrap_or_default();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let host = host.split_once(':').map_or(host, |(host, _)| host);
        if let Some(ascii) = to_ascii(host) {
            found.push((host.to_owned(), ascii));
        }
    }
    found
}

/// The `xn--` form of a host that is not ASCII.
pub(super) fn to_ascii(host: &str) -> Option<String> {
    if host.is_ascii() || host.len() > 1000 {
        return None;
    }
    // Other characters that browsers take for a dot.
    let labels = host.split(['.', '\u{3002}', '\u{FF0E}', '\u{FF61}']).map(|label| {
        let label = label.to_lowercase();
        match label.is_ascii() {
            true => Some(label),
            false => Some(format!("xn--{}", punycode(&label)?)),
        }
    });
    Some(labels.collect::<Option<Vec<_>>>()?.join("."))
}

/// RFC 3492. `None` where a number grows too large.
fn punycode(label: &str) -> Option<String> {
    let mut out: String = label.chars().filter(char::is_ascii).collect();
    let basic = u32::try_from(out.len()).ok()?;
    if basic > 0 {
        out.push('-');
    }
    let (mut next, mut delta, mut bias, mut handled) = (128_u32, 0_u32, 72_u32, basic);
    let all = u32::try_from(label.chars().count()).ok()?;
    while handled < all {
        let lowest = label.chars().map(u32::from).filter(|it| *it >= next).min()?;
        delta = delta.checked_add((lowest - next).checked_mul(handled + 1)?)?;
        next = lowest;
        for code in label.chars().map(u32::from) {
            if code < next {
                delta = delta.checked_add(1)?;
            }
            if code == next {
                write_number(&mut out, delta, bias)?;
                bias = adapt(delta, handled + 1, handled == basic);
                delta = 0;
                handled += 1;
            }
        }
        (delta, next) = (delta.checked_add(1)?, next + 1);
    }
    Some(out)
}

/// A number in digits whose worth depends on the bias.
fn write_number(out: &mut String, number: u32, bias: u32) -> Option<()> {
    let mut rest = number;
    let mut place = 36_u32;
    loop {
        let threshold = place.saturating_sub(bias).clamp(1, 26);
        if rest < threshold {
            out.push(digit(rest)?);
            return Some(());
        }
        out.push(digit(threshold + (rest - threshold) % (36 - threshold))?);
        rest = (rest - threshold) / (36 - threshold);
        place += 36;
    }
}

fn digit(value: u32) -> Option<char> {
    match value {
        0..=25 => char::from_u32(u32::from('a') + value),
        26..=35 => char::from_u32(u32::from('0') + value - 26),
        _ => None,
    }
}

fn adapt(delta: u32, count: u32, first: bool) -> u32 {
    let mut delta = if first { delta / 700 } else { delta / 2 };
    delta += delta / count;
    let mut places = 0;
    while delta > 455 {
        delta /= 35;
        places += 36;
    }
    places + 36 * delta / (delta + 38)
}
