//! Relational sources: catalogs, schemas, reads and writes on SQLite and on a real PostgreSQL.

#[path = "../../../engine/tests/answer_kit/mod.rs"]
mod answer_kit;
#[path = "../cluster_kit/mod.rs"]
mod cluster_kit;
#[path = "../file_kit/mod.rs"]
mod file_kit;
#[path = "../hasura_kit/mod.rs"]
mod hasura_kit;
#[path = "../kit/mod.rs"]
mod kit;
#[path = "../../../engine/tests/port_kit/mod.rs"]
mod port_kit;
#[path = "../postgres_kit/mod.rs"]
mod postgres_kit;
mod random_kit;
#[path = "../relay_kit/mod.rs"]
mod relay_kit;
#[path = "../role_kit/mod.rs"]
mod role_kit;
#[path = "../slow_kit/mod.rs"]
mod slow_kit;
mod texts;
#[path = "../wall_kit/mod.rs"]
mod wall_kit;

mod aggregates;
mod api;
mod catalog_postgres;
mod catalog_sqlite;
mod citus;
mod citus_counts;
mod citus_model;
mod citus_random;
mod citus_served;
mod costs;
mod decoding;
mod decoding_faults;
mod edges;
mod error_wall;
mod error_wall_early;
mod error_wall_long;
mod fallible_kit;
mod files_of_programs;
mod finds_its_row_kit;
mod finds_its_row_sqlite;
mod flavours;
mod fleet_kit;
mod hostile_values;
mod in_or_out;
mod live;
mod live_model;
mod live_together;
mod migration_soak;
mod model;
mod native_queries;
mod permission_attacks;
mod permission_functions;
mod permission_indexes;
mod permission_members;
mod permission_secrets;
mod permission_stay;
mod permission_writes;
mod permissions;
mod permissions_functions;
mod policy;
mod policy_kit;
mod policy_wall;
mod policy_writes;
mod postgres_costs;
mod postgres_faults;
mod postgres_found;
mod postgres_group;
mod postgres_lanes;
mod postgres_locks;
mod postgres_migrations;
mod postgres_places;
mod postgres_poolers;
mod postgres_random;
mod postgres_read;
mod postgres_retry;
mod postgres_rights;
mod postgres_stream;
mod postgres_upserts;
mod postgres_values;
mod postgres_wire;
mod postgres_write;
mod read;
mod relay;
mod relay_pages;
mod role_probe;
mod role_wall;
mod row_checks;
mod session_settings;
mod session_sqlite;
mod shapes_found;
mod sql_text;
mod sqlite_files;
mod stored_forms;
mod streams;
mod upserts_write;
mod wall;
mod write;
