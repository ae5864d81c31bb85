//! Names of shards in messages of workers, as one node would tell them.

use super::*;
use weir_relational::catalog::{Column, ColumnId, ColumnType, Storage, TableKind, UniqueKey};

fn column(name: &str) -> Column {
    Column {
        name: name.into(),
        declared: "integer".into(),
        ty: ColumnType::Int,
        oid: 23,
        nullable: false,
        has_default: false,
        generated: false,
        insertable: true,
        updatable: true,
        derived: false,
        folds: false,
        by_prefix: false,
        is_loose: false,
        storage: Storage::Exact,
        comment: String::new(),
    }
}

fn distributed(name: &str, key: &str) -> Table {
    Table {
        schema: "public".into(),
        name: name.into(),
        kind: TableKind::Table,
        columns: vec![column("tenant_id"), column("id")],
        primary_key: Some(UniqueKey { name: key.into(), columns: vec![ColumnId(0), ColumnId(1)] }),
        unique_keys: Vec::new(),
        arbiters: Vec::new(),
        foreign_keys: Vec::new(),
        comment: String::new(),
        insertable: true,
        updatable: true,
        deletable: true,
        rows_estimate: None,
        is_whole: true,
        acts: false,
        acts_late: false,
        has_broken_index: false,
        placement: Placement::Sharded { column: ColumnId(0), colocation: 1 },
    }
}

/// A table whose name is too long beside a number, and one that ends with a number itself.
const LONG: &str = "measurements_of_all_the_sensors_of_the_northern_stations_by_hour";

/// A table whose name has as many letters as a name may have, and the key that PostgreSQL gives it.
const LONGEST: &str = "invoices_of_all_the_customers_of_the_southern_branches_by_month";
const LONGEST_KEY: &str = "invoices_of_all_the_customers_of_the_southern_branches_by__pkey";

fn relations() -> Relations {
    let mut tables = vec![
        distributed("Album", "Album_pkey"),
        distributed("Artist", "Artist_pkey"),
        distributed("events_202401", "events_202401_pkey"),
        distributed(LONG, "measurements_pkey"),
        distributed(LONGEST, LONGEST_KEY),
    ];
    let key = weir_relational::catalog::ForeignKey {
        name: "Album_ArtistId_fkey".into(),
        columns: vec![ColumnId(1)],
        target: weir_relational::catalog::TableId(1),
        target_columns: vec![ColumnId(0)],
        holds: true,
        enforced: true,
        deferrable: false,
        on_delete: weir_relational::catalog::Follow::Nothing,
        on_update: weir_relational::catalog::Follow::Nothing,
    };
    tables[0].foreign_keys.push(key);
    Relations { catalog: Catalog { tables, ..Catalog::default() }, ..Relations::default() }
}

/// Of an error with a state and a message: its table, its constraint or column, and its message.
fn check(state: &[u8; 5], message: &str, table: &str, part: &str, expected: &str) {
    let error = DatabaseError { sqlstate: *state, message: message.into(), ..DatabaseError::default() };
    let error = Error::Database { error: Box::new(error), statement: 0 };
    let relations = relations();
    let once = on_one_node(error, None, &relations);
    let Error::Database { error, .. } = on_one_node(once, None, &relations) else { panic!("it stays one") };
    let found = [&*error.constraint, &*error.column].concat();
    assert_eq!((&*error.table, found.as_str(), &*error.message), (table, part, expected), "{message}");
}

#[test]
fn the_names_of_shards_are_those_of_their_tables() {
    check(
        b"23505",
        "duplicate key value violates unique constraint \"Artist_pkey_102041\"",
        "Artist",
        "Artist_pkey",
        "duplicate key value violates unique constraint \"Artist_pkey\"",
    );
    check(
        b"23503",
        "insert or update on table \"Album_102051\" violates foreign key constraint \"Album_ArtistId_fkey_102051\"",
        "Album",
        "Album_ArtistId_fkey",
        "insert or update on table \"Album\" violates foreign key constraint \"Album_ArtistId_fkey\"",
    );
    check(
        b"23503",
        "update or delete on table \"Artist_102041\" violates foreign key constraint \"Album_ArtistId_fkey_102051\" on table \"Album_102051\"",
        "Album",
        "Album_ArtistId_fkey",
        "update or delete on table \"Artist\" violates foreign key constraint \"Album_ArtistId_fkey\" on table \"Album\"",
    );
    check(
        b"23502",
        "null value in column \"id\" of relation \"Album_102051\" violates not-null constraint",
        "Album",
        "id",
        "null value in column \"id\" of relation \"Album\" violates not-null constraint",
    );
    check(
        b"23514",
        "new row for relation \"Album_102051\" violates check constraint \"positive_102051\"",
        "Album",
        "positive",
        "new row for relation \"Album\" violates check constraint \"positive\"",
    );
}

#[test]
fn names_that_were_cut_or_end_with_numbers_are_known() {
    let cut = format!("{}_1a2b3c4d_102077", &LONG[..45]);
    check(
        b"23502",
        &format!("null value in column \"id\" of relation \"{cut}\" violates not-null constraint"),
        LONG,
        "id",
        &format!("null value in column \"id\" of relation \"{LONG}\" violates not-null constraint"),
    );
    check(
        b"23505",
        "duplicate key value violates unique constraint \"events_202401_pkey_102090\"",
        "events_202401",
        "events_202401_pkey",
        "duplicate key value violates unique constraint \"events_202401_pkey\"",
    );
    let cut = format!("{}_5e6f7a8b_102078", &LONGEST_KEY[..45]);
    check(
        b"23505",
        &format!("duplicate key value violates unique constraint \"{cut}\""),
        LONGEST,
        LONGEST_KEY,
        &format!("duplicate key value violates unique constraint \"{LONGEST_KEY}\""),
    );
    check(
        b"23505",
        &format!("duplicate key value violates unique constraint \"{LONGEST_KEY}\""),
        "",
        "",
        &format!("duplicate key value violates unique constraint \"{LONGEST_KEY}\""),
    );
    // The server's own error about the table itself.
    check(
        b"42501",
        "permission denied for table \"events_202401\"",
        "",
        "",
        "permission denied for table \"events_202401\"",
    );
}

#[test]
fn constraints_of_tables_that_are_not_known_belong_to_one_that_nobody_sees() {
    let message = "duplicate key value violates unique constraint \"secret_key_102099\"";
    check(b"23505", message, "secret_key", "secret_key", &message.replace("_102099", ""));
    // The words of a function for its clients.
    check(b"23514", "the order is \"closed\"", "", "", "the order is \"closed\"");
}

#[test]
fn the_planners_refusals_say_what_to_do() {
    let said = |state: &[u8; 5], message: &str, detail: &str| {
        let error = DatabaseError {
            sqlstate: *state,
            message: message.into(),
            detail: detail.into(),
            ..DatabaseError::default()
        };
        let error = Error::Database { error: Box::new(error), statement: 0 };
        match refusal(&error, None, &relations(), Protocol::GraphqlOverHttp, 0) {
            Some(SourceError::Rejected { error, .. }) => {
                assert_eq!(error.code, "NOT_SUPPORTED");
                error.message.into_string()
            }
            other => format!("{}", other.is_some()),
        }
    };
    let joins = "complex joins are only supported when all distributed tables are co-located and joined on their distribution columns";
    assert!(said(b"0A000", joins, "").contains("colocate them"));
    let function =
        "Possibly this is caused by the use of parameters in SQL functions, which is not supported in Citus.";
    assert_eq!(said(b"0A000", "could not create distributed plan", function), SQL_FUNCTION);
    let parameters = "cannot perform distributed planning on this query because parameterized queries for SQL functions referencing distributed tables are not supported";
    assert_eq!(said(b"0A000", parameters, ""), SQL_FUNCTION);
    assert_eq!(said(b"0A000", "modifying the partition value of rows is not allowed", ""), MOVED);
    let insert = "subqueries are not supported within INSERT queries";
    assert_eq!(said(b"0A000", insert, ""), READING_INSERT);
    assert_eq!(said(b"42883", "function public.f(\"Album_102051\") does not exist", ""), ROW_OF_SHARD);
    let repartitions = "the query contains a join that requires repartitioning";
    assert!(said(b"XX000", repartitions, "").contains("colocate them"));
    // These would fail on one node too, or are about a table itself.
    assert_eq!(said(b"0A000", "UPDATE and CTID scans not supported for ColumnarScan", ""), "false");
    assert_eq!(said(b"0A000", "cannot change materialized view \"m\"", ""), "false");
    assert_eq!(said(b"XX000", "cache lookup failed for type 12", ""), "false");
    assert_eq!(said(b"42883", "function public.f(integer) does not exist", ""), "false");
    assert_eq!(said(b"42P01", "relation \"Album\" does not exist", ""), "false");
}
