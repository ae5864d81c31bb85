//! Compiles root fields of mutations and their answers; updates and deletes.

use super::{Compiler, Row};
use crate::api::meaning::{FieldMeaning, InputMeaning};
use crate::model::MissingRow;
use weir_database::frontend::input::Place;
use weir_engine::plan::output_plan::{OutputField, SelectionSetId};
use weir_engine::source::PlanError;
use weir_language::schema::InputId;
use weir_language::value::Node;
use weir_relational::catalog::{ColumnId, ColumnType, TableId};
use weir_relational::plan::write::{Assign, Change, Delete, Operator, Update, Work, Write, WriteAnswer};
use weir_relational::plan::{Filter, MemberKind, Purpose, Reader, Run, Scan, Unset};

/// New values by column.
type Assigns = Vec<(ColumnId, Assign)>;

impl Compiler<'_> {
    /// A root field of a mutation.
    pub(super) fn write(
        &mut self,
        field: &OutputField,
        meaning: FieldMeaning,
    ) -> Result<MemberKind, PlanError> {
        self.written = Row::default();
        let mut nothing = Row::default();
        let set = self.object(field)?;
        // The selection comes first: statements return it.
        let answer = match meaning {
            FieldMeaning::InsertOne(_) | FieldMeaning::UpdateByPk(_) | FieldMeaning::DeleteByPk(_) => {
                WriteAnswer::Row(self.returned_set(set, Row::default())?)
            }
            FieldMeaning::Call(function, _) => {
                let run = self.returned_set(set, Row::default())?;
                let is_set = self.api.model.function(function).1.is_set;
                if is_set { WriteAnswer::Rows(run) } else { WriteAnswer::Row(run) }
            }
            FieldMeaning::UpdateMany(_) => WriteAnswer::Responses(self.set(set, &mut nothing)?),
            _ => WriteAnswer::Response(self.set(set, &mut nothing)?),
        };
        let works = match meaning {
            FieldMeaning::Insert(table) | FieldMeaning::InsertOne(table) => vec![self.insert(field, table)?],
            FieldMeaning::Update(table) | FieldMeaning::UpdateByPk(table) => {
                let arguments = self.output.arguments(field);
                let members = arguments.iter().map(|it| (it.input, self.argument(it))).collect();
                vec![self.update(members, table)?]
            }
            FieldMeaning::UpdateMany(table) => self.update_many(field, table)?,
            FieldMeaning::Call(_, table) => {
                let rows = self.rows_arguments(field)?;
                vec![self.call_work(table, rows)]
            }
            FieldMeaning::Delete(table) => {
                self.changes = true;
                let filter = self.rows_arguments(field).map(|it| it.filter);
                self.changes = false;
                vec![self.delete(table, filter?)]
            }
            FieldMeaning::DeleteByPk(table) => {
                let filter = self.by_pk_arguments(field)?.filter;
                vec![self.delete(table, filter)]
            }
            _ => return Err(self.refuse("this field cannot be answered here")),
        };
        let missing = self.missing(meaning);
        let write = Write { works, answer, missing, field: self.field, path: self.keys.join(".") };
        self.plan.writes.push(write);
        Ok(MemberKind::Write(self.plan.writes.len() as u32 - 1))
    }

    /// Message if a change by key finds no row, if that is an error.
    fn missing(&self, meaning: FieldMeaning) -> Option<Box<str>> {
        let (FieldMeaning::UpdateByPk(table) | FieldMeaning::DeleteByPk(table)) = meaning else {
            return None;
        };
        let model = &self.api.model;
        match model.missing_row {
            MissingRow::Null => None,
            MissingRow::Error => {
                model.tracked_table(table).map(|it| format!("no row of `{}` has this key", it.name).into())
            }
        }
    }

    /// Compiles `returning`. Several with aliases share the returned columns.
    pub(super) fn returning(&mut self, field: &OutputField) -> Result<MemberKind, PlanError> {
        let set = self.object(field)?;
        let row = std::mem::take(&mut self.written);
        Ok(MemberKind::Returned(self.returned_set(set, row)?))
    }

    /// The members of returned rows, and the keys of other sources' fields below them.
    fn returned_set(&mut self, set: SelectionSetId, mut row: Row) -> Result<Run, PlanError> {
        let run = self.set(set, &mut row)?;
        let hidden = self.hidden_values(set, &mut row)?;
        if !hidden.is_empty() {
            self.plan.returned_keys.push((run, hidden));
        }
        self.written = row;
        Ok(run)
    }

    pub(super) fn change(&mut self, change: Change) -> Work {
        self.plan.changes.push(change);
        Work::Change(self.plan.changes.len() as u32 - 1)
    }

    fn delete(&mut self, table: TableId, filter: Filter) -> Work {
        let returning = self.written.columns.clone();
        self.change(Change::Delete(Delete { scan: Scan::of(table, Purpose::Delete), filter, returning }))
    }

    fn update_many(&mut self, field: &OutputField, table: TableId) -> Result<Vec<Work>, PlanError> {
        let mut works = Vec::new();
        for argument in self.output.arguments(field) {
            if self.meaning(argument.input) != InputMeaning::Updates(table) {
                continue;
            }
            let place = self.argument(argument);
            for (at, item) in self.inputs.items(place).into_iter().enumerate() {
                let members = self.inputs.members(item).into_iter().collect();
                works.push(self.at_path(&format!("updates[{at}]"), |it| it.update(members, table))?);
            }
        }
        Ok(works)
    }

    /// An update by its arguments, or by the members of one of `updates`.
    fn update(&mut self, members: Vec<(InputId, Place)>, table: TableId) -> Result<Work, PlanError> {
        let mut set = Assigns::new();
        let mut twice = Vec::new();
        let mut filter = None;
        let mut operators = 0;
        for (input, place) in members {
            if matches!(self.inputs.node(place), Node::Null | Node::Absent) {
                continue;
            }
            let name = self.input_words(input).0;
            let meaning = self.meaning(input);
            self.at_path(name, |it| match meaning {
                InputMeaning::Where(of) => {
                    filter = Some(it.filter_of_change(place, of)?);
                    Ok(())
                }
                InputMeaning::PkColumns(_) => {
                    filter = Some(it.key_filter(place)?);
                    Ok(())
                }
                _ => {
                    operators += 1;
                    it.assign(meaning, place, &mut set, &mut twice)
                }
            })?;
        }
        if !twice.is_empty() {
            let names = twice.join("', '");
            return Err(self.refuse(format!("Column found in multiple operators: ['{names}'].")));
        }
        let Some(filter) = filter else {
            return Err(self.refuse("an update needs to know which rows are meant"));
        };
        if operators == 0 {
            let change = self.plan.changes.len() as u32;
            let field = self.field;
            let path = self.hasura_path().into();
            self.plan.unset.push(Unset { change, field, path });
        }
        let returning = self.written.columns.clone();
        Ok(self.change(Change::Update(Update {
            scan: Scan::of(table, Purpose::Update),
            set,
            filter,
            returning,
        })))
    }

    /// `pk_columns`.
    fn key_filter(&self, place: Place) -> Result<Filter, PlanError> {
        let mut all = Vec::new();
        for (input, value) in self.inputs.members(place) {
            if let InputMeaning::Column(table, column) = self.meaning(input) {
                all.push(self.key_condition(table, column, value)?);
            }
        }
        Ok(Filter::All(all))
    }

    /// The columns of one operator; those that have one already are noted in `twice`.
    fn assign(
        &mut self,
        meaning: InputMeaning,
        place: Place,
        set: &mut Assigns,
        twice: &mut Vec<String>,
    ) -> Result<(), PlanError> {
        let operator = match meaning {
            InputMeaning::Set => None,
            InputMeaning::Inc => Some(Operator::Increment),
            InputMeaning::Append => Some(Operator::Append),
            InputMeaning::Prepend => Some(Operator::Prepend),
            InputMeaning::DeleteKey => Some(Operator::DeleteKey),
            InputMeaning::DeleteElem => Some(Operator::DeleteElem),
            InputMeaning::DeleteAtPath => Some(Operator::DeleteAtPath),
            _ => return Ok(()),
        };
        for (input, value) in self.inputs.members(place) {
            if self.is_absent(value) {
                continue;
            }
            let InputMeaning::Column(table, column) = self.meaning(input) else { continue };
            let (name, ty) = self.input_words(input);
            if set.iter().any(|it| it.0 == column) {
                twice.push(name.to_owned());
                continue;
            }
            let null = matches!(self.inputs.node(value), Node::Null | Node::Absent);
            let column_type = self.api.column_type(table, column).clone();
            let reader = operator.map_or(Reader::Column(column_type.clone()), |it| reader(it, column_type));
            let new = self.at_path(name, |it| match (operator, null) {
                (None, true) => Ok(Assign::Null),
                (None, false) => Ok(Assign::Value(it.parameter(value, reader))),
                (Some(_), true) => Err(it.refuse(format!("unexpected null value for type '{ty}'"))),
                (Some(operator), false) => Ok(Assign::Operator(operator, it.parameter(value, reader))),
            })?;
            set.push((column, new));
        }
        Ok(())
    }
}

/// Reader of the right side of an operator.
fn reader(operator: Operator, column: ColumnType) -> Reader {
    match operator {
        Operator::Increment | Operator::Append | Operator::Prepend => Reader::Column(column),
        Operator::DeleteKey => Reader::Column(ColumnType::Text),
        Operator::DeleteElem => Reader::Column(ColumnType::Int),
        Operator::DeleteAtPath => Reader::Each(ColumnType::Text),
    }
}
