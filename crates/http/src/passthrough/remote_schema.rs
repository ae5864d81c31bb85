//! A GraphQL server as Hasura's metadata describes it: what differs from a server of a file of services.

use super::client_headers::collect_forwarded_headers;
use super::naming::Naming;
use http::{HeaderName, HeaderValue};
use weir_engine::caller::{Caller, WHOLE_SESSION};
use weir_engine::source::Headers;

#[derive(Clone, Debug, Default)]
pub struct RemoteSchema {
    /// Address of the server as the metadata has it, with names of variables, which clients may see.
    pub shown_url: Box<str>,
    /// True if the admin is told why there is no answer.
    pub shows_internal: bool,
    /// Names of its types and fields.
    pub naming: Naming,
    /// True if the headers of clients are forwarded, but those that say how a connection is used.
    pub forwards_client: bool,
    /// True if data is good even where errors come with it; else errors are all that counts.
    pub prioritizes_data: bool,
    /// Ways into its fields for relationships.
    pub lookups: Vec<FieldLookup>,
    /// Parts of the schema that roles see, as SDL by role; `None`: every role sees all of it.
    pub roles: Option<Vec<RoleSdl>>,
    /// Roles that see what others see.
    pub inherited_roles: Vec<InheritedSdl>,
}

/// An inherited role without a permission of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InheritedSdl {
    pub role: String,
    /// Roles with permissions that it is made of.
    pub parts: Vec<String>,
}

/// A permission of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleSdl {
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
    pub keys: Vec<LookupKey>,
}

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
        for (name, value) in collect_forwarded_headers(client, None) {
            // Lines of one name are all the client's, if any is.
            if sent[..own].iter().all(|it| it.0 != name) {
                sent.push((name, value));
            }
        }
    }

    /// Session variables that its calls depend on.
    pub(crate) fn reads_claims() -> [Box<str>; 1] {
        [WHOLE_SESSION.into()]
    }
}

/// Appends a header unless there is one of that name. Values that are not valid in a header are dropped.
fn push(name: &str, value: &[u8], sent: &mut Vec<(HeaderName, HeaderValue)>) {
    if sent.iter().any(|it| it.0.as_str() == name) {
        return;
    }
    let name = HeaderName::from_bytes(name.as_bytes());
    let value = HeaderValue::from_bytes(value);
    if let (Ok(name), Ok(value)) = (name, value) {
        sent.push((name, value));
    }
}
