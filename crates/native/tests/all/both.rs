//! Equal behaviour of stores in PostgreSQL and SQLite: words, patterns, keys of interfaces, the spelling of numbers, and
//! changes of very many objects in little memory.

use crate::answer_kit::whole;
use crate::kit;
use crate::kit::in_postgres;
use crate::postgres_kit::hand::Hand;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::Request;

/// Asks both stores of `sdl`, filled by `sql`, each of `queries`, and compares.
fn check(sdl: &str, sql: &str, queries: &[(&str, &str)]) {
    let sqlite = kit::serve(sdl, sql);
    let postgres = in_postgres::serve(sdl, sql);
    for &(query, expected) in queries {
        let expected = format!(r#"{{"data":{{{expected}}}}}"#);
        assert_eq!(sqlite.ask(query, ""), expected, "SQLite: {query}");
        assert_eq!(postgres.ask(query, ""), expected, "PostgreSQL: {query}");
    }
}

#[test]
fn a_float_is_spelled_in_one_way() {
    let sdl = "type Star { id: ID!, mass: Float, light: [Float] }";
    let add = |mass: &str| {
        format!("add: addStar(input: [{{mass: {mass}, light: [{mass}]}}]) {{ star {{ mass light }} }}")
    };
    let stars = [
        ("2.0", "2"),
        ("-0.5", "-0.5"),
        ("100000", "100000"),
        ("999999999999999", "999999999999999"),
        ("1e15", "1000000000000000"),
        ("123456789012345680", "1.2345678901234568e+17"),
        ("1e22", "1e+22"),
        ("1.5e300", "1.5e+300"),
        ("0.0001", "0.0001"),
        ("0.00001", "0.00001"),
        ("-2.5e-7", "-2.5e-7"),
    ];
    let asked: Vec<(String, String)> = stars
        .iter()
        .map(|(given, spelled)| {
            let expected = format!(r#""add":{{"star":[{{"mass":{spelled},"light":[{spelled}]}}]}}"#);
            (format!("mutation {{ {} }}", add(given)), expected)
        })
        .collect();
    let mut queries: Vec<(&str, &str)> =
        asked.iter().map(|(query, it)| (query.as_str(), it.as_str())).collect();
    queries.push((
        "{ aggregateStar { massMin massMax massSum } }",
        r#""aggregateStar":{"massMin":-0.5,"massMax":1.5e+300,"massSum":1.5e+300}"#,
    ));
    check(sdl, "", &queries);
}

#[test]
fn very_many_objects_are_deleted_in_little_memory() {
    let fill = r#"INSERT INTO "Mote" (id) SELECT * FROM generate_series(1, 300020)"#;
    // One statement's answer is far smaller than all numbers.
    let tune = |it: &mut weir_postgres::Settings| it.limits.answer_bytes_max = 1 << 20;
    let served = in_postgres::serve_with("type Mote { id: ID!, size: Int }", fill, tune);
    let delete = "mutation { deleteMote(filter: {}) { msg numUids } }";
    assert_eq!(served.ask(delete, ""), r#"{"data":{"deleteMote":{"msg":"Deleted","numUids":300020}}}"#);
    assert_eq!(served.database.run(r#"SELECT count(*) FROM "Mote""#).trim(), "0");
}

#[test]
fn means_and_zeros_are_spelled_in_one_way() {
    let sdl = "type Star { id: ID!, age: Int, far: Int64, mass: Float, light: [Float] }";
    let add = "mutation { addStar(input: [{age: 10, far: 1, mass: -0.0, light: [-0.0]}, {age: 10, far: 2, mass: 0}]) { star { mass light } } }";
    let more = "mutation { addStar(input: [{age: 11, far: 9007199254740993}]) { numUids } }";
    check(
        sdl,
        "",
        &[
            (add, r#""addStar":{"star":[{"mass":0,"light":[0]},{"mass":0,"light":[]}]}"#),
            (
                "{ aggregateStar { ageAvg farAvg farSum massAvg massMin } }",
                r#""aggregateStar":{"ageAvg":10,"farAvg":1.5,"farSum":3,"massAvg":0,"massMin":0}"#,
            ),
            (more, r#""addStar":{"numUids":1}"#),
            (
                "{ aggregateStar { ageAvg farAvg farSum } }",
                r#""aggregateStar":{"ageAvg":10.333333333333334,"farAvg":3002399751580332,"farSum":9007199254740996}"#,
            ),
        ],
    );
}

#[test]
fn a_sum_that_no_int64_holds_is_an_error_of_its_field() {
    let sdl = "type Star { id: ID!, far: Int64 }";
    let fill = r#"INSERT INTO "Star" (far) VALUES (9223372036854775807), (1)"#;
    let query = "{ aggregateStar { count farSum farMax } }";
    let answers = [kit::serve(sdl, fill).ask(query, ""), in_postgres::serve(sdl, fill).ask(query, "")];
    for answer in &answers {
        assert!(
            answer.ends_with(
                r#""data":{"aggregateStar":{"count":2,"farSum":null,"farMax":9223372036854775807}}}"#
            ),
            "{answer}"
        );
        assert!(
            answer.contains("Int64 cannot represent non 64-bit signed integer value: 9223372036854775808"),
            "{answer}"
        );
    }
    assert_eq!(answers[0], answers[1]);
}

/// Asks both stores for the notes that `filter` finds.
fn check_found(filters: &[(&str, &str)]) {
    let sdl = "type Note { key: String! @id, t: String @search(by: [term]), f: String @search(by: [fulltext]), p: String @search(by: [regexp]), n: String @search(by: [ngram]) }";
    let notes = [
        ("dots", "foo.bar baz a.b (x) version 12.5.3"),
        ("path", "/usr/local/bin"),
        ("mail", "joe@example.com my-own_house"),
        ("url", "http://weir.dev/docs?a=b&c"),
        ("number", "-7 apples"),
        ("accent", "caf\u{e9} e\u{301}tude \u{915}\u{93f}\u{924}\u{93e}\u{92c}"),
        ("upper", "\u{c9}LUR \u{c7}a va"),
        ("dogs", "two dogs\nrun"),
        ("run", "Running <b>fast</b>"),
    ];
    let row = |(key, text): &(&str, &str)| format!("('{key}', '{text}', '{text}', '{text}', '{text}')");
    let rows = notes.iter().map(row).collect::<Vec<_>>().join(", ");
    let fill = format!(r#"INSERT INTO "Note" (key, t, f, p, n) VALUES {rows}"#);
    let asked: Vec<(String, String)> = filters
        .iter()
        .map(|(filter, keys)| {
            let keys: Vec<String> =
                keys.split_whitespace().map(|it| format!(r#"{{"key":"{it}"}}"#)).collect();
            (
                format!("{{ queryNote(filter: {filter}) {{ key }} }}"),
                format!(r#""queryNote":[{}]"#, keys.join(",")),
            )
        })
        .collect();
    let queries: Vec<(&str, &str)> = asked.iter().map(|(query, it)| (query.as_str(), it.as_str())).collect();
    check(sdl, &fill, &queries);
}

#[test]
fn words_are_split_in_one_way() {
    let cases = [
        ("foo", "dots"),
        ("a.b", "dots url"),
        ("12.5.3", "dots"),
        ("12", "dots"),
        ("local", "path"),
        ("/usr/local", "path"),
        ("joe", "mail"),
        ("EXAMPLE", "mail"),
        ("weir", "url"),
        ("docs", "url"),
        ("7", "number"),
        ("-7", "number"),
        ("caf\u{e9}", "accent"),
        ("cafe", ""),
        ("e\u{301}tude", "accent"),
        ("etude", ""),
        ("\u{e9}lur", "upper"),
        ("\u{e7}A", "upper"),
        ("CAF\u{c9}", "accent"),
        ("\u{915}\u{93f}\u{924}\u{93e}\u{92c}", "accent"),
        ("fast", "run"),
        ("!?", ""),
    ];
    let mut asked: Vec<(String, &str)> = Vec::new();
    for (text, keys) in cases {
        asked.push((format!(r#"{{t: {{allofterms: "{text}"}}}}"#), keys));
        // `a` says nothing in English, so `b` is asked alone.
        let keys = if text == "a.b" { "dots url run" } else { keys };
        asked.push((format!(r#"{{f: {{alloftext: "{text}"}}}}"#), keys));
    }
    asked.push((r#"{f: {alloftext: "my own houses"}}"#.into(), "mail"));
    asked.push((r#"{f: {anyoftext: "my own"}}"#.into(), ""));
    asked.push((r#"{t: {anyofterms: "own runs"}}"#.into(), "mail"));
    asked.push((r#"{f: {alloftext: "runs"}}"#.into(), "dogs run"));
    check_found(&asked.iter().map(|(filter, keys)| (filter.as_str(), *keys)).collect::<Vec<_>>());
}

#[test]
fn words_in_a_row_are_found_in_one_way() {
    let cases = [
        ("bar baz a", "dots"),
        ("baz b", "dots"),
        ("version 12", "dots"),
        ("USR local", "path"),
        ("own house", "mail"),
        ("caf\u{e9}", "accent"),
        ("CAF\u{c9}", "accent"),
        ("caf", ""),
        ("tude", ""),
        ("e", ""),
        ("e\u{301}tude", "accent"),
        ("\u{e9} e\u{301}tude", ""),
        ("\u{915}", ""),
        ("\u{915}\u{93f}\u{924}\u{93e}\u{92c}", "accent"),
        ("\u{e9}lur \u{e7}A", "upper"),
        ("lur", ""),
        ("dogs run", "dogs"),
        ("b", "dots url run"),
        ("!?", ""),
    ];
    let asked: Vec<(String, &str)> =
        cases.iter().map(|(text, keys)| (format!(r#"{{n: {{ngram: "{text}"}}}}"#), *keys)).collect();
    check_found(&asked.iter().map(|(filter, keys)| (filter.as_str(), *keys)).collect::<Vec<_>>());
    let sdl = "type Note { key: String! @id, n: String @search(by: [ngram]) }";
    let many = format!("{{ queryNote(filter: {{n: {{ngram: \"{}\"}}}}) {{ key }} }}", "a ".repeat(101));
    for ask in asks(sdl) {
        let refused = ask(&many, "");
        assert!(
            refused.contains("INVALID_PATTERN") && refused.contains("the pattern is too long"),
            "{refused}"
        );
    }
}

#[test]
fn patterns_are_of_one_language() {
    let cases = [
        (r"/\\bdogs\\b/", "dogs"),
        (r"/\\Bogs/", "dogs"),
        ("/[a&&b]/", ""),
        (r"/^\\p{L}+ dogs/", "dogs"),
        (r"/run\\z/", "dogs"),
        ("/(?i:RUN)/", "dogs run"),
        ("/(?P<n>dogs)/", "dogs"),
        (r"/\\x{64}ogs/", "dogs"),
        ("/DOGS.RUN/i", "dogs"),
        ("/(?m)dogs$/", "dogs"),
        (r"/^\\W\\d\\s\\w{6}$/", "number"),
        ("/^.{9}$/", "number"),
        ("/(?:o+?o|gs){1,2}$/", ""),
        (r"/[^\\x00-\\x7f]tude/", "accent"),
        (r"/caf\\w/", "accent"),
        ("/[.]dev[/]/", "url"),
        (r"/12\\.5|r\\/loc/", "dots path"),
        ("/[A-C&&[^B]]|R[t-v]n{2}/", "run"),
    ];
    let asked: Vec<(String, &str)> =
        cases.iter().map(|(text, keys)| (format!(r#"{{p: {{regexp: "{text}"}}}}"#), *keys)).collect();
    check_found(&asked.iter().map(|(filter, keys)| (filter.as_str(), *keys)).collect::<Vec<_>>());
}

#[test]
fn a_wrong_pattern_is_told_with_its_cause() {
    let sdl = "type Note { key: String! @id, p: String @search(by: [regexp]) }";
    let fill = r#"INSERT INTO "Note" (key, p) VALUES ('a', 'dogs')"#;
    let sqlite = kit::serve(sdl, fill);
    let postgres = in_postgres::serve(sdl, fill);
    for (text, cause) in [
        ("dogs", "a regular expression is written between slashes"),
        ("/(dogs/", "invalid regular expression: unclosed group, at byte 0"),
        (r"/(d)\\1/", "invalid regular expression: backreferences are not supported, at byte 3"),
        ("/(?=d)/", "look-around"),
        ("/***=d/", "invalid regular expression: repetition operator missing expression, at byte 0"),
        (r"/\\mdogs/", "invalid regular expression: unrecognized escape sequence, at byte 0"),
        (r"/\\cA/", "invalid regular expression: unrecognized escape sequence, at byte 0"),
        ("/a{1001}/", "a part of a pattern repeats 255 times at most"),
    ] {
        let query = format!(r#"{{ queryNote(filter: {{p: {{regexp: "{text}"}}}}) {{ key }} }}"#);
        let one = sqlite.ask(&query, "");
        assert_eq!(one, postgres.ask(&query, ""), "{text}");
        assert!(one.contains(cause) && one.contains("INVALID_PATTERN"), "{text}: {one}");
    }
}

#[test]
fn a_key_of_an_interface_may_be_taken_in_another_type() {
    let sdl = "interface P { tag: String! @id, chip: Int @id(interface: true) } type C1 implements P { a: Int } type C2 implements P { b: Int }";
    let update = |chip: i32, set: &str| {
        format!(
            "mutation {{ updateP(input: {{filter: {{chip: {{eq: {chip}}}}}, set: {{{set}}}}}) {{ numUids }} }}"
        )
    };
    let add = "mutation { addC1(input: [{tag: \"one\", chip: 1}, {tag: \"three\", chip: 3}]) { numUids } addC2(input: [{tag: \"two\", chip: 2}]) { numUids } }";
    for ask in asks(sdl) {
        assert_eq!(ask(add, ""), r#"{"data":{"addC1":{"numUids":2},"addC2":{"numUids":1}}}"#);
        assert_eq!(ask(&update(1, "tag: \"two\""), ""), r#"{"data":{"updateP":{"numUids":1}}}"#);
        let taken = ask(&update(1, "tag: \"three\""), "");
        assert!(taken.contains("id three already exists for field tag inside type P"), "{taken}");
        let taken = ask(&update(1, "chip: 2"), "");
        assert!(taken.contains("id 2 already exists for field chip inside type P"), "{taken}");
    }
}

#[test]
fn a_key_of_an_interface_is_told_by_the_type_that_is_written() {
    let sdl = "interface Animal { name: String! @id(interface: true), code: String @id } type Dog implements Animal { breed: String } \
               type Cat implements Animal { lives: Int }";
    let add = "mutation { addDog(input: [{name: \"Rex\", code: \"x\"}]) { numUids } addCat(input: [{name: \"Tom\", code: \"x\"}]) { numUids } }";
    let beside = "id Rex already exists for field name in some other implementing type of interface Animal\"";
    let dog = "id Rex already exists for field name inside type Dog\"";
    for ask in asks(sdl) {
        assert_eq!(ask(add, ""), r#"{"data":{"addDog":{"numUids":1},"addCat":{"numUids":1}}}"#);
        for (mutation, words) in [
            (r#"addDog(input: [{name: "Rex"}])"#, dog),
            (r#"addCat(input: [{name: "Rex"}])"#, beside),
            (r#"addCat(input: [{name: "Rex"}], upsert: true)"#, beside),
            (r#"updateCat(input: {filter: {}, set: {name: "Rex"}})"#, beside),
            (
                r#"updateAnimal(input: {filter: {name: {eq: "Tom"}}, set: {name: "Rex"}})"#,
                "id Rex already exists for field name inside type Animal\"",
            ),
            (
                r#"addCat(input: [{name: "Kit", code: "x"}])"#,
                "id x already exists for field code inside type Cat\"",
            ),
        ] {
            let refused = ask(&format!("mutation {{ {mutation} {{ numUids }} }}"), "");
            assert!(refused.contains(words) && refused.contains("UNIQUE_VIOLATION"), "{mutation}: {refused}");
        }
    }
}

#[test]
fn a_key_that_an_update_sets_is_not_made_again_below() {
    let sdl = "interface Named { nick: String! @id, friends: [Person], spouse: Person } type Person implements Named { age: Int! }";
    let add = r#"mutation { addPerson(input: [{nick: "a", age: 1}]) { numUids } }"#;
    let twice = "duplicate XID found: b\"";
    for ask in asks(sdl) {
        assert_eq!(ask(add, ""), r#"{"data":{"addPerson":{"numUids":1}}}"#);
        let rename = |root: &str, nick: &str, edges: &str| {
            let set = format!("set: {{nick: \"{nick}\", {edges}}}");
            ask(&format!("mutation {{ {root}(input: {{filter: {{has: nick}}, {set}}}) {{ numUids }} }}"), "")
        };
        for root in ["updatePerson", "updateNamed"] {
            for edges in [
                r#"spouse: {nick: "b", age: 2}"#,
                r#"friends: [{nick: "b", age: 2}]"#,
                r#"friends: [{nick: "c", age: 2, friends: [{nick: "b", age: 2}]}]"#,
                r#"friends: [{nick: "b"}, {nick: "b", age: 2}]"#,
            ] {
                let refused = rename(root, "b", edges);
                assert!(refused.contains(twice) && refused.contains("UNIQUE_VIOLATION"), "{root}: {refused}");
            }
        }
        // An object is a friend of itself by its new name.
        for (root, nick) in [("updatePerson", "b"), ("updateNamed", "c")] {
            let renamed = rename(root, nick, &format!("friends: [{{nick: \"{nick}\"}}]"));
            assert_eq!(renamed, format!(r#"{{"data":{{"{root}":{{"numUids":1}}}}}}"#));
        }
        let left = ask("{ queryPerson { nick friends { nick } } }", "");
        assert_eq!(left, r#"{"data":{"queryPerson":[{"nick":"c","friends":[{"nick":"c"}]}]}}"#);
    }
}

#[test]
fn what_is_taken_is_told_by_its_fields() {
    let sdl = "type House { name: String! @id, dishes: [Dish] } \
               type Dish @unique(fields: [\"house\", \"made\"]) { house: House @hasInverse(field: dishes), made: DateTime, price: Int @search }";
    let made = "made: \"2020-01-01\"";
    let add = format!(
        "mutation {{ addDish(input: [{{house: {{name: \"h\"}}, {made}, price: 77}}]) {{ numUids }} }}"
    );
    let other = "mutation { addDish(input: [{house: {name: \"h\"}, price: 78}]) { numUids } }";
    let update = format!(
        "mutation {{ updateDish(input: {{filter: {{price: {{eq: 78}}}}, set: {{{made}}}}}) {{ numUids }} }}"
    );
    let twice = "mutation { addHouse(input: [{name: \"i\"}, {name: \"i\"}]) { numUids } }";
    for ask in asks(sdl) {
        assert_eq!(ask(&add, ""), r#"{"data":{"addDish":{"numUids":2}}}"#);
        let words = "\"an object with the same house and made already exists inside type Dish\"";
        let taken = ask(&add, "");
        assert!(taken.contains(words), "{taken}");
        assert_eq!(ask(other, ""), r#"{"data":{"addDish":{"numUids":1}}}"#);
        let taken = ask(&update, "");
        assert!(taken.contains(words) && taken.contains("UNIQUE_VIOLATION"), "{taken}");
        let taken = ask(twice, "");
        assert!(taken.contains("duplicate XID found: i\""), "{taken}");
    }
}

/// Asks one of the databases, with variables.
type Asks = Box<dyn Fn(&str, &str) -> String>;

/// Clients of the two stores of `sdl`.
fn asks(sdl: &str) -> [Asks; 2] {
    let sqlite = kit::serve(sdl, "");
    let postgres = in_postgres::serve(sdl, "");
    [
        Box::new(move |query, given| sqlite.ask(query, given)),
        Box::new(move |query, given| postgres.ask(query, given)),
    ]
}

/// A text of `bytes` that no compression makes shorter.
fn noise(bytes: usize) -> String {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'0' + (state >> 33) as u8 % 74)
    };
    std::iter::repeat_with(&mut next).filter(|it| *it != '\\').take(bytes).collect()
}

#[test]
fn a_text_of_any_length_is_found_by_hash() {
    let sdl = "interface Named { name: String @search(by: [hash]) } type Dish implements Named { id: ID! } \
               type Cook implements Named { id: ID!, dish: Dish }";
    let [one, two] = [noise(9000), format!("{}x", noise(8999))];
    let values = format!(r#"{{"one": "{one}", "two": "{two}"}}"#);
    let add = "mutation($one: String, $two: String) { addDish(input: [{name: $one}, {name: $two}, {name: \"pho\"}]) { numUids } }";
    let ids = "dish: queryDish(filter: {name: {eq: $one}}) { id } named: queryNamed(filter: {name: {in: [$two, \"pho\"]}}) { name } \
               none: queryDish(filter: {name: {eq: $none}}) { id }";
    let ask = format!("query($one: String, $two: String, $none: String) {{ {ids} }}");
    let asked = values.replace('}', &format!(r#", "none": "{}"}}"#, noise(600)));
    for asks in asks(sdl) {
        assert_eq!(asks(add, &values), r#"{"data":{"addDish":{"numUids":3}}}"#);
        let expected = format!(
            r#"{{"data":{{"dish":[{{"id":"0x1"}}],"named":[{{"name":"{two}"}},{{"name":"pho"}}],"none":[]}}}}"#
        );
        assert_eq!(asks(&ask, &asked), expected);
    }
}

#[test]
fn an_index_over_how_texts_begin_is_used() {
    let served = in_postgres::serve("type Dish { name: String @search(by: [hash]) }", "");
    let filler =
        r#"INSERT INTO "Dish" (name) SELECT md5(g::text) FROM generate_series(1, 5000) g; ANALYZE "Dish""#;
    served.database.run(filler);
    for filter in ["eq: \"x\"", "in: [\"x\"]"] {
        let query = format!("{{ queryDish(filter: {{name: {{{filter}}}}}) {{ name }} }}");
        let plan = kit::explain(&served.engine, &query);
        assert!(plan.contains("left(") && plan.contains(", 500) ="), "{plan}");
        assert_eq!(served.ask(&query, ""), r#"{"data":{"queryDish":[]}}"#);
    }
    let explained = served.database.run(
        r#"SET enable_seqscan = off; EXPLAIN SELECT 1 FROM "Dish" WHERE left(name, 500) = ANY(ARRAY(SELECT left(v, 500) FROM unnest(ARRAY['a']) AS v))"#,
    );
    assert!(explained.contains("Dish_name_idx"), "{explained}");
}

#[test]
fn a_text_that_an_index_holds_whole_has_a_bound_in_postgresql() {
    let sdl = "type Dish @unique(fields: [\"house\", \"name\"]) { id: ID!, code: String @id, title: String @search(by: [exact]), \
               tags: [String], house: String, name: String, text: String }";
    for (field, max) in [("code: $v", 2600), ("title: $v", 2600), ("tags: [$v]", 2600), ("house: $v", 1300)] {
        let add = format!(
            "mutation($v: String!) {{ addDish(input: [{{text: \"t\"}}, {{{field}}}]) {{ numUids }} }}"
        );
        let given = |bytes| format!(r#"{{"v": "{}"}}"#, noise(bytes));
        let [sqlite, postgres] = asks(sdl);
        assert_eq!(sqlite(&add, &given(max + 1)), r#"{"data":{"addDish":{"numUids":2}}}"#);
        let refused = postgres(&add, &given(max + 1));
        let words = format!(
            "field {} of type Dish takes {max} bytes at most, because an index holds it whole; given were {}",
            field.split_once(':').unwrap().0,
            max + 1
        );
        assert!(refused.contains(&words) && refused.contains("INVALID_VALUE"), "{refused}");
        let none = postgres("{ queryDish { id } }", "");
        assert_eq!(none, r#"{"data":{"queryDish":[]}}"#, "the whole mutation is out");
        assert_eq!(postgres(&add, &given(max)), r#"{"data":{"addDish":{"numUids":2}}}"#);
        assert_eq!(
            postgres(&add.replace("$v: String!", "$v: String! = \"x\""), ""),
            r#"{"data":{"addDish":{"numUids":2}}}"#
        );
    }
}

#[test]
fn a_filter_through_forty_edges_is_planned_a_few_times_and_not_for_every_edge_twice() {
    let sdl = "type P { id: ID!, n: Int @search, boss: P @hasInverse(field: staff), staff: [P] }";
    // Each is the boss of the next.
    let fill = r#"INSERT INTO "P" (id, n, boss_id) SELECT n, n, nullif(n - 1, 0) FROM (
        WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 45) SELECT n FROM s) AS s"#;
    let postgres = in_postgres::serve(sdl, fill);
    for (edge, ids) in [("boss", r#"{"id":"0x2a"}"#), ("staff", r#""#)] {
        let filter = (0..40).fold("{n: {eq: 2}}".to_owned(), |inner, _| format!("{{{edge}: {inner}}}"));
        let query = format!("{{ queryP(filter: {filter}) {{ id }} }}");
        let expected = format!(r#"{{"data":{{"queryP":[{ids}]}}}}"#);
        assert_eq!(postgres.ask(&query, ""), expected, "{edge}");

        let asked = kit::explain(&postgres.engine, &query);
        let statement = asked.lines().find(|it| it.contains("SELECT")).expect("a statement");
        let plan = postgres.database.run(&format!("PREPARE q AS {statement}; EXPLAIN EXECUTE q(2)"));
        // They are numbered as they are planned, also those that the plan does without.
        let numbers = plan.split("SubPlan ").skip(1).map(|it| {
            let digits = it.find(|it: char| !it.is_ascii_digit()).unwrap_or(it.len());
            it[..digits].parse::<u32>().expect("a number")
        });
        let planned = numbers.max().expect("some are looked up row by row");
        assert!((30..400).contains(&planned), "{planned}: {plan}");
    }
}

const STARS: &str =
    "type Star { id: ID!, name: String! @id, mass: Float @search, light: [Float], seen: DateTime @search,
    kind: Kind @search, size: Int @search, next: Star } enum Kind { RED BLUE WHITE }";
const SKY: &str = r#"mutation { addStar(input: [
    {name: "a", mass: 1.5, seen: "2024-01-01T00:00:00Z", kind: RED, size: 1},
    {name: "b", mass: 2.5, seen: "2024-01-02T00:00:00Z", kind: BLUE, size: 2, next: {name: "a"}},
    {name: "c", mass: 3.5, kind: WHITE, next: {name: "b"}}]) { numUids } }"#;

/// Asks both stores, with variables, and compares.
fn ask_both(stores: &(kit::Served, in_postgres::Served), query: &str, variables: &str) -> String {
    let sqlite = stores.0.ask(query, variables);
    assert_eq!(sqlite, stores.1.ask(query, variables), "{query} {variables}");
    sqlite
}

#[test]
fn equalities_of_one_field_are_one_list_and_costly_filters_and_orders_are_bounded() {
    let stores = (kit::serve(STARS, ""), in_postgres::serve(STARS, ""));
    ask_both(&stores, SKY, "");
    for (any, names) in [
        (r#"{name: {eq: "a"}}, {name: {eq: "c"}}"#, "a c"),
        (r#"{size: {eq: 1}}, {size: {eq: 2}}, {size: {eq: 2}}"#, "a b"),
        (r#"{kind: {eq: RED}}, {kind: {eq: WHITE}}"#, "a c"),
        (r#"{mass: {eq: 1.5}}, {mass: {eq: 2.5}}"#, "a b"),
        (r#"{seen: {eq: "2024-01-01T01:00:00+01:00"}}, {seen: {eq: "2024-01-02T00:00:00Z"}}"#, "a b"),
        (r#"{id: "0x1"}, {id: ["0x2", "none"]}, {id: []}"#, "a b"),
        (r#"{size: {eq: null}}, {size: {eq: 1}}, {size: {eq: 2}}"#, "a b c"),
    ] {
        let query = format!("{{ queryStar(filter: {{or: [{any}]}}, order: {{asc: name}}) {{ name }} }}");
        let names: Vec<String> = names.split(' ').map(|it| format!(r#"{{"name":"{it}"}}"#)).collect();
        assert_eq!(
            ask_both(&stores, &query, ""),
            format!(r#"{{"data":{{"queryStar":[{}]}}}}"#, names.join(","))
        );
    }
    let query = r#"{ queryStar(filter: {or: [{name: {eq: "a"}}, {name: {eq: "b"}}]}, order: {asc: name, then: {desc: name}}) { name } }"#;
    let postgres = kit::explain(&stores.1.engine, query);
    let sqlite = stores.0.explain(query);
    assert!(sqlite.contains(r#"IN (SELECT value FROM json_each(?1)) ORDER BY t0."name", t0."#), "{sqlite}");
    assert!(postgres.contains("= ANY($1)"), "{postgres}");
    let query = "query ($f: StarFilter!) { queryStar(filter: $f) { name } }";
    let any = |count: usize, by: &str| {
        let all: Vec<String> = (0..count).map(|at| format!(r#"{{"size": {{"{by}": {at}}}}}"#)).collect();
        format!(r#"{{"f": {{"or": [{}]}}}}"#, all.join(","))
    };
    assert!(!ask_both(&stores, query, &any(1_000, "gt")).contains("errors"));
    assert!(ask_both(&stores, query, &any(1_001, "gt")).contains("LIMIT_CONDITIONS"));
    assert!(!ask_both(&stores, query, &any(9_000, "eq")).contains("errors"));
    let change = "mutation ($f: StarFilter!) { deleteStar(filter: $f) { numUids } }";
    assert!(ask_both(&stores, change, &any(1_001, "gt")).contains("LIMIT_CONDITIONS"));
    let order = |depth: usize| format!("{}{{asc: size}}{}", "{next: ".repeat(depth), "}".repeat(depth));
    let far =
        |depth: usize| format!("{{ queryStar(order: {}, filter: {{has: next}}) {{ name }} }}", order(depth));
    assert!(!ask_both(&stores, &far(9), "").contains("errors"));
    let too_far = format!("{{desc: size, then: {{next: {{asc: name, then: {}}}}}}}", order(99));
    let query = format!("{{ queryStar(order: {too_far}) {{ name }} }}");
    assert!(ask_both(&stores, &query, "").contains("LIMIT_"));
}

#[test]
fn floats_beyond_their_range_are_refused_before_anything_is_written() {
    let stores = (kit::serve(STARS, ""), in_postgres::serve(STARS, ""));
    ask_both(&stores, SKY, "");
    let read = "{ queryStar(order: {asc: name}) { name mass light } }";
    let before = ask_both(&stores, read, "");
    for digits in ["1e400", "-1e400", "1e309", &"9".repeat(400)] {
        for (declared, query) in [
            ("$x: Float!", r#"mutation { addStar(input: [{name: "x", mass: X}]) { numUids } }"#),
            ("$x: Float!", r#"mutation { addStar(input: [{name: "x", light: [1, X]}]) { numUids } }"#),
            ("$x: Float!", "mutation { updateStar(input: {filter: {}, set: {mass: X}}) { numUids } }"),
            ("$x: Float!", "query { queryStar(filter: {mass: {gt: X}}) { name } }"),
            ("$x: Float!", "query { queryStar(filter: {mass: {in: [X]}}) { name } }"),
            ("$x: Float!", "query { queryStar(filter: {mass: {between: {min: 1, max: X}}}) { name } }"),
        ] {
            assert!(
                ask_both(&stores, &query.replace('X', digits), "").contains("errors"),
                "{query} {digits}"
            );
            let (kind, rest) = query.split_once('{').expect("a selection");
            let query = format!("{kind}({declared}) {{{}", rest.replace('X', "$x"));
            let variables = format!(r#"{{"x": {digits}}}"#);
            assert!(ask_both(&stores, &query, &variables).contains("errors"), "{query} {digits}");
        }
    }
    assert_eq!(ask_both(&stores, read, ""), before);
}

#[tokio::test]
async fn a_mutation_works_no_longer_than_a_statement_may() {
    let made = tokio::task::spawn_blocking(|| {
        let tune =
            |it: &mut weir_postgres::Settings| it.limits.statement_timeout = Duration::from_millis(300);
        in_postgres::serve_with("type Mote { id: ID!, size: Int }", "", tune)
    });
    let served = made.await.expect("it is served");
    let mut hand = Hand::new(&served.database).await;
    hand.run("BEGIN").await;
    hand.run(r#"LOCK TABLE "Mote" IN ACCESS EXCLUSIVE MODE"#).await;
    // The request itself may take for as long as the test.
    let later = Instant::now() + Duration::from_secs(3600);
    let request = Request::new("mutation { deleteMote(filter: {}) { numUids } }", later);
    let body = served.engine.execute(request, &served.engine.caller(&Identity::admin())).await.body;
    assert!(whole(body).contains(r#""code":"SOURCE_TIMEOUT""#));
    tokio::task::spawn_blocking(|| drop(served)).await.expect("its runtime ends");
}
