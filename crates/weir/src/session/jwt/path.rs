//! Paths into the claims of a token: `$.user.roles`, `$["https://app.example/roles"][0]`.

use std::fmt;
use weir_language::json::JsonRef;

/// A path from the root of the claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonPath {
    steps: Vec<PathStep>,
    text: Box<str>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PathStep {
    Member(Box<str>),
    Item(usize),
}

impl JsonPath {
    /// Parses `text`: an optional `$`, then `.name`, `["any"]`, `['any']` and `[0]`.
    /// # Errors
    /// The first invalid part and the correct syntax.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text.strip_prefix('$').unwrap_or(text);
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let is_first = steps.is_empty() && !text.starts_with('$');
            let (step, after) = step(rest, is_first).ok_or_else(|| {
                format!("`{text}` is no path at `{rest}`; write `$.name`, `$[0]` or `$[\"any name\"]`")
            })?;
            steps.push(step);
            rest = after;
        }
        if text.is_empty() {
            return Err("a path is empty; `$` is the token itself".into());
        }
        Ok(Self { steps, text: text.into() })
    }

    /// The value at the path.
    pub(crate) fn find<'t>(&self, root: JsonRef<'t>) -> Option<JsonRef<'t>> {
        self.steps.iter().try_fold(root, |at, step| match step {
            PathStep::Member(name) => at.get(name),
            PathStep::Item(place) if at.is_array() => at.items().nth(*place),
            PathStep::Item(_) => None,
        })
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// First step of `text`, and the rest. The first step of a path may lack its dot.
fn step(text: &str, is_first: bool) -> Option<(PathStep, &str)> {
    if let Some(inner) = text.strip_prefix('[') {
        let quote = inner.chars().next()?;
        if quote == '"' || quote == '\'' {
            let (name, rest) = inner[1..].split_once(quote)?;
            return Some((PathStep::Member(name.into()), rest.strip_prefix(']')?));
        }
        let (digits, rest) = inner.split_once(']')?;
        let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
        return Some((PathStep::Item(is_number.then(|| digits.parse().ok())??), rest));
    }
    let name = match text.strip_prefix('.') {
        Some(name) => name,
        None if is_first => text,
        None => return None,
    };
    let is_part = |it: char| it.is_alphanumeric() || it == '-' || it == '_';
    let end = name.find(|it| !is_part(it)).unwrap_or(name.len());
    let (name, rest) = name.split_at(end);
    let first = name.chars().next()?;
    (first.is_alphabetic() || first == '_').then(|| (PathStep::Member(name.into()), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_language::json::Json;

    const CLAIMS: &[u8] = br#"{"a":{"b-c":[{"d":1},2]},"https://e.example/f":3,"it's":4}"#;

    fn check(path: &str, expected: Option<&str>) {
        let json = Json::parse(CLAIMS, 9).expect("it is JSON");
        let path = JsonPath::parse(path).expect("it is a path");
        assert_eq!(path.find(json.root()).map(JsonRef::raw), expected, "{path}");
    }

    #[test]
    fn jwt_path_walks_members_and_items() {
        check("$", std::str::from_utf8(CLAIMS).ok());
        for path in ["$.a.b-c[0].d", "a.b-c[0].d", ".a['b-c'][0][\"d\"]"] {
            check(path, Some("1"));
        }
        check("$[\"https://e.example/f\"]", Some("3"));
        check("$[\"it's\"]", Some("4"));
        for path in ["$.a.b-c[2]", "$.a[0]", "$.x", "$.a.b-c.d", "$.a.b-c[99999999999999]"] {
            check(path, None);
        }
    }

    #[test]
    fn jwt_path_that_is_none_is_refused() {
        for path in
            ["", "$a", "$..a", "$.", "$.1", "$[", "$[a]", "$['a]", "$['a'", "$[-1]", "$.a b", "$[]", "a..b"]
        {
            assert!(JsonPath::parse(path).is_err(), "{path}");
        }
    }
}
