//! Event triggers on real databases: capture, the log, delivery.

#[path = "../../../engine/tests/port_kit/mod.rs"]
mod port_kit;
#[path = "../../../hasura/tests/postgres_kit/mod.rs"]
mod postgres_kit;

mod capture_postgres;
mod capture_sqlite;
mod schedule_kit;
mod schedules;
mod shared_schema;
mod state;
