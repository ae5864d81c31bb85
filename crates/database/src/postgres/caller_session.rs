//! Settings by which the database knows the caller of a transaction: `hasura.user`, `hasura.tracecontext`, and with row-level security the
//! role and what PostgREST hands to policies.
//!
//! **Invariant:** a transaction with row-level security has the role of its caller or fails: it never has that of the connection, unless
//! the caller is the admin. Every setting of a driver is set in each of its transactions that sets one, so that none is left over.
//!
//! **Cost:** a mutation copies its session; a read without the options looks at one flag.

use crate::trace_context::{find_trace, write_trace};
use std::borrow::Cow;
use std::sync::Arc;
use weir_engine::caller::{ADMIN, Caller, Claims, SESSION_PREFIX, Token, WHOLE_SESSION, WHOLE_TOKEN};
use weir_engine::source::{FetchInput, SourceError};
use weir_language::json::{Json, quote};
use weir_postgres::address::{CallerSettings, RowSecurity};
use weir_postgres::local_settings::{LocalSettings, SettingNames};
use weir_postgres::statement::Parameters;

/// The setting with the session variables, as Hasura names it.
const USER: &str = "hasura.user";
/// The setting with the trace of the request.
const TRACE: &str = "hasura.tracecontext";
/// The settings of row-level security, behind those two. Source: PostgREST's documentation, "Transaction-Scoped Settings".
const ROW_SECURITY: [&str; 3] = ["role", "request.jwt.claims", "request.headers"];
/// The value of `role` that stands for the connection's own.
const OWN_ROLE: &[u8] = b"none";

/// The settings of one database's transactions.
#[derive(Debug)]
pub(crate) struct SessionSettings {
    rules: CallerSettings,
    names: SettingNames,
}

impl SessionSettings {
    pub(crate) fn new(rules: CallerSettings) -> Self {
        let mut names = vec![USER, TRACE];
        if rules.row_security.is_some() {
            names.extend(ROW_SECURITY);
        }
        Self { names: SettingNames::new(&names), rules }
    }

    /// True if reads of different callers differ by more than their plans and values.
    pub(crate) const fn separates_reads(&self) -> bool {
        self.rules.in_reads || self.rules.row_security.is_some()
    }

    /// Names of the values that a read may depend on, as [`weir_engine::source::PreparedFetch::reads_claims`] has them.
    pub(crate) fn claims(&self) -> &'static [&'static str] {
        match self.rules.row_security {
            Some(_) => &[WHOLE_SESSION, WHOLE_TOKEN],
            None if self.rules.in_reads => &[WHOLE_SESSION],
            None => &[],
        }
    }

    /// Headers that a read may depend on.
    pub(crate) fn headers(&self) -> &[Box<str>] {
        self.rules.row_security.as_ref().map_or(&[], |it| &it.headers)
    }
}

/// The database role of a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseRole<'c> {
    /// The connection's own: the caller is the admin.
    Own,
    /// The role of this name.
    Named(Cow<'c, str>),
    /// None: the caller sees nothing.
    Nobody,
}

impl<'c> DatabaseRole<'c> {
    /// The role of a caller with `claims` by `rules`: the one that his token names; without a token that of his session.
    pub fn of(rules: &'c RowSecurity, role: &'c str, is_anonymous: bool, claims: &'c Claims) -> Self {
        let anonymous = || rules.anonymous_role.as_deref().map_or(Self::Nobody, |it| Self::Named(it.into()));
        if role == ADMIN {
            return Self::Own;
        }
        if rules.role_claim.starts_with(SESSION_PREFIX) {
            let named = claims.variable(&rules.role_claim).filter(|_| !is_anonymous);
            return named.map_or_else(anonymous, |it| Self::Named(it.into()));
        }
        match claims.token() {
            Token::Claims(_) => match claims.claim(&rules.role_claim).and_then(read_text) {
                Some(role) => Self::Named(role.into()),
                None => anonymous(),
            },
            Token::Refused(_) => Self::Nobody,
            Token::Absent if is_anonymous => anonymous(),
            Token::Absent => Self::Named(role.into()),
        }
    }
}

/// The text of a JSON string that is not empty.
fn read_text(json: &str) -> Option<String> {
    let json = Json::parse(json.as_bytes(), 1).ok()?;
    json.root().as_str().map(Cow::into_owned).filter(|it| !it.is_empty())
}

impl SessionSettings {
    /// The settings of a read; `None`: reads of all callers are alike.
    pub(super) fn of_read(&self, input: &FetchInput<'_>) -> Option<Arc<LocalSettings>> {
        self.separates_reads().then(|| self.of(input))
    }

    /// The settings of a mutation, on a database that knows such settings or not; `None`: it has none.
    pub(super) fn of_mutation(&self, input: &FetchInput<'_>, can_set: bool) -> Option<Arc<LocalSettings>> {
        let sets = self.rules.in_mutations && can_set || self.separates_reads();
        sets.then(|| self.of(input))
    }

    /// Refuses a caller without a database role where transactions need one.
    pub(super) fn check_role(&self, input: &FetchInput<'_>) -> Result<(), SourceError> {
        let Some(rules) = &self.rules.row_security else { return Ok(()) };
        match role_of(rules, input.caller) {
            DatabaseRole::Own | DatabaseRole::Named(_) => Ok(()),
            // Such a caller sees no field, so that nothing gets here.
            DatabaseRole::Nobody => Err(SourceError::Broken("a caller without a database role".into())),
        }
    }
}

fn role_of<'c>(rules: &'c RowSecurity, caller: &'c Caller) -> DatabaseRole<'c> {
    DatabaseRole::of(rules, caller.role(), caller.is_anonymous(), caller.claims())
}

impl SessionSettings {
    fn of(&self, input: &FetchInput<'_>) -> Arc<LocalSettings> {
        let mut values = Parameters::new();
        values.push(input.caller.claims().session().as_bytes());
        match find_trace(input).map(write_trace) {
            Some(text) => values.push(text.as_bytes()),
            None => values.push_null(),
        }
        if let Some(rules) = &self.rules.row_security {
            let role = role_of(rules, input.caller);
            push_row_security(rules, &role, input, &mut values);
        }
        self.names.with_values(values)
    }
}

/// Appends the role, the claims and the headers.
fn push_row_security(
    rules: &RowSecurity,
    role: &DatabaseRole<'_>,
    input: &FetchInput<'_>,
    values: &mut Parameters,
) {
    let name = match role {
        DatabaseRole::Own => {
            values.push(OWN_ROLE);
            input.caller.role()
        }
        DatabaseRole::Named(name) => {
            values.push(name.as_bytes());
            name
        }
        // No role has an empty name, so the transaction fails.
        DatabaseRole::Nobody => {
            values.push(b"");
            ""
        }
    };
    match input.caller.claims().token_text() {
        Some(claims) => values.push(claims.as_bytes()),
        None => {
            let mut claims = String::from("{\"role\":");
            quote(name, &mut claims);
            claims.push('}');
            values.push(claims.as_bytes());
        }
    }
    let mut headers = String::from("{");
    for name in &rules.headers {
        let mut text = String::new();
        input.headers.each(name, &mut |value| {
            text.push_str(if text.is_empty() { "" } else { ", " });
            text.push_str(&String::from_utf8_lossy(value));
        });
        if !text.is_empty() {
            headers.push_str(if headers.len() > 1 { "," } else { "" });
            quote(name, &mut headers);
            headers.push(':');
            quote(&text, &mut headers);
        }
    }
    headers.push('}');
    values.push(headers.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(token: Token, role: &str, is_anonymous: bool, expected: DatabaseRole<'_>) {
        let rules = RowSecurity {
            role_claim: "role".into(),
            anonymous_role: Some("anon".into()),
            headers: Box::default(),
        };
        let claims = Claims::new([("x-hasura-role".to_owned(), role.to_owned())], token);
        assert_eq!(DatabaseRole::of(&rules, role, is_anonymous, &claims), expected);
    }

    fn token(claims: &[(&str, &str)]) -> Token {
        Token::of(claims.iter().map(|it| (it.0.to_owned(), it.1.to_owned())))
    }

    #[test]
    fn the_role_is_that_of_the_token_and_never_the_connections_own_but_for_the_admin() {
        let named = |it: &'static str| DatabaseRole::Named(it.into());
        check(token(&[("role", "\"clerk\"")]), "user", false, named("clerk"));
        check(token(&[("role", "\"a\\\"b\"")]), "user", false, named("a\"b"));
        check(token(&[("sub", "\"7\"")]), "user", false, named("anon"));
        check(token(&[("role", "\"\"")]), "user", false, named("anon"));
        check(token(&[("role", "[\"clerk\"]")]), "user", false, named("anon"));
        check(token(&[("role", "\"clerk\"")]), ADMIN, false, DatabaseRole::Own);
        check(Token::Absent, "user", false, named("user"));
        check(Token::Absent, "user", true, named("anon"));
        check(Token::Refused("expired".into()), "user", false, DatabaseRole::Nobody);
    }

    #[test]
    fn without_an_anonymous_role_such_callers_have_none() {
        let rules = RowSecurity { role_claim: "role".into(), anonymous_role: None, headers: Box::default() };
        let claims = Claims::new([], token(&[]));
        assert_eq!(DatabaseRole::of(&rules, "user", false, &claims), DatabaseRole::Nobody);
        let rules = RowSecurity { role_claim: "x-hasura-db-role".into(), ..rules };
        let claims = Claims::new([("x-hasura-db-role".into(), "clerk".into())], Token::Absent);
        assert_eq!(DatabaseRole::of(&rules, "user", false, &claims), DatabaseRole::Named("clerk".into()));
        assert_eq!(DatabaseRole::of(&rules, "user", true, &claims), DatabaseRole::Nobody);
    }
}
