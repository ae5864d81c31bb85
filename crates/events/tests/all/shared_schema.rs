//! The schema that events and state share: parts that start together make it once, and a role needs no more rights than it has to.

use crate::capture_sqlite::{all, trigger};
use crate::postgres_kit::release::on_each_release;
use crate::postgres_kit::{Database, database};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use weir_events::capture::Leftovers;
use weir_events::capture::postgres::{CatalogOwner, WideNumbers, look, reconcile};
use weir_events::state::{Ownership, StateAddress, StateDatabase};
use weir_postgres::Settings;

on_each_release!(async
    parts_that_start_together_make_the_schema_once,
    a_schema_that_the_role_owns_is_enough,
    tables_of_each_part_tell_the_other_whose_the_schema_is,
);

fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// Makes the log of events, as a server at `settings` does.
async fn make_log(settings: &Settings) -> Result<(), String> {
    let told = [trigger("public.a", "told", all())];
    let owner = look(settings, deadline()).await.map_err(|it| it.to_string())?.owner;
    let made = reconcile(settings, owner, &told, WideNumbers::Numbers, Leftovers::Drop, deadline()).await;
    made.map(drop).map_err(|it| it.to_string())
}

async fn make_state(settings: &Settings) -> Result<(), String> {
    let state = StateDatabase::new(StateAddress::Postgres(Box::new(settings.clone())));
    state.prepare(false).await.map(|it| assert_eq!(it, Ownership::Own)).map_err(|it| it.to_string())
}

fn settings(database: &Database) -> Settings {
    Settings::parse(&database.socket_url(), |_| None).expect("it is an address")
}

async fn parts_that_start_together_make_the_schema_once() {
    const PARTS: usize = 12;
    for _ in 0..3 {
        let database = database("CREATE TABLE public.a (id int PRIMARY KEY)");
        let barrier = Arc::new(Barrier::new(PARTS));
        let start = |number: usize| {
            let (settings, barrier) = (settings(&database), Arc::clone(&barrier));
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.expect("there is a loop");
                barrier.wait();
                if number.is_multiple_of(2) {
                    runtime.block_on(make_log(&settings))
                } else {
                    runtime.block_on(make_state(&settings))
                }
            })
        };
        let parts: Vec<_> = (0..PARTS).map(start).collect();
        for part in parts {
            assert_eq!(part.join().expect("no panic"), Ok(()));
        }
    }
}

async fn a_schema_that_the_role_owns_is_enough() {
    let database = database("CREATE TABLE public.a (id int PRIMARY KEY)");
    database.run("CREATE ROLE clerk LOGIN; ALTER TABLE a OWNER TO clerk; CREATE SCHEMA hdb_catalog AUTHORIZATION clerk");
    let url = database.socket_url().replace("postgres://postgres@", "postgres://clerk@");
    let settings = Settings::parse(&url, |_| None).expect("it is an address");
    assert_eq!(make_log(&settings).await, Ok(()));
    assert_eq!(make_state(&settings).await, Ok(()));
}

async fn tables_of_each_part_tell_the_other_whose_the_schema_is() {
    for (sql, owner, ownership) in [
        ("", CatalogOwner::Nobody, Ownership::Absent),
        ("CREATE SCHEMA hdb_catalog", CatalogOwner::Nobody, Ownership::Absent),
        (
            "CREATE SCHEMA hdb_catalog; CREATE TABLE hdb_catalog.hdb_version (version text)",
            CatalogOwner::Other { pending: 0 },
            Ownership::Foreign,
        ),
        (
            "CREATE SCHEMA hdb_catalog; CREATE TABLE hdb_catalog.hdb_source_catalog_version (version text)",
            CatalogOwner::Other { pending: 0 },
            Ownership::Foreign,
        ),
        (
            "CREATE SCHEMA hdb_catalog; CREATE TABLE hdb_catalog.hdb_source_catalog_version (version text, weir text)",
            CatalogOwner::Weir,
            Ownership::Absent,
        ),
        (
            "CREATE SCHEMA hdb_catalog; CREATE TABLE hdb_catalog.hdb_version (version text); CREATE TABLE hdb_catalog.weir_lease (name text)",
            CatalogOwner::Nobody,
            Ownership::Own,
        ),
    ] {
        let settings = settings(&database(sql));
        let state = StateDatabase::new(StateAddress::Postgres(Box::new(settings.clone())));
        assert_eq!(look(&settings, deadline()).await.expect("it is asked").owner, owner, "{sql}");
        assert_eq!(state.look().await, Ok(ownership), "{sql}");
    }
}
