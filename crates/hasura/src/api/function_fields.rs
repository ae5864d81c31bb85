//! Fields of functions, at the roots and of rows, and the types of their arguments.

use super::generate::Tables;
use super::meaning::{FieldMeaning, InputMeaning};
use super::schema_core::{Core, Style, certain, full_list, non_null, plain};
use super::table_types::TableApi;
use crate::model::{Model, Serves};
use weir_language::schema::{TypeId, TypeRef};
use weir_metadata::document::function::ExposedAs;
use weir_relational::catalog::{ColumnType, FunctionId};

impl Core {
    /// The root fields of the functions that stand on `root`.
    pub(super) fn calls(&mut self, model: &Model, tables: &Tables<'_>, root: ExposedAs) {
        for (at, tracked) in model.functions.iter().enumerate().filter(|it| it.1.is_on(root)) {
            let Serves::Root { table, select, aggregate, words, .. } = &tracked.serves else { continue };
            let id = FunctionId(at as u32);
            let (_, function) = model.function(id);
            let Some(table) = tables.get(*table) else { continue };
            let words = words.clone().unwrap_or_else(|| {
                format!("execute function \"{}\" which returns \"{}\"", function.name, table.table.name)
            });
            let object = table.types.object;
            let rows = if function.is_set { full_list(object) } else { plain(object) };
            self.root_field(["", select, ""], true, &[&words], rows, FieldMeaning::Call(id, table.id));
            self.call_arguments(model, id);
            self.page(table);
            if let Some(name) = aggregate {
                let words = format!(
                    "execute function \"{}\" and query aggregates on result of table type \"{}\"",
                    function.name, table.table.name
                );
                let aggregate = non_null(table.types.aggregate);
                self.root_field(
                    ["", name, ""],
                    true,
                    &[&words],
                    aggregate,
                    FieldMeaning::CallAggregate(id, table.id),
                );
                self.call_arguments(model, id);
                self.page(table);
            }
        }
    }

    /// Adds the computed fields of a table's rows.
    pub(super) fn add_computed_fields(&mut self, model: &Model, table: &TableApi<'_>) {
        for &id in &table.tracked.computed {
            let (tracked, function) = model.function(id);
            let (Serves::Row { name, words, .. }, Some(ty)) = (&tracked.serves, &function.ty) else {
                continue;
            };
            let (value, _) = self.scalar_uses(ty);
            self.field(name, words, value, FieldMeaning::Computed(id));
            self.call_arguments(model, id);
            if matches!(ty, ColumnType::Json | ColumnType::Jsonb) {
                let text = plain(self.common.string);
                self.argument("path", "JSON select path", text, InputMeaning::JsonPath);
            }
        }
    }

    /// Adds input fields for computed fields without client arguments; `ty` maps the comparison type to the field's type.
    pub(super) fn computed_inputs(
        &mut self,
        model: &Model,
        table: &TableApi<'_>,
        ty: impl Fn(TypeId) -> TypeRef,
    ) {
        for &id in &table.tracked.computed {
            let (tracked, function) = model.function(id);
            let (Serves::Row { name, words, .. }, Some(of)) = (&tracked.serves, &function.ty) else {
                continue;
            };
            if tracked.arguments.is_empty() {
                let (_, comparison) = self.scalar_uses(of);
                self.input_field(name, words, ty(comparison), InputMeaning::Computed(id));
            }
        }
    }

    /// `args`, which may be left out where every argument may.
    pub(super) fn call_arguments(&mut self, model: &Model, id: FunctionId) {
        let (tracked, function) = model.function(id);
        if tracked.arguments.is_empty() {
            return;
        }
        let all = &function.arguments;
        let name = &function.name;
        let base = self.reference(&tracked.arguments_type, "");
        let optional = tracked.arguments.iter().all(|&it| all[it as usize].has_default);
        let ty = if optional { plain(base) } else { non_null(base) };
        let words = format!("input parameters for function \"{name}\"");
        self.argument("args", &words, ty, InputMeaning::FunctionArguments);
    }

    /// The types of the arguments of all functions.
    pub(super) fn function_arguments(&mut self, model: &Model) {
        for id in (0..model.functions.len() as u32).map(FunctionId) {
            let (tracked, function) = model.function(id);
            let is_root = matches!(tracked.serves, Serves::Root { .. });
            let is_absent =
                self.style == Style::Connections && is_root && !tracked.is_on(ExposedAs::Mutation);
            if tracked.arguments.is_empty() || is_absent {
                continue;
            }
            let words = ["input parameters for function \"", &function.name, "\""];
            self.input_object(&tracked.arguments_type, "", &words);
            for &place in &tracked.arguments {
                let argument = &function.arguments[place as usize];
                let (ty, _) = self.scalar_uses(&argument.ty);
                let is_needed = function.code.is_some() && !argument.has_default;
                let ty = if is_needed { certain(ty) } else { ty };
                let name = tracked.argument_name(function, place);
                self.input_field(&name, "", ty, InputMeaning::FunctionArgument(place));
            }
        }
    }
}
