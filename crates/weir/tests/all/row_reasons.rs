//! `/v1/explain/row`: why a role does not see a row, asked on SQLite and PostgreSQL, and what the answer keeps.

use crate::postgres_kit::database;
use crate::support::{Answer, Folder, Weir, message};
use serde_json::{Value, json};

const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");

const TABLES: &str = "
CREATE TABLE harbour (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner TEXT, price INTEGER, harbour_id INTEGER NOT NULL REFERENCES harbour (id));
CREATE TABLE crew (id INTEGER PRIMARY KEY, name TEXT NOT NULL, boat_id INTEGER REFERENCES boat (id));
CREATE TABLE member (login TEXT PRIMARY KEY);
CREATE TABLE pair (a INTEGER, b TEXT, PRIMARY KEY (a, b));
INSERT INTO harbour VALUES (1, 'Oslo'), (2, 'Kiel');
INSERT INTO boat VALUES (1, 'Elsa', 'ann', 10, 1), (2, 'Mary', 'bob', 900, 2), (3, 'Gulf', NULL, NULL, 1);
INSERT INTO crew VALUES (1, 'Ida', 1), (2, 'Per', 2);
INSERT INTO member VALUES ('ann');
INSERT INTO pair VALUES (1, 'x');
";

const PERMISSIONS: &str = "
    tables:
      - table: harbour
        array_relationships: [{name: boats, using: {foreign_key_constraint_on: {table: boat, column: harbour_id}}}]
      - table: crew
      - table: member
      - table: pair
        select_permissions: [{role: sailor, permission: {columns: '*', filter: {a: {_gt: 0}}}}]
      - table: boat
        object_relationships: [{name: harbour, using: {foreign_key_constraint_on: harbour_id}}]
        array_relationships: [{name: crews, using: {foreign_key_constraint_on: {table: crew, column: boat_id}}}]
        select_permissions:
          - {role: sailor, permission: {columns: [id, name, owner], filter: {owner: {_eq: X-Hasura-User-Id}}, limit: 5}}
          - {role: buyer, permission: {columns: [id, name, price], filter: {price: {_lt: 100}}}}
          - {role: guest, permission: {columns: [id], filter: {_or: [{owner: {_eq: X-Hasura-User-Id}}, {price: {_lt: 100}}, {_not: {price: {_gt: 5}}}]}}}
          - {role: clerk, permission: {columns: [id], filter: {_and: [{harbour: {name: {_eq: X-Hasura-Harbour}}}, {crews: {name: {_like: 'I%'}}}]}}}
          - {role: open, permission: {columns: [id], filter: {}}}
          - {role: known, permission: {columns: [id], filter: {_exists: {_table: member, _where: {login: {_eq: X-Hasura-User-Id}}}}}}
inherited_roles:
  - {role_name: trader, role_set: [sailor, buyer]}
  - {role_name: master, role_set: [trader, known]}
  - {role_name: either, role_set: [open, sailor]}
";

/// Runs `test` over both databases.
fn on_each(test: impl Fn(&Weir)) {
    let folder = Folder::new();
    rusqlite::Connection::open(folder.file("boats.db")).unwrap().execute_batch(TABLES).unwrap();
    let serve = |folder: Folder, url: &str| {
        let yaml = format!(
            "listen: 127.0.0.1:0\nadmin_secret: hush\nsources:\n  - name: main\n    url: {url}{PERMISSIONS}"
        );
        let file = folder.write("weir.yaml", &yaml);
        Weir::by_file(&file, folder)
    };
    test(&serve(folder, "sqlite:boats.db"));
    let database = database(TABLES);
    test(&serve(Folder::new(), &database.url()));
}

fn question(role: &str, key: Value, claims: Value) -> Value {
    json!({"source": "main", "table": "boat", "key": key, "role": role, "claims": claims})
}

fn ask(weir: &Weir, asked: &Value) -> Answer {
    weir.post("/v1/explain/row", &[SECRET], asked.to_string().as_bytes())
}

fn judged(weir: &Weir, role: &str, id: u32, claims: Value) -> Value {
    let answer = ask(weir, &question(role, json!({"id": id}), claims));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// `[text, truth]` of a condition and all below it, in order.
fn truths(of: &Value) -> Vec<(String, String)> {
    let text = |key: &str| of[key].as_str().unwrap_or_default().to_owned();
    let own = (text("text"), text("truth"));
    std::iter::once(own).chain(of["parts"].as_array().into_iter().flatten().flat_map(truths)).collect()
}

fn check_truths(of: &Value, expected: &[(&str, &str)]) {
    let found = truths(&of["condition"]);
    let found: Vec<(&str, &str)> = found.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
    assert_eq!(found, expected);
}

/// True if the role sees the row by the API that clients have.
fn is_read(weir: &Weir, role: &str, id: u32, claims: &Value) -> bool {
    let mut headers = vec![SECRET, ("x-hasura-role", role)];
    headers.extend(claims.as_object().unwrap().iter().map(|it| (it.0.as_str(), it.1.as_str().unwrap())));
    let query = json!({"query": format!("{{ boat_by_pk(id: {id}) {{ id }} }}")}).to_string();
    weir.post("/graphql", &headers, query.as_bytes()).json()["data"]["boat_by_pk"].is_object()
}

#[test]
fn a_hidden_row_has_the_condition_that_hides_it() {
    on_each(|weir| {
        let ann = json!({"x-hasura-user-id": "ann"});
        let seen = judged(weir, "sailor", 1, ann.clone());
        assert_eq!(
            (&seen["exists"], &seen["visible"], &seen["limit"]),
            (&json!(true), &json!(true), &json!(5))
        );
        check_truths(&seen, &[("owner = x-hasura-user-id", "true")]);
        let hidden = judged(weir, "sailor", 2, ann.clone());
        assert_eq!((&hidden["exists"], &hidden["visible"]), (&json!(true), &json!(false)));
        check_truths(&hidden, &[("owner = x-hasura-user-id", "false")]);
        let absent = judged(weir, "sailor", 77, ann);
        assert_eq!((&absent["exists"], &absent["visible"]), (&json!(false), &json!(false)));
        let admin = judged(weir, "admin", 2, json!({}));
        assert_eq!((&admin["visible"], &admin["condition"]["text"]), (&json!(true), &json!("true")));
        let nobody = judged(weir, "nobody", 2, json!({}));
        assert_eq!((&nobody["granted"], &nobody["visible"]), (&json!(false), &json!(false)));
    });
}

#[test]
fn each_part_of_a_condition_is_true_false_or_unknown() {
    on_each(|weir| {
        let ann = json!({"x-hasura-user-id": "ann"});
        let whole = "(owner = x-hasura-user-id or price < 100 or not price > 5)";
        let of = |id| judged(weir, "guest", id, ann.clone());
        check_truths(
            &of(2),
            &[
                (whole, "false"),
                ("owner = x-hasura-user-id", "false"),
                ("price < 100", "false"),
                ("not price > 5", "false"),
                ("price > 5", "true"),
            ],
        );
        check_truths(
            &of(3),
            &[
                (whole, "unknown"),
                ("owner = x-hasura-user-id", "false"),
                ("price < 100", "unknown"),
                ("not price > 5", "unknown"),
                ("price > 5", "unknown"),
            ],
        );
    });
}

#[test]
fn conditions_on_other_rows_are_asked_along_their_way() {
    on_each(|weir| {
        let kiel = judged(weir, "clerk", 1, json!({"x-hasura-harbour": "Kiel"}));
        let texts: Vec<String> =
            truths(&kiel["condition"]).into_iter().map(|it| it.0 + ": " + &it.1).collect();
        let parts = ["a row of harbour: true", "name = x-hasura-harbour: false", "a row of crew: true"];
        for part in parts {
            assert!(texts.iter().any(|it| it == part), "{part}: {texts:?}");
        }
        assert_eq!(kiel["condition"]["truth"], "false");
        // A boat without a crew.
        let oslo = judged(weir, "clerk", 3, json!({"x-hasura-harbour": "Oslo"}));
        let texts: Vec<String> =
            truths(&oslo["condition"]).into_iter().map(|it| it.0 + ": " + &it.1).collect();
        assert!(texts.contains(&"a row of crew: false".to_owned()), "{texts:?}");
        assert!(texts.contains(&"name = x-hasura-harbour: true".to_owned()), "{texts:?}");
        let known = judged(weir, "known", 2, json!({"x-hasura-user-id": "ann"}));
        assert_eq!(known["visible"], true);
        let unknown = judged(weir, "known", 2, json!({"x-hasura-user-id": "bob"}));
        assert_eq!((&unknown["visible"], &unknown["condition"]["kind"]), (&json!(false), &json!("exists")));
    });
}

#[test]
fn an_inherited_role_has_a_condition_of_each_role_that_it_is_made_of() {
    on_each(|weir| {
        let bob = json!({"x-hasura-user-id": "bob"});
        let seen = judged(weir, "trader", 2, bob.clone());
        assert_eq!((&seen["visible"], &seen["condition"]["truth"]), (&json!(true), &json!("true")));
        let parts = seen["condition"]["parts"].as_array().unwrap();
        let roles: Vec<_> = parts.iter().map(|it| (&it["role"], &it["truth"])).collect();
        assert_eq!(roles, [(&json!("buyer"), &json!("false")), (&json!("sailor"), &json!("true"))]);
        // The price is for buyers, who do not see this boat.
        let price = seen["columns"].as_array().unwrap().iter().find(|it| it["name"] == "price").unwrap();
        assert_eq!((&price["granted"], &price["shownIf"]["truth"]), (&json!(true), &json!("false")));
        // Of roles that are inherited themselves, their own parents count.
        let master = judged(weir, "master", 3, bob);
        let parts = master["condition"]["parts"].as_array().unwrap();
        let roles: Vec<_> = parts.iter().map(|it| &it["role"]).collect();
        assert_eq!(roles, [&json!("buyer"), &json!("known"), &json!("sailor")]);
        assert_eq!(master["visible"], false);
    });
}

#[test]
fn a_missing_session_variable_is_named_and_what_does_not_need_it_is_asked() {
    on_each(|weir| {
        let found = judged(weir, "guest", 2, json!({"x-hasura-other": "1"}));
        assert_eq!(found["missing"], json!(["x-hasura-user-id"]));
        assert_eq!(found["visible"], false);
        let own = &truths(&found["condition"])[..3];
        let own: Vec<&str> = own.iter().map(|it| it.1.as_str()).collect();
        assert_eq!(own, ["unasked", "unasked", "false"]);
        assert_eq!(found["condition"]["parts"][0]["missing"], json!(["x-hasura-user-id"]));
    });
}

#[test]
fn columns_are_those_that_the_role_may_name() {
    on_each(|weir| {
        let found = judged(weir, "buyer", 1, json!({}));
        let columns = found["columns"].as_array().unwrap().iter();
        let columns: Vec<_> =
            columns.map(|it| (it["name"].as_str().unwrap(), it["granted"] == true)).collect();
        let expected =
            [("id", true), ("name", true), ("owner", false), ("price", true), ("harbour_id", false)];
        assert_eq!(columns, expected);
    });
}

#[test]
fn a_judgement_is_what_reads_answer() {
    on_each(|weir| {
        let users = ["ann", "bob", "o'neil", "\\' OR 1=1 --"];
        let mut callers: Vec<Value> =
            users.iter().map(|it| json!({"x-hasura-user-id": it, "x-hasura-harbour": "Oslo"})).collect();
        // Without the variables of a role, or of a part of it, each read is refused.
        callers.extend([json!({}), json!({"x-hasura-harbour": "Oslo"})]);
        for role in ["sailor", "buyer", "guest", "clerk", "open", "known", "trader", "master", "either"] {
            for claims in &callers {
                for id in 1..=4 {
                    let visible = judged(weir, role, id, claims.clone())["visible"] == true;
                    assert_eq!(visible, is_read(weir, role, id, claims), "{role} {claims} {id}");
                }
            }
        }
    });
}

#[test]
fn a_bad_question_is_refused_with_words() {
    on_each(|weir| {
        let good = question("sailor", json!({"id": 1}), json!({"x-hasura-user-id": "ann"}));
        let with = |key: &str, value: Value| {
            let mut changed = good.clone();
            changed[key] = value;
            changed
        };
        let long = "x".repeat(9000);
        let pair = |key: Value| json!({"source": "main", "table": "pair", "key": key, "role": "sailor"});
        for (asked, words) in [
            (with("source", json!("else")), "there is no source"),
            (with("source", json!(7)), "`source` has to be a text"),
            (with("table", json!("boots")), "there is no table"),
            (with("key", json!({})), "`key` has to be an object"),
            (with("key", json!({"id": null})), "`key` has to be an object"),
            (with("key", json!({"id": [1]})), "`key` has to be an object"),
            (with("key", json!({"id": long})), "`key` has to be an object"),
            (with("key", json!({"name": "Elsa"})), "all columns of a key"),
            (with("key", json!({"id": 1, "nothing": 2})), "has no column"),
            (with("key", json!({"id\" = 1 OR \"1": "1"})), "has no column"),
            (with("key", json!({"id": "1 OR 1=1"})), "invalid input syntax"),
            (with("role", json!(null)), "`role` has to be a text"),
            (with("claims", json!({"x-hasura-user-id": 7})), "has to be a text"),
            (with("claims", json!([1])), "no JSON object"),
            (pair(json!({"a": 1})), "all columns of a key"),
        ] {
            let answer = ask(weir, &asked);
            assert_eq!(answer.status, 400, "{asked}: {}", answer.text());
            assert!(answer.text().contains(words), "{words}: {}", answer.text());
        }
        let answer = ask(weir, &pair(json!({"a": 1, "b": "x"})));
        assert_eq!((answer.status, &answer.json()["visible"]), (200, &json!(true)), "{}", answer.text());
        assert_eq!(weir.post("/v1/explain/row", &[SECRET], b"{").status, 400);
    });
}

#[test]
fn an_answer_holds_no_value_of_the_row_and_no_value_of_a_claim() {
    on_each(|weir| {
        let claims = json!({"x-hasura-user-id": "secretive", "x-hasura-harbour": "harboured"});
        for role in ["sailor", "guest", "clerk", "trader"] {
            let text = judged(weir, role, 2, claims.clone()).to_string();
            for value in ["Mary", "bob", "900", "Kiel", "secretive", "harboured"] {
                assert!(!text.contains(value), "{role}: {value}: {text}");
            }
        }
    });
}

#[test]
fn nobody_but_the_admin_asks_and_no_page_of_another_origin() {
    on_each(|weir| {
        let asked = question("sailor", json!({"id": 1}), json!({"x-hasura-user-id": "ann"})).to_string();
        let status =
            |headers: &[(&str, &str)]| weir.post("/v1/explain/row", headers, asked.as_bytes()).status;
        assert_eq!(status(&[SECRET]), 200);
        assert_eq!(status(&[]), 401);
        assert_eq!(status(&[("x-hasura-admin-secret", "husk")]), 401);
        assert!([401, 403].contains(&status(&[SECRET, ("x-hasura-role", "sailor")])));
        for origin in ["http://evil.com", "http://localhost:3000", "null"] {
            let headers = [SECRET, ("origin", origin), ("content-type", "application/json")];
            let answer = weir.raw(&message("POST", "/v1/explain/row", &headers, Some(asked.as_bytes())));
            assert_eq!((answer.status, answer.code().as_str()), (403, "ACCESS_DENIED"), "{origin}");
            assert!(!answer.text().contains("condition"), "{origin}");
        }
        // A form of another page sends plain text, without a preflight.
        let plain = [SECRET, ("content-type", "text/plain")];
        let answer = weir.raw(&message("POST", "/v1/explain/row", &plain, Some(asked.as_bytes())));
        assert_eq!(answer.status, 415, "{}", answer.text());
        assert_eq!(weir.get("/v1/explain/row", &[SECRET]).status, 405);
    });
}

#[test]
fn a_condition_of_many_parts_is_asked_up_to_a_limit() {
    let folder = Folder::new();
    folder.pets();
    let parts: Vec<String> = (0..300).map(|it| format!("{{id: {{_eq: {it}}}}}")).collect();
    let yaml = format!(
        "listen: 127.0.0.1:0\nsources:\n  - name: main\n    url: sqlite:pets.db\n    tables:\n      - table: pet\n        select_permissions: [{{role: user, permission: {{columns: [id], filter: {{_or: [{}]}}}}}}]\n",
        parts.join(", ")
    );
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::by_file(&file, folder);
    let asked = json!({"source": "main", "table": "pet", "key": {"id": 3}, "role": "user"});
    let answer = ask(&weir, &asked).json();
    assert_eq!((&answer["visible"], &answer["cut"]), (&json!(true), &json!(true)));
    let parts = answer["condition"]["parts"].as_array().unwrap();
    let asked = parts.iter().filter(|it| it["truth"] != "unasked").count();
    assert_eq!(asked, 99);
}

#[test]
fn each_guarded_cell_is_judged_however_many_there_are() {
    let folder = Folder::new();
    let names: Vec<String> = (0..24).map(|it| format!("c{it}")).collect();
    let columns: Vec<String> = names.iter().map(|it| format!("{it} INTEGER DEFAULT 1")).collect();
    let table = format!("CREATE TABLE wide (id INTEGER PRIMARY KEY, owner TEXT, {})", columns.join(", "));
    let file = rusqlite::Connection::open(folder.file("wide.db")).unwrap();
    file.execute_batch(&format!("{table}; INSERT INTO wide (id, owner) VALUES (1, 'ann')")).unwrap();
    let permission = |role: &str, names: &[String]| {
        let tests = "{c0: {_eq: 9}}, {c1: {_eq: 9}}, {c2: {_eq: 9}}";
        let filter = format!("{{_or: [{{owner: {{_eq: X-Hasura-User-Id}}}}, {{_and: [{tests}]}}]}}");
        format!("{{role: {role}, permission: {{columns: [id, {}], filter: {filter}}}}}", names.join(", "))
    };
    let yaml = format!(
        "listen: 127.0.0.1:0\nsources:\n  - name: main\n    url: sqlite:wide.db\n    tables:\n      - table: wide\n        select_permissions: [{}, {}]\ninherited_roles: [{{role_name: both, role_set: [one, two]}}]\n",
        permission("one", &names[..12]),
        permission("two", &names[12..]),
    );
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::by_file(&file, folder);
    let claims = json!({"x-hasura-user-id": "ann"});
    let asked =
        json!({"source": "main", "table": "wide", "key": {"id": 1}, "role": "both", "claims": claims});
    let answer = ask(&weir, &asked).json();
    let columns = answer["columns"].as_array().unwrap().iter().filter(|it| it["granted"] == true);
    let unseen: Vec<&Value> =
        columns.filter(|it| !it["shownIf"].is_null() && it["shownIf"]["truth"] != "true").collect();
    assert!(unseen.is_empty(), "{unseen:?}");
    assert_eq!((&answer["visible"], &answer["cut"]), (&json!(true), &json!(true)));
}

#[test]
fn a_condition_is_judged_before_it_is_saved() {
    on_each(|weir| {
        let draft = |filter: Value| {
            let mut asked = question("nobody", json!({"id": 2}), json!({"x-hasura-user-id": "bob"}));
            asked["filter"] = filter;
            ask(weir, &asked)
        };
        let shown = draft(json!({"_and": [{"owner": "X-Hasura-User-Id"}, {"price": {"_gte": 900}}]})).json();
        assert_eq!((&shown["visible"], &shown["granted"]), (&json!(true), &json!(true)), "{shown}");
        let hidden = draft(json!({"harbour": {"name": {"_eq": "Oslo"}}})).json();
        assert_eq!((&hidden["visible"], &hidden["condition"]["truth"]), (&json!(false), &json!("false")));
        for (filter, words) in [
            (json!({"nothing": 1}), "does not exist"),
            (json!([1]), "a condition is an object"),
            (json!({"price": {"_like": "x"}}), "no operator"),
        ] {
            let answer = draft(filter);
            assert!(answer.status == 400 && answer.text().contains(words), "{words}: {}", answer.text());
        }
        // Nothing of it is kept.
        assert_eq!(judged(weir, "nobody", 2, json!({}))["granted"], false);
    });
}

#[test]
fn objects_of_native_types_are_judged_by_their_rules() {
    let sdl = r#"type Boat @auth(query: { or: [
      { rule: "{ $ROLE: { eq: \"HARBOURMASTER\" } }" }
      { rule: "query($LOGIN: String!) { queryBoat { crew(filter: { login: { eq: $LOGIN } }) { login } } }" }
    ] }) { id: ID! reg: String! @id crew: [Crew] }
    type Crew { login: String! @id }
    # Dgraph.Authorization {"VerificationKey":"secret","Header":"X-Harbour-Auth","Namespace":"https://harbour.example/claims","Algo":"HS256"}
    "#;
    let weir = crate::native_auth::serve_types("admin_secret: hush\n", sdl);
    let master = crate::native_auth::token(r#"{"https://harbour.example/claims":{"ROLE":"HARBOURMASTER"}}"#);
    let add = json!({"query": r#"mutation { addBoat(input: [{ reg: "A1", crew: [{ login: "ann" }] }, { reg: "B2", crew: [{ login: "bob" }] }]) { boat { id } } }"#});
    let added =
        weir.post("/graphql", &[SECRET, ("x-harbour-auth", &master)], add.to_string().as_bytes()).json();
    let id = |at: usize| added["data"]["addBoat"]["boat"][at]["id"].clone();
    let judged = |id: Value, claims: Value| {
        let asked =
            json!({"source": "boats", "table": "Boat", "key": {"id": id}, "role": "user", "claims": claims});
        let answer = ask(&weir, &asked);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    };
    assert_eq!(judged(id(0), json!({"LOGIN": "ann"}))["visible"], true);
    let hidden = judged(id(1), json!({"LOGIN": "ann"}));
    assert_eq!((&hidden["exists"], &hidden["visible"]), (&json!(true), &json!(false)), "{hidden}");
    assert!(!truths(&hidden["condition"]).is_empty());
    assert_eq!(judged(id(1), json!({"ROLE": "HARBOURMASTER"}))["visible"], true);
    assert_eq!(judged(id(1), json!({}))["visible"], false);
    let asked = json!({"source": "boats", "table": "Boat", "key": {"id": "0xzz"}, "role": "user"});
    assert!(ask(&weir, &asked).text().contains("is no id"));
}
