//! Each store is compared with the plain way to write the same.

use super::*;
use proptest::prelude::*;

fn check(input: &[u8]) {
    let mut written = Vec::new();
    text(&mut written, input);
    let expected = serde_json::to_string(std::str::from_utf8(input).unwrap()).unwrap();
    assert_eq!(std::str::from_utf8(&written).unwrap(), expected);
    for name in ["k", "a_name_that_is_longer_than_one_store_of_a_key"] {
        check_unchecked(name, input, Some(&expected));
        for at in [0, input.len() / 2, input.len()] {
            let mut broken = input.to_vec();
            broken.insert(at, 0xff);
            check_unchecked(name, &broken, None);
        }
    }
}

/// A text that is no UTF-8 leaves nothing; of others the member is written.
fn check_unchecked(name: &str, input: &[u8], expected: Option<&str>) {
    let mut written = b"[".to_vec();
    assert_eq!(member_unchecked(&mut written, &ResponseKey::new(name), input), expected.is_some());
    let member = expected.map_or_else(|| "[".to_owned(), |it| format!("[\"{name}\":{it},"));
    assert_eq!(String::from_utf8(written).unwrap(), member);
}

#[test]
fn text_is_escaped_at_every_length_and_place() {
    for len in 0..70 {
        check("a".repeat(len).as_bytes());
        for at in 0..len {
            for special in [b'"', b'\\', b'\n', 0, 0x1f, 0x7f] {
                let mut input = vec![b'x'; len];
                input[at] = special;
                check(&input);
                input[len - 1] = b'"';
                check(&input);
            }
        }
    }
}

#[test]
fn text_that_ends_where_its_buffer_and_a_page_end_is_not_read_beyond() {
    let mut pages = vec![b'y'; 3 * 4096];
    pages.shrink_to_fit();
    let to_border = pages.as_ptr().align_offset(4096) + 4096;
    for len in 0..40 {
        check(&pages[to_border - len..to_border]);
        check(&pages[pages.len() - len..]);
    }
}

#[test]
fn long_text_is_escaped_in_parts() {
    check("é\"\u{1}".repeat(5000).as_bytes());
    let mut member = Vec::new();
    member_text(&mut member, &ResponseKey::new("k"), "x".repeat(5000).as_bytes());
    assert_eq!(member.len(), r#""k":"","#.len() + 5000);
}

#[test]
fn integers_have_their_digits() {
    let mut values = vec![0, 7, 42, i64::MIN, i64::MAX, -1];
    let mut power = 1i64;
    for _ in 0..18 {
        power *= 10;
        values.extend([power - 1, power, power + 1, -power]);
    }
    for value in values {
        let mut written = Vec::new();
        int(&mut written, value);
        assert_eq!(String::from_utf8(written).unwrap(), value.to_string());
    }
}

/// All numbers have the digits that `zmij` gives them, without a fraction of zero.
fn check_float(value: f64) {
    let mut written = Vec::new();
    float(&mut written, value);
    let mut buffer = zmij::Buffer::new();
    let expected = buffer.format(value);
    assert_eq!(String::from_utf8(written).unwrap(), expected.strip_suffix(".0").unwrap_or(expected));
}

#[test]
fn hundredths_have_their_digits() {
    for cents in 0..100_000 {
        check_float(f64::from(cents) / 100.0);
        check_float(f64::from(cents) / -1000.0);
    }
    let borders =
        [0.0, 1e-5, 0.004, 0.005, 0.01, 0.1 + 0.2, 1e12, 1e13, 1e14, 9_999_999_999_999.99, 1e16, f64::MAX];
    for border in borders {
        for value in [border, border.next_up(), border.next_down()] {
            check_float(value);
            check_float(-value);
        }
    }
}

#[test]
fn a_span_is_copied_wherever_it_lies() {
    let source: Vec<u8> = (0..100).collect();
    for start in 0..100 {
        for end in start..=100 {
            let mut written = vec![9];
            span(&mut written, &source, start, end);
            assert_eq!(written[1..], source[start..end]);
            written.clear();
            member_plain(&mut written, &ResponseKey::new("k"), &source, start, end);
            assert_eq!(written[5..written.len() - 2], source[start..end]);
        }
    }
}

proptest! {
    #[test]
    fn all_text_is_written_as_serde_json_does(input in any::<String>()) {
        check(input.as_bytes());
    }

    #[test]
    fn dense_specials_are_written_as_serde_json_does(input in "[\\x00-\\x22\\\\\u{e9}a-c]{0,200}") {
        check(input.as_bytes());
    }

    #[test]
    fn both_scans_agree(block in any::<[u8; 16]>()) {
        let (place, other_bytes) = scan(block);
        let (expected, others_expected) = portable::scan(block);
        prop_assert_eq!((place, other_bytes == 0), (expected, others_expected == 0));
    }

    #[test]
    fn all_integers_have_their_digits(value in any::<i64>()) {
        let mut written = Vec::new();
        int(&mut written, value);
        prop_assert_eq!(String::from_utf8(written).unwrap(), value.to_string());
    }

    #[test]
    fn numbers_of_few_digits_are_written_as_all_others_are(
        digits in 0..2_000_000_000_000_000_i64,
        fewer in 0..16_u32,
        scale in 0..6_i32,
        negative in any::<bool>(),
    ) {
        let size = (digits / 10_i64.pow(fewer)) as f64 / 10_f64.powi(scale);
        let value = if negative { -size } else { size };
        check_float(value);
        check_float(f64::from_bits(value.to_bits() ^ 1));
    }

    #[test]
    fn finite_numbers_read_back(value in any::<f64>()) {
        prop_assume!(value.is_finite());
        let mut written = Vec::new();
        float(&mut written, value);
        prop_assert_eq!(String::from_utf8(written).unwrap().parse::<f64>().unwrap(), value);
    }
}
