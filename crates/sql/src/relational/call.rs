//! Calls of functions, by the arguments of their root fields.

use super::change::{Change, Work};
use super::compile::Compiler;
use super::select::Rows;
use super::{Call, Output, Query, Reader};
use crate::api::meaning::{FieldMeaning, InputMeaning};
use crate::catalog::TableId;
use weir_engine::plan::shape::ShapeField;
use weir_engine::source::PlanError;
use weir_language::value::Node;

impl Compiler<'_> {
    /// The call that a field makes, if it is one of a function.
    pub(super) fn call(&mut self, field: &ShapeField) -> Result<Option<Call>, PlanError> {
        let (FieldMeaning::Call(id) | FieldMeaning::CallAggregate(id)) = self.field_meaning(field) else {
            return Ok(None);
        };
        let api = self.api;
        let (tracked, function) = api.model.function(id);
        let mut call = Call { function: id, arguments: Vec::new() };
        self.path.push("args".into());
        for argument in self.shape.arguments(field) {
            if self.meaning(argument.input) != InputMeaning::FunctionArguments {
                continue;
            }
            let place = self.argument(argument);
            if matches!(self.inputs.node(place), Node::Null | Node::Absent) {
                continue;
            }
            for (input, value) in self.inputs.members(place) {
                let InputMeaning::FunctionArgument(place) = self.meaning(input) else { continue };
                let given = match self.inputs.node(value) {
                    Node::Absent => continue,
                    Node::Null => None,
                    _ => {
                        let argument = &function.arguments[place as usize];
                        self.path.push(argument.name.clone());
                        let given = self.parameter(value, Reader::Column(argument.ty.clone()));
                        self.path.pop();
                        Some(given)
                    }
                };
                call.arguments.push((place, given));
            }
        }
        let given = |it: &u32| call.arguments.iter().any(|argument| argument.0 == *it);
        let needed = |it: &&u32| !function.arguments[**it as usize].has_default && !given(it);
        if let Some(&missing) = tracked.arguments.iter().find(needed) {
            let name = &function.arguments[missing as usize].name;
            return Err(self.refuse(format!("Non default arguments cannot be omitted: `{name}` is missing")));
        }
        self.path.pop();
        Ok(Some(call))
    }

    /// A call that is the root field of a mutation: a statement of its own, so that what is below sees what it did.
    pub(super) fn call_work(&mut self, table: TableId, rows: Rows) -> Work {
        let output = Output::Rows(self.written.columns.clone());
        let Rows { call, filter, distinct_on, order, page } = rows;
        let query = Query { table, call, nest: Vec::new(), filter, distinct_on, order, page, output };
        self.change(Change::Call(Box::new(query)))
    }
}
