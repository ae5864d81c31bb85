//! Builds a schema from the types and methods of a description.
//!
//! Values stand in answers as protobuf's JSON has them. What may be missing there is nullable here; what cannot be said in GraphQL
//! (maps, messages without fields, any value) is the scalar `JSON`.

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use http::uri::PathAndQuery;
use prost_reflect::prost_types::method_options::IdempotencyLevel;
use prost_reflect::{
    Cardinality, DescriptorPool, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor,
};
use std::sync::Arc;
use weir_language::ast::OperationKind;
use weir_language::schema::build::SchemaBuilder;
use weir_language::schema::{ScalarReader, Schema, TypeRef, builtin};

/// Prefixes of method names that imply a read.
const READS: &[&str] = &[
    "BatchGet", "Check", "Count", "Describe", "Exists", "Fetch", "Find", "Get", "Has", "Is", "List",
    "Lookup", "Query", "Read", "Search", "Show",
];

/// Types and methods of a description.
pub(super) struct Model {
    pub(super) schema: Arc<Schema>,
    /// Methods by the name of their root field.
    pub(super) methods: HashMap<Box<str>, GrpcMethod>,
    /// Methods that stream, which are left out: `package.Service/Method`.
    pub(super) streaming: Vec<String>,
}

/// A unary method.
pub(super) struct GrpcMethod {
    /// `/package.Service/GrpcMethod`.
    pub(super) path: PathAndQuery,
    pub(super) input: MessageDescriptor,
    pub(super) output: MessageDescriptor,
    pub(super) kind: OperationKind,
}

impl GrpcMethod {
    /// True if the request is a well-known type that JSON writes as one value; that value is then the argument.
    pub(super) fn takes_value(&self) -> bool {
        is_one_value(self.input.full_name())
    }

    /// True if the response message has no fields.
    pub(super) fn is_silent(&self) -> bool {
        self.output.fields().len() == 0
    }
}

/// Names of the streaming methods in `pool`.
fn streaming_methods(pool: &DescriptorPool) -> Vec<String> {
    let all = pool.services().flat_map(|it| it.methods().collect::<Vec<_>>());
    all.filter(|it| it.is_client_streaming() || it.is_server_streaming())
        .map(|it| format!("{}/{}", it.parent_service().full_name(), it.name()))
        .collect()
}

struct ModelWriter<'p> {
    builder: SchemaBuilder,
    prefix: &'p str,
    /// GraphQL names by full protobuf name; input types have a `>` before it.
    names: HashMap<String, String>,
    taken: HashSet<String>,
    /// Messages whose types are still to be built; true for input types.
    open: Vec<(MessageDescriptor, bool)>,
    enums: Vec<EnumDescriptor>,
    scalars: HashSet<&'static str>,
}

impl Model {
    /// # Errors
    /// The description has no unary method, or its schema would be invalid.
    pub(super) fn new(pool: &DescriptorPool, prefix: &str) -> Result<Self, String> {
        let mut writer = ModelWriter {
            builder: SchemaBuilder::new(),
            prefix,
            names: HashMap::new(),
            taken: HashSet::new(),
            open: Vec::new(),
            enums: Vec::new(),
            scalars: HashSet::new(),
        };
        let mut methods = HashMap::new();
        for kind in [OperationKind::Query, OperationKind::Mutation] {
            writer.root(pool, kind, &mut methods)?;
        }
        writer.messages();
        writer.leaves();
        let schema = writer.builder.build().map_err(|errors| {
            let first = errors.first().map_or("", |it| &it.message);
            format!("the description gives no sound schema: {first}")
        })?;
        Ok(Self { schema: Arc::new(schema), methods, streaming: streaming_methods(pool) })
    }
}

/// Well-known types that JSON writes as something other than an object of their fields.
///
/// Source: ProtoJSON.
const ONE_VALUE: &[&str] = &[
    "Any",
    "BoolValue",
    "BytesValue",
    "DoubleValue",
    "Duration",
    "FieldMask",
    "FloatValue",
    "Int32Value",
    "Int64Value",
    "ListValue",
    "StringValue",
    "Struct",
    "Timestamp",
    "UInt32Value",
    "UInt64Value",
    "Value",
];

pub(super) fn is_one_value(full_name: &str) -> bool {
    full_name.strip_prefix("google.protobuf.").is_some_and(|it| ONE_VALUE.contains(&it))
}

/// Name of a field in the schema: its JSON name, or its protobuf name if the JSON name is not valid in GraphQL. Requests accept both.
pub(super) fn member_name(field: &FieldDescriptor) -> &str {
    let json = field.json_name();
    if is_name(json) { json } else { field.name() }
}

/// True for a valid, unreserved GraphQL name. Source: GraphQL specification, section 2.1.9.
fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|it| it.is_ascii_alphabetic() || it == b'_')
        && bytes.all(|it| it.is_ascii_alphanumeric() || it == b'_')
        && !text.starts_with("__")
}

/// Whether `method` is a query or a mutation.
fn kind_of(method: &MethodDescriptor) -> OperationKind {
    let options = method.method_descriptor_proto().options.as_ref();
    let level = options.map_or(IdempotencyLevel::IdempotencyUnknown, |it| it.idempotency_level());
    let name = method.name();
    let begins = |word: &&str| {
        let rest = name.strip_prefix(*word);
        rest.is_some_and(|it| !it.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    if level == IdempotencyLevel::NoSideEffects || READS.iter().any(begins) {
        OperationKind::Query
    } else {
        OperationKind::Mutation
    }
}

impl ModelWriter<'_> {
    fn root(
        &mut self,
        pool: &DescriptorPool,
        kind: OperationKind,
        methods: &mut HashMap<Box<str>, GrpcMethod>,
    ) -> Result<(), String> {
        let services: Vec<_> = pool.services().collect();
        let unary = services
            .iter()
            .flat_map(|it| it.methods())
            .filter(|it| !it.is_client_streaming() && !it.is_server_streaming() && kind_of(it) == kind);
        let unary: Vec<MethodDescriptor> = unary.collect();
        let name = if kind == OperationKind::Query { "Query" } else { "Mutation" };
        let root = format!("{}{name}", self.prefix);
        self.taken.insert(root.clone());
        match (unary.is_empty(), kind) {
            (true, OperationKind::Query) => {
                return Err("no unary method is known to read only: set `idempotency_level`".into());
            }
            (true, _) => return Ok(()),
            (false, _) => {}
        }
        let id = self.builder.object(&root, "");
        self.builder.root(kind, id);
        for method in unary {
            let name = field_name(self.prefix, method.name());
            let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
            let path = path.parse().map_err(|_| format!("`{path}` is no path"))?;
            let done = GrpcMethod { path, input: method.input(), output: method.output(), kind };
            let ty = if done.is_silent() {
                self.builder.type_ref("Boolean")
            } else {
                let name = self.message(&done.output, false);
                self.builder.type_ref(&name)
            };
            self.builder.field(&name, "", ty);
            if done.takes_value() {
                let name = self.message(&done.input, true);
                let ty = self.builder.type_ref(&name);
                self.builder.argument("value", "", ty);
            } else {
                for field in done.input.fields() {
                    let ty = self.input_type(&field);
                    self.builder.argument(member_name(&field), "", ty);
                }
            }
            if methods.insert(name.clone().into(), done).is_some() {
                return Err(format!(
                    "two services have a method for `{name}`: describe them apart, with prefixes"
                ));
            }
        }
        Ok(())
    }

    /// Builds all types that were referenced, including those they reference.
    fn messages(&mut self) {
        while let Some((message, is_input)) = self.open.pop() {
            let name = self.name(message.full_name(), message.package_name(), is_input);
            if is_input {
                self.builder.input_object(&name, "");
                for field in message.fields() {
                    let ty = self.input_type(&field);
                    self.builder.input_field(member_name(&field), "", ty);
                }
            } else {
                self.builder.object(&name, "");
                for field in message.fields() {
                    let ty = self.output_type(&field);
                    self.builder.field(member_name(&field), "", ty);
                }
            }
        }
    }

    fn leaves(&mut self) {
        for of in std::mem::take(&mut self.enums) {
            let name = self.name(of.full_name(), of.package_name(), false);
            self.builder.enumeration(&name, "");
            for value in of.values() {
                // Aliases of an enum value are skipped: answers contain only the first name.
                if of.get_value(value.number()).is_some_and(|it| it.name() == value.name()) {
                    self.builder.enum_value(value.name(), "");
                }
            }
        }
        let mut scalars: Vec<&str> = self.scalars.iter().copied().collect();
        scalars.sort_unstable();
        for scalar in scalars {
            let (reader, words) = match scalar {
                "BigInt" => (ScalarReader::BigInt, "An integer of 64 bits."),
                // `ScalarReader::Decimal` keeps all digits; a value beyond 64 bits is refused when the message is encoded.
                "UInt64" => (ScalarReader::Decimal, "An integer of 64 bits, from 0."),
                "Bytes" => (ScalarReader::Text, "Bytes in base64."),
                "Timestamp" => (ScalarReader::Text, "A moment: `2026-11-21T20:00:00Z`."),
                "Duration" => (ScalarReader::Text, "A span of time: `1.5s`."),
                _ => (ScalarReader::Json, "Any JSON."),
            };
            self.builder.scalar(scalar, words, reader);
        }
    }

    fn output_type(&mut self, field: &FieldDescriptor) -> TypeRef {
        let base = self.base(field, false);
        let is_message = matches!(field.kind(), Kind::Message(_));
        // A newer server may send unknown enum values, and JSON has no NaN, so such fields are nullable.
        let may_be_unshown = matches!(field.kind(), Kind::Enum(_) | Kind::Double | Kind::Float);
        let is_certain = !is_message && !may_be_unshown && !field.supports_presence();
        let text = match (field.is_map(), field.is_list()) {
            (true, _) => base,
            (_, true) if may_be_unshown => format!("[{base}]!"),
            (_, true) => format!("[{base}!]!"),
            (false, false) if is_certain || field.cardinality() == Cardinality::Required => {
                format!("{base}!")
            }
            (false, false) => base,
        };
        self.builder.type_ref(&text)
    }

    fn input_type(&mut self, field: &FieldDescriptor) -> TypeRef {
        let base = self.base(field, true);
        let text = match (field.is_list(), field.cardinality()) {
            (true, _) => format!("[{base}!]"),
            (false, Cardinality::Required) => format!("{base}!"),
            (false, Cardinality::Optional | Cardinality::Repeated) => base,
        };
        self.builder.type_ref(&text)
    }

    /// The GraphQL type of a field, without list wrappers.
    fn base(&mut self, field: &FieldDescriptor, is_input: bool) -> String {
        let scalar = match field.kind() {
            _ if field.is_map() => "JSON",
            Kind::Message(message) => return self.message(&message, is_input),
            Kind::Enum(of) => {
                let is_new = !self.names.contains_key(of.full_name());
                let name = self.name(of.full_name(), of.package_name(), false);
                if is_new {
                    self.enums.push(of);
                }
                return name;
            }
            Kind::Double | Kind::Float => "Float",
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => "Int",
            Kind::Uint32 | Kind::Fixed32 => "BigInt",
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => "BigInt",
            Kind::Uint64 | Kind::Fixed64 => "UInt64",
            Kind::Bool => "Boolean",
            Kind::String => "String",
            Kind::Bytes => "Bytes",
        };
        self.scalar(scalar)
    }

    fn scalar(&mut self, name: &'static str) -> String {
        if !builtin::is_built_in_name(name) {
            self.scalars.insert(name);
        }
        name.to_owned()
    }

    /// Name of the type for a message, which is queued to be built.
    fn message(&mut self, message: &MessageDescriptor, is_input: bool) -> String {
        match message.full_name() {
            "google.protobuf.Timestamp" => return self.scalar("Timestamp"),
            "google.protobuf.Duration" => return self.scalar("Duration"),
            "google.protobuf.FieldMask" | "google.protobuf.StringValue" => return self.scalar("String"),
            "google.protobuf.BoolValue" => return self.scalar("Boolean"),
            "google.protobuf.Int32Value" => return self.scalar("Int"),
            "google.protobuf.DoubleValue" | "google.protobuf.FloatValue" => return self.scalar("Float"),
            "google.protobuf.BytesValue" => return self.scalar("Bytes"),
            "google.protobuf.Int64Value" | "google.protobuf.UInt32Value" => return self.scalar("BigInt"),
            "google.protobuf.UInt64Value" => return self.scalar("UInt64"),
            full if full.starts_with("google.protobuf.") => return self.scalar("JSON"),
            _ if message.fields().len() == 0 => return self.scalar("JSON"),
            _ => {}
        }
        let mark = if is_input { ">" } else { "" };
        let is_new = !self.names.contains_key(&format!("{mark}{}", message.full_name()));
        if is_new {
            self.open.push((message.clone(), is_input));
        }
        self.name(message.full_name(), message.package_name(), is_input)
    }

    /// A unique type name for `full`, without the package if that is unused.
    fn name(&mut self, full: &str, package: &str, is_input: bool) -> String {
        let key = format!("{}{full}", if is_input { ">" } else { "" });
        if let Some(name) = self.names.get(&key) {
            return name.clone();
        }
        let short = full.strip_prefix(package).unwrap_or(full).trim_start_matches('.');
        let end = if is_input { "Input" } else { "" };
        let made = |of: &str| format!("{}{}{end}", self.prefix, of.replace('.', "_"));
        let mut name = if self.taken.contains(&made(short)) { made(full) } else { made(short) };
        while self.taken.contains(&name) {
            name.push('_');
        }
        self.taken.insert(name.clone());
        self.names.insert(key, name.clone());
        name
    }
}

/// Turns `GetPlayer` into `getPlayer`.
fn field_name(prefix: &str, method: &str) -> String {
    let mut rest = method.chars();
    let first = rest.next().map(|it| it.to_ascii_lowercase());
    format!("{prefix}{}{}", first.map_or_else(String::new, String::from), rest.as_str())
}
