//! The statements that questions become, as `explain` says them.

mod kit;

use kit::{CHINOOK, Served, serve};
use std::time::{Duration, Instant};
use weir_engine::engine::Request;
use weir_engine::source::{Accent, Caller};

fn check(served: &Served, query: &str, expected: &[&str]) {
    let request = Request {
        query,
        operation_name: None,
        variables: None,
        accent: Accent::Spec,
        queries_only: false,
        deadline: Instant::now() + Duration::from_secs(60),
    };
    let explanation = served.engine.explain(request, &Caller::Admin).expect("it can be planned");
    let shown: Vec<&str> = explanation.pieces[0].1.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(shown, expected, "{query}");
}

#[test]
fn each_level_is_one_statement_over_one_table() {
    let served = serve(CHINOOK);
    check(&served, "{ Album_by_pk(AlbumId: 1) { Title AlbumId } }", &[
        "-- Album_by_pk",
        "SELECT t0.\"Title\", t0.\"AlbumId\" FROM \"Album\" AS t0 WHERE t0.\"AlbumId\" = ?1",
    ]);
    check(&served, "{ Album(limit: 30) { Title Album_Artist { Name } Album_Tracks { Name } } }", &[
        "-- Album.Album_Artist",
        "SELECT t0.\"Name\" FROM \"Artist\" AS t0 WHERE t0.\"ArtistId\" = ?1",
        "-- Album.Album_Tracks",
        "SELECT t0.\"Name\" FROM \"Track\" AS t0 WHERE t0.\"AlbumId\" = ?1",
        "-- Album",
        "SELECT t0.\"Title\", t0.\"ArtistId\", t0.\"AlbumId\" FROM \"Album\" AS t0 LIMIT ?1",
    ]);
}
