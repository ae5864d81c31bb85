//! Values, filters and refusals as clients of Dgraph know them, in both databases.

use crate::kit;
use crate::kit::in_postgres;

/// Asks both stores of `sdl` each of `requests` in turn and compares the data, or the words of the error.
pub(crate) fn check(sdl: &str, requests: &[(&str, &str)]) {
    check_given(sdl, &requests.iter().map(|it| (it.0, "", it.1)).collect::<Vec<_>>());
}

/// As [`check`], with variables; gives what was served.
pub(crate) fn check_given(sdl: &str, requests: &[(&str, &str, &str)]) -> (kit::Served, in_postgres::Served) {
    let sqlite = kit::serve(sdl, "");
    let postgres = in_postgres::serve(sdl, "");
    for &(request, variables, expected) in requests {
        let asked: [(&str, String); 2] =
            [("SQLite", sqlite.ask(request, variables)), ("PostgreSQL", postgres.ask(request, variables))];
        for (database, answer) in asked {
            if answer.starts_with(r#"{"data""#) {
                assert_eq!(answer, format!(r#"{{"data":{{{expected}}}}}"#), "{database}: {request}")
            } else {
                assert!(answer.contains(expected), "{database}: {request}: {answer}")
            }
        }
    }
    (sqlite, postgres)
}

#[test]
fn a_moment_is_normal_wherever_it_comes_from() {
    let sdl = "interface Dated { at: DateTime @search, days: [DateTime] @search } \
               type Event implements Dated { key: String! @id, made: DateTime @default(add: {value: \"2003\"}), parts: [Event] }";
    let add = r#"mutation($at: DateTime) { addEvent(input: [
        {key: "a", at: "1999-12-31", days: ["2003", "2003-01-01T00:00:00.0Z", "2004-05"]}
        {key: "b", at: $at, made: "2019-03-28 14:41:57", parts: [{key: "a"}]}
      ]) { event(order: {asc: key}) { at days made } } }"#;
    let added = r#""addEvent":{"event":[{"at":"1999-12-31T00:00:00Z","days":["2003-01-01T00:00:00Z","2004-05-01T00:00:00Z"],"made":"2003-01-01T00:00:00Z"},{"at":"2019-03-28T14:41:57.7+02:00","days":[],"made":"2019-03-28T14:41:57Z"}]}"#;
    let (_, postgres) = check_given(
        sdl,
        &[
            (add, r#"{"at": "2019-03-28T14:41:57.700+02:00"}"#, added),
            (
                "{ aggregateEvent { atMin atMax } queryEvent(filter: {key: {eq: \"b\"}}) { partsAggregate { atMax } } }",
                "",
                r#""aggregateEvent":{"atMin":"1999-12-31T00:00:00Z","atMax":"2019-03-28T14:41:57.7+02:00"},"queryEvent":[{"partsAggregate":{"atMax":"1999-12-31T00:00:00Z"}}]"#,
            ),
            (
                r#"{ a: queryEvent(filter: {at: {eq: "1999-12-31T01:00:00.000+01:00"}}) { key } b: queryDated(filter: {at: {in: ["2019-03-28T12:41:57.7Z"]}}) { at } c: queryEvent(filter: {days: {between: {min: "2004", max: "2005"}}}) { key } }"#,
                "",
                r#""a":[{"key":"a"}],"b":[{"at":"2019-03-28T14:41:57.7+02:00"}],"c":[{"key":"a"}]"#,
            ),
            (
                r#"mutation { updateEvent(input: {filter: {key: {eq: "b"}}, set: {at: "2000-02-29T24:00:00Z"}}) { numUids } }"#,
                "",
                r#"\"2000-02-29T24:00:00Z\" is no DateTime"#,
            ),
            (
                r#"mutation { updateEvent(input: {filter: {key: {eq: "a"}}, remove: {at: "1999-12-30T23:00:00-01:00", days: ["2003-01-01T02:00:00+02:00"]}}) { event { at days } } }"#,
                "",
                r#""updateEvent":{"event":[{"at":null,"days":["2004-05-01T00:00:00Z"]}]}"#,
            ),
        ],
    );
    let stored = postgres.database.run(r#"SELECT at, at_at FROM "Event" WHERE key = 'b'"#);
    assert_eq!(stored.trim(), "2019-03-28T14:41:57.7+02:00|1553776917700000");
}

#[test]
fn a_sum_of_ints_may_have_more_than_32_bits() {
    let sdl = "type Star { key: String! @id, age: Int, moons: [Star] }";
    check(
        sdl,
        &[
            (
                r#"mutation { addStar(input: [{key: "a", age: 2147483647, moons: [{key: "b", age: 2147483647}, {key: "c", age: 2}]}]) { numUids } }"#,
                r#""addStar":{"numUids":3}"#,
            ),
            (
                r#"{ aggregateStar { ageSum ageMax } getStar(key: "a") { moonsAggregate { ageSum } } }"#,
                r#""aggregateStar":{"ageSum":4294967296,"ageMax":2147483647},"getStar":{"moonsAggregate":{"ageSum":2147483649}}"#,
            ),
        ],
    );
}

#[test]
fn an_ngram_is_found_by_stems_and_without_words_that_say_nothing() {
    let sdl = "type Note { key: String! @id, text: String @search(by: [ngram]), lines: [String] @search(by: [ngram]) }";
    let add = r#"mutation { addNote(input: [
        {key: "a", text: "The quick brown foxes were jumping over a lazy dog", lines: ["happy days", "of hoping"]}
        {key: "b", text: "quickly, brown-fox jumps", lines: ["sensibility"]}
        {key: "c", text: "ox is it 12.5"}
      ]) { numUids } }"#;
    let ask = "query($words: String!) { text: queryNote(filter: {text: {ngram: $words}}) { key } lines: queryNote(filter: {lines: {ngram: $words}}) { key } }";
    let mut requests = vec![(add.to_owned(), String::new(), r#""addNote":{"numUids":3}"#.to_owned())];
    for (words, text, lines) in [
        ("brown fox", "a b", ""),
        ("fox jump lazy", "a", ""),
        ("the foxes were jumped", "a b", ""),
        ("Quick brown", "a b", ""),
        ("dog lazy", "", ""),
        ("jump dog", "", ""),
        ("ox 12 5", "c", ""),
        ("days of", "", "a"),
        ("happy hope", "", ""),
        ("hopes", "", "a"),
        ("sensible", "", "b"),
        ("is it", "", ""),
        ("", "", ""),
        ("!?", "", ""),
    ] {
        let keys = |it: &str| {
            let keys: Vec<String> = it.split_whitespace().map(|it| format!(r#"{{"key":"{it}"}}"#)).collect();
            keys.join(",")
        };
        let expected = format!(r#""text":[{}],"lines":[{}]"#, keys(text), keys(lines));
        requests.push((ask.to_owned(), format!(r#"{{"words": "{words}"}}"#), expected.clone()));
        requests.push((
            ask.replace("($words: String!)", "").replace("$words", &format!("{words:?}")),
            String::new(),
            expected,
        ));
    }
    let requests: Vec<(&str, &str, &str)> =
        requests.iter().map(|it| (it.0.as_str(), it.1.as_str(), it.2.as_str())).collect();
    check_given(sdl, &requests);
}

#[test]
fn all_words_may_stand_in_different_items_of_a_list() {
    let sdl = "interface Tagged { tags: [String] @search(by: [term, fulltext]) } \
               type Note implements Tagged { key: String! @id } type Dish implements Tagged { name: String! @id }";
    let found = |filter: &str, keys: &str| {
        let keys: Vec<String> = keys.split_whitespace().map(|it| format!(r#"{{"key":"{it}"}}"#)).collect();
        (
            format!("{{ queryNote(filter: {filter}) {{ key }} }}"),
            format!(r#""queryNote":[{}]"#, keys.join(",")),
        )
    };
    let mut requests = vec![(
        r#"mutation { addNote(input: [{key: "a", tags: ["red wine", "white"]}, {key: "b", tags: ["red"]}, {key: "c"}]) { numUids } addDish(input: [{name: "d", tags: ["white", "running red"]}]) { numUids } }"#.to_owned(),
        r#""addNote":{"numUids":3},"addDish":{"numUids":1}"#.to_owned(),
    )];
    requests.extend([
        found(r#"{tags: {allofterms: "white RED"}}"#, "a"),
        found(r#"{tags: {allofterms: "red"}}"#, "a b"),
        found(r#"{tags: {allofterms: "red blue"}}"#, ""),
        found(r#"{tags: {allofterms: "!?"}}"#, ""),
        found(r#"{not: {tags: {allofterms: "white red"}}}"#, "b c"),
        found(r#"{tags: {anyofterms: "white blue"}}"#, "a"),
        found(r#"{tags: {alloftext: "the wines whites"}}"#, "a"),
        found(r#"{tags: {alloftext: "the own"}}"#, ""),
        found(r#"{tags: {allofterms: "white red", anyofterms: "blue"}}"#, ""),
        found(r#"{or: [{tags: {allofterms: "white wine"}}, {key: {eq: "b"}}]}"#, "a b"),
    ]);
    requests.push((
        r#"{ queryTagged(filter: {tags: {alloftext: "runs white"}}) { tags } }"#.to_owned(),
        r#""queryTagged":[{"tags":["white","running red"]}]"#.to_owned(),
    ));
    check(sdl, &requests.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect::<Vec<_>>());
}

#[test]
fn an_empty_key_is_refused() {
    let sdl = "interface Named { name: String! @id(interface: true) } \
               type Dish implements Named { code: String @id, number: Int @id, cook: Cook } type Cook { nick: String! @id }";
    let words = |of: &str| format!("because encountered an empty value for @id field `{of}`");
    let [code, name, nick] = ["Dish.code", "Dish.name", "Cook.nick"].map(words);
    check_given(
        sdl,
        &[
            (r#"mutation { addDish(input: [{name: "a", code: "", number: 0}]) { numUids } }"#, "", &code),
            (
                r#"mutation($name: String!) { addDish(input: [{name: $name}]) { numUids } }"#,
                r#"{"name": ""}"#,
                &name,
            ),
            (
                r#"mutation { addDish(input: [{name: "a", cook: {nick: ""}}], upsert: true) { numUids } }"#,
                "",
                &nick,
            ),
            (
                r#"mutation { addDish(input: [{name: "a", code: "a", number: 0}]) { numUids } }"#,
                "",
                r#""addDish":{"numUids":1}"#,
            ),
            (r#"mutation { updateDish(input: {filter: {}, set: {code: ""}}) { numUids } }"#, "", &code),
            (
                r#"mutation { updateDish(input: {filter: {}, remove: {cook: {nick: ""}}}) { numUids } }"#,
                "",
                &nick,
            ),
            (
                r#"{ getDish(code: "") { name } queryDish { name code } }"#,
                "",
                r#""getDish":null,"queryDish":[{"name":"a","code":"a"}]"#,
            ),
        ],
    );
}

#[test]
fn an_update_that_says_nothing_counts_nothing() {
    let sdl = "type Dish { name: String! @id, price: Int, at: DateTime @default(update: {value: \"2003\"}) }";
    let update = |input: &str| {
        let given = match (input.contains("$price"), input.contains("$p")) {
            (true, _) => "($price: Int)",
            (false, true) => "($p: DishPatch)",
            (false, false) => "",
        };
        format!(
            "mutation{given} {{ updateDish(input: {{filter: {{}}, {input}}}) {{ numUids dish {{ at }} }} }}"
        )
    };
    let none = r#""updateDish":{"numUids":0,"dish":[]}"#;
    let [set, remove, both, given, absent, null, one] = [
        "set: {}",
        "remove: {}",
        "set: {}, remove: {}",
        "set: $p",
        "set: {price: $price}, remove: {price: $price}",
        "set: {price: null}",
        "set: {}, remove: {price: 2}",
    ]
    .map(update);
    check_given(
        sdl,
        &[
            (
                r#"mutation { addDish(input: [{name: "a", price: 1}]) { numUids } }"#,
                "",
                r#""addDish":{"numUids":1}"#,
            ),
            (&set, "", none),
            (&remove, "", none),
            (&both, "", none),
            (&given, r#"{"p": {}}"#, none),
            (&given, "", none),
            (&absent, "", none),
            (&one, "", r#""updateDish":{"numUids":1,"dish":[{"at":null}]}"#),
            (&null, "", r#""updateDish":{"numUids":1,"dish":[{"at":"2003-01-01T00:00:00Z"}]}"#),
        ],
    );
}

#[test]
fn an_update_that_sets_nothing_but_null_changes_and_counts_nothing() {
    let sdl = "interface Priced { price: Int } type Dish implements Priced { name: String! @id, tags: [String], cook: Cook } \
               type Cook @secret(field: \"pwd\") { nick: String! @id }";
    let update = |ty: &str, input: &str| {
        let given = if input.contains("$i") { "($i: Int)" } else { "" };
        format!("mutation{given} {{ update{ty}(input: {{filter: {{}}, {input}}}) {{ numUids }} }}")
    };
    let [none, one] = [0, 1].map(|count| format!(r#""updateDish":{{"numUids":{count}}}"#));
    let [null, several, variable, removed, also, list, cook, interface] = [
        ("Dish", "set: {price: null}"),
        ("Dish", "set: {price: null, name: null, tags: null, cook: null}"),
        ("Dish", "set: {price: $i}"),
        ("Dish", "set: {price: null}, remove: {}"),
        ("Dish", "set: {price: null}, remove: {price: 7}"),
        ("Dish", "set: {tags: []}"),
        ("Cook", "set: {pwd: null}"),
        ("Priced", "set: {price: null}"),
    ]
    .map(|(ty, input)| update(ty, input));
    check_given(
        sdl,
        &[
            (
                r#"mutation { addDish(input: [{name: "a", price: 1, cook: {nick: "c", pwd: "secret"}}]) { numUids } }"#,
                "",
                r#""addDish":{"numUids":2}"#,
            ),
            (&null, "", &none),
            (&several, "", &none),
            (&variable, r#"{"i": null}"#, &none),
            (&removed, "", &none),
            (&cook, "", r#""updateCook":{"numUids":0}"#),
            (&interface, "", r#""updatePriced":{"numUids":0}"#),
            (&also, "", &one),
            (&list, "", &one),
            (&variable, r#"{"i": 1}"#, &one),
        ],
    );
}

#[test]
fn a_password_that_is_set_stays_where_another_one_is_removed() {
    let sdl = "type Cook @secret(field: \"pwd\") { nick: String! @id }";
    let update =
        |input: &str| format!("mutation {{ updateCook(input: {{filter: {{}}, {input}}}) {{ numUids }} }}");
    let [other, order, same, null, alone] = [
        r#"set: {pwd: "second"}, remove: {pwd: "secret"}"#,
        r#"remove: {pwd: "x"}, set: {pwd: "third3"}"#,
        r#"set: {pwd: "fourth"}, remove: {pwd: "fourth"}"#,
        r#"set: {pwd: "fourth"}, remove: {pwd: null}"#,
        r#"remove: {pwd: "third3"}"#,
    ]
    .map(update);
    let opens = |pwd: &str| format!("{{ checkCookPassword(nick: \"c\", pwd: \"{pwd}\") {{ nick }} }}");
    let [first, second, third] = ["secret", "second", "third3"].map(opens);
    let right = r#""checkCookPassword":{"nick":"c"}"#;
    let wrong = r#""checkCookPassword":null"#;
    let one = r#""updateCook":{"numUids":1}"#;
    let kept = "type Cook requires a value for field pwd, so it cannot be removed";
    check(
        sdl,
        &[
            (
                r#"mutation { addCook(input: [{nick: "c", pwd: "secret"}]) { numUids } }"#,
                r#""addCook":{"numUids":1}"#,
            ),
            (&other, one),
            (&first, wrong),
            (&second, right),
            (&order, one),
            (&same, kept),
            (&null, kept),
            (&alone, kept),
            (&third, right),
        ],
    );
}

#[test]
fn names_in_a_cascade_are_known_wherever_it_stands() {
    let sdl = "type Dish @secret(field: \"pwd\") { name: String! @id, at: Point, note: String, cook: Cook } type Cook { nick: String! @id }";
    let wrong = |name: &str, ty: &str| {
        format!(
            "Field `{name}` is not present in type `{ty}`. You can only use fields in cascade which are in type `{ty}`"
        )
    };
    let add = r#"addDish(input: [{name: "a", pwd: "secret", at: {longitude: 1, latitude: 2}}])"#;
    let requests = [
        (
            format!("mutation {{ {add} @cascade(fields: [\"name\"]) {{ numUids }} }}"),
            wrong("name", "AddDishPayload"),
        ),
        (format!("mutation {{ {add} {{ numUids @cascade(fields: [\"a\"]) }} }}"), wrong("a", "Int")),
        (
            format!("mutation {{ {add} {{ dish @cascade(fields: [\"nam\"]) {{ name }} }} }}"),
            wrong("nam", "Dish"),
        ),
        (
            "mutation { updateDish(input: {filter: {}}) @cascade(fields: [\"msg\"]) { numUids } }".into(),
            wrong("msg", "UpdateDishPayload"),
        ),
        ("{ queryDish { name @cascade(fields: [\"name\"]) } }".into(), wrong("name", "String")),
        ("{ queryDish { at @cascade(fields: [\"x\"]) { latitude } } }".into(), wrong("x", "Point")),
        ("{ queryDish { at { latitude @cascade(fields: [\"x\"]) } } }".into(), wrong("x", "Float")),
        ("{ aggregateDish { count @cascade(fields: [\"x\"]) } }".into(), wrong("x", "Int")),
        (
            "{ checkDishPassword(name: \"a\", pwd: \"secret\") @cascade(fields: [\"x\"]) { name } }".into(),
            wrong("x", "Dish"),
        ),
        // Nothing of what was refused has been done.
        (
            format!(
                "mutation {{ {add} @cascade(fields: [\"dish\", \"numUids\"]) {{ numUids @cascade dish @cascade {{ name note }} }} }}"
            ),
            r#""addDish":{"numUids":1,"dish":[]}"#.into(),
        ),
        (
            "{ queryDish { at @cascade(fields: [\"latitude\"]) { latitude } } }".into(),
            r#""queryDish":[{"at":{"latitude":2}}]"#.into(),
        ),
        (
            "{ checkDishPassword(name: \"a\", pwd: \"secret\") @cascade(fields: [\"note\"]) { name note } }"
                .into(),
            r#""checkDishPassword":null"#.into(),
        ),
    ];
    check(sdl, &requests.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect::<Vec<_>>());
    let variable = format!("mutation($f: [String]) {{ {add} @cascade(fields: $f) {{ numUids }} }}");
    check_given(
        sdl,
        &[
            (&variable, r#"{"f": ["name"]}"#, &wrong("name", "AddDishPayload")),
            (&variable, r#"{"f": ["dish"]}"#, r#""addDish":{"numUids":1}"#),
        ],
    );
}

#[test]
fn several_operators_are_all_meant_and_fields_of_a_cascade_are_known() {
    let sdl = "type Dish { name: String! @search(by: []), price: Int @search, note: String }";
    let wrong = "Field `nam` is not present in type `Dish`. You can only use fields in cascade which are in type `Dish`";
    check_given(
        sdl,
        &[
            (
                r#"mutation { addDish(input: [{name: "red wine", price: 1}, {name: "wine", price: 5, note: "n"}, {name: "rice", price: 9}]) { numUids } }"#,
                "",
                r#""addDish":{"numUids":3}"#,
            ),
            (
                r#"{ queryDish(filter: {price: {ge: 1, lt: 9, in: [1, 9]}}) { name } }"#,
                "",
                r#""queryDish":[{"name":"red wine"}]"#,
            ),
            (
                r#"{ queryDish(filter: {name: {anyofterms: "rice wine", allofterms: "wine red"}}) { name } }"#,
                "",
                r#""queryDish":[{"name":"red wine"}]"#,
            ),
            (r#"{ queryDish @cascade(fields: ["name", "nam"]) { name } }"#, "", wrong),
            (
                "query($f: [String]) { queryDish @cascade(fields: $f) { name note } }",
                r#"{"f": ["nam"]}"#,
                wrong,
            ),
            (
                "query($f: [String]) { queryDish @cascade(fields: $f) { name note } }",
                r#"{"f": []}"#,
                r#""queryDish":[{"name":"wine","note":"n"}]"#,
            ),
            (
                "{ queryDish @cascade(fields: []) { name note } }",
                "",
                r#""queryDish":[{"name":"wine","note":"n"}]"#,
            ),
        ],
    );
}

#[test]
fn a_text_with_more_words_than_an_index_holds_is_refused() {
    let sdl =
        "type Note { key: String! @id, text: String @search(by: [term]), free: String @search(by: [hash]) }";
    let words: String = (0..100_000).map(|at| format!("w{at:09} ")).collect();
    let few = words[..600_000].repeat(2);
    let words = format!(r#"{{"t": "{words}"}}"#);
    let few = format!(r#"{{"t": "{few}"}}"#);
    let add = |field: &str| {
        format!("mutation($t: String) {{ addNote(input: [{{key: \"{field}\", {field}}}]) {{ numUids }} }}")
    };
    let refusal = "the words of field text of type Note take 1500000 bytes, and its index of words holds 1048575 of a text";
    let one = r#""addNote":{"numUids":1}"#;
    check_given(
        sdl,
        &[
            (&add("text: $t"), &words, refusal),
            (&add("free: $t"), &words, one),
            (&add("text: $t"), &few, one),
            (
                r#"mutation($t: String) { updateNote(input: {filter: {}, set: {text: $t}}) { numUids } }"#,
                &words,
                refusal,
            ),
            (
                "query($t: String) { queryNote(filter: {text: {anyofterms: $t}}) { key } }",
                &words,
                "more than 1000 words are asked for at once",
            ),
            (
                r#"{ queryNote(filter: {text: {allofterms: "w000000000 w000000001"}}) { key } }"#,
                "",
                r#""queryNote":[{"key":"text: $t"}]"#,
            ),
        ],
    );
}
