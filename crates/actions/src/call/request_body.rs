//! JSON of a call.

use weir_engine::caller::{Claims, SESSION_PREFIX};
use weir_language::string_value::write_json;

/// Names of session variables that are secrets.
const SECRETS: [&str; 2] = ["x-hasura-admin-secret", "x-hasura-access-key"];

#[derive(Clone, Copy)]
pub(crate) struct BodyParts<'b> {
    /// Name of the action.
    pub(crate) action: &'b str,
    /// JSON object of arguments.
    pub(crate) input: &'b str,
    /// JSON object of session variables.
    pub(crate) session_variables: &'b str,
    /// The client's document; `None` for calls that nobody waits for.
    pub(crate) request_query: Option<&'b str>,
}

impl BodyParts<'_> {
    /// The body.
    pub(crate) fn write(&self) -> String {
        let mut out = String::from("{\"action\":{\"name\":");
        write_json(self.action, &mut out);
        out.push_str("},\"input\":");
        out.push_str(self.input);
        out.push_str(",\"session_variables\":");
        out.push_str(self.session_variables);
        out.push_str(",\"request_query\":");
        self.write_query(&mut out);
        out.push('}');
        out
    }

    fn write_query(&self, out: &mut String) {
        match self.request_query {
            Some(query) => write_json(query, out),
            None => out.push_str("null"),
        }
    }

    /// The request as the admin is told of it; `handler` is the address as it is configured.
    pub(crate) fn write_internal(&self, handler: &str, transformed: Option<&str>, out: &mut String) {
        out.push_str("{\"url\":");
        write_json(handler, out);
        out.push_str(",\"action\":{\"name\":");
        write_json(self.action, out);
        out.push_str("},\"input\":");
        out.push_str(self.input);
        out.push_str(",\"request_query\":");
        self.write_query(out);
        out.push_str(",\"transformed_request\":");
        out.push_str(transformed.unwrap_or("null"));
        out.push('}');
    }
}

/// JSON object of the session variables of a caller.
pub(crate) fn session_variables(claims: &Claims) -> String {
    let mut out = String::from("{");
    let known = claims.variables().iter().filter(|it| it.0.starts_with(SESSION_PREFIX));
    for (name, value) in known.filter(|it| !SECRETS.contains(&&*it.0)) {
        if out.len() > 1 {
            out.push(',');
        }
        write_json(name, &mut out);
        out.push(':');
        write_json(value, &mut out);
    }
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_engine::caller::Token;

    #[test]
    fn a_body_has_hasura_s_members() {
        let parts = BodyParts {
            action: "place_order",
            input: r#"{"order":{"sku":"a"}}"#,
            session_variables: r#"{"x-hasura-role":"user"}"#,
            request_query: Some("mutation { place_order }"),
        };
        assert_eq!(
            parts.write(),
            r#"{"action":{"name":"place_order"},"input":{"order":{"sku":"a"}},"session_variables":{"x-hasura-role":"user"},"request_query":"mutation { place_order }"}"#
        );
        let asynchronous = BodyParts { request_query: None, ..parts };
        assert!(asynchronous.write().ends_with(r#""request_query":null}"#));
    }

    #[test]
    fn session_variables_are_without_secrets() {
        let variables = [
            ("X-Hasura-Role", "user"),
            ("x-hasura-admin-secret", "s"),
            ("x-hasura-access-key", "s"),
            ("token:sub", "1"),
            ("x-hasura-user-id", "4\"5"),
        ];
        let variables = variables.map(|it| (it.0.to_owned(), it.1.to_owned()));
        let claims = Claims::new(variables, Token::Absent);
        assert_eq!(session_variables(&claims), r#"{"x-hasura-role":"user","x-hasura-user-id":"4\"5"}"#);
    }
}
