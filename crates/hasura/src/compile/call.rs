//! Calls of functions, by the arguments of their fields.

use super::select::RowSelection;
use super::{Compiler, Row};
use crate::api::meaning::{FieldMeaning, InputMeaning};
use weir_database::frontend::input::Place;
use weir_engine::plan::output_plan::OutputField;
use weir_engine::source::PlanError;
use weir_language::value::Node;
use weir_relational::catalog::{Argument, ColumnType, FunctionId, RelationshipId, TableId};
use weir_relational::plan::write::{Change, Work};
use weir_relational::plan::{Call, Expr, MemberKind, Output, Parameter, Purpose, Query, Reader, Scan};

impl Compiler<'_> {
    /// The call that gives the rows of a field, if one does.
    pub(super) fn call(&mut self, field: &OutputField) -> Result<Option<Call>, PlanError> {
        let model = &self.api.model;
        let function = match self.field_meaning(field) {
            FieldMeaning::Call(function, _) | FieldMeaning::CallAggregate(function, _) => Some(function),
            FieldMeaning::Related(by) | FieldMeaning::RelatedAggregate(by) => {
                model.relations.relationship(by).call
            }
            _ => None,
        };
        function.map(|it| self.call_of(field, it)).transpose()
    }

    /// A call of `id` with the arguments of a field.
    fn call_of(&mut self, field: &OutputField, id: FunctionId) -> Result<Call, PlanError> {
        let api = self.api;
        let (tracked, function) = api.model.function(id);
        let mut call = Call { function: id, arguments: Vec::new() };
        self.plan.functions.push(id);
        self.path.push("args".into());
        for argument in self.output.arguments(field) {
            if self.meaning(argument.input) != InputMeaning::FunctionArguments {
                continue;
            }
            let place = self.argument(argument);
            if matches!(self.inputs.node(place), Node::Null | Node::Absent) {
                continue;
            }
            for (input, value) in self.inputs.members(place) {
                let InputMeaning::FunctionArgument(place) = self.meaning(input) else { continue };
                let argument = &function.arguments[place as usize];
                let name = tracked.argument_name(function, place);
                call.arguments.extend(self.read_argument(argument, &name, value).map(|it| (place, it)));
            }
        }
        let given = |it: &u32| call.arguments.iter().any(|argument| argument.0 == *it);
        let needed = |it: &&u32| !function.arguments[**it as usize].has_default && !given(it);
        if let Some(&missing) = tracked.arguments.iter().find(needed) {
            let name = tracked.argument_name(function, missing);
            return Err(self.refuse(format!("Non default arguments cannot be omitted: `{name}` is missing")));
        }
        // Without a name a value is known by its place alone, so all before it have theirs.
        let is_unnamed = |it: &&u32| function.arguments[**it as usize].name.is_empty() && given(it);
        let last = tracked.arguments.iter().filter(is_unnamed).max();
        let before = |it: &&u32| last.is_some_and(|last| *it < last) && !given(it);
        if let Some(&missing) = tracked.arguments.iter().find(before) {
            let name = tracked.argument_name(function, missing);
            let message = format!("`{name}` cannot be omitted where an argument without a name follows");
            return Err(self.refuse(message));
        }
        self.path.pop();
        Ok(call)
    }

    /// The argument's value: absent, null, or a value.
    fn read_argument(&mut self, argument: &Argument, name: &str, value: Place) -> Option<Option<Parameter>> {
        match self.inputs.node(value) {
            Node::Absent => None,
            Node::Null => Some(None),
            _ => {
                self.path.push(name.to_owned());
                let given = self.parameter(value, Reader::Column(argument.ty.clone()));
                self.path.pop();
                Some(Some(given))
            }
        }
    }

    /// Compiles a computed field of the current row.
    pub(super) fn compile_computed(
        &mut self,
        field: &OutputField,
        function: FunctionId,
        row: &mut Row,
    ) -> Result<MemberKind, PlanError> {
        let cell = self.computed_type(function).facts().cell;
        let call = self.call_of(field, function)?;
        let expr = self.json_path(field, Expr::Computed(call));
        Ok(MemberKind::Leaf { column: row.column(expr), cell })
    }

    /// A function of the current row that needs no arguments of the client.
    pub(super) fn computed_alone(&mut self, function: FunctionId) -> Expr {
        self.plan.functions.push(function);
        Expr::Computed(Call { function, arguments: Vec::new() })
    }

    /// The type of the computed field `function`.
    pub(super) fn computed_type(&self, function: FunctionId) -> ColumnType {
        let (_, function) = self.api.model.function(function);
        function.ty.clone().unwrap_or(ColumnType::Text)
    }

    /// Target table of a relationship in a condition or an order.
    pub(super) fn related_table(&mut self, by: RelationshipId) -> TableId {
        let related = self.api.model.relations.relationship(by);
        self.plan.functions.extend(related.call);
        related.to
    }

    /// A call as the root field of a mutation: a statement of its own, so that nested levels see its changes.
    pub(super) fn call_work(&mut self, table: TableId, rows: RowSelection) -> Work {
        let output = Output::Rows(self.written.columns.clone());
        let RowSelection { call, filter, distinct_on, order, page } = rows;
        let through = None;
        let scan = Scan::of(table, Purpose::Root);
        let nest = Vec::new();
        let query = Query { scan, call, nest, through, filter, distinct_on, order, page, output };
        self.change(Change::Call(Box::new(query)))
    }
}
