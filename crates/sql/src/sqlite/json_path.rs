//! The `path` argument of JSON columns: `$.a.b`, `a.b`, `[0].x`, `['odd key']` become SQLite's path.
//!
//! **Invariant:** the path is bound, never pasted; a key that SQLite's paths cannot hold is refused.

/// SQLite's form of a path; `None` if it is no path.
pub(super) fn translate(path: &str) -> Option<String> {
    let mut out = String::from("$");
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    while !rest.is_empty() {
        if let Some(bracket) = rest.strip_prefix('[') {
            rest = bracketed(bracket, &mut out)?;
            continue;
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        key(&rest[..end], &mut out)?;
        rest = &rest[end..];
    }
    Some(out)
}

fn bracketed<'p>(rest: &'p str, out: &mut String) -> Option<&'p str> {
    let quote = rest.chars().next().filter(|it| matches!(it, '\'' | '"'));
    if let Some(quote) = quote {
        let (name, rest) = rest[1..].split_once(quote)?;
        key(name, out)?;
        return rest.strip_prefix(']');
    }
    let (digits, rest) = rest.split_once(']')?;
    if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    out.push_str(&format!("[{digits}]"));
    Some(rest)
}

fn key(name: &str, out: &mut String) -> Option<()> {
    if name.is_empty() || name.contains(['"', '\\']) {
        return None;
    }
    out.push_str(".\"");
    out.push_str(name);
    out.push('"');
    Some(())
}

#[cfg(test)]
mod tests {
    use super::translate;

    fn check(path: &str, expected: Option<&str>) {
        assert_eq!(translate(path).as_deref(), expected, "{path}");
    }

    #[test]
    fn every_form_of_a_path_is_understood() {
        check("$.a.b", Some("$.\"a\".\"b\""));
        check("a.b", Some("$.\"a\".\"b\""));
        check(".a", Some("$.\"a\""));
        check("[0].x", Some("$[0].\"x\""));
        check("['odd key'][\"k\"]", Some("$.\"odd key\".\"k\""));
        check("$", Some("$"));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for path in ["a..b", "[", "[x]", "['k", "a\"b", "[-1]", "."] {
            check(path, None);
        }
    }
}
