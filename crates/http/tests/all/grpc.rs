//! A gRPC server behind the graph: a real one, whose messages are made by the description that the graph is made by.

use crate::grpc_kit::{compile_pool, description, known_types, serve, serve_known_types};
use crate::http2_kit::{Http2Service, INTERNAL_ERROR, Play, data, headers, last_data, last_headers, reset};
use crate::kit::{Documents, answer, engine_of};
use crate::wire_kit;
use crate::wire_kit::{User, ask};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use weir_engine::compose::Join;
use weir_engine::engine::Engine;
use weir_engine::source::Source;
use weir_http::cache::Clock;
use weir_http::call::{CallPolicy, Protocol, TlsFiles};
use weir_http::grpc::{self, GrpcSource};
use weir_http::passthrough::{ForwardedHeader, ForwardedValue, OpenError, Server};
use weir_http::sdl::CacheRule;

fn source(address: std::net::SocketAddr) -> Arc<dyn Source> {
    source_with(address, |_| {})
}

fn source_with(address: std::net::SocketAddr, change: impl FnOnce(&mut Server)) -> Arc<dyn Source> {
    source_of(&description(), address, change)
}

fn source_of(
    file: &Path,
    address: std::net::SocketAddr,
    change: impl FnOnce(&mut Server),
) -> Arc<dyn Source> {
    let value = ForwardedValue::Fixed(http::HeaderValue::from_static("ada"));
    let mut server = Server {
        name: "shop".into(),
        url: format!("http://{address}").parse().unwrap(),
        tls: TlsFiles::default(),
        prefix: "".into(),
        headers: vec![ForwardedHeader { name: "x-user".parse().unwrap(), value }],
        protocol: Protocol::Http2,
        policy: CallPolicy { retries: 0, body_bytes_max: 10_000, ..CallPolicy::USUAL },
        deadline_header: None,
        cache: wire_kit::cache(&Clock::new_simulated()),
        cache_rule: None,
        tag: "shop".into(),
        type_tags: Vec::new(),
        audience: None,
        remote: None,
    };
    change(&mut server);
    Arc::new(GrpcSource::open(server, file).unwrap())
}

fn gateway(address: std::net::SocketAddr) -> Engine {
    engine_of(vec![source(address)], &[])
}

#[test]
fn a_description_becomes_types_and_fields() {
    let sdl = grpc::sdl(&description(), "").unwrap();
    let expected = std::fs::read_to_string(description().with_extension("graphql")).unwrap();
    assert_eq!(sdl, expected);
    let prefixed = grpc::sdl(&description(), "shop_").unwrap();
    assert!(
        prefixed.contains("shop_getProduct(id: BigInt") && prefixed.contains("type shop_Product {"),
        "{prefixed}"
    );
}

#[tokio::test]
async fn messages_are_answers_and_arguments_messages() {
    let (address, log) = serve();
    let gateway = gateway(address);
    let query = "query ($f: ListRequest_FilterInput) {
        getProduct(id: 3) { id name price region tags image made stock maker { name best { id maker { name } } } __typename }
        listProducts(filter: $f, regions: [US, EU]) { products { id name region tags maker { name } } total } }";
    let text = answer(
        &gateway,
        query,
        r#"{"f": {"text": "x", "not": {"min": 2.5}, "since": "2026-01-01T00:00:00Z"}}"#,
    )
    .await;
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap(),
        json!({"data": {
            "getProduct": {"id": 3, "name": "Lamp", "price": 1.5, "region": "EU", "tags": ["a", "b\u{e9}"], "image": "AAE=",
                "made": "2026-11-21T20:00:00Z", "stock": 7,
                "maker": {"name": "Ann", "best": {"id": 5, "maker": null}}, "__typename": "Product"},
            "listProducts": {"products": [
                {"id": 1, "name": "Lamp", "region": "EU", "tags": ["a", "b\u{e9}"], "maker": {"name": "Ann"}},
                {"id": 2, "name": "", "region": "NOWHERE", "tags": [], "maker": null}], "total": {"x": 2}}
        }}),
        "{text}"
    );
    let mut asked = log.lock().unwrap().clone();
    asked.sort();
    assert_eq!(
        asked,
        [
            r#"GetProduct {"id":"3"} true ada"#,
            r#"ListProducts {"filter":{"text":"x","not":{"min":2.5},"since":"2026-01-01T00:00:00Z"},"regions":["US","EU"]} true ada"#,
        ]
    );
}

#[tokio::test]
async fn a_request_that_is_a_type_of_protobuf_s_own_has_its_value_as_argument() {
    let (address, log) = serve_known_types();
    let gateway = engine_of(vec![source_of(&known_types(), address, |_| {})], &[]);
    for (method, argument, sent, answered) in [
        ("getText", r#"(value: "a")"#, r#""a""#, r#""a""#),
        ("getText", "", "\"\"", "\"\""),
        ("getText", "(value: null)", "\"\"", "\"\""),
        ("getFlag", "(value: true)", "true", "true"),
        ("getInt", "(value: -3)", "-3", "-3"),
        ("getCount", "(value: 4294967295)", "4294967295", "4294967295"),
        ("getLong", "(value: 9007199254740993)", r#""9007199254740993""#, "9007199254740993"),
        ("getSize", "(value: 5)", r#""5""#, "5"),
        ("getSize", "(value: 18446744073709551615)", r#""18446744073709551615""#, "18446744073709551615"),
        (
            "getSize",
            r#"(value: "18446744073709551615")"#,
            r#""18446744073709551615""#,
            "18446744073709551615",
        ),
        (
            "getLong",
            r#"(value: "-9223372036854775808")"#,
            r#""-9223372036854775808""#,
            "-9223372036854775808",
        ),
        ("getFloat", "(value: 1.5)", "1.5", "1.5"),
        ("getDouble", "(value: 2.25)", "2.25", "2.25"),
        ("getBytes", r#"(value: "AAE=")"#, r#""AAE=""#, r#""AAE=""#),
        (
            "getMoment",
            r#"(value: "2026-01-01T00:00:00Z")"#,
            r#""2026-01-01T00:00:00Z""#,
            r#""2026-01-01T00:00:00Z""#,
        ),
        ("getSpan", r#"(value: "1.5s")"#, r#""1.500s""#, r#""1.500s""#),
        ("getMask", r#"(value: "a,b")"#, r#""a,b""#, r#""a,b""#),
        (
            "getStruct",
            "(value: {a: [1, {b: null}]})",
            r#"{"a":[1.0,{"b":null}]}"#,
            r#"{"a":[1.0,{"b":null}]}"#,
        ),
        ("getStruct", "", "{}", "{}"),
        ("getValue", r#"(value: ["x", true])"#, r#"["x",true]"#, r#"["x",true]"#),
        ("getValue", "", "null", "null"),
        ("getList", "(value: [1, []])", "[1.0,[]]", "[1.0,[]]"),
    ] {
        let before = log.lock().unwrap().len();
        let text = answer(&gateway, &format!("{{ {method}{argument} }}"), "{}").await;
        let asked = log.lock().unwrap().get(before).cloned().unwrap_or_default();
        let of = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        assert_eq!(of(&asked), of(sent), "{method}{argument}");
        assert_eq!(of(&text), json!({"data": {method: of(answered)}}), "{method}{argument}");
    }
}

#[tokio::test]
async fn any_is_an_argument_and_what_does_not_fit_is_refused() {
    let (address, log) = serve_known_types();
    let gateway = engine_of(vec![source_of(&known_types(), address, |_| {})], &[]);
    let any = r#"{"v": {"@type": "type.googleapis.com/google.protobuf.Duration", "value": "1s"}}"#;
    let text = answer(&gateway, "query ($v: JSON) { getAny(value: $v) }", any).await;
    let expected =
        json!({"data": {"getAny": {"@type": "type.googleapis.com/google.protobuf.Duration", "value": "1s"}}});
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    let text = answer(&gateway, "mutation { setNothing }", "{}").await;
    assert_eq!(text, r#"{"data":{"setNothing":true}}"#);
    for unfit in [r#"{ getMoment(value: "soon") }"#, "{ getAny(value: {type: 1}) }"] {
        let text = answer(&gateway, unfit, "{}").await;
        assert!(text.contains("BAD_USER_INPUT"), "{text}");
    }
    assert_eq!(log.lock().unwrap().len(), 2, "what does not fit is not sent");
    let sdl = grpc::sdl(&known_types(), "").unwrap();
    for line in [
        "getText(value: String): String",
        "getStruct(value: JSON): JSON",
        "getMoment(value: Timestamp): Timestamp",
    ] {
        assert!(sdl.contains(line), "{line}: {sdl}");
    }
}

#[tokio::test]
async fn a_status_is_an_error_with_a_code_and_without_the_servers_words() {
    let (address, log) = serve();
    let gateway = gateway(address);
    let query = "{ a: getProduct(id: 9007199254740993) { id } b: getProduct(id: 8) { id } c: getProduct(id: 7) { id } d: getProduct(id: 1) { id } }";
    let text = answer(&gateway, query, "{}").await;
    let said: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(said["data"], json!({"a": null, "b": null, "c": null, "d": {"id": 1}}));
    let errors: Vec<_> = said["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (&it["path"][0], &it["extensions"]["code"]))
        .collect();
    let expected = [("a", "SOURCE_REFUSED"), ("b", "SOURCE_UNAVAILABLE"), ("c", "POOL_TIMEOUT")];
    assert_eq!(
        errors,
        expected.map(|(path, code)| (json!(path), json!(code))).each_ref().map(|it| (&it.0, &it.1))
    );
    assert!(!text.contains("db.internal"), "{text}");
    let text = answer(&gateway, "{ listProducts(filter: {since: \"soon\"}) { total } }", "{}").await;
    assert!(text.contains("BAD_USER_INPUT") && text.contains(r#""data":{"listProducts":null}"#), "{text}");
    assert_eq!(log.lock().unwrap().len(), 4, "what does not fit is not sent");
}

#[tokio::test]
async fn mutations_run_in_order_and_keys_are_asked_once_each() {
    let (address, log) = serve();
    let sales = Documents::new("sales", "type Query { sales: [Sale] } type Sale { of: Int }", |_, _| {
        Ok(json!([{"of": 1}, {"of": 2}, {"of": 1}, {"of": 8}, {"of": null}]))
    });
    let join = Join {
        on: "Sale".into(),
        name: "product".into(),
        description: String::new(),
        source: "shop".into(),
        target: "getProduct".into(),
        arguments: "(id: $this.of)".into(),
    };
    let gateway = engine_of(vec![sales as Arc<dyn Source>, source(address)], &[join]);
    let text = answer(&gateway, "{ sales { product { id } } }", "{}").await;
    assert!(text.ends_with(r#""data":{"sales":[{"product":{"id":1}},{"product":{"id":2}},{"product":{"id":1}},{"product":null},{"product":null}]}}"#), "{text}");
    assert_eq!(log.lock().unwrap().len(), 3);
    log.lock().unwrap().clear();
    let text = answer(&gateway, "mutation { a: buy(id: 1, count: 2) b: buy(id: 2) }", "{}").await;
    assert_eq!(text, r#"{"data":{"a":true,"b":true}}"#);
    assert_eq!(*log.lock().unwrap(), [r#"Buy {"id":"1","count":2} true ada"#, r#"Buy {"id":"2"} true ada"#]);
}

#[test]
fn a_descriptor_set_describes_as_much_as_its_text() {
    let file = std::env::temp_dir().join(format!("weir-shop-{}.pb", std::process::id()));
    std::fs::write(&file, compile_pool().encode_to_vec()).unwrap();
    let by_set = grpc::sdl(&file, "shop_").unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(by_set, grpc::sdl(&description(), "shop_").unwrap());
}

#[test]
fn a_description_that_cannot_be_read_is_told() {
    let server = |description: &Path| match grpc::sdl(description, "") {
        Ok(sdl) => sdl,
        Err(OpenError::Unavailable(words) | OpenError::Unfit(words)) => words,
    };
    assert!(server(Path::new("nowhere.proto")).contains("nowhere.proto"));
    assert!(server(&description().with_extension("graphql")).contains("shop.graphql"));
}

/// A product that holds another, and that one another, to such a depth.
fn nest_messages(depth: usize) -> Vec<u8> {
    // A message's bytes behind the number of its field and their length.
    let put = |field: u8, message: Vec<u8>| {
        let low = (message.len() & 127) as u8;
        let high = (message.len() >> 7) as u8;
        [vec![field << 3 | 2, low | 128, high], message].concat()
    };
    (0..depth).fold(Vec::new(), |inner, _| put(8, put(2, inner)))
}

/// A message as it is sent, with a flag and a length that say what they like.
fn frame_message(flag: u8, length: usize, message: &[u8]) -> Vec<u8> {
    [&[flag], &(length as u32).to_be_bytes()[..], message].concat()
}

#[tokio::test]
async fn a_server_that_sends_anything_else_fails_its_own_fields() {
    const HEAD: &[(&str, &str)] = &[(":status", "200"), ("content-type", "application/grpc")];
    let done = |at| last_headers(at, &[("grpc-status", "0")]);
    let said =
        |bytes: Vec<u8>| move |at: u32| Play::Send([headers(at, HEAD), data(at, &bytes), done(at)].concat());
    let deep = nest_messages(150);
    type Way = Box<dyn Fn(u32) -> Play + Send + Sync>;
    let ways: Vec<(&str, Way)> = vec![
        ("SOURCE_ANSWER", Box::new(said(frame_message(1, 1, b"x")))),
        ("SOURCE_ANSWER", Box::new(said(frame_message(0, u32::MAX as usize, b"x")))),
        ("SOURCE_ANSWER", Box::new(said(frame_message(0, 1, b"")))),
        ("SOURCE_ANSWER", Box::new(said([frame_message(0, 0, b""), frame_message(0, 0, b"")].concat()))),
        ("SOURCE_ANSWER", Box::new(said(frame_message(0, 2, &[0xff, 0xff])))),
        ("SOURCE_ANSWER", Box::new(said(frame_message(0, 4, &[0x12, 2, 0xff, 0xfe])))),
        ("SOURCE_ANSWER", Box::new(said(frame_message(0, deep.len(), &deep)))),
        ("SOURCE_ANSWER", Box::new(said(Vec::new()))),
        ("SOURCE_TOO_LARGE", Box::new(said(frame_message(0, 10_001, &[b'x'; 10_001])))),
        (
            "SOURCE_UNAVAILABLE",
            Box::new(|at| Play::Send([headers(at, HEAD), last_data(at, b"\0\0\0\0\0")].concat())),
        ),
        (
            "SOURCE_UNAVAILABLE",
            Box::new(|at| Play::Send([headers(at, HEAD), reset(at, INTERNAL_ERROR)].concat())),
        ),
        ("SOURCE_UNAVAILABLE", Box::new(|at| Play::Close([headers(at, HEAD), data(at, b"\0\0")].concat()))),
        ("SOURCE_UNAVAILABLE", Box::new(|_| Play::Close(Vec::new()))),
        (
            "SOURCE_UNAVAILABLE",
            Box::new(|at| Play::Send(last_headers(at, &[HEAD[0], ("grpc-status", "well")]))),
        ),
        ("SOURCE_UNAVAILABLE", Box::new(|at| Play::Send(last_headers(at, &[(":status", "503")])))),
        ("SOURCE_REFUSED", Box::new(|at| Play::Send(last_headers(at, &[HEAD[0], ("grpc-status", "5")])))),
    ];
    for (nth, (code, way)) in ways.into_iter().enumerate() {
        let server = Http2Service::start(move |_, stream| way(stream));
        let text =
            answer(&gateway(server.address), "{ getProduct(id: 1) { id maker { name } } }", "{}").await;
        let answered: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(answered["data"], json!({"getProduct": null}), "way {nth}: {text}");
        assert_eq!(answered["errors"][0]["extensions"]["code"], json!(code), "way {nth}: {text}");
    }
}

/// A gateway over a server of `kinds.proto` that answers with these headers and bytes.
fn serve_kinds(head: &'static [(&'static str, &'static str)], bytes: Vec<u8>) -> (Http2Service, Engine) {
    let server = Http2Service::start(move |_, stream| {
        let done = last_headers(stream, &[("grpc-status", "0")]);
        Play::Send([headers(stream, head), data(stream, &bytes), done].concat())
    });
    let gateway = engine_of(vec![source_of(&kinds(), server.address, |_| {})], &[]);
    (server, gateway)
}

fn kinds() -> std::path::PathBuf {
    description().with_file_name("kinds.proto")
}

const PLAIN: &[(&str, &str)] = &[(":status", "200"), ("content-type", "application/grpc")];

#[tokio::test]
async fn a_part_that_cannot_be_shown_fails_where_it_is_selected_alone() {
    // `flag`, an `Any` of an unknown type, and a moment far out of range.
    let any = [0x4a, 0x05, 0x0a, 0x03, b'a', b'/', b'b'];
    let moment = [0x52, 0x0a, 0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40];
    let message = [&[0x08, 0x01][..], &any, &moment].concat();
    // `digits` is NaN.
    let message = [&message[..], &[0x15, 0x00, 0x00, 0xc0, 0x7f]].concat();
    let (_server, gateway) = serve_kinds(PLAIN, frame_message(0, message.len(), &message));
    let text = answer(&gateway, "{ getKinds { flag odd_name } }", "{}").await;
    assert_eq!(text, r#"{"data":{"getKinds":{"flag":true,"odd_name":0}}}"#);
    // An `Any` of nothing is an argument, and one without a type is none.
    let text = answer(&gateway, "{ getKinds(any: {}) { flag } }", "{}").await;
    assert_eq!(text, r#"{"data":{"getKinds":{"flag":true}}}"#);
    let text = answer(&gateway, "{ getKinds(any: {of: 1}) { flag } }", "{}").await;
    assert!(text.contains("BAD_USER_INPUT"), "{text}");
    let text = answer(&gateway, "{ getKinds { flag any moment digits } }", "{}").await;
    let said: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        said["data"],
        json!({"getKinds": {"flag": true, "any": null, "moment": null, "digits": null}}),
        "{text}"
    );
    let paths: Vec<_> = said["errors"].as_array().unwrap().iter().map(|it| it["path"][1].clone()).collect();
    assert_eq!(paths, ["any", "moment", "digits"]);
}

#[tokio::test]
async fn a_message_that_is_compressed_by_gzip_is_read() {
    use std::io::Write;
    const GZIP: &[(&str, &str)] =
        &[(":status", "200"), ("content-type", "application/grpc"), ("grpc-encoding", "gzip")];
    let pack = |message: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(message).unwrap();
        encoder.finish().unwrap()
    };
    let packed = pack(&[0x08, 0x01]);
    let (_server, gateway) = serve_kinds(GZIP, frame_message(1, packed.len(), &packed));
    let text = answer(&gateway, "{ getKinds { flag } }", "{}").await;
    assert_eq!(text, r#"{"data":{"getKinds":{"flag":true}}}"#);
    // A plain message among compressed ones, one that is no gzip, and one that is too long.
    let long = pack(&[b' '; 10_001]);
    for (frame, expected) in [
        (frame_message(0, 2, &[0x08, 0x01]), r#"{"getKinds":{"flag":true}}"#),
        (frame_message(1, 2, &[0x08, 0x01]), r#"{"getKinds":null}"#),
        (frame_message(1, long.len(), &long), r#"{"getKinds":null}"#),
    ] {
        let (_server, gateway) = serve_kinds(GZIP, frame);
        let text = answer(&gateway, "{ getKinds { flag } }", "{}").await;
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("SOURCE_ANSWER") == expected.contains("null"), "{text}");
    }
}

#[test]
fn what_a_description_has_more_of_is_told_and_named_by_graphql() {
    let sdl = grpc::sdl(&kinds(), "").unwrap();
    assert!(sdl.starts_with("# Left out, as they stream: weir.kinds.Kinder/WatchKinds\n"), "{sdl}");
    assert!(sdl.contains("odd_name: Int!") && sdl.contains("size: UInt64!"), "{sdl}");
    let folder = std::env::temp_dir().join(format!("weir-editions-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let own = folder.join("own.proto");
    let other = folder.join("other.proto");
    std::fs::write(&own, "syntax = \"proto3\";\nimport \"other.proto\";\nmessage A {}\n").unwrap();
    std::fs::write(&other, "edition = \"2023\";\nmessage B {}\n").unwrap();
    for file in [&own, &other] {
        let words = grpc::sdl(file, "").unwrap_err().to_string();
        assert!(words.contains("other.proto is of edition 2023"), "{words}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A lifetime of its own for what is answered and for what is not found.
fn rule() -> CacheRule {
    CacheRule { default_s: Some(60), stale_if_error_s: Some(60), ..CacheRule::default() }
}

#[tokio::test]
async fn what_methods_that_read_answer_is_kept_until_something_is_changed() {
    let (address, log) = serve();
    let clock = Clock::new_simulated();
    let cache = wire_kit::cache(&clock);
    let source = source_with(address, |it| {
        (it.cache, it.cache_rule) = (Arc::clone(&cache), Some(rule()));
        it.type_tags = vec![("Product_Maker".into(), "makers".into())];
        it.headers = vec![ForwardedHeader {
            name: "x-user".parse().unwrap(),
            value: ForwardedValue::From("x-client".into()),
        }];
    });
    let gateway = engine_of(vec![source], &[]);
    let check = async |user, query: &str, calls: usize, told: Option<(bool, u64)>| {
        let (text, said) = ask(&gateway, User(user), query).await;
        assert_eq!((log.lock().unwrap().drain(..).count(), said), (calls, told), "{user}: {text}");
        text
    };
    let plain = "{ getProduct(id: 3) { name } }";
    let made = "{ getProduct(id: 4) { maker { name } } }";
    let first = check("ada", plain, 1, Some((true, 60))).await;
    clock.advance_ms(20_000);
    assert_eq!(check("ada", plain, 0, Some((true, 40))).await, first);
    check("bob", plain, 1, Some((true, 60))).await;
    check("ada", made, 1, Some((true, 60))).await;
    cache.invalidate("makers");
    check("ada", plain, 0, Some((true, 40))).await;
    check("ada", made, 1, Some((true, 60))).await;
    check("ada", "mutation { buy(id: 2) }", 1, None).await;
    check("ada", plain, 1, Some((true, 60))).await;
    check("bob", plain, 1, Some((true, 60))).await;
    // Neither what failed nor what is not there.
    for query in ["{ getProduct(id: 8) { id } }", "{ getProduct(id: 9007199254740993) { id } }"] {
        check("ada", query, 1, Some((false, 0))).await;
        check("ada", query, 1, Some((false, 0))).await;
    }
}

#[tokio::test]
async fn a_method_of_a_user_is_called_for_each_user() {
    let (address, log) = serve();
    for (name, calls, told) in [("authorization", [1, 1, 1], (false, 60)), ("cookie", [1, 1, 0], (false, 60))]
    {
        let source = source_with(address, |it| {
            it.cache_rule = Some(rule());
            it.headers = vec![ForwardedHeader {
                name: name.parse().unwrap(),
                value: ForwardedValue::From(name.into()),
            }];
        });
        let gateway = engine_of(vec![source], &[]);
        for (user, calls) in ["ada", "bob", "ada"].into_iter().zip(calls) {
            let (text, said) = ask(&gateway, User(user), "{ getProduct(id: 3) { name } }").await;
            assert_eq!((log.lock().unwrap().drain(..).count(), said), (calls, Some(told)), "{user}: {text}");
        }
    }
}
