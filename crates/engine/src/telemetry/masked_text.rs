//! The text of a document without its values: texts become `""`, numbers `0`, and comments are left out.
//!
//! **Invariant:** no character of a string, a number or a comment is kept; names, among them those of enum values, are.

/// Longest text that is kept, in bytes; a part of a document is no document.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// `text` without its values; `None` if it is too long.
pub(super) fn mask_values(text: &str) -> Option<Box<str>> {
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '#' => rest.find(['\n', '\r']).unwrap_or(rest.len()),
            '"' => {
                masked.push_str("\"\"");
                string_length(rest)
            }
            '-' | '0'..='9' => {
                masked.push('0');
                rest.find(|it: char| !is_of_number(it)).unwrap_or(rest.len())
            }
            _ if is_of_name(first) => {
                let length = rest.find(|it: char| !is_of_name(it)).unwrap_or(rest.len());
                masked.push_str(&rest[..length]);
                length
            }
            _ => {
                masked.push(first);
                first.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    Some(masked.into())
}

fn is_of_name(it: char) -> bool {
    it == '_' || it.is_ascii_alphanumeric()
}

fn is_of_number(it: char) -> bool {
    matches!(it, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')
}

/// Bytes of the string at the beginning of `text`, with its quotes.
fn string_length(text: &str) -> usize {
    if let Some(block) = text.strip_prefix("\"\"\"") {
        let mut at = 0;
        while let Some(found) = block[at..].find("\"\"\"") {
            let end = at + found;
            if !block[..end].ends_with('\\') {
                return end + 6;
            }
            at = end + 3;
        }
        return text.len();
    }
    let mut is_escaped = false;
    for (at, it) in text.char_indices().skip(1) {
        match it {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use weir_language::limits::Limits;
    use weir_language::parser;

    #[test]
    fn values_go_and_names_stay() {
        for (text, expected) in [
            (r#"{ a1(id: 17, x: -1.5e-9) { b_2 } }"#, r#"{ a1(id: 0, x: 0) { b_2 } }"#),
            (r#"{ a(name: "Ann \" 7 # x", by: desc) }"#, r#"{ a(name: "", by: desc) }"#),
            ("{ a(note: \"\"\"one \\\"\"\" \" two\"\"\") }", r#"{ a(note: "") }"#),
            ("{ a # of Ann\n b }", "{ a \n b }"),
            (
                r#"query Q($a: Int = 5) { ...F @include(if: true) }"#,
                r#"query Q($a: Int = 0) { ...F @include(if: true) }"#,
            ),
            (r#"{ a(s: "") }"#, r#"{ a(s: "") }"#),
        ] {
            assert_eq!(mask_values(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(mask_values(&" ".repeat(TEXT_BYTES_MAX + 1)), None);
    }

    proptest! {
        #[test]
        fn a_document_stays_one_and_tells_no_text(word in "[b-z]{6}[^\\\\\"\\x00-\\x1f]{0,9}", digits in "[1-9][0-9]{5}") {
            let text = format!("query Aa($a: Int = {digits}) {{ aa(x: \"{word}\", y: [{digits}, -{digits}.5], z: \"\"\"{word}\"\"\") }}");
            prop_assume!(parser::parse(&text, &Limits::NONE).is_ok());
            let masked = mask_values(&text).expect("it is short");
            prop_assert!(parser::parse(&masked, &Limits::NONE).is_ok(), "{masked}");
            prop_assert!(!masked.contains(&word) && !masked.contains(&digits), "{masked}");
        }
    }
}
