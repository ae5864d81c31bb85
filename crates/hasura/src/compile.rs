//! Compiles a plan node into a [`Plan`]: walks its output and looks up what each field means.
//!
//! **Invariant:** reads nothing of a request but the form of its structural variables.
//!
//! **Cost:** linear in the shape and its arguments; run once per plan and form.

use crate::api::meaning::{Api, FieldMeaning, InputMeaning};
use crate::compile::select::RowSelection;
use std::sync::Arc;
use weir_database::frontend::form::Form;
use weir_database::frontend::input::{Inputs, Place};
use weir_database::frontend::{self, ApiFrontend, Ask};
use weir_engine::plan::output_plan::{self, OutputField, OutputPlan, SelectionSetId};
use weir_engine::source::{FieldError, Ids, PlanError, Protocol};
use weir_language::schema::{FieldId, InputId, TypeKind};
use weir_language::value::{Node, Variables};
use weir_metadata::document::function::ExposedAs;
use weir_relational::catalog::facts::Cell;
use weir_relational::catalog::{
    ColumnId, Relations, Relationship, RelationshipId, RelationshipKind, TableId,
};
use weir_relational::passes::bounds::{Bounds, Excess};
use weir_relational::passes::policy::Policy;
use weir_relational::plan::{
    Expr, Hidden, Level, Member, MemberKind, Output, Parameter, Plan, Purpose, Query, Reader, Run, Scan, Tie,
    mark_copied,
};

mod aggregate;
mod call;
mod cursor_code;
mod filter;
mod insert;
mod keyset;
mod page;
mod row_by_identifier;
mod select;
mod stream;
mod write;

/// Makes the plan of `ask`.
/// # Errors
/// Errors of the operation.
pub(crate) fn compile(
    api: &Api,
    ids: &Ids,
    output: &OutputPlan,
    ask: &Ask,
    variables: Option<(&Variables, &Form)>,
) -> Result<Plan, PlanError> {
    let inputs = Inputs { literals: &output.literals, variables, structural: &ask.structural };
    let mut compiler = Compiler {
        api,
        ids,
        output,
        protocol: ask.protocol,
        policy: api.policy(&ask.facts),
        inputs,
        plan: Plan::default(),
        path: Vec::new(),
        keys: Vec::new(),
        field: ask.fields.first().copied().unwrap_or(0),
        depth: 0,
        bounds: Bounds::new(ask.conditions_max),
        changes: false,
        written: Row::default(),
    };
    let mut row = Row::default();
    let members = compiler.members(ask.fields.iter().copied(), &mut row)?;
    if compiler.plan.stream.is_some() && members.len() > 1 {
        return Err(compiler.refuse("a stream is the only field of its operation"));
    }
    compiler.plan.root_copied = members.iter().any(|it| it.same_as.is_some());
    compiler.plan.root = compiler.store(members);
    Ok(compiler.plan)
}

/// Columns that a row of the current level has to bring.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) columns: Vec<Expr>,
    /// In a group: the columns that form it. Other columns have no single value.
    pub(super) groups: Option<Vec<ColumnId>>,
}

impl Row {
    /// The output column that holds `expr`, new or not.
    pub(super) fn column(&mut self, expr: Expr) -> u16 {
        let found = self.columns.iter().position(|it| *it == expr);
        found.unwrap_or_else(|| {
            self.columns.push(expr);
            self.columns.len() - 1
        }) as u16
    }
}

pub(super) struct Compiler<'c> {
    pub(super) api: &'c Api,
    ids: &'c Ids,
    pub(super) output: &'c OutputPlan,
    pub(super) protocol: Protocol,
    /// The policy of the callers.
    pub(super) policy: Arc<dyn Policy>,
    pub(super) inputs: Inputs<'c>,
    pub(super) plan: Plan,
    /// Steps below the field's `args`, for errors.
    pub(super) path: Vec<String>,
    /// Response keys from the root to the current field.
    pub(super) keys: Vec<&'c str>,
    /// Index of the current field.
    pub(super) field: u32,
    pub(super) depth: u32,
    pub(super) bounds: Bounds,
    /// True while compiling the condition on the rows that a mutation changes.
    pub(super) changes: bool,
    /// Returned columns of the current root field's statements.
    pub(super) written: Row,
}

impl<'c> Compiler<'c> {
    pub(super) fn meaning(&self, input: InputId) -> InputMeaning {
        self.api.input(self.ids.input(input))
    }

    pub(super) fn enum_meaning(&self, place: Place) -> Option<crate::api::meaning::EnumMeaning> {
        match self.inputs.node(place) {
            Node::Enum(value) => Some(self.api.enum_value(self.ids.enum_value(value))),
            _ => None,
        }
    }

    pub(super) fn field_meaning(&self, field: &OutputField) -> FieldMeaning {
        self.api.field(self.ids.field(field.field))
    }

    /// The name of an input and of its type, for messages.
    pub(super) fn input_words(&self, input: InputId) -> (&'c str, &'c str) {
        let own = self.ids.input(input);
        let schema = &self.api.schema;
        (schema.input_name(own), schema.type_name(schema.input(own).ty.base))
    }

    /// True if an input takes one object.
    pub(super) fn takes_object(&self, input: InputId) -> bool {
        let schema = &self.api.schema;
        let ty = schema.input(self.ids.input(input)).ty;
        matches!(schema.ty(ty.base).kind, TypeKind::Input { .. }) && !ty.wraps.is_list()
    }

    /// The argument's path in Hasura's words.
    pub(super) fn hasura_path(&self) -> String {
        let mut out = String::from("$");
        for key in &self.keys {
            out.push_str(".selectionSet.");
            out.push_str(key);
        }
        out.push_str(".args");
        for step in &self.path {
            if !step.starts_with('[') {
                out.push('.');
            }
            out.push_str(step);
        }
        out
    }

    pub(super) fn refuse(&self, message: impl Into<Box<str>>) -> PlanError {
        let code = match self.protocol {
            Protocol::GraphqlOverHttp => "BAD_USER_INPUT",
            Protocol::Hasura => "validation-failed",
        };
        let error = FieldError {
            code,
            message: message.into(),
            hasura_path: Some(self.hasura_path().into()),
            extensions: None,
        };
        PlanError { error, field: self.field }
    }

    /// The error of a condition or an order that exceeds its limits.
    pub(super) fn bounds_error(&self, excess: Excess) -> PlanError {
        self.refuse_size(excess.code(), excess.message())
    }

    /// Refuses an argument for its size, over Hasura's protocol with its code.
    pub(super) fn refuse_size(&self, code: &'static str, message: impl Into<Box<str>>) -> PlanError {
        let mut refused = self.refuse(message);
        if self.protocol == Protocol::GraphqlOverHttp {
            refused.error.code = code;
        }
        refused
    }

    pub(super) fn parameter(&self, place: Place, reader: Reader) -> Parameter {
        self.inputs.parameter(place, reader, &self.hasura_path())
    }

    pub(super) fn store(&mut self, members: Vec<Member>) -> Run {
        let start = self.plan.members.len() as u32;
        let len = members.len() as u32;
        self.plan.members.extend(members);
        Run { start, len }
    }

    fn members(
        &mut self,
        fields: impl Iterator<Item = u32>,
        row: &mut Row,
    ) -> Result<Vec<Member>, PlanError> {
        let mut members: Vec<Member> =
            fields.map(|field| self.member(field, row)).collect::<Result<_, _>>()?;
        mark_copied(&mut members);
        Ok(members)
    }

    pub(super) fn set(&mut self, set: SelectionSetId, row: &mut Row) -> Result<Run, PlanError> {
        let range = self.output.set(set).range();
        let members = self.members(range.map(|it| it as u32), row)?;
        Ok(self.store(members))
    }

    fn member(&mut self, at: u32, row: &mut Row) -> Result<Member, PlanError> {
        let output = self.output;
        let field = &output.fields[at as usize];
        let outer = self.field;
        self.field = at;
        let kind = match field.member {
            output_plan::OutputKind::Constant { .. } => MemberKind::Constant,
            output_plan::OutputKind::Foreign { .. } => MemberKind::Foreign,
            output_plan::OutputKind::Leaf
            | output_plan::OutputKind::Object(_)
            | output_plan::OutputKind::Abstract(_) => {
                self.keys.push(field.key.name());
                let kind = self.kind(field, row)?;
                self.keys.pop();
                kind
            }
        };
        self.field = outer;
        let mut member = frontend::member(at, field, kind);
        if matches!(member.kind, MemberKind::Write(_)) {
            // A mutation that is selected twice runs twice.
            member.same_as = None;
        }
        Ok(member)
    }

    fn kind(&mut self, field: &'c OutputField, row: &mut Row) -> Result<MemberKind, PlanError> {
        match self.field_meaning(field) {
            FieldMeaning::Column(table, column) => self.column(field, table, column, row),
            FieldMeaning::Node => self.node(field),
            FieldMeaning::Connection(table) => self.connection(field, table, Vec::new()),
            FieldMeaning::RelatedConnection(by) => self.related_connection(field, by, row),
            FieldMeaning::Identifier(table) => Ok(self.identifier(table, row)),
            FieldMeaning::Select(table) => {
                let rows = self.rows_arguments(field)?;
                self.rows(field, table, rows, Vec::new(), false)
            }
            FieldMeaning::ByPk(table) => {
                let rows = self.by_pk_arguments(field)?;
                self.rows(field, table, rows, Vec::new(), true)
            }
            FieldMeaning::Lookup(table) => self.lookup(field, table, false),
            FieldMeaning::LookupOne(table) => self.lookup(field, table, true),
            FieldMeaning::Stream(table) => self.stream(field, table),
            FieldMeaning::SelectAggregate(table) | FieldMeaning::LookupAggregate(table) => {
                self.aggregates(field, table, Vec::new())
            }
            FieldMeaning::GroupBy(table) => self.groups(field, table),
            FieldMeaning::Call(function, table) => {
                let (tracked, of) = self.api.model.function(function);
                if tracked.is_on(ExposedAs::Mutation) {
                    return self.write(field, FieldMeaning::Call(function, table));
                }
                let rows = self.rows_arguments(field)?;
                self.rows(field, table, rows, Vec::new(), !of.is_set)
            }
            FieldMeaning::CallAggregate(_, table) => self.aggregates(field, table, Vec::new()),
            FieldMeaning::Computed(function) => self.compile_computed(field, function, row),
            FieldMeaning::Related(by) => self.compile_relationship(field, by, row),
            FieldMeaning::RelatedAggregate(by) => self.related_aggregate(field, by, row),
            FieldMeaning::Count(_) => self.count(field, row),
            FieldMeaning::Function(..) | FieldMeaning::GroupKey(_) | FieldMeaning::Aggregate(_) => {
                Ok(MemberKind::Inline(self.set(self.object(field)?, row)?))
            }
            FieldMeaning::FunctionColumn(table, function, column) => {
                Ok(self.function(table, function, column, row))
            }
            meaning @ (FieldMeaning::Insert(_)
            | FieldMeaning::InsertOne(_)
            | FieldMeaning::Update(_)
            | FieldMeaning::UpdateByPk(_)
            | FieldMeaning::UpdateMany(_)
            | FieldMeaning::Delete(_)
            | FieldMeaning::DeleteByPk(_)) => self.write(field, meaning),
            FieldMeaning::AffectedRows(_) => Ok(MemberKind::Affected),
            FieldMeaning::Returning(_) => self.returning(field),
            _ => Err(self.refuse("this field cannot be answered here")),
        }
    }

    /// Compiles the rows that a relationship leads to.
    fn compile_relationship(
        &mut self,
        field: &OutputField,
        by: RelationshipId,
        row: &mut Row,
    ) -> Result<MemberKind, PlanError> {
        let related = &self.api.model.relations.relationships[by.0 as usize];
        let rows = self.rows_arguments(field)?;
        let nest = nest(&self.api.model.relations, related, row);
        let one = matches!(related.kind, RelationshipKind::Object { .. });
        let kind = self.rows(field, related.to, rows, nest, one)?;
        if let MemberKind::One(level) | MemberKind::Many(level) = kind {
            self.plan.levels[level as usize].by = Some(by);
        }
        Ok(kind)
    }

    /// Compiles the aggregates over the rows that a relationship leads to.
    fn related_aggregate(
        &mut self,
        field: &OutputField,
        by: RelationshipId,
        row: &mut Row,
    ) -> Result<MemberKind, PlanError> {
        let related = &self.api.model.relations.relationships[by.0 as usize];
        let nest = nest(&self.api.model.relations, related, row);
        self.aggregates(field, related.to, nest)
    }

    /// Compiles the rows of `table` with the keys of a join; of several where `one` is wanted, the first.
    fn lookup(&mut self, field: &OutputField, table: TableId, one: bool) -> Result<MemberKind, PlanError> {
        let mut rows = self.lookup_arguments(field)?;
        if one {
            rows.page.limit = Some(Parameter::constant("1", Reader::Limit));
        }
        self.rows(field, table, rows, Vec::new(), one)
    }

    /// The set below an object field.
    pub(super) fn object(&self, field: &OutputField) -> Result<SelectionSetId, PlanError> {
        match field.member {
            output_plan::OutputKind::Object(set) => Ok(set),
            output_plan::OutputKind::Leaf
            | output_plan::OutputKind::Abstract(_)
            | output_plan::OutputKind::Constant { .. }
            | output_plan::OutputKind::Foreign { .. } => {
                Err(self.refuse("this field needs a selection of an object"))
            }
        }
    }

    fn column(
        &mut self,
        field: &OutputField,
        table: TableId,
        column: ColumnId,
        row: &mut Row,
    ) -> Result<MemberKind, PlanError> {
        let model = &self.api.model;
        let is_enum = || model.tracked_table(table).is_some_and(|it| it.enums[column.0 as usize].is_some());
        let cell = if model.is_camel() && is_enum() {
            Cell::Capitals
        } else {
            self.api.column_type(table, column).facts().cell
        };
        let mut expr = Expr::Column(column);
        if row.groups.as_ref().is_some_and(|by| !by.contains(&column)) {
            expr = Expr::Null;
        }
        let expr = self.json_path(field, expr);
        Ok(MemberKind::Leaf { column: row.column(expr), cell })
    }

    /// `of`, or the part of it that the argument `path` of its field means.
    pub(super) fn json_path(&mut self, field: &OutputField, of: Expr) -> Expr {
        let mut expr = of;
        if expr == Expr::Null {
            return expr;
        }
        for argument in self.output.arguments(field) {
            if self.meaning(argument.input) == InputMeaning::JsonPath {
                let place = self.argument(argument);
                if !matches!(self.inputs.node(place), Node::Null | Node::Absent) {
                    self.path.push("path".into());
                    expr = Expr::JsonPath(Box::new(expr), self.parameter(place, Reader::JsonPath));
                    self.path.pop();
                }
            }
        }
        expr
    }

    /// Start of an argument's value, or of its default if the variable was not sent.
    pub(super) fn argument(&self, argument: &output_plan::OutputArgument) -> Place {
        let place = self.inputs.resolve(Place::Literal(argument.value));
        match (self.inputs.node(place), argument.default) {
            (Node::Absent, Some(default)) => Place::Literal(default),
            _ => place,
        }
    }

    /// A level of rows under a field.
    fn rows(
        &mut self,
        field: &OutputField,
        table: TableId,
        rows: RowSelection,
        nest: Vec<(Tie, u16)>,
        one: bool,
    ) -> Result<MemberKind, PlanError> {
        let set = self.object(field)?;
        self.rows_of(set, table, rows, nest, one)
    }

    /// A level of rows of which `set` is selected.
    fn rows_of(
        &mut self,
        set: SelectionSetId,
        table: TableId,
        rows: RowSelection,
        nest: Vec<(Tie, u16)>,
        one: bool,
    ) -> Result<MemberKind, PlanError> {
        self.rows_with(Row::default(), set, table, rows, nest, one)
    }

    /// Compiles a level of rows like [`Self::rows_of`], whose output begins with the columns of `row`.
    fn rows_with(
        &mut self,
        mut row: Row,
        set: SelectionSetId,
        table: TableId,
        rows: RowSelection,
        nest: Vec<(Tie, u16)>,
        one: bool,
    ) -> Result<MemberKind, PlanError> {
        let at = self.field;
        let path = self.keys.join(".");
        let members = self.set(set, &mut row)?;
        let hidden = self.hidden_values(set, &mut row)?;
        let purpose = if nest.is_empty() { Purpose::Root } else { Purpose::Related };
        let query = Query {
            scan: Scan::of(table, purpose),
            call: rows.call,
            nest,
            through: None,
            filter: rows.filter,
            distinct_on: rows.distinct_on,
            order: rows.order,
            page: rows.page,
            output: Output::Rows(row.columns),
        };
        let level = self.level(Level { query, members, choice: None, hidden, by: None, field: at, path });
        Ok(if one { MemberKind::One(level) } else { MemberKind::Many(level) })
    }

    pub(super) fn level(&mut self, level: Level) -> u32 {
        self.plan.levels.push(level);
        self.plan.levels.len() as u32 - 1
    }

    /// The hidden fields of `set`.
    fn hidden_values(&mut self, set: SelectionSetId, row: &mut Row) -> Result<Vec<Hidden>, PlanError> {
        let output = self.output;
        output.set(set).hidden.iter().map(|&it| self.hidden_value(it, row)).collect()
    }

    fn hidden_value(&mut self, field: FieldId, row: &mut Row) -> Result<Hidden, PlanError> {
        match self.api.field(self.ids.field(field)) {
            FieldMeaning::Column(table, column) => {
                let cell = self.api.column_type(table, column).facts().cell;
                Ok(Hidden { column: row.column(Expr::Column(column)), cell })
            }
            FieldMeaning::Computed(function) => {
                let cell = self.computed_type(function).facts().cell;
                let call = self.computed_alone(function);
                Ok(Hidden { column: row.column(call), cell })
            }
            _ => Err(self.refuse("only columns can be joined on")),
        }
    }
}

fn nest(relations: &Relations, related: &Relationship, row: &mut Row) -> Vec<(Tie, u16)> {
    let keys = related.on.iter().map(|&(ours, theirs)| (Tie::Column(theirs), row.column(Expr::Column(ours))));
    let mut nest: Vec<_> = keys.collect();
    let takes_row = related.call.is_some_and(|it| relations.function(it).0.row.is_some());
    nest.extend(takes_row.then(|| (Tie::Row, row.column(Expr::Row))));
    nest
}
