//! The parameters of a request: query, operation name and variables, borrowed from a body in JSON, or decoded from a URL.
//!
//! **Cost:** strings of a body without escapes are not copied.
//!
//! Source: GraphQL over HTTP, section 5.

use crate::error_text::string;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use weir_language::json::{Json, JsonRef};

/// Message about a URL that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// Parameters of a request.
#[derive(Clone, Debug)]
pub struct Params<'t> {
    /// The document.
    pub query: Cow<'t, str>,
    /// The operation to run, of several.
    pub operation_name: Option<Cow<'t, str>>,
    /// The variables: an object.
    pub variables: Option<JsonRef<'t>>,
}

/// Why there are no parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// `query` is missing.
    NoQuery,
    /// Only the hash of a query came; there is no store of them.
    PersistedOnly,
    /// The hash that came with a query is another text's.
    OtherHash,
    /// A parameter has another type than it must have.
    Wrong(&'static str),
    /// No object at all.
    NoObject,
}

impl Unusable {
    /// Message for the client.
    pub const fn message(&self) -> &'static str {
        match self {
            Self::NoQuery => "`query` is missing: send {\"query\": \"{ … }\"}",
            Self::PersistedOnly => "PersistedQueryNotSupported",
            Self::OtherHash => "provided sha does not match query",
            Self::Wrong(message) => message,
            Self::NoObject => "the body must be a JSON object: {\"query\": \"{ … }\"}",
        }
    }

    /// The code of an answer that clients look for, then send the whole text; nothing for what is no request at all.
    pub const fn persisted_code(&self) -> Option<&'static str> {
        match self {
            Self::PersistedOnly => Some("PERSISTED_QUERY_NOT_SUPPORTED"),
            Self::OtherHash => Some("PERSISTED_QUERY_MISMATCH"),
            Self::NoQuery | Self::Wrong(_) | Self::NoObject => None,
        }
    }
}

/// The parameters in an object of a body.
pub fn params<'t>(body: JsonRef<'t>) -> Result<Params<'t>, Unusable> {
    if !body.is_object() {
        return Err(Unusable::NoObject);
    }
    let mut query = None;
    let mut operation_name = None;
    let mut variables = None;
    let mut extensions = None;
    for (key, value) in body.members() {
        match key.as_ref() {
            "query" => query = Some(value),
            "operationName" => operation_name = Some(value),
            "variables" => variables = Some(value),
            "extensions" => extensions = Some(value),
            // Unknown keys are ignored: other servers use them.
            _ => {}
        }
    }
    let present = |it: Option<JsonRef<'t>>| it.filter(|it| !it.is_null());
    let variables = present(variables);
    let extensions = present(extensions);
    if variables.is_some_and(|it| !it.is_object()) {
        return Err(Unusable::Wrong("`variables` must be an object"));
    }
    if extensions.is_some_and(|it| !it.is_object()) {
        return Err(Unusable::Wrong("`extensions` must be an object"));
    }
    let operation_name = match present(operation_name) {
        None => None,
        Some(it) => Some(it.as_str().ok_or(Unusable::Wrong("`operationName` must be a string"))?),
    };
    let is_persisted = extensions.is_some_and(|it| it.get("persistedQuery").is_some());
    let Some(query) = present(query) else {
        return Err(if is_persisted { Unusable::PersistedOnly } else { Unusable::NoQuery });
    };
    let query = query.as_str().ok_or(Unusable::Wrong("`query` must be a string"))?;
    // Some clients send an empty text with a hash.
    if is_persisted && query.is_empty() {
        return Err(Unusable::PersistedOnly);
    }
    check_hash(&query, extensions)?;
    Ok(Params { query, operation_name, variables })
}

/// Compares a query with the SHA-256 that its client sent for persistence: a text under a wrong hash would poison caches between
/// server and client.
pub fn check_hash(query: &str, extensions: Option<JsonRef<'_>>) -> Result<(), Unusable> {
    let persisted = extensions.and_then(|it| it.get("persistedQuery"));
    let Some(sent) = persisted.filter(|it| it.is_object()).and_then(|it| it.get("sha256Hash")) else {
        return Ok(());
    };
    let digits: String = Sha256::digest(query.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let is_right = sent.as_str().is_some_and(|it| it.eq_ignore_ascii_case(&digits));
    if is_right { Ok(()) } else { Err(Unusable::OtherHash) }
}

/// The parameters of a GET: percent-decoded texts, of which `variables` and `extensions` are JSON.
#[derive(Debug, Default)]
pub struct UrlParams {
    /// The document.
    pub query: Option<String>,
    /// The operation to run, of several.
    pub operation_name: Option<String>,
    /// The variables, as JSON.
    pub variables: Option<String>,
    /// The extensions, as JSON.
    pub extensions: Option<String>,
}

/// The JSON in the parameters of a GET.
#[derive(Debug, Default)]
pub struct UrlJson<'t> {
    variables: Option<Json<'t>>,
    extensions: Option<Json<'t>>,
}

impl UrlParams {
    /// The JSON of variables and extensions, as `parse` reads it.
    /// # Errors
    /// See `parse`.
    pub fn json<'t, E>(&'t self, parse: impl Fn(&'t [u8]) -> Result<Json<'t>, E>) -> Result<UrlJson<'t>, E> {
        let read = |text: &'t Option<String>| {
            text.as_deref().filter(|it| !it.is_empty()).map(|it| parse(it.as_bytes())).transpose()
        };
        Ok(UrlJson { variables: read(&self.variables)?, extensions: read(&self.extensions)? })
    }

    /// The parameters of the request; `json` is that of these.
    /// # Errors
    /// There is no usable request.
    pub fn params<'t>(&'t self, json: &'t UrlJson<'t>) -> Result<Params<'t>, Unusable> {
        let present = |it: &'t Option<Json<'t>>| it.as_ref().map(Json::root).filter(|it| !it.is_null());
        let variables = present(&json.variables);
        let extensions = present(&json.extensions);
        if [variables, extensions].into_iter().flatten().any(|it| !it.is_object()) {
            return Err(Unusable::Wrong("`variables` and `extensions` must be JSON objects"));
        }
        let is_persisted = extensions.is_some_and(|it| it.get("persistedQuery").is_some());
        // Some clients send an empty text with a hash.
        let Some(query) = self.query.as_deref().filter(|it| !is_persisted || !it.is_empty()) else {
            return Err(if is_persisted { Unusable::PersistedOnly } else { Unusable::NoQuery });
        };
        check_hash(query, extensions)?;
        let operation_name = self.operation_name.as_deref().map(Cow::Borrowed);
        Ok(Params { query: Cow::Borrowed(query), operation_name, variables })
    }

    /// The body that a POST of the request would have; variables and extensions were read as JSON before.
    pub fn body(&self) -> String {
        let texts = [("query", &self.query), ("operationName", &self.operation_name)];
        let json = [("variables", &self.variables), ("extensions", &self.extensions)];
        let texts = texts.into_iter().filter_map(|(name, it)| {
            let mut out = format!("\"{name}\":").into_bytes();
            string(&mut out, it.as_deref()?);
            Some(String::from_utf8_lossy(&out).into_owned())
        });
        let json = json.into_iter().filter_map(|(name, it)| {
            let text = it.as_deref().filter(|it| !it.is_empty())?;
            Some(format!("\"{name}\":{text}"))
        });
        let members: Vec<String> = texts.chain(json).collect();
        format!("{{{}}}", members.join(","))
    }
}

/// Reads `query=…&variables=…`.
pub fn url_params(query: &str) -> Result<UrlParams, Malformed> {
    let mut params = UrlParams::default();
    for pair in query.split('&').filter(|it| !it.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let slot = match percent_decoded(name)?.as_str() {
            "query" => &mut params.query,
            "operationName" => &mut params.operation_name,
            "variables" => &mut params.variables,
            "extensions" => &mut params.extensions,
            _ => continue,
        };
        if slot.replace(percent_decoded(value)?).is_some() {
            return Err(Malformed("a parameter stands twice in the URL"));
        }
    }
    Ok(params)
}

/// The parameter `name` of a URL, if it has one that is not empty.
pub fn url_param(query: Option<&str>, name: &str) -> Result<Option<String>, Malformed> {
    let pairs = query.unwrap_or_default().split('&').filter_map(|it| it.split_once('='));
    let value = pairs.into_iter().find(|it| it.0 == name).map(|it| percent_decoded(it.1)).transpose()?;
    Ok(value.filter(|it| !it.is_empty()))
}

fn percent_decoded(text: &str) -> Result<String, Malformed> {
    decode_percent(text, true).ok_or(Malformed("the URL holds invalid UTF-8"))
}

/// The text behind `%41`, and behind `+` in a query or form; nothing if that is no UTF-8. Source: URL Standard, section 5.
pub fn decode_percent(text: &str, plus_is_space: bool) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |place: usize| bytes.get(place).and_then(|it| char::from(*it).to_digit(16));
        match (bytes[at], hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 2;
            }
            (b'+', _, _) if plus_is_space => out.push(b' '),
            (byte, _, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_parameters_are_percent_decoded() {
        let it = url_params("query=%7Ba%7D+x&variables=%7B%7D&z=1").expect("it is well formed");
        assert_eq!((it.query.as_deref(), it.variables.as_deref()), (Some("{a} x"), Some("{}")));
        assert!(url_params("query=a&query=b").is_err());
        assert!(url_params("query=%ff").is_err());
    }

    #[test]
    fn a_path_keeps_its_plus() {
        assert_eq!(decode_percent("a+b%2B%zz", false).as_deref(), Some("a+b+%zz"));
        assert_eq!(decode_percent("a+b", true).as_deref(), Some("a b"));
    }

    /// Query and variables of a GET, or why there are none.
    fn check(sent: &str, expected: Result<(&str, Option<&str>), Unusable>) {
        let url = url_params(sent).expect("it is well formed");
        let json = url.json(|it| Json::parse(it, 9)).expect("it is JSON");
        let found =
            url.params(&json).map(|it| (it.query.into_owned(), it.variables.map(|it| it.raw().to_owned())));
        assert_eq!(found, expected.map(|it| (it.0.to_owned(), it.1.map(str::to_owned))), "{sent}");
    }

    #[test]
    fn the_request_of_a_get_is_that_of_a_body() {
        check("query={a}", Ok(("{a}", None)));
        check("query={a}&variables=&extensions=null", Ok(("{a}", None)));
        check("query={a}&variables=%7B%22b%22:1%7D", Ok(("{a}", Some("{\"b\":1}"))));
        check("query=", Ok(("", None)));
        check("", Err(Unusable::NoQuery));
        let wrong = || Err(Unusable::Wrong("`variables` and `extensions` must be JSON objects"));
        check("query={a}&variables=[]", wrong());
        check("query={a}&extensions=7", wrong());
        let persisted = "extensions=%7B%22persistedQuery%22:%7B%22sha256Hash%22:%2200%22%7D%7D";
        check(persisted, Err(Unusable::PersistedOnly));
        check(&format!("query=&{persisted}"), Err(Unusable::PersistedOnly));
        check(&format!("query={{a}}&{persisted}"), Err(Unusable::OtherHash));
        let url = url_params("query={a}%22&variables=%7B%7D&operationName=b").expect("it is well formed");
        assert_eq!(url.body(), r#"{"query":"{a}\"","operationName":"b","variables":{}}"#);
    }
}
