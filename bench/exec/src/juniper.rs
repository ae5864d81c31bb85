//! juniper's side: whole requests with the document parsed and validated each time, as its interface has it.

use crate::data::{GROUPS, Group, ITEMS, Item, Row, Section, first_links};
use futures_util::FutureExt;
use juniper::{
    DefaultScalarValue, EmptyMutation, EmptySubscription, ExecutionError, GraphQLError, ID, RootNode, Value,
    Variables, graphql_object,
};

struct ItemObject(&'static Item);
struct RowObject(&'static Row);
struct SectionObject(&'static Section);
struct GroupObject(&'static Group);
struct LinkObject(i32);
struct Query;

#[graphql_object(name = "Item")]
impl ItemObject {
    fn id(&self) -> ID {
        ID::from(self.0.id.clone())
    }
    fn name(&self) -> &str {
        &self.0.name
    }
    fn title(&self) -> Option<&str> {
        self.0.title.as_deref()
    }
    fn price(&self) -> f64 {
        self.0.price
    }
    fn stock(&self) -> i32 {
        self.0.stock
    }
    fn active(&self) -> bool {
        self.0.active
    }
    fn rating(&self) -> Option<f64> {
        self.0.rating
    }
    fn sku(&self) -> &str {
        &self.0.sku
    }
    fn views(&self) -> i32 {
        self.0.views
    }
    fn note(&self) -> Option<&str> {
        self.0.note.as_deref()
    }
}

#[graphql_object(name = "Row")]
impl RowObject {
    fn id(&self) -> ID {
        ID::from(self.0.id.clone())
    }
    fn name(&self) -> &str {
        &self.0.name
    }
    fn value(&self) -> i32 {
        self.0.value
    }
}

#[graphql_object(name = "Section")]
impl SectionObject {
    fn id(&self) -> ID {
        ID::from(self.0.id.clone())
    }
    fn name(&self) -> &str {
        &self.0.name
    }
    fn rows(&self) -> Vec<RowObject> {
        self.0.rows.iter().map(RowObject).collect()
    }
}

#[graphql_object(name = "Group")]
impl GroupObject {
    fn id(&self) -> ID {
        ID::from(self.0.id.clone())
    }
    fn name(&self) -> &str {
        &self.0.name
    }
    fn sections(&self) -> Vec<SectionObject> {
        self.0.sections.iter().map(SectionObject).collect()
    }
}

#[graphql_object(name = "Link")]
impl LinkObject {
    fn id(&self) -> i32 {
        self.0
    }
    async fn next(&self) -> LinkObject {
        LinkObject(self.0 + 1)
    }
}

#[graphql_object]
impl Query {
    fn items() -> Vec<ItemObject> {
        ITEMS.iter().map(ItemObject).collect()
    }
    fn groups() -> Vec<GroupObject> {
        GROUPS.iter().map(GroupObject).collect()
    }
    fn links() -> Vec<LinkObject> {
        first_links().map(LinkObject).collect()
    }
}

fn schema() -> RootNode<Query, EmptyMutation<()>, EmptySubscription<()>> {
    RootNode::new(Query, EmptyMutation::new(), EmptySubscription::new())
}

/// The JSON text of what juniper gave.
pub fn text(answer: Result<(Value, Vec<ExecutionError<DefaultScalarValue>>), GraphQLError>) -> Vec<u8> {
    let (data, errors) = answer.unwrap_or_else(|error| panic!("{error}"));
    assert!(errors.is_empty(), "{errors:?}");
    let mut text = b"{\"data\":".to_vec();
    serde_json::to_writer(&mut text, &data).expect("an answer is JSON");
    text.push(b'}');
    text
}

/// Lists, by resolvers that answer at once.
pub fn lists(query: &str) -> Box<dyn Fn() -> Vec<u8>> {
    let (schema, query) = (schema(), query.to_owned());
    Box::new(move || text(juniper::execute_sync(&query, None, &schema, &Variables::new(), &())))
}

/// Chains of links, by futures.
pub fn lazy(query: &str) -> Box<dyn Fn() -> Vec<u8>> {
    let (schema, query) = (schema(), query.to_owned());
    Box::new(move || {
        let variables = Variables::new();
        let answer = juniper::execute(&query, None, &schema, &variables, &());
        text(answer.now_or_never().expect("nothing waits"))
    })
}
