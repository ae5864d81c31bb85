//! Figures for people: thousands apart, few digits, units that fit.

/// `1,234,567`, rounded to a whole number.
pub(crate) fn thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    if value < 0.0 && digits != "0" {
        text.push('-');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Whole from 1,000 on, one place from 100 on, below that two.
pub(crate) fn decimal(value: f64) -> String {
    match value.abs() {
        it if it >= 999.95 => thousands(value),
        it if it >= 99.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A part of 1 as `99.2 %`, with as many places as the distance from 0 and 100 % asks for.
pub(crate) fn percent(part: f64) -> String {
    let value = part * 100.0;
    let places = match value.abs().min((100.0 - value).abs()) {
        it if !(5e-4..0.095).contains(&it) => 1,
        it if it >= 0.0095 => 2,
        _ => 3,
    };
    format!("{} %", trim_zeros(&format!("{value:.places$}")))
}

/// A decimal number without zeros at its end.
fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A text from outside for a terminal or a page: characters that steer either are replaced.
pub(crate) fn printable(text: &str) -> String {
    let steers =
        |it: char| it.is_control() || matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|it| if steers(it) && it != '\n' && it != '\t' { '\u{fffd}' } else { it }).collect()
}

/// Seconds as `189.5 us`, `5.00 ms`, `1.20 s`.
pub(crate) fn seconds(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        it if it < 0.999_95e-3 => format!("{} us", short(value * 1e6)),
        it if it < 0.999_95 => format!("{} ms", short(value * 1e3)),
        it if it < 119.5 => format!("{} s", short(value)),
        _ => format!("{} min", short(value / 60.0)),
    }
}

/// Microseconds in the form of `seconds`.
pub fn micros(value: u64) -> String {
    seconds(value as f64 / 1e6)
}

/// CPU time of a request; the same form.
pub(crate) fn cpu_time(value: f64) -> String {
    seconds(value)
}

/// Four digits at most, without zeros at the end.
fn short(value: f64) -> String {
    let places = match value.abs() {
        it if it >= 999.5 => return thousands(value),
        it if it >= 100.0 => 1,
        it if it >= 1.0 => 2,
        _ => 3,
    };
    trim_zeros(&format!("{value:.places$}")).to_string()
}

/// Requests per second as `1,200/s`.
pub fn rate(value: f64) -> String {
    format!("{}/s", if value >= 100.0 { thousands(value) } else { short(value) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_have_units() {
        let cases = [
            (thousands(1_234_567.4), "1,234,567"),
            (thousands(-1_000.0), "-1,000"),
            (thousands(999.0), "999"),
            (decimal(189.5), "189.5"),
            (decimal(1.0642), "1.06"),
            (decimal(999.99), "1,000"),
            (percent(0.6), "60 %"),
            (percent(0.992), "99.2 %"),
            (percent(0.9994), "99.94 %"),
            (percent(0.9501), "95 %"),
            (percent(0.999_999_9), "100 %"),
            (percent(0.000_07), "0.007 %"),
            (printable("a\u{1b}[2J\u{202e}b"), "a\u{fffd}[2J\u{fffd}b"),
            (percent(0.0), "0 %"),
            (percent(1.0), "100 %"),
            (seconds(189.5e-6), "189.5 us"),
            (seconds(0.06), "60 ms"),
            (seconds(0.012_345), "12.35 ms"),
            (seconds(1.2), "1.2 s"),
            (seconds(180.0), "3 min"),
            (rate(1e6), "1,000,000/s"),
            (rate(0.5), "0.5/s"),
        ];
        for (found, expected) in cases {
            assert_eq!(found, expected);
        }
    }
}
