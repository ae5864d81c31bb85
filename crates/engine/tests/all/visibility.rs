//! Members that a caller may not see are absent: answers, errors, suggestions and introspection are byte for byte those of a schema without it.
//!
//! The members of a schema that stand on lines with `# hidden` are hidden from callers other than the admin; the oracle is the same schema without these lines.

use futures_util::FutureExt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::{Facts, Identity};
use weir_engine::compose::{Graph, Join};
use weir_engine::engine::{Body, Engine, Request, Settings};
use weir_engine::memory::Memory;
use weir_engine::source::{PlanError, PlanNode, PreparedFetch, Protocol, Source};
use weir_language::json::Json;
use weir_language::schema::build::SchemaBuilder;
use weir_language::schema::{Schema, TypeKind, Visibility};

const SDL: &str = r#"
type Query {
  boats(where: BoatFilter, order: [BoatOrder!], limit: Int = 3,
    secret: Int = 4, # hidden
    ): [Boat!]!
  boat(id: Int!): Boat
  named: Named
  crafts: [Craft!]
  harbours(where: HarbourFilter): [Harbour!] # hidden
  wrecked(where: BoatFilter): [Boat!] # hidden
  name: String
}
type Mutation {
  push(boat: BoatInput): Boat
  sink(boat: BoatInput): Harbour # hidden
}
type Boat implements Named {
  id: Int!
  name: String!
  price: Float # hidden
  harbour: Harbour # hidden
}
type Raft implements Named { name: String!  logs: Int }
type Wreck implements Named { name: String! depth: Int } # hidden type
union Craft = Boat | Raft | Wreck
interface Named { name: String! }
type Harbour { id: Int! name: String! boats: [Boat!] } # hidden type
enum BoatOrder {
  ID
  NAME
  PRICE # hidden
}
input BoatFilter {
  id: Int
  name: String
  price: Float # hidden
  harbour: HarbourFilter # hidden
  and: [BoatFilter!]
}
input HarbourFilter { name: String id: Int } # hidden type
input BoatInput {
  id: Int!
  name: String
  owner: String! # hidden
  price: Float = 1.5 # hidden
}
"#;

/// The schema without what is hidden.
fn reduced() -> String {
    let shown = SDL.lines().filter(|it| !it.contains("# hidden"));
    shown.map(|it| format!("{it}\n")).collect::<String>().replace("| Raft | Wreck", "| Raft")
}

/// A source that shows its members to the admin, and `shown` of them to others.
struct Restricted {
    memory: Memory,
    shown: fn(&Schema) -> Visibility,
}

impl Source for Restricted {
    fn name(&self) -> &str {
        self.memory.name()
    }
    fn schema(&self) -> &Arc<Schema> {
        self.memory.schema()
    }
    fn prepare(&self, piece: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        self.memory.prepare(piece)
    }
    fn profile(&self, identity: &Identity, facts: &mut Facts) {
        if !identity.is_admin() {
            facts.push(0);
        }
    }
    fn visibility(&self, _facts: &[u64]) -> Option<Visibility> {
        Some((self.shown)(self.schema()))
    }
}

/// The members of the lines without `# hidden`.
fn without_hidden_lines(schema: &Schema) -> Visibility {
    let shown = Schema::from_sdl(&reduced()).unwrap();
    let mut seen = Visibility::everything(schema);
    for ty in schema.types_of_sources() {
        let name = schema.type_name(ty);
        let Some(own) = shown.type_by_name(name) else {
            seen.show_type(ty, false);
            continue;
        };
        for at in schema.ty(ty).fields.range() {
            let field = weir_language::schema::FieldId(at as u32);
            let other = shown.field_by_name(own, schema.field_name(field));
            seen.show_field(field, other.is_some());
            for input in schema.arguments(field) {
                let run = other.map(|it| shown.field(it).arguments).unwrap_or_default();
                seen.show_input(input, shown.input_by_name(run, schema.input_name(input)).is_some());
            }
        }
        match schema.ty(ty).kind {
            TypeKind::Input { .. } => {
                for input in schema.input_fields(ty) {
                    let other = shown.input_by_name(shown.ty(own).members, schema.input_name(input));
                    seen.show_input(input, other.is_some());
                }
            }
            TypeKind::Enum => {
                for at in schema.ty(ty).members.range() {
                    let value = weir_language::schema::EnumValueId(at as u32);
                    let name = schema.str(schema.enum_value(value).name);
                    seen.show_enum_value(value, shown.enum_value_by_name(own, name).is_some());
                }
            }
            TypeKind::Scalar(_) | TypeKind::Object | TypeKind::Interface | TypeKind::Union => {}
        }
    }
    seen.close(schema);
    seen
}

fn memory(sdl: &str) -> Memory {
    Memory::new("boats", Arc::new(Schema::from_sdl(sdl).unwrap())).field("name", |_| "Ada".to_owned())
}

fn user() -> Identity {
    Identity { role: "user".into(), is_backend: false, is_anonymous: false, ..Identity::admin() }
}

fn ask(engine: &Engine, identity: &Identity, query: &str, variables: &str, protocol: Protocol) -> String {
    let json = Json::parse(variables.as_bytes(), 100).unwrap();
    let request = Request {
        variables: Some(json.root()),
        protocol,
        ..Request::new(query, Instant::now() + Duration::from_secs(60))
    };
    match engine.execute(request, &engine.caller(identity)).now_or_never().unwrap().body {
        Body::Whole(bytes) => String::from_utf8(bytes).unwrap(),
        Body::Shared(_) | Body::Stream { .. } | Body::Increments { .. } => panic!("nothing streams here"),
    }
}

/// Engines over the whole schema and over the reduced one; with another source beside them, and a join, if `beside`.
fn engines(beside: bool) -> (Engine, Engine) {
    let other = || -> Arc<dyn Source> {
        let sdl = "type Query { port(id: Int): Port } type Port { id: Int! }";
        let memory = Memory::new("ports", Arc::new(Schema::from_sdl(sdl).unwrap()));
        Arc::new(Restricted { memory, shown: Visibility::everything })
    };
    let join = |target: &str, name: &str| Join {
        on: "Port".into(),
        name: name.into(),
        description: String::new(),
        source: "boats".into(),
        target: target.into(),
        arguments: if target == "boat" { "(id: $this.id)".into() } else { "(where: {id: $this.id})".into() },
    };
    let engine = |source: Arc<dyn Source>, joins: &[Join]| {
        let sources = if beside { vec![source, other()] } else { vec![source] };
        let graph = Graph::compose(sources, joins).unwrap_or_else(|it| panic!("{it:?}"));
        Engine::new(graph, Settings::STANDARD)
    };
    let (all, few) = if beside {
        (vec![join("boat", "boat"), join("harbours", "harbours")], vec![join("boat", "boat")])
    } else {
        (Vec::new(), Vec::new())
    };
    (
        engine(Arc::new(Restricted { memory: memory(SDL), shown: without_hidden_lines }), &all),
        engine(Arc::new(memory(&reduced())), &few),
    )
}

const INTROSPECTION: &str = "{ __schema { queryType { name } mutationType { name } subscriptionType { name }
    types { kind name possibleTypes { name } interfaces { name } enumValues { name } inputFields { name defaultValue
      type { kind name ofType { name } } }
      fields { name type { kind name ofType { kind name ofType { name } } } args { name defaultValue } } } } }";

const QUERIES: &[(&str, &str)] = &[
    (INTROSPECTION, "{}"),
    ("{ name }", "{}"),
    ("{ harbours { id } }", "{}"),
    ("{ harbors { id } }", "{}"),
    ("{ boat(id: 1) { price } }", "{}"),
    ("{ boat(id: 1) { prise harbor { id } } }", "{}"),
    ("{ boats(secret: 3) { id } }", "{}"),
    ("{ boats(secrets: 3) { id } }", "{}"),
    ("{ boats(where: {price: 3}) { id } }", "{}"),
    // In the order of the schema.
    ("{ boats(where: {id: 1, name: \"a\", price: 3}) { id } }", "{}"),
    ("mutation { push(boat: {id: 1, name: \"a\", owner: \"b\", price: 3}) { id } }", "{}"),
    ("{ boats(where: {prices: 3, and: [{harbour: {name: 3}}]}) { id } }", "{}"),
    ("query ($w: BoatFilter) { boats(where: $w) { id } }", r#"{"w": {"price": 3}}"#),
    ("query ($w: BoatFilter) { boats(where: $w) { id } }", r#"{"w": {"harbor": {}}}"#),
    ("query ($w: HarbourFilter) { boats { id } }", "{}"),
    ("{ boats(order: PRICE) { id } }", "{}"),
    ("{ boats(order: [PRISE, ID]) { id } }", "{}"),
    ("query ($o: [BoatOrder!]) { boats(order: $o) { id } }", r#"{"o": ["PRICE"]}"#),
    ("{ named { ... on Wreck { depth } } }", "{}"),
    ("{ named { depth } }", "{}"),
    ("{ crafts { ... on Harbour { id } } }", "{}"),
    ("{ __type(name: \"Harbour\") { name } b: __type(name: \"Boat\") { fields { name } } }", "{}"),
    ("query ($n: String!) { __type(name: $n) { name } }", r#"{"n": "Wreck"}"#),
    ("mutation { sink { id } }", "{}"),
    ("mutation { push(boat: {id: 1, owner: \"me\"}) { id } }", "{}"),
    ("mutation ($b: BoatInput) { push(boat: $b) { id } }", r#"{"b": {"id": 1, "price": 2}}"#),
    ("mutation { push(boat: {id: 1}) { id } }", "{}"),
    ("{ port(id: 1) { harbours { id } } }", "{}"),
    ("{ port(id: 1) { boat { id price } } }", "{}"),
];

#[test]
fn hidden_members_are_absent_byte_for_byte() {
    for beside in [false, true] {
        let (whole, few) = engines(beside);
        for (query, variables) in QUERIES {
            for protocol in [Protocol::GraphqlOverHttp, Protocol::Hasura] {
                let expected = ask(&few, &Identity::admin(), query, variables, protocol);
                let answer = ask(&whole, &user(), query, variables, protocol);
                assert!(answer == expected, "{query}\n{answer:.2000}\n{expected:.2000}");
            }
        }
    }
}

/// Joins of ports to boats; the first alone names nothing that is hidden.
const JOINS: &[(&str, &str, &str)] = &[
    ("open", "boats", "(where: {id: $this.id})"),
    ("by_hidden_key", "boats", "(where: {id: $this.code})"),
    ("by_hidden_input", "boats", "(where: {price: $this.rank})"),
    ("below_hidden_input", "boats", "(where: {and: [{harbour: {id: $this.id}}]})"),
    ("by_hidden_argument", "boats", "(where: {id: $this.id}, secret: 1)"),
    ("by_hidden_value", "boats", "(where: {id: $this.id}, order: [ID, PRICE])"),
    ("by_hidden_field", "harbours", "(where: {id: $this.id})"),
    // A root field whose type is seen.
    ("by_hidden_root", "wrecked", "(where: {id: $this.id})"),
];

#[test]
fn a_join_that_reads_or_names_what_is_hidden_is_absent() {
    const PORTS: &str = "type Query { port(id: Int): Port } type Port { id: Int! rank: Float CODE }";
    fn without_code(schema: &Schema) -> Visibility {
        let mut seen = Visibility::everything(schema);
        let port = schema.type_by_name("Port").unwrap();
        seen.show_field(schema.field_by_name(port, "code").unwrap(), false);
        seen.close(schema);
        seen
    }
    let ports = |sdl: &str| Memory::new("ports", Arc::new(Schema::from_sdl(sdl).unwrap()));
    let engine = |boats: Arc<dyn Source>, ports: Arc<dyn Source>, joins: &[(&str, &str, &str)]| {
        let join = |(name, target, arguments): &(&str, &str, &str)| Join {
            on: "Port".into(),
            name: (*name).into(),
            description: String::new(),
            source: "boats".into(),
            target: (*target).into(),
            arguments: (*arguments).into(),
        };
        let joins: Vec<Join> = joins.iter().map(join).collect();
        let graph = Graph::compose(vec![boats, ports], &joins).unwrap_or_else(|it| panic!("{it:?}"));
        Engine::new(graph, Settings::STANDARD)
    };
    let restricted = |memory: Memory, shown| -> Arc<dyn Source> { Arc::new(Restricted { memory, shown }) };
    let whole = engine(
        restricted(memory(SDL), without_hidden_lines),
        restricted(ports(&PORTS.replace("CODE", "code: Int")), without_code),
        JOINS,
    );
    let few = engine(Arc::new(memory(&reduced())), Arc::new(ports(&PORTS.replace("CODE", ""))), &JOINS[..1]);
    let fields = JOINS.iter().map(|it| format!("{{ port(id: 1) {{ {} {{ id }} }} }}", it.0));
    for query in fields.chain([INTROSPECTION.to_owned()]) {
        for protocol in [Protocol::GraphqlOverHttp, Protocol::Hasura] {
            let expected = ask(&few, &Identity::admin(), &query, "{}", protocol);
            let answer = ask(&whole, &user(), &query, "{}", protocol);
            assert!(answer == expected, "{query}\n{answer:.2000}\n{expected:.2000}");
        }
    }
    let all = ask(&whole, &Identity::admin(), INTROSPECTION, "{}", Protocol::Hasura);
    assert!(JOINS.iter().all(|it| all.contains(it.0)));
}

#[test]
fn a_schema_without_queries_says_so_to_the_admin_too() {
    let source = || -> Arc<dyn Source> {
        let mut builder = SchemaBuilder::new();
        let query = builder.object("query_root", "");
        builder.query(query).may_lack_queries();
        Arc::new(Memory::new("empty", Arc::new(builder.build().unwrap())))
    };
    let told = |sources: Vec<Arc<dyn Source>>, query: &str| {
        let engine = Engine::new(Graph::compose(sources, &[]).ok().unwrap(), Settings::STANDARD);
        ask(&engine, &Identity::admin(), query, "{}", Protocol::GraphqlOverHttp)
    };
    let fields = "{ __schema { queryType { fields { name } } } }";
    let lone = r#"{"data":{"__schema":{"queryType":{"fields":[{"name":"no_queries_available"}]}}}}"#;
    assert_eq!(told(vec![source()], fields), lone);
    let answer = told(vec![source()], "{ why: no_queries_available }");
    assert!(answer.starts_with(r#"{"data":{"why":"There are no queries available"#), "{answer}");
    // Beside a source with queries there is nothing to be said.
    let beside = || -> Arc<dyn Source> { Arc::new(memory("type Query { name: String }")) };
    let answer = told(vec![source(), beside()], "{ __schema { queryType { fields { name } } } name }");
    assert_eq!(answer, r#"{"data":{"__schema":{"queryType":{"fields":[{"name":"name"}]}},"name":"Ada"}}"#);
}

#[test]
fn the_admin_sees_everything_though_others_asked_before() {
    let (whole, _) = engines(false);
    let query = "{ __type(name: \"Harbour\") { name } }";
    let ask = |identity: &Identity| ask(&whole, identity, query, "{}", Protocol::GraphqlOverHttp);
    assert_eq!(ask(&user()), r#"{"data":{"__type":null}}"#);
    assert_eq!(ask(&Identity::admin()), r#"{"data":{"__type":{"name":"Harbour"}}}"#);
    assert_eq!(ask(&user()), r#"{"data":{"__type":null}}"#);
}

/// No member.
fn nothing(schema: &Schema) -> Visibility {
    let mut seen = Visibility::everything(schema);
    for at in 0..schema.fields.len() as u32 {
        seen.show_field(weir_language::schema::FieldId(at), false);
    }
    seen.close(schema);
    seen
}

#[test]
fn a_caller_without_any_field_is_told_so_by_the_schema() {
    let graph =
        Graph::compose(vec![Arc::new(Restricted { memory: memory(SDL), shown: nothing })], &[]).ok().unwrap();
    let engine = Engine::new(graph, Settings::STANDARD);
    let ask = |query: &str| ask(&engine, &user(), query, "{}", Protocol::Hasura);
    let fields = ask(
        "{ __schema { queryType { fields { name type { kind ofType { name } } } } mutationType { name } } }",
    );
    let lone = r#"{"name":"no_queries_available","type":{"kind":"NON_NULL","ofType":{"name":"String"}}}"#;
    assert_eq!(
        fields,
        format!(r#"{{"data":{{"__schema":{{"queryType":{{"fields":[{lone}]}},"mutationType":null}}}}}}"#)
    );
    let answer = ask("{ why: no_queries_available }");
    assert!(
        answer.starts_with(r#"{"data":{"why":"There are no queries available to the current role."#),
        "{answer}"
    );
    assert!(ask("{ name }").contains("field 'name' not found in type"));
}

#[test]
fn a_source_that_says_nothing_of_roles_is_the_admin_s() {
    let graph =
        Graph::compose(vec![Arc::new(memory("type Query { name: String }"))], &[]).expect("it is sound");
    let engine = Engine::new(graph, Settings::STANDARD);
    let told = |identity: &Identity| ask(&engine, identity, "{ name }", "{}", Protocol::GraphqlOverHttp);
    assert_eq!(told(&Identity::admin()), r#"{"data":{"name":"Ada"}}"#);
    let answer = told(&user());
    assert!(answer.contains("Cannot query field \\\"name\\\"") && !answer.contains("data"), "{answer}");
}

const USELESS: &str = r"
type Query { name(where: Where, must: Need!): String  other(where: Where): String }
input Where { n: Int  need: Need  pair: Pair  later: Later }
input Need { columns: Columns!  n: Int! }
input Pair { need: Need!  n: Int }
input Later { columns: Columns! = A  n: Int }
enum Columns { A }
";

/// All but the values of the enum.
fn without_columns(schema: &Schema) -> Visibility {
    let mut seen = Visibility::everything(schema);
    for at in schema.ty(schema.type_by_name("Columns").unwrap()).members.range() {
        seen.show_enum_value(weir_language::schema::EnumValueId(at as u32), false);
    }
    seen.close(schema);
    seen
}

#[test]
fn an_input_object_that_needs_a_hidden_value_is_absent_and_what_needs_it_too() {
    let source: Arc<dyn Source> = Arc::new(Restricted { memory: memory(USELESS), shown: without_columns });
    let engine = Engine::new(Graph::compose(vec![source], &[]).ok().unwrap(), Settings::STANDARD);
    let ask = |query: &str| ask(&engine, &user(), query, "{}", Protocol::GraphqlOverHttp);
    for name in ["Columns", "Need", "Pair"] {
        let found = ask(&format!("{{ __type(name: \"{name}\") {{ name }} }}"));
        assert_eq!(found, r#"{"data":{"__type":null}}"#, "{name}");
    }
    let members = |name: &str| ask(&format!("{{ __type(name: \"{name}\") {{ inputFields {{ name }} }} }}"));
    let expected = r#"{"data":{"__type":{"inputFields":[{"name":"n"},{"name":"later"}]}}}"#;
    assert_eq!(members("Where"), expected);
    // A value that has a default need not be given.
    assert_eq!(members("Later"), r#"{"data":{"__type":{"inputFields":[{"name":"n"}]}}}"#);
    let fields = ask("{ __type(name: \"Query\") { fields { name } } }");
    assert_eq!(fields, r#"{"data":{"__type":{"fields":[{"name":"other"}]}}}"#);
}
