//! Accepted files, and refusals with their places.

mod callers;
mod released;
mod requests;
mod versions;

use super::{Connector, Mapping, Place, read};
use proptest::prelude::*;

const CRICKET: &str = include_str!("../../tests/schemas/cricket.graphql");

#[track_caller]
fn mapping(text: &str) -> Mapping {
    read(text, "services.graphql").unwrap_or_else(|mistakes| {
        let mistakes: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        panic!("{}", mistakes.join("\n"))
    })
}

fn connector<'m>(mapping: &'m Mapping, ty: &str, field: &str) -> &'m Connector {
    let ty = mapping.schema.type_by_name(ty).expect("the type");
    let id = match field {
        "" => mapping.of_type(ty),
        field => mapping.of_field(mapping.schema.field_by_name(ty, field).expect("the field")),
    };
    mapping.connector(id.expect("a connector"))
}

#[test]
fn the_match_centre_is_read_whole() {
    let mapping = mapping(CRICKET);
    let names: Vec<&str> = mapping.services.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["matches", "contests", "users"]);
    let matches = &mapping.services[0];
    assert_eq!(matches.base.origin(), "http://match-svc");
    assert_eq!(matches.policy.hedge_percentile, Some(95));
    let cache = matches.cache.as_ref().expect("a rule");
    assert_eq!((cache.default_s, cache.negative_s), (Some(2), 1));
    assert_eq!((cache.stale_s, cache.stale_if_error_s), (Some(10), Some(60)));
    let contests = mapping.services[1].cache.as_ref().expect("a rule");
    assert_eq!((contests.stale_s, contests.stale_if_error_s), (Some(5), None));
    assert_eq!(&*cache.cache_control[1], "cache-control");
    let team = connector(&mapping, "Team", "");
    assert_eq!(team.request.explain(), "GET /teams?{id: $batch.id}");
    assert_eq!((team.batch_max, &*team.keys[0].name), (Some(50), "id"));
    let my_teams = connector(&mapping, "Match", "myTeams");
    assert!(matches!(my_teams.place, Place::Field(_)));
    assert_eq!(my_teams.reads_headers, ["x-user-id", "authorization"].map(Box::from));
    let root = connector(&mapping, "Query", "match");
    let node = mapping.node(root.node.expect("an object"));
    let given: Vec<&str> = node.given.iter().map(|it| mapping.schema.field_name(it.field)).collect();
    assert_eq!(given, ["id", "name", "status", "teams", "squad"]);
    assert_eq!(mapping.hints.len(), 2);
    let order = weir_language::schema::print::Order::Defined;
    let shown = weir_language::schema::print::print(&mapping.schema, order);
    // The schema shows directives of queries for lifetimes, and no others.
    let at: Vec<&str> = shown.lines().filter(|it| it.contains('@')).collect();
    assert!(at.iter().all(|it| it.starts_with("directive @ca")), "{at:?}");
}

const HEAD: &str = "extend schema\n  @link(url: \"https://specs.apollo.dev/connect/v0.3\", import: [\"@source\", \"@connect\"])
  @link(url: \"https://weir.example/spec/v1\", import: [\"@cache\", \"@policy\", \"@cacheControl\", \"@cacheTag\", \"@join\", \"@graphql\", \"@grpc\", \"@allow\"])
  @source(name: \"s\", http: {baseURL: \"http://host\"})\n";

/// `text` behind the links is refused with these complaints: the text at the place, and the words.
#[track_caller]
fn check_refusal(text: &str, expected: &[(&str, &str)]) {
    let text = format!("{HEAD}{text}");
    let mistakes = read(&text, "s").err().unwrap_or_else(|| panic!("accepted: {text}"));
    for (mistake, (place, message)) in mistakes.iter().zip(expected) {
        let line = text.lines().nth(mistake.location.line as usize - 1).unwrap_or_default();
        let rest: String = line.chars().skip(mistake.location.column as usize - 1).collect();
        assert!(mistake.message == *message && rest.starts_with(place), "{text}\n{mistake}\nat {rest}");
    }
    assert_eq!(mistakes.len(), expected.len(), "{text}\n{}", mistakes.last().expect("one"));
}

/// `text` behind the links is accepted with these warnings: the text at the place, and the words.
#[track_caller]
fn check_warning(text: &str, expected: &[(&str, &str)]) {
    let text = format!("{HEAD}{text}");
    let notes = mapping(&text).notes;
    for (note, (place, message)) in notes.iter().zip(expected) {
        let line = text.lines().nth(note.location.line as usize - 1).unwrap_or_default();
        let rest: String = line.chars().skip(note.location.column as usize - 1).collect();
        assert!(note.message == *message && rest.starts_with(place), "{text}\n{note}\nat {rest}");
    }
    assert_eq!(notes.len(), expected.len(), "{text}\n{notes:?}");
}

/// The same for `Query.u(id: ID): U` with `tag` beside its call, and for `U` with `on`.
#[track_caller]
fn tag_refused(tag: &str, on: &str, place: &str, message: &str) {
    let text = format!(
        "type U {on} {{ id: ID name: String }} type W {{ u: U }}\ntype Query {{ w: W @connect(source: \"s\", http: {{GET: \"/w\"}}, selection: \"u {{ id name }}\")
        u(id: ID): W @connect(source: \"s\", http: {{GET: \"/u/{{$args.id}}\"}}, selection: \"u {{ id name }}\") {tag} }}"
    );
    check_refusal(&text, &[(place, message)]);
}

#[test]
fn tags_that_would_make_nothing_invalid_are_said_with_their_place() {
    tag_refused(
        "@cacheTag(format: \"u-{$args.idd}\")",
        "",
        "idd}",
        "`u` has no argument `idd`; did you mean `id`?",
    );
    tag_refused("@cacheTag(format: \"u-{$args.id\")", "", "{$args.id", "this brace has no partner");
    tag_refused("@cacheTag(format: \"\")", "", "@cacheTag", "a tag has a name");
    tag_refused(
        "@cacheTag(format: \"u-{$this.id}\")",
        "",
        "$this.id",
        "there is no parent here: `$this` and `$batch` stand below the root",
    );
    tag_refused(
        "",
        "@cacheTag(format: \"users\")",
        "@cacheTag",
        "no call answers with `U`: write the tag on a field that has one",
    );
    tag_refused(
        "",
        "@cacheTag(format: \"u-{$key.id}\")",
        "@cacheTag",
        "a tag with values stands on a type that is asked for by its keys, and `U` has no `@connect`: write it on the fields that give it",
    );
    check_refusal(
        "type U @cacheTag(format: \"u-{$key.name}\")
          @connect(source: \"s\", http: {GET: \"/u/{$this.id}\"}, selection: \"id name\") { id: ID name: String
          at: Int @cacheTag(format: \"at\") @join(field: \"x\", arguments: \"id: $this.id\") }
        type Query { u: U @connect(source: \"s\", http: {GET: \"/u\"}, selection: \"id\") }",
        &[
            ("@cacheTag", "the call is not made by `name`, so no tag can be made of it"),
            ("@cacheTag", "`@cacheTag` on a field stands beside its `@connect`"),
        ],
    );
}

/// The same for a `@connect` on `Query.u(id: ID, i: In): U`.
#[track_caller]
fn connect_refused(connect: &str, place: &str, message: &str) {
    let text = format!(
        "type U {{ id: ID name: String v: V }} type V {{ w: Int }} input In {{ a: Int }}\ntype Query {{ u(id: ID, i: In): U @connect({connect}) }}"
    );
    check_refusal(&text, &[(place, message)]);
}

#[test]
fn names_that_are_not_there_are_said_with_their_place() {
    let all = "selection: \"id name v { w }\"";
    connect_refused(
        &format!("source: \"t\", http: {{GET: \"/u\"}}, {all}"),
        "\"t\"",
        "there is no `@source` called `t`; did you mean `s`?",
    );
    connect_refused(
        &format!("source: \"s\", http: {{GET: \"/u/{{$args.idd}}\"}}, {all}"),
        "idd}",
        "`u` has no argument `idd`; did you mean `id`?",
    );
    connect_refused(
        &format!("source: \"s\", http: {{GET: \"/u/{{$args.i.b}}\"}}, {all}"),
        "b}",
        "`In` has no field `b`; did you mean `a`?",
    );
    connect_refused(
        &format!("source: \"s\", http: {{GET: \"/u/{{$this.id}}\"}}, {all}"),
        "$this.id",
        "there is no parent here: `$this` and `$batch` stand below the root",
    );
    connect_refused(
        &format!("source: \"s\", http: {{GET: \"/u/{{$request.path}}\"}}, {all}"),
        "$request.path",
        "only headers are known of it: write `$request.headers.'name'`",
    );
}

#[test]
fn a_source_without_a_sound_address_is_one_mistake_however_many_name_it() {
    check_refusal(
        "extend schema @source(name: \"t\", http: {baseURL: \"host\"})
@cache(source: \"t\", default: 1)
type U { id: ID }
type Query { u: U @connect(source: \"t\", http: {GET: \"/u\"}, selection: \"id\") }",
        &[("\"host\"", "`host` is no base URL: write it as `https://host/path`")],
    );
}

#[test]
fn calls_that_cannot_be_made_are_said_with_their_place() {
    let all = "selection: \"id name v { w }\"";
    connect_refused(
        &format!("source: \"s\", http: {{GET: \"/u/{{id}}\"}}, {all}"),
        "id}",
        "there is no answer yet: write `$args.name`, `$this.name` for a field of the parent, or `@.name` in an argument of a method",
    );
    connect_refused(
        &format!("source: \"s\", http: {{GET: \"/u\", boddy: \"$\"}}, {all}"),
        "boddy",
        "`http` has no `boddy`; did you mean `body`?",
    );
    connect_refused(
        &format!("source: \"s\", http: {{GET: \"/u\", POST: \"/u\"}}, {all}"),
        "{GET",
        "`http` needs one of GET, POST, PUT, PATCH, DELETE and QUERY, and no more",
    );
    connect_refused(
        &format!("http: {{GET: \"/u\"}}, {all}"),
        "@connect",
        "`@connect` needs `source`, or a whole URL",
    );
    connect_refused(
        &format!("source: \"s\", http: {{GET: \"http://x/u\"}}, {all}"),
        "\"http:",
        "the source says the host: write the path only, as in `/users/{$args.id}`",
    );
    connect_refused(
        &format!("source: \"s\", http: {{GET: \"/u\"}}, {all}, idd: \"x\""),
        "idd: \"x",
        "`@connect` has no `idd`; did you mean `id`?",
    );
    connect_refused(
        &format!("source: \"s\", http: {{GET: \"/u\", headers: [{{name: \"Host\", value: \"x\"}}]}}, {all}"),
        "{name: \"Host",
        "header `Host` belongs to the connection and cannot be sent on or set",
    );
    connect_refused(
        &format!("source: \"s\", http: {{GET: \"/u/../x\"}}, {all}"),
        "..",
        "`.` and `..` cannot stand in a path",
    );
    connect_refused("source: \"s\", http: {GET: \"/u\"}", "@connect", "`@connect` needs `selection`");
}

#[test]
fn braces_without_a_partner_are_said_with_their_place() {
    let all = "selection: \"id name v { w }\"";
    for (url, place) in
        [("/u/}", "}"), ("/u/{", "{"), ("/u/{$args.id}}", "}\""), ("/u?a={$args.id", "{$args.id")]
    {
        connect_refused(
            &format!("source: \"s\", http: {{GET: \"{url}\"}}, {all}"),
            place,
            "this brace has no partner",
        );
    }
}

#[test]
fn complaints_about_selections_point_into_the_string() {
    let get = "source: \"s\", http: {GET: \"/u\"}";
    connect_refused(
        &format!("{get}, selection: \"id nme v {{ w }}\""),
        "nme",
        "`U` has no field `nme`; did you mean `name`?",
    );
    connect_refused(
        &format!("{get}, selection: \"id name: \\\"é\\\"->get v {{ w }}\""),
        "get v",
        "`->get` takes one argument, not 0",
    );
    connect_refused(
        &format!("{get}, selection: \"\"\"\n      id\n    name v {{\n      x }}\"\"\""),
        "x }",
        "`V` has no field `x`; did you mean `w`?",
    );
    connect_refused(
        &format!("{get}, selection: \"id name v\""),
        "v\"",
        "`v` is an object: say what of it is a field of `V`, as in `$.item { id }`",
    );
    connect_refused(
        &format!("{get}, selection: \"id name {{ x }} v {{ w }}\""),
        "name {",
        "`name` is a `String`, which has no members: write the path alone, as in `$.name`",
    );
    connect_refused(
        &format!("{get}, selection: \"id name: $env.X v {{ w }}\""),
        "$env",
        "`$env` is not known here, as clients would see it: name the variable in `env` beside `file` in weir.yaml",
    );
    connect_refused(
        &format!("{get}, selection: \"id v {{ w }}\""),
        "\"id v",
        "nothing gives `U.name` here: select it, or give it or `U` a `@connect` of its own",
    );
    connect_refused(
        &format!("{get}, selection: \"id name v: $(x->first)\""),
        "x->first",
        "`v` is an object: say what of it is a field of `V`, as in `$.item { id }`",
    );
    connect_refused(
        &format!("{get}, selection: \"id name v: $({{w: 1, x: 2}})\""),
        "2}",
        "`V` has no field `x`; did you mean `w`?",
    );
}

#[test]
fn what_a_type_lacks_has_to_be_brought_by_its_keys() {
    let query = "type Query { a: A @connect(source: \"s\", http: {GET: \"/a\"}, selection: \"b { x }\") } type A { b: B }";
    let b = "type B @connect(source: \"s\", http: {GET: \"/b\", queryParams: \"id: $batch.id\"}, selection: \"SELECTION\") { id: ID x: Int y: Int }";
    check_warning(
        &format!("{query}\n{}", b.replace("SELECTION", "id y")),
        &[(
            "\"b { x",
            "nothing gives `B.id` here: select `id`, by which the type's own `@connect` finds it; it is null here",
        )],
    );
    let keyed = query.replace("b { x }", "b { id x }");
    check_refusal(
        &format!("{keyed}\n{}", b.replace("SELECTION", "y")),
        &[("y", "a batch is matched by its keys: select `id` of each item")],
    );
    check_refusal(
        &format!("{keyed}\n{}", b.replace("SELECTION", "id: $('x') y")),
        &[("id: $", "a batch is matched by its keys: select `id` of each item")],
    );
    let read = mapping(&format!("{HEAD}{keyed}\n{}", b.replace("SELECTION", "$.list { id: ref.id y }")));
    let items = connector(&read, "B", "").items.clone().expect("items");
    let matching = crate::sdl::Matching::Keys(vec![crate::sdl::ItemKey::At(vec!["ref".into(), "id".into()])]);
    assert_eq!((items.path, items.matching), (vec!["list".into()], matching));
    check_refusal(
        &format!("{keyed}\n{}", b.replace("SELECTION", "id y").replace("$batch.id", "$batch.z")),
        &[("z\"", "`B` has no field `z`; did you mean `x`?")],
    );
    check_refusal(
        &format!("{keyed}\n{}", b.replace("SELECTION", "id y").replace("queryParams: \"id: $batch.id\"", "")),
        &[("@connect", "nothing of the parent is in this call: name a field of it, as in `{$this.id}`")],
    );
}

#[test]
fn policies_name_services_and_servers() {
    let servers = "extend schema @graphql(url: \"http://g/\", prefix: \"shop_\") @grpc(url: \"http://h/\", proto: \"a.proto\")
        @policy(source: \"shop_\", timeout: 5, deadlineHeader: \"X-Left\") @policy(source: \"grpc\", concurrency: 2) @policy(source: \"s\", retries: 3)";
    let mapping = mapping(&format!("{HEAD}{servers}"));
    let graphql = &mapping.graphql[0].policy;
    let grpc = &mapping.grpc[0].policy;
    assert_eq!((graphql.timeout_ms, graphql.deadline_header.as_ref().unwrap().as_str()), (Some(5), "x-left"));
    assert_eq!((grpc.concurrency_max, mapping.services[0].policy.retries), (Some(2), Some(3)));
    check_refusal(
        "extend schema @policy(source: \"graphql\", timeout: 5)",
        &[(
            "\"graphql\"",
            "there is no `@source` called `graphql`, and no `@graphql` or `@grpc` with that prefix",
        )],
    );
    check_refusal(
        "extend schema @policy(source: \"s\", deadlineHeader: \"Host\")",
        &[("\"Host\"", "`Host` is no name of a header that may be sent")],
    );
    check_refusal(
        "extend schema @grpc(url: \"http://h/\", proto: \"a.proto\") @policy(source: \"grpc\", h2c: true)",
        &[("h2c", "`@policy` has no `h2c`")],
    );
}

#[test]
fn keys_of_one_call_have_to_come_together() {
    let text = |root: &str, entity: &str, c: &str| {
        format!(
            "type Query {{ b: B @connect(source: \"s\", http: {{GET: \"/b\"}}, selection: \"{root}\") }}
             type B @connect(source: \"s\", http: {{GET: \"/b\", queryParams: \"id: $batch.id\"}}, selection: \"{entity}\") {{ id: ID x: Int y: Int c: Int {c} }}"
        )
    };
    let both = "@connect(source: \"s\", http: {GET: \"/c/{$this.x}/{$this.y}\"}, selection: \"$\")";
    let parted =
        "`B.c` needs `B.x` and `B.y` of one call: select `y` here, or `x` in the `@connect` of `B` too";
    check_warning(&text("id x", "id y", both), &[("\"id x\"", &format!("{parted}; it is null here"))]);
    mapping(&format!("{HEAD}{}", text("id x", "id x y", both)));
    mapping(&format!("{HEAD}{}", text("id x y", "id", both)));
    let with_id = both.replace("$this.x", "$this.id");
    mapping(&format!("{HEAD}{}", text("id x", "id y", &with_id)));
    let join = "@join(field: \"b\", arguments: \"(x: $this.x, y: $this.y)\")";
    check_refusal(&text("id x", "id y", join), &[("\"id x\"", parted)]);
}

#[test]
fn what_is_asked_apart_is_no_key() {
    let query = "type Query { a: A @connect(source: \"s\", http: {GET: \"/a\"}, selection: \"id\") }";
    let x = "x: Int @connect(source: \"s\", http: {GET: \"/x/{$this.id}\"}, selection: \"$\")";
    let y = "y: Int @connect(source: \"s\", http: {GET: \"/y/{$this.x}\"}, selection: \"$\")";
    check_refusal(
        &format!("{query} type A {{ id: ID {x} {y} }}"),
        &[(
            "\"id\"",
            "`A.y` needs `A.x`, which has a `@connect` of its own and cannot be a key: have a selection give it",
        )],
    );
    let added = "`Album.x` is added here and asked of a service itself, so it cannot be a key: name a field that `Album` has of its own source";
    check_refusal(&format!("extend type Album {{ {x} {y} }}"), &[("x}", added)]);
    let quoted = "(text: \\\"of $this.none\\\", id: $this.AlbumId)";
    let text = format!("{HEAD}extend type Album {{ z: Int @join(field: \"z\", arguments: \"{quoted}\") }}");
    assert_eq!(mapping(&text).joins[0].keys().collect::<Vec<_>>(), ["AlbumId"]);
    check_refusal(
        &format!("extend type Album {{ {x} z: Int @join(field: \"z\", arguments: \"(x: $this.x)\") }}"),
        &[("\"(x:", added)],
    );
}

#[test]
fn what_a_selection_gives_takes_no_arguments_and_is_not_asked_for() {
    let query = "type Query { a: A @connect(source: \"s\", http: {GET: \"/a\"}, selection: \"id x\") }";
    check_refusal(
        &format!("{query} type A {{ id: ID x(n: Int): Int }}"),
        &[("x\"", "`A.x` has arguments, which only a `@connect` of its own can read")],
    );
    check_warning(
        &format!(
            "{query} type A {{ id: ID x: Int @connect(source: \"s\", http: {{GET: \"/x/{{$this.id}}\"}}, selection: \"$\") }}"
        ),
        &[("x\"", "`A.x` has a `@connect` of its own, which is not asked where a selection gives the field")],
    );
    check_refusal(
        &format!("{query} interface A {{ id: ID x: Int }}"),
        &[(
            "id x",
            "this field is a `A`: interfaces and unions are mapped by connect v0.4, and this text links v0.3",
        )],
    );
}

#[test]
fn links_say_version_and_names() {
    let link = |link: &str| match read(&format!("extend schema {link}\ntype Query {{ a: Int }}"), "s") {
        Ok(_) => "accepted".to_owned(),
        Err(mistakes) => mistakes[0].to_string(),
    };
    let connect = "https://specs.apollo.dev/connect";
    assert_eq!(
        link(&format!("@link(url: \"{connect}/v0.9\")")),
        "s:1:26: version `v0.9` is not read: there are v0.1 v0.2 v0.3 v0.4 v0.5"
    );
    assert_eq!(
        link(&format!("@link(url: \"{connect}/v0.3\", import: [\"@conect\"])")),
        "s:1:76: `@conect` cannot be imported: there are @source @connect; did you mean `@connect`?"
    );
    assert!(
        link("@link(url: \"https://specs.apollo.dev/x\")")
            .starts_with("s:1:26: `https://specs.apollo.dev/x` is not known")
    );
    assert_eq!(
        link("@source(name: \"s\", http: {baseURL: \"http://h\"})"),
        format!(
            "s:1:15: `@source` is not imported: add `@link(url: \"{connect}/v0.3\", import: [\"@source\"])` to `extend schema`"
        )
    );
    let renamed = "extend schema @link(url: \"https://specs.apollo.dev/connect/v0.3\", import: [{name: \"@connect\", as: \"@rest\"}])
        type Query { a: Int @rest(http: {GET: \"http://h/a\"}, selection: \"$\") }";
    assert_eq!(&*mapping(renamed).services[0].name, "http://h");
}

#[test]
fn types_of_other_sources_are_extended_by_their_names_alone() {
    let text = format!(
        "{HEAD}extend type Album {{ reviews(first: Int): [Review] @connect(source: \"s\", http: {{GET: \"/r/{{$this.AlbumId}}?n={{$args.first}}\"}}, selection: \"id stars albumId\") }}
         \"One.\" type Review @key(fields: \"id\") {{ id: ID! stars: Int albumId: Int
           \"Its album.\" album: Album @join(field: \"Album_by_pk\", arguments: \"AlbumId: $this.albumId\") @cacheControl(maxAge: 5) }}
         extend type Artist {{ x: Int @join(field: \"y\", arguments: \"(a: $this.ArtistId)\") }}"
    );
    let text = text.replace("@link(url: \"https://weir", "@link(url: \"https://specs.apollo.dev/federation/v2.11\", import: [\"@key\"]) @link(url: \"https://weir");
    let mapping = mapping(&text);
    let album = mapping.schema.type_by_name("Album").expect("the stub");
    assert_eq!(mapping.foreign, [album]);
    assert!(mapping.stub.is_some() && mapping.schema.type_by_name("Artist").is_none());
    let reviews = connector(&mapping, "Album", "reviews");
    assert!(matches!(reviews.place, Place::Extension(_)));
    assert_eq!((&*reviews.keys[0].name, reviews.keys[0].field), ("AlbumId", None));
    let join = &mapping.joins[0];
    assert_eq!(
        (&*join.on, &*join.name, &*join.ty, &*join.target),
        ("Review", "album", "Album", "Album_by_pk")
    );
    assert_eq!((&*join.arguments, &*join.description), ("(AlbumId: $this.albumId)", "Its album."));
    let review = mapping.schema.type_by_name("Review").expect("the type");
    assert!(mapping.schema.field_by_name(review, "album").is_none());
}

#[test]
fn a_query_field_may_find_its_type_anywhere() {
    let mapping = mapping(&format!(
        "{HEAD}type Query {{ user(id: ID!): User @connect(source: \"s\", http: {{GET: \"/users/{{$args.id}}\"}}, entity: true, selection: \"id name\")
         post: Post @connect(source: \"s\", http: {{GET: \"/p\"}}, selection: \"by: {{ id: userId }}\") }}
         type User {{ id: ID! name: String }} type Post {{ by: User }}"
    ));
    let user = connector(&mapping, "User", "");
    assert_eq!(user.request.explain(), "GET /users/{$this.id}");
    assert_eq!(&*user.keys[0].name, "id");
}

#[test]
fn servers_of_other_kinds_are_facts() {
    let text = HEAD.replace(
        "@source(name: \"s\"",
        "@graphql(url: \"https://g/graphql\", prefix: \"g_\", headers: [{name: \"a\", from: \"A\"}]) @grpc(url: \"http://r:50051\", proto: \"users.proto\")
         @cache(source: \"s\", freshness: [\"X-TTL\"], scope: PRIVATE, key: [\"X-User\"]) @source(name: \"s\"",
    );
    let mapping = mapping(&format!(
        "{text}type Query {{ a: Int @connect(source: \"s\", http: {{GET: \"/a/{{$config.region}}\", headers: [{{name: \"k\", value: \"{{$env.KEY}}\"}}]}}, selection: \"$\") @policy(timeout: 70) }}"
    ));
    assert_eq!((&*mapping.graphql[0].base.path, &*mapping.graphql[0].prefix), ("/graphql", "g_"));
    assert_eq!(&*mapping.grpc[0].proto, "users.proto");
    assert_eq!(
        mapping.services[0].cache.as_ref().map(|it| (it.private, it.key.clone())),
        Some((true, vec!["x-user".into()]))
    );
    let [region] = &mapping.config[..] else { panic!("{:?}", mapping.config) };
    let [key] = &mapping.env[..] else { panic!("{:?}", mapping.env) };
    assert_eq!((&*region.name, &*key.name), ("region", "KEY"));
    assert_eq!(connector(&mapping, "Query", "a").timeout_ms, Some(70));
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(at in 0.0..1.0_f64, cut in 0..40_usize, put in "[@${}()\\[\\]\":a-c \n\\\\é>?-]{0,12}") {
        let text: Vec<char> = CRICKET.chars().collect();
        let at = (at * text.len() as f64) as usize;
        let rest = text.iter().skip(at + cut);
        let text: String = text[..at].iter().chain(put.chars().collect::<Vec<_>>().iter()).chain(rest).collect();
        if let Err(mistakes) = read(&text, "s") {
            let lines = text.lines().count() as u32 + 1;
            prop_assert!(!mistakes.is_empty() && mistakes.iter().all(|it| it.location.line <= lines + 3));
        }
    }
}

#[test]
fn schemas_as_the_public_documentation_shows_them_are_read() {
    let mapping = mapping(
        r#"extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.12", import: ["@key"])
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(
    name: "ecomm"
    http: { baseURL: "https://ecommerce.example/", headers: [{ name: "x-key", value: "{$config.key}" }] }
    errors: { message: "error.message", extensions: "code: error.code status: $status" }
  )

type Product @key(fields: "id") {
  id: ID!
  name: String
  price: Price
  variants: [Variant]
    @connect(source: "ecomm", http: { GET: "/products/{$this.id}/variants" }
      selection: """
      $.variants { id label: name->match(["s", "small"], [@, @]) }
      """)
}
type Price { amount: Float  currency: String }
type Variant { id: ID!  label: String }
input NewProduct { name: String!  tags: [String!] }

type Query {
  products: [Product]
    @connect(source: "ecomm", http: { GET: "/products" }, selection: """
    $.products {
      id
      name
      price { amount: original currency: $("EUR") }
    }
    """)
  product(id: ID!): Product
    @connect(source: "ecomm", http: { GET: "/products/{$args.id}" }, entity: true
      selection: "id name price: { amount: price.original currency: price.unit }"
      isSuccess: "$status->in([200, 203])")
}
type Mutation {
  createProduct(input: NewProduct!): Product
    @connect(source: "ecomm", http: { POST: "/products", body: "$args.input { name tags: tags->joinNotNull(',') }" }
      selection: "id")
}
"#,
    );
    let create = connector(&mapping, "Mutation", "createProduct");
    assert_eq!(
        create.request.explain(),
        "POST /products body $args.input { name tags: tags->joinNotNull(\",\") }"
    );
    assert!(
        create.error_message.is_some()
            && mapping.of_type(mapping.schema.type_by_name("Product").expect("Product")).is_some()
    );
}
