//! Resolvers of each kind: how often they are called, with which parents, and what the client gets.

use crate::kit::{Log, Post, User, block_on, blog, built, json, note, noted, posts_of, run, users};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use weir_runtime::{
    Context, Lookahead, Object, Request, Schema, Value, async_batch, async_each, async_root, batch, constant,
    each, leaf, leaf_option_ref, leaf_ref, record, root,
};

#[test]
fn a_batch_is_called_once_for_all_parents_at_any_depth() {
    let log = Log::default();
    let schema = built(blog(&log));
    let found = json(&schema, "{ users { name posts { title author { name posts { id comments } } } } }");
    assert_eq!(
        noted(&log),
        [
            "users",
            "posts of [1, 2, 3]",
            "authors of [11, 12, 21, 22, 31, 32]",
            "posts of [1, 1, 2, 2, 3, 3]",
            "comments of 12",
        ]
    );
    let author = &found["data"]["users"][2]["posts"][1]["author"];
    assert_eq!(author["name"], "Cy");
    assert_eq!(author["posts"][0], json!({"id": 31, "comments": ["on 31"]}));
}

#[test]
fn keys_stand_in_the_order_of_the_selection() {
    let schema = built(blog(&Log::default()));
    assert_eq!(
        run(&schema, "{ me { shout id posts { comments id } name } }"),
        r#"{"data":{"me":{"shout":"ADA","id":1,"posts":[{"comments":["on 11"],"id":11},{"comments":["on 12"],"id":12}],"name":"Ada"}}}"#
    );
}

#[test]
fn a_batch_is_not_called_without_parents() {
    let log = Log::default();
    let schema = built(blog(&log));
    assert_eq!(run(&schema, "{ user(id: 9) { posts { id } } }"), r#"{"data":{"user":null}}"#);
    assert_eq!(noted(&log), Vec::<String>::new());
}

#[test]
fn aliases_with_equal_arguments_are_one_call() {
    let log = Log::default();
    let schema = built(blog(&log));
    run(&schema, "{ users { a: posts { id } b: posts { id } } }");
    assert_eq!(noted(&log), ["users", "posts of [1, 2, 3]"]);
}

#[test]
fn leaves_borrow_from_the_object_and_stand_beside_fields_of_the_record() {
    struct City {
        name: String,
        mayor: Option<String>,
        population: u32,
    }
    record!(City { name });
    let sdl = "type Query { cities: [City!]! }
        type City { name: String! mayor: String initial: String! size: Float! population: Int! twin: [String!]! }";
    let city = |name: &str, mayor: Option<&str>| City {
        name: name.into(),
        mayor: mayor.map(str::to_owned),
        population: 7,
    };
    let schema = built(
        Schema::builder(sdl)
            .resolve(
                "Query.cities",
                root(move |_: &(), _: &Context| vec![city("Ghent", Some("Ann")), city("Bonn", None)]),
            )
            .resolve("City.mayor", leaf_option_ref(|city: &City| city.mayor.as_deref()))
            .resolve("City.initial", leaf_ref(|city: &City| &city.name[..1]))
            .resolve("City.size", leaf(|city: &City| f64::from(city.population) / 2.0))
            .resolve("City.population", leaf(|city: &City| city.population as i32))
            .resolve("City.twin", leaf(|city: &City| vec![city.name.clone()])),
    );
    assert_eq!(
        run(&schema, "{ cities { mayor initial name size population twin } }"),
        r#"{"data":{"cities":[{"mayor":"Ann","initial":"G","name":"Ghent","size":3.5,"population":7,"twin":["Ghent"]},{"mayor":null,"initial":"B","name":"Bonn","size":3.5,"population":7,"twin":["Bonn"]}]}}"#
    );
}

#[test]
fn futures_of_one_level_run_at_the_same_time() {
    let sdl = "type Query { a: Int! b: [Item!]! } type Item { c: Int! d: Int! }";
    #[derive(Clone)]
    struct Item(i32);
    record!(Item {});
    let gate = Arc::new(tokio::sync::Barrier::new(2));
    let below = Arc::new(tokio::sync::Barrier::new(4));
    let gate_a = Arc::clone(&gate);
    let below_c = Arc::clone(&below);
    let below_d = below;
    let schema = built(
        Schema::builder(sdl)
            .resolve(
                "Query.a",
                async_root(move |_: &(), _: &Context| {
                    let gate = Arc::clone(&gate_a);
                    async move {
                        gate.wait().await;
                        1
                    }
                }),
            )
            .resolve(
                "Query.b",
                async_root(move |_: &(), _: &Context| {
                    let gate = Arc::clone(&gate);
                    async move {
                        gate.wait().await;
                        vec![Item(1), Item(2), Item(3)]
                    }
                }),
            )
            .resolve(
                "Item.c",
                async_each(move |item: &Item, _: &(), _: &Context| {
                    let gate = Arc::clone(&below_c);
                    let value = item.0;
                    async move {
                        gate.wait().await;
                        value
                    }
                }),
            )
            .resolve(
                "Item.d",
                async_batch(move |items: &[&Item], _: &(), _: &Context| {
                    let values: Vec<i32> = items.iter().map(|it| it.0 * 10).collect();
                    let gate = Arc::clone(&below_d);
                    async move {
                        gate.wait().await;
                        values
                    }
                }),
            ),
    );
    assert_eq!(
        run(&schema, "{ a b { c d } }"),
        r#"{"data":{"a":1,"b":[{"c":1,"d":10},{"c":2,"d":20},{"c":3,"d":30}]}}"#
    );
}

#[test]
fn a_constant_needs_no_parent_and_an_object_may_hold_objects() {
    struct Shelf {
        books: Vec<Option<Book>>,
    }
    record!(Shelf { books });
    struct Book {
        pages: i32,
    }
    record!(Book { pages });
    let log = Log::default();
    let book_log = Arc::clone(&log);
    let sdl = "type Query { shelves: [[Shelf!]!]! version: String! }
        type Shelf { books: [Book]! kind: String! } type Book { pages: Int! thick: Boolean! }";
    let schema = built(
        Schema::builder(sdl)
            .resolve("Query.version", constant("1.0"))
            .resolve("Shelf.kind", constant("oak"))
            .resolve(
                "Query.shelves",
                root(|_: &(), _: &Context| {
                    let shelf = |pages: &[i32]| Shelf {
                        books: pages.iter().map(|&pages| (pages > 0).then_some(Book { pages })).collect(),
                    };
                    vec![vec![shelf(&[10, 0, 900])], vec![], vec![shelf(&[]), shelf(&[500])]]
                }),
            )
            .resolve(
                "Book.thick",
                batch(move |books: &[&Book], _: &(), _: &Context| {
                    note(&book_log, format!("{:?}", books.iter().map(|it| it.pages).collect::<Vec<_>>()));
                    books.iter().map(|it| it.pages > 100).collect::<Vec<_>>()
                }),
            ),
    );
    assert_eq!(
        run(&schema, "{ version shelves { kind books { thick pages } } }"),
        r#"{"data":{"version":"1.0","shelves":[[{"kind":"oak","books":[{"thick":false,"pages":10},null,{"thick":true,"pages":900}]}],[],[{"kind":"oak","books":[]},{"kind":"oak","books":[{"thick":true,"pages":500}]}]]}}"#
    );
    assert_eq!(noted(&log), ["[10, 900, 500]"]);
}

#[test]
fn a_constant_is_cloned_once_per_step() {
    static CLONES: AtomicUsize = AtomicUsize::new(0);
    struct Rank {
        name: &'static str,
    }
    record!(Rank { name });
    impl Clone for Rank {
        fn clone(&self) -> Self {
            CLONES.fetch_add(1, Ordering::Relaxed);
            Self { name: self.name }
        }
    }
    struct Item {
        id: i32,
    }
    record!(Item { id });
    let sdl = "type Query { items: [Item!]! } type Rank { name: String! length: Int! }
        type Item { id: Int! rank: Rank! even: Rank ranks: [Rank!]! }";
    let schema = built(
        Schema::builder(sdl)
            .resolve(
                "Query.items",
                root(|_: &(), _: &Context| (0..1000).map(|id| Item { id }).collect::<Vec<_>>()),
            )
            .resolve("Rank.length", each(|rank: &Rank, _: &(), _: &Context| rank.name.len() as i32))
            .resolve("Item.rank", constant(Rank { name: "low" }))
            .resolve("Item.even", constant(Rank { name: "even" }))
            .authorize("Item.even", |items: &[&Item], _| items.iter().map(|it| it.id % 2 == 0).collect())
            .resolve("Item.ranks", constant(vec![Rank { name: "low" }, Rank { name: "high" }]))
            .filter("Item.ranks", |ranks: &[&Rank], _| ranks.iter().map(|it| it.name == "high").collect()),
    );
    let items = |query: &str, clones: usize| {
        CLONES.store(0, Ordering::Relaxed);
        let found = json(&schema, query);
        assert_eq!(CLONES.load(Ordering::Relaxed), clones, "{query}");
        assert_eq!(found["data"]["items"].as_array().map(Vec::len), Some(1000));
        found
    };
    let found = items("{ items { rank { name length } } }", 1);
    assert_eq!(found["data"]["items"][999], json!({"rank": {"name": "low", "length": 3}}));
    let found = items("{ items { even { name length } } }", 1);
    assert_eq!(found["data"]["items"][998], json!({"even": {"name": "even", "length": 4}}));
    assert_eq!(found["data"]["items"][999], json!({"even": null}));
    assert_eq!(found["errors"][0]["extensions"]["code"], "ACCESS_DENIED");
    assert_eq!(found["errors"][0]["path"], json!(["items", 1, "even"]));
    let found = items("{ items { ranks { name } } }", 2);
    assert_eq!(found["data"]["items"][999], json!({"ranks": [{"name": "high"}]}));
}

#[test]
fn mutations_are_done_in_turn_each_with_all_below_it() {
    #[derive(Clone)]
    struct Counter(i32);
    record!(Counter {});
    let log = Log::default();
    let add_log = Arc::clone(&log);
    let value_log = Arc::clone(&log);
    let sdl = "type Query { a: Int } type Mutation { add(by: Int!): Counter! } type Counter { value: Int! }";
    struct By {
        by: i32,
    }
    weir_runtime::input!(By { by });
    let schema = built(
        Schema::builder(sdl)
            .resolve("Query.a", constant(1))
            .resolve(
                "Mutation.add",
                async_root(move |by: &By, _: &Context| {
                    let by = by.by;
                    let log = Arc::clone(&add_log);
                    async move {
                        tokio::task::yield_now().await;
                        note(&log, format!("add {by}"));
                        Counter(by)
                    }
                }),
            )
            .resolve(
                "Counter.value",
                each(move |counter: &Counter, _: &(), _: &Context| {
                    note(&value_log, format!("value {}", counter.0));
                    counter.0
                }),
            ),
    );
    assert_eq!(
        run(&schema, "mutation { a: add(by: 1) { value } b: add(by: 2) { value } }"),
        r#"{"data":{"a":{"value":1},"b":{"value":2}}}"#
    );
    assert_eq!(noted(&log), ["add 1", "value 1", "add 2", "value 2"]);
}

#[test]
fn a_resolver_sees_what_is_selected_below_it() {
    fn path(look: &Lookahead) -> String {
        let below = look.below("posts").map(|it| it.names().join(","));
        format!(
            "{}:{} posts {:?} shout {}",
            look.response_name(),
            look.names().join(","),
            below,
            look.selects("shout")
        )
    }
    let log = Log::default();
    let me_log = Arc::clone(&log);
    let schema = Schema::builder(
        "type Query { me: User } type User { id: Int! name: String! posts: [Post!]! shout: String! } type Post { id: Int! title: String! }",
    )
    .resolve("Query.me", root(move |_: &(), context: &Context| {
        note(&me_log, path(context.lookahead()));
        users().into_iter().next()
    }))
    .resolve("User.posts", each(|user: &User, _: &(), _: &Context| posts_of(user.id)))
    .resolve("User.shout", leaf(|user: &User| user.name.to_uppercase()));
    let schema = built(schema);
    run(&schema, "{ who: me { name ... on User { posts { title } } } }");
    run(&schema, "query ($yes: Boolean = false) { me { id shout @include(if: $yes) } }");
    assert_eq!(
        noted(&log),
        ["who:name,posts posts Some(\"title\") shout false", "me:id posts None shout false"]
    );
}

#[test]
fn data_of_the_request_comes_before_data_of_the_schema() {
    struct Tenant(&'static str);
    let schema = built(
        Schema::builder("type Query { tenant: String!  other: Int }")
            .data(Tenant("nobody"))
            .resolve(
                "Query.tenant",
                root(|_: &(), context: &Context| context.data::<Tenant>().map(|it| it.0)),
            )
            .resolve("Query.other", root(|_: &(), context: &Context| context.data::<i32>().copied())),
    );
    assert_eq!(run(&schema, "{ tenant }"), r#"{"data":{"tenant":"nobody"}}"#);
    let request = Request::new("{ tenant other }").data(Tenant("acme")).data(7_i32);
    assert_eq!(block_on(schema.execute(request)).text(), r#"{"data":{"tenant":"acme","other":7}}"#);
    let found = json(&schema, "{ other }");
    assert_eq!(found["errors"][0]["message"], "Internal error.");
    assert_eq!(found["data"]["other"], serde_json::Value::Null);
}

#[test]
fn values_without_rust_types_are_parents_too() {
    let sdl = "type Query { items: [Item!]! } type Item { name: String! price: Int double: Int! }";
    let schema = built(
        Schema::builder(sdl)
            .resolve(
                "Query.items",
                root(|_: &(), _: &Context| {
                    let item = |name: &str, price| {
                        Value::object("Item", [("name", Value::text(name)), ("price", price)])
                    };
                    Value::List(vec![item("pen", Value::Int(2)), item("ink", Value::Null)])
                }),
            )
            .resolve(
                "Item.double",
                batch(|items: &[&Object], _: &(), _: &Context| {
                    items
                        .iter()
                        .map(|item| match item.get("price") {
                            Value::Int(price) => Value::Int(price * 2),
                            _ => Value::Int(0),
                        })
                        .collect::<Vec<_>>()
                }),
            ),
    );
    assert_eq!(
        run(&schema, "{ items { double name price } }"),
        r#"{"data":{"items":[{"double":4,"name":"pen","price":2},{"double":0,"name":"ink","price":null}]}}"#
    );
}

#[test]
fn shared_objects_are_not_copied() {
    let all = Arc::new(vec![Arc::new(Post { id: 1, title: "one".into(), author: 1 })]);
    let posts = Arc::clone(&all);
    let schema = built(
        Schema::builder(
            "type Query { posts: [Post!]! } type Post { id: Int! title: String! same: Boolean! }",
        )
        .resolve("Query.posts", root(move |_: &(), _: &Context| Arc::clone(&posts)))
        .resolve("Post.same", each(move |post: &Post, _: &(), _: &Context| std::ptr::eq(post, &*all[0]))),
    );
    assert_eq!(
        run(&schema, "{ posts { same title } }"),
        r#"{"data":{"posts":[{"same":true,"title":"one"}]}}"#
    );
}
