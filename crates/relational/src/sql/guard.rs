//! Conditions of the policy: on rows, and on the columns and values of functions that are hidden in some rows.
//!
//! **Invariant:** a condition of the policy reads stored values; the text of a hidden column is the same wherever it stands
//! in a query, as `GROUP BY` and `DISTINCT ON` demand.

use super::{Renderer, Scope};
use crate::catalog::{ColumnId, FunctionId};
use crate::plan::{Filter, RowAt, Scan};

/// A part of a row that may be hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GuardedPart {
    Column(ColumnId),
    /// The value that a function gives of the row.
    Call(FunctionId),
}

/// A part of a row that is hidden in some rows.
pub(super) struct Guard {
    /// The alias of its table.
    alias: u32,
    part: GuardedPart,
    shown_if: Filter,
    /// The condition as it was written, by alias and by the table's name.
    texts: [Option<String>; 2],
}

/// The policy of a scan behind which values are computed that may fail.
pub(super) struct Wall {
    /// The alias of its table.
    alias: u32,
    policy: Filter,
}

impl Renderer<'_> {
    /// Notes the hidden parts of the rows in `scope`.
    pub(crate) fn guard(&mut self, scope: Scope, scan: &Scan) {
        if scan.is_walled() {
            self.walls.extend(scan.policy().map(|it| Wall { alias: scope.alias, policy: it.clone() }));
        }
        if scan.cells().is_empty() && scan.calls().is_empty() {
            return;
        }
        // Reserve the alias first: a condition may need aliases before a table that is written later takes its own.
        self.aliases = self.aliases.max(scope.alias + 1);
        let cells = scan.cells().iter().map(|it| (GuardedPart::Column(it.column), &it.shown_if));
        let calls = scan.calls().iter().map(|it| (GuardedPart::Call(it.function), &it.shown_if));
        self.guards.extend(cells.chain(calls).map(|(part, shown_if)| Guard {
            alias: scope.alias,
            part,
            shown_if: shown_if.clone(),
            texts: [None, None],
        }));
    }

    /// The condition under which a column is shown; `None`: in all rows.
    pub(super) fn shown_if(&mut self, scope: Scope, column: ColumnId) -> Option<String> {
        self.part_shown_if(scope, GuardedPart::Column(column))
    }

    /// The condition under which a part of the row is shown; `None`: in all rows.
    pub(super) fn part_shown_if(&mut self, scope: Scope, part: GuardedPart) -> Option<String> {
        if scope.is_raw {
            return None;
        }
        let at = self.guards.iter().position(|it| it.alias == scope.alias && it.part == part)?;
        let place = usize::from(scope.is_named);
        if self.guards[at].texts[place].is_none() {
            let filter = self.guards[at].shown_if.clone();
            let text = self.render_aside(|it| it.write_policy_condition(&filter, scope));
            self.guards[at].texts[place] = Some(text);
        }
        self.guards[at].texts[place].clone()
    }

    /// The policy's condition on the row in `scope`, if reading `column` may fail by the row.
    fn wall(&mut self, scope: Scope, column: ColumnId) -> Option<String> {
        let is_derived = self.relations.catalog.table(scope.table).column(column).derived;
        let at = self.walls.iter().position(|it| is_derived && it.alias == scope.alias)?;
        let policy = self.walls[at].policy.clone();
        Some(self.render_aside(|it| it.write_policy_condition(&policy, scope)))
    }

    /// A stored column by which rows are found: null in rows that the policy hides, if reading it may fail there.
    pub(super) fn key_column(&mut self, scope: Scope, column: ColumnId) {
        let Some(policy) = self.wall(scope, column) else { return self.write_stored_column(scope, column) };
        self.sql.push_str(&format!("CASE WHEN {policy} THEN "));
        self.write_stored_column(scope, column);
        self.sql.push_str(" END");
    }

    /// A condition that ties the row in `scope` to a row of another table, which has `other`.
    pub(super) fn write_tie(&mut self, scope: Scope, column: ColumnId, other: &str) {
        let storage = self.relations.catalog.table(scope.table).column(column).storage;
        // PostgreSQL joins by hashes of what stands alone at one side; SQLite compares as the column's type says, which a case has not.
        let wall = if self.dialect.joins_conditions() { None } else { self.wall(scope, column) };
        let own = self.render_aside(|it| match wall {
            None => it.key_column(scope, column),
            Some(_) => it.write_stored_column(scope, column),
        });
        let tied = self.dialect.tie_condition(&own, other, storage);
        self.sql.push_str(&match wall {
            None => tied,
            Some(policy) => format!("CASE WHEN {} THEN {tied} END", self.dialect.seal_policy(&policy)),
        });
    }

    /// A condition of the policy on the row in `scope`, of which no part becomes a join.
    pub(super) fn kept_apart(&mut self, policy: &Filter, scope: Scope) {
        let parts = policy.conjuncts();
        if parts.is_empty() {
            return self.write_policy_condition(policy, scope);
        }
        for (at, part) in parts.into_iter().enumerate() {
            self.sql.push_str(if at == 0 { "" } else { " AND " });
            if part.reads_rows() {
                self.sql.push_str("CASE WHEN ");
                self.write_policy_condition(part, scope);
                self.sql.push_str(" THEN true ELSE false END");
            } else {
                self.write_policy_condition(part, scope)
            }
        }
    }

    /// Writes a condition of the policy on the row in `scope`, which reads hidden columns too.
    pub(super) fn write_policy_condition(&mut self, filter: &Filter, scope: Scope) {
        let outer = self.root.replace(scope.raw());
        self.filter(filter, scope.raw());
        self.root = outer;
    }

    /// A column of the current row, or of the row that the policy restricts.
    pub(super) fn column_at(&mut self, row: RowAt, column: ColumnId, scope: Scope) {
        match row {
            RowAt::Here => self.column(scope, column),
            RowAt::Root(_) => {
                let root = self.root.unwrap_or(scope);
                self.column(root, column);
            }
        }
    }
}
