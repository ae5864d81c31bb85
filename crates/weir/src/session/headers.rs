//! Session variables in headers: `x-hasura-…`, and `x-weir-…` as another name of the same.
//!
//! If a request has both names of one variable, Weir's counts.

use super::error::{AuthError, AuthFault};
use super::secret::SECRET_HEADERS;
use super::{ROLE, Variables};
use hyper::HeaderMap;
use hyper::header::HeaderName;

/// Beginnings of the names of session headers; of two names of one variable the later counts.
pub(super) const STARTS: [&str; 2] = ["x-hasura-", "x-weir-"];
/// The variable that opens permissions for backends, without its beginning.
const BACKEND_ONLY: &str = "use-backend-only-permissions";

/// Headers of the consistency of reads.
const READ_HEADERS: [&str; 2] = ["x-weir-consistency", "x-weir-position"];

/// True for the name of a session header; a secret is none, and no header of the consistency of reads.
pub(super) fn is_session(name: &HeaderName) -> bool {
    STARTS.iter().any(|it| name.as_str().starts_with(it))
        && !SECRET_HEADERS.contains(name)
        && !READ_HEADERS.contains(&name.as_str())
}

/// Session variables of a caller whose headers are trusted.
pub(super) fn variables(headers: &HeaderMap) -> Result<Variables, AuthError> {
    let mut found = Variables::default();
    for start in STARTS {
        for name in headers.keys().filter(|it| is_session(it)) {
            let Some(rest) = name.as_str().strip_prefix(start) else { continue };
            let text = text(headers, name)?;
            found.set(&format!("x-hasura-{rest}"), text);
        }
    }
    Ok(found)
}

/// The role that the request asks for; an empty one is none.
pub(super) fn role(headers: &HeaderMap) -> Result<Option<&str>, AuthError> {
    variable(headers, ROLE)
}

/// True if the request asks for the permissions of backends.
pub(super) fn backend_only(headers: &HeaderMap) -> Result<bool, AuthError> {
    let Some(text) = variable(headers, BACKEND_ONLY)? else { return Ok(false) };
    let is_one_of = |list: [&str; 4]| list.iter().any(|it| it.eq_ignore_ascii_case(text));
    if is_one_of(["true", "t", "yes", "y"]) {
        return Ok(true);
    }
    if is_one_of(["false", "f", "no", "n"]) {
        return Ok(false);
    }
    let message = "x-hasura-use-backend-only-permissions: Not a valid boolean text. True values are \
                   [\"true\",\"t\",\"yes\",\"y\"] and  False values are [\"false\",\"f\",\"no\",\"n\"]. \
                   All values are case insensitive";
    Err(AuthError::new(AuthFault::SessionHeader, message))
}

/// Names of the session headers of a caller who is not trusted, which do not count; the role does where `takes_role`.
pub(super) fn ignored(headers: &HeaderMap, takes_role: bool) -> Vec<HeaderName> {
    let is_role = |name: &HeaderName| STARTS.iter().any(|it| name.as_str().strip_prefix(it) == Some(ROLE));
    headers.keys().filter(|it| is_session(it) && !(takes_role && is_role(it))).cloned().collect()
}

/// The text of one variable, named without its beginning; an empty one is none.
fn variable<'h>(headers: &'h HeaderMap, rest: &str) -> Result<Option<&'h str>, AuthError> {
    for start in STARTS.iter().rev() {
        let is_it = |name: &&HeaderName| name.as_str().strip_prefix(start) == Some(rest);
        let Some(name) = headers.keys().find(is_it) else { continue };
        let text = text(headers, name)?;
        return Ok(Some(text).filter(|it| !it.is_empty()));
    }
    Ok(None)
}

/// The text of the header `name`, which the request has.
fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<&'h str, AuthError> {
    let wrong =
        |words: &str| AuthError::new(AuthFault::SessionHeader, format!("the header `{name}` {words}"));
    let mut lines = headers.get_all(name).iter();
    match (lines.next(), lines.next()) {
        (Some(one), None) => std::str::from_utf8(one.as_bytes()).map_err(|_| wrong("is not in UTF-8")),
        (_, Some(_)) => Err(wrong("is there twice")),
        (None, None) => Ok(""),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::headers;
    use super::*;

    fn check(lines: &[(&'static str, &str)], expected: Result<&[(&str, &str)], &str>) {
        match (variables(&headers(lines)), expected) {
            (Ok(found), Ok(wanted)) => assert_eq!(found.iter().collect::<Vec<_>>(), wanted, "{lines:?}"),
            (Err(error), Err(part)) => assert!(error.message.contains(part), "{error:?}"),
            (found, _) => panic!("{lines:?}: {found:?}"),
        }
    }

    #[test]
    fn variables_have_hasura_s_names_and_weir_s_header_counts() {
        check(&[("accept", "a"), ("x-hasura-admin-secret", "s"), ("x-weir-admin-secret", "s")], Ok(&[]));
        check(&[("x-weir-consistency", "strong"), ("x-weir-position", "main=0/1")], Ok(&[]));
        check(
            &[("x-weir-user-id", "2"), ("x-hasura-user-id", "1"), ("x-hasura-a", "")],
            Ok(&[("x-hasura-a", ""), ("x-hasura-user-id", "2")]),
        );
        check(&[("x-hasura-name", "Ada Łoś")], Ok(&[("x-hasura-name", "Ada Łoś")]));
        check(&[("x-hasura-a", "1"), ("x-hasura-a", "2")], Err("`x-hasura-a` is there twice"));
    }

    #[test]
    fn the_role_is_one_text_and_empty_is_none() {
        assert_eq!(role(&headers(&[("x-hasura-role", "a"), ("x-weir-role", "b")])), Ok(Some("b")));
        assert_eq!(role(&headers(&[("x-hasura-role", "")])), Ok(None));
        assert!(role(&headers(&[("x-hasura-role", "a"), ("x-hasura-role", "b")])).is_err());
    }

    #[test]
    fn backend_permissions_are_asked_for_by_eight_words() {
        for (text, expected) in
            [("true", Some(true)), ("T", Some(true)), ("yes", Some(true)), ("N", Some(false)), ("1", None)]
        {
            let lines = [("x-hasura-use-backend-only-permissions", text)];
            assert_eq!(backend_only(&headers(&lines)).ok(), expected, "{text}");
        }
        assert_eq!(backend_only(&HeaderMap::new()), Ok(false));
    }
}
