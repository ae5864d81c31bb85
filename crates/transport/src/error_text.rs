//! Errors of the transport as JSON.

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

/// Appends `text` as a JSON string. For errors and small pages only.
pub fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|it| *it < b' ' || matches!(it, b'"' | b'\\')) {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            control => out.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
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
