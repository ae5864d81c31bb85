//! apollo-compiler's side: document parsed and validated beforehand, its own executor, answer as JSON text.

use crate::data::{GROUPS, Group, ITEMS, Item, Row, Section, first_links};
use apollo_compiler::ExecutableDocument;
use apollo_compiler::Schema;
use apollo_compiler::resolvers::{
    AsyncObjectValue, AsyncResolvedValue, Execution, FieldError, ObjectValue, ResolveInfo, ResolvedValue,
};
use apollo_compiler::validation::Valid;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json_bytes::Value;

type Resolved<'a> = Result<ResolvedValue<'a>, FieldError>;
type Lazy<'a> = BoxFuture<'a, Result<AsyncResolvedValue<'a>, FieldError>>;

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

struct Link(i32);

impl AsyncObjectValue for Link {
    fn type_name(&self) -> &str {
        "Link"
    }
    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Lazy<'a> {
        Box::pin(async move {
            match info.field_name() {
                "id" => Ok(AsyncResolvedValue::leaf(self.0)),
                "next" => Ok(AsyncResolvedValue::object(Link(self.0 + 1))),
                _ => Err(self.unknown_field_error(info)),
            }
        })
    }
}

struct LazyQuery;

impl AsyncObjectValue for LazyQuery {
    fn type_name(&self) -> &str {
        "Query"
    }
    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Lazy<'a> {
        Box::pin(async move {
            match info.field_name() {
                "links" => {
                    let links = first_links().map(|id| AsyncResolvedValue::object(Link(id)));
                    Ok(AsyncResolvedValue::list(links))
                }
                _ => Err(self.unknown_field_error(info)),
            }
        })
    }
}

fn checked(sdl: &str, query: &str) -> (Valid<Schema>, Valid<ExecutableDocument>) {
    let schema = Schema::parse_and_validate(sdl, "schema").unwrap_or_else(|errors| panic!("{errors}"));
    let document = ExecutableDocument::parse_and_validate(&schema, query, "query")
        .unwrap_or_else(|errors| panic!("{errors}"));
    (schema, document)
}

/// By resolvers that answer at once.
pub fn contender(sdl: &str, query: &str) -> Box<dyn Fn() -> Vec<u8>> {
    let (schema, document) = checked(sdl, query);
    let implementers = schema.implementers_map();
    Box::new(move || {
        let execution = Execution::new(&schema, &document);
        let execution = execution.implementers_map(&implementers).enable_schema_introspection(true);
        let response = execution.execute_sync(&Query).unwrap_or_else(|error| panic!("{error:?}"));
        serde_json::to_vec(&response).expect("an answer is JSON")
    })
}

/// Chains of links, by futures.
pub fn lazy(sdl: &str, query: &str) -> Box<dyn Fn() -> Vec<u8>> {
    let (schema, document) = checked(sdl, query);
    let implementers = schema.implementers_map();
    Box::new(move || {
        let execution = Execution::new(&schema, &document).implementers_map(&implementers);
        let response = execution.execute_async(&LazyQuery).now_or_never().expect("nothing waits");
        let response = response.unwrap_or_else(|error| panic!("{error:?}"));
        serde_json::to_vec(&response).expect("an answer is JSON")
    })
}
