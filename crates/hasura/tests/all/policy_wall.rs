//! Random operations under random policies: what a policy hides has no influence on any answer.
//!
//! Two databases have the same policy and get the same operations. One has all rows; in the other the rows that the policy hides
//! are deleted, and the cells that it hides are null. Their answers must be equal, no hidden row may be changed, and every row that
//! is new or changed has to fulfil its check.

use crate::policy_kit::{ByHand, Governed, Names, READS, on_postgres, on_sqlite};
use crate::postgres_kit::release::on_one_release;
use crate::wall::{CLEAR, ENTRIES, NOT_ENFORCED, ROWS, RULES, TABLES, cases};
use crate::wall_kit::ask::{Asker, Random};
use crate::wall_kit::sorted;
use weir_language::ast::OperationKind;
use weir_relational::passes::policy::WriteKind;
use weir_relational::plan::operators::{Comparison, Sign};
use weir_relational::plan::{Expr, Filter, GuardedColumn, Purpose};

const SESSION: &[(&str, &str)] = &[("x-hasura-number", "3"), ("x-hasura-list", "{1,4,\"5\"}")];

/// A table, a column that may be null, its key, and all of a row as text.
const OF: &[(&str, &str, &str, &str)] = &[
    (
        "author",
        "born",
        "id",
        "id || ',' || name || ',' || coalesce(born, -1) || ',' || coalesce(mentor_id, -1)",
    ),
    (
        "book",
        "pages",
        "id",
        "id || ',' || title || ',' || author_id || ',' || coalesce(pages, -1) || ',' || coalesce(price, -1)",
    ),
    (
        "review",
        "stars",
        "id",
        "id || ',' || book_id || ',' || coalesce(author_id, -1) || ',' || coalesce(stars, -1)",
    ),
    ("book_tag", "weight", "book_id", "book_id || ',' || tag_id || ',' || coalesce(weight, -1)"),
];

/// A condition on rows of a table, and the same in SQL.
#[derive(Clone)]
struct Condition {
    number: u32,
    table: &'static str,
    column: &'static str,
    key: &'static str,
}

impl Condition {
    fn sql(&self) -> String {
        let Self { table, column, key, .. } = self;
        match self.number % 8 {
            0 => "1 = 0".to_owned(),
            1 => format!("{table}.{column} > 3"),
            2 => format!("{table}.{column} = 3 AND {table}.{column} IS NOT NULL"),
            3 => format!("({table}.{column} <> 3 OR {table}.{column} IS NULL)"),
            4 => format!("{table}.{key} IN (1, 4, 5)"),
            5 => format!("NOT ({table}.{column} < {table}.{key})"),
            6 => format!("EXISTS (SELECT 1 FROM tag AS z WHERE z.id = {table}.{key})"),
            _ => format!("NOT EXISTS (SELECT 1 FROM tag AS z WHERE z.id > {table}.{key} AND z.label = 'c')"),
        }
    }

    fn filter(&self, names: &Names<'_>) -> Filter {
        let Self { table, column, key, .. } = *self;
        let of = || Expr::Column(names.column(table, column));
        let number = || Some(names.value(table, column, "x-hasura-number"));
        let tag = |all| Filter::any_row(names.table("tag"), Filter::All(all));
        match self.number % 8 {
            0 => Filter::Any(Vec::new()),
            1 => names.compare(table, column, Comparison::Gt, "x-hasura-number"),
            2 => Filter::same(of(), true, number()),
            3 => Filter::differs(of(), true, number()),
            4 => names.compare(table, key, Comparison::In, "x-hasura-list"),
            5 => Filter::Not(Box::new(Filter::Columns {
                of: of(),
                by: Sign::Lt,
                row: weir_relational::plan::RowAt::Here,
                with: names.column(table, key),
            })),
            6 => tag(vec![names.root(("tag", "id"), Sign::Eq, (table, key))]),
            _ => Filter::Not(Box::new(tag(vec![
                names.root(("tag", "id"), Sign::Gt, (table, key)),
                names.eq("tag", "label", "c"),
            ]))),
        }
    }
}

/// One random policy over one table.
struct Case {
    table: &'static str,
    row: &'static str,
    column: &'static str,
    rows: Condition,
    /// The condition under which the column is shown; then nothing is written.
    cell: Option<Condition>,
    check: Condition,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (table, column, key, row) = OF[(seed % OF.len() as u64) as usize];
        let mut condition = |from: u32| {
            let number = from + random.below(8 - from);
            Condition { number, table, column, key }
        };
        let rows = condition(0);
        let check = condition(1);
        let cell = condition(4);
        // The condition that hides a cell must not depend on the cell.
        let cell = (seed.is_multiple_of(2) && cell.number != 5).then_some(cell);
        Self { table, row, column, rows, cell, check }
    }

    fn policy(&self, names: &Names<'_>) -> ByHand {
        let table = names.table(self.table);
        let mut made = ByHand::default();
        match &self.cell {
            Some(cell) => {
                let cell = GuardedColumn {
                    column: names.column(self.table, self.column),
                    shown_if: cell.filter(names),
                };
                made.cells.insert(table, vec![cell]);
            }
            None => {
                let purposes = READS.iter().copied().chain([Purpose::Update, Purpose::Delete]);
                made.rows.push((table, purposes.collect(), self.rows.filter(names)));
                for kind in [WriteKind::Insert, WriteKind::Update] {
                    made.checks.push((table, kind, self.check.filter(names)));
                }
            }
        }
        made
    }

    /// Takes away what the policy hides.
    fn hide(&self) -> String {
        match &self.cell {
            Some(cell) => {
                format!("UPDATE {} SET {} = NULL WHERE ({}) IS NOT TRUE", self.table, self.column, cell.sql())
            }
            None => format!("DELETE FROM {} WHERE ({}) IS NOT TRUE", self.table, self.rows.sql()),
        }
    }

    /// The rows for which `condition` is true or not, as texts.
    fn rows(&self, side: &mut Governed, condition: &Condition, holds: bool) -> Vec<String> {
        let list = if side.is_sqlite() { "group_concat" } else { "string_agg" };
        let is = if holds { "IS TRUE" } else { "IS NOT TRUE" };
        let all = (side.beside)(&format!(
            "SELECT CAST(count(*) AS text) || '|' || coalesce({list}({}, '|'), '') FROM {} WHERE ({}) {is}",
            self.row,
            self.table,
            condition.sql()
        ));
        all.split('|').skip(1).map(str::to_owned).collect()
    }

    /// Gives how many operations were answered without an error.
    fn check(&self, seed: u64, [all, visible]: &mut [Governed; 2], operations: u64) -> u64 {
        let mut answered = 0;
        let mut changed = true;
        for at in 0..operations {
            if changed {
                for side in [&mut *all, &mut *visible] {
                    (side.beside)(CLEAR);
                    (side.beside)(ROWS);
                }
                (visible.beside)(&self.hide());
            }
            changed = self.cell.is_none() && at % 3 == 2;
            let kind = if changed { OperationKind::Mutation } else { OperationKind::Query };
            let mut asker = Asker::new(&all.schema, seed * 1_000 + at + 1, &RULES, self.table);
            let operation = asker.operation(kind).unwrap();
            let inserts = asker.inputs.iter().any(|it| *it == format!("{}_insert_input", self.table));
            let before = changed.then(|| (self.rows(all, &self.rows, false), self.every(all)));
            let found = all.ask(&operation, SESSION);
            let expected = visible.ask(&operation, SESSION);
            let what = format!("seed {seed}, {} by {}: {operation}", self.table, self.hide());
            // A new row can meet the key of a hidden one.
            if !inserts {
                assert_eq!(sorted(&found), sorted(&expected), "{what}");
            }
            answered += u64::from(!expected.contains("\"errors\""));
            let Some((hidden, every)) = before else { continue };
            let after = self.every(all);
            let good = self.rows(all, &self.check, true);
            for row in &hidden {
                assert!(after.contains(row), "{what} changed {row}");
            }
            for row in after.iter().filter(|it| !every.contains(it)) {
                assert!(good.contains(row), "{what} left {row}, which breaks {}", self.check.sql());
            }
        }
        answered
    }

    fn every(&self, side: &mut Governed) -> Vec<String> {
        let any = Condition { number: 0, ..self.rows.clone() };
        let mut rows = self.rows(side, &any, false);
        rows.extend(self.rows(side, &any, true));
        rows
    }
}

/// Operations for each policy.
const OPERATIONS: u64 = 25;

fn run(serve: impl Fn(&Case) -> Governed) {
    let policies = (cases() / OPERATIONS).max(8);
    let mut answered = 0;
    for seed in 0..policies {
        let case = Case::new(seed);
        let mut sides = [serve(&case), serve(&case)];
        answered += case.check(seed, &mut sides, OPERATIONS);
    }
    println!("answered without an error: {answered} of {}", policies * OPERATIONS);
    assert!(answered * 3 > policies * OPERATIONS, "too many errors");
}

#[test]
fn what_a_policy_hides_has_no_influence_on_sqlite() {
    run(|case| on_sqlite(TABLES, Some(ENTRIES), &|names| case.policy(names)));
}

#[test]
fn what_a_policy_hides_has_no_influence_on_postgres() {
    let sql = [TABLES, NOT_ENFORCED].concat();
    on_one_release("wall of policies", || {
        run(|case| on_postgres(&sql, Some(ENTRIES), &|names| case.policy(names)));
    });
}
