//! Insert: objects become steps, nested ones included.
//!
//! Along an object relationship the related row comes first and its key flows into ours; along an array relationship
//! the rows come after, and our key flows into theirs. Rows with the same columns share a statement.

use super::{Compiler, Row};
use crate::api::meaning::{EnumMeaning, InputMeaning};
use weir_database::frontend::input::Place;
use weir_engine::plan::output_plan::OutputField;
use weir_engine::source::PlanError;
use weir_language::value::Node;
use weir_relational::catalog::{Arbiter, ColumnId, Relationship, RelationshipId, RelationshipKind, TableId};
use weir_relational::plan::write::{Change, Conflict, Given, Insert, Step, Work};
use weir_relational::plan::{Expr, Filter, Purpose, Reader, Scan};

/// A row on its way to become a step.
struct Draft {
    table: TableId,
    values: Vec<(ColumnId, Given)>,
    /// The place in [`Drafts::conflicts`].
    conflict: Option<usize>,
    /// Returned columns, unless the row is shown.
    row: Row,
    shown: bool,
    needed: Option<Box<str>>,
    /// Path for errors, see [`Step::path`].
    path: Box<str>,
}

/// The rows of one field.
#[derive(Default)]
struct Drafts {
    rows: Vec<Draft>,
    conflicts: Vec<Conflict>,
}

/// Target of a row.
struct Into {
    table: TableId,
    /// Columns whose values its parent determines.
    given: Vec<(ColumnId, Given)>,
    conflict: Option<usize>,
    shown: bool,
    needed: Option<Box<str>>,
    /// Path for errors, see [`Step::path`].
    path: Box<str>,
}

impl Compiler<'_> {
    /// The work of `insert_t` and `insert_t_one`.
    pub(super) fn insert(&mut self, field: &OutputField, table: TableId) -> Result<Work, PlanError> {
        let mut drafts = Drafts::default();
        let mut conflict = None;
        let mut objects = None;
        for argument in self.output.arguments(field) {
            let place = self.argument(argument);
            let name = self.input_words(argument.input).0;
            match self.meaning(argument.input) {
                InputMeaning::OnConflict(_) => conflict = Some((name, place)),
                InputMeaning::Objects(_) => objects = Some((name, place)),
                _ => {}
            }
        }
        let conflict = match conflict {
            Some((name, place)) => self.at_path(name, |it| it.conflict(place, table, &mut drafts))?,
            None => None,
        };
        let Some((name, place)) = objects else { return Ok(Work::Nothing) };
        self.path.push(name.into());
        let many = matches!(self.inputs.node(place), Node::List { .. });
        let each = self.inputs.rows_of_one_form(place);
        let path: Box<str> = self.hasura_path().into();
        let mut items = self.inputs.items(place);
        items.truncate(each.map_or(items.len(), |_| 1));
        for (at, item) in items.into_iter().enumerate() {
            let step = if many { format!("[{at}]") } else { String::new() };
            let given = Vec::new();
            let path = path.clone();
            let into = Into { table, given, conflict, shown: true, needed: None, path };
            self.at_path(&step, |it| it.draft(item, into, &mut drafts))?;
        }
        self.path.pop();
        let steps = self.steps(drafts);
        Ok(match each {
            Some(slot) => Work::Each { slot, steps },
            None => Work::Insert(steps),
        })
    }

    /// Does `work` one step further down the path that errors name; an empty step is none.
    pub(super) fn at_path<T>(
        &mut self,
        step: &str,
        work: impl FnOnce(&mut Self) -> Result<T, PlanError>,
    ) -> Result<T, PlanError> {
        if step.is_empty() {
            return work(self);
        }
        self.path.push(step.into());
        let done = work(self)?;
        self.path.pop();
        Ok(done)
    }

    /// Statements of all rows, equal ones shared.
    fn steps(&mut self, drafts: Drafts) -> Vec<Step> {
        let first = self.plan.changes.len();
        let returned = self.written.columns.clone();
        let mut steps = Vec::with_capacity(drafts.rows.len());
        for draft in drafts.rows {
            let columns = draft.values.iter().map(|it| it.0).collect();
            let returning = if draft.shown { returned.clone() } else { draft.row.columns };
            let conflict = draft.conflict.map(|at| drafts.conflicts[at].clone());
            let change = Change::Insert(Insert {
                scan: Scan::of(draft.table, Purpose::Insert),
                columns,
                conflict,
                returning,
            });
            let known = self.plan.changes[first..].iter().position(|it| *it == change);
            let change = first
                + known.unwrap_or_else(|| {
                    self.plan.changes.push(change);
                    self.plan.changes.len() - 1 - first
                });
            steps.push(Step {
                change: change as u32,
                values: draft.values.into_iter().map(|it| it.1).collect(),
                shown: draft.shown,
                needed: draft.needed,
                path: draft.path,
            });
        }
        steps
    }

    /// Adds the row at `place` and all that is nested in it; gives its place among the drafts.
    fn draft(&mut self, place: Place, into: Into, drafts: &mut Drafts) -> Result<u32, PlanError> {
        self.enter_nesting()?;
        let mut values = into.given;
        let determined: Vec<ColumnId> = values.iter().map(|it| it.0).collect();
        let mut nested = Vec::new();
        for (input, value) in self.inputs.members(place) {
            let null = matches!(self.inputs.node(value), Node::Null | Node::Absent);
            if self.is_absent(value) {
                continue;
            }
            let name = self.input_words(input).0;
            match self.meaning(input) {
                InputMeaning::Column(_, column) if determined.contains(&column) => {
                    return Err(self.refuse(format!(
                        "cannot insert \"{name}\" columns as their values are already being determined by parent insert"
                    )));
                }
                InputMeaning::Column(..) if null => {
                    if let InputMeaning::Column(_, column) = self.meaning(input) {
                        values.push((column, Given::Null));
                    }
                }
                InputMeaning::Column(of, column) => {
                    let reader = Reader::Column(self.api.column_type(of, column).clone());
                    let given = self.at_path(name, |it| Ok(it.parameter(value, reader)))?;
                    values.push((column, Given::Parameter(given)));
                }
                InputMeaning::Related(by) if !null => nested.push((name, by, value)),
                InputMeaning::NoColumn(_) if !null => {
                    return Err(self.refuse(format!("no column may be given a value: leave \"{name}\" out")));
                }
                _ => {}
            }
        }
        for &(name, by, value) in &nested {
            let relationship = &self.api.model.relations.relationships[by.0 as usize];
            if relationship.insert_first {
                self.at_path(name, |it| it.draft_before(by, value, &mut values, drafts))?;
            }
        }
        values.sort_by_key(|it| it.0);
        self.check_columns(into.table, &mut values, into.conflict)?;
        let at = drafts.rows.len() as u32;
        let Into { table, conflict, shown, needed, path, .. } = into;
        drafts.rows.push(Draft { table, values, conflict, row: Row::default(), shown, needed, path });
        for (name, by, value) in nested {
            let relationship = &self.api.model.relations.relationships[by.0 as usize];
            if !relationship.insert_first {
                self.at_path(name, |it| it.draft_after(by, value, at, drafts))?;
            }
        }
        self.depth -= 1;
        Ok(at)
    }

    /// A row without columns beside an `on_conflict`: its key has to be one the database fills.
    fn check_columns(
        &self,
        table: TableId,
        values: &mut Vec<(ColumnId, Given)>,
        conflict: Option<usize>,
    ) -> Result<(), PlanError> {
        if !values.is_empty() || conflict.is_none() {
            return Ok(());
        }
        let table = self.api.model.relations.catalog.table(table);
        let key = table.primary_key.as_ref().map(|key| key.columns.as_slice()).unwrap_or_default();
        match key {
            [key] if table.column(*key).has_default => {
                values.push((*key, Given::Null));
                Ok(())
            }
            _ => Err(self.refuse("an object beside \"on_conflict\" needs at least one column")),
        }
    }

    /// The related row of an object relationship, which comes before ours.
    fn draft_before(
        &mut self,
        by: RelationshipId,
        place: Place,
        values: &mut Vec<(ColumnId, Given)>,
        drafts: &mut Drafts,
    ) -> Result<(), PlanError> {
        let api = self.api;
        let relationship = api.model.relations.relationship(by);
        for &(ours, _) in &relationship.on {
            if values.iter().any(|it| it.0 == ours) {
                let name = &relationship.name;
                let column = self.column_name(relationship.from, ours);
                return Err(self.refuse(format!(
                    "cannot insert object relationship \"{name}\" as \"{column}\" column values are already determined"
                )));
            }
        }
        let (data, conflict) = self.read_nested_insert(relationship, place, drafts)?;
        let Some(&data) = data.first() else { return Ok(()) };
        let table = &api.model.relations.catalog.table(relationship.to).name;
        let needed = format!(
            "cannot proceed to insert object relation \"{}\" since insert to table \"{table}\" affects zero rows",
            relationship.name
        );
        let into = Into {
            table: relationship.to,
            given: Vec::new(),
            conflict,
            shown: false,
            needed: Some(needed.into()),
            path: format!("{}.data", self.hasura_path()).into(),
        };
        let step = self.at_path("data", |it| it.draft(data, into, drafts))?;
        for &(ours, theirs) in &relationship.on {
            let column = drafts.rows[step as usize].row.column(Expr::Column(theirs));
            values.push((ours, Given::Returned { step, column }));
        }
        Ok(())
    }

    /// Drafts related rows that are inserted after ours, the step `parent`.
    fn draft_after(
        &mut self,
        by: RelationshipId,
        place: Place,
        parent: u32,
        drafts: &mut Drafts,
    ) -> Result<(), PlanError> {
        let api = self.api;
        let relationship = api.model.relations.relationship(by);
        let (data, conflict) = self.read_nested_insert(relationship, place, drafts)?;
        if data.is_empty() {
            return Ok(());
        }
        let table = &api.model.relations.catalog.table(relationship.from).name;
        let what = match relationship.kind {
            RelationshipKind::Array => "array relations".to_owned(),
            RelationshipKind::Object { .. } => format!("object relation \"{}\"", relationship.name),
        };
        let draft = &mut drafts.rows[parent as usize];
        draft.needed.get_or_insert_with(|| {
            format!("cannot proceed to insert {what} since insert to table \"{table}\" affects zero rows")
                .into()
        });
        let mut given = Vec::with_capacity(relationship.on.len());
        for &(ours, theirs) in &relationship.on {
            let row = if draft.shown { &mut self.written } else { &mut draft.row };
            let column = row.column(Expr::Column(ours));
            given.push((theirs, Given::Returned { step: parent, column }));
        }
        let many = relationship.kind == RelationshipKind::Array;
        let path: Box<str> = format!("{}.data", self.hasura_path()).into();
        for (at, item) in data.into_iter().enumerate() {
            let step = if many { format!("data[{at}]") } else { "data".to_owned() };
            let given = given.clone();
            let table = relationship.to;
            let path = path.clone();
            let into = Into { table, given, conflict, shown: false, needed: None, path };
            self.at_path(&step, |it| it.draft(item, into, drafts))?;
        }
        Ok(())
    }

    /// Reads the rows and the `on_conflict` of a nested insert.
    fn read_nested_insert(
        &mut self,
        relationship: &Relationship,
        place: Place,
        drafts: &mut Drafts,
    ) -> Result<(Vec<Place>, Option<usize>), PlanError> {
        let mut data = Vec::new();
        let mut conflict = None;
        for (input, value) in self.inputs.members(place) {
            match self.meaning(input) {
                InputMeaning::Data(_) => data = self.inputs.items(value).into_iter().collect(),
                InputMeaning::OnConflict(table) => {
                    conflict = self.at_path("on_conflict", |it| it.conflict(value, table, drafts))?;
                }
                _ => {}
            }
        }
        if matches!(relationship.kind, RelationshipKind::Object { .. }) {
            data.truncate(1);
        }
        Ok((data, conflict))
    }

    /// An `on_conflict`; `None` for null.
    fn conflict(
        &mut self,
        place: Place,
        table: TableId,
        drafts: &mut Drafts,
    ) -> Result<Option<usize>, PlanError> {
        if matches!(self.inputs.node(place), Node::Null | Node::Absent) {
            return Ok(None);
        }
        let mut conflict = Conflict {
            arbiter: None,
            update: Vec::new(),
            presets: Vec::new(),
            scan: Scan::of(table, Purpose::Update),
            filter: Filter::TRUE,
        };
        for (input, value) in self.inputs.members(place) {
            let null = matches!(self.inputs.node(value), Node::Null | Node::Absent);
            let name = self.input_words(input).0;
            match self.meaning(input) {
                InputMeaning::Constraint => {
                    conflict.arbiter = self.arbiter(value, table).cloned();
                }
                InputMeaning::UpdateColumns => {
                    let is_none = |it| matches!(self.enum_meaning(it), Some(EnumMeaning::NoColumn(_)));
                    if self.inputs.items(value).into_iter().any(is_none) {
                        return self.at_path(name, |it| Err(it.refuse("erroneous column name")));
                    }
                    conflict.update = self.columns(value);
                }
                InputMeaning::Where(_) if !null => {
                    conflict.filter = self.at_path(name, |it| it.filter_of_change(value, table))?;
                }
                _ => {}
            }
        }
        drafts.conflicts.push(conflict);
        Ok(Some(drafts.conflicts.len() - 1))
    }

    /// The key an enum value names.
    fn arbiter(&self, place: Place, table: TableId) -> Option<&Arbiter> {
        let table = self.api.model.relations.catalog.table(table);
        match self.enum_meaning(place) {
            Some(EnumMeaning::Constraint(_, at)) => table.arbiters.get(at as usize),
            _ => None,
        }
    }

    fn column_name(&self, table: TableId, column: ColumnId) -> String {
        let tracked =
            self.api.model.tracked_table(table).and_then(|it| it.columns[column.0 as usize].clone());
        tracked.unwrap_or_else(|| self.api.model.relations.catalog.table(table).column(column).name.clone())
    }
}
