//! Connections with keyset cursors, global ids, `node` and `nodes`.

use crate::kit::{Log, built, json, note, noted, run};
use serde_json::{Value as Json, json as value};
use std::sync::Arc;
use weir_runtime::relay::{GlobalId, PageArguments, PageLimits, node, nodes};
use weir_runtime::{Context, Interface, Object, ResolveError, Schema, batch, connection, root};

#[derive(Clone, Object)]
struct Post {
    title: String,
    #[graphql(skip)]
    stars: i32,
}
connection!(PostConnection, PostEdge of Post);

#[derive(Object)]
struct User {
    #[graphql(id)]
    id: String,
    #[graphql(skip)]
    number: i64,
}

fn user(number: i64) -> User {
    User { id: GlobalId::new("User", number).to_string(), number }
}

#[derive(Interface)]
#[graphql(fields(#[graphql(id)] id: String))]
enum Node {
    User(User),
    Album(Album),
}

#[derive(Object)]
struct Album {
    #[graphql(id)]
    id: String,
}

const LIMITS: PageLimits = PageLimits { default: 2, max: 4 };

/// Posts in ascending order of stars and title.
fn posts(user: i64) -> Vec<Post> {
    let post = |at: i32| Post { title: format!("{user}:{at} é"), stars: at / 2 };
    (0..5).map(post).collect()
}

fn key(post: &Post) -> (i32, String) {
    (post.stars, post.title.clone())
}

async fn loaded(log: Log, ty: String, keys: Vec<String>) -> Result<Vec<Option<Node>>, ResolveError> {
    note(&log, format!("{ty} {keys:?}"));
    let found = |key: &String| key.parse().ok().map(|number| Node::User(user(number)));
    let album = |key: &String| Some(Node::Album(Album { id: GlobalId::new("Album", key).to_string() }));
    match ty.as_str() {
        "User" => Ok(keys.iter().map(found).collect()),
        "Album" => Ok(keys.iter().map(album).collect()),
        "Short" => Ok(Vec::new()),
        _ => Err(ResolveError::new(format!("`{ty}` is no type of nodes"))),
    }
}

fn schema(log: &Log) -> Schema {
    let [calls, one, many] = std::array::from_fn(|_| Arc::clone(log));
    built(
        Schema::code_first()
            .field("Query.users", root(|_: &(), _: &Context| vec![user(1), user(2)]))
            .field("Query.node", node(move |ty, keys, _| loaded(Arc::clone(&one), ty, keys)))
            .field("Query.nodes", nodes(3, move |ty, keys, _| loaded(Arc::clone(&many), ty, keys)))
            .field(
                "User.posts",
                batch(move |users: &[&User], page: &PageArguments, _: &Context| {
                    note(&calls, format!("posts of {}", users.len()));
                    let bounds = page.bounds("posts", LIMITS)?;
                    let page = |user: &&User| bounds.page_of_slice(&posts(user.number), key).into();
                    Ok::<Vec<PostConnection>, ResolveError>(users.iter().map(page).collect())
                }),
            ),
    )
}

fn text_of(found: &Json) -> &str {
    found.as_str().unwrap_or_else(|| panic!("{found}"))
}

fn page(schema: &Schema, arguments: &str) -> Json {
    let query = format!(
        "{{ users {{ posts{arguments} {{ edges {{ cursor node {{ title }} }} pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }} }}"
    );
    json(schema, &query)
}

fn titles(posts: &Json) -> Vec<String> {
    let edges = posts["edges"].as_array().unwrap_or_else(|| panic!("{posts}"));
    edges.iter().map(|it| text_of(&it["node"]["title"]).replace(" é", "")).collect()
}

#[test]
fn pages_lead_through_a_list_in_both_directions() {
    let log = Log::default();
    let schema = schema(&log);
    let mut forward = Vec::new();
    let mut after = String::new();
    loop {
        let found = page(&schema, &format!("(first: 2{after})"));
        let posts = &found["data"]["users"][0]["posts"];
        forward.extend(titles(posts));
        let info = &posts["pageInfo"];
        assert_eq!(info["hasPreviousPage"], !after.is_empty());
        assert_eq!(info["startCursor"], posts["edges"][0]["cursor"]);
        if info["hasNextPage"] == false {
            break;
        }
        after = format!(", after: {}", info["endCursor"]);
    }
    assert_eq!(forward, ["1:0", "1:1", "1:2", "1:3", "1:4"]);
    let found = page(&schema, "(last: 2)");
    let posts = &found["data"]["users"][1]["posts"];
    assert_eq!(titles(posts), ["2:3", "2:4"]);
    assert_eq!(
        (&posts["pageInfo"]["hasNextPage"], &posts["pageInfo"]["hasPreviousPage"]),
        (&value!(false), &value!(true))
    );
    let before = &posts["pageInfo"]["startCursor"];
    let found = page(&schema, &format!("(last: 4, before: {before})"));
    let posts = &found["data"]["users"][1]["posts"];
    assert_eq!(titles(posts), ["2:0", "2:1", "2:2"]);
    assert_eq!(
        (&posts["pageInfo"]["hasNextPage"], &posts["pageInfo"]["hasPreviousPage"]),
        (&value!(true), &value!(false))
    );
    assert_eq!(titles(&page(&schema, "")["data"]["users"][0]["posts"]), ["1:0", "1:1"]);
    assert_eq!(page(&schema, "(first: 0)")["data"]["users"][0]["posts"]["edges"], value!([]));
}

#[test]
fn the_pages_of_all_parents_are_one_call() {
    let log = Log::default();
    page(&schema(&log), "(first: 1)");
    assert_eq!(noted(&log), ["posts of 2"]);
}

#[test]
fn rows_of_a_query_become_the_page_that_their_slice_has() {
    let arguments = PageArguments { last: Some(2), ..PageArguments::default() };
    let bounds = arguments.bounds::<i64>("numbers", LIMITS).unwrap();
    assert!(bounds.from_end && bounds.rows_max() == 3);
    let queried = bounds.page(vec![9, 8, 7], |it| *it);
    let of_slice = bounds.page_of_slice(&[1, 7, 8, 9], |it| *it);
    assert_eq!(queried.edges, of_slice.edges);
    assert_eq!(queried.page_info, of_slice.page_info);
    assert_eq!(queried.edges.iter().map(|it| it.1).collect::<Vec<_>>(), [8, 9]);
}

#[test]
fn cursors_and_sizes_are_checked() {
    let refused = |arguments: PageArguments| match arguments.bounds::<i64>("numbers", LIMITS) {
        Ok(bounds) => panic!("{bounds:?}"),
        Err(error) => error.message().to_owned(),
    };
    let none = PageArguments::default;
    let both = PageArguments { first: Some(1), last: Some(1), ..none() };
    assert_eq!(refused(both), "`first` and `last` exclude each other");
    assert_eq!(refused(PageArguments { first: Some(5), ..none() }), "`first` is from 0 to 4");
    assert_eq!(refused(PageArguments { last: Some(-1), ..none() }), "`last` is from 0 to 4");
    let first = PageArguments { first: Some(1), ..none() };
    let cursor = |of| first.bounds::<i64>(of, LIMITS).unwrap().page(vec![1], |it| *it).edges[0].0.clone();
    let own = cursor("numbers");
    assert!(PageArguments { after: Some(own.clone()), ..none() }.bounds::<i64>("numbers", LIMITS).is_ok());
    let unfit = PageArguments { after: Some(own.clone()), ..none() }.bounds::<(i64, i64)>("numbers", LIMITS);
    assert!(unfit.is_err(), "a key of another shape");
    let damaged = own.replacen(&own[..1], if own.starts_with('a') { "b" } else { "a" }, 1);
    for text in [cursor("letters"), damaged, "x".into(), String::new(), "é".into()] {
        let message = "`after` is no cursor of `numbers`";
        assert_eq!(refused(PageArguments { after: Some(text.clone()), ..none() }), message, "{text}");
    }
    let found = run(&schema(&Log::default()), "{ users { posts(first: 9) { edges { cursor } } } }");
    assert!(found.contains("`first` is from 0 to 4") && found.contains("BAD_USER_INPUT"), "{found}");
}

#[test]
fn nodes_are_found_by_their_ids_alone() {
    let log = Log::default();
    let schema = schema(&log);
    let id = |ty: &str, key: i32| GlobalId::new(ty, key).to_string();
    let ada = id("User", 1);
    let hits = id("Album", 7);
    let found = json(
        &schema,
        &format!(
            "{{ node(id: \"{ada}\") {{ __typename id ... on User {{ posts {{ edges {{ node {{ title }} }} }} }} }} }}"
        ),
    );
    assert_eq!(found["data"]["node"]["__typename"], "User", "{found}");
    assert_eq!(
        (&found["data"]["node"]["id"], titles(&found["data"]["node"]["posts"]).len()),
        (&value!(ada), 2)
    );
    noted(&log);
    let bob = id("User", 2);
    let found =
        json(&schema, &format!("{{ nodes(ids: [\"{bob}\", \"{hits}\", \"{ada}\"]) {{ __typename id }} }}"));
    let expected = [("User", &bob), ("Album", &hits), ("User", &ada)];
    assert_eq!(found["data"]["nodes"], value!(expected.map(|it| value!({"__typename": it.0, "id": it.1}))));
    assert_eq!(noted(&log), ["User [\"2\", \"1\"]", "Album [\"7\"]"]);
}

#[test]
fn ids_that_name_nothing_are_errors_of_their_place() {
    let schema = schema(&Log::default());
    let id = |ty: &str, key: &str| GlobalId::new(ty, key).to_string();
    let none = id("User", "x");
    let other = id("Other", "1");
    let user = id("User", "1");
    let found = json(
        &schema,
        &format!("{{ nodes(ids: [\"?\", \"{other}\", \"{user}\"]) {{ id }} node(id: \"{none}\") {{ id }} }}"),
    );
    assert_eq!(found["data"], value!({"nodes": [null, null, {"id": user}], "node": null}));
    let messages: Vec<&Json> = found["errors"].as_array().unwrap().iter().map(|it| &it["message"]).collect();
    assert_eq!(messages, ["`?` is no id", "`Other` is no type of nodes"]);
    assert_eq!(found["errors"][1]["path"], value!(["nodes", 1]));
    let found = run(&schema, "{ nodes(ids: [\"a\", \"b\", \"c\", \"d\"]) { id } }");
    assert!(found.contains("`ids` has at most 3 items"), "{found}");
    let short = id("Short", "1");
    let found = run(&schema, &format!("{{ node(id: \"{short}\") {{ id }} }}"));
    assert!(found.contains("Internal error."), "{found}");
}

#[test]
fn a_connection_is_described_as_relay_does() {
    let sdl = schema(&Log::default()).sdl();
    let fields = [
        "  posts(\n    \"\"\"\n    Size of the page, from the beginning.\n    \"\"\"\n    first: Int\n",
        "    before: String\n  ): PostConnection!\n",
        "  edges: [PostEdge!]!\n",
        "  pageInfo: PageInfo!\n",
        "  cursor: String!\n",
        "type User implements Node {\n  id: ID!\n",
        "    ids: [ID!]!\n  ): [Node]!\n",
    ];
    for field in fields {
        assert!(sdl.contains(field), "{field}\n{sdl}");
    }
}
