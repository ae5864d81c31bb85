//! Actions: fields of the roots that a webhook answers.

use super::is_default;
use super::type_text::TypeText;
use super::webhook::{HeaderEntry, RequestTransform, ResponseTransform};
use crate::json::Json;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Time that a handler may take where an action says none, in seconds.
pub const TIMEOUT_S: u32 = 30;

/// One of `actions`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ActionEntry {
    /// Name of the root field.
    pub name: String,
    /// Types and handler.
    pub definition: ActionDefinition,
    /// Description of the root field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Roles beside admin that may use it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<ActionPermission>,
}

/// `definition` of an action.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionDefinition {
    /// The handler's address, in which `{{NAME}}` is a variable of the environment.
    pub handler: String,
    /// Type of the root field.
    pub output_type: TypeText,
    /// Arguments of the root field.
    #[serde(default)]
    pub arguments: Vec<ActionArgument>,
    /// The root that has the field.
    #[serde(default, rename = "type")]
    pub operation: ActionOperation,
    /// Whether the answer is waited for; of mutations only.
    #[serde(default)]
    pub kind: ActionKind,
    /// Headers of each call.
    #[serde(default)]
    pub headers: Vec<HeaderEntry>,
    /// True if the client's headers go along.
    #[serde(default)]
    pub forward_client_headers: bool,
    /// Headers of the client that do not go along; without it Hasura's list.
    #[serde(default)]
    pub ignored_client_headers: Option<Vec<String>>,
    /// Time that the handler may take, in seconds; without it [`TIMEOUT_S`].
    #[serde(default, deserialize_with = "timeout")]
    pub timeout: Option<u32>,
    /// Changes of the request.
    #[serde(default)]
    pub request_transform: Option<RequestTransform>,
    /// Changes of the answer.
    #[serde(default)]
    pub response_transform: Option<ResponseTransform>,
}

/// A definition as it is written: queries have no kind.
#[derive(Serialize)]
struct WrittenDefinition<'d> {
    handler: &'d str,
    output_type: &'d TypeText,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    arguments: &'d [ActionArgument],
    #[serde(rename = "type")]
    operation: ActionOperation,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<ActionKind>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    headers: &'d [HeaderEntry],
    #[serde(skip_serializing_if = "is_default")]
    forward_client_headers: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    ignored_client_headers: &'d Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_transform: &'d Option<RequestTransform>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_transform: &'d Option<ResponseTransform>,
}

impl Serialize for ActionDefinition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = WrittenDefinition {
            handler: &self.handler,
            output_type: &self.output_type,
            arguments: &self.arguments,
            operation: self.operation,
            kind: (self.operation == ActionOperation::Mutation).then_some(self.kind),
            headers: &self.headers,
            forward_client_headers: self.forward_client_headers,
            ignored_client_headers: &self.ignored_client_headers,
            timeout: self.timeout,
            request_transform: &self.request_transform,
            response_transform: &self.response_transform,
        };
        written.serialize(serializer)
    }
}

impl ActionDefinition {
    /// True if the answer is not waited for.
    pub fn is_asynchronous(&self) -> bool {
        self.operation == ActionOperation::Mutation && self.kind == ActionKind::Asynchronous
    }
}

/// `type` of an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ActionOperation {
    /// A field of the query root.
    Query,
    /// A field of the mutation root.
    #[default]
    Mutation,
}

impl<'de> Deserialize<'de> for ActionOperation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "query" => Ok(Self::Query),
            "mutation" => Ok(Self::Mutation),
            other => Err(D::Error::custom(format_args!("expected mutation or query, but found {other}"))),
        }
    }
}

/// `kind` of an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ActionKind {
    /// The client waits for the answer; also written as an empty text.
    #[default]
    Synchronous,
    /// The client gets an id at once.
    Asynchronous,
}

impl<'de> Deserialize<'de> for ActionKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "synchronous" | "" => Ok(Self::Synchronous),
            "asynchronous" => Ok(Self::Asynchronous),
            other => {
                Err(D::Error::custom(format_args!("expected synchronous or asynchronous, but found {other}")))
            }
        }
    }
}

/// One of `arguments`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ActionArgument {
    /// Name of the argument.
    pub name: String,
    /// Type of the argument.
    #[serde(rename = "type")]
    pub ty: TypeText,
    /// Description of the argument.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// One of `permissions`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ActionPermission {
    /// The role; never `admin`.
    pub role: String,
    /// Comment of the permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// A filter of old versions, which has no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Json>,
}

fn timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let timeout = Option::<i64>::deserialize(deserializer)?;
    timeout.map(u32::try_from).transpose().map_err(|_| {
        D::Error::custom(if timeout < Some(0) {
            "timeout value cannot be negative"
        } else {
            "the timeout is too large"
        })
    })
}
