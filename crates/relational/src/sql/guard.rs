//! Conditions of the policy: on rows, and on the columns that are hidden in some rows.
//!
//! **Invariant:** a condition of the policy reads stored values; the text of a hidden column is the same wherever it stands
//! in a query, as `GROUP BY` and `DISTINCT ON` demand.

use super::{Renderer, Scope};
use crate::catalog::ColumnId;
use crate::plan::{Filter, RowAt, Scan};

/// A column that is hidden in some rows.
pub(super) struct Guard {
    /// The alias of its table.
    alias: u32,
    column: ColumnId,
    shown_if: Filter,
    /// The condition as it was written, by alias and by the table's name.
    texts: [Option<String>; 2],
}

impl Renderer<'_> {
    /// Notes the hidden columns of the rows in `scope`.
    pub(crate) fn guard(&mut self, scope: Scope, scan: &Scan) {
        if scan.cells().is_empty() {
            return;
        }
        // A condition may need aliases before a table that is written later has taken its own.
        self.aliases = self.aliases.max(scope.alias + 1);
        self.guards.extend(scan.cells().iter().map(|cell| Guard {
            alias: scope.alias,
            column: cell.column,
            shown_if: cell.shown_if.clone(),
            texts: [None, None],
        }));
    }

    /// The condition under which a column is shown; `None`: in all rows.
    pub(super) fn shown_if(&mut self, scope: Scope, column: ColumnId) -> Option<String> {
        if scope.is_raw {
            return None;
        }
        let at = self.guards.iter().position(|it| it.alias == scope.alias && it.column == column)?;
        let place = usize::from(scope.is_named);
        if self.guards[at].texts[place].is_none() {
            let filter = self.guards[at].shown_if.clone();
            let text = self.aside(|it| it.demanded(&filter, scope));
            self.guards[at].texts[place] = Some(text);
        }
        self.guards[at].texts[place].clone()
    }

    /// A condition of the policy on the row in `scope`.
    pub(super) fn demanded(&mut self, filter: &Filter, scope: Scope) {
        let outer = self.root.replace(scope.raw());
        self.filter(filter, scope.raw());
        self.root = outer;
    }

    /// A column of the row at hand, or of the one that the policy restricts.
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
