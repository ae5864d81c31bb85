//! Weir as a library: whole requests through resolvers of one kind at every field, plan cached.

use crate::data::{GROUPS, Group, ITEMS, Item, Row, Section, first_links};
use std::future::ready;
use weir_runtime::{
    Context, Limits, Request, Schema, SchemaBuilder, Settings, async_batch, async_each, batch, each, leaf,
    record, root,
};

/// The kind of all resolvers below the root.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Borrows from one object.
    Leaf,
    /// All objects at once.
    Batch,
    /// All objects at once, by a future.
    AsyncBatch,
    /// One object after the other.
    Each,
    /// A future per object.
    AsyncEach,
}

impl Kind {
    pub const ALL: [Self; 5] = [Self::Leaf, Self::Batch, Self::AsyncBatch, Self::Each, Self::AsyncEach];

    pub fn name(self) -> &'static str {
        match self {
            Self::Leaf => "leaf resolvers",
            Self::Batch => "batch resolvers",
            Self::AsyncBatch => "async batch resolvers",
            Self::Each => "resolvers per object",
            Self::AsyncEach => "async resolvers per object",
        }
    }

    /// The most nanoseconds per field of the list.
    pub fn bar(self) -> Option<f64> {
        match self {
            Self::Leaf => Some(15.0),
            Self::Batch => Some(25.0),
            Self::AsyncBatch | Self::Each | Self::AsyncEach => None,
        }
    }
}

// They hold references, as the objects of async-graphql and juniper do, so that texts are borrowed and not copied.
struct ItemObject(&'static Item);
struct RowObject(&'static Row);
struct SectionObject(&'static Section);
struct GroupObject(&'static Group);
struct Link(i32);
record!(ItemObject as "Item" {});
record!(RowObject as "Row" {});
record!(SectionObject as "Section" {});
record!(GroupObject as "Group" {});
record!(Link { id = |link| link.0 });

/// Resolves fields of a type by resolvers of one kind.
macro_rules! resolve {
    ($builder:expr, $kind:expr, $rust:ty, { $($field:literal => |$it:ident| $value:expr),* $(,)? }) => {{
        let builder: SchemaBuilder = $builder;
        $(let builder = match $kind {
            Kind::Leaf => builder.resolve($field, leaf(|$it: &$rust| $value)),
            Kind::Batch => builder.resolve($field, batch(|all: &[&$rust], _: &(), _: &Context| {
                all.iter().map(|$it| $value).collect::<Vec<_>>()
            })),
            Kind::AsyncBatch => builder.resolve($field, async_batch(|all: &[&$rust], _: &(), _: &Context| {
                ready(all.iter().map(|$it| $value).collect::<Vec<_>>())
            })),
            Kind::Each => builder.resolve($field, each(|$it: &$rust, _: &(), _: &Context| $value)),
            Kind::AsyncEach => builder.resolve($field, async_each(|$it: &$rust, _: &(), _: &Context| ready($value))),
        };)*
        builder
    }};
}

fn schema(kind: Kind) -> Schema {
    let sdl = "type Query { items: [Item!]! groups: [Group!]! links: [Link!]! }
        type Item {
          id: ID! name: String! title: String price: Float! stock: Int!
          active: Boolean! rating: Float sku: String! views: Int! note: String
        }
        type Group { id: ID! name: String! sections: [Section!]! }
        type Section { id: ID! name: String! rows: [Row!]! }
        type Row { id: ID! name: String! value: Int! }
        type Link { id: Int! next: Link! }";
    let builder = Schema::builder(sdl)
        .settings(Settings { limits: Limits::NONE, ..Settings::STANDARD })
        .resolve("Query.items", root(|_: &(), _: &Context| ITEMS.iter().map(ItemObject).collect::<Vec<_>>()))
        .resolve(
            "Query.groups",
            root(|_: &(), _: &Context| GROUPS.iter().map(GroupObject).collect::<Vec<_>>()),
        )
        .resolve("Query.links", root(|_: &(), _: &Context| first_links().map(Link).collect::<Vec<_>>()))
        .resolve(
            "Link.next",
            async_batch(|links: &[&Link], _: &(), _: &Context| {
                ready(links.iter().map(|link| Link(link.0 + 1)).collect::<Vec<_>>())
            }),
        );
    let builder = resolve!(builder, kind, ItemObject, {
        "Item.id" => |it| it.0.id.as_str(),
        "Item.name" => |it| it.0.name.as_str(),
        "Item.title" => |it| it.0.title.as_deref(),
        "Item.price" => |it| it.0.price,
        "Item.stock" => |it| it.0.stock,
        "Item.active" => |it| it.0.active,
        "Item.rating" => |it| it.0.rating,
        "Item.sku" => |it| it.0.sku.as_str(),
        "Item.views" => |it| it.0.views,
        "Item.note" => |it| it.0.note.as_deref(),
    });
    let builder = resolve!(builder, kind, RowObject, {
        "Row.id" => |it| it.0.id.as_str(),
        "Row.name" => |it| it.0.name.as_str(),
        "Row.value" => |it| it.0.value,
    });
    let builder = resolve!(builder, kind, SectionObject, {
        "Section.id" => |it| it.0.id.as_str(),
        "Section.name" => |it| it.0.name.as_str(),
        "Section.rows" => |it| it.0.rows.iter().map(RowObject).collect::<Vec<_>>(),
    });
    let builder = resolve!(builder, kind, GroupObject, {
        "Group.id" => |it| it.0.id.as_str(),
        "Group.name" => |it| it.0.name.as_str(),
        "Group.sections" => |it| it.0.sections.iter().map(SectionObject).collect::<Vec<_>>(),
    });
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

/// Answers `query` through resolvers of `kind`; those of links are always lazy.
pub fn contender(query: &str, kind: Kind) -> Box<dyn Fn() -> Vec<u8>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let (schema, query) = (schema(kind), query.to_owned());
    Box::new(move || runtime.block_on(schema.execute(Request::new(&query))).body)
}
