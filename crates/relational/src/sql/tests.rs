//! Tests of the renderer.

use super::*;
use crate::catalog::{
    Catalog, Column, Placement, Relationship, RelationshipId, RelationshipKind, Storage, Table, TableKind,
};
use crate::dialect::sqlite::Sqlite;
use crate::plan::{Filter, Page, Purpose, Scan};

fn table(name: &str, column: &str) -> Table {
    let column = Column {
        name: column.into(),
        declared: "INTEGER".into(),
        ty: ColumnType::BigInt,
        oid: 0,
        nullable: true,
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
    };
    Table {
        schema: "main".into(),
        name: name.into(),
        kind: TableKind::Table,
        columns: vec![column],
        primary_key: None,
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
        placement: Placement::Local,
    }
}

fn check(filter: Filter, sql: &str, tables: &[&str]) {
    let catalog = Catalog { tables: vec![table("a\"b", "x"), table("c", "y")], ..Catalog::default() };
    let to = TableId(0);
    let from = TableId(1);
    let related = Relationship {
        name: "a".into(),
        from,
        to,
        comment: None,
        on: vec![(ColumnId(0), ColumnId(0))],
        call: None,
        through: None,
        kind: RelationshipKind::Object { certain: false },
        insert_first: true,
        enforced: false,
        deferrable: false,
    };
    let relations = Relations { catalog, relationships: vec![related], functions: Vec::new() };
    let output = Output::Rows(vec![Expr::Column(ColumnId(0))]);
    let query = Query {
        scan: Scan::of(from, Purpose::Root),
        call: None,
        nest: Vec::new(),
        through: None,
        filter,
        distinct_on: Vec::new(),
        order: Vec::new(),
        page: Page::default(),
        output,
    };
    let statement = render(&Sqlite::USUAL, &relations, &query);
    assert_eq!(statement.sql, sql);
    let read: Vec<_> = statement.tables.iter().map(|it| relations.catalog.table(*it).name.as_str()).collect();
    assert_eq!(read, tables);
}

#[test]
fn names_are_quoted_and_every_table_read_is_told() {
    check(Filter::TRUE, "SELECT t0.\"y\" FROM \"c\" AS t0", &["c"]);
    check(
        Filter::Exists {
            by: RelationshipId(0),
            scan: Scan::of(TableId(0), Purpose::Exists),
            filter: Box::new(Filter::Any(Vec::new())),
        },
        "SELECT t0.\"y\" FROM \"c\" AS t0 WHERE EXISTS (SELECT 1 FROM \"a\"\"b\" AS t1 \
         WHERE t1.\"x\" = t0.\"y\" AND (1 = 0))",
        &["c", "a\"b"],
    );
}
