//! Rendered requests for values, especially hostile ones.

use super::{Base, Rendered};
use crate::sdl::{self, Mapping};
use crate::selection::inputs::{Args, ConfigValues, Inputs, Keys};
use crate::selection::value::Value;
use proptest::prelude::*;
use weir_engine::plan::output_plan::{OutputArgument, OutputPlan};
use weir_engine::rows::{Column, Data, Texts};
use weir_engine::source::{Headers, Ids};
use weir_language::schema::Schema;
use weir_language::value::{Node, Values, Variables};

/// Headers of a made-up request.
struct SentHeaders(&'static [(&'static str, &'static [u8])]);

impl Headers for SentHeaders {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        self.0.iter().filter(|it| it.0 == name).for_each(|it| take(it.1));
    }
}

const HEAD: &str = "extend schema @link(url: \"https://specs.apollo.dev/connect/v0.3\", import: [\"@source\", \"@connect\"])
  @source(name: \"s\", http: {baseURL: \"http://host/api\", headers: [{name: \"X-User\", from: \"x-user\"}]})
type T { id: ID n: Int f(q: String, l: [Int], i: In): Int @connect(source: \"s\", http: HTTP, selection: \"$\") }
input In { name: String tags: [String] n: Int none: [Int] }
type Query { t(q: String): T @connect(source: \"s\", http: {GET: \"/t\"}, selection: \"id n\") }";

fn mapping(http: &str) -> Mapping {
    sdl::read(&HEAD.replace("HTTP", http), "t").unwrap_or_else(|it| panic!("{http}: {}", it[0]))
}

/// The arguments `q`, `l: [1, 2]` and `i: {name: "é", tags: ["a", null]}` of the field `f`.
fn arguments(schema: &Schema, q: Option<&str>) -> OutputPlan {
    let mut output = OutputPlan::default();
    let field = schema.field_by_name(schema.type_by_name("T").expect("T"), "f").expect("f");
    let inputs: Vec<_> = schema.arguments(field).collect();
    let values: &mut Values = &mut output.literals;
    let mut starts = vec![0];
    let text = values.push_text(q.unwrap_or_default());
    values.nodes.push(if q.is_some() { Node::Text(text) } else { Node::Null });
    starts.push(1);
    values.nodes.extend([Node::List { len: 2, end: 4 }, Node::Int(1), Node::Int(2)]);
    starts.push(4);
    let members: Vec<_> = schema.input_fields(schema.type_by_name("In").expect("In")).collect();
    let name = values.push_text("é");
    let tag = values.push_text("a");
    let object = [
        Node::Object { len: 2, end: 10 },
        Node::Key(members[0]),
        Node::Text(name),
        Node::Key(members[1]),
        Node::List { len: 2, end: 10 },
        Node::Text(tag),
    ];
    values.nodes.extend(object);
    values.nodes.push(Node::Null);
    values.nodes[4] = Node::Object { len: 2, end: 11 };
    values.nodes[8] = Node::List { len: 2, end: 11 };
    let argument = |(input, value): (&_, u32)| OutputArgument { input: *input, value, default: None };
    output.arguments = inputs.iter().zip(starts).map(argument).collect();
    output
}

/// The request for `q` and the parent's `id`, or the reason of a refusal.
fn render_request(http: &str, q: Option<&str>, id: &str, headers: &SentHeaders) -> String {
    let mapping = mapping(http);
    let schema = &mapping.schema;
    let output = arguments(schema, q);
    let field = schema.field_by_name(schema.type_by_name("T").expect("T"), "f").expect("f");
    let connector = mapping.connector(mapping.of_field(field).expect("a connector"));
    let column = |name: &str| match name {
        "id" => {
            let mut texts = Texts::default();
            texts.push(id.as_bytes());
            Column { data: Data::Text(texts), ..Column::default() }
        }
        _ => Column { data: Data::Int(vec![-7]), ..Column::default() },
    };
    let columns: Vec<Column> = connector.keys.iter().map(|it| column(&it.name)).collect();
    let ids = Ids::default();
    let variables = Variables::default();
    let args =
        Args { schema, ids: &ids, output: &output, variables: &variables, arguments: &output.arguments };
    let keys = Keys { columns: &columns, names: &connector.keys, start: 0, end: 1 };
    let object = |text| Value::read(text, 9).expect("JSON");
    let settings = ConfigValues {
        config: object(r#"{"k": "a b"}"#),
        env: object(r#"{"T": "t0"}"#),
        context: object("{}"),
    };
    let inputs =
        Inputs { args, keys, settings: &settings, headers, caller: None, selection: "", response: None };
    let mut out = Rendered::default();
    if let Err(error) = connector.request.render(&inputs, &mut out) {
        return format!("{error}; client: {}", error.for_client().message);
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut lines = vec![format!("{} {}", connector.request.method, text(&out.target))];
    lines.extend(out.headers().map(|(name, value)| format!("{name}: {}", text(value))));
    lines.extend((!out.body.is_empty()).then(|| text(&out.body)));
    lines.join("\n")
}

#[track_caller]
fn check(http: &str, q: &str, expected: &str) {
    assert_eq!(render_request(http, Some(q), "7", &SentHeaders(&[])), expected, "{http} with {q:?}");
}

#[test]
fn a_value_is_one_segment_whatever_it_holds() {
    let http = r#"{GET: "/u/{$args.q}/x?id={$this.id}"}"#;
    for (value, segment) in [
        ("plain-1._~", "plain-1._~"),
        ("../admin", "..%2Fadmin"),
        ("?a=b", "%3Fa%3Db"),
        ("#", "%23"),
        ("%2f", "%252f"),
        ("%2e%2e", "%252e%252e"),
        ("\\..\\", "%5C..%5C"),
        ("a;b:c@evil.host", "a%3Bb%3Ac%40evil.host"),
        ("\r\nX: y", "%0D%0AX%3A%20y"),
        ("\0", "%00"),
        ("169.254.169.254", "169.254.169.254"),
        ("//evil.host", "%2F%2Fevil.host"),
        ("é 𝄞", "%C3%A9%20%F0%9D%84%9E"),
        ("...", "..."),
    ] {
        check(http, value, &format!("GET /api/u/{segment}/x?id=7"));
    }
}

#[test]
fn a_segment_that_would_name_another_resource_is_refused() {
    for value in ["", ".", ".."] {
        check(
            r#"{GET: "/u/{$args.q}?i={$this.id}"}"#,
            value,
            "`$args.q` is empty, `.` or `..`, which no path can name; client: Argument \"q\" is missing or cannot be part of a path.",
        );
    }
    check(r#"{GET: "/u/a.{$args.q}?i={$this.id}"}"#, ".", "GET /api/u/a..?i=7");
    check(
        r#"{GET: "/u/.{$args.q}?i={$this.id}"}"#,
        ".",
        "`$args.q` is empty, `.` or `..`, which no path can name; client: Argument \"q\" is missing or cannot be part of a path.",
    );
    let missing =
        render_request(r#"{GET: "/u/{$request.headers.'x-id'}/{$this.id}"}"#, None, "7", &SentHeaders(&[]));
    assert_eq!(
        missing.split("client: ").nth(1),
        Some("Header \"x-id\" is missing or cannot be part of a path.")
    );
}

#[test]
fn lists_are_repeated_in_the_query_and_joined_where_that_is_said() {
    check(
        r#"{GET: "/u", queryParams: "id: $this.id l: $args.l no: $args.i.n"}"#,
        "q",
        "GET /api/u?id=7&l=1&l=2",
    );
    check(
        r#"{GET: "/u?a=1&q={$args.q}", queryParams: "'x y': $args.q i: $this.id"}"#,
        "a&b=c",
        "GET /api/u?a=1&q=a%26b%3Dc&x%20y=a%26b%3Dc&i=7",
    );
    check(
        r#"{GET: "/u/{$args.l->joinNotNull(',')}/{$this.n}/{$config.k}/{$env.T}"}"#,
        "q",
        "GET /api/u/1%2C2/-7/a%20b/t0",
    );
    check(
        r#"{GET: "/u", queryParams: "id: $this.id t: $args.i.tags no: $([])"}"#,
        "q",
        "GET /api/u?id=7&t=a&t=",
    );
    check(r#"{GET: "/u/?{$args.q}=1&i={$this.id}"}"#, "q=", "GET /api/u/?q%3D=1&i=7");
}

#[test]
fn bodies_are_json_of_what_is_selected() {
    check(
        r#"{POST: "/u", body: "n: $this.n in: $args.i { name tags } k: $({x: $args.q, gone: $args.i.n})"}"#,
        "\"\u{1}\n",
        "POST /api/u\ncontent-type: application/json\n{\"n\":-7,\"in\":{\"name\":\"é\",\"tags\":[\"a\",null]},\"k\":{\"x\":\"\\\"\\u0001\\n\"}}",
    );
    check(
        r#"{POST: "/u/{$this.id}", body: "$args.i"}"#,
        "",
        "POST /api/u/7\ncontent-type: application/json\n{\"name\":\"é\",\"tags\":[\"a\",null]}",
    );
    for nothing in ["$args.i.n", "$args.i.n->first"] {
        let http = format!(r#"{{POST: "/u/{{$this.id}}", body: "{nothing}"}}"#);
        check(&http, "", "POST /api/u/7");
    }
    check(
        r#"{POST: "/u", body: "of: $this { id no: n->add(1) q: $args.q one: $(1) }"}"#,
        "a",
        "POST /api/u\ncontent-type: application/json\n{\"of\":{\"id\":\"7\",\"no\":-6,\"q\":\"a\",\"one\":1}}",
    );
}

const FORM: &str = r#"headers: [{name: "content-type", value: "application/x-www-form-urlencoded"}]"#;

#[test]
fn bodies_of_forms_have_the_names_of_what_is_nested_in_brackets() {
    let head = "POST /api/u/7\ncontent-type: application/x-www-form-urlencoded";
    for (body, form) in [
        ("q: $args.q n: $this.n", "q=a+b%26%3D%C3%A9*-._%7E%0A&n=-7"),
        ("in: $args.i no: $args.i.n", "in%5Bname%5D=%C3%A9&in%5Btags%5D%5B0%5D=a&in%5Btags%5D%5B1%5D="),
        (
            "l: $args.l->map({a: @, b: [true]}) n: $this.n",
            "l%5B0%5D%5Ba%5D=1&l%5B0%5D%5Bb%5D%5B0%5D=true&l%5B1%5D%5Ba%5D=2&l%5B1%5D%5Bb%5D%5B0%5D=true&n=-7",
        ),
        ("e: $([]) o: $({}) z: $(null) f: $(1.50) n: $this.n", "z=&f=1.50&n=-7"),
        ("'a b': $args.q->slice(0, 1) n: $this.n", "a+b=a&n=-7"),
        ("$([{n: $this.n}, $args.l->map({l: @}), $args.i.none->map({o: @}), {z: 1}])", "n=-7&l=1&l=2&z=1"),
    ] {
        let http = format!("{{POST: \"/u/{{$this.id}}\", body: \"{body}\", {FORM}}}");
        check(&http, "a b&=é*-._~\n", &format!("{head}\n{form}"));
    }
    // By its essence, whatever its parameters and letters are; what is no form stays JSON.
    let body = r#"POST: "/u", body: "n: $this.n""#;
    let typed = |ty: &str| format!("{{{body}, headers: [{{name: \"Content-Type\", value: \"{ty}\"}}]}}");
    for ty in [
        "Application/X-WWW-Form-Urlencoded ; charset=utf-8",
        "application/x-www-form-urlencoded;charset={$config.k}",
    ] {
        let told = ty.replace("{$config.k}", "a b");
        check(&typed(ty), "", &format!("POST /api/u\ncontent-type: {told}\nn=-7"));
    }
    for ty in ["application/json", "text/plain", "application/x-www-form-urlencoded+json"] {
        check(&typed(ty), "", &format!("POST /api/u\ncontent-type: {ty}\n{{\"n\":-7}}"));
    }
    let http = format!("{{POST: \"/u/{{$this.id}}\", body: \"$args.i.tags->first\", {FORM}}}");
    check(
        &http,
        "",
        "the body is no object, and a form has names; client: The arguments of this field cannot be sent as a form.",
    );
}

#[test]
fn paths_go_on_from_the_base_with_or_without_a_slash() {
    for (url, target) in [
        ("u/{$this.id}", "/api/u/7"),
        ("/u/{$this.id}/", "/api/u/7/"),
        ("?id={$this.id}", "/api?id=7"),
        ("/?id={$this.id}", "/api?id=7"),
        ("a b/é%2F\\u00a0|/{$this.id}", "/api/a%20b/%C3%A9%2F%C2%A0%7C/7"),
        ("u/\\n  {$this.id}\\n", "/api/u/%20%207"),
    ] {
        check(&format!("{{GET: \"{url}\"}}"), "q", &format!("GET {target}"));
    }
    check(
        r#"{GET: "u/{$this.id}", path: "$(['x y', $args.q, $this.n])"}"#,
        "a/b",
        "GET /api/u/7/x%20y/a%2Fb/-7",
    );
    check(r#"{GET: "u/{$this.id}/", path: "$args.i.none"}"#, "a", "GET /api/u/7");
    check(
        r#"{GET: "u/{$this.id}", path: "$([$args.q])->first"}"#,
        "a",
        "`$([$args.q])->first` is no list of segments; client: A value this field depends on is not a list.",
    );
    for value in ["", ".", ".."] {
        check(
            r#"{GET: "u/{$this.id}", path: "$([$args.q])"}"#,
            value,
            "`$([$args.q])` is empty, `.` or `..`, which no path can name; client: A value this field depends on is missing or cannot be part of a path.",
        );
    }
}

#[test]
fn what_a_method_cannot_make_is_not_left_out_of_a_request() {
    check(
        r#"{POST: "/u/{$this.id}", body: "a: $args.q->add(1)"}"#,
        "x",
        "`->add` cannot take a string; client: The arguments of this field cannot be used for what it asks.",
    );
    check(r#"{GET: "/u/{$this.id}", queryParams: "a: $($args.q->add(1) ?? 0)"}"#, "x", "GET /api/u/7?a=0");
}

#[test]
fn headers_are_forwarded_by_name_and_never_split() {
    let http = r#"{GET: "/u/{$this.id}", headers: [{name: "x-q", value: "v {$args.q}"}]}"#;
    let given = SentHeaders(&[("x-user", b"ann"), ("cookie", b"secret"), ("x-user", b"bob")]);
    assert_eq!(
        render_request(http, Some("1"), "7", &given),
        "GET /api/u/7\nx-user: ann\nx-user: bob\nx-q: v 1"
    );
    assert_eq!(render_request(http, None, "7", &SentHeaders(&[])), "GET /api/u/7");
    for value in ["a\r\nX: y", "a\nb", "a\0"] {
        check(
            http,
            value,
            "the value of header `x-q` holds a control character; client: A value for a header holds control characters.",
        );
    }
    let twice = render_request(r#"{GET: "/u/{$request.headers.'x-user'}/{$this.id}"}"#, None, "7", &given);
    assert_eq!(twice.split("client: ").nth(1), Some("Header \"x-user\" is not a single value."));
    let first =
        render_request(r#"{GET: "/u/{$request.headers.'X-User'->first}/{$this.id}"}"#, None, "7", &given);
    assert_eq!(first, "GET /api/u/ann/7\nx-user: ann\nx-user: bob");
}

#[test]
fn calls_that_differ_in_a_header_have_keys_that_differ() {
    let key = |headers: &[(&'static str, &str)], target: &str| {
        let mut rendered = Rendered { target: target.into(), ..Rendered::default() };
        for (name, value) in headers {
            let start = rendered.header_bytes.len();
            rendered.header_bytes.extend_from_slice(value.as_bytes());
            let range = start..rendered.header_bytes.len();
            rendered.headers.push((http::HeaderName::from_static(name), range));
        }
        let mut key = Vec::new();
        rendered.key(&mut key);
        key
    };
    let ann = key(&[("x-user", "ann")], "/u");
    assert_eq!(ann, key(&[("x-user", "ann")], "/u"));
    for other in [
        key(&[("x-user", "bob")], "/u"),
        key(&[("x-name", "ann")], "/u"),
        key(&[], "/u"),
        key(&[("x-user", "ann"), ("x-user", "ann")], "/u"),
        key(&[("x-user", "")], "/uann"),
    ] {
        assert_ne!(ann, other);
    }
}

#[test]
fn base_urls_are_hosts_and_paths() {
    let base = Base::parse("https://Api.example:8443/v1/").expect("a base");
    assert_eq!((base.tls, &*base.authority, &*base.path), (true, "api.example:8443", "/v1"));
    let base = Base::parse("http://h/v1/?key=a%20b&c").expect("a base");
    assert_eq!((&*base.path, &*base.query), ("/v1", "key=a%20b&c"));
    assert_eq!(Base::parse("http://[::1]:80").expect("a base").origin(), "http://[::1]:80");
    for text in [
        "host",
        "ftp://host",
        "http://",
        "http:///p",
        "http://{$args.h}/",
        "http://u:p@host",
        "http://h/#a",
        "http://h/?a b",
        "http://h/../x",
        "http://h h/",
    ] {
        assert!(Base::parse(text).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn no_value_leaves_its_place(value in ".{0,12}|[./\\\\%?#&=@:;\r\n\0 ]{0,8}") {
        let http = r#"{GET: "/u/{$args.q}/x?id={$this.id}&q={$args.q}"}"#;
        let line = render_request(http, Some(&value), "7", &SentHeaders(&[]));
        if let Some(target) = line.strip_prefix("GET ") {
            let segments: Vec<&str> = target.split('?').next().unwrap_or_default().split('/').collect();
            prop_assert_eq!((segments.len(), segments[1], segments[2], segments[4]), (5, "api", "u", "x"));
            prop_assert!(!matches!(segments[3], "" | "." | ".."));
            prop_assert_eq!(target.matches(['?', '&', '=']).count(), 4);
            prop_assert!(target.bytes().all(|it| it.is_ascii_graphic() && it != b'#'));
        } else {
            prop_assert!(matches!(value.as_str(), "" | "." | ".."), "{}", line);
        }
    }

    #[test]
    fn no_value_leaves_its_place_in_a_form(value in ".{0,12}|[\\[\\]%&=+;\r\n\0 ]{0,8}") {
        let http = format!("{{POST: \"/u/{{$this.id}}\", body: \"a: $args.q b: {{ 'c[]': $([$args.q, 'x']) }} d: $args.q\", {FORM}}}");
        let told = render_request(&http, Some(&value), "7", &SentHeaders(&[]));
        let body = told.rsplit('\n').next().unwrap_or_default();
        let pairs: Vec<(String, String)> = form_urlencoded::parse(body.as_bytes()).into_owned().collect();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = [pair("a", &value), pair("b[c[]][0]", &value), pair("b[c[]][1]", "x"), pair("d", &value)];
        prop_assert_eq!(pairs, expected);
        prop_assert!(body.bytes().all(|it| it.is_ascii_alphanumeric() || b"*-._%+=&".contains(&it)), "{}", body);
    }
}
