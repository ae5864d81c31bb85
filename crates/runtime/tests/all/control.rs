//! Control of execution: guards of fields in batch form, cost and depth.

use crate::kit::{Log, User, block_on, blog, built, json, note, noted, run, users};
use futures_util::StreamExt;
use serde_json::{Value as Json, json as value};
use std::sync::Arc;
use std::time::Duration;
use weir_engine::memory::Memory;
use weir_language::schema::Schema as LanguageSchema;
use weir_runtime::{
    Context, CostWeight, Identity, IncrementForm, Limits, ListSize, Request, Schema, Settings, each, input,
    keyed, record, root, stream,
};

struct Viewer(i32);

#[test]
fn a_guard_sees_all_parents_and_refuses_some() {
    let log = Log::default();
    let guard_log = Log::default();
    let guarded = Arc::clone(&guard_log);
    let schema = built(blog(&log).authorize("User.posts", move |parents: &[&User], context: &Context| {
        let viewer = context.find::<Viewer>().map_or(0, |it| it.0);
        note(&guarded, format!("guard of {}", parents.len()));
        parents.iter().map(|user| user.id != 2 && viewer > 0).collect()
    }));
    let run = |viewer| -> Json {
        let request = Request::new("{ users { id posts { id author { name } } } }").data(Viewer(viewer));
        serde_json::from_str(block_on(schema.execute(request)).text()).unwrap()
    };
    let found = run(1);
    assert_eq!(noted(&guard_log), ["guard of 3"]);
    assert_eq!(noted(&log), ["users", "posts of [1, 3]", "authors of [11, 12, 31, 32]"]);
    // The field is non-null, so the null goes up to `data`.
    assert_eq!(found["data"], Json::Null);
    assert_eq!(found["errors"][0]["path"], value!(["users", 1, "posts"]));
    assert_eq!(found["errors"][0]["extensions"]["code"], "ACCESS_DENIED");
    assert_eq!(run(0)["errors"][0]["message"], "Access denied.");
    assert_eq!(noted(&log), ["users"]);
}

#[test]
fn a_refused_object_leaves_the_others_and_a_root_is_guarded_too() {
    let sdl = "type Query { users: [User!]! secret: Int open: Int } type User { id: Int! name: String! mail: String boss: User }";
    let schema = built(
        Schema::builder(sdl)
            .resolve("Query.users", root(|_: &(), _: &Context| users()))
            .resolve("Query.secret", root(|_: &(), _: &Context| 1))
            .resolve("Query.open", root(|_: &(), _: &Context| 2))
            .resolve("User.mail", each(|user: &User, _: &(), _: &Context| format!("{}@x", user.name)))
            .resolve(
                "User.boss",
                each(|user: &User, _: &(), _: &Context| {
                    users().into_iter().find(|it| Some(it.id) == user.boss)
                }),
            )
            .authorize("User.mail", |users: &[&User], _| users.iter().map(|it| it.id != 1).collect())
            .authorize("Query.secret", |_: &[&()], _| vec![false]),
    );
    let found = json(&schema, "{ secret open users { boss { mail } mail } }");
    assert_eq!(
        found["data"],
        value!({"secret": null, "open": 2, "users": [
            {"boss": null, "mail": null},
            {"boss": {"mail": null}, "mail": "Bob@x"},
            {"boss": {"mail": "Bob@x"}, "mail": "Cy@x"},
        ]})
    );
    let paths: Vec<Json> = found["errors"].as_array().unwrap().iter().map(|it| it["path"].clone()).collect();
    assert_eq!(
        paths,
        [value!(["secret"]), value!(["users", 0, "mail"]), value!(["users", 1, "boss", "mail"])]
    );
}

/// Lists of so many items, unless one of `arguments` says how many.
fn size(assumed: u64, arguments: &[&str]) -> ListSize {
    let slicing = arguments.iter().map(|it| (*it).into()).collect();
    ListSize { assumed: Some(assumed), slicing, ..ListSize::default() }
}

#[test]
fn guards_and_costs_stand_where_they_can() {
    let check = |builder: weir_runtime::SchemaBuilder, expected: &str| {
        let Err(error) = builder.build() else { panic!("it is sound") };
        let messages: Vec<&str> = error.errors.iter().map(|it| &*it.message).collect();
        assert_eq!(messages, [expected]);
    };
    check(
        blog(&Log::default()).authorize("User.name", |users: &[&User], _: &Context| vec![true; users.len()]),
        "`User.name` comes with its object: resolve it by `each` to authorize it",
    );
    check(
        blog(&Log::default()).list_size("Query.users", size(1, &["first"])),
        "library: cost of `Query.users`: the field has no argument `first` that is an integer or a list",
    );
    check(
        blog(&Log::default()).cost("User.nome", CostWeight::whole(1)),
        "library: cost of `User.nome`: the schema has no such place",
    );
}

struct Page {
    first: Option<i32>,
}
input!(Page { first });

#[test]
fn directives_and_the_builder_say_what_fields_cost() {
    let sdl = "
        type Query { users(first: Int = 2): [User!]! @listSize(assumedSize: 10, slicingArguments: [\"first\"]) one: User }
        type User @cost(weight: \"2\") { id: Int! name: String! @cost(weight: \"0.5\") friends(first: Int): [User!]! }";
    let schema = built(
        Schema::builder(sdl)
            .cost_max(100)
            .list_size("User.friends", size(20, &["first"]))
            .resolve(
                "Query.users",
                root(|page: &Page, _: &Context| {
                    users().into_iter().take(page.first.unwrap_or(9) as usize).collect::<Vec<_>>()
                }),
            )
            .resolve("Query.one", root(|_: &(), _: &Context| users().pop()))
            .resolve("User.friends", each(|_: &User, _: &Page, _: &Context| Vec::<User>::new())),
    );
    let ask = |query: &str, variables: &str| crate::kit::run_with(&schema, query, variables);
    let cost = |query: &str, variables: &str| refused_cost(&ask(query, variables));
    assert_eq!(cost("{ users { id name } }", "{}"), None);
    // 40 * 2.5 is within, 41 * 2.5 is 102.5, which is rounded up.
    assert_eq!(cost("{ users(first: 40) { id name } }", "{}"), None);
    assert_eq!(cost("{ users(first: 41) { id name } }", "{}"), Some(103));
    let query = "query ($n: Int) { users(first: $n) { id name } }";
    assert_eq!(cost(query, r#"{"n": 40}"#), None);
    assert_eq!(cost(query, r#"{"n": 41}"#), Some(103));
    // 2 + 20 * (2 + 20 * 2).
    assert_eq!(cost("{ one { friends { friends { id } } } }", "{}"), Some(842));
    assert_eq!(cost("{ one { friends(first: 0) { friends { id } } } }", "{}"), None);
    let null = ask("{ users(first: null) { id } }", "{}");
    assert!(
        null.contains("COST_INVALID_SLICING_ARGUMENTS") && null.contains("`Query.users` needs"),
        "{null}"
    );
}

const PEOPLE: &str = "
type Query { people(first: Int, last: Int): [Person!]! me: Person }
type Mutation { people(first: Int, last: Int): [Person!]! me: Person }
type Subscription { people(first: Int, last: Int): [Person!]! me: Person }
type Person { id: Int! name: String! friends(first: Int = 3, last: Int): [Person!]! boss: Person }
";

struct Pages {
    first: Option<i32>,
    last: Option<i32>,
}
input!(Pages { first, last });

/// People under all roots. Every resolver notes its call.
fn people(log: &Log, max: u64) -> Schema {
    let count = |page: &Pages| page.first.max(page.last).unwrap_or(5) as usize;
    let page = |assumed| size(assumed, &["first", "last"]);
    let mut builder = Schema::builder(PEOPLE).cost_max(max).list_size("Person.friends", page(7));
    for on in ["Query", "Mutation"] {
        let many = Arc::clone(log);
        let one = Arc::clone(log);
        builder = builder
            .list_size(&format!("{on}.people"), page(5))
            .resolve(
                &format!("{on}.people"),
                root(move |page: &Pages, _: &Context| {
                    note(&many, "people");
                    users().into_iter().take(count(page)).collect::<Vec<_>>()
                }),
            )
            .resolve(
                &format!("{on}.me"),
                root(move |_: &(), _: &Context| {
                    note(&one, "me");
                    users().pop()
                }),
            );
    }
    let [many, one, friends, boss]: [Log; 4] = std::array::from_fn(|_| Arc::clone(log));
    let builder = builder
        .list_size("Subscription.people", page(5))
        .resolve(
            "Subscription.people",
            stream(move |_: &Pages, _: &Context| {
                note(&many, "people");
                futures_util::stream::iter([users()])
            }),
        )
        .resolve(
            "Subscription.me",
            stream(move |_: &(), _: &Context| {
                note(&one, "me");
                futures_util::stream::iter([users().pop()])
            }),
        )
        .resolve(
            "Person.friends",
            each(move |_: &User, _: &Pages, _: &Context| {
                note(&friends, "friends");
                users()
            }),
        )
        .resolve(
            "Person.boss",
            each(move |_: &User, _: &(), _: &Context| {
                note(&boss, "boss");
                users().pop()
            }),
        );
    built(builder)
}

/// The cost that a response was refused for; `None` if it was not. All refusals of a response name the same.
fn refused_cost(text: &str) -> Option<u64> {
    let number = |it: &str| it.split(',').next().and_then(|it| it.parse().ok()).expect("a cost");
    let costs: Vec<u64> = text.split("the operation may cost ").skip(1).map(number).collect();
    assert!(costs.windows(2).all(|it| it[0] == it[1]), "{text}");
    costs.first().copied()
}

/// All parts of an answer, one after another.
fn in_parts(schema: &Schema, query: &str, variables: &str) -> String {
    block_on(async {
        let request = Request::new(query).variables(variables);
        let answer = schema.execute_incremental(request, IncrementForm::Paths).await;
        let mut text = String::from_utf8(answer.first.body.to_vec()).expect("UTF-8");
        let rest: Vec<_> = answer.rest.collect().await;
        rest.iter().for_each(|it| text.push_str(std::str::from_utf8(it).expect("UTF-8")));
        text
    })
}

/// All responses to a subscription, one after another.
fn events(schema: &Schema, query: &str, variables: &str) -> String {
    block_on(async {
        let request = Request::new(query).variables(variables);
        match schema.subscribe(request, Duration::from_secs(5)).await {
            Ok(events) => events.map(|it| it.text().to_owned()).collect::<Vec<_>>().await.concat(),
            Err(response) => response.text().to_owned(),
        }
    })
}

#[test]
fn fields_of_a_mutation_count_together() {
    let log = Log::default();
    let schema = people(&log, 13);
    // 10, and 1 * 1 each.
    let fields = "a: people(first: 1) { id } b: people(first: 1) { id }";
    let within = run(&schema, &format!("mutation {{ {fields} c: people(first: 1) {{ id }} }}"));
    assert_eq!((refused_cost(&within), noted(&log).len()), (None, 3));
    let over = run(&schema, &format!("mutation {{ {fields} c: people(first: 2) {{ id }} }}"));
    assert_eq!((refused_cost(&over), noted(&log)), (Some(14), Vec::new()));
}

#[test]
fn deferred_fragments_and_streamed_lists_count_with_the_rest() {
    let log = Log::default();
    let schema = people(&log, 5);
    let query = "query ($n: Int) { me { id ... @defer { friends(last: $n) { id } } } ... @defer { late: me { id } } }";
    // (1 + n) + 1.
    let within = in_parts(&schema, query, r#"{"n": 3}"#);
    assert_eq!((refused_cost(&within), noted(&log).len()), (None, 3));
    let over = in_parts(&schema, query, r#"{"n": 4}"#);
    assert_eq!((refused_cost(&over), noted(&log)), (Some(6), Vec::new()));
    let query = "query ($n: Int) { people(first: $n) @stream(initialCount: 1) { id } }";
    assert_eq!(refused_cost(&in_parts(&schema, query, r#"{"n": 5}"#)), None);
    assert_eq!(noted(&log), ["people"]);
    assert_eq!(refused_cost(&in_parts(&schema, query, r#"{"n": 6}"#)), Some(6));
    assert!(noted(&log).is_empty());
}

#[test]
fn the_largest_of_several_page_arguments_counts() {
    let schema = people(&Log::default(), 0);
    let cost = |arguments: &str| refused_cost(&run(&schema, &format!("{{ people{arguments} {{ id }} }}")));
    assert_eq!(cost("(last: 100)"), Some(100));
    assert_eq!(cost("(first: 100)"), Some(100));
    assert_eq!(cost("(first: 3, last: 100)"), Some(100));
    assert_eq!(cost("(first: 0)"), None);
    assert_eq!(cost("(first: null)"), Some(5));
    assert_eq!(cost(""), Some(5));
}

/// A selection of people and its cost, which is added up as it is written.
struct Written {
    seed: u64,
    /// Fields that are still to be written.
    left: u32,
    text: String,
}

/// Arguments, the length that they say at the root, and at `friends`, whose `first` has a default of 3.
const PAGES: [(&str, u64, u64); 9] = [
    ("", 5, 3),
    ("(first: 4)", 4, 4),
    ("(last: 9)", 9, 9),
    ("(last: 2)", 2, 3),
    ("(first: 2, last: $six)", 6, 6),
    ("(first: $null)", 5, 7),
    ("(first: $absent)", 5, 3),
    ("(first: null, last: 8)", 8, 8),
    ("(last: -1)", 5, 3),
];

impl Written {
    fn random(&mut self, below: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) % below
    }

    /// Writes up to three fields of a person.
    fn person(&mut self, depth: u32) -> u64 {
        let mut cost = 1;
        self.text.push_str("{ id ");
        for _ in 0..self.random(4) {
            let is_late = self.random(4) == 0;
            self.text.push_str(if is_late { "... @defer { " } else { "" });
            cost += self.field(depth, true);
            self.text.push_str(if is_late { "} " } else { "" });
        }
        self.text.push_str("} ");
        cost
    }

    /// Writes a field of a person, or of the root.
    fn field(&mut self, depth: u32, is_inside: bool) -> u64 {
        let Some(left) = self.left.checked_sub(1).filter(|_| depth > 0) else {
            self.text.push_str("__typename ");
            return 0;
        };
        self.left = left;
        let (arguments, outside, inside) = PAGES[self.random(PAGES.len() as u64) as usize];
        let (length, many, one) =
            if is_inside { (inside, "friends", "boss") } else { (outside, "people", "me") };
        let is_many = self.random(3) > 0;
        if is_many {
            self.text.push_str(&format!("f{left}: {many}{arguments} "))
        } else {
            self.text.push_str(&format!("f{left}: {one} "))
        }
        let below = self.person(depth - 1);
        if is_many { length * below } else { below }
    }

    /// The operation `kind` of the selection.
    fn operation(&self, kind: &str) -> String {
        let variables = ["$six", "$null", "$absent"].into_iter().filter(|it| self.text.contains(it));
        let variables: String = variables.map(|it| format!("{it}: Int ")).collect();
        let variables = if variables.is_empty() { variables } else { format!("({variables})") };
        match kind {
            "deferred" => format!("query {variables} {{ ... @defer {{ {} }} }}", self.text),
            // A subscription may not defer.
            "subscription" => format!("{kind} {variables} {{ {} }}", self.text.replace("@defer", "")),
            kind => format!("{kind} {variables} {{ {} }}", self.text),
        }
    }
}

#[test]
fn a_selection_costs_the_same_in_all_operations() {
    let log = Log::default();
    let schema = people(&log, 0);
    let variables = r#"{"six": 6, "null": null}"#;
    for seed in 0..100 {
        let mut written = Written { seed, left: 30, text: String::new() };
        let mut cost = written.field(5, false);
        let subscription = events(&schema, &written.operation("subscription"), variables);
        assert_eq!(refused_cost(&subscription), Some(cost), "{}", written.text);
        cost += written.field(5, false);
        cost += written.field(5, false);
        for (kind, own) in [("query", 0), ("mutation", 10)] {
            let whole = crate::kit::run_with(&schema, &written.operation(kind), variables);
            assert_eq!(refused_cost(&whole), Some(own + cost), "{kind} {}", written.text);
        }
        for kind in ["query", "deferred"] {
            let parts = in_parts(&schema, &written.operation(kind), variables);
            assert_eq!(refused_cost(&parts), Some(cost), "{kind} in parts {}", written.text);
        }
        assert!(noted(&log).is_empty(), "{}", written.text);
    }
}

struct Album {
    id: i32,
}
record!(Album { id });

struct Review(String);
record!(Review { text = |review| review.0.as_str() });

struct Top {
    top: Option<i32>,
}
input!(Top { top });

/// A source with types of its own.
fn shelf(log: &Log) -> Memory {
    let sdl = "
        type Query { albums: [Album!]! crate: Item }
        type Mutation { addAlbum: Album! }
        interface Item { next: Item }
        type Box implements Item { next: Item }
        type Album implements Item { next: Item id: Int! }";
    let log = Arc::clone(log);
    Memory::new("shelf", Arc::new(LanguageSchema::from_sdl(sdl).unwrap()))
        .field("albums", |_| vec![Album { id: 1 }, Album { id: 2 }])
        .field("addAlbum", move |_| {
            note(&log, "addAlbum");
            Album { id: 3 }
        })
}

/// Fields of the library beside the shelf, and on its albums.
fn beside_a_shelf(log: &Log, max: u64) -> Schema {
    let [hello, rating, reviews]: [Log; 3] = std::array::from_fn(|_| Arc::clone(log));
    let sdl = "
        type Query { hello: String }
        type Album { rating: Int! reviews(top: Int): [Review!]! }
        type Review { text: String! }";
    built(
        Schema::builder(sdl)
            .source(Arc::new(shelf(log)))
            .extends("Album")
            .cost_max(max)
            .list_size("Album.reviews", size(10, &["top"]))
            .resolve(
                "Query.hello",
                root(move |_: &(), _: &Context| {
                    note(&hello, "hello");
                    "hi".to_owned()
                }),
            )
            .resolve(
                "Album.rating",
                keyed(["id"], move |ids: &[i64], _: &(), _: &Context| {
                    note(&rating, format!("rating of {ids:?}"));
                    ids.iter().map(|id| *id as i32).collect::<Vec<_>>()
                }),
            )
            .resolve(
                "Album.reviews",
                keyed(["id"], move |ids: &[i64], top: &Top, _: &Context| {
                    note(&reviews, format!("reviews of {ids:?}"));
                    let one = |id| (0..top.top.unwrap_or(0)).map(|at| Review(format!("{id}/{at}"))).collect();
                    ids.iter().map(one).collect::<Vec<Vec<_>>>()
                }),
            ),
    )
}

fn as_admin(schema: &Schema, query: &str) -> String {
    block_on(schema.execute(Request::new(query).identity(Identity::admin()))).text().to_owned()
}

#[test]
fn fields_of_all_sources_count() {
    let log = Log::default();
    let schema = beside_a_shelf(&log, 300);
    let ask = |query: &str| (refused_cost(&as_admin(&schema, query)), noted(&log));
    // 100 albums, as nothing says how many: 100 * (1 + 2).
    let within = ask("{ albums { id reviews(top: 2) { text } } }");
    assert_eq!(within, (None, vec!["reviews of [1, 2]".into()]));
    assert_eq!(ask("{ albums { reviews(top: 3) { text } } }"), (Some(400), Vec::new()));
    assert_eq!(ask("{ albums { reviews { text } } }"), (Some(1100), Vec::new()));
    // No source is asked before the cost is known.
    let changed = ask("mutation { addAlbum { reviews(top: 290) { text } } }");
    assert_eq!(changed, (Some(301), Vec::new()));
}

#[test]
fn introspection_costs_nothing() {
    let schema = beside_a_shelf(&Log::default(), 0);
    let query =
        "query ($name: String!) { hello albums { id } __type(name: $name) { fields { name } } __typename }";
    let request = Request::new(query).variables(r#"{"name": "Album"}"#).identity(Identity::admin());
    assert_eq!(refused_cost(block_on(schema.execute(request)).text()), Some(100));
    assert_eq!(refused_cost(&as_admin(&schema, "{ __schema { types { fields { name } } } }")), None);
}

#[test]
fn a_set_that_many_ways_lead_to_is_looked_at_once() {
    let schema = beside_a_shelf(&Log::default(), 46);
    // Each `next` may be of two types: a walk along all ways would not end.
    let items = format!("{}__typename{}", "next { ".repeat(45), " }".repeat(45));
    let found = as_admin(&schema, &format!("{{ hello crate {{ {items} }} }}"));
    assert_eq!(found, r#"{"data":{"hello":"hi","crate":null}}"#);
}

#[test]
fn depth_is_limited_by_the_settings() {
    let limits = Limits { depth_max: 3, ..Limits::STANDARD };
    let schema = built(blog(&Log::default()).settings(Settings { limits, ..Settings::STANDARD }));
    assert!(json(&schema, "{ users { posts { id } } }")["errors"].is_null());
    let found = json(&schema, "{ users { posts { author { id } } } }");
    assert_eq!(found["errors"][0]["extensions"]["code"], "LIMIT_DEPTH");
}
