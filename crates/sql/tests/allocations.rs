//! A known request over SQLite allocates a fixed number of times, whatever the number of rows; a value of PostgreSQL not at
//! all.
//!
//! A binary of its own, so that nothing else allocates while it counts. What SQLite itself takes is not counted.

#[path = "../../engine/tests/counting/mod.rs"]
mod counting;
mod kit;

use futures_util::FutureExt;
use kit::{CHINOOK, Served, serve};
use std::time::{Duration, Instant};
use weir_engine::engine::{Body, Request};
use weir_engine::source::{Accent, Caller};
use weir_language::json::Json;
use weir_sql::postgres::decode::{Choices, Decoder};
use weir_sql::postgres::types::{Types, oid};

/// Allocations of one request and the bytes of its answer.
fn run(served: &Served, query: &str, variables: &str) -> (usize, usize) {
    let json = Json::parse(variables.as_bytes(), 100).unwrap();
    let request = Request {
        query,
        operation_name: None,
        variables: Some(json.root()),
        accent: Accent::Spec,
        queries_only: false,
        deadline: Instant::now() + Duration::from_secs(60),
    };
    let answering = || served.engine.execute(request, &Caller::Admin).now_or_never();
    let (allocations, response) = counting::count(answering);
    match response.expect("a short page is read at once").body {
        Body::Whole(bytes) => (allocations, bytes.len()),
        Body::Stream { .. } => panic!("a short page does not stream"),
    }
}

const MOST: usize = 8;

/// The allocations of a request whose plan is cached and whose answer's size is known from the last time.
fn check(served: &Served, query: &str, variables: &str) -> (usize, usize) {
    for _ in 0..3 {
        run(served, query, variables);
    }
    let (allocations, bytes) = run(served, query, variables);
    assert!(allocations <= MOST, "{allocations} allocations for {query}");
    (allocations, bytes)
}

#[test]
fn a_row_by_its_key_stays_within_the_bound() {
    let served = serve(CHINOOK);
    check(&served, "{ Album_by_pk(AlbumId: 1) { Title AlbumId } }", "{}");
    check(&served, "query ($id: Int!) { Album_by_pk(AlbumId: $id) { Title AlbumId } }", "{\"id\": 1}");
}

#[test]
fn a_hundred_rows_allocate_no_more_than_one() {
    let served = serve(CHINOOK);
    let (one, few) = check(&served, "{ Album(limit: 1) { AlbumId Title ArtistId } }", "{}");
    let (hundred, many) = check(&served, "{ Album(limit: 100) { AlbumId Title ArtistId } }", "{}");
    assert!(many > 50 * few, "{few} and {many} bytes");
    assert!(hundred <= one, "{hundred} for a hundred rows, {one} for one");
}

#[test]
fn values_of_postgresql_are_read_without_allocating() {
    let (types, choices) = (Types::builtin(), Choices { utc: true, stringify: false, utf8: true });
    // 12345.5: two groups before the point, one after it, one decimal.
    let numeric = [3_u16, 1, 0, 1, 1, 2345, 5000].map(u16::to_be_bytes).concat();
    let values: [(u32, &[u8]); 9] = [
        (oid::INT4, &7_i32.to_be_bytes()),
        (oid::TEXT, b"Big Ones"),
        (oid::BOOL, &[1]),
        (oid::TIMESTAMP, &600_000_000_123_456_i64.to_be_bytes()),
        (oid::TIMESTAMPTZ, &600_000_000_123_456_i64.to_be_bytes()),
        (oid::NUMERIC, &numeric),
        (oid::FLOAT8, &0.1_f64.to_be_bytes()),
        (oid::UUID, &[7; 16]),
        (oid::JSONB, b"\x01{}"),
    ];
    let mut scratch = Vec::with_capacity(64);
    for (oid, bytes) in values {
        let decoder = Decoder::new(&types, oid, choices);
        let (allocations, ok) = counting::count(|| decoder.read(bytes, &mut scratch).is_ok());
        assert_eq!((allocations, ok), (0, true), "type {oid}");
    }
}
