//! Projects a service's answers onto a plan: client selection and mapping are compiled to lookups in the answer's tape, whose results are
//! columns.
//!
//! Members of one object are found in one pass over it. Values are copied as the service wrote them: digits and texts are
//! not decoded, but checked for their type. What has methods, literals or variables is evaluated for the rows of a column
//! together, into a tape of its own that is then read like any other.
//!
//! **Invariant:** a value that does not fit its type is null with an error of its cell; nulls bubble where they are written.
//!
//! **Cost:** one allocation per column and buffer, none per row, but for what is evaluated.
//! Source: GraphQL specification, section 6.4.3.

mod compile;
mod items;
mod leaf;
mod locate;
mod parent_keys;
#[cfg(test)]
pub(crate) mod tests;

pub use items::row_key;

use crate::sdl::{Connector, ConnectorId, Mapping};
use crate::selection::ExprId;
use crate::selection::eval::{BYTES_MAX, Evaluated, Fault, eval, eval_group};
use crate::selection::inputs::{Inputs, Keys, Response};
use crate::selection::value::Value;
use leaf::{Leaf, fault, no_type, not_list, not_object};
use locate::{Located, Scan};
use std::sync::Arc;
use weir_engine::rows::{CellError, Column, Data, Table, Variants};
use weir_engine::source::FieldError;
use weir_language::json::{Json, JsonRef};
use weir_language::schema::TypeId;
use weir_language::wraps::Wraps;

/// Maximum number of errors per column; further ones are nulls without a message.
const ERRORS_MAX: usize = 1000;
/// Maximum nesting of evaluated values.
const DEPTH_MAX: u32 = 256;

/// Converts answers of one connector to columns. Belongs to one plan.
#[derive(Debug)]
pub struct Projection {
    mapping: Arc<Mapping>,
    connector: ConnectorId,
    /// Member names that lead from an answer to its value.
    scan: Scan,
    slots: u32,
    top: Top,
    tables: Vec<TablePlan>,
    /// Tables by concrete type, for each place with an abstract type.
    variants: Vec<Vec<VariantPlan>>,
    /// True if rows must know their answer.
    origins: bool,
    /// The table whose rows are whole answers. For these the selection may build an object even from null.
    of_answers: Option<u32>,
}

/// Result of the projection.
#[derive(Debug)]
enum Top {
    /// Value of one field.
    Column(ColumnPlan),
    /// Fields of an entity.
    Rows {
        /// Path to the object in an answer.
        find: Find,
        table: u32,
    },
}

/// Objects of one place.
#[derive(Debug, Default)]
struct TablePlan {
    scan: Scan,
    slots: u32,
    columns: Vec<ColumnPlan>,
    hidden: Vec<ColumnPlan>,
    /// If one of these is null, the object is null.
    needed: Vec<Find>,
    /// Members that also build objects from scalars.
    of_scalars: Option<ExprId>,
}

/// One concrete type where the place has an abstract type.
#[derive(Debug)]
struct VariantPlan {
    /// `__typename` in the answer.
    name: Box<str>,
    /// Type in the graph.
    ty: TypeId,
    table: u32,
}

#[derive(Debug)]
struct ColumnPlan {
    find: Find,
    wraps: Wraps,
    kind: Kind,
}

/// Path to a value in an object.
#[derive(Debug)]
enum Find {
    /// The object itself.
    Itself,
    /// A slot of the scan; the expression is evaluated instead if the path meets a list.
    Slot(u32, Evaluate),
    /// Evaluates an expression.
    Evaluate(Evaluate),
}

/// An expression, with the paths to its input.
#[derive(Clone, Debug)]
struct Evaluate {
    within: Vec<(ExprId, usize)>,
    /// `None`: the value at the end of the paths.
    expr: Option<(ExprId, usize)>,
    /// Member of the result, if not all of it.
    member: Option<Box<str>>,
}

/// Conversion of a value.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Not converted here: another connector fills the column.
    Nothing,
    /// A key of the parent, which the answer need not repeat.
    Key(u32),
    Leaf(Leaf),
    /// An object.
    Table(u32),
    /// An object of one of several types.
    Variants(u32),
}

/// Position of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValuePlace {
    /// An item of a list.
    Item,
    /// Not an item of a list.
    Alone,
}

/// Rows of one place, with the answers they come from.
struct Level<'t> {
    rows: Vec<Option<JsonRef<'t>>>,
    /// Index of the answer per row; empty if not needed.
    origins: Vec<u32>,
}

/// State of one projection.
#[derive(Clone, Copy)]
struct Run<'r> {
    plan: &'r Projection,
    connector: &'r Connector,
    inputs: &'r Inputs<'r>,
    responses: &'r [Response<'r>],
}

impl Projection {
    /// Values of the answers as columns, one row per answer; `None` is null. Row `i` belongs to key `inputs.keys.start + i` and to
    /// `responses[i]`, if these are known.
    pub fn run<'r>(
        &'r self,
        answers: &[Option<JsonRef<'_>>],
        inputs: &'r Inputs<'r>,
        responses: &'r [Response<'r>],
    ) -> Table {
        let connector = self.mapping.connector(self.connector);
        let run = Run { plan: self, connector, inputs, responses };
        let origins = if self.origins { (0..answers.len() as u32).collect() } else { Vec::new() };
        let level = Level { rows: answers.to_vec(), origins };
        let located = locate::locate(&self.scan, self.slots, &level.rows);
        match &self.top {
            Top::Column(column) => {
                let column = run.build_column(column, &level, &located);
                Table { rows: answers.len() as u32, columns: vec![column], hidden: Vec::new() }
            }
            Top::Rows { find, table } => run.entities(find, *table, level, &located),
        }
    }
}

impl<'r> Run<'r> {
    /// Table of the objects at `find`.
    fn entities(&self, find: &Find, table: u32, level: Level<'_>, located: &Located<'_>) -> Table {
        match find {
            Find::Itself => self.entity_rows(table, level),
            Find::Slot(slot, _) if !located.has_detour(*slot) => {
                let rows = located.slot(*slot).to_vec();
                self.entity_rows(table, Level { rows, origins: level.origins })
            }
            Find::Slot(_, evaluate) | Find::Evaluate(evaluate) => {
                let made = self.evaluate(evaluate, &level);
                let json = made.tape();
                let rows = made.rows(json.as_ref(), level.rows.len());
                let mut all = self.entity_rows(table, Level { rows, origins: level.origins });
                for (row, error) in made.faults {
                    all.columns.iter_mut().for_each(|column| fail(column, row, &error));
                }
                all.columns.iter_mut().for_each(sort_errors);
                all
            }
        }
    }

    fn entity_rows(&self, table: u32, mut level: Level<'_>) -> Table {
        let mut wrong = Vec::new();
        for (row, value) in level.rows.iter_mut().enumerate() {
            if value
                .is_some_and(|it| !self.is_row(table, ValuePlace::Alone, it, origin_of(&level.origins, row)))
            {
                if value.is_some_and(|it| !it.is_null()) {
                    wrong.push(row as u32);
                }
                *value = None;
            }
        }
        let mut all = self.table(table, &mut level);
        let error = not_object();
        for row in wrong {
            all.columns.iter_mut().for_each(|column| fail(column, row, &error));
        }
        all.columns.iter_mut().for_each(sort_errors);
        all
    }

    /// Table of the objects of `level`, whose values are objects or are converted to objects.
    fn table(&self, table: u32, level: &mut Level<'_>) -> Table {
        let plan = &self.plan.tables[table as usize];
        let mut located = locate::locate(&plan.scan, plan.slots, &level.rows);
        for find in &plan.needed {
            self.leave_out(find, level, &mut located);
        }
        let column = |it: &ColumnPlan| self.build_column(it, level, &located);
        Table {
            rows: level.rows.len() as u32,
            columns: plan.columns.iter().map(column).collect(),
            hidden: plan.hidden.iter().map(column).collect(),
        }
    }

    /// Removes the objects without a value at `find`.
    fn leave_out<'t>(&self, find: &Find, level: &mut Level<'t>, located: &mut Located<'t>) {
        let is_nothing = |it: Option<JsonRef<'_>>| it.is_none_or(JsonRef::is_null);
        let nothing: Vec<bool> = match find {
            Find::Itself => level.rows.iter().map(|it| is_nothing(*it)).collect(),
            Find::Slot(slot, _) if !located.has_detour(*slot) => {
                located.slot(*slot).iter().map(|it| is_nothing(*it)).collect()
            }
            Find::Slot(_, evaluate) | Find::Evaluate(evaluate) => {
                let made = self.evaluate(evaluate, level);
                let json = made.tape();
                let mut nothing: Vec<bool> =
                    made.rows(json.as_ref(), level.rows.len()).into_iter().map(is_nothing).collect();
                // Keep rows whose evaluation failed: they are errors where the value is read.
                made.faults.iter().for_each(|it| nothing[it.0 as usize] = false);
                nothing
            }
        };
        for (row, _) in nothing.iter().enumerate().filter(|it| *it.1) {
            level.rows[row] = None;
            located.leave_out(row);
        }
    }

    /// Finds the values of a column and converts them.
    fn build_column(&self, plan: &ColumnPlan, level: &Level<'_>, located: &Located<'_>) -> Column {
        match plan.kind {
            Kind::Nothing => return Column::default(),
            Kind::Key(at) => return parent_keys::column(&self.inputs.keys, at as usize, level.rows.len()),
            Kind::Leaf(_) | Kind::Table(_) | Kind::Variants(_) => {}
        }
        match &plan.find {
            Find::Itself => {
                self.column(plan.kind, plan.wraps, ValuePlace::Alone, &level.rows, &level.origins)
            }
            Find::Slot(slot, _) if !located.has_detour(*slot) => {
                let rows = located.slot(*slot);
                self.column(plan.kind, plan.wraps, ValuePlace::Alone, rows, &level.origins)
            }
            Find::Slot(_, evaluate) | Find::Evaluate(evaluate) => {
                let made = self.evaluate(evaluate, level);
                let json = made.tape();
                let rows = made.rows(json.as_ref(), level.rows.len());
                let mut column = self.column(plan.kind, plan.wraps, ValuePlace::Alone, &rows, &level.origins);
                for (row, error) in made.faults {
                    fail(&mut column, row, &error);
                }
                sort_errors(&mut column);
                column
            }
        }
    }

    /// Evaluates one expression for all rows; the results form one JSON list.
    fn evaluate(&self, evaluate: &Evaluate, level: &Level<'_>) -> EvaluatedRows {
        let mut made = EvaluatedRows { text: vec![b'['], faults: Vec::new(), missing: Vec::new() };
        for (row, value) in level.rows.iter().enumerate() {
            if row > 0 {
                made.text.push(b',');
            }
            let Some(value) = value else {
                made.text.extend_from_slice(b"null");
                made.missing.push(row);
                continue;
            };
            let origin = origin_of(&level.origins, row);
            let found = self.value(evaluate, Value::of(*value), origin);
            let fits = |value: &Value<'_>| made.text.len() + value.bytes() <= BYTES_MAX;
            match found.and_then(|it| if fits(&it) { Ok(it) } else { Err(Fault::TooMuch) }) {
                Ok(value) => {
                    made.missing.extend(value.is_missing().then_some(row));
                    value.write(&mut made.text);
                }
                Err(error) => {
                    made.text.extend_from_slice(b"null");
                    made.faults.push((row as u32, fault(&error)));
                }
            }
        }
        made.text.push(b']');
        made
    }

    fn value<'v>(&self, evaluate: &Evaluate, value: Value<'v>, origin: usize) -> Evaluated<'v>
    where
        'r: 'v,
    {
        let inputs = self.inputs_of(origin);
        let selection = &self.connector.selection;
        let mut value = value;
        for (expr, steps) in &evaluate.within {
            value = eval(selection, *expr, *steps, &value, &inputs)?;
            // Members come only from objects and scalars, as in a full evaluation: missing, null and lists have none.
            let is_left = match &value {
                Value::Missing | Value::Null => true,
                other => other.items().is_some(),
            };
            if is_left {
                return Ok(Value::Missing);
            }
        }
        if let Some((expr, steps)) = &evaluate.expr {
            value = eval(selection, *expr, *steps, &value, &inputs)?;
        }
        Ok(match &evaluate.member {
            Some(name) => value.get(name),
            None => value,
        })
    }

    /// Variables of one row, without its answer.
    fn inputs_of<'v>(&self, origin: usize) -> Inputs<'v>
    where
        'r: 'v,
    {
        let keys = self.inputs.keys;
        let start = (keys.start + origin).min(keys.end.max(keys.start));
        let keys = Keys { start, end: (start + 1).min(keys.end.max(start)), ..keys };
        let response = self.responses.get(origin).copied().or(self.inputs.response);
        Inputs { keys, response, ..*self.inputs }
    }

    /// True if a value is an object of `table`, or is converted to one.
    fn is_row(&self, table: u32, place: ValuePlace, value: JsonRef<'_>, origin: usize) -> bool {
        let is_made = |group| {
            let inputs = self.inputs_of(origin);
            let selection = &self.connector.selection;
            let made = if self.plan.of_answers == Some(table) {
                eval(selection, selection.root(), usize::MAX, &Value::of(value), &inputs)
            } else {
                eval_group(selection, group, &Value::of(value), &inputs)
            };
            made.is_ok_and(|it| it.is_object())
        };
        // Null is converted to an object only as a list item, or as the whole answer.
        let may_be_null = place == ValuePlace::Item || self.plan.of_answers == Some(table);
        value.is_object()
            || !value.is_array()
                && (may_be_null || !value.is_null())
                && self.plan.tables[table as usize].of_scalars.is_some_and(is_made)
    }

    /// Converts values. Lists nest by offsets.
    fn column(
        &self,
        kind: Kind,
        wraps: Wraps,
        place: ValuePlace,
        rows: &[Option<JsonRef<'_>>],
        origins: &[u32],
    ) -> Column {
        if let Some(item) = wraps.item() {
            return self.list(kind, item, rows, origins);
        }
        match kind {
            Kind::Nothing | Kind::Key(_) => Column::default(),
            Kind::Leaf(leaf) => leaf::column(leaf, &self.plan.mapping.schema, rows),
            Kind::Table(table) => self.objects(table, place, rows, origins),
            Kind::Variants(at) => self.variants(&self.plan.variants[at as usize], rows, origins),
        }
    }

    fn list(&self, kind: Kind, item: Wraps, rows: &[Option<JsonRef<'_>>], origins: &[u32]) -> Column {
        let mut column = Column::default();
        let mut offsets = Vec::with_capacity(rows.len() + 1);
        let mut items = Vec::new();
        let mut item_origins = Vec::new();
        offsets.push(0);
        for (row, value) in rows.iter().enumerate() {
            match value {
                Some(list) if list.is_array() => {
                    items.extend(list.items().map(Some));
                    if let Some(&origin) = origins.get(row) {
                        item_origins.resize(items.len(), origin);
                    }
                }
                Some(value) if !value.is_null() => fail(&mut column, row as u32, &not_list()),
                Some(_) | None => column.nulls.set(row),
            }
            offsets.push(items.len() as u32);
        }
        let items = Box::new(self.column(kind, item, ValuePlace::Item, &items, &item_origins));
        column.data = Data::List { offsets, items };
        column
    }

    fn objects(
        &self,
        table: u32,
        place: ValuePlace,
        rows: &[Option<JsonRef<'_>>],
        origins: &[u32],
    ) -> Column {
        let mut column = Column::default();
        let mut objects = Vec::with_capacity(rows.len());
        for (row, value) in rows.iter().enumerate() {
            let object = value.filter(|it| self.is_row(table, place, *it, origin_of(origins, row)));
            match value {
                Some(_) if object.is_some() => {}
                Some(value) if !value.is_null() => fail(&mut column, row as u32, &not_object()),
                Some(_) | None => {}
            }
            objects.push(object);
        }
        let mut level = Level { rows: objects, origins: origins.to_vec() };
        column.data = Data::Object(Box::new(self.table(table, &mut level)));
        for (row, _) in level.rows.iter().enumerate().filter(|it| it.1.is_none()) {
            column.nulls.set(row);
        }
        column
    }
}

impl Run<'_> {
    /// Objects of an abstract type, split by their `__typename`.
    fn variants(&self, plans: &[VariantPlan], rows: &[Option<JsonRef<'_>>], origins: &[u32]) -> Column {
        let mut column = Column::default();
        let mut levels: Vec<Level<'_>> =
            plans.iter().map(|_| Level { rows: Vec::new(), origins: Vec::new() }).collect();
        let mut found = Variants::default();
        for (row, value) in rows.iter().enumerate() {
            let name = value.and_then(|it| it.get("__typename")).and_then(JsonRef::as_str);
            let at = name.and_then(|name| plans.iter().position(|it| *it.name == *name));
            let Some(at) = at else {
                match value {
                    Some(value) if !value.is_null() => fail(&mut column, row as u32, &no_type()),
                    Some(_) | None => column.nulls.set(row),
                }
                found.types.push(plans.first().map_or(TypeId(0), |it| it.ty));
                found.places.push(0);
                continue;
            };
            found.types.push(plans[at].ty);
            found.places.push(levels[at].rows.len() as u32);
            levels[at].rows.push(*value);
            levels[at].origins.extend(origins.get(row));
        }
        for (plan, mut level) in plans.iter().zip(levels).filter(|it| !it.1.rows.is_empty()) {
            found.tables.push((plan.ty, self.table(plan.table, &mut level)));
        }
        column.data = Data::Abstract(Box::new(found));
        column
    }
}

/// Results of an evaluation, as JSON.
struct EvaluatedRows {
    text: Vec<u8>,
    faults: Vec<(u32, FieldError)>,
    /// Rows without a value, ascending. In the JSON they are null.
    missing: Vec<usize>,
}

impl EvaluatedRows {
    /// Tape of the values; `None` if they nest too deep.
    fn tape(&self) -> Option<Json<'_>> {
        Json::parse(&self.text, DEPTH_MAX).ok()
    }

    fn rows<'t>(&self, json: Option<&'t Json<'t>>, count: usize) -> Vec<Option<JsonRef<'t>>> {
        match json {
            Some(json) => {
                let mut rows: Vec<_> = json.root().items().map(Some).collect();
                self.missing.iter().for_each(|&row| rows[row] = None);
                rows
            }
            None => vec![None; count],
        }
    }
}

/// The answer that a row comes from.
fn origin_of(origins: &[u32], row: usize) -> usize {
    origins.get(row).map_or(row, |it| *it as usize)
}

/// Sets a cell to null with an error.
fn fail(column: &mut Column, row: u32, error: &FieldError) {
    column.nulls.set(row as usize);
    if column.errors.len() < ERRORS_MAX {
        column.errors.push(CellError { row, error: error.clone() });
    }
}

fn sort_errors(column: &mut Column) {
    column.errors.sort_by_key(|it| it.row);
    column.errors.dedup_by_key(|it| it.row);
}
