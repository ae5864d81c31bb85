//! Fields that services answer: `@custom`, `@remote` and `# Dgraph.Secret`, read and checked.
//!
//! None of it is stored: such fields and types are no part of the [`crate::model::Model`], so no input, filter, order, aggregate
//! or table has them. Whoever assembles the graph gives them to a source of services; this crate calls nobody.
//!
//! **Invariant:** every variable of a template is an argument of its field, or a single stored value of its type.

use weir_language::ast::OperationKind;
use weir_language::span::Location;
use weir_language::wraps::Wraps;

/// All that services answer.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Customs {
    /// The fields, in the order of the text.
    pub fields: Vec<CustomField>,
    /// The types that they give and take and that are not stored; enums of the model among them.
    pub definitions: Vec<RemoteDefinition>,
    /// `@remoteResponse`.
    pub names: Vec<ResponseName>,
    /// `# Dgraph.Secret`: names and values.
    pub secrets: Vec<(String, String)>,
}

impl std::fmt::Debug for Customs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { fields, definitions, names, secrets } = self;
        let secrets: Vec<&str> = secrets.iter().map(|it| &*it.0).collect();
        f.debug_struct("Customs")
            .field("fields", fields)
            .field("definitions", definitions)
            .field("names", names)
            .field("secrets", &secrets)
            .finish()
    }
}

impl Customs {
    /// True if there are no such fields.
    pub const fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}

/// A type that is not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteDefinition {
    /// Name of the type.
    pub name: String,
    /// Definition on one line, without directives but `@deprecated`.
    pub text: String,
    /// Fields of types and inputs.
    pub fields: Vec<(String, TypeUse)>,
    /// True for `@remote`.
    pub is_remote: bool,
    /// Place of its name.
    pub place: Location,
}

/// A type as written: `[Boat!]!`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeUse {
    /// Name of the type.
    pub name: String,
    /// Lists and marks around it.
    pub wraps: Wraps,
}

impl std::fmt::Display for TypeUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        self.wraps.write(&self.name, &mut text);
        f.write_str(&text)
    }
}

/// The member of an answer that a field is read of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseName {
    /// The type.
    pub ty: String,
    /// Field of the type.
    pub field: String,
    /// The member's name.
    pub name: String,
}

/// Owners of fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// `Query`.
    Query,
    /// `Mutation`.
    Mutation,
    /// A stored type.
    Type(String),
}

impl Owner {
    /// Name of the type.
    pub fn name(&self) -> &str {
        match self {
            Self::Query => "Query",
            Self::Mutation => "Mutation",
            Self::Type(name) => name,
        }
    }
}

/// A field with `@custom(http:)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomField {
    pub owner: Owner,
    /// Name of the field.
    pub name: String,
    /// Type of the field.
    pub ty: TypeUse,
    /// Description, name, arguments, type and `@deprecated` on one line.
    pub signature: String,
    /// The call.
    pub request: CustomRequest,
    /// Fields of the owner that the call reads and that may be null in it.
    pub optional: Vec<String>,
    /// `@withSubscription`: of a query, which may be subscribed to.
    pub is_live: bool,
    /// Place of the directive.
    pub place: Location,
}

/// Arguments of `@custom(http:)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomRequest {
    /// GET, POST, PUT, PATCH or DELETE.
    pub method: &'static str,
    /// The address.
    pub url: Url,
    /// `body`.
    pub body: Option<Template>,
    /// `graphql`.
    pub graphql: Option<RemoteOperation>,
    /// `mode: BATCH`.
    pub is_batch: bool,
    /// Headers of the client's request.
    pub forwarded: Vec<HeaderPair>,
    /// Headers with the values of secrets.
    pub secret: Vec<HeaderPair>,
    /// Headers of introspection requests.
    pub introspection: Vec<HeaderPair>,
    /// False with `skipIntrospection: true`.
    pub is_introspected: bool,
}

/// A header of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderPair {
    /// Name of the header in the call.
    pub remote: String,
    /// The client's header, or the secret.
    pub local: String,
}

/// An address with variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// Scheme and host: no variable is in it.
    pub origin: String,
    /// The path's segments.
    pub path: Vec<UrlPart>,
    /// The parameters, in order.
    pub query: Vec<(String, UrlPart)>,
}

/// A segment of a path, or the value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UrlPart {
    /// Text that is sent as written.
    Fixed(String),
    /// `$name`.
    Variable {
        /// Without `$`.
        name: String,
        /// True if its values are lists.
        is_list: bool,
    },
}

/// A body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Template {
    /// A value without variables: `null`, a boolean or a number as written.
    Constant(String),
    Text(String),
    /// `$name`.
    Variable(String),
    List(Vec<Template>),
    Object(Vec<(String, Template)>),
}

/// `graphql: "query($reg: String!) { inspect(reg: $reg) }"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteOperation {
    /// Query or mutation.
    pub kind: OperationKind,
    /// The text up to where the selection of the field begins.
    pub text: String,
    pub field: String,
    /// The variables' names and types.
    pub variables: Vec<(String, TypeUse)>,
    /// The field's arguments: name, and the variable that it is as a whole.
    pub arguments: Vec<(String, Option<String>)>,
}
