//! Coerces literals of a document: arguments, defaults of variables, defaults of a schema.

use super::fault_messages::{CoercionFault, Form, Why, kind_of_literal, list_mark, object_mark, short};
use super::input_walk::{InputMember, Look, Tree, Walk};
use super::literal_text::{self, Style};
use super::scalar_readers::{self, Leaf};
use super::{Reading, Settings};
use crate::error::Error;
use crate::ids::InputId;
use crate::limits::Limits;
use crate::string_value;
use crate::syntax::ast::{Document, Value, ValueId, ValueKind};
use crate::type_system::{ScalarReader, Schema, SchemaView, TypeRef};
use crate::value::{Node, Values};
use std::borrow::Cow;

/// Finds the number of the variable of a plan that stands at a place, if one does.
pub type Number<'n> = &'n dyn Fn(ValueId) -> Option<u32>;

/// Coerces the literal `value` to `ty` and appends it to `out`; says where it begins.
///
/// - `number`: the number of the variable of the plan at a place, or of a JSON literal with variables inside, which is filled like
///   a variable; it becomes [`Node::Variable`].
/// - `out`: what it held before stays, also after an error.
///
/// # Errors
/// Everything that does not fit, with its place in the document. For a valid document these are only limits, and errors of scalars
/// with formats of their own.
pub fn literal<'s>(
    schema: impl Into<SchemaView<'s>>,
    document: &Document<'_>,
    value: ValueId,
    ty: TypeRef,
    settings: Settings,
    number: Number<'_>,
    out: &mut Values,
) -> Result<u32, Vec<Error>> {
    let schema = schema.into();
    let tree = Literals { document, reading: settings.reading, number };
    let mut walk = Walk::new(schema, &tree, settings);
    let nodes = out.nodes.len();
    let text = out.text.len();
    walk.run(value.0, ty, out);
    if walk.faults.is_empty() {
        return Ok(nodes as u32);
    }
    out.nodes.truncate(nodes);
    out.text.truncate(text);
    Err(walk.faults.iter().map(|fault| tree.error(schema, fault)).collect())
}

/// The result of coercing a default of a schema.
pub(crate) enum Constant {
    /// The value is in `out`.
    Fits,
    /// These defaults have to be coerced first.
    Needs(Vec<InputId>),
    /// It does not fit.
    Wrong(Vec<Error>),
}

/// Coerces a default of `schema` while the schema is being built. `out` is cleared first; keeps its room.
pub(crate) fn constant(
    schema: &Schema,
    document: &Document<'_>,
    value: ValueId,
    ty: TypeRef,
    out: &mut Values,
) -> Constant {
    let tree = Literals { document, reading: Reading::Strict, number: &|_| None };
    let settings = Settings::new(Reading::Strict, &Limits::NONE);
    let schema = SchemaView::from(schema);
    let mut walk = Walk::with_taken(schema, &tree, settings, schema.defaults().nodes.len());
    out.clear();
    walk.run(value.0, ty, out);
    if !walk.faults.is_empty() {
        return Constant::Wrong(walk.faults.iter().map(|fault| tree.error(schema, fault)).collect());
    }
    if walk.needed.is_empty() { Constant::Fits } else { Constant::Needs(walk.needed) }
}

/// The literals of a document; a place is a [`ValueId`].
struct Literals<'d> {
    document: &'d Document<'d>,
    reading: Reading,
    number: Number<'d>,
}

impl Literals<'_> {
    fn value_at(&self, at: u32) -> &Value {
        self.document.value(ValueId(at))
    }

    fn error(&self, schema: SchemaView<'_>, fault: &CoercionFault) -> Error {
        let span = self.value_at(fault.at).span;
        let kind = kind_of_literal(self.value_at(fault.at).kind);
        let shown = match self.value_at(fault.at).kind {
            _ if fault.unfit.hides(schema) => kind.into(),
            ValueKind::List(items) => list_mark(items.is_empty()).into(),
            ValueKind::Object(fields) => object_mark(fields.is_empty()).into(),
            ValueKind::Variable(_)
            | ValueKind::Int
            | ValueKind::Float
            | ValueKind::String { .. }
            | ValueKind::Block
            | ValueKind::Boolean(_)
            | ValueKind::Null
            | ValueKind::Enum => short(self.document.str(span)),
        };
        let message = fault.unfit.words(schema, self.reading, Form::Literal, &shown, kind);
        Error::new(fault.unfit.code(Form::Literal), span, message)
    }

    fn leaf(&self, at: u32) -> Leaf<'_> {
        let value = self.value_at(at);
        let text = self.document.str(value.span);
        match value.kind {
            ValueKind::Int => Leaf::Int(text),
            ValueKind::Float => Leaf::Float(text),
            ValueKind::String { .. } | ValueKind::Block => Leaf::Text(string_value::decode(text)),
            ValueKind::Boolean(truth) => Leaf::Bool(truth),
            ValueKind::Variable(_)
            | ValueKind::Null
            | ValueKind::Enum
            | ValueKind::List(_)
            | ValueKind::Object(_) => Leaf::Other,
        }
    }
}

impl Tree for Literals<'_> {
    fn look(&self, at: u32) -> Look {
        match self.value_at(at).kind {
            ValueKind::Variable(_) => match (self.number)(ValueId(at)) {
                Some(number) => Look::Variable(number),
                None => Look::Unknown,
            },
            ValueKind::Null => Look::Null,
            ValueKind::List(items) => {
                Look::List { first: items.range().start as u32, len: items.len() as u32 }
            }
            ValueKind::Object(fields) => {
                let range = fields.range();
                Look::Object { first: range.start as u32, end: range.end as u32 }
            }
            ValueKind::Int
            | ValueKind::Float
            | ValueKind::String { .. }
            | ValueKind::Block
            | ValueKind::Boolean(_)
            | ValueKind::Enum => Look::Leaf,
        }
    }

    fn item_after(&self, at: u32) -> u32 {
        at + 1
    }

    fn member(&self, at: u32) -> InputMember<'_> {
        let field = &self.document.object_fields[at as usize];
        InputMember { key: Cow::Borrowed(self.document.str(field.name)), value: field.value.0, next: at + 1 }
    }

    fn scalar(&self, at: u32, reader: ScalarReader, out: &mut Values) -> Result<Node, Why> {
        if reader == ScalarReader::Json {
            let value = ValueId(at);
            let mut json = String::new();
            return match literal_text::literal(self.document, value, Style::Json, &mut json) {
                Ok(()) => Ok(Node::Json(out.push_text(&json))),
                Err(_) => (self.number)(value).map(Node::Variable).ok_or(Why::Variable),
            };
        }
        scalar_readers::read(&self.leaf(at), reader, self.reading, out)
    }

    fn enum_name(&self, at: u32) -> Option<Cow<'_, str>> {
        match self.value_at(at).kind {
            ValueKind::Enum => Some(Cow::Borrowed(self.document.str(self.value_at(at).span))),
            ValueKind::Variable(_)
            | ValueKind::Int
            | ValueKind::Float
            | ValueKind::String { .. }
            | ValueKind::Block
            | ValueKind::Boolean(_)
            | ValueKind::Null
            | ValueKind::List(_)
            | ValueKind::Object(_) => None,
        }
    }
}
