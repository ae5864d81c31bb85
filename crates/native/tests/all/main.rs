//! Stores of native types: schemas, migrations, reads and mutations in both databases.

#[path = "../../../engine/tests/answer_kit/mod.rs"]
mod answer_kit;
#[path = "../../../hasura/tests/file_kit/mod.rs"]
mod file_kit;
mod kit;
#[path = "../../../engine/tests/port_kit/mod.rs"]
mod port_kit;
#[path = "../../../hasura/tests/postgres_kit/mod.rs"]
mod postgres_kit;
#[path = "../../../hasura/tests/wall_kit/mod.rs"]
mod wall_kit;

mod apart;
mod as_dgraph;
mod asked;
mod auth;
mod auth_taken;
mod auth_wall;
mod auth_wall_writes;
mod both;
mod cascades;
mod concurrent;
mod differences;
mod error_wall;
mod filters;
mod finds_its_row;
mod found;
mod golden;
mod imports;
mod in_or_out;
mod json_exports;
mod live;
mod many;
mod migrations;
mod postgres_store;
mod read;
mod sound;
mod transfer;
mod wall;
mod word_forms;
mod words;
