//! Overhead of a request beside its source: cold (parse, validate, plan) and warm.
//!
//! `cargo bench -p weir-engine --bench request`. The source answers at once with bytes it has; the figures are the
//! engine's own. Best of several rounds, nanoseconds.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Request, Settings};
use weir_engine::source::{
    BoxFuture, ExplainInput, FetchBody, FetchInput, FetchResult, Finished, PlanError, PlanNode,
    PreparedFetch, Source, SourceError, Tag,
};
use weir_language::json::Json;
use weir_language::limits::Limits;
use weir_language::schema::Schema;

const SDL: &str = "
    type Album { AlbumId: Int!  Title: String!  ArtistId: Int!  Album_Artist: Artist!  Album_Tracks(limit: Int, where: Filter): [Track!]! }
    type Artist { ArtistId: Int!  Name: String  Artist_Albums: [Album!]! }
    type Track { Name: String!  Composer: String }
    input Filter { _and: [Filter!]  Name: Compare }
    input Compare { _eq: String  _in: [String!] }
    type Query { Album_by_pk(AlbumId: Int!): Album  Album(limit: Int, where: Filter): [Album!]! }";

struct Ready(Arc<Schema>);

impl Source for Ready {
    fn name(&self) -> &str {
        "ready"
    }
    fn schema(&self) -> &Arc<Schema> {
        &self.0
    }
    fn prepare(&self, piece: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        Ok(Box::new(ReadyFetch { members: piece.fields.len() }))
    }
}

struct ReadyFetch {
    members: usize,
}

impl PreparedFetch for ReadyFetch {
    fn run<'r>(&'r self, _: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        const MEMBER: &[u8] =
            br#""Album_by_pk":{"Title":"For Those About To Rock We Salute You","AlbumId":1},"#;
        let finished =
            Finished { bytes: MEMBER.repeat(self.members), ends: Vec::new(), failed: false, rest: None };
        let reply =
            FetchResult { body: FetchBody::Finished(finished), errors: Vec::new(), cache_control: None };
        Box::pin(std::future::ready(Ok(reply)))
    }
    fn touches(&self) -> &[Tag] {
        &[]
    }
    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        out.push_str("bytes");
    }
}

fn engine(plan_cache_bytes_max: usize) -> Engine {
    let schema = Schema::from_sdl(SDL).expect("a sound schema");
    let graph = Graph::compose(vec![Arc::new(Ready(Arc::new(schema)))], &[]);
    let graph = graph.unwrap_or_else(|errors| panic!("{errors:?}"));
    let limits =
        Limits { tokens_max: 100_000, aliases_max: 10_000, root_fields_max: 10_000, ..Limits::STANDARD };
    let settings = Settings { limits, plan_cache_bytes_max, suggestions: false, ..Settings::STANDARD };
    Engine::new(graph, settings)
}

fn measure(name: &str, engine: &Engine, texts: &[String], variables: &str) {
    let variables = Json::parse(variables.as_bytes(), 64).expect("JSON");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let mut best = Duration::MAX;
    let mut stages = [Duration::MAX; 3];
    let rounds = 200_000 / texts[0].len() / texts.len().min(16) + 3;
    for text in texts {
        let request = Request {
            variables: Some(variables.root()),
            ..Request::new(text, Instant::now() + Duration::from_secs(60))
        };
        if texts.len() > 1 {
            let started = Instant::now();
            let response =
                black_box(runtime.block_on(engine.execute(request, &engine.caller(&Identity::admin()))));
            best = best.min(started.elapsed());
            let timing = response.timing;
            for (stage, took) in stages.iter_mut().zip([timing.parse, timing.validate, timing.plan]) {
                *stage = took.min(*stage);
            }
            continue;
        }
        for _ in 0..8 {
            let started = Instant::now();
            runtime.block_on(async {
                for _ in 0..rounds {
                    black_box(engine.execute(request, &engine.caller(&Identity::admin())).await);
                }
            });
            best = best.min(started.elapsed() / rounds as u32);
        }
    }
    print!("{name:<44} {:>9} B {:>10} ns", texts[0].len(), best.as_nanos());
    if texts.len() > 1 {
        let [parse, validate, plan] = stages.map(|it| it.as_nanos());
        print!("  = parse {parse} + validate {validate} + plan {plan} + …");
    }
    println!();
}

fn main() {
    let small = "query Q($id: Int!) { Album_by_pk(AlbumId: $id) { Title AlbumId Album_Artist { Name } Album_Tracks(limit: 5, where: {Name: {_eq: \"x\"}}) { Name Composer } } }";
    let part = |at: usize| {
        format!(
            "a{at}: Album(limit: {at}) {{ AlbumId Title t: Album_Tracks(limit: 2) {{ Name Composer }} }} "
        )
    };
    let medium: String = (0..24).map(part).collect();
    let large: String = (0..1200).map(part).collect();
    let warm = engine(16 << 20);
    measure("warm, one variable", &warm, &[small.to_owned()], r#"{"id": 1}"#);
    let steered =
        small.replace("Title", "Title @include(if: $t)").replace("$id: Int!", "$id: Int!, $t: Boolean!");
    measure("warm, steered", &warm, &[steered], r#"{"id": 1, "t": true}"#);
    for (name, text) in [
        ("small", small.to_owned()),
        ("medium", format!("{{ {medium} }}")),
        ("large", format!("{{ {large} }}")),
    ] {
        let cold = engine(64 << 20);
        let texts: Vec<String> = (0..200).map(|at| format!("{text}#{at:03}")).collect();
        measure(&format!("cold, {name}: parse, validate, plan, run"), &cold, &texts, r#"{"id": 1}"#);
    }
}
