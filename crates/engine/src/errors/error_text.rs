//! Errors that no failure of an operation stands behind, as those of a transport, as JSON.

use weir_language::string_value::push_json;

/// `{"errors":[{"message":…,"extensions":{…}}]}`; with `hasura_path` in the member order of Hasura.
pub fn error_body(message: &str, code: &str, hasura_path: Option<&str>) -> Vec<u8> {
    let mut out = Vec::with_capacity(96 + message.len());
    out.extend_from_slice(b"{\"errors\":[");
    error_object(&mut out, message, code, hasura_path);
    out.extend_from_slice(b"]}");
    out
}

/// Appends one error, in the format of [`error_body`].
pub fn error_object(out: &mut Vec<u8>, message: &str, code: &str, hasura_path: Option<&str>) {
    out.extend_from_slice(b"{\"message\":");
    string(out, message);
    out.extend_from_slice(b",\"extensions\":{");
    if let Some(path) = hasura_path {
        out.extend_from_slice(b"\"path\":");
        string(out, path);
        out.push(b',');
    }
    out.extend_from_slice(b"\"code\":");
    string(out, code);
    out.extend_from_slice(b"}}");
}

/// Appends `text` as a JSON string.
pub fn string(out: &mut Vec<u8>, text: &str) {
    push_json(text, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_has_the_shortest_form() {
        let every: String = (0..0x80).map(char::from).chain("é\u{2028}\u{10ffff}".chars()).collect();
        let mut out = Vec::new();
        string(&mut out, &every);
        assert_eq!(String::from_utf8(out).ok(), serde_json::to_string(&every).ok());
    }
}
