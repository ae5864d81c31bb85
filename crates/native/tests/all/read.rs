//! Reads of a small store: each answer is the whole one, as it goes out.

use crate::kit;

fn check(query: &str, variables: &str, expected: &str) {
    let served = kit::serve(include_str!("../schemas/cities.graphql"), include_str!("../schemas/cities.sql"));
    assert_eq!(served.ask(query, variables), expected, "{query}");
}

#[test]
fn objects_come_with_their_values_lists_points_and_edges_both_ways() {
    check(
        r#"{ queryCity { id name country { id code capital { name } } population area founded tags done mood twins { name } at { latitude longitude } } }"#,
        r#""#,
        r#"{"data":{"queryCity":[{"id":"0x10","name":"Berlin","country":{"id":"0x1","code":"de","capital":{"name":"Berlin"}},"population":3677472,"area":891.7,"founded":"1237-01-01","tags":["old","big"],"done":true,"mood":"HAPPY","twins":[{"name":"Paris"}],"at":{"latitude":52.5,"longitude":13.4}},{"id":"0x11","name":"Hamburg the port of the world","country":{"id":"0x1","code":"de","capital":{"name":"Berlin"}},"population":1800000,"area":null,"founded":"2020-01-01T00:00:00+02:00","tags":[],"done":false,"mood":"SAD","twins":[{"name":"Quick-brown fox \"city\" & Bär"}],"at":null},{"id":"0x12","name":"Paris","country":{"id":"0x2","code":"fr","capital":{"name":"Paris"}},"population":null,"area":105.4,"founded":null,"tags":["old"],"done":null,"mood":null,"twins":[{"name":"Berlin"}],"at":{"latitude":48.85,"longitude":2.35}},{"id":"0x13","name":"Quick-brown fox \"city\" & Bär","country":null,"population":5,"area":1,"founded":null,"tags":[],"done":null,"mood":null,"twins":[{"name":"Hamburg the port of the world"}],"at":null}]}}"#,
    );
}

#[test]
fn an_object_is_found_by_its_number_or_keys_all_of_them() {
    check(
        r#"{ getCity(id: "0x10") { name } a: getCountry(code: "de") { name cities { name } } b: getCountry(code: "de", id: "0x2") { name } c: getCountry { name } d: getAnimal(name: "Rex") { id name ... on Dog { breed } } e: getAnimal(id: 33) { __typename } f: getCity(id: "zz") {name} }"#,
        r#""#,
        r#"{"errors":[{"message":"invalid input syntax for type ID: \"zz\"","locations":[{"line":1,"column":247}],"path":["f"],"extensions":{"code":"BAD_USER_INPUT"}}],"data":{"getCity":{"name":"Berlin"},"a":{"name":"Germany","cities":[{"name":"Berlin"},{"name":"Hamburg the port of the world"}]},"b":null,"c":null,"d":{"id":"0x20","name":"Rex","breed":"Lab"},"e":{"__typename":"Cat"},"f":null}}"#,
    );
}

#[test]
fn a_password_beside_a_mistake_is_in_no_message() {
    let sdl = r#"
        type User @secret(field: "password") { name: String! @id, age: Int, mood: Mood, friends: [User], note: String }
        enum Mood { HAPPY }
    "#;
    let served = kit::serve(sdl, "");
    let add = "mutation ($u: [AddUserInput!]!) { addUser(input: $u) { numUids } }";
    for (wrong, place) in [
        (r#""name": "a", "age": "x""#, r#"cannot use string as Int @ "age""#),
        (r#""name": "a", "age": 1.5"#, r#"Type mismatched for Value `1.5`, expected:`Int` @ "age""#),
        (r#""name": "a", "age": 5000000000"#, r#"Out of range value '5000000000', for type `Int` @ "age""#),
        (r#""name": "a", "agee": 1"#, r#"unknown field @ "agee""#),
        (r#""age": 1"#, r#"must be defined @ "name""#),
        (r#""name": "a", "mood": "SAD""#, r#"SAD is not a valid Mood @ "mood""#),
        (r#""name": "a", "mood": 1"#, r#"enums must be ints or strings @ "mood""#),
        (r#""name": null"#, r#"cannot be null @ "name""#),
        (r#""name": {"password": "hush-hush"}"#, r#"cannot use object as String @ "name""#),
        (
            r#""name": "a", "friends": [{"name": "b", "password": "hush-hush", "x": 1}]"#,
            r#"unknown field @ "friends",0,"x""#,
        ),
        (r#""name": "a", "friends": ["hush-hush"]"#, r#"must be a UserRef @ "friends",0"#),
        (r#""name": "a", "age": {"password": "hush-hush"}"#, r#"cannot use object as Int @ "age""#),
    ] {
        let variables = format!(r#"{{"u": [{{"password": "hush-hush", {wrong}}}]}}"#);
        let answer = served.ask(add, &variables).replace('\\', "");
        let (words, place) = place.split_once(" @ ").expect("words and a place");
        let told = answer.contains(&format!("{{\"message\":\"{words}\",\"locations\""))
            && answer.contains(&format!("\"path\":[\"variable\",\"u\",0,{place}],"));
        assert!(told && !answer.contains("hush"), "{variables}: {answer}");
    }
    let absent = served.ask(add, "{}");
    assert!(
        absent.contains(r#""message":"must be defined","#) && absent.contains(r#"["variable","u"]"#),
        "{absent}"
    );
    let number = served.ask(add, r#"{"u": [{"name": "a", "password": 271828}]}"#);
    assert!(number.contains("cannot use Number as String"), "{number}");
    assert!(!number.contains("271828"), "{number}");
    for (input, word) in [
        (r#"{name: "a", password: "hush-hush", age: "x"}"#, "Expected type Int, found \"x\"."),
        (
            r#"{name: "a", password: "hush-hush", agee: 1}"#,
            "Field \"agee\" is not defined by type AddUserInput. Did you mean age?",
        ),
        (r#"{password: "hush-hush"}"#, "Field AddUserInput.name of required type String! was not provided."),
        (r#"{name: "a", password: hush_hush}"#, "Expected type String!, found an enum value."),
        (r#"[[{name: "a", password: "hush-hush"}]]"#, "Expected type AddUserInput!, found […]."),
        (
            r#"{name: "a", password: "hush-hush", friends: {password: "hush-hush"}, age: ["hush"]}"#,
            "Expected type Int, found […].",
        ),
    ] {
        let answer = served.ask(&format!("mutation {{ addUser(input: {input}) {{ numUids }} }}"), "");
        let answer = answer.replace('\\', "");
        assert!(answer.contains(word) && !answer.contains("hush"), "{input}: {answer}");
    }
}

#[test]
fn pages_are_counted_from_either_end() {
    check(
        r#"{ queryCity(first: 2) { name } a: queryCity(first: -2) { name } b: queryCity(first: 0, offset: 1) { name } c: queryCity(offset: -1, first: 1) { name } }"#,
        r#""#,
        r#"{"data":{"queryCity":[{"name":"Berlin"},{"name":"Hamburg the port of the world"}],"a":[{"name":"Paris"},{"name":"Quick-brown fox \"city\" & Bär"}],"b":[{"name":"Hamburg the port of the world"},{"name":"Paris"},{"name":"Quick-brown fox \"city\" & Bär"}],"c":[{"name":"Berlin"}]}}"#,
    );
    check(
        r#"query ($n: Int) { queryCity(first: $n) { name } }"#,
        r#"{"n": -1}"#,
        r#"{"data":{"queryCity":[{"name":"Quick-brown fox \"city\" & Bär"}]}}"#,
    );
    check(
        r#"query ($n: Int!) { queryCity(first: $n) { name } }"#,
        r#"{"n": 2}"#,
        r#"{"data":{"queryCity":[{"name":"Berlin"},{"name":"Hamburg the port of the world"}]}}"#,
    );
    check(
        r#"query ($n: Int) { queryCity(first: $n) { name } }"#,
        r#"{"n": 0}"#,
        r#"{"data":{"queryCity":[{"name":"Berlin"},{"name":"Hamburg the port of the world"},{"name":"Paris"},{"name":"Quick-brown fox \"city\" & Bär"}]}}"#,
    );
}

#[test]
fn missing_values_are_last_either_way() {
    check(
        r#"{ queryCity(order: {asc: population}) { name } a: queryCity(order: {desc: population}) { name } }"#,
        r#""#,
        r#"{"data":{"queryCity":[{"name":"Quick-brown fox \"city\" & Bär"},{"name":"Hamburg the port of the world"},{"name":"Berlin"},{"name":"Paris"}],"a":[{"name":"Berlin"},{"name":"Hamburg the port of the world"},{"name":"Quick-brown fox \"city\" & Bär"},{"name":"Paris"}]}}"#,
    );
}

#[test]
fn objects_are_sorted_by_what_an_edge_leads_to() {
    check(
        r#"{ queryCity(order: {country: {desc: code}, then: {asc: name}}) { name country { code } } }"#,
        r#""#,
        r#"{"data":{"queryCity":[{"name":"Paris","country":{"code":"fr"}},{"name":"Berlin","country":{"code":"de"}},{"name":"Hamburg the port of the world","country":{"code":"de"}},{"name":"Quick-brown fox \"city\" & Bär","country":null}]}}"#,
    );
}

#[test]
fn operators_of_one_filter_are_all_meant_and_missing_values_fit_none() {
    check(
        r#"{ queryCity(filter: {population: {ge: 5, lt: 2000000}}) { name } a: queryCity(filter: {name: {eq: null}}) { name } b: queryCity(filter: {population: {eq: null}}) { name } c: queryCity(filter: {not: {population: {gt: 5}}}) { name } d: queryCity(filter: {population: {between: {min: 5, max: 1800000}}}) { name } }"#,
        r#""#,
        r#"{"data":{"queryCity":[{"name":"Hamburg the port of the world"},{"name":"Quick-brown fox \"city\" & Bär"}],"a":[],"b":[{"name":"Paris"}],"c":[{"name":"Paris"},{"name":"Quick-brown fox \"city\" & Bär"}],"d":[{"name":"Hamburg the port of the world"},{"name":"Quick-brown fox \"city\" & Bär"}]}}"#,
    );
}

#[test]
fn or_stands_beside_all_the_rest() {
    check(
        r#"{ queryCity(filter: {or: [{name: {eq: "Paris"}}, {name: {eq: "Berlin"}}], population: {eq: 5}}) { name } a: queryCity(filter: {and: [{or: [{name: {eq: "Paris"}}, {name: {eq: "Berlin"}}]}, {population: {gt: 1}}]}) { name } b: queryCity(filter: {id: ["0x10", "x", "0x12"]}) { name } c: queryCity(filter: {id: "0x11"}) { name } d: queryCity(filter: {}) { name } }"#,
        r#""#,
        r#"{"data":{"queryCity":[{"name":"Berlin"},{"name":"Paris"},{"name":"Quick-brown fox \"city\" & Bär"}],"a":[{"name":"Berlin"}],"b":[{"name":"Berlin"},{"name":"Paris"}],"c":[{"name":"Hamburg the port of the world"}],"d":[{"name":"Berlin"},{"name":"Hamburg the port of the world"},{"name":"Paris"},{"name":"Quick-brown fox \"city\" & Bär"}]}}"#,
    );
}

#[test]
fn has_and_edges_are_conditions_at_any_depth() {
    check(
        r#"{ queryCity(filter: {has: [population, area]}) { name } a: queryCity(filter: {has: twins}) { name } b: queryCity(filter: {tags: {eq: "old"}}) { name } c: queryCity(filter: {country: {code: {eq: "de"}}}) { name } d: queryCountry(filter: {cities: {population: {gt: 100}}}) { code } e: queryCity(filter: {twins: {name: {eq: "Paris"}}}) { name } f: queryCity(filter: {done: false}) { name } g: queryCity(filter: {mood: {in: [SAD]}}) { name }}"#,
        r#""#,
        r#"{"data":{"queryCity":[{"name":"Berlin"},{"name":"Quick-brown fox \"city\" & Bär"}],"a":[{"name":"Berlin"},{"name":"Hamburg the port of the world"},{"name":"Paris"},{"name":"Quick-brown fox \"city\" & Bär"}],"b":[{"name":"Berlin"},{"name":"Paris"}],"c":[{"name":"Berlin"},{"name":"Hamburg the port of the world"}],"d":[{"code":"de"}],"e":[{"name":"Berlin"}],"f":[{"name":"Hamburg the port of the world"}],"g":[{"name":"Hamburg the port of the world"}]}}"#,
    );
}

#[test]
fn points_in_time_are_compared_whatever_their_offsets() {
    check(
        r#"{ queryCity(filter: {founded: {gt: "2019-12-31T21:00:00Z"}}) { name founded } }"#,
        r#""#,
        r#"{"data":{"queryCity":[{"name":"Hamburg the port of the world","founded":"2020-01-01T00:00:00+02:00"}]}}"#,
    );
}

#[test]
fn words_and_patterns_are_searched() {
    check(
        r#"{ queryCity(filter: {name: {allofterms: "PORT world"}}) { name } a: queryCity(filter: {name: {anyofterms: "paris berlin"}}) { name } b: queryCity(filter: {name: {alloftext: "the ports"}}) { name } c: queryCity(filter: {name: {regexp: "/^b.*n$/i"}}) { name } d: queryCity(filter: {name: {allofterms: "\"city\" bär"}}) { name } e: queryCity(filter: {name: {allofterms: ""}}) { name } }"#,
        r#""#,
        r#"{"data":{"queryCity":[{"name":"Hamburg the port of the world"}],"a":[{"name":"Berlin"},{"name":"Paris"}],"b":[{"name":"Hamburg the port of the world"}],"c":[{"name":"Berlin"}],"d":[{"name":"Quick-brown fox \"city\" & Bär"}],"e":[]}}"#,
    );
}

#[test]
fn aggregates_are_of_all_objects_of_a_filter_and_of_an_edge() {
    check(
        r#"{ aggregateCity { count nameMin nameMax populationSum populationAvg areaSum } a: aggregateCity(filter: {name: {eq: "zz"}}) { count populationMax } queryCountry { citiesAggregate { count populationMax } } aggregateAnimal { count legsSum } b: queryCity { twinsAggregate { count } } }"#,
        r#""#,
        r#"{"data":{"aggregateCity":{"count":4,"nameMin":"Berlin","nameMax":"Quick-brown fox \"city\" & Bär","populationSum":5477477,"populationAvg":1825825.6666666667,"areaSum":998.1},"a":{"count":0,"populationMax":null},"queryCountry":[{"citiesAggregate":{"count":2,"populationMax":3677472}},{"citiesAggregate":{"count":1,"populationMax":null}},{"citiesAggregate":{"count":0,"populationMax":null}}],"aggregateAnimal":{"count":2,"legsSum":8},"b":[{"twinsAggregate":{"count":1}},{"twinsAggregate":{"count":1}},{"twinsAggregate":{"count":1}},{"twinsAggregate":{"count":1}}]}}"#,
    );
}

#[test]
fn objects_of_an_interface_come_with_fields_of_their_own() {
    check(
        r#"{ queryAnimal { __typename id name legs ... on Cat { lives } home { name } keeper { email } } a: queryAnimal(filter: {legs: {eq: 4}}, order: {desc: name}) { name } }"#,
        r#""#,
        r#"{"data":{"queryAnimal":[{"__typename":"Dog","id":"0x20","name":"Rex","legs":4,"home":{"name":"Berlin"},"keeper":{"email":"ada@x"}},{"__typename":"Cat","id":"0x21","name":"Tom","legs":4,"lives":9,"home":null,"keeper":{"email":"ada@x"}}],"a":[{"name":"Tom"},{"name":"Rex"}]}}"#,
    );
}

#[test]
fn objects_of_a_union_are_told_apart() {
    check(
        r#"{ queryPerson { pets { name } likes { __typename ... on City { name } ... on Dog { breed } } best { ... on Dog { id } } } }"#,
        r#""#,
        r#"{"data":{"queryPerson":[{"pets":[{"name":"Rex"},{"name":"Tom"}],"likes":[{"__typename":"City","name":"Berlin"},{"__typename":"Dog","breed":"Lab"}],"best":{"id":"0x20"}},{"pets":[],"likes":[{"__typename":"City","name":"Paris"}],"best":null}]}}"#,
    );
}

#[test]
fn members_of_a_union_are_filtered_each_by_its_own_filter() {
    check(
        r#"{ queryPerson { email likes(filter: {memberTypes: [City], cityFilter: {name: {eq: "Paris"}}}) { ... on City { name } } pets(filter: {legs: {gt: 3}}, first: 1) { id } } }"#,
        r#""#,
        r#"{"data":{"queryPerson":[{"email":"ada@x","likes":[],"pets":[{"id":"0x20"}]},{"email":"bob@x","likes":[{"name":"Paris"}],"pets":[]}]}}"#,
    );
}

#[test]
fn cascade_leaves_out_what_lacks_a_selected_value() {
    check(
        r#"{ queryCity @cascade { name population tags } a: queryCountry @cascade { code cities { name population } } b: queryCity @cascade(fields: ["name", "area"]) { name area } c: queryCity(first: 1) @cascade { name country { code } } }"#,
        r#""#,
        r#"{"data":{"queryCity":[{"name":"Berlin","population":3677472,"tags":["old","big"]}],"a":[{"code":"de","cities":[{"name":"Berlin","population":3677472},{"name":"Hamburg the port of the world","population":1800000}]}],"b":[{"name":"Berlin","area":891.7},{"name":"Paris","area":105.4},{"name":"Quick-brown fox \"city\" & Bär","area":1}],"c":[{"name":"Berlin","country":{"code":"de"}}]}}"#,
    );
}

#[test]
fn a_plan_for_some_names_of_a_cascade_is_not_that_for_others() {
    let served = kit::serve(include_str!("../schemas/cities.graphql"), include_str!("../schemas/cities.sql"));
    let all = "query ($list: [String]) { queryCity @cascade(fields: $list) { id area mood tags } }";
    let one = "query ($name: String) { queryCity @cascade(fields: [$name]) { id area mood tags } }";
    let cases = [
        (all, r#"{"list": ["area"]}"#, "0x10 0x12 0x13"),
        (all, r#"{"list": ["mood"]}"#, "0x10 0x11"),
        (all, r#"{"list": ["mood", "area"]}"#, "0x10"),
        (all, r#"{"list": ["area", "mood"]}"#, "0x10"),
        (all, r#"{"list": "tags"}"#, "0x10 0x12"),
        (all, r#"{"list": []}"#, "0x10"),
        (all, r#"{"list": null}"#, "0x10"),
        (one, r#"{"name": "area"}"#, "0x10 0x12 0x13"),
        (one, r#"{"name": "mood"}"#, "0x10 0x11"),
    ];
    // Twice, so that each is also answered by a plan that was kept.
    for &(query, variables, expected) in cases.iter().chain(&cases) {
        let answer: serde_json::Value = serde_json::from_str(&served.ask(query, variables)).expect("JSON");
        let objects = answer["data"]["queryCity"].as_array().expect("a list");
        let ids: Vec<&str> = objects.iter().filter_map(|it| it["id"].as_str()).collect();
        assert_eq!(ids.join(" "), expected, "{variables}");
    }
}

#[test]
fn edges_have_filters_orders_and_pages_of_their_own() {
    check(
        r#"{ queryCountry { code cities(order: {desc: name}, first: 1) { name } capital(filter: {name: {eq: "Paris"}}) { name } } }"#,
        r#""#,
        r#"{"data":{"queryCountry":[{"code":"de","cities":[{"name":"Hamburg the port of the world"}],"capital":null},{"code":"fr","cities":[{"name":"Paris"}],"capital":{"name":"Paris"}},{"code":"jp","cities":[],"capital":null}]}}"#,
    );
}

#[test]
fn a_pattern_without_slashes_is_refused() {
    check(
        r#"{ a: queryCity(filter: {name: {regexp: "a"}}) { name } }"#,
        r#""#,
        r#"{"errors":[{"message":"a regular expression is written between slashes, as in `/^a.*z$/i`","locations":[{"line":1,"column":3}],"path":["a"],"extensions":{"code":"INVALID_PATTERN"}}],"data":{"a":null}}"#,
    );
}

#[test]
fn places_lie_near_within_and_across_others() {
    check(
        r#"{ near: queryCity(filter: {at: {near: {distance: 1000, coordinate: {latitude: 52.505, longitude: 13.4}}}}) { name } far: queryCity(filter: {at: {near: {distance: 100, coordinate: {latitude: 52.505, longitude: 13.4}}}}) { name } within: queryCity(filter: {at: {within: {polygon: {coordinates: [{points: [{longitude: 0, latitude: 45}, {longitude: 5, latitude: 45}, {longitude: 5, latitude: 50}, {longitude: 0, latitude: 50}]}]}}}}) { name } }"#,
        "",
        r#"{"data":{"near":[{"name":"Berlin"}],"far":[],"within":[{"name":"Paris"}]}}"#,
    );
    check(
        r#"query ($p: PointRef, $q: PolygonRef) { contains: queryCity(filter: {region: {contains: {point: $p}}}) { name } intersects: queryCity(filter: {region: {intersects: {polygon: $q}}}) { name } within: queryCity(filter: {region: {within: {polygon: {coordinates: [{points: [{longitude: 0, latitude: 45}, {longitude: 5, latitude: 45}, {longitude: 5, latitude: 50}, {longitude: 0, latitude: 50}]}]}}}}) { name } }"#,
        r#"{"p": {"latitude": 52.5, "longitude": 13.5}, "q": {"coordinates": [{"points": [{"latitude": 40, "longitude": 2.5}, {"latitude": 60, "longitude": 2.6}, {"latitude": 60, "longitude": 2.7}]}]}}"#,
        r#"{"data":{"contains":[{"name":"Berlin"}],"intersects":[{"name":"Paris"}],"within":[{"name":"Paris"}]}}"#,
    );
}

#[test]
fn an_item_that_misses_what_it_has_to_have_is_null_with_an_error() {
    let served = kit::serve(
        "type A { id: ID! name: String b: B! @hasInverse(field: as) } type B { id: ID! name: String! as: [A] }",
        "INSERT INTO B(id, name) VALUES (1, 'b'); INSERT INTO A(id, name, b_id) VALUES (2, 'x', 1), (3, 'y', NULL);",
    );
    assert_eq!(
        served.ask("{ queryA { name b { name } } }", ""),
        r#"{"errors":[{"message":"Cannot return null for non-nullable field A.b.","locations":[{"line":1,"column":17}],"path":["queryA",1,"b"],"extensions":{"code":"NULL_FOR_NON_NULL"}}],"data":{"queryA":[{"name":"x","b":{"name":"b"}},null]}}"#
    );
}
