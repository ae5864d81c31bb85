//! Answers of handlers that do not fit or refuse, and projects whose actions do not fit.

use crate::actions::{SDL, SECRET, Shop, YAML, serve_project, write_project};
use crate::support::{Folder, body, command};
use crate::upstream_kit::{Upstream, answers};
use serde_json::{Value, json};

#[test]
fn errors_of_handlers_have_hasura_s_words() {
    let shop = Shop::new();
    let query = "{ rates }";
    let check = |status: u16, text: &str, expected: &str| {
        shop.answer("/rates", status, text);
        assert_eq!(
            shop.ask("user", query).text(),
            format!(r#"{{"errors":[{expected}]}}"#),
            "{status} {text}"
        );
    };
    let error = |message: &str, code: &str, path: &str| {
        format!(r#"{{"message":"{message}","extensions":{{"path":"{path}","code":"{code}"}}}}"#)
    };
    check(400, r#"{"message":"sold out"}"#, &error("sold out", "unexpected", "$"));
    check(422, r#"{"message":"sold out","code":"stock"}"#, &error("sold out", "stock", "$"));
    // With extensions, these alone: the code at the top is dropped.
    check(
        400,
        r#"{"message":"no","code":"top","extensions":{"code":"own","n":1.50}}"#,
        r#"{"message":"no","extensions":{"code":"own","n":1.50}}"#,
    );
    check(400, r#"{"message":"no","extensions":[1]}"#, r#"{"message":"no","extensions":[1]}"#);
    check(404, "{}", &error("key \\\"message\\\" not found", "parse-failed", "$"));
    // A good message with a status of 500 does not reach the client.
    check(500, r#"{"message":"sold out"}"#, &error("internal error", "unexpected", "$"));
    check(302, r#"{"message":"sold out"}"#, &error("internal error", "unexpected", "$"));
    for status in [200, 400, 500] {
        check(status, "<p>", &error("not a valid json response from webhook", "unexpected", "$"));
    }
    check(200, "", &error("not a valid json response from webhook", "unexpected", "$"));
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    check(200, &deep, &error("not a valid json response from webhook", "unexpected", "$"));
}

#[test]
fn answers_that_do_not_fit_are_errors_as_a_whole() {
    let shop = Shop::new();
    let whole = |field: &str, text: &str, message: &str| {
        shop.answer(&format!("/{field}"), 200, text);
        let query = if field == "settle" { "mutation { settle }" } else { "{ rates }" };
        let expected = json!({ "errors": [{ "message": message, "extensions": { "path": "$", "code": "unexpected" } }] });
        assert_eq!(shop.ask("user", query).json(), expected, "{text}");
    };
    whole("settle", "null", "got null for the action webhook response");
    whole("settle", r#"{"n":1}"#, "got object for the action webhook response, expecting Int");
    whole("settle", "[1]", "got array for the action webhook response, expecting Int");
    whole("settle", r#""1""#, "got scalar String for the action webhook response, expecting Int");
    whole("settle", "true", "got scalar Boolean for the action webhook response, expecting Int");
    whole("rates", "1", "expecting array for the action webhook response");
    whole("rates", "{}", "expecting array for the action webhook response");
    for (text, message) in [
        (r#"[1,"2"]"#, "got scalar String for the action webhook response, expecting Float"),
        ("[1,null]", "got null for the action webhook response"),
    ] {
        shop.answer("/rates", 200, text);
        let extensions = json!({ "path": "$.selectionSet.rates[1]", "code": "unexpected" });
        let expected = json!({ "errors": [{ "message": message, "extensions": extensions }] });
        assert_eq!(shop.ask("user", "{ rates }").json(), expected, "{text}");
    }
    shop.answer("/rates", 200, "[1,2.50,1e3]");
    shop.check("{ rates }", r#"{"data":{"rates":[1,2.50,1e3]}}"#);
    shop.answer("/rates", 200, "null");
    shop.check("{ rates }", r#"{"data":{"rates":null}}"#);
    // Over Hasura's protocol any number is an Int.
    shop.answer("/settle", 200, "12345678901.5");
    shop.check("mutation { settle }", r#"{"data":{"settle":12345678901.5}}"#);
    assert_eq!(shop.ask_at("/graphql", "user", "mutation { settle }").json()["data"], Value::Null);
}

#[test]
fn objects_of_answers_are_checked_at_any_depth() {
    let shop = Shop::new();
    shop.check_order("[]", "id", "got array for the action webhook response, expecting Order");
    shop.check_order("7", "id", "got scalar String for the action webhook response, expecting Order");
    shop.check_order("true", "id", "got scalar Boolean for the action webhook response, expecting Order");
    // The outermost object is checked whole, also what was not asked for.
    let absent = "field \"lines\" expected in webhook response, but not found";
    shop.check_order(r#"{"id":"1b"}"#, "id", absent);
    shop.check_order(r#"{"id":"1b","lines":null}"#, "id", "expecting not null value for field \"lines\"");
    let path = |text: &str, selection: &str, message: &str, path: &str| {
        shop.answer("/order", 200, text);
        let answer = shop.ask("user", &format!("{{ order(id: \"1b\") {{ {selection} }} }}")).json();
        let error = &answer["errors"][0];
        assert_eq!(
            (error["message"].as_str(), error["extensions"]["path"].as_str()),
            (Some(message), Some(path)),
            "{answer}"
        );
        assert_eq!(answer.get("data"), None);
    };
    let lines = "$.selectionSet.order.selectionSet.lines";
    path(r#"{"id":"1b"}"#, "lines { sku }", absent, lines);
    path(
        r#"{"id":"1b","lines":[{"sku":"a"},{"sku":null}]}"#,
        "lines { s: sku }",
        "expecting not null value for field \"sku\"",
        &format!("{lines}[1].selectionSet.s"),
    );
    path(
        r#"{"id":"1b","lines":[1]}"#,
        "lines { sku }",
        "got scalar String for the action webhook response, expecting Line",
        &format!("{lines}[0]"),
    );
    path(
        r#"{"id":"1b","lines":[],"kind":"HUGE"}"#,
        "kind",
        "got scalar String for the action webhook response, expecting Kind",
        "$.selectionSet.order.selectionSet.kind",
    );
    // Members of inner objects that were not asked for may be missing.
    shop.answer("/order", 200, r#"{"id":"1b","lines":[{"amount":2,"of":{"id":"2c"}}]}"#);
    shop.check(
        "{ order(id: \"1b\") { lines { a: amount of { i: id buyer_id __typename } } } }",
        r#"{"data":{"order":{"lines":[{"a":2,"of":{"i":"2c","buyer_id":null,"__typename":"Order"}}]}}}"#,
    );
}

#[test]
fn nulls_bubble_at_graphql_alone() {
    let shop = Shop::new();
    shop.answer("/order", 200, r#"{"id":"1b","lines":[{"sku":"a","of":{"lines":[]}}]}"#);
    let query = "{ order(id: \"1b\") { id lines { of { id } } } pet { id } }";
    let answer = shop.ask_at("/graphql", "user", query).json();
    assert_eq!(
        answer["data"],
        json!({ "order": { "id": "1b", "lines": [{ "of": null }] }, "pet": [{ "id": 1 }, { "id": 2 }] })
    );
    let error = &answer["errors"][0];
    assert_eq!(error["message"], "field \"id\" expected in webhook response, but not found");
    assert_eq!(error["path"], json!(["order", "lines", 0, "of", "id"]));
    assert_eq!(error["extensions"]["code"], "SOURCE_ANSWER");
    shop.answer("/order", 400, r#"{"message":"no","code":"gone"}"#);
    let answer = shop.ask_at("/graphql", "user", "{ order(id: \"1b\") { id } pet(limit: 1) { id } }").json();
    assert_eq!(answer["data"], json!({ "order": null, "pet": [{ "id": 1 }] }));
    assert_eq!(answer["errors"][0]["extensions"]["code"], "gone");
    assert_eq!(answer["errors"][0]["path"], json!(["order"]));
    shop.answer("/order", 400, r#"{"message":"no"}"#);
    assert_eq!(shop.ask_at("/graphql", "user", "{ order(id: \"1b\") { id } }").code(), "ACTION_REFUSED");
}

#[test]
fn details_are_the_admin_s() {
    let shop = Shop::new();
    shop.answer("/rates", 500, r#"{"trace":"deep"}"#);
    let answer = shop.ask("admin", "{ rates }").json();
    let internal = &answer["errors"][0]["extensions"]["internal"];
    assert_eq!(internal["error"], "expecting 2xx or 4xx status code, but found 500");
    assert_eq!(
        internal["request"],
        json!({ "url": "{{SHOP_URL}}/rates", "action": { "name": "rates" }, "input": {}, "request_query": "{ rates }", "transformed_request": null })
    );
    assert_eq!(
        (&internal["response"]["status"], &internal["response"]["body"]),
        (&json!(500), &json!({ "trace": "deep" }))
    );
    assert_eq!(answer["errors"][0]["extensions"]["code"], "unexpected");
    assert!(!shop.ask("user", "{ rates }").text().contains("internal\""));
    let off = Shop::with(&[("HASURA_GRAPHQL_ADMIN_INTERNAL_ERRORS", "false")]);
    assert!(!off.ask("admin", "{ rates }").text().contains("internal\""));
    // In development mode they are still nobody else's.
    let dev = Shop::with(&[("HASURA_GRAPHQL_DEV_MODE", "true")]);
    assert!(!dev.ask("user", "{ rates }").text().contains("internal\""));
}

fn check_project(yaml: &str, sdl: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let folder = Folder::new();
    write_project(&folder, yaml, sdl);
    let mut command = command();
    command.arg("check").arg("weir.yaml").current_dir(folder.file("")).env("SHOP_KEY", "k1");
    let output = command.envs(variables.iter().copied()).output().expect("it runs");
    let words =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.success(), words)
}

/// The project's actions are checked whole with the address of a shop.
const SHOP: (&str, &str) = ("SHOP_URL", "http://127.0.0.1:9");

#[test]
fn a_whole_project_passes_the_check() {
    let (is_sound, words) = check_project(YAML, SDL, &[SHOP]);
    assert!(is_sound, "{words}");
}

#[test]
fn actions_that_do_not_fit_are_told_and_the_rest_is_served() {
    let told = |yaml: &str, sdl: &str, variables: &[(&str, &str)], part: &str| {
        let (is_sound, words) = check_project(yaml, sdl, variables);
        assert!(!is_sound && words.contains(part), "{part} is not in {words}");
    };
    told(YAML, SDL, &[], "in action \"rates\"; Value for environment variables not found: SHOP_URL");
    told(
        YAML,
        &SDL.replace("secret: String", "secret: Nothing"),
        &[SHOP],
        "in action \"secret\"; the type: \"Nothing\" is not an object or scalar type defined in custom types",
    );
    told(
        YAML,
        &SDL.replace("secret: String", "secret: Kind"),
        &[SHOP],
        "in action \"secret\"; the type: \"Kind\" is not an object or scalar type defined in custom types",
    );
    told(
        YAML,
        &SDL.replace("settle(n: Int)", "settle(n: Order)"),
        &[SHOP],
        "in action \"settle\"; the type: \"Order\" is not defined in custom types or it is not a scalar/enum/input_object",
    );
    told(
        YAML,
        &SDL.replace("buyer_id: Int", "buyer_id: Whole"),
        &[SHOP],
        "validation for the given custom types failed because the type \"Whole\" for field \"buyer_id\" in object type \"Order\" does not exist",
    );
    told(
        YAML,
        &SDL.replace("n: Int = 1", "n: Whole"),
        &[SHOP],
        "the type \"Whole\" for field \"n\" in input object type \"OrderIn\" does not exist",
    );
    told(YAML, &format!("{SDL}\nscalar Kind"), &[SHOP], "duplicate type names: \"Kind\"");
    told(
        &YAML.replace("name: rates", "name: pet"),
        &SDL.replace("rates:", "pet:"),
        &[SHOP],
        "in action \"pet\"; Encountered conflicting definitions in the selection set for 'query_root' for fields: ['pet']",
    );
    told(
        YAML,
        &SDL.replace("Line", "pet_bool_exp"),
        &[SHOP],
        "Found conflicting definitions for GraphQL type \"pet_bool_exp\"",
    );
}

#[test]
fn an_action_that_is_left_out_takes_nothing_with_it() {
    let upstream = Upstream::start(answers("- {ask: POST /rates, text: '[1]'}"));
    let sdl = SDL.replace("secret: String", "secret: Nothing");
    let weir = serve_project(&format!("http://{}", upstream.address), YAML, &sdl, &[]);
    let answer = weir.post(
        "/v1/graphql",
        &[SECRET, ("x-hasura-role", "user")],
        body("{ rates pet(limit: 1) { id } }").as_bytes(),
    );
    assert_eq!(answer.text(), r#"{"data":{"rates":[1],"pet":[{"id":1}]}}"#);
    let command = json!({ "type": "get_inconsistent_metadata", "args": {} }).to_string();
    let found = weir.post("/v1/metadata", &[SECRET], command.as_bytes()).json();
    assert_eq!(found["inconsistent_objects"][0]["type"], "action");
    assert_eq!(found["inconsistent_objects"][0]["name"], "action secret");
}

const TRANSFORMED: &str = "actions:
- name: rates
  definition:
    kind: ''
    handler: '{{SHOP_URL}}/rates?old=1'
    request_transform:
      version: 2
      method: PUT
      url: '{{$base_url}}/{{$body.action.name}}/{{$session_variables.x-hasura-role}}'
      query_params: {day: '{{$body.input.day}}'}
      request_headers: {add_headers: {x-of: '{{$body.action.name}}'}, remove_headers: [user-agent]}
      body: {action: transform, template: '{\"day\": {{$body.input.day}}, \"who\": {{$session_variables.x-hasura-user-id}}}'}
    response_transform:
      version: 2
      body: {action: transform, template: '{{if ($response.status == 200)}} {{$body.rates}} {{else}} {\"message\": {{$body.reason}}} {{end}}'}
  permissions: [{role: user}]
";

#[test]
fn requests_and_answers_are_transformed() {
    let upstream = Upstream::start(Vec::new());
    let sdl = "type Query { rates(day: String): [Float!] }";
    let yaml = TRANSFORMED
        .replace("{{$base_url}}", "{{SHOP}}")
        .replace("{{SHOP}}", &format!("http://{}", upstream.address));
    let weir = serve_project(&format!("http://{}", upstream.address), &yaml, sdl, &[]);
    let ask = |query: &str| {
        let headers = [SECRET, ("x-hasura-role", "user"), ("x-hasura-user-id", "4")];
        weir.post("/v1/graphql", &headers, body(query).as_bytes()).text().to_owned()
    };
    upstream.set(answers("- {ask: PUT /rates/user?day=a%20b, text: '{\"rates\": [1.50]}'}"));
    assert_eq!(ask("{ rates(day: \"a b\") }"), r#"{"data":{"rates":[1.50]}}"#);
    let asked = upstream.take_requests();
    assert_eq!(asked[0].body, r#"{"day":"a b","who":"4"}"#);
    assert!(asked[0].headers.contains(&("x-of".into(), "rates".into())));
    // A transform runs on every status, and the status stays.
    upstream.set(answers("- {ask: PUT /rates/user?day=b, status: 400, text: '{\"reason\": \"closed\"}'}"));
    let refused = r#"{"errors":[{"message":"closed","extensions":{"path":"$","code":"unexpected"}}]}"#;
    assert_eq!(ask("{ rates(day: \"b\") }"), refused);
    // Its failure hides the handler's error.
    upstream.set(answers("- {ask: PUT /rates/user?day=b, status: 400, text: '{\"message\": \"closed\"}'}"));
    let failed = r#"{"errors":[{"message":"Response Transformation Failed","extensions":{"path":"$","code":"unexpected"}}]}"#;
    assert_eq!(ask("{ rates(day: \"b\") }"), failed);
    let failed = r#"{"errors":[{"message":"Request Transformation Failed","extensions":{"path":"$","code":"unexpected"}}]}"#;
    assert_eq!(ask("{ rates }"), failed);
    let admin = weir.post("/v1/graphql", &[SECRET], body("{ rates }").as_bytes()).json();
    let internal = &admin["errors"][0]["extensions"]["internal"];
    assert!(internal[0]["error_code"].is_string(), "{admin}");
}

#[test]
fn templates_that_are_none_are_told() {
    let sdl = "type Query { rates(day: String): [Float!] }";
    let (is_sound, words) =
        check_project(&TRANSFORMED.replace("{{$body.rates}}", "{{$body.}}"), sdl, &[SHOP]);
    assert!(
        !is_sound && words.contains("in action \"rates\"; response transform validation failed"),
        "{words}"
    );
    let (is_sound, words) =
        check_project(&TRANSFORMED.replace("{{$body.input.day}}'", "{{$body'"), sdl, &[SHOP]);
    assert!(
        !is_sound && words.contains("in action \"rates\"; request transform validation failed"),
        "{words}"
    );
}
