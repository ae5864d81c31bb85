//! The `path` argument of JSON columns: `$.a.b`, `a.b`, `[0].x`, `a.["odd key"]` as steps, which each database writes its way.

/// A step of a path into a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonStep<'p> {
    /// Into an object; the key may be a number, which is also a place in an array.
    Key(&'p str),
    /// Into an array: digits.
    Index(&'p str),
}

/// The steps of `path`; `None` if it is no path.
pub(crate) fn steps(path: &str) -> Option<Vec<JsonStep<'_>>> {
    let mut out = Vec::new();
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    while !rest.is_empty() {
        let step;
        rest = rest.strip_prefix('.').unwrap_or(rest);
        (step, rest) = match rest.strip_prefix('[') {
            Some(bracket) => read_bracket(bracket)?,
            None => {
                let (key, rest) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
                (JsonStep::Key(key), rest)
            }
        };
        if step == JsonStep::Key("") {
            return None;
        }
        out.push(step);
    }
    Some(out)
}

fn read_bracket(rest: &str) -> Option<(JsonStep<'_>, &str)> {
    if let Some(quote) = rest.chars().next().filter(|it| matches!(it, '\'' | '"')) {
        let (name, rest) = rest[1..].split_once(quote)?;
        return Some((JsonStep::Key(name), rest.strip_prefix(']')?));
    }
    let (digits, rest) = rest.split_once(']')?;
    let is_index = (1..=9).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_digit());
    is_index.then_some((JsonStep::Index(digits), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: &[JsonStep<'_>]) {
        assert_eq!(steps(path).as_deref(), Some(expected), "{path}");
    }

    #[test]
    fn every_form_of_a_path_is_understood() {
        let [a, b, k] = ["a", "b", "k"].map(JsonStep::Key);
        check("$.a.b", &[a, b]);
        check("a.b", &[a, b]);
        check(".a", &[a]);
        check("[0].a", &[JsonStep::Index("0"), a]);
        check("['odd key'][\"k\"]", &[JsonStep::Key("odd key"), k]);
        check("a.[\"k\"]", &[a, k]);
        check("$.['k'].[0].b", &[k, JsonStep::Index("0"), b]);
        check(".[0]", &[JsonStep::Index("0")]);
        check("$", &[]);
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for path in ["a..b", "a.", "a.[", "a..[0]", "[", "[x]", "['k", "['']", "[-1]", "."] {
            assert_eq!(steps(path), None, "{path}");
        }
    }
}
