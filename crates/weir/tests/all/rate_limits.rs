//! Rates over real sockets: every transport counts alike, and nothing that a caller chooses frees it.

use crate::live::{read_until, stream};
use crate::persisted::{ADA, JSON, TRANSPORTS, Transport, USER, ask, serve};
use crate::sockets::{ACK, NEW, begin, hear, say, socket};
use crate::support::{Answer, Folder, Weir, body, command, message, until};

const SECRET: (&str, &str) = USER[0];
const ONE: &str = r#"{"query":"query One { pet_by_pk(id: 1) { name } }"}"#;

/// A collection with the query above, and an endpoint that runs it.
const OPERATIONS: &str = r#"{collections: [{name: c, definition: {queries: [{name: One, query: "query One { pet_by_pk(id: 1) { name } }"}]}}],
  rest_endpoints: [{name: one, url: one, methods: [GET, POST], definition: {query: {collection_name: c, query_name: One}}}]}"#;

/// Serves the pets under these limits. A day is longer than any test.
fn limited(limits: &str) -> Weir {
    serve(Folder::new(), &format!("{OPERATIONS}\nlimits: {{{limits}}}"))
}

fn post(weir: &Weir, headers: &[(&str, &str)]) -> Answer {
    weir.post("/graphql", headers, ONE.as_bytes())
}

/// True for an answer of any transport that a rate refuses.
fn is_refused(answer: &str) -> bool {
    let code =
        answer.contains(r#""code":"LIMIT_RATE""#) || answer.contains(r#""code":"rate-limit-exceeded""#);
    code && answer.contains("too many requests by the rate `all`: try again in ") && !answer.contains("Ada")
}

#[test]
fn every_transport_is_counted_once() {
    let count = TRANSPORTS.len() + 3;
    let weir = limited(&format!("rates: [{{name: all, requests: {count}, window_s: 86400}}]"));
    let rest = |method: &str| weir.raw(&message(method, "/api/rest/one", &USER, Some(b"{}")));
    let parts = ("accept", "multipart/mixed;subscriptionSpec=1.0, application/json");
    let live = body("subscription { pet_by_pk(id: 1) { name } }");
    let by_parts = message("POST", "/graphql", &[USER[0], USER[1], JSON, parts], Some(live.as_bytes()));
    for transport in TRANSPORTS {
        let answer = ask(&weir, transport, &USER, ONE);
        assert!(answer.contains(ADA), "{transport:?}: {answer}");
    }
    for method in ["GET", "POST"] {
        let answer = rest(method);
        assert_eq!((answer.status, answer.text()), (200, r#"{"pet_by_pk":{"name":"Ada"}}"#));
    }
    let (head, mut reader) = stream(&weir, &by_parts);
    assert!(head.contains("200 OK"), "{head}");
    read_until(&mut reader, "Ada");
    for transport in TRANSPORTS {
        let answer = ask(&weir, transport, &USER, ONE);
        assert!(is_refused(&answer), "{transport:?}: {answer}");
    }
    for method in ["GET", "POST"] {
        let answer = rest(method);
        assert_eq!((answer.status, answer.json()["code"].as_str()), (429, Some("rate-limit-exceeded")));
    }
    let answer = weir.raw(&by_parts);
    assert_eq!((answer.status, answer.code().as_str()), (429, "LIMIT_RATE"));
    let metrics = weir.get("/metrics", &[SECRET]);
    let line = format!("weir_rate_refusals_total{{rate=\"all\"}} {count}");
    assert!(
        metrics.text().contains(&line) && metrics.text().contains("weir_rate_keys 1"),
        "{}",
        metrics.text()
    );
    // The admin has no rate, nor have probes and pages for operators.
    assert!(post(&weir, &[SECRET]).text().contains(ADA));
}

#[test]
fn a_refusal_has_the_status_of_its_endpoint_and_says_when_to_come_again() {
    let weir = limited("rates: [{name: all, requests: 1, window_s: 86400}]");
    let first = post(&weir, &USER);
    assert_eq!((first.status, first.header("retry-after")), (200, None));
    assert_eq!(first.header("ratelimit"), Some(r#""all";r=0;t=86400"#));
    let policy = first.header("ratelimit-policy").unwrap_or_default();
    assert!(policy.starts_with(r#""all";q=1;w=86400;pk=:"#) && policy.ends_with("=:"), "{policy}");
    for accept in ["application/json", "application/graphql-response+json"] {
        let answer = post(&weir, &[USER[0], USER[1], ("accept", accept)]);
        assert_eq!((answer.status, answer.code().as_str()), (429, "LIMIT_RATE"));
        assert!(!answer.text().contains("hint"), "no permission is missing: {answer:?}");
        assert!(answer.header("content-type").is_some_and(|it| it.starts_with(accept)), "{answer:?}");
        let seconds: u32 = answer.header("retry-after").and_then(|it| it.parse().ok()).unwrap_or(0);
        assert!((86_000..=86_400).contains(&seconds), "{seconds}");
        assert_eq!(answer.header("ratelimit"), Some(&*format!(r#""all";r=0;t={seconds}"#)));
        assert_eq!(answer.header("ratelimit-policy"), Some(policy));
    }
    for (path, status) in [("/v1/graphql", 200), ("/v1alpha1/graphql", 429)] {
        let answer = weir.post(path, &USER, ONE.as_bytes());
        assert_eq!((answer.status, answer.code().as_str()), (status, "rate-limit-exceeded"));
        assert!(answer.header("retry-after").is_some() && answer.header("ratelimit").is_some(), "{answer:?}");
        assert!(answer.text().contains(r#""extensions":{"path":"$","code""#), "{answer:?}");
    }
    let events = message(
        "POST",
        "/graphql",
        &[USER[0], USER[1], JSON, ("accept", "text/event-stream")],
        Some(ONE.as_bytes()),
    );
    let (head, _) = stream(&weir, &events);
    assert!(head.contains(" 429 ") && head.to_lowercase().contains("retry-after: "), "{head}");
}

#[test]
fn the_operations_of_one_list_and_of_one_socket_are_counted_one_by_one() {
    let weir = limited("rates: [{name: all, requests: 4, window_s: 86400}]");
    let list = format!("[{ONE},{ONE},{ONE}]");
    for (path, ada) in [("/graphql", 3), ("/v1/graphql", 1)] {
        let answer = weir.post(path, &USER, list.as_bytes());
        assert_eq!(answer.status, 200);
        let answers = answer.json();
        let answers: Vec<String> =
            answers.as_array().expect("it is a list").iter().map(|it| it.to_string()).collect();
        let served = answers.iter().filter(|it| *it == ADA).count();
        let refused = answers.iter().filter(|it| is_refused(it)).count();
        assert_eq!((served, refused), (ada, 3 - ada), "{answers:?}");
    }
    let weir = limited("rates: [{name: all, requests: 2, window_s: 86400}]");
    let mut socket = socket(&weir, "/graphql", NEW);
    let login = r#"{"type":"connection_init","payload":{"headers":{"x-hasura-admin-secret":"hush","x-hasura-role":"user"}}}"#;
    say(&mut socket, login);
    assert_eq!(hear(&mut socket), ACK);
    for id in ["1", "2"] {
        say(&mut socket, &begin(NEW, id, ONE));
        assert!(hear(&mut socket).contains(ADA));
        assert!(hear(&mut socket).contains("complete"));
    }
    say(&mut socket, &begin(NEW, "3", ONE));
    let error = hear(&mut socket);
    assert!(
        error.starts_with(r#"{"type":"error","id":"3""#) || error.contains(r#""type":"error""#),
        "{error}"
    );
    assert!(is_refused(&error), "{error}");
}

#[test]
fn a_caller_gets_no_new_bucket_by_what_it_chooses() {
    let weir =
        limited("rates: [{name: all, requests: 1, window_s: 86400, by: [\"claim:x-hasura-user-id\"]}]");
    let user = |id: &'static str| [SECRET, ("x-hasura-role", "user"), ("x-hasura-user-id", id)];
    assert_eq!(post(&weir, &user("1")).status, 200);
    assert_eq!(post(&weir, &user("2")).status, 200);
    let text = r#"{"query":"query Other { other: pet_by_pk(id: 1) { name } }","operationName":"Other"}"#;
    assert_eq!(weir.post("/graphql", &user("1"), text.as_bytes()).status, 429);
    for header in [
        ("x-forwarded-for", "1.2.3.4"),
        ("x-real-ip", "1.2.3.4"),
        ("forwarded", "for=1.2.3.4"),
        ("x-request-id", "another"),
        ("user-agent", "another"),
    ] {
        assert_eq!(post(&weir, &[&user("2")[..], &[header]].concat()).status, 429, "{header:?}");
    }
    // A role of its own choice, where the user has several.
    let captain = [SECRET, ("x-hasura-role", "captain"), ("x-hasura-user-id", "1")];
    assert_eq!(post(&weir, &captain).status, 429);
    let list = weir.post("/v1/graphql", &user("1"), format!("[{ONE}]").as_bytes());
    assert!(is_refused(list.text()), "{list:?}");
}

#[test]
fn a_text_that_is_stored_by_its_client_is_counted_before_it_is_planned() {
    let weir = limited("rates: [{name: all, requests: 2, window_s: 86400}]");
    let members = |number: u32, has_text: bool| {
        let text = format!("query Q{number} {{ pet_by_pk(id: 1) {{ name }} }}");
        let hash = weir_transport::document_id::text_hash(&text);
        let text = if has_text { format!(r#""query":"{text}","#) } else { String::new() };
        format!(r#"{{{text}"extensions":{{"persistedQuery":{{"version":1,"sha256Hash":"{hash}"}}}}}}"#)
    };
    let ask = |number, has_text| weir.post("/graphql", &USER, members(number, has_text).as_bytes());
    assert_eq!([ask(1, true).text(), ask(1, false).text()], [ADA; 2]);
    let refused = ask(2, true);
    assert_eq!((refused.status, refused.code().as_str()), (429, "LIMIT_RATE"));
    assert_eq!(ask(2, false).code(), "PERSISTED_QUERY_NOT_FOUND");
}

#[test]
fn an_address_is_what_trusted_proxies_say() {
    let rate = "rates: [{name: all, requests: 1, window_s: 86400, by: [address]}]";
    let weir = limited(rate);
    let from =
        |weir: &Weir, addresses: &str| post(weir, &[USER[0], USER[1], ("x-forwarded-for", addresses)]).status;
    assert_eq!([from(&weir, "1.1.1.1"), from(&weir, "2.2.2.2")], [200, 429]);
    let weir = limited(&format!("trusted_hops: 1, {rate}"));
    assert_eq!(
        ["1.1.1.1", "9.9.9.9, 1.1.1.1", "1.1.1.1, 2.2.2.2", "2001:db8::1", "2001:db8::2"]
            .map(|it| from(&weir, it)),
        [200, 429, 200, 200, 429]
    );
    // A login says nothing about the address of its socket.
    let over_socket = |address: &str| {
        let headers = [USER[0], USER[1], ("x-forwarded-for", address)];
        ask(&weir, Transport::Socket("/graphql", NEW), &headers, ONE)
    };
    assert!(over_socket("3.3.3.3").contains(ADA));
    assert!(is_refused(&over_socket("4.4.4.4")));
    assert!(is_refused(&over_socket("5.5.5.5")));
}

#[test]
fn an_operation_is_counted_apart_if_the_operator_knows_it() {
    let weir = limited("rates: [{name: all, requests: 1, window_s: 86400, operations: [One]}]");
    assert_eq!(post(&weir, &USER).status, 200);
    let other_layout = r#"{"query":"query One{pet_by_pk(id:1){name}}"}"#;
    assert_eq!(weir.post("/graphql", &USER, other_layout.as_bytes()).status, 429);
    assert_eq!(weir.get("/api/rest/one", &USER).status, 429);
    let other = r#"{"query":"{ pet_by_pk(id: 1) { name } }"}"#;
    assert_eq!(weir.post("/graphql", &USER, other.as_bytes()).status, 200);
}

#[test]
fn a_reload_keeps_the_counts_and_counts_no_subscription_again() {
    let weir = limited("rates: [{name: all, requests: 3, window_s: 86400}]");
    let left = || {
        post(&weir, &USER).header("ratelimit").map(|it| it.split(";t=").next().unwrap_or_default().to_owned())
    };
    assert_eq!(left().as_deref(), Some(r#""all";r=2"#));
    let live = body("subscription { pet_by_pk(id: 1) { name } }");
    let events = [USER[0], USER[1], JSON, ("accept", "text/event-stream")];
    let (_, mut reader) = stream(&weir, &message("POST", "/graphql", &events, Some(live.as_bytes())));
    read_until(&mut reader, "Ada");
    assert_eq!(weir.post("/v1/reload", &[SECRET], b"").status, 200);
    // The new generation has planned it when it tells of a change.
    let update =
        r#"{"query":"mutation { update_pet_by_pk(pk_columns: {id: 1}, _set: {name: \"Eve\"}) { name } }"}"#;
    assert_eq!(weir.post("/graphql", &[SECRET], update.as_bytes()).status, 200);
    read_until(&mut reader, "Eve");
    assert_eq!(left().as_deref(), Some(r#""all";r=0"#));
    assert_eq!(weir.post("/v1/reload", &[SECRET], b"").status, 200);
    assert_eq!(post(&weir, &USER).status, 429);
}

#[test]
fn answers_that_caches_keep_say_nothing_of_rates() {
    let limits = "limits: {rates: [{name: all, requests: 9, window_s: 86400}]}";
    let weir = serve(
        Folder::new(),
        &format!("{OPERATIONS}\n{limits}\ncors: {{origins: [\"http://page.example\"]}}"),
    );
    let get = |query: &str| weir.get(&format!("/graphql?query={query}"), &USER);
    let kept = get("query%20@cached(ttl:60)%7Bpet_by_pk(id:1)%7Bname%7D%7D");
    assert!(kept.header("cache-control").is_some_and(|it| it.contains("max-age=")), "{kept:?}");
    assert_eq!((kept.header("ratelimit"), kept.header("ratelimit-policy")), (None, None));
    assert!(get("%7Bpet_by_pk(id:1)%7Bname%7D%7D").header("ratelimit").is_some());
    // It counted all the same.
    let origin = ("origin", "http://page.example");
    let answer = post(&weir, &[USER[0], USER[1], origin]);
    assert!(answer.header("ratelimit").is_some_and(|it| it.starts_with(r#""all";r=6;"#)), "{answer:?}");
    assert!(format!("{answer:?}").contains("ratelimit, ratelimit-policy, retry-after"), "{answer:?}");
}

#[test]
fn a_rate_that_cannot_be_held_is_told() {
    let folder = Folder::new();
    folder.pets();
    let check = |limits: &str| {
        let yaml =
            format!("listen: 127.0.0.1:0\nsources: [{{name: pets, url: pets.db}}]\nlimits: {{{limits}}}\n");
        let file = folder.write("weir.yaml", &yaml);
        let checked = command().arg("check").arg(file).output().expect("it runs");
        String::from_utf8_lossy(&checked.stderr).into_owned()
    };
    let told = check("rates: [{name: a, requests: 1, window_s: 1, operations: [Lost]}]");
    assert!(told.contains("has the operation `Lost`, so the rate does not hold for it"), "{told}");
    let told = check("rates: [{name: a, requests: 1, window_s: 1, by: [header]}]");
    assert!(told.contains("`limits.rates[0]`: `by`: `header` is no key"), "{told}");
}

#[test]
fn a_flood_of_callers_frees_nobody() {
    let weir = limited(
        "rate_keys_max: 16, rates: [{name: all, requests: 1, window_s: 86400, by: [\"claim:x-hasura-user-id\"]}]",
    );
    let user = |id: &str| post(&weir, &[SECRET, ("x-hasura-role", "user"), ("x-hasura-user-id", id)]).status;
    assert_eq!(user("first"), 200);
    for number in 0..200 {
        user(&number.to_string());
    }
    assert_eq!(user("first"), 429);
    until("it is counted", || {
        let metrics = weir.get("/metrics", &[SECRET]);
        let crowded = metrics.text().lines().find_map(|it| it.strip_prefix("weir_rate_crowded_total "));
        crowded.and_then(|it| it.parse().ok()).is_some_and(|it: u32| it >= 100)
    });
}
