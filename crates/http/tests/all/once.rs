//! Keys that several fields of a request want go into one batch, and it is no less everybody's for that.

use crate::served_kit::engine;
use crate::wire_kit;
use crate::wire_kit::Service;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::{Body, Engine, Request};

const SDL: &str = r#"
extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@cache"])
  @source(name: "s", http: {baseURL: "http://upstream"})
  @cache(source: "s", default: 3600)
type Query { game: Game @connect(source: "s", http: {GET: "/game"}, selection: "home: {id: homeId} away: {id: awayId}") }
type Game { home: Team away: Team }
type Team
  @connect(source: "s", http: {GET: "/teams", queryParams: "id: $batch.id"}, batch: {maxSize: 50}, selection: "id name") {
  id: Int!
  name: String
}
"#;

const QUERY: &str = "{ game { home { name } away { name } } }";
const ANSWER: &str = r#"{"data":{"game":{"home":{"name":"One"},"away":{"name":"Two"}}}}"#;

async fn ask(engine: Arc<Engine>, query: &'static str) -> String {
    let request = Request::new(query, Instant::now() + Duration::from_secs(60));
    match engine.execute(request, &engine.caller(&Identity::admin())).await.body {
        Body::Whole(bytes) => String::from_utf8(bytes).unwrap(),
        Body::Shared(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
        Body::Stream { .. } | Body::Increments { .. } => panic!("services do not stream"),
    }
}

#[tokio::test]
async fn a_request_that_goes_away_leaves_its_batch_to_the_others() {
    let (came, mut has_come) = tokio::sync::mpsc::unbounded_channel();
    let (go, may_go) = mpsc::channel::<()>();
    let may_go = Mutex::new(may_go);
    let service = Service::start(move |nth| {
        if nth == 0 {
            return wire_kit::answer("200 OK", "", r#"{"homeId":1,"awayId":2}"#);
        }
        came.send(()).unwrap();
        may_go.lock().unwrap().recv().unwrap();
        wire_kit::answer("200 OK", "", r#"[{"id":2,"name":"Two"},{"id":1,"name":"One"}]"#)
    });
    let engine = Arc::new(engine(SDL, &service));
    let first = tokio::spawn(ask(Arc::clone(&engine), QUERY));
    has_come.recv().await.unwrap();
    // Other words, so that it does not wait for the first one's whole answer.
    let second = tokio::spawn(ask(Arc::clone(&engine), "{ game { home { name } away { name } } } #"));
    tokio::task::yield_now().await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    go.send(()).unwrap();
    assert_eq!(second.await.unwrap(), ANSWER);
    assert_eq!(service.calls(), 2, "the game, and one batch");
    assert!(service.head(1).starts_with("GET /teams?id=2&id=1 "), "{}", service.head(1));
}

#[tokio::test]
async fn what_is_kept_is_not_asked_for_again_whichever_field_wants_it() {
    let service = Service::start(|nth| {
        let bodies =
            [r#"{"homeId":1,"awayId":2}"#, r#"[{"id":1,"name":"One"}]"#, r#"[{"id":2,"name":"Two"}]"#];
        wire_kit::answer("200 OK", "", bodies[nth])
    });
    let engine = Arc::new(engine(SDL, &service));
    let home = ask(Arc::clone(&engine), "{ game { home { name } } }").await;
    assert_eq!(home, r#"{"data":{"game":{"home":{"name":"One"}}}}"#);
    for _ in 0..2 {
        assert_eq!(ask(Arc::clone(&engine), QUERY).await, ANSWER);
    }
    assert!(service.head(2).starts_with("GET /teams?id=2 "), "{}", service.head(2));
    assert_eq!(service.calls(), 3);
}
