//! `@auth`: what callers with claims see and may change, in both databases.

use crate::kit;
use crate::kit::in_postgres;
use std::sync::Arc;
use weir_engine::caller::{Claims, Identity, Token};
use weir_language::json::Json;
use weir_native::auth::{TokenVariable, claims};
use weir_native::compile::Native;
use weir_native::layout::Database;
use weir_native::store::Types;

const BOATS: &str = r#"
type Boat @auth(
  query: { or: [
    { rule: "{ $ROLE: { eq: \"MASTER\" } }" }
    { rule: "query($LOGIN: String!) { queryBoat { crew(filter: { login: { eq: $LOGIN } }) { login } } }" }
    { rule: "query { queryBoat(filter: { open: true }) { __typename } }" }
  ] }
  add: { or: [
    { rule: "{ $ROLE: { eq: \"MASTER\" } }" }
    { rule: "query($LOGIN: String!) { queryBoat { crew(filter: { login: { eq: $LOGIN } }) { login } } }" }
  ] }
  update: { rule: "query($LOGIN: String!) { queryBoat { crew(filter: { login: { eq: $LOGIN } }) { login } } }" }
  delete: { rule: "{ $ROLE: { eq: \"MASTER\" } }" }
) {
  id: ID!
  reg: String! @id
  tons: Int @search
  open: Boolean @search
  harbour: Harbour @hasInverse(field: boats)
  crew: [Crew]
}
type Harbour @auth(
  update: { rule: "query($LOGIN: String!) { queryHarbour { master(filter: { login: { eq: $LOGIN } }) { login } } }" }
) {
  name: String! @id
  boats: [Boat]
  master: Crew
}
type Crew { login: String! @id }
type Log @auth(
  query: { rule: "{ $ROLE: { eq: \"MASTER\" } }" }
  add: { not: { rule: "{ $BANNED: { eq: true } }" } }
) { line: String! @id  boat: Boat }
"#;

const FILL: [&str; 2] = [
    r#"mutation { addHarbour(input: [
      { name: "North", master: { login: "ann" }, boats: [
        { reg: "N1", tons: 10, open: true, crew: [{ login: "ann" }] }
        { reg: "N2", tons: 20, open: false, crew: [{ login: "bob" }] }
      ] }
      { name: "South", master: { login: "bob" }, boats: [{ reg: "S1", tons: 30, open: false, crew: [{ login: "ann" }] }] }
    ]) { numUids } }"#,
    r#"mutation { addLog(input: [{ line: "one", boat: { reg: "N2" } }, { line: "two", boat: { reg: "N1" } }]) { numUids } }"#,
];

/// The same types in both databases.
pub(crate) struct Both {
    pub(crate) sqlite: kit::Served,
    pub(crate) postgres: in_postgres::Served,
    variables: Vec<TokenVariable>,
}

impl Both {
    pub(crate) fn new(sdl: &str, fill: &[&str]) -> Self {
        let types = Types::read(sdl, Database::Sqlite).expect("the types are sound");
        let api = weir_native::api::generate(types.model).expect("the API is sound");
        let variables = Native::new(api, types.layout, Database::Sqlite).token_variables().to_vec();
        let both = Self { sqlite: kit::serve(sdl, ""), postgres: in_postgres::serve(sdl, ""), variables };
        for mutation in fill {
            for answer in [both.sqlite.ask(mutation, ""), both.postgres.ask(mutation, "")] {
                assert!(!answer.contains("errors"), "{answer}");
            }
        }
        both
    }

    /// The caller with the claims of a JSON object; none is a caller without a token.
    pub(crate) fn caller(&self, claims: &str) -> Identity {
        let token = match claims {
            "" => Token::Absent,
            "!" => {
                Token::Refused("unable to parse jwt token:token has invalid claims: token is expired".into())
            }
            claims => {
                let json = Json::parse(claims.as_bytes(), 32).expect("JSON");
                Token::of(json.root().members().map(|(name, it)| (name.into_owned(), it.raw().to_owned())))
            }
        };
        let variables = claims::variables(&self.variables, &token);
        let claims = Arc::new(Claims::new(variables, token));
        Identity { role: "user".into(), is_backend: false, is_anonymous: false, claims }
    }

    /// Asks both and compares.
    fn check(&self, claims: &str, query: &str, expected: &str) {
        let caller = self.caller(claims);
        assert_eq!(self.sqlite.ask_as(query, &caller), expected, "SQLite, {claims}: {query}");
        assert_eq!(self.postgres.ask_as(query, &caller), expected, "PostgreSQL, {claims}: {query}");
    }

    /// As [`Self::check`], for data without errors.
    fn data(&self, claims: &str, query: &str, expected: &str) {
        self.check(claims, query, &format!(r#"{{"data":{{{expected}}}}}"#));
    }

    /// As [`Self::data`], for the admin.
    fn admin(&self, query: &str, expected: &str) {
        let expected = format!(r#"{{"data":{{{expected}}}}}"#);
        assert_eq!(self.sqlite.ask(query, ""), expected, "SQLite: {query}");
        assert_eq!(self.postgres.ask(query, ""), expected, "PostgreSQL: {query}");
    }
}

const MASTER: &str = r#"{"ROLE": "MASTER"}"#;
const ANN: &str = r#"{"LOGIN": "ann"}"#;
const BOB: &str = r#"{"LOGIN": "bob"}"#;

#[test]
fn reads_show_what_the_rules_let_through() {
    let both = Both::new(BOATS, &FILL);
    let boats = "{ queryBoat { reg } }";
    both.data(MASTER, boats, r#""queryBoat":[{"reg":"N1"},{"reg":"N2"},{"reg":"S1"}]"#);
    both.data("", boats, r#""queryBoat":[{"reg":"N1"}]"#);
    both.data(ANN, boats, r#""queryBoat":[{"reg":"N1"},{"reg":"S1"}]"#);
    both.data(BOB, boats, r#""queryBoat":[{"reg":"N1"},{"reg":"N2"}]"#);
    both.data(BOB, "{ getBoat(reg: \"S1\") { reg } }", r#""getBoat":null"#);
    both.data(BOB, "{ getBoat(reg: \"N2\") { reg } }", r#""getBoat":{"reg":"N2"}"#);
    both.data(BOB, "{ queryBoat(first: 1, offset: 1) { reg } }", r#""queryBoat":[{"reg":"N2"}]"#);
    both.data(BOB, "{ aggregateBoat { count tonsMax } }", r#""aggregateBoat":{"count":2,"tonsMax":20}"#);
    let none = "{ aggregateBoat(filter: { tons: { gt: 25 } }) { count tonsMax } }";
    both.data(BOB, none, r#""aggregateBoat":{"count":0,"tonsMax":null}"#);
    let nested = "{ queryHarbour { name boats { reg } boatsAggregate { count } } }";
    both.data(
        BOB,
        nested,
        r#""queryHarbour":[{"name":"North","boats":[{"reg":"N1"},{"reg":"N2"}],"boatsAggregate":{"count":2}},{"name":"South","boats":[],"boatsAggregate":{"count":0}}]"#,
    );
    let cascade = "{ queryHarbour @cascade { name boats { reg } } }";
    both.data("", cascade, r#""queryHarbour":[{"name":"North","boats":[{"reg":"N1"}]}]"#);
    // Without any right there is neither a list nor an aggregate.
    both.data(BOB, "{ queryLog { line } aggregateLog { count } }", r#""queryLog":[],"aggregateLog":null"#);
    let to_one = "{ queryLog { line boat { reg } } }";
    let logs = r#""queryLog":[{"line":"one","boat":{"reg":"N2"}},{"line":"two","boat":{"reg":"N1"}}]"#;
    both.data(MASTER, to_one, logs);
    // A missing claim decides alone: a rule of a query is not asked.
    both.data(r#"{"LOGIN": null}"#, boats, r#""queryBoat":[{"reg":"N1"}]"#);
    both.data(r#"{"LOGIN": 7}"#, boats, r#""queryBoat":[{"reg":"N1"}]"#);
    both.data(r#"{"LOGIN": "' OR 1=1 --"}"#, boats, r#""queryBoat":[{"reg":"N1"}]"#);
    both.data(
        r#"{"ROLE": ["X", "MASTER"]}"#,
        "{ aggregateBoat { count } }",
        r#""aggregateBoat":{"count":3}"#,
    );
}

#[test]
fn filters_and_orders_through_edges_tell_nothing_of_hidden_objects() {
    let both = Both::new(BOATS, &FILL);
    let filter = "{ queryHarbour(filter: { boats: { tons: { eq: 30 } } }) { name } }";
    both.data(BOB, filter, r#""queryHarbour":[]"#);
    both.data(ANN, filter, r#""queryHarbour":[{"name":"South"}]"#);
    let has = "{ queryHarbour(filter: { has: [boats] }) { name } }";
    both.data("", has, r#""queryHarbour":[{"name":"North"}]"#);
    let not = "{ queryHarbour(filter: { not: { has: [boats] } }) { name } }";
    both.data("", not, r#""queryHarbour":[{"name":"South"}]"#);
}

#[test]
fn a_token_that_does_not_hold_fails_every_root_field_by_itself() {
    let both = Both::new(BOATS, &FILL);
    let reason = "unable to parse jwt token:token has invalid claims: token is expired";
    let error = |text: &str, column: u32, key: &str| {
        let place = format!(r#""locations":[{{"line":1,"column":{column}}}]"#);
        format!(
            r#"{{"message":"{text} because {reason}",{place},"path":["{key}"],"extensions":{{"code":"INVALID_TOKEN"}}}}"#
        )
    };
    let expected = format!(
        r#"{{"errors":[{},{}],"data":{{"a":[],"getCrew":null,"__typename":"Query"}}}}"#,
        error("couldn't rewrite query a", 3, "a"),
        error("couldn't rewrite query getCrew", 24, "getCrew")
    );
    both.check("!", "{ a: queryBoat { reg } getCrew(login: \"ann\") { login } __typename }", &expected);
    both.data("!", "mutation { addCrew(input: [{ login: \"x\" }]) { numUids } }", r#""addCrew":null"#);
    let expected = format!(
        r#"{{"errors":[{}],"data":{{"x":null}}}}"#,
        error("couldn't rewrite mutation deleteCrew", 12, "x")
    );
    both.check("!", "mutation { x: deleteCrew(filter: {}) { numUids } }", &expected);
    both.admin("{ aggregateCrew { count } }", r#""aggregateCrew":{"count":2}"#);
}

#[test]
fn adds_are_judged_by_what_they_made() {
    let both = Both::new(BOATS, &FILL);
    let add = |reg: &str, crew: &str| {
        format!(
            r#"mutation {{ addBoat(input: [{{ reg: "{reg}", crew: [{{ login: "{crew}" }}] }}]) {{ numUids boat {{ reg }} }} }}"#
        )
    };
    both.data(ANN, &add("A1", "ann"), r#""addBoat":{"numUids":1,"boat":[{"reg":"A1"}]}"#);
    both.data(ANN, &add("A2", "bob"), r#""addBoat":null"#);
    both.data("", &add("A2", "bob"), r#""addBoat":null"#);
    both.data(MASTER, &add("A2", "bob"), r#""addBoat":{"numUids":1,"boat":[{"reg":"A2"}]}"#);
    // A new object in another one is judged too, and all is taken back.
    let nested = r#"mutation { addHarbour(input: [{ name: "East", boats: [{ reg: "E1", crew: [{ login: "ann" }] }] }]) { numUids } }"#;
    both.data(BOB, nested, r#""addHarbour":null"#);
    both.data(ANN, nested, r#""addHarbour":{"numUids":2}"#);
    both.data(
        ANN,
        r#"{ getHarbour(name: "East") { boats { reg } } }"#,
        r#""getHarbour":{"boats":[{"reg":"E1"}]}"#,
    );
    // An object that the caller may not read is made and not shown.
    let log = r#"mutation { addLog(input: [{ line: "three" }]) { numUids log { line } } }"#;
    both.data(r#"{"BANNED": true}"#, log, r#""addLog":null"#);
    both.data("", log, r#""addLog":{"numUids":1,"log":[]}"#);
    // A taken key is not reported for a type with a rule for reading.
    both.data("", log, r#""addLog":null"#);
    let later = r#"mutation { a: addLog(input: [{ line: "one" }]) { numUids } b: addCrew(input: [{ login: "z" }]) { numUids } }"#;
    both.check(
        "",
        later,
        r#"{"errors":[{"message":"Mutation b was not executed because of a previous error.","locations":[{"line":1,"column":60}],"path":["b"],"extensions":{"code":"NOT_EXECUTED"}}],"data":{"a":null,"b":null}}"#,
    );
}

#[test]
fn updates_and_deletes_take_what_the_rules_match() {
    let both = Both::new(BOATS, &FILL);
    let update =
        "mutation { updateBoat(input: { filter: {}, set: { tons: 1 } }) { numUids boat { reg tons } } }";
    both.data("", update, r#""updateBoat":{"numUids":0,"boat":[]}"#);
    both.data(MASTER, update, r#""updateBoat":{"numUids":0,"boat":[]}"#);
    both.data(BOB, update, r#""updateBoat":{"numUids":1,"boat":[{"reg":"N2","tons":1}]}"#);
    let delete = "mutation { deleteBoat(filter: { reg: { eq: \"S1\" } }) { msg numUids boat { reg } } }";
    both.data(ANN, delete, r#""deleteBoat":{"msg":"No nodes were deleted","numUids":0,"boat":[]}"#);
    both.data(MASTER, delete, r#""deleteBoat":{"msg":"Deleted","numUids":1,"boat":[{"reg":"S1"}]}"#);
    // The own boat may be given away: the rule is asked of the state before.
    let away = r#"mutation { updateBoat(input: { filter: { reg: { eq: "N2" } }, remove: { crew: [{ login: "bob" }] } }) { numUids boat { reg } } }"#;
    both.data(BOB, away, r#""updateBoat":{"numUids":1,"boat":[]}"#);
}

#[test]
fn an_upsert_passes_over_what_may_not_be_updated() {
    let both = Both::new(BOATS, &FILL);
    let upsert = r#"mutation { addBoat(upsert: true, input: [
        { reg: "N2", tons: 99 }, { reg: "N1", tons: 11 }, { reg: "S1", tons: 12 }
    ]) { numUids boat { reg tons } } }"#;
    both.data(
        ANN,
        upsert,
        r#""addBoat":{"numUids":0,"boat":[{"reg":"N1","tons":11},{"reg":"S1","tons":12}]}"#,
    );
    both.admin("{ queryBoat { tons } }", r#""queryBoat":[{"tons":11},{"tons":20},{"tons":12}]"#);
}

#[test]
fn whoever_loses_an_edge_has_to_be_one_the_caller_may_update() {
    let both = Both::new(BOATS, &FILL);
    let from_boat = |reg: &str, to: &str| {
        format!(
            r#"mutation {{ updateBoat(input: {{ filter: {{ reg: {{ eq: "{reg}" }} }}, set: {{ harbour: {{ name: "{to}" }} }} }}) {{ numUids }} }}"#
        )
    };
    // Bob's boat lies in the harbour of ann.
    both.data(BOB, &from_boat("N2", "South"), r#""updateBoat":null"#);
    both.data(BOB, &from_boat("N2", "North"), r#""updateBoat":{"numUids":1}"#);
    both.data(ANN, &from_boat("N1", "South"), r#""updateBoat":{"numUids":1}"#);
    let to_harbour = |name: &str, reg: &str| {
        format!(
            r#"mutation {{ updateHarbour(input: {{ filter: {{ name: {{ eq: "{name}" }} }}, set: {{ boats: [{{ reg: "{reg}" }}] }} }}) {{ numUids }} }}"#
        )
    };
    both.data(ANN, &to_harbour("North", "N1"), r#""updateHarbour":null"#);
    both.data(BOB, &to_harbour("South", "N2"), r#""updateHarbour":null"#);
    both.admin(
        "{ queryHarbour { name boats { reg } } }",
        r#""queryHarbour":[{"name":"North","boats":[{"reg":"N2"}]},{"name":"South","boats":[{"reg":"N1"},{"reg":"S1"}]}]"#,
    );
}

/// One berth for each boat: whoever takes it takes it away from another.
const BERTHS: &str = r#"
type Ship @auth(update: { rule: "query($OWNER: String!) { queryShip(filter: { owner: { eq: $OWNER } }) { name } }" }) {
  name: String! @id
  owner: String @search(by: [hash])
  berth: Berth @hasInverse(field: ship)
}
type Berth @auth(update: { rule: "query($OWNER: String!) { queryBerth(filter: { of: { eq: $OWNER } }) { name } }" }) {
  name: String! @id
  of: String @search(by: [hash])
  ship: Ship
}
"#;

#[test]
fn a_partner_that_is_taken_has_to_be_one_the_caller_may_update() {
    let fill = [
        r#"mutation { addShip(input: [{ name: "ann1", owner: "ann" }, { name: "ann2", owner: "ann" }, { name: "bob1", owner: "bob" }]) { numUids } }"#,
        r#"mutation { addBerth(input: [
            { name: "A", of: "ann", ship: { name: "ann1" } } { name: "B", of: "ann", ship: { name: "bob1" } } { name: "C", of: "bob", ship: { name: "ann2" } } { name: "D", of: "ann" }
        ]) { numUids } }"#,
    ];
    let both = Both::new(BERTHS, &fill);
    let ann = r#"{"OWNER": "ann"}"#;
    let ship = |ship: &str, berth: &str| {
        format!(
            r#"mutation {{ updateShip(input: {{ filter: {{ name: {{ eq: "{ship}" }} }}, set: {{ berth: {{ name: "{berth}" }} }} }}) {{ numUids }} }}"#
        )
    };
    let berth = |berth: &str, ship: &str| {
        format!(
            r#"mutation {{ updateBerth(input: {{ filter: {{ name: {{ eq: "{berth}" }} }}, set: {{ ship: {{ name: "{ship}" }} }} }}) {{ numUids }} }}"#
        )
    };
    let before = both.sqlite.ask("{ queryBerth { name ship { name } } }", "");
    // B is taken from bob's ship, and C, which is bob's, loses ann's.
    both.data(ann, &ship("ann1", "B"), r#""updateShip":null"#);
    both.data(ann, &ship("ann2", "D"), r#""updateShip":null"#);
    both.data(ann, &berth("D", "ann2"), r#""updateBerth":null"#);
    assert_eq!(both.sqlite.ask("{ queryBerth { name ship { name } } }", ""), before);
    // B, which loses bob's ship, is ann's.
    both.data(ann, &berth("D", "bob1"), r#""updateBerth":{"numUids":1}"#);
    both.data(ann, &ship("ann1", "B"), r#""updateShip":{"numUids":1}"#);
    both.admin(
        "{ queryBerth { name ship { name } } }",
        r#""queryBerth":[{"name":"A","ship":null},{"name":"B","ship":{"name":"ann1"}},{"name":"C","ship":{"name":"ann2"}},{"name":"D","ship":{"name":"bob1"}}]"#,
    );
}

#[test]
fn a_link_to_an_object_that_is_not_seen_leads_nowhere() {
    let both = Both::new(BOATS, &FILL);
    let link = |reg: &str| {
        format!(
            r#"mutation {{ addLog(input: [{{ line: "{reg}", boat: {{ reg: "{reg}" }} }}]) {{ numUids }} }}"#
        )
    };
    // The hidden boat S1 is answered as one that does not exist; so is one that does not.
    let complete = |reg: &str| both.sqlite.ask_as(&link(reg), &both.caller(BOB));
    both.data(BOB, &link("N2"), r#""addLog":{"numUids":1}"#);
    both.data(BOB, &link("S1"), r#""addLog":null"#);
    assert_eq!(complete("X9"), r#"{"data":{"addLog":null}}"#);
    let id = both.sqlite.ask("{ getBoat(reg: \"S1\") { id } }", "");
    let id = id.split('"').rev().nth(1).expect("an id").to_owned();
    let by_id = |id: &str| {
        let link = format!(
            r#"mutation {{ addLog(input: [{{ line: "l", boat: {{ id: "{id}" }} }}]) {{ numUids }} }}"#
        );
        both.sqlite.ask_as(&link, &both.caller(BOB)).replace(id, "ID")
    };
    assert_eq!(by_id(&id), by_id("0xfffff"));
    assert!(by_id(&id).contains("isn't a Boat"));
}

const FLEET: &str = r#"
interface Vessel @auth(
  query: { rule: "query($OWNER: String!) { queryVessel(filter: { owner: { eq: $OWNER } }) { name } }" }
  password: { rule: "{ $ROLE: { eq: \"A\" } }" }
) @secret(field: "pin") { name: String! @id(interface: true) owner: String @search(by: [hash]) }
type Ship implements Vessel @auth(query: { rule: "query { queryShip(filter: { size: { gt: 1 } }) { name } }" }) {
  size: Int @search
}
type Raft implements Vessel { logs: Int }
type Dock @auth(query: { rule: "{ $ROLE: { in: [\"A\", \"B\"] } }" }) { name: String! @id  vessels: [Vessel]  best: Vessel  thing: Thing }
type Ring { metal: String! @id }
union Thing = Ship | Ring
"#;

#[test]
fn rules_of_interfaces_hold_for_all_their_types_and_for_abstract_edges() {
    let both = Both::new(
        FLEET,
        &[
            r#"mutation { addShip(input: [
                { name: "big", owner: "o", size: 5, pin: "secret" }
                { name: "small", owner: "o", size: 1, pin: "secret" }
                { name: "other", owner: "p", size: 5, pin: "secret" }
            ]) { numUids } }"#,
            r#"mutation { addRaft(input: [{ name: "raft", owner: "o", logs: 3, pin: "secret" }]) { numUids } }"#,
            r#"mutation { addDock(input: [
                { name: "d", vessels: [{ name: "big" }, { name: "small" }, { name: "raft" }, { name: "other" }],
                  best: { name: "small" }, thing: { shipRef: { name: "other" } } }
                { name: "e", thing: { ringRef: { metal: "tin" } }, best: { name: "big" } }
            ]) { numUids } }"#,
        ],
    );
    let owner = r#"{"OWNER": "o", "ROLE": "A"}"#;
    both.data(owner, "{ queryShip { name } }", r#""queryShip":[{"name":"big"}]"#);
    both.data(owner, "{ queryRaft { name } }", r#""queryRaft":[{"name":"raft"}]"#);
    both.data(owner, "{ queryVessel { name } }", r#""queryVessel":[{"name":"big"},{"name":"raft"}]"#);
    let filtered = "{ queryVessel(filter: { name: { eq: \"small\" } }) { name } }";
    both.data(owner, filtered, r#""queryVessel":[]"#);
    both.data(owner, "{ aggregateVessel { count } }", r#""aggregateVessel":{"count":2}"#);
    both.data(
        r#"{"ROLE": "A"}"#,
        "{ queryVessel { name } aggregateVessel { count } }",
        r#""queryVessel":[],"aggregateVessel":null"#,
    );
    both.data(
        owner,
        "{ queryDock { name vessels { name ... on Raft { logs } } best { id: name } thing { __typename } } }",
        r#""queryDock":[{"name":"d","vessels":[{"name":"big"},{"name":"raft","logs":3}],"best":null,"thing":null},{"name":"e","vessels":[],"best":{"id":"big"},"thing":{"__typename":"Ring"}}]"#,
    );
    both.data(
        r#"{"ROLE": "B"}"#,
        "{ queryDock { name vesselsAggregate { count nameMin } } }",
        r#""queryDock":[{"name":"d","vesselsAggregate":{"count":null,"nameMin":null}},{"name":"e","vesselsAggregate":{"count":null,"nameMin":null}}]"#,
    );
    both.data("", "{ queryDock { name } }", r#""queryDock":[]"#);
    // To check a password takes that right and not the one to read.
    let check = "{ checkShipPassword(name: \"other\", pin: \"secret\") { name size } }";
    both.data(owner, check, r#""checkShipPassword":{"name":"other","size":5}"#);
    both.data(r#"{"OWNER": "p"}"#, check, r#""checkShipPassword":null"#);
    let on_interface =
        "{ checkVesselPassword(name: \"raft\", pin: \"secret\") { name ... on Raft { logs } } }";
    both.data(r#"{"ROLE": "A"}"#, on_interface, r#""checkVesselPassword":{"name":"raft","logs":3}"#);
}

#[test]
fn claims_are_read_by_the_type_a_rule_declares() {
    let sdl = r#"
type Item @auth(query: { or: [
    { rule: "query($IDS: [ID!]) { queryItem(filter: { id: $IDS }) { __typename } }" }
    { rule: "query($NAMES: [String]) { queryItem(filter: { name: { in: $NAMES } }) { __typename } }" }
    { rule: "query($N: Int) { queryItem(filter: { n: { eq: $N } }) { __typename } }" }
    { rule: "query($AT: DateTime) { queryItem(filter: { at: { lt: $AT } }) { __typename } }" }
    { rule: "query($ON: Boolean) { queryItem(filter: { on: $ON }) { __typename } }" }
    { rule: "query($E: E) { queryItem(filter: { e: { eq: $E } }) { __typename } }" }
    { rule: "query { queryItem(filter: { name: { in: [\"fixed\", \"q\\\"uote\"] } }) { __typename } }" }
    { rule: "query($TEXT: String!) { queryItem(filter: { name: { anyofterms: $TEXT } }) { __typename } }" }
] }) {
  id: ID!
  name: String @search(by: [hash, term])
  n: Int @search
  at: DateTime @search
  on: Boolean @search
  e: E @search
}
enum E { X Y }
"#;
    let both = Both::new(
        sdl,
        &[r#"mutation { addItem(input: [
            { name: "a" } { name: "b b" } { name: "c", n: 7 } { name: "d", at: "2000-01-01T00:00:00Z" }
            { name: "e", on: true } { name: "f", e: Y } { name: "fixed" } { name: "q\"uote" }
        ]) { numUids } }"#],
    );
    let sees = |claims: &str, names: &[&str]| {
        let names: Vec<String> = names.iter().map(|it| format!(r#"{{"name":"{it}"}}"#)).collect();
        let expected = format!(r#""queryItem":[{}]"#, names.join(","));
        both.data(
            claims,
            "{ queryItem(filter: { not: { name: { in: [\"fixed\", \"q\\\"uote\"] } } }) { name } }",
            &expected,
        );
    };
    sees("", &[]);
    both.data("", "{ queryItem { name } }", r#""queryItem":[{"name":"fixed"},{"name":"q\"uote"}]"#);
    sees(r#"{"NAMES": ["a", "b b"]}"#, &["a", "b b"]);
    sees(r#"{"NAMES": []}"#, &[]);
    sees(r#"{"NAMES": "a"}"#, &["a"]);
    sees(r#"{"NAMES": [1]}"#, &[]);
    sees(r#"{"N": "7"}"#, &["c"]);
    sees(r#"{"N": 7}"#, &["c"]);
    sees(r#"{"N": "seven"}"#, &[]);
    sees(r#"{"AT": "2001-01-01T00:00:00+01:00"}"#, &["d"]);
    sees(r#"{"ON": true}"#, &["e"]);
    sees(r#"{"E": "Y"}"#, &["f"]);
    sees(r#"{"E": "Z"}"#, &[]);
    sees(r#"{"TEXT": "b x"}"#, &["b b"]);
    let ids = both.sqlite.ask("{ queryItem(first: 1) { id } }", "");
    let id = ids.split('"').rev().nth(1).expect("an id");
    let caller = both.caller(&format!(r#"{{"IDS": ["{id}", "x"]}}"#));
    assert!(!both.sqlite.ask_as("{ queryItem { name } }", &caller).contains(r#""a""#));
    let caller = both.caller(&format!(r#"{{"IDS": ["{id}"]}}"#));
    assert!(both.sqlite.ask_as("{ queryItem { name } }", &caller).contains(r#""a""#));
}

#[test]
fn a_token_has_to_hold_where_no_rule_needs_it() {
    let both = Both::new("type Crew { login: String! @id }", &[]);
    let answer = both.sqlite.ask_as("{ aggregateCrew { count } queryCrew { login } }", &both.caller("!"));
    assert!(answer.ends_with(r#""data":{"aggregateCrew":null,"queryCrew":[]}}"#), "{answer}");
    both.data("", "{ aggregateCrew { count } }", r#""aggregateCrew":{"count":0}"#);
}
