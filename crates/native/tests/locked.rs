//! The time of a statement bounds mutations of a store in PostgreSQL whose tables others have locked.

#[path = "kit/in_postgres.rs"]
mod in_postgres;
mod kit;
#[path = "../../sql/tests/postgres_kit/mod.rs"]
mod postgres_kit;

use postgres_kit::served::Hand;
use std::time::{Duration, Instant};
use weir_engine::engine::{Body, Request};
use weir_engine::source::Caller;

#[test]
fn a_mutation_works_no_longer_than_a_statement_may() {
    let tune =
        |it: &mut weir_sql::postgres::Settings| it.limits.statement_timeout = Duration::from_millis(300);
    let fill = r#"INSERT INTO "Mote" (id) VALUES (1)"#;
    let served = in_postgres::serve_with("type Mote { id: ID!, size: Int }", fill, tune);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one starts");
    runtime.block_on(async {
        let mut hand = Hand::new(&served.database).await;
        hand.run("BEGIN").await;
        hand.run(r#"LOCK TABLE "Mote" IN ACCESS EXCLUSIVE MODE"#).await;
        for query in [
            "mutation { addMote(input: [{size: 1}]) { numUids } }",
            "mutation { deleteMote(filter: {}) { numUids } }",
        ] {
            // The request itself may take for as long as the test.
            let request = Request::new(query, Instant::now() + Duration::from_secs(3600));
            let Body::Whole(answer) = served.engine.execute(request, &Caller::Admin).await.body else {
                panic!("a short answer is whole")
            };
            let answer = String::from_utf8(answer).expect("JSON is UTF-8");
            assert!(answer.contains(r#""code":"SOURCE_TIMEOUT""#), "{answer}");
        }
        hand.run("COMMIT").await;
    });
    assert_eq!(served.database.run(r#"SELECT count(*) FROM "Mote""#).trim(), "1");
}
