//! Steps into a document as SQLite's paths: `$."a"[0]`.
//!
//! **Invariant:** the path is bound, never pasted; a key that SQLite's paths cannot hold is refused.

use crate::exec::json_path::{JsonStep, steps};

/// SQLite's form of a path; `None` if it is no path.
pub(crate) fn translate(path: &str) -> Option<String> {
    let mut out = String::from("$");
    for step in steps(path)? {
        match step {
            JsonStep::Key(name) if name.contains(['"', '\\']) => return None,
            JsonStep::Key(name) => out.extend([".\"", name, "\""]),
            JsonStep::Index(digits) => out.extend(["[", digits, "]"]),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::translate;

    fn check(path: &str, expected: Option<&str>) {
        assert_eq!(translate(path).as_deref(), expected, "{path}");
    }

    #[test]
    fn steps_are_written_as_sqlite_has_them() {
        check("a['odd key'][0]", Some("$.\"a\".\"odd key\"[0]"));
        check("$", Some("$"));
        check("a\"b", None);
    }
}
