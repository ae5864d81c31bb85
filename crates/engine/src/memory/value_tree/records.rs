//! A list of objects of one type whose fields are known beforehand: cells side by side, texts in one buffer.
//!
//! **Invariant:** there are as many cells as records times names.
//!
//! **Cost:** no allocation per record or text; the place of each member is looked up once per list.

use super::{Object, Value, reject_type};
use crate::answer::output_plan::{OutputField, OutputKind, SelectionSetId};
use crate::answer::rows::{Bitmap, Column, Data, Table, Texts};
use crate::answer::write::fault::Fault;
use crate::memory::binder::{NO_FIELD, Scope};
use crate::memory::rust_answer::{Answer, Writer, set_of};
use crate::memory::spot::Spot;
use smallvec::SmallVec;
use std::sync::Arc;
use weir_language::schema::{TypeId, builtin};

/// Objects of one type with the same fields.
///
/// Values are pushed record by record, one per name. A filter of objects does not see them.
///
/// ```
/// use weir_engine::memory::{Records, Value};
/// let mut users = Records::new("User".into(), ["id".into(), "name".into()].into());
/// for (id, name) in [(1, "Ada"), (2, "Bob")] {
///     users.push_int(id);
///     users.push_text(name);
/// }
/// assert_eq!(users.len(), 2);
/// let users = Value::Records(Box::new(users));
/// # let _ = users;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Records {
    ty: Arc<str>,
    names: Arc<[Arc<str>]>,
    cells: Vec<Cell>,
    texts: String,
}

/// A value of a record.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Start and length in the texts.
    Text(u32, u32),
    Value(Box<Value>),
}

/// The cell of a member in every record.
struct CellPlace {
    /// Index of its name; `None`: the records lack the field.
    at: Option<usize>,
    /// The source's own type of a member that is no list.
    base: Option<TypeId>,
}

impl Records {
    /// No records of type `ty` yet, whose fields are `names`.
    pub fn new(ty: Arc<str>, names: Arc<[Arc<str>]>) -> Self {
        Self { ty, names, cells: Vec::new(), texts: String::new() }
    }

    /// Makes room for `records` more records.
    pub fn reserve(&mut self, records: usize) {
        self.cells.reserve(records.saturating_mul(self.names.len()));
    }

    /// Number of whole records.
    pub fn len(&self) -> usize {
        self.cells.len().checked_div(self.names.len()).unwrap_or(0)
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a null as the next value.
    pub fn push_null(&mut self) {
        self.cells.push(Cell::Null);
    }

    /// Appends a boolean as the next value.
    pub fn push_bool(&mut self, value: bool) {
        self.cells.push(Cell::Bool(value));
    }

    /// Appends an integer as the next value.
    pub fn push_int(&mut self, value: i64) {
        self.cells.push(Cell::Int(value));
    }

    /// Appends a number as the next value.
    pub fn push_float(&mut self, value: f64) {
        self.cells.push(Cell::Float(value));
    }

    /// Appends a text as the next value.
    pub fn push_text(&mut self, text: &str) {
        match (u32::try_from(self.texts.len()), u32::try_from(text.len())) {
            (Ok(start), Ok(len)) => {
                self.texts.push_str(text);
                self.cells.push(Cell::Text(start, len));
            }
            _ => self.push(Value::text(text)),
        }
    }

    /// Appends a value of any other kind as the next value.
    pub fn push(&mut self, value: Value) {
        self.cells.push(Cell::Value(Box::new(value)));
    }

    /// The records as a list of objects.
    pub(super) fn to_list(&self) -> Vec<Value> {
        let width = self.names.len().max(1);
        let object = |cells: &[Cell]| {
            let values = cells.iter().map(|cell| self.value(cell));
            let fields = self.names.iter().cloned().zip(values).collect();
            Value::Object(Object { ty: Arc::clone(&self.ty), fields })
        };
        self.cells.chunks_exact(width).map(object).collect()
    }

    /// Writes the list.
    pub(super) fn write(&self, spot: Spot<'_>, writer: &mut Writer<'_>) -> bool {
        let Some(ty) = spot.ty.item().filter(|it| !it.wraps.is_list()) else {
            return writer.fail(spot, Fault::Broken);
        };
        let spot = Spot { ty, ..spot };
        let set = set_of(spot, writer.bindings, &self.ty);
        let places = set.map_or_else(SmallVec::new, |it| self.places(it, writer));
        let width = self.names.len().max(1);
        writer.out.open(b'[');
        for (index, cells) in self.cells.chunks_exact(width).enumerate() {
            let is_written = writer.item(index as u32, spot, |writer| match set {
                Some(set) => self.write_record(cells, set, &places, writer),
                None => reject_type(&self.ty, spot, writer),
            });
            if !is_written {
                return false;
            }
        }
        writer.out.close(b']');
        true
    }

    /// The cells of the members of `set`.
    fn places(&self, set: SelectionSetId, writer: &Writer<'_>) -> SmallVec<[CellPlace; 16]> {
        let bindings = writer.bindings;
        let place = |of: &OutputField| {
            let name = bindings.schema.field_name(bindings.field(of.field));
            let at = self.names.iter().position(|it| **it == *name);
            CellPlace { at, base: (!of.ty.wraps.is_list()).then(|| bindings.ty(of.ty.base)) }
        };
        let members = writer.output.members(set).iter();
        members
            .map(|of| match of.member {
                OutputKind::Constant { .. } => CellPlace { at: None, base: None },
                OutputKind::Leaf
                | OutputKind::Object(_)
                | OutputKind::Abstract(_)
                | OutputKind::Foreign { .. } => place(of),
            })
            .collect()
    }

    fn write_record(
        &self,
        cells: &[Cell],
        set: SelectionSetId,
        places: &[CellPlace],
        writer: &mut Writer<'_>,
    ) -> bool {
        let output = writer.output;
        let range = output.set(set).range();
        writer.out.open(b'{');
        for ((field, of), place) in range.clone().zip(&output.fields[range]).zip(places) {
            if let OutputKind::Constant { .. } = of.member {
                writer.constant(of);
                continue;
            }
            let cell = place.at.and_then(|at| cells.get(at)).unwrap_or(&Cell::Null);
            if !self.write_cell(cell, field as u32, of, place.base, writer) {
                return false;
            }
        }
        writer.out.close(b'}');
        true
    }

    /// Writes `"key":value,`.
    #[inline]
    fn write_cell(
        &self,
        cell: &Cell,
        field: u32,
        of: &OutputField,
        base: Option<TypeId>,
        writer: &mut Writer<'_>,
    ) -> bool {
        match (cell, base) {
            (Cell::Text(start, len), Some(builtin::STRING | builtin::ID)) => {
                self.text(*start, *len).write_member(field, of, writer)
            }
            (Cell::Int(value), Some(builtin::INT)) => value.write_member(field, of, writer),
            (Cell::Float(value), Some(builtin::FLOAT)) => value.write_member(field, of, writer),
            (Cell::Bool(value), Some(builtin::BOOLEAN)) => value.write_member(field, of, writer),
            (Cell::Null, _) => Value::Null.write_member(field, of, writer),
            (Cell::Value(value), _) => value.write_member(field, of, writer),
            (cell, _) => self.value(cell).write_member(field, of, writer),
        }
    }

    /// The cells of the field at `at`, by record; nulls if the records lack it.
    fn cells(&self, at: Option<usize>) -> impl Iterator<Item = &Cell> {
        let cells = self.cells.chunks_exact(self.names.len().max(1));
        cells.map(move |it| at.and_then(|at| it.get(at)).unwrap_or(&Cell::Null))
    }

    fn text(&self, start: u32, len: u32) -> &str {
        let start = start as usize;
        self.texts.get(start..start + len as usize).unwrap_or_default()
    }

    fn value(&self, cell: &Cell) -> Value {
        match cell {
            Cell::Null => Value::Null,
            Cell::Bool(value) => Value::Bool(*value),
            Cell::Int(value) => Value::Int(*value),
            Cell::Float(value) => Value::Float(*value),
            Cell::Text(start, len) => Value::text(self.text(*start, *len)),
            Cell::Value(value) => (**value).clone(),
        }
    }
}

/// The records of all `lists` as rows. `None`: somebody has to see them as objects, or their fields differ.
pub(super) fn table(lists: &[&Records], set: SelectionSetId, scope: Scope<'_>) -> Option<Table> {
    let names = &*lists.first()?.names;
    let is_alike = lists.iter().all(|it| *it.names == *names);
    if !is_alike || scope.visitor.is_some() || !scope.output.set(set).hidden.is_empty() {
        return None;
    }
    let bindings = scope.bindings;
    let columns = scope.output.members(set).iter().map(|of| match of.member {
        OutputKind::Constant { .. } | OutputKind::Foreign { .. } => Column::default(),
        _ if of.same_as.is_some() => Column::default(),
        OutputKind::Leaf | OutputKind::Object(_) | OutputKind::Abstract(_) => {
            let name = bindings.schema.field_name(bindings.field(of.field));
            let at = names.iter().position(|it| **it == *name);
            leaves(lists, at, of, scope).unwrap_or_else(|| column_of_values(lists, at, of, scope))
        }
    });
    let columns = columns.collect();
    let rows = lists.iter().map(|it| it.len() as u32).sum();
    Some(Table { rows, columns, hidden: Vec::new() })
}

/// The column of a member whose cells all have its built-in type, or are null. `None`: some do not.
fn leaves(lists: &[&Records], at: Option<usize>, of: &OutputField, scope: Scope<'_>) -> Option<Column> {
    if of.ty.wraps.is_list() {
        return None;
    }
    let mut data = match scope.bindings.ty(of.ty.base) {
        builtin::INT => Data::Int(Vec::new()),
        builtin::FLOAT => Data::Float(Vec::new()),
        builtin::BOOLEAN => Data::Bool(Vec::new()),
        builtin::STRING | builtin::ID => Data::Text(Texts::default()),
        _ => return None,
    };
    let mut nulls = Bitmap::default();
    let cells = lists.iter().flat_map(|list| list.cells(at).map(move |it| (list, it)));
    for (row, (list, cell)) in cells.enumerate() {
        if let Cell::Null = cell {
            nulls.set(row);
        }
        match (&mut data, cell) {
            (Data::Int(values), Cell::Int(value)) => values.push(*value),
            (Data::Int(values), Cell::Null) => values.push(0),
            (Data::Float(values), Cell::Float(value)) => values.push(*value),
            (Data::Float(values), Cell::Null) => values.push(0.0),
            (Data::Bool(values), Cell::Bool(value)) => values.push(*value),
            (Data::Bool(values), Cell::Null) => values.push(false),
            (Data::Text(texts), Cell::Text(start, len)) => texts.push(list.text(*start, *len).as_bytes()),
            (Data::Text(texts), Cell::Null) => texts.push(b""),
            _ => return None,
        }
    }
    Some(Column { nulls, data, ..Column::default() })
}

/// The column of a member of any type.
fn column_of_values(
    lists: &[&Records],
    at: Option<usize>,
    output_field: &OutputField,
    scope: Scope<'_>,
) -> Column {
    let cells = lists.iter().flat_map(|list| list.cells(at).map(|it| list.value(it)));
    let values: Vec<Value> = cells.collect();
    let values: Vec<Option<&Value>> = values.iter().map(Some).collect();
    Value::column(&values, Spot { field: NO_FIELD, output_field, ty: output_field.ty }, scope)
}
