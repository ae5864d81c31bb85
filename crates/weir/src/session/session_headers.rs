//! Session variables in headers: `x-hasura-…`, with `x-weir-…` as an alias.
//!
//! If a request has both names of one variable, Weir's counts.

use super::auth_error::{AuthError, AuthFault};
use super::secret::SECRET_HEADERS;
use super::{ROLE, Variables};
use hyper::HeaderMap;
use hyper::header::HeaderName;

/// Prefixes of session headers. If both are sent for one variable, the later one counts.
pub(super) const STARTS: [&str; 2] = ["x-hasura-", "x-weir-"];
/// Variable for backend-only permissions, without prefix.
const BACKEND_ONLY: &str = "use-backend-only-permissions";

/// Headers about the consistency of reads.
const READ_HEADERS: [&str; 2] = ["x-weir-consistency", "x-weir-position"];

/// True for a session header, which excludes secrets and headers about consistency.
pub(super) fn is_session(name: &HeaderName) -> bool {
    STARTS.iter().any(|it| name.as_str().starts_with(it))
        && !SECRET_HEADERS.contains(name)
        && !READ_HEADERS.contains(&name.as_str())
}

/// Session variables of a trusted caller.
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

/// Role requested by the client; an empty value means none.
pub(super) fn role(headers: &HeaderMap) -> Result<Option<&str>, AuthError> {
    variable(headers, ROLE)
}

/// True if the request asks for backend-only permissions.
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

/// Session headers of an untrusted caller, which are ignored, except for the role if `takes_role`.
pub(super) fn ignored_names(headers: &HeaderMap, takes_role: bool) -> Vec<HeaderName> {
    let is_role = |name: &HeaderName| STARTS.iter().any(|it| name.as_str().strip_prefix(it) == Some(ROLE));
    headers.keys().filter(|it| is_session(it) && !(takes_role && is_role(it))).cloned().collect()
}

/// Value of one variable, named without prefix; an empty value means none.
fn variable<'h>(headers: &'h HeaderMap, rest: &str) -> Result<Option<&'h str>, AuthError> {
    for start in STARTS.iter().rev() {
        let is_it = |name: &&HeaderName| name.as_str().strip_prefix(start) == Some(rest);
        let Some(name) = headers.keys().find(is_it) else { continue };
        let text = text(headers, name)?;
        return Ok(Some(text).filter(|it| !it.is_empty()));
    }
    Ok(None)
}

/// Value of the header `name`, which exists.
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
    use super::*;
    use crate::session::tests::headers;

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
