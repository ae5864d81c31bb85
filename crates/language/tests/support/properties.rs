//! Properties of all texts. Each function panics if one is violated.

use super::printer::print;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use std::collections::HashSet;
use std::sync::LazyLock;
use weir_language::ast::{Definition, Document, Selection, TypeBody, ValueId, ValueKind};
use weir_language::error::Error;
use weir_language::json::{Json, JsonErrorKind, JsonKind, JsonRef};
use weir_language::limits::Limits;
use weir_language::parser::parse;
use weir_language::schema::Schema;
use weir_language::validate::{Options, validate};

/// Bounds wide enough for any text a fuzzer writes, small enough to be met.
const LIMITS: Limits = Limits { nesting_max: 60, ..Limits::NONE };

/// Parsing ends with a document or with an error that has a place in the text.
pub(crate) fn parses_or_says_where(text: &str) {
    for limits in [&LIMITS, &Limits::STANDARD] {
        match parse(text, limits) {
            Ok(document) => drop(facts(&document)),
            Err(error) => {
                assert_placed(&error, text);
            }
        }
    }
}

/// The error says something, of places in `text`.
fn assert_placed(error: &Error, text: &str) {
    assert!(!error.message.is_empty());
    for span in &error.spans {
        assert!(span.start <= span.end && span.end as usize <= text.len(), "{error:?}");
        assert!(text.is_char_boundary(span.start as usize), "{error:?}");
    }
    assert_eq!(error.locations(text).len(), error.spans.len());
}

/// A schema is built, or what is wrong has places in the text.
pub(crate) fn schemas_are_built_or_say_where(text: &str) {
    if let Err(errors) = Schema::from_sdl(text) {
        assert!(!errors.is_empty(), "{text}");
        errors.iter().for_each(|error| assert_placed(error, text));
    }
}

/// A schema whose names are those of [`super::grammar`], so that random documents often mean something.
static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let sdl = "
        schema { query: query mutation: T }
        interface Album { id: ID! a: Album b(id: Int = 1, on: [String!], query: fragment): [Album] }
        type T implements Album {
            id: ID! a: T b(id: Int = 1, on: [String!], query: fragment): [T!] type: input _: type
            on(a: Float!, b: input): on
        }
        type query { a: Album b: T! id: Int on: [on!] query: query type: type input(a: a): String Album: Album }
        union on = T | query
        enum input { a b id on true_ Album }
        input fragment { a: Int b: fragment on: [input] query: String! = \"x\" }
        input a @oneOf { a: Int b: String }
        scalar type
        directive @a(b: Int, on: input) repeatable on FIELD | QUERY | FRAGMENT_DEFINITION | INLINE_FRAGMENT
        directive @id on FIELD | VARIABLE_DEFINITION";
    Schema::from_sdl(sdl).unwrap_or_else(|errors| panic!("{errors:?}"))
});

/// A document is valid, printed as well, or its violations have places in the text and are within their bound.
pub(crate) fn validation_answers(text: &str) {
    let options = Options {
        limits: Limits::STANDARD,
        suggestions: true,
        edition_2026: false,
        subscriptions_beside: false,
    };
    let Ok(document) = parse(text, &options.limits) else { return };
    match validate(&*SCHEMA, &document, &options) {
        Ok(_) => {
            let printed = print(&document);
            let again = parse(&printed, &LIMITS).expect("what is printed parses");
            let options = Options { limits: LIMITS, ..options };
            assert!(validate(&*SCHEMA, &again, &options).is_ok(), "{text}\n---\n{printed}");
        }
        Err(errors) => {
            assert!(!errors.is_empty() && errors.len() <= options.limits.errors_max as usize);
            errors.iter().for_each(|error| assert_placed(error, text));
        }
    }
}

/// A printed document parses to the same document, and prints the same again.
pub(crate) fn printing_keeps_the_document(text: &str) {
    let Ok(document) = parse(text, &LIMITS) else { return };
    let printed = print(&document);
    let again = parse(&printed, &LIMITS).unwrap_or_else(|error| panic!("{error:?}\n{text}\n---\n{printed}"));
    for (before, after) in facts(&document).iter().zip(&facts(&again)) {
        assert_eq!(before, after, "{text}\n---\n{printed}");
    }
    assert_eq!(facts(&document).len(), facts(&again).len(), "{text}\n---\n{printed}");
    assert_eq!(print(&again), printed, "{text}");
}

/// All that a document says, without where it says it: equal documents have equal facts.
fn facts(document: &Document<'_>) -> Vec<String> {
    let mut facts = Vec::new();
    let str = |span| document.str(span);
    for definition in &document.definitions {
        facts.push(match definition {
            Definition::Operation(it) => {
                let described = it.description.is_some();
                format!(
                    "{:?} {described} {} {:?} {:?} {:?}",
                    it.kind,
                    str(it.name),
                    it.variables,
                    it.directives,
                    it.selections
                )
            }
            Definition::Fragment(it) => {
                format!("{} on {} {:?} {:?}", str(it.name), str(it.on), it.directives, it.selections)
            }
            Definition::Schema(it) => format!("schema {} {:?} {:?}", it.extend, it.directives, it.operations),
            Definition::Type(it) => {
                let body = body(&it.body);
                format!("{} {} {:?} {:?} {body}", it.extend, str(it.name), it.description, it.directives)
            }
            Definition::Directive(it) => {
                format!("@{} {:?} {} {:?}", str(it.name), it.arguments, it.repeatable, it.locations)
            }
        });
    }
    let selections = document.selections.iter().map(|selection| match selection {
        Selection::Field(it) => {
            let alias = str(it.alias);
            let name = str(it.name);
            format!("{alias}:{name} {:?} {:?} {:?}", it.arguments, it.directives, it.selections)
        }
        Selection::Spread(it) => format!("...{} {:?}", str(it.name), it.directives),
        Selection::Inline(it) => format!("... on {} {:?} {:?}", str(it.on), it.directives, it.selections),
    });
    facts.extend(selections);
    facts.extend(document.arguments.iter().map(|it| format!("{}={:?}", str(it.name), it.value)));
    facts.extend(document.directives.iter().map(|it| format!("@{} {:?}", str(it.name), it.arguments)));
    facts.extend((0..document.values.len()).map(|place| value(document, ValueId(place as u32))));
    facts.extend(document.object_fields.iter().map(|it| format!("{}={:?}", str(it.name), it.value)));
    facts.extend(document.names.iter().map(|it| str(it.0).to_owned()));
    facts.extend(document.root_operations.iter().map(|it| format!("{:?} {}", it.kind, str(it.ty))));
    members(document, &mut facts);
    facts
}

fn members(document: &Document<'_>, facts: &mut Vec<String>) {
    let str = |span| document.str(span);
    facts.extend(document.variables.iter().map(|it| {
        let name = str(it.name);
        let ty = str(it.ty.name);
        format!("${name} {ty} {:?} {:?} {:?} {:?}", it.ty.wraps, it.default, it.directives, it.description)
    }));
    facts.extend(document.field_definitions.iter().map(|it| {
        let name = str(it.name);
        let ty = str(it.ty.name);
        format!("{name} {ty} {:?} {:?} {:?} {:?}", it.ty.wraps, it.arguments, it.directives, it.description)
    }));
    facts.extend(document.input_definitions.iter().map(|it| {
        let name = str(it.name);
        let ty = str(it.ty.name);
        format!("{name} {ty} {:?} {:?} {:?} {:?}", it.ty.wraps, it.default, it.directives, it.description)
    }));
    facts.extend(document.enum_value_definitions.iter().map(|it| {
        let name = str(it.name);
        format!("{name} {:?} {:?}", it.directives, it.description)
    }));
}

fn body(body: &TypeBody) -> String {
    match body {
        TypeBody::Scalar => "scalar".to_owned(),
        TypeBody::Object { interfaces, fields } => format!("object {interfaces:?} {fields:?}"),
        TypeBody::Interface { interfaces, fields } => format!("interface {interfaces:?} {fields:?}"),
        TypeBody::Union { members } => format!("union {members:?}"),
        TypeBody::Enum { values } => format!("enum {values:?}"),
        TypeBody::Input { fields } => format!("input {fields:?}"),
    }
}

fn value(document: &Document<'_>, id: ValueId) -> String {
    let value = document.value(id);
    match value.kind {
        ValueKind::Variable(name) => format!("${}", document.str(name)),
        ValueKind::String { .. } | ValueKind::Block => format!("{:?}", document.string(id)),
        ValueKind::List(items) => format!("{items:?}"),
        ValueKind::Object(fields) => format!("object {fields:?}"),
        ValueKind::Int | ValueKind::Float | ValueKind::Boolean(_) | ValueKind::Null | ValueKind::Enum => {
            document.str(value.span).to_owned()
        }
    }
}

const EQUAL_KEYS: &str = "two equal keys";

/// Any JSON without an object that has two equal keys.
struct Distinct;

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Distinct {
    type Value = Self;
    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("distinct keys")
    }
    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        let mut keys = HashSet::new();
        while let Some((key, _)) = members.next_entry::<String, Self>()? {
            if !keys.insert(key) {
                return Err(A::Error::custom(EQUAL_KEYS));
            }
        }
        Ok(self)
    }
}

/// JSON is accepted and refused as by `serde_json`, apart from what is stricter here, and reads the same.
pub(crate) fn json_is_read_as_by_serde(bytes: &[u8]) {
    let bytes = bytes.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(bytes);
    let theirs = serde_json::from_slice::<serde::de::IgnoredAny>(bytes);
    // It refuses numbers that are none for it, too.
    let distinct = serde_json::from_slice::<Distinct>(bytes).map_err(|it| it.to_string());
    let has_equal_keys = distinct.as_ref().is_err_and(|it| it.starts_with(EQUAL_KEYS));
    match Json::parse(bytes, 100) {
        Ok(json) => {
            assert!(theirs.is_ok() || bytes.starts_with("\u{FEFF}".as_bytes()), "{}", bytes.escape_ascii());
            assert!(!has_equal_keys, "{}", bytes.escape_ascii());
            compare(json.root());
        }
        Err(error) => {
            let stricter = match error.kind {
                JsonErrorKind::DuplicateKey => distinct.is_err(),
                JsonErrorKind::LoneSurrogate | JsonErrorKind::TooDeep | JsonErrorKind::BadUtf8 => true,
                JsonErrorKind::UnexpectedEnd
                | JsonErrorKind::UnexpectedByte
                | JsonErrorKind::TrailingBytes
                | JsonErrorKind::BadNumber
                | JsonErrorKind::BadEscape
                | JsonErrorKind::ControlCharacter
                | JsonErrorKind::TooLong => false,
            };
            assert!(stricter || theirs.is_err(), "{error}: {}", bytes.escape_ascii());
            assert!(error.at as usize <= bytes.len());
        }
    }
}

fn compare(root: JsonRef<'_>) {
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        match value.kind() {
            JsonKind::String { .. } => {
                let theirs: String = serde_json::from_str(value.raw()).expect("a string");
                assert_eq!(value.as_str().as_deref(), Some(theirs.as_str()));
            }
            JsonKind::Object => open.extend(value.members().map(|(key, member)| {
                assert!(value.get(&key).is_some());
                member
            })),
            JsonKind::Array => open.extend(value.items()),
            JsonKind::Null | JsonKind::True | JsonKind::False | JsonKind::Number => {
                serde_json::from_str::<serde::de::IgnoredAny>(value.raw()).expect("a scalar");
            }
        }
    }
}
