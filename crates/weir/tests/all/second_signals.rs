//! A process that a second signal ends at once leaves events in work, which the next one delivers.

use crate::events_kit::{Receiver, SHOP, Store, run, serve_shop, sqlite_shop, trigger};
use crate::postgres_kit::database;
use crate::support::{Folder, Weir, until};
use serde_json::json;

/// Ends the waits of the next server: signs of life and the lease of the one before are old.
fn let_time_pass(store: &Store, folder: &Folder) {
    match store {
        Store::Postgres(_) => store.run(
            "UPDATE hdb_catalog.weir_owners SET seen = now() - interval '11 seconds'; \
             UPDATE hdb_catalog.weir_lease SET expires_at = now()",
        ),
        Store::Sqlite(_) => {
            let state = Store::Sqlite(folder.file(".metadata.weir-state/state.db"));
            state.run("UPDATE weir_lease SET expires_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')");
        }
    }
}

fn check(folder: Folder, store: &Store) {
    let receiver = Receiver::start();
    receiver.hang("/told");
    receiver.hang("/once");
    let mut told = trigger("told", &receiver.url("/told"));
    told["retry_conf"]["timeout_sec"] = json!(60);
    let mut weir = serve_shop(folder, store, &json!([told]), "");
    store.run("INSERT INTO orders (id) VALUES (1)");
    let once = json!({
        "webhook": receiver.url("/once"), "schedule_at": "2020-01-01T00:00:00Z",
        "retry_conf": { "tolerance_seconds": 4_000_000_000_u32 },
    });
    run(&weir, "create_scheduled_event", once);
    for path in ["/told", "/once"] {
        receiver.wait(path, 1);
    }
    weir.signal("-TERM");
    until("it waits for calls in flight", || weir.log().contains("draining"));
    until("it ends", || {
        weir.signal("-TERM");
        weir.child.try_wait().expect("it is asked").is_some_and(|it| it.code() == Some(130))
    });
    let_time_pass(store, weir.folder());
    let file = weir.folder().file("weir.yaml");
    let _next = Weir::start(&["serve", file.to_str().expect("it is UTF-8")], Folder::new());
    for path in ["/told", "/once"] {
        receiver.wait(path, 2);
    }
}

#[test]
fn what_it_had_in_work_is_delivered_by_the_next_on_sqlite() {
    let kept = Folder::new();
    check(Folder::new(), &sqlite_shop(&kept));
}

#[test]
fn what_it_had_in_work_is_delivered_by_the_next_on_postgres() {
    check(Folder::new(), &Store::Postgres(database(SHOP)));
}
