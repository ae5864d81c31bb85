//! Small things that users of Dgraph meet: inputs that are taken as there, and where an answer differs as documentation says.

use crate::as_dgraph::{check, check_given};

#[test]
fn a_nested_object_may_lack_its_password() {
    let sdl = "type P { t: String! @id, u: U, all: [Holder] } interface Holder { at: Int } \
               type U implements Holder @secret(field: \"pw\") { name: String! @id, friends: [U] } \
               union Either = U | P type Q { t: String! @id, either: Either }";
    let right = |name: &str, there: bool| {
        let found = if there { format!(r#"{{"name":"{name}"}}"#) } else { "null".into() };
        (
            format!(r#"{{ checkUPassword(name: "{name}", pw: "secret") {{ name }} }}"#),
            format!(r#""checkUPassword":{found}"#),
        )
    };
    let [none, set, updated] = [right("new", false), right("new", true), right("b", true)];
    check(
        sdl,
        &[
            (
                r#"mutation { addP(input: [{t: "1", u: {name: "new", friends: [{name: "b"}]}}]) { numUids p { u { name friends { name } } } } }"#,
                r#""addP":{"numUids":3,"p":[{"u":{"name":"new","friends":[{"name":"b"}]}}]}"#,
            ),
            (&none.0, &none.1),
            (
                r#"mutation { addU(upsert: true, input: [{name: "new", pw: "secret"}]) { numUids } }"#,
                r#""addU":{"numUids":0}"#,
            ),
            (&set.0, &set.1),
            (
                r#"mutation { updateU(input: {filter: {name: {eq: "b"}}, set: {pw: "secret", friends: [{name: "c"}]}}) { numUids } }"#,
                r#""updateU":{"numUids":1}"#,
            ),
            (&updated.0, &updated.1),
            (
                r#"mutation { addQ(input: [{t: "1", either: {uRef: {name: "d"}}}]) { numUids } }"#,
                r#""addQ":{"numUids":2}"#,
            ),
            (
                r#"mutation { addU(input: [{name: "e"}]) { numUids } }"#,
                "Field AddUInput.pw of required type String! was not provided.",
            ),
            (
                "{ queryU(order: {asc: name}) { name } }",
                r#""queryU":[{"name":"b"},{"name":"c"},{"name":"d"},{"name":"new"}]"#,
            ),
        ],
    );
}

#[test]
fn an_unknown_key_cannot_be_removed() {
    let sdl = "type C { k: String! @id, n: Int, cs: [C], one: C }";
    let remove = |what: &str| {
        format!(
            r#"mutation {{ updateC(input: {{filter: {{k: {{eq: "a"}}}}, remove: {{{what}}}}}) {{ numUids }} }}"#
        )
    };
    let [unknown, one, both, known, unlinked] = [
        r#"cs: [{k: "x"}]"#,
        r#"one: {k: "x"}"#,
        r#"cs: [{k: "b"}, {k: "x"}]"#,
        r#"cs: [{k: "b"}]"#,
        r#"cs: [{k: "c"}]"#,
    ]
    .map(remove);
    let refused = "because id is not provided";
    let done = r#""updateC":{"numUids":1}"#;
    check(
        sdl,
        &[
            (
                r#"mutation { addC(input: [{k: "a", cs: [{k: "b"}]}, {k: "c"}]) { numUids } }"#,
                r#""addC":{"numUids":3}"#,
            ),
            (&unknown, refused),
            (&one, refused),
            (&both, refused),
            (r#"{ getC(k: "a") { cs { k } } }"#, r#""getC":{"cs":[{"k":"b"}]}"#),
            (&known, done),
            (&unlinked, done),
            (r#"{ getC(k: "a") { cs { k } } }"#, r#""getC":{"cs":[]}"#),
        ],
    );
}

#[test]
fn a_key_that_names_none_or_several_is_told_as_a_key() {
    let sdl = "interface Vessel { hull: String! @id(interface: true) } type Raft implements Vessel { logs: Int } \
               interface Sh { per: String! @id } type A implements Sh { a: Int } type B implements Sh { b: Int } \
               type Boat { reg: String! @id, tows: Vessel, sh: Sh, raft: Raft } type Ship implements Vessel { sails: Int }";
    let boat = |what: &str| format!(r#"mutation {{ addBoat(input: [{{reg: "1", {what}}}]) {{ numUids }} }}"#);
    let [unknown, other, several] =
        [r#"tows: {hull: "F71"}"#, r#"raft: {hull: "S1"}"#, r#"sh: {per: "p"}"#].map(boat);
    check(
        sdl,
        &[
            (
                r#"mutation { addShip(input: [{hull: "S1"}]) { numUids } addA(input: [{per: "p"}]) { numUids } addB(input: [{per: "p"}]) { numUids } }"#,
                r#""addShip":{"numUids":1},"addA":{"numUids":1},"addB":{"numUids":1}"#,
            ),
            (&unknown, r#"because there is no Vessel whose hull is \"F71\""#),
            (&other, r#"because there is no Raft whose hull is \"S1\""#),
            (&several, "because several objects of Sh have the per p: `per` is unique within each type only"),
        ],
    );
}

#[test]
fn a_number_of_seconds_is_a_moment() {
    let sdl = "type Event { key: String! @id, at: DateTime @search, days: [DateTime] @search }";
    check_given(
        sdl,
        &[
            (
                r#"mutation($at: DateTime) { addEvent(input: [{key: "a", at: 2003, days: [1000000000, "2003"]}, {key: "b", at: $at}, {key: "c", at: -1.5}]) { event(order: {asc: key}) { at days } } }"#,
                r#"{"at": 1e9}"#,
                r#""addEvent":{"event":[{"at":"1970-01-01T00:33:23Z","days":["2001-09-09T01:46:40Z","2003-01-01T00:00:00Z"]},{"at":"2001-09-09T01:46:40Z","days":[]},{"at":"1969-12-31T23:59:58.5Z","days":[]}]}"#,
            ),
            (
                "query($at: DateTime!) { a: queryEvent(filter: {at: {eq: 2003}}) { key } b: queryEvent(filter: {at: {in: [$at, \"1970\"]}}) { key } c: queryEvent(filter: {days: {between: {min: 999999999, max: $at}}}) { key } }",
                r#"{"at": 1000000000}"#,
                r#""a":[{"key":"a"}],"b":[{"key":"b"}],"c":[{"key":"a"}]"#,
            ),
            (
                r#"mutation { addEvent(input: [{key: "d", at: true}]) { numUids } }"#,
                "",
                "Expected type DateTime, found true.",
            ),
            (r#"mutation { addEvent(input: [{key: "d", at: 1e30}]) { numUids } }"#, "", "is no DateTime"),
        ],
    );
}

#[test]
fn small_things_are_as_the_table_of_differences_says() {
    let sdl = "type K { k: String @id, n: Int @search, at: Polygon @search, f(x: Int): String } type C { k: String! @id, n: Int, cs: [C], one: C } type Shelf { name: String! @id, books: [Book] @hasInverse(field: shelf) } type Book { title: String! @id, shelf: Shelf }";
    check(
        sdl,
        &[
            (
                r#"mutation { addK(input: [{k: "1"}, {k: "2", n: 3}]) { numUids } }"#,
                r#""addK":{"numUids":2}"#,
            ),
            // A null in a list of values is refused.
            (r#"{ queryK(filter: {k: {in: ["1", null]}}) { k } }"#, "unexpected null value in a list"),
            // A ring need not be closed.
            (
                r#"mutation { addK(input: [{k: "3", at: {coordinates: [{points: [{longitude: 0, latitude: 0}, {longitude: 1, latitude: 0}, {longitude: 1, latitude: 1}]}]}}]) { numUids } }"#,
                r#""addK":{"numUids":1}"#,
            ),
            (
                r#"{ queryK(filter: {at: {contains: {point: {longitude: 0.9, latitude: 0.5}}}}) { k } }"#,
                r#""queryK":[{"k":"3"}]"#,
            ),
            // An object belongs to one other: the last of two keeps it.
            (
                r#"mutation { addShelf(input: [{name: "a", books: [{title: "x"}]}, {name: "b", books: [{title: "x"}]}]) { numUids } }"#,
                r#""addShelf":{"numUids":3}"#,
            ),
            (
                "{ queryShelf(order: {asc: name}) { name books { title } } }",
                r#""queryShelf":[{"name":"a","books":[]},{"name":"b","books":[{"title":"x"}]}]"#,
            ),
            // Arguments of stored fields are left out.
            ("{ queryK { f(x: 1) } }", "Unknown argument"),
            ("{ queryK { f } }", r#""queryK":[{"f":null},{"f":null},{"f":null}]"#),
        ],
    );
}

#[test]
fn an_object_that_is_only_named_at_the_top_may_be_described_below() {
    let sdl = "type C { k: String! @id, n: Int, cs: [C] }";
    check(
        sdl,
        &[
            (
                r#"mutation { addC(input: [{k: "k1"}, {k: "k4", cs: [{k: "k1", n: 1}]}]) { numUids c(order: {asc: k}) { k n cs { k } } } }"#,
                r#""addC":{"numUids":2,"c":[{"k":"k1","n":1,"cs":[]},{"k":"k4","n":null,"cs":[{"k":"k1"}]}]}"#,
            ),
            (
                r#"mutation { addC(input: [{k: "a", cs: [{k: "b"}]}, {k: "b", n: 2}]) { numUids } }"#,
                r#""addC":{"numUids":2}"#,
            ),
            (r#"{ getC(k: "a") { cs { k n } } }"#, r#""getC":{"cs":[{"k":"b","n":2}]}"#),
            (
                r#"mutation { addC(input: [{k: "d", n: 1}, {k: "e", cs: [{k: "d", n: 2}]}]) { numUids } }"#,
                "duplicate XID found: d",
            ),
            (r#"mutation { addC(input: [{k: "f"}, {k: "f"}]) { numUids } }"#, "duplicate XID found: f"),
        ],
    );
}
