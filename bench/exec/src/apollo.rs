//! apollo-compiler's side: document parsed and validated beforehand, its own executor, answer as JSON text.

use crate::data::{GROUPS, Group, ITEMS, Item, Row, Section};
use apollo_compiler::ExecutableDocument;
use apollo_compiler::Schema;
use apollo_compiler::resolvers::{Execution, FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use serde_json_bytes::Value;

type Resolved<'a> = Result<ResolvedValue<'a>, FieldError>;

fn leaf<'a>(value: impl Into<Value>) -> Resolved<'a> {
    Ok(ResolvedValue::Leaf(value.into()))
}

fn list<'a, T>(items: &'static [T], object: fn(&'static T) -> Box<dyn ObjectValue>) -> Resolved<'a> {
    Ok(ResolvedValue::List(Box::new(items.iter().map(move |item| Ok(ResolvedValue::Object(object(item)))))))
}

/// An object over a struct: its type's name and what each field gives.
macro_rules! object {
    ($name:ident, $of:ty, $ty:literal, |$this:ident| { $($field:literal => $value:expr),* $(,)? }) => {
        struct $name(&'static $of);
        impl ObjectValue for $name {
            fn type_name(&self) -> &str {
                $ty
            }
            fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Resolved<'a> {
                let $this = self.0;
                match info.field_name() {
                    $($field => $value,)*
                    _ => Err(self.unknown_field_error(info)),
                }
            }
        }
    };
}
object!(ItemObject, Item, "Item", |it| {
    "id" => leaf(it.id.as_str()),
    "name" => leaf(it.name.as_str()),
    "title" => leaf(it.title.as_deref()),
    "price" => leaf(it.price),
    "stock" => leaf(it.stock),
    "active" => leaf(it.active),
    "rating" => leaf(it.rating),
    "sku" => leaf(it.sku.as_str()),
    "views" => leaf(it.views),
    "note" => leaf(it.note.as_deref()),
});
object!(RowObject, Row, "Row", |it| {
    "id" => leaf(it.id.as_str()), "name" => leaf(it.name.as_str()), "value" => leaf(it.value),
});
object!(SectionObject, Section, "Section", |it| {
    "id" => leaf(it.id.as_str()),
    "name" => leaf(it.name.as_str()),
    "rows" => list(&it.rows, |row| Box::new(RowObject(row))),
});
object!(GroupObject, Group, "Group", |it| {
    "id" => leaf(it.id.as_str()),
    "name" => leaf(it.name.as_str()),
    "sections" => list(&it.sections, |section| Box::new(SectionObject(section))),
});

struct Query;

impl ObjectValue for Query {
    fn type_name(&self) -> &str {
        "Query"
    }
    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Resolved<'a> {
        match info.field_name() {
            "items" => list(&ITEMS, |item| Box::new(ItemObject(item))),
            "groups" => list(&GROUPS, |group| Box::new(GroupObject(group))),
            _ => Err(self.unknown_field_error(info)),
        }
    }
}

pub fn contender(sdl: &str, query: &str) -> Box<dyn Fn() -> Vec<u8>> {
    let schema = Schema::parse_and_validate(sdl, "schema").unwrap_or_else(|errors| panic!("{errors}"));
    let document = ExecutableDocument::parse_and_validate(&schema, query, "query")
        .unwrap_or_else(|errors| panic!("{errors}"));
    let implementers = schema.implementers_map();
    Box::new(move || {
        let execution = Execution::new(&schema, &document);
        let execution = execution.implementers_map(&implementers).enable_schema_introspection(true);
        let response = execution.execute_sync(&Query).unwrap_or_else(|error| panic!("{error:?}"));
        serde_json::to_vec(&response).expect("an answer is JSON")
    })
}
