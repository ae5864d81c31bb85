#!/usr/bin/env bash
# SeaORM 2.0.4 on PostgreSQL 18.4: a field of type `i8` is a column of type `smallint` in the table that SeaORM makes of the entity, and its
# values are sent as the one-byte type `"char"`, which PostgreSQL does not take for a number: no value can be inserted, and none that
# stands there can be read.
# Needs Rust.
# Seen: `"up" smallint NOT NULL`; 42804 `column "up" is of type smallint but expression is of type "char"`; `Rust type Option<i8> (as SQL type
# "CHAR") is not compatible with SQL type INT2`.
source "$(dirname "$0")/postgres18.bash"
start_postgres
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$folder/target}
mkdir "$folder/kit"
cd "$folder/kit"
cargo init --quiet --vcs none --name finding .
cargo add --quiet sea-orm@=2.0.4 --no-default-features --features sqlx-postgres,runtime-tokio,macros
cargo add --quiet tokio@1 --features rt,macros
cat >src/main.rs <<'RUST'
use sea_orm::entity::prelude::*;
use sea_orm::{ConnectionTrait, Database, Schema, Set};

mod step {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "step")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i32,
        pub up: i8,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}
    impl ActiveModelBehavior for ActiveModel {}
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), DbErr> {
    let db = Database::connect(std::env::args().nth(1).unwrap()).await?;
    let backend = db.get_database_backend();
    let table = Schema::new(backend).create_table_from_entity(step::Entity);
    println!("{}", backend.build(&table));
    db.execute(&table).await?;
    println!("{:?}", step::ActiveModel { id: Set(1), up: Set(-5) }.insert(&db).await);
    db.execute_unprepared("INSERT INTO step VALUES (2, -5)").await?;
    println!("{:?}", step::Entity::find_by_id(2).one(&db).await);
    Ok(())
}
RUST
cargo run --quiet -- "$url" | tee seen.log
expect seen.log '"up" smallint NOT NULL'
expect seen.log 'column \"up\" is of type smallint but expression is of type \"char\"'
expect seen.log '(as SQL type `\"CHAR\"`) is not compatible with SQL type `INT2`'
echo "as stated: SeaORM 2.0.4, PostgreSQL 18.4"
