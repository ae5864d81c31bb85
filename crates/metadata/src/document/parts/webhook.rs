//! Entries that all webhooks share, those of actions, event triggers and cron triggers: headers, addresses and transforms.
//!
//! A transform is kept with every member of its file, so that it is written as it was read: unknown members, such as the
//! `content_type` of older consoles, have no effect.

use crate::json::{Json, Members};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The beginning of names of variables that configure a server, which no webhook may see.
const SERVER_VARIABLES: &str = "HASURA_GRAPHQL_";

/// One of `headers`.
#[derive(Clone, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "HeaderMembers", into = "HeaderMembers")]
pub struct HeaderEntry {
    /// Name of the header, as it is written.
    pub name: String,
    pub value: HeaderText,
}

/// The value of a header.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum HeaderText {
    /// `value`: a text, in which `{{NAME}}` is a variable of the environment.
    Template(String),
    /// `value_from_env`: the name of a variable.
    FromEnv(String),
}

impl fmt::Debug for HeaderEntry {
    /// Without a value, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HeaderEntry({})", self.name)
    }
}

/// A header as it is written.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HeaderMembers {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value_from_env: Option<String>,
}

impl TryFrom<HeaderMembers> for HeaderEntry {
    type Error = String;

    fn try_from(members: HeaderMembers) -> Result<Self, String> {
        let value = match (members.value, members.value_from_env) {
            (Some(_), Some(_)) => return Err("expecting only one of value or value_from_env keys".into()),
            (None, None) => return Err("expecting value or value_from_env keys".into()),
            (Some(text), None) => HeaderText::Template(text),
            (None, Some(name)) if name.starts_with(SERVER_VARIABLES) => {
                return Err(format!(
                    "env variables starting with \"{SERVER_VARIABLES}\" are not allowed in value_from_env: {name}"
                ));
            }
            (None, Some(name)) => HeaderText::FromEnv(name),
        };
        Ok(Self { name: members.name, value })
    }
}

impl From<HeaderEntry> for HeaderMembers {
    fn from(entry: HeaderEntry) -> Self {
        let (value, value_from_env) = match entry.value {
            HeaderText::Template(text) => (Some(text), None),
            HeaderText::FromEnv(name) => (None, Some(name)),
        };
        Self { name: entry.name, value, value_from_env }
    }
}

/// The address of a webhook, of the keys `webhook` and `webhook_from_env`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum WebhookAddress {
    /// `webhook`: a text, in which `{{NAME}}` is a variable of the environment.
    Template(String),
    /// `webhook_from_env`: the name of a variable.
    FromEnv(String),
}

impl WebhookAddress {
    /// The address of an entry with these two members.
    /// # Errors
    /// None or both of them are there: Hasura's words.
    pub fn from_members(
        webhook: Option<String>,
        webhook_from_env: Option<String>,
    ) -> Result<Self, &'static str> {
        match (webhook, webhook_from_env) {
            (Some(text), None) => Ok(Self::Template(text)),
            (None, Some(name)) => Ok(Self::FromEnv(name)),
            (Some(_), Some(_)) => Err("only one of webhook or webhook_from_env should be given"),
            (None, None) => Err("must provide webhook or webhook_from_env"),
        }
    }

    /// The members `webhook` and `webhook_from_env`.
    pub fn into_members(self) -> (Option<String>, Option<String>) {
        match self {
            Self::Template(text) => (Some(text), None),
            Self::FromEnv(name) => (None, Some(name)),
        }
    }
}

/// `request_transform`. A part that is absent or null changes nothing. Texts are templates of Kriti, but for methods and names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestTransform {
    /// All members, as they are written.
    members: Members,
    /// The method, which is no template.
    pub method: Option<String>,
    /// The address; a template without its quotes.
    pub url: Option<String>,
    pub body: Option<BodyTransform>,
    /// The query of the address.
    pub query_params: Option<QueryTransform>,
    pub request_headers: Option<HeadersTransform>,
}

/// `response_transform`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResponseTransform {
    /// All members, as they are written.
    members: Members,
    pub body: Option<BodyTransform>,
}

/// `body` of a transform, of both versions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BodyTransform {
    /// No body.
    Remove,
    /// A template of JSON.
    Template(String),
    /// A form: names, and templates without their quotes.
    Form(Vec<(String, String)>),
}

/// `query_params` of a transform; templates without their quotes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QueryTransform {
    /// Templates of names and values; a value of `None` gives a name without `=`.
    Parameters(Vec<(String, Option<String>)>),
    /// A template of the whole query.
    Text(String),
}

/// `request_headers` of a transform.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct HeadersTransform {
    /// Headers that are appended: names, and templates without their quotes.
    pub add: Vec<(String, String)>,
    /// Names of headers that are removed before.
    pub remove: Vec<String>,
}

impl RequestTransform {
    /// The transform that `members` are.
    /// # Errors
    /// A member does not fit, in Hasura's words where it has any.
    pub fn from_members(members: Members) -> Result<Self, String> {
        let version = read_version(&members)?;
        Ok(Self {
            method: read_text(&members, "method")?,
            url: read_text(&members, "url")?,
            body: read_body(&members, version)?,
            query_params: read_query(&members)?,
            request_headers: read_headers(&members)?,
            members,
        })
    }
}

impl ResponseTransform {
    /// The transform that `members` are.
    /// # Errors
    /// See [`RequestTransform::from_members`].
    pub fn from_members(members: Members) -> Result<Self, String> {
        let version = read_version(&members)?;
        Ok(Self { body: read_body(&members, version)?, members })
    }
}

impl<'de> Deserialize<'de> for RequestTransform {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_members(Members::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl Serialize for RequestTransform {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.members.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ResponseTransform {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_members(Members::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl Serialize for ResponseTransform {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.members.serialize(serializer)
    }
}

/// The forms of a body.
#[derive(Clone, Copy)]
enum Version {
    One,
    Two,
}

/// The member `key`, unless it is null.
fn present<'m>(members: &'m Members, key: &str) -> Option<&'m Json> {
    members.get(key).filter(|it| !matches!(it, Json::Null))
}

fn read_version(members: &Members) -> Result<Version, String> {
    match present(members, "template_engine") {
        None => {}
        Some(Json::Text(engine)) if engine.eq_ignore_ascii_case("kriti") => {}
        Some(other) => return Err(format!("expected Kriti, encountered {other}")),
    }
    match present(members, "version") {
        None => Ok(Version::One),
        Some(Json::Number(digits)) if &**digits == "1" => Ok(Version::One),
        Some(Json::Number(digits)) if &**digits == "2" => Ok(Version::Two),
        Some(other) => Err(format!("expected 1 or 2, encountered {other}")),
    }
}

fn expect_text(key: &str, value: &Json) -> Result<String, String> {
    value.text().map(str::to_owned).ok_or_else(|| format!("`{key}` is a string"))
}

fn read_text(members: &Members, key: &str) -> Result<Option<String>, String> {
    present(members, key).map(|it| expect_text(key, it)).transpose()
}

/// The object `key`, each value by `read`.
fn read_object<T>(
    members: &Members,
    key: &str,
    read: impl Fn(&str, &Json) -> Result<T, String>,
) -> Result<Vec<(String, T)>, String> {
    match present(members, key) {
        None => Ok(Vec::new()),
        Some(Json::Object(inner)) => {
            inner.0.iter().map(|(name, value)| Ok((name.to_string(), read(name, value)?))).collect()
        }
        Some(_) => Err(format!("`{key}` is an object")),
    }
}

fn read_body(members: &Members, version: Version) -> Result<Option<BodyTransform>, String> {
    let Some(body) = present(members, "body") else { return Ok(None) };
    let inner = match (version, body) {
        (Version::One, Json::Text(text)) => return Ok(Some(BodyTransform::Template(text.to_string()))),
        (Version::One, _) => return Err("`body` is a string in version 1".into()),
        (Version::Two, Json::Object(inner)) => inner,
        (Version::Two, _) => return Err("`body` is an object in version 2".into()),
    };
    match inner.get("action").and_then(Json::text) {
        Some("remove") => Ok(Some(BodyTransform::Remove)),
        Some("transform") => match read_text(inner, "template")? {
            Some(template) => Ok(Some(BodyTransform::Template(template))),
            None => Err("key \"template\" not found".into()),
        },
        Some("x_www_form_urlencoded") => match present(inner, "form_template") {
            Some(_) => Ok(Some(BodyTransform::Form(read_object(inner, "form_template", expect_text)?))),
            None => Err("key \"form_template\" not found".into()),
        },
        Some(_) | None => Err("invalid transform action".into()),
    }
}

fn read_query(members: &Members) -> Result<Option<QueryTransform>, String> {
    match present(members, "query_params") {
        None => Ok(None),
        Some(Json::Text(text)) => Ok(Some(QueryTransform::Text(text.to_string()))),
        Some(Json::Object(_)) => {
            let parameters = read_object(members, "query_params", |name, value| match value {
                Json::Null => Ok(None),
                value => expect_text(name, value).map(Some),
            })?;
            Ok(Some(QueryTransform::Parameters(parameters)))
        }
        Some(_) => Err("`query_params` is an object or a string".into()),
    }
}

fn read_headers(members: &Members) -> Result<Option<HeadersTransform>, String> {
    let inner = match present(members, "request_headers") {
        None => return Ok(None),
        Some(Json::Object(inner)) => inner,
        Some(_) => return Err("`request_headers` is an object".into()),
    };
    let remove = match present(inner, "remove_headers") {
        None => Vec::new(),
        Some(Json::List(names)) => {
            names.iter().map(|it| expect_text("remove_headers", it)).collect::<Result<_, _>>()?
        }
        Some(_) => return Err("`remove_headers` is a list".into()),
    };
    Ok(Some(HeadersTransform { add: read_object(inner, "add_headers", expect_text)?, remove }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{deserialize::Reader, tree};
    use serde::de::DeserializeOwned;
    use std::path::Path;

    fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
        // A text that begins with a bracket would be read as JSON.
        let node = tree(&format!("# YAML\n{text}"), Path::new("a.yaml")).map_err(|it| it.to_string())?;
        T::deserialize(Reader::new(&node)).map_err(|it| it.message)
    }

    /// Reads `text` as a `T`, and writes it.
    fn check<T: DeserializeOwned + Serialize + std::fmt::Debug>(text: &str, expected: Result<&str, &str>) {
        let written = read::<T>(text).map(|it| serde_json::to_string(&it).expect("it is written"));
        assert_eq!(written.as_deref().map_err(String::as_str), expected, "{text}");
    }

    #[test]
    fn a_header_has_one_value() {
        for text in [r#"{"name":"X-Key","value":"a {{B}}"}"#, r#"{"name":"a","value_from_env":"SHOP_KEY"}"#] {
            check::<HeaderEntry>(text, Ok(text));
        }
        check::<HeaderEntry>("{name: a, value: b, value_from_env: null}", Ok(r#"{"name":"a","value":"b"}"#));
        let both = "{name: a, value: b, value_from_env: C}";
        check::<HeaderEntry>(both, Err("expecting only one of value or value_from_env keys"));
        check::<HeaderEntry>("{name: a}", Err("expecting value or value_from_env keys"));
        check::<HeaderEntry>(
            "{name: a, value_from_env: HASURA_GRAPHQL_ADMIN_SECRET}",
            Err(
                "env variables starting with \"HASURA_GRAPHQL_\" are not allowed in value_from_env: HASURA_GRAPHQL_ADMIN_SECRET",
            ),
        );
        let header: HeaderEntry = read("{name: a, value: hidden}").expect("it is a header");
        assert_eq!(format!("{header:?}"), "HeaderEntry(a)");
    }

    #[test]
    fn an_address_has_one_origin() {
        let (text, name) = (Some("{{A}}/b".to_owned()), Some("A".to_owned()));
        let address = WebhookAddress::from_members(text.clone(), None).expect("it is an address");
        assert_eq!(address, WebhookAddress::Template("{{A}}/b".into()));
        assert_eq!(address.into_members(), (text.clone(), None));
        let address = WebhookAddress::from_members(None, name.clone()).expect("it is an address");
        assert_eq!(address.into_members(), (None, name.clone()));
        let both = WebhookAddress::from_members(text, name);
        assert_eq!(both, Err("only one of webhook or webhook_from_env should be given"));
        let none = WebhookAddress::from_members(None, None);
        assert_eq!(none, Err("must provide webhook or webhook_from_env"));
    }

    #[test]
    fn transforms_are_written_as_they_were_read() {
        for text in [
            r#"{"version":2,"template_engine":"Kriti","method":null,"url":"{{$base_url}}/v2","body":{"action":"transform","template":"{{$body}}"},"query_params":{},"request_headers":{"add_headers":{"a":"b"},"remove_headers":["content-type"]}}"#,
            r#"{"content_type":"application/json","body":"{}","rate":1.50,"query_params":"a={{$body.b}}"}"#,
            r#"{"version":2,"body":{"action":"x_www_form_urlencoded","form_template":{"a":"b"}},"query_params":{"a":null}}"#,
            r#"{}"#,
        ] {
            check::<RequestTransform>(text, Ok(text));
            check::<ResponseTransform>(text, Ok(text));
        }
    }

    #[test]
    fn parts_of_a_transform_are_typed() {
        let transform: RequestTransform = read(
            r#"{version: 2, method: PUT, body: {action: remove}, query_params: {a: b, c: null},
                request_headers: {add_headers: {X-A: "1"}, remove_headers: [b]}}"#,
        )
        .expect("it is a transform");
        assert_eq!((transform.method.as_deref(), transform.url), (Some("PUT"), None));
        assert_eq!(transform.body, Some(BodyTransform::Remove));
        let parameters = vec![("a".into(), Some("b".into())), ("c".into(), None)];
        assert_eq!(transform.query_params, Some(QueryTransform::Parameters(parameters)));
        let headers = HeadersTransform { add: vec![("X-A".into(), "1".into())], remove: vec!["b".into()] };
        assert_eq!(transform.request_headers, Some(headers));
        let old: RequestTransform = read(r#"{body: "{}"}"#).expect("it is a transform");
        assert_eq!(old.body, Some(BodyTransform::Template("{}".into())));
        let empty: RequestTransform = read("{query_params: {}, body: null}").expect("it is a transform");
        assert_eq!((empty.query_params, empty.body), (Some(QueryTransform::Parameters(Vec::new())), None));
    }

    #[test]
    fn wrong_transforms_are_refused() {
        for (text, message) in [
            ("{version: 3}", "expected 1 or 2, encountered 3"),
            ("{version: 1.0}", "expected 1 or 2, encountered 1.0"),
            ("{template_engine: Jinja}", "expected Kriti, encountered \"Jinja\""),
            ("{version: 2, body: {action: transfrom}}", "invalid transform action"),
            ("{version: 2, body: {}}", "invalid transform action"),
            ("{version: 2, body: a}", "`body` is an object in version 2"),
            ("{body: {action: remove}}", "`body` is a string in version 1"),
            ("{version: 2, body: {action: transform}}", "key \"template\" not found"),
            ("{version: 2, body: {action: x_www_form_urlencoded}}", "key \"form_template\" not found"),
            ("{method: 1}", "`method` is a string"),
            ("{query_params: [a]}", "`query_params` is an object or a string"),
            ("{query_params: {a: 1}}", "`a` is a string"),
            ("{request_headers: {remove_headers: a}}", "`remove_headers` is a list"),
            ("[]", "expected an object"),
        ] {
            check::<RequestTransform>(text, Err(message));
        }
    }
}
