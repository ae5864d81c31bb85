//! A GraphQL server as Hasura's metadata describes it: what differs from a server of a file of services.

use super::naming::Naming;
use http::{HeaderName, HeaderValue};
use weir_engine::caller::{Caller, SESSION_PREFIX, WHOLE_SESSION};
use weir_engine::source::Headers;

/// A remote schema.
#[derive(Clone, Debug, Default)]
pub struct RemoteSchema {
    /// Names of its types and fields.
    pub naming: Naming,
    /// True if the headers of clients are forwarded, but those that say how a connection is used.
    pub forwards_client: bool,
    /// True if data is good even where errors come with it; else errors are all that counts.
    pub prioritizes_data: bool,
    /// Ways into its fields for relationships.
    pub lookups: Vec<FieldLookup>,
    /// What roles see, as SDL by role; `None`: every role sees all of it.
    pub roles: Option<Vec<RoleSdl>>,
    /// Roles that see what others see.
    pub inherited_roles: Vec<InheritedSdl>,
}

/// An inherited role without a permission of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InheritedSdl {
    /// The role.
    pub role: String,
    /// Roles with permissions that it is made of.
    pub parts: Vec<String>,
}

/// A permission of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleSdl {
    /// The role.
    pub role: String,
    /// The part of the server's schema that the role sees.
    pub sdl: String,
}

/// A way to a field, perhaps one below other fields, by keys of a relationship.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldLookup {
    /// Name of the field that a join asks; its arguments `key__0`, `key__1` … are the keys.
    pub name: String,
    /// Type and name of the field that the join adds, for the names of types that are made for it.
    pub label: String,
    /// The fields on the way, from the query root, by the server's names.
    pub steps: Vec<LookupStep>,
    /// The keys.
    pub keys: Vec<LookupKey>,
}

/// A key of a lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupKey {
    /// Name of the key in the templates of arguments, without `$`.
    pub name: String,
    /// Name of its scalar.
    pub scalar: String,
}

/// A field on the way of a lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupStep {
    /// The server's name of the field.
    pub field: String,
    /// Arguments that the relationship sets: name, and JSON in which texts such as `"$id"` stand for keys.
    pub arguments: Vec<(String, String)>,
}

/// Prefix of the names of the arguments of a lookup that are its keys.
pub const KEY_PREFIX: &str = "key__";

/// Headers of clients that say how a connection is used. Source: Hasura v2, ignored headers of actions and remote schemas.
const IGNORED: [&str; 14] = [
    "accept",
    "accept-datetime",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-length",
    "content-md5",
    "content-type",
    "dnt",
    "host",
    "origin",
    "referer",
    "user-agent",
];

/// Headers of a connection, which no hop passes on. Source: RFC 9110, section 7.6.1.
const OF_CONNECTION: [&str; 7] = [
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Prefixes of headers of clients that are session variables or Weir's own, among them admin secrets.
const SECRETS: [&str; 2] = [SESSION_PREFIX, "x-weir-"];

/// Headers of clients that come under another name.
const RENAMED: [(&str, &str); 3] = [
    ("host", "x-forwarded-host"),
    ("user-agent", "x-forwarded-user-agent"),
    ("origin", "x-forwarded-origin"),
];

impl RemoteSchema {
    /// Appends the headers for `caller`, and those of the client if they are forwarded. Configured headers, which are in `sent`
    /// already, win over session variables, and those over the client's headers.
    pub(crate) fn pass(
        &self,
        client: &dyn Headers,
        caller: Option<&Caller>,
        sent: &mut Vec<(HeaderName, HeaderValue)>,
    ) {
        let variables = caller.map_or(&[][..], |it| it.claims().variables());
        for (name, value) in variables {
            push(name, value.as_bytes(), sent);
        }
        if !self.forwards_client {
            return;
        }
        let own = sent.len();
        client.each_line(&mut |name, value| {
            let renamed = RENAMED.iter().find(|it| it.0 == name).map(|it| it.1);
            let is_dropped = IGNORED.contains(&name) || OF_CONNECTION.contains(&name);
            match renamed {
                Some(name) => push(name, value, sent),
                None if is_dropped || SECRETS.iter().any(|it| name.starts_with(it)) => {}
                // Lines of one name are all the client's, if any is.
                None if sent[..own].iter().any(|it| it.0.as_str() == name) => {}
                None => append(name, value, sent),
            }
        });
    }

    /// Session variables that its calls depend on.
    pub(crate) fn reads_claims() -> [Box<str>; 1] {
        [WHOLE_SESSION.into()]
    }
}

/// Appends a header unless there is one of that name. Values that are not valid in a header are dropped.
fn push(name: &str, value: &[u8], sent: &mut Vec<(HeaderName, HeaderValue)>) {
    if !sent.iter().any(|it| it.0.as_str() == name) {
        append(name, value, sent);
    }
}

fn append(name: &str, value: &[u8], sent: &mut Vec<(HeaderName, HeaderValue)>) {
    let name = HeaderName::from_bytes(name.as_bytes());
    let value = HeaderValue::from_bytes(value);
    if let (Ok(name), Ok(value)) = (name, value) {
        sent.push((name, value));
    }
}
