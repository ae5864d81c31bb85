//! Variables of the environment in values of `weir.yaml`, quoted or not: `${NAME}`, `${NAME:-default}` and the other forms of
//! Docker Compose.
//!
//! Only `${` begins a variable and only `$${` escapes it, so that `$` and `$$` in passwords stay. A variable without a value and
//! without a default is an error. A value of the environment is not filled again.

use std::collections::HashMap;

const SYNTAX: &str =
    "`${` begins a variable, `${NAME}` or `${NAME:-default}`; write `$${` for the characters";

/// `text` with its variables replaced; `None` if it has none.
///
/// # Errors
/// A variable has no value, or `${` is malformed. The message contains no values of the environment.
pub(crate) fn fill(text: &str, environment: &HashMap<String, String>) -> Result<Option<String>, String> {
    if !text.contains("${") {
        return Ok(None);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if let Some(before) = rest[..at].strip_suffix('$') {
            out.push_str(before);
            out.push_str("${");
            rest = &rest[at + "${".len()..];
            continue;
        }
        out.push_str(&rest[..at]);
        let inside = &rest[at + "${".len()..];
        let end = end(inside).ok_or(SYNTAX)?;
        out.push_str(&value(&inside[..end], environment)?);
        rest = &inside[end + "}".len()..];
    }
    out.push_str(rest);
    Ok(Some(out))
}

/// Length of the text before the brace that closes a variable.
fn end(inside: &str) -> Option<usize> {
    let mut open = 0_usize;
    let bytes = inside.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' if at > 0 && bytes[at - 1] == b'$' => open += 1,
            b'}' if open == 0 => return Some(at),
            b'}' => open -= 1,
            _ => {}
        }
    }
    None
}

/// The value of the variable between its braces.
fn value(inside: &str, environment: &HashMap<String, String>) -> Result<String, String> {
    let name = &inside[..name_length(inside)];
    if name.is_empty() {
        return Err(SYNTAX.to_owned());
    }
    let found = environment.get(name);
    let operand = &inside[name.len()..];
    let (is_set, operand) = match operand.strip_prefix(':') {
        Some("") => return Err(SYNTAX.to_owned()),
        Some(operand) => (found.is_some_and(|it| !it.is_empty()), operand),
        None => (found.is_some(), operand),
    };
    let filled = |text: &str| Ok(fill(text, environment)?.unwrap_or_else(|| text.to_owned()));
    let own = || found.cloned().unwrap_or_default();
    match (operand.split_at_checked(1), is_set) {
        (None, true) => Ok(own()),
        (None, false) => {
            Err(format!("the environment has no `{name}`; set it, or give a default: `${{{name}:-…}}`"))
        }
        (Some(("-" | "?", _)), true) => Ok(own()),
        (Some(("-", default)), false) => filled(default),
        (Some(("?", message)), false) => Err(format!("the environment has no `{name}`: {message}")),
        (Some(("+", instead)), true) => filled(instead),
        (Some(("+", _)), false) => Ok(String::new()),
        (Some(_), _) => Err(SYNTAX.to_owned()),
    }
}

/// Length of the variable name at the start of `text`; 0 if there is none.
fn name_length(text: &str) -> usize {
    if text.starts_with(|it: char| it.is_ascii_digit()) {
        return 0;
    }
    text.find(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let set = [("X", "x"), ("EMPTY", ""), ("TWICE", "${X}")];
        let environment = set.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        match (fill(text, &environment), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found.as_deref().unwrap_or(text), expected),
            (Err(message), Err(part)) => assert!(message.contains(part), "{message}"),
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn a_variable_has_a_value_or_a_default() {
        check("b${X}é${X}", Ok("bxéx"));
        check("${Y}", Err("the environment has no `Y`; set it, or give a default: `${Y:-…}`"));
        check("${EMPTY}|${EMPTY:-d}|${EMPTY-d}", Ok("|d|"));
        check("${Y:-a}${Y-b}", Ok("ab"));
        check("${Y:-${X}}|${Y:-${Z:-z}}|", Ok("x|z|"));
        check("${Y:-${Z}}", Err("no `Z`"));
        check("${X:-${Z}}", Ok("x"));
    }

    #[test]
    fn a_variable_may_ask_for_a_value_in_words_or_be_replaced() {
        check("${Y:?ask Ada}", Err("the environment has no `Y`: ask Ada"));
        check("${EMPTY?no}${X?no}", Ok("x"));
        check("${X:+on}${Y:+on}${EMPTY+set}", Ok("onset"));
    }

    #[test]
    fn a_value_is_not_filled_again() {
        check("${TWICE}", Ok("${X}"));
    }

    #[test]
    fn other_dollars_stay() {
        check("$${X}", Ok("${X}"));
        check("pa$$wo$X$", Ok("pa$$wo$X$"));
        check("pa$$wo$ ${X}$", Ok("pa$$wo$ x$"));
    }

    #[test]
    fn a_brace_that_begins_no_variable_is_an_error() {
        for text in ["a${X", "${}", "${1}", "${a.b}", "${X:}", "${X:=1}", "${Y:-${X}"] {
            check(text, Err("`${` begins a variable"));
        }
    }
}
