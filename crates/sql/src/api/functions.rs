//! Root fields of functions, and the types of their arguments.

use super::core::{Core, full_list, non_null, plain};
use super::generate::Tables;
use super::meaning::{FieldMeaning, InputMeaning};
use crate::model::metadata::ExposedAs;
use crate::model::{FunctionId, Model, TrackedFunction};

impl Core {
    /// The root fields of the functions that stand on `root`.
    pub(super) fn calls(&mut self, model: &Model, tables: &Tables<'_>, root: ExposedAs) {
        let functions = model.functions.iter().enumerate().filter(|it| it.1.root == root);
        for (at, tracked) in functions {
            let id = FunctionId(at as u32);
            let (_, function) = model.function(id);
            let Some(table) = tables.get(tracked.table) else { continue };
            let words = match function.comment.as_str() {
                "" => {
                    format!("execute function \"{}\" which returns \"{}\"", function.name, table.table.name)
                }
                comment => comment.to_owned(),
            };
            let object = table.types.object;
            let rows = if function.is_set { full_list(object) } else { plain(object) };
            self.field(&tracked.select, &words, rows, FieldMeaning::Call(id));
            self.call_arguments(model, tracked, &function.name);
            self.page(table);
            if let Some(name) = &tracked.aggregate {
                let words = format!(
                    "execute function \"{}\" and query aggregates on result of table type \"{}\"",
                    function.name, table.table.name
                );
                let aggregate = non_null(table.types.aggregate);
                self.field(name, &words, aggregate, FieldMeaning::CallAggregate(id));
                self.call_arguments(model, tracked, &function.name);
                self.page(table);
            }
        }
    }

    /// `args`, which may be left out where every argument may.
    fn call_arguments(&mut self, model: &Model, tracked: &TrackedFunction, name: &str) {
        if tracked.arguments.is_empty() {
            return;
        }
        let all = &model.catalog.functions[tracked.function as usize].arguments;
        let base = self.b.reference(&tracked.arguments_type);
        let optional = tracked.arguments.iter().all(|&it| all[it as usize].has_default);
        let ty = if optional { plain(base) } else { non_null(base) };
        let words = format!("input parameters for function \"{name}\"");
        self.argument("args", &words, ty, InputMeaning::FunctionArguments);
    }

    /// The types of the arguments of all functions.
    pub(super) fn function_arguments(&mut self, model: &Model) {
        for tracked in model.functions.iter().filter(|it| !it.arguments.is_empty()) {
            let function = &model.catalog.functions[tracked.function as usize];
            let words = format!("input parameters for function \"{}\"", function.name);
            self.b.input_object(&tracked.arguments_type, &words);
            for &place in &tracked.arguments {
                let argument = &function.arguments[place as usize];
                let (ty, _) = self.scalar_uses(&argument.ty);
                self.input_field(&argument.name, "", ty, InputMeaning::FunctionArgument(place));
            }
        }
    }
}
