//! Accepted texts, and refusals with their places.

use super::read;
use crate::model::{DefaultValue, FieldKind, Key, Model, Scalar, Search, TypeKind};
use weir_language::error::Error;
use weir_language::span::Location;

const RESTAURANTS: &str = include_str!("../../tests/schemas/restaurants.graphql");

#[track_caller]
fn model(text: &str) -> Model {
    read(text).unwrap_or_else(|errors| panic!("{}", shown(text, &errors).join("\n"))).model
}

fn shown(text: &str, errors: &[Error]) -> Vec<String> {
    let place = |at: &Location| format!("{}:{}", at.line, at.column);
    let line = |error: &Error| {
        let places: Vec<String> = error.locations(text).iter().map(place).collect();
        format!("{} {}", places.join(", "), error.message)
    };
    errors.iter().map(line).collect()
}

/// `text` is refused with exactly these complaints, each after its places.
#[track_caller]
fn refused(text: &str, expected: &[&str]) {
    match read(text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(errors) => assert_eq!(shown(text, &errors), expected, "{text}"),
    }
}

/// As [`refused`], for many texts and the first complaint about each.
#[track_caller]
fn all_refused<const N: usize>(cases: [(String, &str); N]) {
    let first = |text: &String| match read(text) {
        Ok(_) => "accepted".to_owned(),
        Err(errors) => shown(text, &errors).swap_remove(0),
    };
    let told = cases.iter().map(|(text, expected)| (text, first(text), expected));
    let wrong = told.filter(|(_, told, expected)| told != *expected);
    let wrong: Vec<String> = wrong.map(|(text, a, b)| format!("{text}\n  told {a}\n  not  {b}")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// As [`refused`], for fields of a type that is sound but for them.
#[track_caller]
fn field_refused(field: &str, expected: &str) {
    let text = format!("enum E {{ A B }}\ntype U {{ t: [T] n: Int }}\ntype T {{ name: String\n{field}\n}}");
    refused(&text, &[expected]);
}

fn field<'m>(model: &'m Model, ty: &str, name: &str) -> &'m crate::model::Field {
    let ty = model.type_by_name(ty).expect("the type");
    model.field(model.field_by_name(ty, name).expect("the field"))
}

/// The other side of an edge, as `Type.field`.
fn inverse(model: &Model, ty: &str, name: &str) -> Option<String> {
    let FieldKind::Edge { inverse, .. } = field(model, ty, name).kind else { panic!("no edge") };
    inverse.map(|id| format!("{}.{}", model.ty(model.field(id).owner).name, model.field(id).name))
}

#[test]
fn the_restaurants_are_read_whole() {
    let model = model(RESTAURANTS);
    let names: Vec<&str> = model.types.iter().map(|ty| ty.name.as_str()).collect();
    assert_eq!(names, ["Country", "City", "Location", "RestaurantAddress", "Restaurant", "Cuisine", "Dish"]);
    let address = model.type_by_name("RestaurantAddress").expect("the type");
    let fields: Vec<&str> = model.fields_of(address).map(|(_, field)| field.name.as_str()).collect();
    assert_eq!(fields, ["id", "lat", "long", "address", "locality", "city", "zipcode", "restaurant"]);
    let location = model.type_by_name("Location").expect("the type");
    assert_eq!((model.ty(location).kind, &model.ty(location).members), (TypeKind::Interface, &vec![address]));
    assert_eq!(model.ty(address).interfaces, [location]);
    let zipcode = field(&model, "RestaurantAddress", "zipcode");
    assert_eq!(zipcode.inherited_from, model.field_by_name(location, "zipcode"));
    assert_eq!(zipcode.place, Location { line: 24, column: 3 });
    assert_eq!(field(&model, "Dish", "name").search, [Search::Hash, Search::Term]);
    assert_eq!(field(&model, "Restaurant", "xid").search, [Search::Hash]);
    assert_eq!(field(&model, "Restaurant", "createdAt").search, [Search::Month]);
    assert_eq!(field(&model, "Restaurant", "rating").search, [Search::Number]);
}

#[test]
fn an_inverse_is_declared_on_one_side_and_known_on_both() {
    let model = model(RESTAURANTS);
    let pairs = [
        ("City", "country", "Country", "cities"),
        ("City", "restaurants", "RestaurantAddress", "city"),
        ("RestaurantAddress", "restaurant", "Restaurant", "addr"),
        ("Cuisine", "restaurants", "Restaurant", "cuisines"),
    ];
    for (ty, name, other, back) in pairs {
        assert_eq!(inverse(&model, ty, name), Some(format!("{other}.{back}")));
        assert_eq!(inverse(&model, other, back), Some(format!("{ty}.{name}")));
    }
    assert_eq!(inverse(&model, "Location", "city"), None);
}

#[test]
fn the_inverse_of_an_interfaces_edge_is_that_of_its_implementers() {
    let text = "type Author { name: String posts: [Post] } interface Post { author: Author @hasInverse(field: \"posts\") }
        type Question implements Post { solved: Boolean } type Answer implements Post { author: Author }";
    let model = model(text);
    assert_eq!(inverse(&model, "Author", "posts").as_deref(), Some("Post.author"));
    for ty in ["Post", "Question", "Answer"] {
        assert_eq!(inverse(&model, ty, "author").as_deref(), Some("Author.posts"));
    }
}

#[test]
fn an_edge_may_be_its_own_inverse() {
    let model = model("type Person { name: String friends: [Person] @hasInverse(field: friends) }");
    assert_eq!(inverse(&model, "Person", "friends").as_deref(), Some("Person.friends"));
}

#[test]
fn what_an_interface_says_of_a_field_counts_where_it_is_repeated() {
    let model = model(
        "interface Item { \"Unique everywhere.\" code: String! @id(interface: true) @search(by: [regexp, fulltext]) }
         type Book implements Item { code: String! pages: Int } type Film implements Item { code: String! @deprecated }",
    );
    let code = field(&model, "Book", "code");
    assert_eq!(code.key, Some(Key::Interface));
    assert_eq!(code.search, [Search::Fulltext, Search::Hash, Search::Trigram]);
    assert_eq!(code.description, "Unique everywhere.");
    assert_eq!(field(&model, "Film", "code").deprecated.as_deref(), Some("No longer supported"));
}

#[test]
fn a_field_may_come_over_two_ways() {
    let model = model(
        "interface Node { id: ID! name: String } interface A implements Node { a: Int } interface B implements Node { b: Int }
         type T implements A & B { t: Int }",
    );
    let ty = model.type_by_name("T").expect("the type");
    let fields: Vec<&str> = model.fields_of(ty).map(|(_, field)| field.name.as_str()).collect();
    assert_eq!(fields, ["id", "name", "a", "b", "t"]);
    assert_eq!(model.ty(ty).interfaces.len(), 3);
}

#[test]
fn defaults_are_values_of_the_fields_type() {
    let model = model(
        "enum Mood { GOOD BAD } type T { at: DateTime! @default(add: {value: \"$now\"}, update: {value: \"$now\"})
         n: Int @default(add: {value: \"-3\"}) big: Int64 @default(update: {value: \"9007199254740993\"})
         x: Float @default(add: {value: \"0.5\"}) ok: Boolean @default(add: {value: \"true\"})
         s: String @default(add: {value: \"\"}) mood: Mood @default(add: {value: \"BAD\"}) }",
    );
    let add = |name| field(&model, "T", name).default_add.clone();
    assert_eq!(add("at"), Some(DefaultValue::Now));
    assert_eq!(field(&model, "T", "at").default_update, Some(DefaultValue::Now));
    assert_eq!(add("n"), Some(DefaultValue::Int(-3)));
    assert_eq!(field(&model, "T", "big").default_update, Some(DefaultValue::Int(9_007_199_254_740_993)));
    assert_eq!(add("x"), Some(DefaultValue::Float(0.5)));
    assert_eq!(add("ok"), Some(DefaultValue::Boolean(true)));
    assert_eq!(add("s"), Some(DefaultValue::Text(String::new())));
    assert_eq!(add("mood"), Some(DefaultValue::Enum(1)));
}

#[test]
fn types_say_what_they_generate_and_keep() {
    let read = read(
        "interface Login @secret(field: \"pwd\") { name: String! @id }
         type User implements Login @withSubscription @renamedFrom(name: \"Person\") @unique(fields: [\"first\", last])
           @generate(query: {get: false, aggregate: false}, mutation: {delete: false}, subscription: false) {
           first: String last: String @renamedFrom(name: \"surname\") }",
    )
    .expect("sound types");
    let user = &read.model.types[1];
    assert_eq!(user.secret.as_ref().map(|it| it.name.as_str()), Some("pwd"));
    assert_eq!(user.renamed_from.as_deref(), Some("Person"));
    assert_eq!(user.unique.len(), 1);
    let generate = user.generate;
    assert!(!generate.get && !generate.aggregate && !generate.delete && generate.query && generate.add);
    assert_eq!(field(&read.model, "User", "last").renamed_from.as_deref(), Some("surname"));
    assert!(generate.subscription, "either of the two directives suffices");
    assert!(read.warnings.is_empty());
}

#[test]
fn all_that_is_wrong_is_said_at_once_in_the_order_of_the_text() {
    refused(
        "type A { id: ID! b: Bee }\n\ntype B { id: ID! name: String! @serch }\ntype B { x: Int }",
        &[
            "1:21 there is no type `Bee`; did you mean `B`?",
            "3:32 there is no directive `@serch`; did you mean `@search`?",
            "4:6, 3:6 `B` is defined twice",
        ],
    );
    let many = format!("type T {{ {} }}", (0..80).map(|n| format!("f{n}: Nope ")).collect::<String>());
    assert_eq!(read(&many).expect_err("wrong").len(), 50);
    refused("type A {", &["1:9 Syntax Error: Expected Name, found <EOF>."]);
}

#[test]
fn what_is_not_served_is_refused_with_what_to_do() {
    let cases = [
        (
            "type T { a: Int v: [Float!] @embedding }",
            "1:29 `@embedding` is not served: vectors are not served: remove the field",
        ),
        (
            "type T @dgraph(type: \"t\") { a: Int }",
            "1:8 `@dgraph` is not served: it names Dgraph's storage: remove it, the name of the field is enough",
        ),
        (
            "type T { a: Int }\ntype Query { b: Int @lambda }",
            "2:21 `@lambda` is not served: there is no JavaScript server: let a service answer the field, by `@custom(http: …)`",
        ),
        (
            "type T { a: Int }\nextend type T { b: Int }",
            "2:13 `extend` is not served: write all of `T` where it is defined",
        ),
    ];
    for (text, expected) in cases {
        refused(text, &[expected]);
    }
    model("\"\"\"\n# Dgraph.Authorization is a comment of Dgraph.\n\"\"\"\ntype T { a: Int }");
}

/// Reads `text`, which is accepted with these warnings, each after its place.
#[track_caller]
fn warned(text: &str, expected: &[&str]) -> Model {
    let read = read(text).unwrap_or_else(|errors| panic!("{}", shown(text, &errors).join("\n")));
    let told = read.warnings.iter().map(|it| format!("{}:{} {}", it.place.line, it.place.column, it.message));
    assert_eq!(told.collect::<Vec<_>>(), expected, "{text}");
    read.model
}

#[test]
fn what_nothing_needs_is_ignored_with_a_warning() {
    let text = "directive @tag(of: String) repeatable on OBJECT | FIELD_DEFINITION
directive @search(by: [String]) on FIELD_DEFINITION
scalar DateTime
scalar Upload
input IntFilter { eq: Int }
type T @tag(of: \"a\") @tag { a(format: String, first: Int): Int @tag @search }
type U @generate(query: {get: false, query: false, aggregate: false}) @withSubscription { a: Int @withSubscription }
";
    let expected = [
        "1:12 this definition of `@tag` is ignored: directives that have a meaning are known already",
        "2:12 this definition of `@search` is ignored: directives that have a meaning are known already",
        "3:8 this definition of `DateTime` is ignored: scalars are known already",
        "4:8 this definition of `Upload` is ignored: scalars are known already",
        "5:7 the input `IntFilter` is ignored: Weir makes those that its mutations take",
        "6:31 the arguments of `a` are ignored: Weir makes those of fields (`filter`, `order`, `first`, `offset`)",
        "7:6 `U` has nothing to subscribe to: let `@generate` leave `get`, `query` or `aggregate`",
        "7:98 `@withSubscription` has no effect on a field of a type: write it on the type",
    ];
    let model = warned(text, &expected);
    assert_eq!(field(&model, "T", "a").search, [Search::Number]);
    refused(
        "scalar Upload\ntype T { a: Upload }",
        &["2:13 there is no type `Upload`; did you mean `Float`?"],
    );
    refused(
        "input I { a: Int }\ntype T { a: I }",
        &["2:13 `I` is an input, which no field can hold: use a type"],
    );
    refused("input T { a: Int }\ntype T { a: Int }", &["2:6, 1:7 `T` is defined twice"]);
}

#[test]
fn an_interface_may_have_nothing_but_an_id() {
    let model = model(
        "interface Node { id: ID! }\ntype T implements Node { a: Int }\ntype S implements Node { b: [Node] }",
    );
    let node = model.type_by_name("Node").expect("the type");
    assert_eq!((model.fields_of(node).len(), model.ty(node).members.len()), (1, 2));
    refused(
        "interface Node { id: ID! }\ntype T implements Node { id: ID! }",
        &["2:6 `T` has nothing to store: give it a field that is no `ID`"],
    );
}

#[test]
fn words_of_filters_and_orders_may_be_names_of_fields() {
    let text = "interface I { id: ID! has: String @search }
type T implements I { desc: String @search asc: Int then: [T] and: Float or: Boolean @search not: T has_: Int }
type S { then: T asc: [T] not: ID! n: Int }";
    let expected = [
        "1:23 in filters the field `has` is `has_`: `has` is a word of theirs",
        "2:74 in filters the field `or` is `or_`: `or` is a word of theirs",
        "2:94 in filters the field `not` is `not_`: `not` is a word of theirs",
        "3:10 in orders the field `then` is `then_`: `then` is a word of theirs",
        "3:27 in filters the field `not` is `not_`: `not` is a word of theirs",
    ];
    warned(text, &expected);
}

/// A type with `field` in line 4.
fn with_field(field: &str) -> String {
    format!("enum E {{ A B }}\ntype U {{ n: Int }}\ntype T {{ name: String\n{field}\n}}")
}

#[test]
fn fields_that_cannot_be_are_refused() {
    let cases = [
        ("a: [[Int]]", "4:4 a list of lists cannot be stored: use a list, or a type of its own"),
        ("a: [ID]", "4:4 an `ID` names the object itself: it cannot be a list"),
        (
            "a: [Point]",
            "4:4 a list of shapes cannot be stored: use a type with one shape, and a list of that type",
        ),
        ("a: Strin", "4:4 there is no type `Strin`; did you mean `String`?"),
        ("name: Int", "4:1, 3:10 the field `name` is there already"),
        ("null: Int", "4:1 `has` and orders could not name a field `null`: choose another name"),
        ("a: ID\nb: ID", "4:1, 5:1 `T` has more than one `ID`: keep one"),
        (
            "a: Float @id",
            "4:10 `@id` stands on a String, Int or Int64, not on this: use another field as the key",
        ),
        (
            "a: [String] @id",
            "4:13 `@id` stands on a String, Int or Int64, not on this: use another field as the key",
        ),
        ("a: ID! @id", "4:8 an `ID` is unique by itself: remove `@id`"),
        (
            "a: String @id(interface: true)",
            "4:26 `interface: true` stands on a field of an interface: move the field there",
        ),
        ("a: Int @unique", "4:8 `@unique` stands on a type, not on a field: move it"),
        ("a: String @id @id", "4:15, 4:11 `@id` stands twice"),
    ];
    all_refused(cases.map(|(field, expected)| (with_field(field), expected)));
}

#[test]
fn searches_and_defaults_that_do_not_fit_are_refused() {
    let cases = [
        ("a: String @search(on: [hash])", "4:19 `@search` takes no `on`"),
        ("a: Int @search(by: [hash])", "4:21 `hash` is no way to search this field; there is `int`"),
        (
            "a: DateTime @search(by: [\"dai\"])",
            "4:26 `dai` is no way to search this field; there is `year`, `month`, `day`, `hour`; did you mean `day`?",
        ),
        ("a: String @search(by: [hash, exact])", "4:30 `exact` and `hash` exclude each other: keep one"),
        ("a: E @search(by: [regexp, trigram])", "4:27 `trigram` and `regexp` exclude each other: keep one"),
        ("a: U @search", "4:6 an edge can be filtered through by itself: remove `@search`"),
        ("a: ID @search", "4:7 an `ID` can be searched by itself: remove `@search`"),
        ("a: Int @default(add: {value: \"x\"})", "4:30 `x` is not an integer of 32 bits"),
        ("a: E @default(add: {value: \"C\"})", "4:28 `C` is no value of `E`; did you mean `A`?"),
        (
            "a: String @default(add: {value: \"$now\"})",
            "4:33 `$now` is not for a String, only for a DateTime",
        ),
        (
            "a: DateTime @default(add: {value: \"today\"})",
            "4:35 `today` is not a point in time such as `2024-01-31T12:00:00Z`, nor `$now`",
        ),
        (
            "a: [Int] @default(add: {value: \"1\"})",
            "4:10 a list has no default, it begins empty: remove `@default`",
        ),
        ("a: Int @default", "4:8 `@default` needs `add: {value: \"…\"}` or `update: {value: \"…\"}`"),
        ("a: Int @default(add: {val: \"1\"})", "4:22 a default needs a `value`"),
        (
            "a: Int @renamedFrom(name: \"a\")",
            "4:27 `a` is still called so: give the former name, or remove `@renamedFrom`",
        ),
    ];
    all_refused(cases.map(|(field, expected)| (with_field(field), expected)));
}

#[test]
fn inverses_that_do_not_fit_are_refused() {
    field_refused("u: U @hasInverse(field: ts)", "4:25 `U` has no field `ts`; did you mean `t`?");
    field_refused("u: U @hasInverse(field: n)", "4:25, 2:17 `U.n` is no edge back to `T`");
    field_refused(
        "a: Int @hasInverse(field: t)",
        "4:8 only an edge to another type has an inverse: remove `@hasInverse`",
    );
    field_refused("u: U @hasInverse", "4:6 `@hasInverse` needs `(field: …)`");
    let back = "type A { b: B @hasInverse(field: c) }\ntype B { c: C }\ntype C { n: Int }";
    refused(back, &["1:34, 2:10 `B.c` leads to `C`, not back to `A`"]);
    let other = "type A { b: B @hasInverse(field: a) c: B }\ntype B { a: [A] @hasInverse(field: c) }";
    refused(other, &["1:34, 2:10 `B.a` says that its inverse is `c`, not `b`"]);
    let twice = "type A { b: B @hasInverse(field: a) c: B @hasInverse(field: a) }\ntype B { a: [A] }";
    refused(twice, &["1:37, 1:10, 2:10 `a` cannot be the inverse of both `A.b` and `A.c`"]);
    let union = "type A { u: U @hasInverse(field: a) }\ntype B { n: Int }\nunion U = B";
    refused(union, &["1:34 `U` is a union, which has no fields: remove `@hasInverse`"]);
    let list = "interface I { cs: [C] } type A implements I { a: Int }\ntype C { n: Int a: A @hasInverse(field: cs) }";
    refused(
        list,
        &[
            "1:15, 2:17 `cs` is an edge of an interface, which has to have the inverse `C.a` itself: write `@hasInverse` there",
        ],
    );
    let both = "interface I { c: C } type A implements I { a: Int }\ntype C { n: Int as: [A] @hasInverse(field: c)\n\
                is: [I] @hasInverse(field: c) }";
    refused(both, &["3:1, 2:17, 1:15 `c` cannot be the inverse of both `C.as` and `C.is`"]);
}

#[test]
fn types_that_do_not_fit_are_refused() {
    let cases = [
        ("type T { id: ID! }", "1:6 `T` has nothing to store: give it a field that is no `ID`"),
        ("type T implements I { a: Int }", "1:19 there is no interface `I`"),
        ("type T { a: Int }\ntype S implements T { a: Int }", "2:19 `T` is no interface"),
        ("type T { a: Int }\nunion U = T | T", "2:15 `T` is named twice"),
        ("interface I { a: Int }\nunion U = I", "2:11 `I` is no object type"),
        ("interface I implements I { a: Int }", "1:11 `I` implements itself, through its interfaces"),
        (
            "interface I { a: Int }\ntype T implements I { a: Int! }",
            "2:23, 1:15 `a` is of another type in `I`: make them equal, or remove it here",
        ),
        (
            "interface I { a: Int }\ntype T implements I { a: Int @search }",
            "2:23, 1:15 `a` is a field of `I`, whose `@id`, `@search` and `@default` count for all its types: write them there",
        ),
        (
            "interface I { a: Int }\ninterface J { a: Float }\ntype T implements I & J { b: Int }",
            "3:6, 1:15, 2:15 `T` inherits two fields `a` that differ: rename one of them, or make them equal",
        ),
        (
            "interface I { a: [Int] }\ninterface J { a: [Int] }\ntype T implements I & J { b: Int }",
            "3:6, 1:15, 2:15 two interfaces have `a`, and each keeps lists and edges for itself: rename one of them",
        ),
    ];
    all_refused(cases.map(|(text, expected)| (text.to_owned(), expected)));
}

#[test]
fn names_and_directives_of_types_that_do_not_fit_are_refused() {
    let cases = [
        (
            "type __T { a: Int }",
            "1:6 `__T` begins with `__`, which belongs to introspection: choose another name",
        ),
        (
            "enum IntFilter { A }\ntype T { a: Int }",
            "1:6 the API has a type `IntFilter` of its own: choose another name",
        ),
        (
            "type T { a: Int }\ntype AddTInput { b: Int }",
            "2:6, 1:6 the API makes a type `AddTInput` for `T`, and one of that name is there already: rename one of them",
        ),
        (
            "type T { a: [T] aAggregate: Int }",
            "1:17, 1:10 the API makes a field `aAggregate` for `a`: rename one of them",
        ),
        (
            "type T { a: Int u: U }\ntype t { a: Int }\nunion U = T | t",
            "3:7 `T` and `t` differ in the case of their first letter alone, so that their filters would have one name: rename one of them",
        ),
        (
            "type T @generate(query: {get: false, query: false, aggregate: false}) { a: Int }",
            "1:6 nothing can be queried: let `@generate` leave `query` or `aggregate` of a type",
        ),
        ("type Msg { a: Int }", "1:6 payloads have a field `msg` of their own: rename the type"),
        ("enum E { A A }\ntype T { a: Int }", "1:12 the value `A` is there already"),
        (
            "type T @secret(field: \"a\") { a: Int }",
            "1:23, 1:30 `a` is a field already: the password needs a name of its own",
        ),
        (
            "type T @unique(fields: [\"a\", \"c\"]) { a: Int b: Int }",
            "1:30 `T` has no field `c`; did you mean `a`?",
        ),
        (
            "type T @unique(fields: [\"a\"]) { a: Int }",
            "1:8 `@unique` is for two or more fields together; one alone is a key: write `@id` on it",
        ),
        (
            "type T @unique(fields: [a, b]) { a: Int b: [Int] }",
            "1:28 `b` is a list: only single values can be unique together",
        ),
        (
            "type T @generate(query: {fetch: true}) { a: Int }",
            "1:26 there is no `fetch` here; did you mean `get`?",
        ),
        (
            "query { a }\ntype T { a: Int }",
            "1:1 a query cannot stand among types: keep it in a file of its own",
        ),
        ("union U = A", "1:11 there is no object type `A`"),
    ];
    all_refused(cases.map(|(text, expected)| (text.to_owned(), expected)));
}

#[test]
fn kinds_of_values_are_known_by_name() {
    let model = model(
        "enum E { A } type T { a: Int64 b: [E!]! c: MultiPolygon @search d: T e: [String] @search(by: exact) }",
    );
    assert_eq!(field(&model, "T", "a").kind, FieldKind::Scalar(Scalar::Int64));
    let list = field(&model, "T", "b");
    assert!(list.is_list && list.is_required && list.items_required);
    assert_eq!(field(&model, "T", "c").search, [Search::Geo]);
    assert_eq!(field(&model, "T", "e").search, [Search::Exact]);
}
