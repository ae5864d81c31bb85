//! Values whose types are only known while they are written: trees for tests and for resolvers that have no structs.
//!
//! **Invariant:** a value that does not fit the schema's type is a field error, never a panic.

mod records;

pub use records::Records;

use super::binder::{Binder, NO_FIELD, Scope, Unbound};
use super::rust_answer::{Answer, ItemObject, Writer, fits, set_of};
use super::spot::Spot;
use crate::answer::field_error::FieldError;
use crate::answer::output_plan::{OutputField, OutputKind, SelectionSetId, TypeSwitchId};
use crate::answer::rows::{CellError, Column, Data, Table, Texts, Variants};
use crate::answer::write::fault::Fault;
use crate::answer::write::out::Out;
use crate::memory::rust_record::{is_above, object_numbers, visit_objects};
use std::any::Any;
use std::sync::Arc;
use weir_language::schema::{FieldId, ScalarReader, TypeId, TypeKind, builtin};

/// A value of any type.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number; not finite is a field error.
    Float(f64),
    /// Text, IDs, values of enums.
    Text(Arc<str>),
    /// JSON as it is written.
    Json(Arc<str>),
    /// A list.
    List(Vec<Value>),
    /// An object.
    Object(Object),
    /// A list of objects that have the same fields.
    Records(Box<Records>),
    /// The field failed.
    Error(FieldError),
}

/// An object whose fields are found by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// The object type's name; only asked for where several can stand.
    pub ty: Arc<str>,
    /// Names, each once, and values. A field that is not there is null.
    pub fields: Vec<(Arc<str>, Value)>,
}

static NULL: Value = Value::Null;

impl Object {
    /// The value of the field called `name`.
    pub fn get(&self, name: &str) -> &Value {
        self.get_from(&mut 0, name)
    }

    /// Finds a field like [`Object::get`], starting at `next`, which becomes the index after the found field: reading fields in the
    /// object's own order needs no search.
    fn get_from(&self, next: &mut usize, name: &str) -> &Value {
        let is_it = |at: &usize| self.fields.get(*at).is_some_and(|field| &*field.0 == name);
        let Some(at) = Some(*next).filter(is_it).or_else(|| (0..self.fields.len()).find(is_it)) else {
            return &NULL;
        };
        *next = at + 1;
        &self.fields[at].1
    }
}

/// A leaf that fits its type.
enum Leaf<'v> {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'v str),
    Json(&'v str),
}

impl Leaf<'_> {
    fn json(&self) -> Vec<u8> {
        let mut out = Out::default();
        match *self {
            Self::Bool(value) => out.bool(value),
            Self::Int(value) => out.int(value),
            Self::Float(value) => {
                let is_finite = out.float(value);
                debug_assert!(is_finite, "only finite numbers are leaves of JSON scalars");
            }
            Self::Text(text) => out.string(text),
            Self::Json(json) => out.raw(json.as_bytes()),
        }
        out.into_bytes()
    }
}

/// The leaf that `value` is where the source's own type `kind` stands.
fn leaf<'v>(value: &'v Value, kind: TypeKind) -> Option<Leaf<'v>> {
    let reader = match kind {
        TypeKind::Scalar(reader) => reader,
        TypeKind::Enum => ScalarReader::String,
        TypeKind::Object | TypeKind::Interface | TypeKind::Union | TypeKind::Input { .. } => return None,
    };
    match (reader, value) {
        (ScalarReader::Int | ScalarReader::BigInt, &Value::Int(value)) => Some(Leaf::Int(value)),
        (ScalarReader::Float, &Value::Float(value)) => Some(Leaf::Float(value)),
        (ScalarReader::Float, &Value::Int(value)) => Some(Leaf::Float(value as f64)),
        (ScalarReader::Boolean, &Value::Bool(value)) => Some(Leaf::Bool(value)),
        (
            ScalarReader::String | ScalarReader::Id | ScalarReader::Text | ScalarReader::Moment,
            Value::Text(text),
        ) => Some(Leaf::Text(text)),
        (ScalarReader::Json | ScalarReader::Decimal, Value::Json(text)) => Some(Leaf::Json(text)),
        (ScalarReader::Json | ScalarReader::Decimal, &Value::Int(value)) => Some(Leaf::Int(value)),
        (ScalarReader::Json, &Value::Float(value)) if value.is_finite() => Some(Leaf::Float(value)),
        (ScalarReader::Json, &Value::Bool(value)) => Some(Leaf::Bool(value)),
        (ScalarReader::Json, Value::Text(text)) => Some(Leaf::Text(text)),
        _ => None,
    }
}

impl Answer for Value {
    fn bind(_: &mut Binder<'_>, _: Spot<'_>) -> Result<(), Unbound> {
        Ok(())
    }

    fn write(&self, spot: Spot<'_>, writer: &mut Writer<'_>) -> bool {
        match self {
            Self::Null => return writer.null(spot),
            Self::Error(error) => return writer.report_error(spot, error.clone()),
            Self::List(items) if spot.ty.wraps.is_list() => return items.write(spot, writer),
            Self::Records(records) if spot.ty.wraps.is_list() => return records.write(spot, writer),
            Self::Object(object) if !spot.ty.wraps.is_list() => return write_object(object, spot, writer),
            _ if spot.ty.wraps.is_list() => return writer.fail(spot, Fault::Broken),
            Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Text(_)
            | Self::Json(_)
            | Self::List(_)
            | Self::Object(_)
            | Self::Records(_) => {}
        }
        match leaf(self, writer.schema.ty(writer.bindings.ty(spot.ty.base)).kind) {
            Some(Leaf::Bool(value)) => value.write(spot, writer),
            Some(Leaf::Int(value)) => value.write(spot, writer),
            Some(Leaf::Float(value)) => value.write(spot, writer),
            Some(Leaf::Text(text)) => text.write(spot, writer),
            Some(Leaf::Json(json)) => {
                writer.out.raw(json.as_bytes());
                true
            }
            None => writer.fail(spot, Fault::Broken),
        }
    }

    fn write_member(&self, field: u32, output_field: &OutputField, writer: &mut Writer<'_>) -> bool {
        // A leaf of a built-in type is written together with its key.
        let base = (!output_field.ty.wraps.is_list()).then(|| writer.bindings.ty(output_field.ty.base));
        match (self, base) {
            (Self::Text(text), Some(builtin::STRING | builtin::ID)) => {
                text.write_member(field, output_field, writer)
            }
            (Self::Int(value), Some(builtin::INT)) => value.write_member(field, output_field, writer),
            (Self::Float(value), Some(builtin::FLOAT)) => value.write_member(field, output_field, writer),
            (Self::Bool(value), Some(builtin::BOOLEAN)) => value.write_member(field, output_field, writer),
            _ => writer.member(field, output_field, |spot, writer| self.write(spot, writer)),
        }
    }

    fn column(values: &[Option<&Self>], spot: Spot<'_>, scope: Scope<'_>) -> Column {
        let mut column = Column::default();
        for (row, value) in values.iter().enumerate() {
            if !matches!(value, Some(value) if !matches!(value, Self::Null | Self::Error(_))) {
                column.nulls.set(row);
            }
            if let Some(Self::Error(error)) = value {
                column.errors.push(CellError { row: row as u32, error: error.clone() });
            }
        }
        if spot.ty.wraps.is_list() {
            column.data = list(values, spot, scope, &mut column);
        } else {
            match spot.output_field.member {
                OutputKind::Object(set) => {
                    column.data =
                        Data::Object(Box::new(table(&objects(values, &mut column, spot, scope), set, scope)));
                }
                OutputKind::Abstract(choice) => {
                    column.data = variants(values, choice, spot, scope, &mut column)
                }
                OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => {
                    column.data = leaf_data(values, spot, scope, &mut column);
                }
            }
        }
        column.errors.sort_by_key(|cell| cell.row);
        column
    }
    fn object(&self) -> ItemObject<'_> {
        match self {
            Self::Object(object) => ItemObject::Object(object),
            Self::Null | Self::Error(_) => ItemObject::None,
            Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Text(_)
            | Self::Json(_)
            | Self::List(_)
            | Self::Records(_) => ItemObject::Opaque,
        }
    }
    fn items<'v>(&'v self, found: &mut Vec<&'v dyn Any>) -> bool {
        match self {
            Self::List(items) => items.items(found),
            other => matches!(other.object(), ItemObject::None),
        }
    }
    fn retain(&mut self, verdicts: &mut dyn Iterator<Item = bool>) {
        if let Self::List(items) = self {
            Answer::retain(items, verdicts);
        }
    }
}

fn write_object(object: &Object, spot: Spot<'_>, writer: &mut Writer<'_>) -> bool {
    let Some(set) = set_of(spot, writer.bindings, &object.ty) else {
        return reject_type(&object.ty, spot, writer);
    };
    let output = writer.output;
    let range = output.set(set).range();
    let bindings = writer.bindings;
    writer.out.open(b'{');
    let mut next = 0;
    for (at, output_field) in range.clone().zip(&output.fields[range]) {
        if let OutputKind::Constant { .. } = output_field.member {
            writer.constant(output_field);
            continue;
        }
        let value =
            object.get_from(&mut next, bindings.schema.field_name(bindings.field(output_field.field)));
        if !value.write_member(at as u32, output_field, writer) {
            return false;
        }
    }
    writer.out.close(b'}');
    true
}

/// Notes that no object called `name` may stand at `spot`.
#[cold]
fn reject_type(name: &str, spot: Spot<'_>, writer: &mut Writer<'_>) -> bool {
    match writer.schema.type_by_name(name) {
        Some(ty) => writer.fail(spot, Fault::WrongType(ty)),
        None => writer.fail(spot, Fault::Broken),
    }
}

/// Makes `row` a failed one.
fn fail(column: &mut Column, row: usize, fault: Fault<'_>, spot: Spot<'_>, scope: Scope<'_>) {
    let bindings = scope.bindings;
    let error = fault.error(
        &bindings.schema,
        bindings.field(spot.output_field.field),
        bindings.ty(spot.output_field.ty.base),
    );
    column.nulls.set(row);
    column.errors.push(CellError { row: row as u32, error });
}

fn list(values: &[Option<&Value>], spot: Spot<'_>, scope: Scope<'_>, column: &mut Column) -> Data {
    if let Some(data) = list_of_records(values, spot, scope) {
        return data;
    }
    let mut offsets = vec![0];
    let mut items = Vec::new();
    let objects = |value: &Option<&Value>| match value {
        Some(Value::Records(records)) => records.to_list(),
        _ => Vec::new(),
    };
    let objects: Vec<Vec<Value>> = values.iter().map(objects).collect();
    for (row, value) in values.iter().enumerate() {
        match value {
            Some(Value::List(list)) => items.extend(list.iter().map(Some)),
            Some(Value::Records(_)) => items.extend(objects[row].iter().map(Some)),
            _ if column.nulls.get(row) => {}
            _ => fail(column, row, Fault::Broken, spot, scope),
        }
        offsets.push(items.len() as u32);
    }
    let ty = spot.ty.item().unwrap_or(spot.ty);
    Data::List { offsets, items: Box::new(Value::column(&items, Spot { ty, ..spot }, scope)) }
}

/// Lists of which all are records of one kind, or null. `None`: some are not.
fn list_of_records(values: &[Option<&Value>], spot: Spot<'_>, scope: Scope<'_>) -> Option<Data> {
    let OutputKind::Object(set) = spot.output_field.member else { return None };
    if spot.ty.item().is_none_or(|it| it.wraps.is_list()) {
        return None;
    }
    let mut offsets = vec![0];
    let mut lists: Vec<&Records> = Vec::new();
    let mut end = 0;
    for value in values {
        match value {
            Some(Value::Records(records)) => {
                end += records.len() as u32;
                lists.push(&**records);
            }
            Some(Value::Null | Value::Error(_)) | None => {}
            Some(_) => return None,
        }
        offsets.push(end);
    }
    let table = records::table(&lists, set, scope)?;
    let items = Column { data: Data::Object(Box::new(table)), ..Column::default() };
    Some(Data::List { offsets, items: Box::new(items) })
}

fn objects<'v>(
    values: &[Option<&'v Value>],
    column: &mut Column,
    spot: Spot<'_>,
    scope: Scope<'_>,
) -> Vec<Option<&'v Object>> {
    let objects = values.iter().enumerate().map(|(row, value)| match value {
        Some(Value::Object(object)) => Some(object),
        _ if column.nulls.get(row) => None,
        _ => {
            fail(column, row, Fault::Broken, spot, scope);
            None
        }
    });
    objects.collect()
}

fn table<'v>(objects: &[Option<&'v Object>], set: SelectionSetId, scope: Scope<'_>) -> Table {
    let bindings = scope.bindings;
    let values = |field: FieldId| -> Vec<Option<&'v Value>> {
        let name = bindings.schema.field_name(bindings.field(field));
        let mut at = 0;
        let mut value = |object: &'v Object| {
            let mut next = at;
            let value = object.get_from(&mut next, name);
            // Objects alike have it at the same place.
            if next != at {
                at = next - 1;
            }
            value
        };
        objects.iter().map(|object| object.map(&mut value)).collect()
    };
    let column = |output_field: &OutputField| {
        Value::column(
            &values(output_field.field),
            Spot { field: NO_FIELD, output_field, ty: output_field.ty },
            scope,
        )
    };
    if let Some(goes_on) = visit_objects(objects, set, scope) {
        let members = scope.output.members(set).iter();
        members
            .filter(|output_field| goes_on && is_above(output_field, scope))
            .for_each(|output_field| drop(column(output_field)));
        return Table::default();
    }
    let columns = scope.output.members(set).iter().map(|output_field| match output_field.member {
        OutputKind::Constant { .. } | OutputKind::Foreign { .. } => Column::default(),
        _ if output_field.same_as.is_some() => Column::default(),
        OutputKind::Leaf | OutputKind::Object(_) | OutputKind::Abstract(_) => column(output_field),
    });
    let columns = columns.collect();
    let hidden = scope.output.set(set).hidden.iter().map(|&field| {
        if field == bindings.schema.meta.typename {
            return object_numbers(objects, set, scope);
        }
        let kind = bindings.schema.ty(bindings.schema.field(bindings.field(field)).ty.base).kind;
        let mut column = Column::default();
        let values = values(field);
        column.data = leaf_column(&values, kind, |row, _| column.nulls.set(row));
        column
    });
    Table { rows: objects.len() as u32, columns, hidden: hidden.collect() }
}

fn variants(
    values: &[Option<&Value>],
    choice: TypeSwitchId,
    spot: Spot<'_>,
    scope: Scope<'_>,
    column: &mut Column,
) -> Data {
    let objects = objects(values, column, spot, scope);
    let mut parts: Vec<(TypeId, SelectionSetId, Vec<Option<&Object>>)> = Vec::new();
    let mut variants = Variants::default();
    for (row, object) in objects.iter().enumerate() {
        let found = object.and_then(|object| scope.bindings.type_and_set(choice, &object.ty));
        if let (Some(object), None) = (object, found) {
            let ty = scope.bindings.schema.type_by_name(&object.ty);
            fail(column, row, ty.map_or(Fault::Broken, Fault::WrongType), spot, scope);
        }
        let Some((ty, set)) = found else {
            variants.types.push(TypeId(0));
            variants.places.push(0);
            continue;
        };
        let at = parts.iter().position(|part| part.0 == ty).unwrap_or_else(|| {
            parts.push((ty, set, Vec::new()));
            parts.len() - 1
        });
        variants.types.push(ty);
        variants.places.push(parts[at].2.len() as u32);
        parts[at].2.push(*object);
    }
    variants.tables = parts.into_iter().map(|(ty, set, objects)| (ty, table(&objects, set, scope))).collect();
    Data::Abstract(Box::new(variants))
}

fn leaf_data(values: &[Option<&Value>], spot: Spot<'_>, scope: Scope<'_>, column: &mut Column) -> Data {
    let base = scope.bindings.ty(spot.ty.base);
    let schema = &scope.bindings.schema;
    let mut failed = Vec::new();
    let data = leaf_column(values, schema.ty(base).kind, |row, value| {
        if !matches!(value, Some(Value::Null | Value::Error(_)) | None) {
            failed.push((row, Fault::Broken));
        }
    });
    for (row, value) in values.iter().enumerate() {
        if let Some(Value::Text(text)) = value
            && !fits(schema, base, text)
        {
            failed.push((row, Fault::NoEnumValue(text.as_bytes())));
        }
    }
    for (row, fault) in failed {
        fail(column, row, fault, spot, scope);
    }
    data
}

/// Leaves as column data; rows whose value is no leaf of the type are passed to `other`.
fn leaf_column<'v>(
    values: &[Option<&'v Value>],
    kind: TypeKind,
    mut other: impl FnMut(usize, Option<&'v Value>),
) -> Data {
    let mut data = match kind {
        TypeKind::Scalar(ScalarReader::Int | ScalarReader::BigInt) => Data::Int(Vec::new()),
        TypeKind::Scalar(ScalarReader::Float) => Data::Float(Vec::new()),
        TypeKind::Scalar(ScalarReader::Boolean) => Data::Bool(Vec::new()),
        TypeKind::Scalar(ScalarReader::Json | ScalarReader::Decimal) => Data::Json(Texts::default()),
        TypeKind::Scalar(
            ScalarReader::String | ScalarReader::Id | ScalarReader::Text | ScalarReader::Moment,
        )
        | TypeKind::Enum
        | TypeKind::Object
        | TypeKind::Interface
        | TypeKind::Union
        | TypeKind::Input { .. } => Data::Text(Texts::default()),
    };
    for (row, value) in values.iter().enumerate() {
        let found = value.and_then(|value| leaf(value, kind));
        if found.is_none() {
            other(row, *value);
        }
        match (&mut data, found) {
            (Data::Int(data), Some(Leaf::Int(value))) => data.push(value),
            (Data::Int(data), _) => data.push(0),
            (Data::Float(data), Some(Leaf::Float(value))) => data.push(value),
            (Data::Float(data), _) => data.push(0.0),
            (Data::Bool(data), Some(Leaf::Bool(value))) => data.push(value),
            (Data::Bool(data), _) => data.push(false),
            (Data::Text(data), Some(Leaf::Text(text))) => data.push(text.as_bytes()),
            (Data::Json(data), Some(leaf)) => data.push(&leaf.json()),
            (Data::Text(data) | Data::Json(data), _) => data.push(b""),
            _ => {}
        }
    }
    data
}

impl Value {
    /// An object of type `ty`.
    pub fn object<'n>(ty: &str, fields: impl IntoIterator<Item = (&'n str, Self)>) -> Self {
        let fields = fields.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Self::Object(Object { ty: ty.into(), fields })
    }
    /// A text.
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_in_any_order() {
        let Value::Object(object) =
            Value::object("T", [("a", Value::Int(1)), ("b", Value::Int(2)), ("c", Value::Int(3))])
        else {
            panic!("an object is one");
        };
        let mut next = 0;
        for name in ["c", "a", "b", "none", "b", "b", "a", "", "c"] {
            assert_eq!(object.get_from(&mut next, name), object.get(name), "{name}");
        }
        assert_eq!(object.get("b"), &Value::Int(2));
    }
}
