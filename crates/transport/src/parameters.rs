//! The parameters of a request: query, operation name and variables, borrowed from a body in JSON, or decoded from a URL.
//!
//! **Cost:** strings of a body without escapes are not copied.
//!
//! Source: GraphQL over HTTP, section 5.

use crate::document_id::{DocumentText, ID_MEMBER, SentId};
use std::borrow::Cow;
use weir_engine::errors::error_text::string;
use weir_language::json::{Json, JsonRef};

/// Message about a URL that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// Parameters of a request.
#[derive(Clone, Debug)]
pub struct Params<'t> {
    /// The document.
    pub query: DocumentText<'t>,
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
    /// Only the identifier of a document came; there is no store of them.
    PersistedOnly,
    /// The store has no document with the identifier that came.
    UnknownId,
    /// A text came, and only documents of the store may run.
    TextAlone,
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
            // Clients compare the next two messages as a whole.
            Self::PersistedOnly => "PersistedQueryNotSupported",
            Self::UnknownId => "PersistedQueryNotFound",
            Self::TextAlone => "this server runs stored documents alone: send the identifier of one",
            Self::OtherHash => "provided sha does not match query",
            Self::Wrong(message) => message,
            Self::NoObject => "the body must be a JSON object: {\"query\": \"{ … }\"}",
        }
    }

    /// The code of an answer that clients look for, then send the whole text; nothing for what is no request at all.
    pub const fn persisted_code(&self) -> Option<&'static str> {
        match self {
            Self::PersistedOnly => Some("PERSISTED_QUERY_NOT_SUPPORTED"),
            Self::UnknownId => Some("PERSISTED_QUERY_NOT_FOUND"),
            Self::TextAlone => Some("PERSISTED_QUERY_ID_REQUIRED"),
            Self::OtherHash => Some("PERSISTED_QUERY_MISMATCH"),
            Self::NoQuery | Self::Wrong(_) | Self::NoObject => None,
        }
    }
}

/// A request as it came: with a text, with an identifier, or with both.
#[derive(Clone, Debug)]
pub struct NamedRequest<'t> {
    /// The document.
    pub text: Option<Cow<'t, str>>,
    /// Identifier of the document.
    pub id: Option<SentId<'t>>,
    /// The operation to run, of several.
    pub operation_name: Option<Cow<'t, str>>,
    /// The variables: an object.
    pub variables: Option<JsonRef<'t>>,
}

impl<'t> NamedRequest<'t> {
    /// Reads an object of a body. `id_members` are further names of the member `documentId`.
    /// # Errors
    /// A member has a wrong type.
    pub fn read(body: JsonRef<'t>, id_members: &[Box<str>]) -> Result<Self, Unusable> {
        if !body.is_object() {
            return Err(Unusable::NoObject);
        }
        let mut query = None;
        let mut id = None;
        let mut operation_name = None;
        let mut variables = None;
        let mut extensions = None;
        for (key, value) in body.members() {
            match key.as_ref() {
                "query" => query = Some(value),
                "operationName" => operation_name = Some(value),
                "variables" => variables = Some(value),
                "extensions" => extensions = Some(value),
                key if key == ID_MEMBER || id_members.iter().any(|it| **it == *key) => id = Some(value),
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
        let text = |it: Option<JsonRef<'t>>, wrong| {
            present(it).map(|it| it.as_str().ok_or(Unusable::Wrong(wrong))).transpose()
        };
        let named = text(id, "the identifier of a document must be a string")?;
        Ok(Self {
            operation_name: text(operation_name, "`operationName` must be a string")?,
            text: text(query, "`query` must be a string")?,
            id: SentId::of(named, extensions),
            variables,
        })
    }

    /// The text. An empty one beside an identifier counts as absent, because some clients always send the member.
    pub fn sent_text(&self) -> Option<&str> {
        self.text.as_deref().filter(|it| self.id.is_none() || !it.is_empty())
    }

    /// The parameters, with `query` as the document.
    pub fn with_text(self, query: DocumentText<'t>) -> Params<'t> {
        Params { query, operation_name: self.operation_name, variables: self.variables }
    }

    /// The parameters for a server without a store of documents.
    /// # Errors
    /// There is no text, or the identifier is the hash of another text.
    pub fn without_store(mut self) -> Result<Params<'t>, Unusable> {
        let Some(text) = self.sent_text() else {
            return Err(if self.id.is_some() { Unusable::PersistedOnly } else { Unusable::NoQuery });
        };
        if self.id.as_ref().is_some_and(|it| !it.fits(text)) {
            return Err(Unusable::OtherHash);
        }
        let text = self.text.take().unwrap_or_default();
        Ok(self.with_text(DocumentText::Sent(text)))
    }
}

/// The parameters in an object of a body, for a server without a store of documents.
/// # Errors
/// There is no usable request.
pub fn params(body: JsonRef<'_>) -> Result<Params<'_>, Unusable> {
    NamedRequest::read(body, &[])?.without_store()
}

/// The parameters of a GET: percent-decoded texts, of which `variables` and `extensions` are JSON.
#[derive(Debug, Default)]
pub struct UrlParams {
    /// The document.
    pub query: Option<String>,
    /// The identifier of a document.
    pub document_id: Option<String>,
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

    /// The request; `json` is that of these parameters.
    /// # Errors
    /// There is no usable request.
    pub fn request<'t>(&'t self, json: &'t UrlJson<'t>) -> Result<NamedRequest<'t>, Unusable> {
        let present = |it: &'t Option<Json<'t>>| it.as_ref().map(Json::root).filter(|it| !it.is_null());
        let variables = present(&json.variables);
        let extensions = present(&json.extensions);
        if [variables, extensions].into_iter().flatten().any(|it| !it.is_object()) {
            return Err(Unusable::Wrong("`variables` and `extensions` must be JSON objects"));
        }
        let named = self.document_id.as_deref().map(Cow::Borrowed);
        Ok(NamedRequest {
            text: self.query.as_deref().map(Cow::Borrowed),
            id: SentId::of(named, extensions),
            operation_name: self.operation_name.as_deref().map(Cow::Borrowed),
            variables,
        })
    }

    /// The parameters of the request, for a server without a store of documents; `json` is that of these.
    /// # Errors
    /// There is no usable request.
    pub fn params<'t>(&'t self, json: &'t UrlJson<'t>) -> Result<Params<'t>, Unusable> {
        self.request(json)?.without_store()
    }

    /// The body that a POST of the request would have; variables and extensions were read as JSON before.
    pub fn body(&self) -> String {
        let texts =
            [("query", &self.query), (ID_MEMBER, &self.document_id), ("operationName", &self.operation_name)];
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

/// Reads `query=…&variables=…`. `id_members` are further names of the parameter `documentId`.
/// # Errors
/// The URL cannot be read.
pub fn url_params(query: &str, id_members: &[Box<str>]) -> Result<UrlParams, Malformed> {
    let mut params = UrlParams::default();
    for pair in query.split('&').filter(|it| !it.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let slot = match percent_decoded(name)?.as_str() {
            "query" => &mut params.query,
            name if name == ID_MEMBER || id_members.iter().any(|it| **it == *name) => &mut params.document_id,
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
        let it = url_params("query=%7Ba%7D+x&variables=%7B%7D&z=1", &[]).expect("it is well formed");
        assert_eq!((it.query.as_deref(), it.variables.as_deref()), (Some("{a} x"), Some("{}")));
        assert!(url_params("query=a&query=b", &[]).is_err());
        assert!(url_params("query=%ff", &[]).is_err());
    }

    #[test]
    fn a_path_keeps_its_plus() {
        assert_eq!(decode_percent("a+b%2B%zz", false).as_deref(), Some("a+b+%zz"));
        assert_eq!(decode_percent("a+b", true).as_deref(), Some("a b"));
    }

    /// Query and variables of a GET, or why there are none.
    fn check(sent: &str, expected: Result<(&str, Option<&str>), Unusable>) {
        let url = url_params(sent, &[]).expect("it is well formed");
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
        // Two digits are the identifier of a document, not the hash of a text.
        check(&format!("query={{a}}&{persisted}"), Ok(("{a}", None)));
        check(&format!("query={{a}}&{}", persisted.replace("00", &"0".repeat(64))), Err(Unusable::OtherHash));
        check("documentId=a", Err(Unusable::PersistedOnly));
        let url =
            url_params("query={a}%22&variables=%7B%7D&operationName=b", &[]).expect("it is well formed");
        assert_eq!(url.body(), r#"{"query":"{a}\"","operationName":"b","variables":{}}"#);
        let url = url_params("doc=x&operationName=b", &["doc".into()]).expect("it is well formed");
        assert_eq!(url.body(), r#"{"documentId":"x","operationName":"b"}"#);
    }

    /// Text and identifier of a body.
    fn check_body(body: &str, expected: Result<(Option<&str>, Option<&str>), Unusable>) {
        let json = Json::parse(body.as_bytes(), 9).expect("it is JSON");
        let found = NamedRequest::read(json.root(), &["doc_id".into()]);
        let found = found.as_ref().map(|it| (it.sent_text(), it.id.as_ref().and_then(SentId::key)));
        assert_eq!(found.map_err(Clone::clone), expected, "{body}");
    }

    #[test]
    fn an_identifier_is_found_where_clients_send_it() {
        check_body(r#"{"documentId":"a"}"#, Ok((None, Some("a"))));
        check_body(r#"{"doc_id":"a"}"#, Ok((None, Some("a"))));
        check_body(r#"{"id":"a","query":"{a}"}"#, Ok((Some("{a}"), None)));
        check_body(r#"{"documentId":"sha256:ab","query":""}"#, Ok((None, Some("ab"))));
        check_body(
            r#"{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"ab","miss":true}}}"#,
            Ok((None, Some("ab"))),
        );
        let both = r#"{"documentId":"a","extensions":{"persistedQuery":{"sha256Hash":"b"}}}"#;
        check_body(both, Ok((None, Some("a"))));
        check_body(r#"{"documentId":"","query":""}"#, Ok((Some(""), None)));
        check_body(r#"{"documentId":null,"query":"{a}"}"#, Ok((Some("{a}"), None)));
        check_body(
            r#"{"documentId":7}"#,
            Err(Unusable::Wrong("the identifier of a document must be a string")),
        );
        check_body(r#"{"extensions":{"persistedQuery":7}}"#, Ok((None, None)));
    }
}
