//! Names that `$claims` may read: session variables and claims of the token.

use weir_engine::caller::SESSION_PREFIX;

/// Names to look up for `$claims.name`, in order: a session variable, which may have its full name, and a claim of the token.
pub(crate) fn claim_names(name: &str) -> (String, Option<&str>) {
    match session_variable(name) {
        Some(variable) => (variable, None),
        None => (format!("{SESSION_PREFIX}{}", name.to_ascii_lowercase()), Some(name)),
    }
}

/// The session variable with the name of a client header. Clients can send any header, but not set the variable.
pub(crate) fn session_variable(name: &str) -> Option<String> {
    /// Alternative prefix of session variables.
    const WEIR_PREFIX: &str = "x-weir-";
    let name = name.to_ascii_lowercase();
    let own = name.strip_prefix(SESSION_PREFIX).or_else(|| name.strip_prefix(WEIR_PREFIX))?;
    Some(format!("{SESSION_PREFIX}{own}"))
}
