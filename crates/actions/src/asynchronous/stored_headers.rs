//! Headers of a client in the log: a JSON object, without session variables and secrets. Of one name the first is kept.

use weir_engine::source::Headers;
use weir_http::passthrough::is_of_session;
use weir_language::json::Json;
use weir_language::string_value::write_json;

/// The headers of `client` as JSON. Values that are no text are left out.
pub(crate) fn write_headers(client: &dyn Headers) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut out = String::from("{");
    client.each_line(&mut |name, value| {
        let Some(value) = std::str::from_utf8(value).ok().filter(|_| !is_of_session(name)) else { return };
        if names.contains(&name) {
            return;
        }
        names.push(name);
        out.push_str(if out.len() > 1 { "," } else { "" });
        write_json(name, &mut out);
        out.push(':');
        write_json(value, &mut out);
    });
    out.push('}');
    out
}

/// Headers that were stored.
pub(crate) struct StoredHeaders(Vec<(String, Vec<u8>)>);

impl StoredHeaders {
    /// Reads the JSON of [`write_headers`]; what is no text is left out.
    pub(crate) fn read(text: &str) -> Self {
        let Ok(json) = Json::parse(text.as_bytes(), 8) else { return Self(Vec::new()) };
        let members = json.root().members();
        let lines =
            members.filter_map(|it| Some((it.0.to_ascii_lowercase(), it.1.as_str()?.as_bytes().to_vec())));
        Self(lines.collect())
    }
}

impl Headers for StoredHeaders {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        self.0.iter().filter(|it| it.0 == name).for_each(|it| take(&it.1));
    }

    fn each_line<'h>(&'h self, take: &mut dyn FnMut(&'h str, &'h [u8])) {
        self.0.iter().for_each(|it| take(&it.0, &it.1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_stored_without_secrets() {
        let sent = StoredHeaders::read(
            r#"{"Cookie":"a=\"b\"","x-hasura-admin-secret":"s","X-Weir-Role":"user","x-own":"c","d":1,"X-OWN":"e"}"#,
        );
        assert_eq!(write_headers(&sent), r#"{"cookie":"a=\"b\"","x-own":"c"}"#);
        assert_eq!(write_headers(&StoredHeaders::read("{")), "{}");
    }
}
