//! Fills typed columns value by value.
//!
//! **Invariant:** a value that is null or does not fit leaves a filler, so that all columns of a table stay equally long.

use super::answer::field_error;
use crate::exec::cell_value::{CellValue, Fault};
use weir_engine::rows::{CellError, Column, Data, Table, Texts, Variants};
use weir_engine::write::out::Out;
use weir_engine::write::rows::ERRORS_MAX;
use weir_language::schema::TypeId;
use weir_relational::catalog::facts::Cell;
use weir_relational::plan::write::WriteAnswer;
use weir_relational::plan::{Hidden, Level, MemberKind, Plan, Run};

/// An empty table for the rows of a set.
pub(crate) fn table(plan: &Plan, members: Run, hidden: &[Hidden]) -> Table {
    let columns = plan.members[members.range()].iter().map(|member| {
        let data = if member.same_as.is_none() { data(plan, &member.kind) } else { Data::Empty };
        Column { data, ..Column::default() }
    });
    let hidden = hidden.iter().map(|it| Column { data: leaf_data(it.cell), ..Column::default() });
    Table { rows: 0, columns: columns.collect(), hidden: hidden.collect() }
}

fn data(plan: &Plan, kind: &MemberKind) -> Data {
    match kind {
        MemberKind::Leaf { cell, .. } => leaf_data(*cell),
        MemberKind::Coded(_) | MemberKind::End { .. } => Data::Text(Texts::default()),
        MemberKind::Beyond { .. } => Data::Bool(Vec::new()),
        MemberKind::Constant | MemberKind::Foreign => Data::Empty,
        MemberKind::Write(write) => match plan.writes[*write as usize].answer {
            WriteAnswer::Row(run) => Data::Object(Box::new(table(plan, run, plan.returned_keys(run)))),
            WriteAnswer::Rows(run) => {
                list_of(Data::Object(Box::new(table(plan, run, plan.returned_keys(run)))))
            }
            WriteAnswer::Response(run) => Data::Object(Box::new(table(plan, run, &[]))),
            WriteAnswer::Responses(run) => list_of(Data::Object(Box::new(table(plan, run, &[])))),
        },
        MemberKind::Affected => Data::Int(Vec::new()),
        MemberKind::Message => Data::Text(Texts::default()),
        MemberKind::Returned(run) => {
            list_of(Data::Object(Box::new(table(plan, *run, plan.returned_keys(*run)))))
        }
        MemberKind::Inline(run) | MemberKind::Maybe { run, .. } | MemberKind::Shape { run, .. } => {
            Data::Object(Box::new(table(plan, *run, &[])))
        }
        MemberKind::Items(run) => list_of(Data::Object(Box::new(table(plan, *run, &[])))),
        MemberKind::Ordinate(_) => leaf_data(Cell::Float),
        MemberKind::One(level) => objects(plan, &plan.levels[*level as usize]),
        MemberKind::Many(level) => list_of(objects(plan, &plan.levels[*level as usize])),
        MemberKind::Values { cell, .. } => list_of(leaf_data(*cell)),
    }
}

/// An empty column of objects for the rows of a level.
fn objects(plan: &Plan, of: &Level) -> Data {
    let Some(choice) = &of.choice else {
        return Data::Object(Box::new(table(plan, of.members, &of.hidden)));
    };
    let tables = choice.variants.iter().map(|it| {
        let (run, hidden) = it.object.parts(of, plan);
        (TypeId(it.on.0), table(plan, run, hidden))
    });
    Data::Abstract(Box::new(Variants { tables: tables.collect(), ..Variants::default() }))
}

/// Counts values that could not be read: only the first failures are kept.
#[derive(Debug, Default)]
pub(crate) struct Faults(usize);

impl Faults {
    /// Notes that the value of `row`, which holds a filler, failed.
    #[cold]
    pub(crate) fn put(&mut self, column: &mut Column, row: usize, fault: Fault) {
        self.0 += 1;
        if self.0 <= ERRORS_MAX {
            column.errors.push(CellError { row: row as u32, error: field_error(fault) });
        }
    }
}

/// An empty column for values written as `cell`.
fn leaf_data(cell: Cell) -> Data {
    match cell {
        Cell::Int | Cell::BigInt => Data::Int(Vec::new()),
        Cell::Boolean => Data::Bool(Vec::new()),
        Cell::Text | Cell::Uuid | Cell::Capitals | Cell::Bytes | Cell::Id => Data::Text(Texts::default()),
        // Digits are kept as JSON.
        Cell::Float | Cell::Numeric | Cell::Json => Data::Json(Texts::default()),
    }
}

/// Lists of `items`, none yet.
fn list_of(items: Data) -> Data {
    Data::List { offsets: vec![0], items: Box::new(Column { data: items, ..Column::default() }) }
}

/// Appends a value; one that does not fit the column is replaced by a filler.
pub(crate) fn push_value(column: &mut Column, at: usize, value: CellValue<'_>) {
    if value == CellValue::Null {
        column.nulls.set(at);
        fill_column(column);
        return;
    }
    match (&mut column.data, value) {
        (Data::Int(values), CellValue::Int(value)) => values.push(value),
        (Data::Bool(values), CellValue::Bool(value)) => values.push(value),
        (Data::Text(texts), CellValue::Text(text)) => texts.push(&text),
        // The number of an object: no other is in a column of texts.
        (Data::Text(texts), CellValue::Int(number)) => texts.push(format!("{number:#x}").as_bytes()),
        (Data::Json(texts), CellValue::Json(json)) => texts.push(&json),
        (Data::Json(texts), CellValue::Int(value)) => texts.push(value.to_string().as_bytes()),
        (Data::Json(texts), CellValue::Float(value)) => {
            let mut out = Out::default();
            out.float(value);
            texts.push(out.bytes());
        }
        _ => fill_column(column),
    }
}

/// Appends a row no one will look at.
pub(crate) fn fill(table: &mut Table) {
    table.columns.iter_mut().chain(&mut table.hidden).for_each(fill_column);
    table.rows += 1;
}

/// Appends a row that is an object of none of the types.
pub(crate) fn fill_variant(variants: &mut Variants) {
    variants.types.push(TypeId(0));
    variants.places.push(0);
}

/// Appends a value no one will look at.
pub(crate) fn fill_column(column: &mut Column) {
    match &mut column.data {
        Data::Empty | Data::Foreign(_) => {}
        Data::Abstract(variants) => fill_variant(variants),
        Data::Bool(values) => values.push(false),
        Data::Int(values) => values.push(0),
        Data::Float(values) => values.push(0.0),
        Data::Text(texts) | Data::Json(texts) => texts.push(b""),
        Data::List { offsets, .. } => offsets.extend(offsets.last().copied()),
        Data::Object(table) => fill(table),
    }
}
