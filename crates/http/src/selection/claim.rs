//! The names that `$claims` reads: session variables, and claims of the token.

use weir_engine::caller::SESSION_PREFIX;

/// The names under which `$claims.name` is looked up, in this order: a session variable, whose full name may be written, and a
/// claim of the token.
pub(crate) fn claim_names(name: &str) -> (String, Option<&str>) {
    match session_variable(name) {
        Some(variable) => (variable, None),
        None => (format!("{SESSION_PREFIX}{}", name.to_ascii_lowercase()), Some(name)),
    }
}

/// The session variable that a header called `name` is of. The header says what any client likes, the variable does not.
pub(crate) fn session_variable(name: &str) -> Option<String> {
    /// The other beginning of their names.
    const WEIR_PREFIX: &str = "x-weir-";
    let name = name.to_ascii_lowercase();
    let own = name.strip_prefix(SESSION_PREFIX).or_else(|| name.strip_prefix(WEIR_PREFIX))?;
    Some(format!("{SESSION_PREFIX}{own}"))
}
