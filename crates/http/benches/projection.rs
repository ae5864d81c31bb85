//! Cost of parsing an answer and projecting a request's columns from it: 100 posts, about 22 KB.
//!
//! `cargo bench -p weir-http --bench projection` prints the median of many rounds, tape and columns apart.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::plan::output_plan::{
    OutputField, OutputKind, OutputPlan, ResponseKey, SelectionSet, SelectionSetId,
};
use weir_engine::source::{AnswerForm, Ids, NoHeaders, PlanNode, Protocol, RequestCache};
use weir_http::project::Projection;
use weir_http::sdl;
use weir_http::selection::inputs::{Args, ConfigValues, Inputs, Keys};
use weir_http::selection::value::Value;
use weir_language::ast::OperationKind;
use weir_language::json::Json;
use weir_language::schema::Schema;
use weir_language::value::Variables;

const SDL: &str = r#"
extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "posts", http: {baseURL: "http://posts"})
type Query {
  posts: [Post!] @connect(source: "posts", http: {GET: "/posts"}, selection: "id userId title body")
}
type Post { id: Int! userId: Int! title: String! body: String! }
"#;

const ROUNDS: usize = 2_000;

fn posts() -> String {
    let post = |n: usize| {
        let title = "qui est esse nihil ".repeat(2);
        let body = "est rerum tempore vitae sequi sint nihil\\n".repeat(3);
        format!("{{\"userId\":{},\"id\":{n},\"title\":\"{title}\",\"body\":\"{body}\"}}", n / 10)
    };
    format!("[{}]", (1..=100).map(post).collect::<Vec<_>>().join(","))
}

/// `{ posts { id userId title body } }`, as it is planned.
fn shape(schema: &Schema) -> OutputPlan {
    let post = schema.type_by_name("Post").expect("a type of the text");
    let mut shape = OutputPlan::default();
    let mut add = |on, name: &str, member| {
        let field = schema.field_by_name(on, name).expect("a field of the text");
        let ty = schema.field(field).ty;
        let key = ResponseKey::new(name);
        let same_as = None;
        shape.fields.push(OutputField {
            key,
            field,
            ty,
            arguments_start: 0,
            arguments_len: 0,
            member,
            same_as,
            offset: 0,
            membership: 0,
        });
    };
    add(schema.query, "posts", OutputKind::Object(SelectionSetId(1)));
    ["id", "userId", "title", "body"].iter().for_each(|name| add(post, name, OutputKind::Leaf));
    shape.sets.push(SelectionSet {
        on: schema.query,
        start: 0,
        len: 1,
        hidden: Vec::new(),
        is_entity: false,
    });
    shape.sets.push(SelectionSet { on: post, start: 1, len: 4, hidden: Vec::new(), is_entity: false });
    shape
}

fn median(mut round: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            round();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}

fn main() {
    let mapping = sdl::read(SDL, "posts.graphql").unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    let mapping = Arc::new(mapping);
    let shape = shape(&mapping.schema);
    let ids = Arc::new(Ids::default());
    let variables = Variables::default();
    let piece = PlanNode {
        schema: &mapping.schema,
        ids: &ids,
        output: &shape,
        set: SelectionSetId(0),
        fields: &[0],
        kind: OperationKind::Query,
        parent_keys: None,
        answer: AnswerForm::Rows,
        facts: &[],
        protocol: Protocol::GraphqlOverHttp,
        text: "",
        conditions_max: 1_000,
        variables: &[],
        part: None,
        cache: &RequestCache::default(),
    };
    let projection = Projection::field(&mapping, sdl::ConnectorId(0), &piece, 0);
    let nothing = || Value::Object(Vec::new());
    let settings = ConfigValues { config: nothing(), env: nothing(), context: nothing() };
    let args =
        Args { schema: &mapping.schema, ids: &ids, output: &shape, variables: &variables, arguments: &[] };
    let inputs = Inputs {
        args,
        keys: Keys::NONE,
        settings: &settings,
        headers: &NoHeaders,
        caller: None,
        selection: "",
        response: None,
    };
    let text = posts();
    let tape = median(|| {
        black_box(Json::parse(black_box(text.as_bytes()), 64)).expect("JSON");
    });
    let json = Json::parse(text.as_bytes(), 64).expect("JSON");
    let columns = median(|| {
        black_box(projection.run(black_box(&[Some(json.root())]), &inputs, &[]));
    });
    println!("{} bytes: tape {tape:?}, columns {columns:?}", text.len());
}
