//! Other servers behind a running one: another Weir by `@graphql`, whose schema is asked for at the start or as soon as it
//! answers, and tonic's server by `@grpc`.

use crate::grpc_kit;
use crate::live::{read_until, stream};
use crate::redis_kit::Redis;
use crate::support::{Folder, Weir, body, command, message, until};
use serde_json::json;

/// A Weir whose graph is what the server at `address` has, with `pets_` before its names.
fn before(address: std::net::SocketAddr) -> Weir {
    let folder = Folder::new();
    let text = format!(
        "extend schema @link(url: \"https://weir.example/spec/v1\", import: [\"@graphql\", \"@cacheControl\"])
           @graphql(url: \"http://{address}/graphql\", prefix: \"pets_\")
         extend type pets_pet @cacheControl(maxAge: 600)"
    );
    let file = folder.write("services.graphql", &text);
    Weir::start(&["serve", file.to_str().unwrap(), "--listen", "127.0.0.1:0"], folder)
}

const QUESTION: &str = "{ pets_pet(where: {name: {_eq: \"Ada\"}}) { name __typename } }";

#[test]
fn a_server_behind_another_answers_through_it() {
    let pets = Weir::pets(&[]);
    let direct = pets.query("{ pet(limit: 2, order_by: {name: asc}) { name } }").text().to_owned();
    let weir = before(pets.address);
    let through = weir.query("{ pets_pet(limit: 2, order_by: {name: asc}) { name } }").text().to_owned();
    assert_eq!(through, direct.replace("\"pet\"", "\"pets_pet\""));
    assert!(weir.query(QUESTION).text().contains("pets_pet"), "{}", weir.query(QUESTION).text());
}

#[test]
fn queries_of_a_server_can_be_subscribed_to_and_its_own_subscriptions_are_not_passed_on() {
    let pets = Weir::pets(&[]);
    let weir = before(pets.address);
    let query = body("subscription { pets_pet_by_pk(id: 1) { name } }");
    let headers = [("content-type", "application/json"), ("accept", "text/event-stream")];
    let (_, mut events) = stream(&weir, &message("POST", "/graphql", &headers, Some(query.as_bytes())));
    let told = |name: &str| format!("data: {{\"data\":{{\"pets_pet_by_pk\":{{\"name\":\"{name}\"}}}}}}\n\n");
    read_until(&mut events, &told("Ada"));
    for name in ["Eve", "Ada"] {
        let changed = weir.query(&format!(
            "mutation {{ pets_update_pet_by_pk(pk_columns: {{id: 1}}, _set: {{name: \"{name}\"}}) {{ id }} }}"
        ));
        assert!(!changed.text().contains("errors"), "{}", changed.text());
        read_until(&mut events, &told(name));
    }
    let types = weir.query("{ __schema { types { name } } }");
    assert!(!types.text().contains("pets_subscription_root"), "{}", types.text());
}

#[test]
fn a_server_that_is_down_at_the_start_joins_the_graph_when_it_answers() {
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], crate::port_kit::free_port()));
    let weir = before(address);
    assert!(
        weir.get("/readyz", &[]).text().contains("services/pets_"),
        "{}",
        weir.get("/readyz", &[]).text()
    );
    let folder = Folder::new();
    let target = format!("sqlite:{}", folder.pets().display());
    let _pets = Weir::start(&["serve", &target, "--listen", &address.to_string()], folder);
    until("the server's fields are there", || weir.query(QUESTION).json()["data"]["pets_pet"].is_array());
    // Cache settings for its types, given while it was down, apply now.
    let told = weir.query(QUESTION).header("cache-control").unwrap_or_default().to_owned();
    assert!(told.starts_with("public,max-age="), "{told}");
}

#[test]
fn servers_are_trusted_by_a_certificate_of_their_own() {
    let folder = Folder::new();
    folder.pets();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    let trusted = made.cert.pem();
    folder.write("server.crt", &trusted);
    folder.write("server.key", &made.signing_key.serialize_pem());
    let pets = Weir::in_folder(folder, "tls: {certificate: server.crt, key: server.key}");
    let origin = format!("https://localhost:{}", pets.address.port());
    let serve = |ca: &str| {
        let folder = Folder::new();
        folder.write("pets.crt", &trusted);
        let text = format!(
            "extend schema @link(url: \"https://weir.example/spec/v1\", import: [\"@graphql\"])
               @link(url: \"https://specs.apollo.dev/connect/v0.3\", import: [\"@source\", \"@connect\"])
               @source(name: \"rest\", http: {{baseURL: \"{origin}\"}})
               @graphql(url: \"{origin}/graphql\", prefix: \"pets_\")
             type Query {{ ready: String @connect(source: \"rest\", http: {{GET: \"/graphql\", queryParams: \"query: $('{{__typename}}')\"}}, selection: \"$.data.__typename\") }}"
        );
        folder.write("services.graphql", &text);
        let source = format!("{{name: s, file: services.graphql{ca}}}");
        let file = folder.write("weir.yaml", &format!("listen: 127.0.0.1:0\nsources: [{source}]\n"));
        Weir::by_file(&file, folder)
    };
    let weir = serve(", ca: pets.crt");
    assert_eq!(weir.query("{ ready }").json(), json!({"data": {"ready": "query_root"}}));
    assert!(weir.query(QUESTION).json()["data"]["pets_pet"].is_array(), "{}", weir.query(QUESTION).text());
    let stranger = serve("");
    assert_eq!(stranger.query("{ ready }").code(), "SOURCE_UNAVAILABLE");
    assert!(stranger.get("/readyz", &[]).text().contains("s/pets_"));
}

#[test]
fn a_grpc_server_answers_by_its_text_and_by_its_descriptor_set() {
    let (address, log) = grpc_kit::serve();
    let serve = |description: &str, bytes: &[u8]| {
        let folder = Folder::new();
        std::fs::write(folder.file(description), bytes).unwrap();
        let text = format!(
            "extend schema @link(url: \"https://weir.example/spec/v1\", import: [\"@grpc\", \"@policy\"])
               @grpc(url: \"http://{address}\", proto: \"{description}\", prefix: \"shop_\", headers: [{{name: \"x-user\", from: \"x-client\"}}])
               @policy(source: \"shop_\", retries: 0)"
        );
        let file = folder.write("services.graphql", &text);
        Weir::start(&["serve", file.to_str().unwrap(), "--listen", "127.0.0.1:0"], folder)
    };
    let text = std::fs::read(grpc_kit::description()).unwrap();
    let set = grpc_kit::compile_pool().encode_to_vec();
    for (description, bytes) in [("shop.proto", &text), ("shop.pb", &set)] {
        let weir = serve(description, bytes);
        let query = body("{ shop_getProduct(id: 3) { __typename id price maker { best { id } } } }");
        let answer = weir.post("/graphql", &[("x-client", "ada")], query.as_bytes()).json();
        let product =
            json!({"__typename": "shop_Product", "id": 3, "price": 1.5, "maker": {"best": {"id": 5}}});
        assert_eq!(answer, json!({"data": {"shop_getProduct": product}}));
        assert_eq!(*log.lock().unwrap(), [r#"GetProduct {"id":"3"} true ada"#]);
        let failed = weir.query("{ shop_getProduct(id: 8) { id } }");
        assert_eq!(failed.code(), "SOURCE_UNAVAILABLE");
        assert!(!failed.text().contains("db.internal"), "{}", failed.text());
        assert_eq!(log.lock().unwrap().len(), 2, "nothing is asked again");
        assert_eq!(weir.query("mutation { shop_buy(id: 2) }").json(), json!({"data": {"shop_buy": true}}));
        let busy = weir.query("{ shop_getProduct(id: 7) { id } }");
        assert_eq!((busy.code().as_str(), busy.header("retry-after")), ("POOL_TIMEOUT", Some("1")));
        log.lock().unwrap().clear();
    }
}

#[test]
fn a_description_of_a_grpc_server_is_printed_as_a_text_that_serves_it() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../http/tests/grpc/shop.proto");
    let printed = command().args(["import", "proto", file, "--prefix", "a_"]).output().unwrap();
    let text = String::from_utf8(printed.stdout).unwrap();
    let expected = format!("@grpc(url: \"http://localhost:50051\", proto: \"{file}\", prefix: \"a_\")");
    assert!(text.contains(&expected) && text.contains("\n# type a_Product {\n#   id: BigInt!\n"), "{text}");
    let folder = Folder::new();
    let checked = command().arg("check").arg(folder.write("services.graphql", &text)).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let none = command().args(["import", "proto", "nowhere.proto"]).output().unwrap();
    assert!(!none.status.success() && String::from_utf8_lossy(&none.stderr).contains("nowhere.proto"));
}

#[test]
fn a_tag_of_a_type_that_no_server_has_is_told_with_its_place() {
    let proto = concat!(env!("CARGO_MANIFEST_DIR"), "/../http/tests/grpc/shop.proto");
    let folder = Folder::new();
    let check = |ty: &str| {
        let text = format!(
            "extend schema @link(url: \"https://weir.example/spec/v1\", import: [\"@grpc\", \"@cacheTag\"])
               @grpc(url: \"http://localhost:50051\", proto: \"{proto}\", prefix: \"shop_\")
             extend type {ty} @cacheTag(format: \"products\")"
        );
        let checked = command().arg("check").arg(folder.write("services.graphql", &text)).output().unwrap();
        (checked.status.success(), String::from_utf8_lossy(&checked.stderr).into_owned())
    };
    let (is_sound, said) = check("shop_Product");
    assert!(is_sound, "{said}");
    let (is_sound, said) = check("shop_Prodct");
    let expected = "services.graphql:3:38: no server of this text has a type `shop_Prodct`, so nothing has the tag: mend the name";
    assert!(!is_sound && said.contains(expected), "{said}");
}

#[test]
fn what_one_process_changes_at_a_server_is_seen_by_those_that_share_a_redis_with_it() {
    let (address, log) = grpc_kit::serve();
    let redis = Redis::start();
    let text = format!(
        "extend schema @link(url: \"https://weir.example/spec/v1\", import: [\"@grpc\", \"@cache\", \"@cacheTag\"])
           @grpc(url: \"http://{address}\", proto: \"shop.proto\", prefix: \"shop_\", headers: [{{name: \"x-user\", from: \"x-client\"}}])
           @cache(source: \"shop_\", default: 600)
         extend type shop_Product @cacheTag(format: \"products\")"
    );
    let description = std::fs::read(grpc_kit::description()).unwrap();
    let both = [(), ()].map(|()| {
        let folder = Folder::new();
        folder.write("services.graphql", &text);
        std::fs::write(folder.file("shop.proto"), &description).unwrap();
        let cache =
            format!("{{redis: 'redis://127.0.0.1:{}', namespace: shop, redis_ms_max: 10000}}", redis.port);
        let sources = "[{name: s, file: services.graphql}]";
        let yaml = format!("listen: 127.0.0.1:0\ncache: {cache}\nsources: {sources}\n");
        let file = folder.write("weir.yaml", &yaml);
        Weir::by_file(&file, folder)
    });
    let shows = |weir: &Weir, line: &str| weir.get("/metrics", &[]).text().lines().any(|it| it == line);
    until("Redis is there", || both.iter().all(|it| shows(it, "weir_cache_redis_connected 1")));
    let ask = |weir: &Weir, user: &str| {
        let query = body("{ shop_getProduct(id: 3) { name } }");
        let answer = weir.post("/graphql", &[("x-client", user)], query.as_bytes());
        assert_eq!(answer.json(), json!({"data": {"shop_getProduct": {"name": "Lamp"}}}));
    };
    let asked = || std::mem::take(&mut *log.lock().unwrap());
    ask(&both[0], "ada");
    until("the answer is written", || shows(&both[0], "weir_cache_redis_written_total 1"));
    ask(&both[1], "ada");
    ask(&both[1], "ada");
    assert_eq!(asked(), [r#"GetProduct {"id":"3"} true ada"#], "one process asked for both");
    ask(&both[1], "bob");
    assert_eq!(asked(), [r#"GetProduct {"id":"3"} true bob"#], "what another is answered is another's");
    let seen = |what: &str| {
        until(what, || {
            ask(&both[1], "ada");
            asked().iter().any(|it| it.ends_with(" ada") && it.starts_with("GetProduct"))
        });
        ask(&both[1], "ada");
        assert_eq!(asked(), [""; 0], "{what}");
    };
    let changed = both[0].post("/graphql", &[], body("mutation { shop_buy(id: 2) }").as_bytes());
    assert_eq!(changed.json(), json!({"data": {"shop_buy": true}}));
    seen("the other sees what was changed");
    let said = both[0].post("/v1/invalidate", &[], br#"{"tags": ["products"]}"#);
    assert_eq!(said.status, 200, "{}", said.text());
    seen("the other hears of what is said of a type");
}
