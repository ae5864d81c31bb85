//! Lifetimes of answers, and sharing of answers between callers.

use crate::kit::{Documents, settings, text};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Kept, Lifetime, Request, Response, Settings};
use weir_engine::lifetime::{Hint, HintAt};
use weir_engine::source::{
    BoxFuture, CacheControl, CacheScope, ExplainInput, FetchInput, FetchResult, Headers, PlanError, PlanNode,
    PreparedFetch, Protocol, Source, SourceError, Tag,
};
use weir_engine::tag_versions::{TagSnapshot, TagVersions};
use weir_language::schema::Schema;

const SDL: &str = "
    directive @cached(ttl: Int! = 60, refresh: Boolean! = false) on QUERY
    type Album { id: Int!  title: String! }
    type Query { album(id: Int!): Album  other: Album }
    type Mutation { rename(id: Int!): Album }";

fn resolve(_: &str, arguments: &Value) -> Result<Value, SourceError> {
    match arguments["id"].as_i64() {
        Some(4) => Err(SourceError::Timeout),
        id => Ok(json!({"id": id.unwrap_or(0), "title": "Album"})),
    }
}

/// Documents whose answers live for a while, and which tells callers apart by `x-user-id`.
struct Living {
    documents: Arc<Documents>,
    /// `u64::MAX`: it says nothing.
    remaining_ms: AtomicU64,
    stale_ms: u64,
    scope: CacheScope,
    by_headers: bool,
    hints: Vec<HintAt>,
    calls: Arc<AtomicUsize>,
    /// Each call takes one permit.
    gate: Arc<Semaphore>,
}

struct LivingFetch {
    inner: Box<dyn PreparedFetch>,
    cache_control: Option<CacheControl>,
    calls: Arc<AtomicUsize>,
    gate: Arc<Semaphore>,
    headers: [Box<str>; 1],
    tags: [Tag; 1],
}

impl Source for Living {
    fn name(&self) -> &str {
        self.documents.name()
    }
    fn schema(&self) -> &Arc<Schema> {
        self.documents.schema()
    }
    fn hints(&self) -> &[HintAt] {
        &self.hints
    }
    fn prepare(&self, piece: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        let remaining_ms = self.remaining_ms.load(Ordering::Relaxed);
        let set_by = Arc::from("albums");
        let by_headers = self.by_headers;
        let known = CacheControl {
            remaining_ms,
            stale_ms: self.stale_ms,
            scope: self.scope,
            by_headers,
            is_silent: false,
            must_revalidate: false,
            ages: TagSnapshot::default(),
            set_by,
        };
        Ok(Box::new(LivingFetch {
            inner: self.documents.prepare(piece)?,
            cache_control: (remaining_ms < u64::MAX).then_some(known),
            calls: Arc::clone(&self.calls),
            gate: Arc::clone(&self.gate),
            headers: ["x-user-id".into()],
            tags: [Tag("Album".into())],
        }))
    }
}

impl PreparedFetch for LivingFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        Box::pin(async move {
            self.calls.fetch_add(1, Ordering::Relaxed);
            self.gate.acquire().await.expect("the gate stays").forget();
            let reply = self.inner.run(input).await?;
            Ok(FetchResult { cache_control: self.cache_control.clone(), ..reply })
        })
    }
    fn touches(&self) -> &[Tag] {
        &self.tags
    }
    fn reads_headers(&self) -> &[Box<str>] {
        &self.headers
    }
    fn has_lifetime(&self) -> bool {
        self.cache_control.is_some()
    }
    fn explain(&self, input: ExplainInput<'_>, out: &mut String) {
        self.inner.explain(input, out);
    }
}

/// The headers of a caller.
#[derive(Default)]
struct Sent(HashMap<&'static str, Vec<u8>>);

impl Headers for Sent {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        self.0.get(name).map(Vec::as_slice).into_iter().for_each(take);
    }
}

struct Scene {
    engine: Engine,
    changes: Arc<TagVersions>,
    calls: Arc<AtomicUsize>,
    gate: Arc<Semaphore>,
}

impl Living {
    fn new(remaining_ms: Option<u64>, scope: CacheScope, hints: &[HintAt]) -> Self {
        Self {
            documents: Documents::new("living", SDL, resolve),
            remaining_ms: AtomicU64::new(remaining_ms.unwrap_or(u64::MAX)),
            stale_ms: 0,
            scope,
            by_headers: true,
            hints: hints.to_vec(),
            calls: Arc::default(),
            gate: Arc::new(Semaphore::new(1000)),
        }
    }
}

impl Scene {
    fn new(remaining_ms: Option<u64>, scope: CacheScope, hints: &[HintAt]) -> Self {
        Self::of(Living::new(remaining_ms, scope, hints))
    }

    fn of(source: Living) -> Self {
        let calls = Arc::clone(&source.calls);
        let gate = Arc::clone(&source.gate);
        let graph = Graph::compose(vec![Arc::new(source)], &[]).expect("the hints are for what there is");
        let settings = Settings { responses_bytes_max: 1 << 20, ..settings() };
        let changes = Arc::new(TagVersions::default());
        let engine = Engine::new(graph, settings).with_tag_versions(Arc::clone(&changes));
        Self { engine, changes, calls, gate }
    }

    async fn ask(&self, query: &str, sent: &Sent) -> Response {
        let deadline = Instant::now() + Duration::from_secs(5);
        let operation_name = None;
        let variables = None;
        let protocol = Protocol::GraphqlOverHttp;
        let queries_only = false;
        let headers = sent;
        let request = Request {
            query,
            operation_name,
            variables,
            protocol,
            queries_only,
            increments: None,
            shows_cost: false,
            spent: None,
            headers,
            deadline,
        };
        self.engine.execute(request, &self.engine.caller(&Identity::admin())).await
    }

    async fn kept(&self, query: &str, user: &'static str) -> Option<Kept> {
        let sent = Sent(HashMap::from([("x-user-id", user.into()), ("x-other", user.into())]));
        self.ask(query, &sent).await.lifetime.map(|it| it.kept)
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

fn hint(on: &str, field: Option<&str>, max_age_s: u32) -> HintAt {
    let hint = Hint { max_age_s: Some(max_age_s), inherits: false, scope: CacheScope::Public };
    let written = "s.graphql:4:7".into();
    HintAt { on: on.into(), field: field.map(Into::into), hint, written }
}

fn on_runtime(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(test);
}

#[track_caller]
fn check(remaining_ms: Option<u64>, hints: &[HintAt], query: &str, expected: Option<(u64, &str)>) {
    let scene = Scene::new(remaining_ms, CacheScope::Public, hints);
    on_runtime(async {
        let lifetime = scene.ask(query, &Sent::default()).await.lifetime;
        let found = lifetime
            .as_ref()
            .map(|it| (it.cache_control.remaining_ms.div_ceil(1000), &*it.cache_control.set_by));
        assert_eq!(found, expected);
    });
}

#[test]
fn an_answer_lives_as_long_as_its_shortest_part_allows() {
    const ALBUM: &str = "{ album(id: 1) { title } }";
    check(Some(7000), &[], ALBUM, Some((7, "albums")));
    check(None, &[], ALBUM, None);
    check(Some(7000), &[hint("Album", Some("title"), 2)], ALBUM, Some((2, "@cacheControl of Album.title")));
    check(Some(7000), &[hint("Album", Some("title"), 2)], "{ album(id: 1) { id } }", Some((7, "albums")));
    check(None, &[hint("Album", None, 30)], ALBUM, Some((30, "@cacheControl of Query.album")));
    check(
        None,
        &[hint("Query", Some("album"), 30)],
        "{ album(id: 1) { id } other { id } }",
        Some((0, "a part without a lifetime")),
    );
    check(None, &[], "query @cached(ttl: 9) { other { id } }", Some((9, "the operation")));
    check(Some(7000), &[], "query @cached(ttl: 90) { other { id } }", Some((7, "albums")));
    check(Some(7000), &[], "{ album(id: 4) { id } }", Some((0, "an error")));
    check(Some(7000), &[], "{ __typename }", None);
}

#[test]
fn a_hint_for_what_is_not_there_is_a_mistake() {
    let hints = [hint("Album", Some("nope"), 1), hint("Nope", None, 1)];
    let source = Living::new(None, CacheScope::Public, &hints);
    let Err(errors) = Graph::compose(vec![Arc::new(source)], &[]) else { panic!("neither is there") };
    let words: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let words_at = |place: &str| {
        format!("s.graphql:4:7: @cacheControl stands at `{place}`, which no source has: mend the name")
    };
    assert_eq!(words, [words_at("Nope"), words_at("Album.nope")]);
}

#[test]
fn a_fresh_answer_is_given_again_to_whom_it_belongs() {
    on_runtime(async {
        let scene = Scene::new(Some(60_000), CacheScope::Private, &[]);
        const QUERY: &str = "{ album(id: 1) { title } }";
        assert_eq!(scene.kept(QUERY, "ada").await, Some(Kept::Made));
        assert_eq!(scene.kept(QUERY, "ada").await, Some(Kept::Hit));
        assert_eq!(scene.kept(QUERY, "bob").await, Some(Kept::Made));
        assert_eq!(scene.kept("{ album(id: 2) { title } }", "ada").await, Some(Kept::Made));
        assert_eq!(scene.calls(), 3);
    });
}

#[test]
fn a_mutation_makes_answers_old() {
    on_runtime(async {
        let scene = Scene::new(Some(60_000), CacheScope::Public, &[]);
        const QUERY: &str = "{ album(id: 1) { title } }";
        scene.kept(QUERY, "ada").await;
        assert_eq!(scene.kept(QUERY, "ada").await, Some(Kept::Hit));
        scene.ask("mutation { rename(id: 1) { id } }", &Sent::default()).await;
        assert_eq!(scene.kept(QUERY, "ada").await, Some(Kept::Made));
    });
}

#[test]
fn a_mutation_that_nobody_waits_for_makes_answers_old_too() {
    on_runtime(async {
        let scene = Scene::new(Some(60_000), CacheScope::Public, &[]);
        const QUERY: &str = "{ album(id: 1) { title } }";
        scene.kept(QUERY, "ada").await;
        scene.gate.forget_permits(1000);
        let sent = Sent::default();
        let mut changing = Box::pin(scene.ask("mutation { rename(id: 1) { id } }", &sent));
        assert!(futures_util::poll!(changing.as_mut()).is_pending());
        assert_eq!(scene.kept(QUERY, "ada").await, Some(Kept::Hit), "nothing is known of it yet");
        drop(changing);
        scene.gate.add_permits(1);
        assert_eq!(scene.kept(QUERY, "ada").await, Some(Kept::Made));
    });
}

#[test]
fn what_others_changed_makes_answers_old() {
    on_runtime(async {
        let scene = Scene::new(Some(60_000), CacheScope::Public, &[]);
        const QUERY: &str = "{ album(id: 1) { title } }";
        let check = async |expected: Kept| {
            assert_eq!(scene.kept(QUERY, "ada").await, Some(expected));
            assert_eq!(scene.kept(QUERY, "ada").await, Some(Kept::Hit));
        };
        check(Kept::Made).await;
        scene.changes.invalidate_from_remote("Genre", []);
        check(Kept::Hit).await;
        scene.changes.invalidate_from_remote("Album", []);
        check(Kept::Made).await;
        scene.changes.on_unknown_invalidation();
        check(Kept::Made).await;
        // An engine that takes the place of this one, while a mutation of this one is under way.
        let next = Living::new(Some(60_000), CacheScope::Public, &[]);
        let graph = Graph::compose(vec![Arc::new(next)], &[]).expect("it is sound");
        let settings = Settings { responses_bytes_max: 1 << 20, ..settings() };
        let next = Scene {
            engine: Engine::new(graph, settings).with_tag_versions(Arc::clone(&scene.changes)),
            changes: Arc::clone(&scene.changes),
            calls: Arc::default(),
            gate: Arc::new(Semaphore::new(1000)),
        };
        next.kept(QUERY, "ada").await;
        assert_eq!(next.kept(QUERY, "ada").await, Some(Kept::Hit));
        scene.ask("mutation { rename(id: 1) { id } }", &Sent::default()).await;
        assert_eq!(next.kept(QUERY, "ada").await, Some(Kept::Made));
    });
}

#[test]
fn what_failed_is_not_kept_and_refresh_asks_again() {
    on_runtime(async {
        let scene = Scene::new(None, CacheScope::Public, &[]);
        for _ in 0..2 {
            assert_eq!(scene.kept("query @cached { album(id: 4) { id } }", "ada").await, Some(Kept::Made));
        }
        assert_eq!(scene.kept("query @cached { other { id } }", "ada").await, Some(Kept::Made));
        assert_eq!(scene.kept("query @cached { other { id } }", "ada").await, Some(Kept::Hit));
        const AGAIN: &str = "query @cached(refresh: true) { other { id } }";
        for _ in 0..2 {
            assert_eq!(scene.kept(AGAIN, "ada").await, Some(Kept::Made));
        }
    });
}

#[test]
fn equal_requests_in_flight_are_one_for_each_caller() {
    on_runtime(async {
        let scene = Scene::new(Some(0), CacheScope::Private, &[]);
        scene.gate.forget_permits(1000);
        let answers = Mutex::new(Vec::new());
        let ask = async |user: &'static str| {
            let kept = scene.kept("{ album(id: 1) { title } }", user).await;
            answers.lock().unwrap().push((user, kept.expect("it has a lifetime")));
        };
        let all = futures_util::future::join_all(["ada", "ada", "bob", "ada", "bob"].into_iter().map(ask));
        let mut all = std::pin::pin!(all);
        assert!(futures_util::poll!(all.as_mut()).is_pending());
        assert_eq!(scene.calls(), 2, "one for each caller");
        scene.gate.add_permits(10);
        all.await;
        let answers = answers.lock().unwrap().clone();
        let made = answers.iter().filter(|it| it.1 == Kept::Made).count();
        assert_eq!((made, answers.len()), (2, 5));
        assert_eq!(scene.calls(), 2);
    });
}

#[test]
fn what_is_for_one_caller_alone_is_never_given_to_another() {
    on_runtime(async {
        // Private, and no header tells its callers apart.
        let scene =
            Scene::of(Living { by_headers: false, ..Living::new(Some(60_000), CacheScope::Private, &[]) });
        const QUERY: &str = "{ album(id: 1) { title } }";
        for _ in 0..2 {
            assert_eq!(scene.kept(QUERY, "ada").await, Some(Kept::Made));
        }
        // Once that is known nobody waits for another's answer.
        scene.gate.forget_permits(1000);
        let all = futures_util::future::join_all((0..3).map(|_| scene.kept(QUERY, "ada")));
        let mut all = std::pin::pin!(all);
        assert!(futures_util::poll!(all.as_mut()).is_pending());
        assert_eq!(scene.calls(), 2 + 3);
        scene.gate.add_permits(3);
        assert!(all.await.into_iter().all(|it| it == Some(Kept::Made)));
    });
}

#[test]
fn what_a_hint_makes_private_is_never_given_to_another() {
    on_runtime(async {
        let hint = Hint { max_age_s: Some(60), inherits: false, scope: CacheScope::Private };
        let hints =
            [HintAt { on: "Query".into(), field: Some("album".into()), hint, written: String::new() }];
        for remaining_ms in [Some(60_000), None] {
            let scene = Scene::new(remaining_ms, CacheScope::Public, &hints);
            for _ in 0..2 {
                // The two send the same: nothing here tells them apart.
                let lifetime = scene.ask("{ album(id: 1) { title } }", &Sent::default()).await.lifetime;
                let lifetime = lifetime.expect("it has one");
                assert_eq!((lifetime.kept, lifetime.cache_control.scope), (Kept::Made, CacheScope::Private));
                assert_eq!(lifetime.cache_control.remaining_ms, 60_000);
            }
            assert_eq!(scene.calls(), 2);
        }
    });
}

#[test]
fn what_is_shown_stale_is_kept_whole_for_a_second_of_that() {
    on_runtime(async {
        let scene = Scene::of(Living { stale_ms: 10_000, ..Living::new(Some(0), CacheScope::Public, &[]) });
        const QUERY: &str = "{ album(id: 1) { title } }";
        let made = scene.ask(QUERY, &Sent::default()).await.lifetime.expect("it has one").cache_control;
        assert_eq!((made.remaining_ms, made.stale_ms), (1000, 9000));
        assert_eq!(scene.engine.responses().0, 1);
    });
}

#[test]
fn those_who_wait_go_on_when_the_first_goes_away() {
    on_runtime(async {
        let scene = Scene::new(Some(0), CacheScope::Public, &[]);
        scene.gate.forget_permits(1000);
        const QUERY: &str = "{ album(id: 1) { title } }";
        let sent = Sent::default();
        let mut first = Box::pin(scene.ask(QUERY, &sent));
        assert!(futures_util::poll!(first.as_mut()).is_pending());
        let mut second = Box::pin(scene.ask(QUERY, &sent));
        assert!(futures_util::poll!(second.as_mut()).is_pending());
        assert_eq!(scene.calls(), 1);
        drop(first);
        scene.gate.add_permits(2);
        let response = second.await;
        assert!(matches!(response.lifetime, Some(Lifetime { kept: Kept::Made, .. })));
        assert_eq!(text(response), r#"{"data":{"album":{"title":"Album"}}}"#);
        assert_eq!(scene.calls(), 2);
    });
}
