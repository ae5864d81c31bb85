//! async-graphql's side: its static schema for lists and chains, its dynamic one for introspection, document parsed beforehand.

use crate::data::{GROUPS, Group, ITEMS, Item, Row, Section, first_links};
use async_graphql::dynamic::{self, FieldFuture, TypeRef};
use async_graphql::{EmptyMutation, EmptySubscription, ID, Object, Request, Schema};
use async_graphql_parser::types::{
    BaseType, ExecutableDocument, FieldDefinition, InputValueDefinition, Type, TypeDefinition, TypeKind,
    TypeSystemDefinition,
};
use async_graphql_parser::{parse_query, parse_schema};
use futures_util::FutureExt;

struct ItemObject(&'static Item);
struct RowObject(&'static Row);
struct SectionObject(&'static Section);
struct GroupObject(&'static Group);
struct LinkObject(i32);
struct Query;

#[Object(name = "Item")]
impl ItemObject {
    async fn id(&self) -> ID {
        self.0.id.clone().into()
    }
    async fn name(&self) -> &str {
        &self.0.name
    }
    async fn title(&self) -> Option<&str> {
        self.0.title.as_deref()
    }
    async fn price(&self) -> f64 {
        self.0.price
    }
    async fn stock(&self) -> i32 {
        self.0.stock
    }
    async fn active(&self) -> bool {
        self.0.active
    }
    async fn rating(&self) -> Option<f64> {
        self.0.rating
    }
    async fn sku(&self) -> &str {
        &self.0.sku
    }
    async fn views(&self) -> i32 {
        self.0.views
    }
    async fn note(&self) -> Option<&str> {
        self.0.note.as_deref()
    }
}

#[Object(name = "Row")]
impl RowObject {
    async fn id(&self) -> ID {
        self.0.id.clone().into()
    }
    async fn name(&self) -> &str {
        &self.0.name
    }
    async fn value(&self) -> i32 {
        self.0.value
    }
}

#[Object(name = "Section")]
impl SectionObject {
    async fn id(&self) -> ID {
        self.0.id.clone().into()
    }
    async fn name(&self) -> &str {
        &self.0.name
    }
    async fn rows(&self) -> Vec<RowObject> {
        self.0.rows.iter().map(RowObject).collect()
    }
}

#[Object(name = "Group")]
impl GroupObject {
    async fn id(&self) -> ID {
        self.0.id.clone().into()
    }
    async fn name(&self) -> &str {
        &self.0.name
    }
    async fn sections(&self) -> Vec<SectionObject> {
        self.0.sections.iter().map(SectionObject).collect()
    }
}

#[Object(name = "Link")]
impl LinkObject {
    async fn id(&self) -> i32 {
        self.0
    }
    async fn next(&self) -> LinkObject {
        LinkObject(self.0 + 1)
    }
}

#[Object]
impl Query {
    async fn items(&self) -> Vec<ItemObject> {
        ITEMS.iter().map(ItemObject).collect()
    }
    async fn groups(&self) -> Vec<GroupObject> {
        GROUPS.iter().map(GroupObject).collect()
    }
    async fn links(&self) -> Vec<LinkObject> {
        first_links().map(LinkObject).collect()
    }
}

fn parsed(query: &str) -> ExecutableDocument {
    parse_query(query).unwrap_or_else(|error| panic!("{error}"))
}

fn request(query: &str, document: &ExecutableDocument) -> Request {
    let mut request = Request::new(query);
    request.set_parsed_query(document.clone());
    request
}

/// Lists and chains, by the static schema.
pub fn lists(query: &str) -> Box<dyn Fn() -> Vec<u8>> {
    let schema = Schema::build(Query, EmptyMutation, EmptySubscription).limit_recursive_depth(200).finish();
    let (query, document) = (query.to_owned(), parsed(query));
    Box::new(move || {
        let response = schema.execute(request(&query, &document)).now_or_never().expect("nothing waits");
        serde_json::to_vec(&response).expect("an answer is JSON")
    })
}

/// Introspection of the types in `sdl`, by the dynamic schema.
pub fn introspection(sdl: &str, query: &str) -> Box<dyn Fn() -> Vec<u8>> {
    let schema = dynamic_schema(sdl);
    let (query, document) = (query.to_owned(), parsed(query));
    Box::new(move || {
        let response = schema.execute(request(&query, &document)).now_or_never().expect("nothing waits");
        serde_json::to_vec(&response).expect("an answer is JSON")
    })
}

fn dynamic_schema(sdl: &str) -> dynamic::Schema {
    let document = parse_schema(sdl).unwrap_or_else(|error| panic!("{error}"));
    let types: Vec<&TypeDefinition> = document
        .definitions
        .iter()
        .filter_map(|it| match it {
            TypeSystemDefinition::Type(ty) => Some(&ty.node),
            TypeSystemDefinition::Schema(_) | TypeSystemDefinition::Directive(_) => None,
        })
        .collect();
    let has = |name: &str| types.iter().any(|ty| ty.name.node == name);
    let mutation = has("Mutation").then_some("Mutation");
    let mut builder = dynamic::Schema::build("Query", mutation, None);
    for ty in types {
        builder = register(builder, ty);
    }
    builder.limit_recursive_depth(200).finish().unwrap_or_else(|error| panic!("{error}"))
}

/// Puts the description where there is one.
macro_rules! described {
    ($thing:expr, $from:expr) => {
        match &$from.description {
            Some(description) => $thing.description(description.node.clone()),
            None => $thing,
        }
    };
}

fn register(builder: dynamic::SchemaBuilder, ty: &TypeDefinition) -> dynamic::SchemaBuilder {
    let name = ty.name.node.as_str();
    match &ty.kind {
        TypeKind::Scalar => builder.register(described!(dynamic::Scalar::new(name), ty)),
        TypeKind::Object(object) => {
            let mut made = described!(dynamic::Object::new(name), ty);
            for interface in &object.implements {
                made = made.implement(interface.node.as_str());
            }
            made = object.fields.iter().fold(made, |made, it| made.field(field(&it.node)));
            builder.register(made)
        }
        TypeKind::Interface(interface) => {
            let made = described!(dynamic::Interface::new(name), ty);
            let made = interface.fields.iter().fold(made, |made, it| {
                let field =
                    dynamic::InterfaceField::new(it.node.name.node.as_str(), type_ref(&it.node.ty.node));
                let field = described!(field, it.node);
                made.field(it.node.arguments.iter().fold(field, |field, it| field.argument(input(&it.node))))
            });
            builder.register(made)
        }
        TypeKind::Union(union) => {
            let made = described!(dynamic::Union::new(name), ty);
            builder.register(union.members.iter().fold(made, |made, it| made.possible_type(it.node.as_str())))
        }
        TypeKind::Enum(values) => {
            let made = described!(dynamic::Enum::new(name), ty);
            builder.register(values.values.iter().fold(made, |made, it| {
                made.item(described!(dynamic::EnumItem::new(it.node.value.node.as_str()), it.node))
            }))
        }
        TypeKind::InputObject(object) => {
            let made = described!(dynamic::InputObject::new(name), ty);
            builder.register(object.fields.iter().fold(made, |made, it| made.field(input(&it.node))))
        }
    }
}

fn field(of: &FieldDefinition) -> dynamic::Field {
    fn nothing(_: dynamic::ResolverContext<'_>) -> FieldFuture<'_> {
        FieldFuture::Value(None)
    }
    let made = described!(dynamic::Field::new(of.name.node.as_str(), type_ref(&of.ty.node), nothing), of);
    let is_deprecated = of.directives.iter().any(|it| it.node.name.node == "deprecated");
    let made = if is_deprecated { made.deprecation(Some("Old")) } else { made };
    of.arguments.iter().fold(made, |made, it| made.argument(input(&it.node)))
}

fn input(of: &InputValueDefinition) -> dynamic::InputValue {
    let made = described!(dynamic::InputValue::new(of.name.node.as_str(), type_ref(&of.ty.node)), of);
    match &of.default_value {
        Some(value) => made.default_value(value.node.clone()),
        None => made,
    }
}

fn type_ref(ty: &Type) -> TypeRef {
    let inner = match &ty.base {
        BaseType::Named(name) => TypeRef::named(name.to_string()),
        BaseType::List(item) => TypeRef::List(Box::new(type_ref(item))),
    };
    if ty.nullable { inner } else { TypeRef::NonNull(Box::new(inner)) }
}
