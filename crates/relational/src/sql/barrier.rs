//! Conditions behind the policy, and arguments that are judged before a row is read.
//!
//! A database asks the conditions of a row in an order of its own. What may fail by the row is written as `CASE WHEN policy THEN
//! condition END`, with the policies of all scans around it; the policy stands beside it too, where an index answers it. PostgreSQL
//! gets patterns, lists and documents in two halves: what costs little and has an index, and the rest behind the policy. What a
//! value of the request makes fail whatever the row is goes into an `OFFSET` of the whole statement, in front of its conditions, or
//! around a value: each is computed before a row is read, over an empty table too.
//!
//! **Invariant:** a condition that may fail holds a value of a row, so that no planner computes it beforehand; none is an aggregate of
//! the rows that the `CASE` is about.

use super::{Renderer, Scope};
use crate::catalog::{ColumnType, Storage};
use crate::dialect::{Side, Usual};
use crate::plan::operators::Comparison;
use crate::plan::{Expr, Filter, Judged, Output, Parameter, Query, Reader, Scan};
use crate::values::plain_pattern::{Half, Notation, Passing};

impl Renderer<'_> {
    /// Lets `write` append a condition on the rows of `scan`: its parts behind a policy are behind that of the scan too.
    pub(super) fn write_within(&mut self, scan: &Scan, scope: Scope, write: impl FnOnce(&mut Self)) {
        let depth = self.barriers.len();
        self.barriers.extend(scan.policy().map(|it| (scope, it.clone())));
        write(self);
        self.barriers.truncate(depth);
    }

    /// Lets `write` append a query that stands by itself, whatever the rows around it are.
    pub(super) fn write_apart(&mut self, write: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.barriers);
        write(self);
        self.barriers = outer;
    }

    /// A condition that is asked only of rows which the policies show.
    pub(super) fn write_behind_policies(&mut self, filter: &Filter, is_halved: bool, scope: Scope) {
        let barriers = std::mem::take(&mut self.barriers);
        let mut policies = Vec::with_capacity(barriers.len());
        for (scope, policy) in &barriers {
            policies.push(self.render_aside(|it| it.write_policy_condition(policy, *scope)));
        }
        self.barriers = barriers;
        let policy = policies.join(" AND ");
        match filter {
            _ if policies.is_empty() => self.filter(filter, scope),
            Filter::Compare { of, by, with } if is_halved => {
                let notation = by.notation(&self.asked_type(of, scope));
                self.halves(of, *by, with, notation, &policy, scope);
            }
            Filter::Place { .. } => {
                let outer = self.place_behind.replace(policy);
                self.filter(filter, scope);
                self.place_behind = outer;
            }
            _ => self.write_behind(&policy, filter, scope),
        }
    }

    fn write_behind(&mut self, policy: &str, filter: &Filter, scope: Scope) {
        self.sql.push_str(&format!("CASE WHEN {} THEN ", self.dialect.seal_policy(policy)));
        let outer = std::mem::replace(&mut self.is_behind, true);
        self.filter(filter, scope);
        self.is_behind = outer;
        self.sql.push_str(" END");
    }

    /// Writes a comparison with a large argument or a complex pattern: the cheap half before the policy, the rest behind it.
    fn halves(
        &mut self,
        of: &Expr,
        by: Comparison,
        with: &Parameter,
        notation: Option<Notation>,
        policy: &str,
        scope: Scope,
    ) {
        let half = |half| match notation {
            Some(notation) => {
                let reader = Reader::Half { reader: Box::new(with.reader.clone()), half, notation };
                Parameter { reader, ..with.clone() }
            }
            None => with.clone(),
        };
        let positive = by.positive();
        self.sql.push_str(if by == positive { "(" } else { "NOT (" });
        let front = half(Half::Plain);
        match notation.map(Notation::passing) {
            Some(Passing::Value) => self.compare(of, positive, &front, scope),
            Some(Passing::Null) => self.compare_or_null(of, positive, &front, scope),
            None => self.sql.push_str("(1 = 1)"),
        }
        self.sql.push_str(&format!(" AND CASE WHEN {policy} THEN "));
        self.compare(of, positive, &half(Half::Rest), scope);
        self.sql.push_str(" END)");
    }

    /// A comparison that is true of every row if the value is null.
    fn compare_or_null(&mut self, of: &Expr, by: Comparison, with: &Parameter, scope: Scope) {
        let ty = self.dialect.compared_type(self.ty(of, scope.table), by);
        let before = self.parameters.len();
        let compared = self.render_aside(|it| it.compare(of, by, with, scope));
        let place = (before..self.parameters.len()).find(|it| self.parameters[*it] == *with);
        let placeholder = match place {
            Some(place) => self.value(place),
            None => self.bind(with, ty),
        };
        self.sql.push_str(&format!("({compared} OR {placeholder} IS NULL)"));
    }

    /// The type of a value that is compared in halves.
    fn asked_type(&self, of: &Expr, scope: Scope) -> ColumnType {
        match of {
            Expr::Column(column) | Expr::Key(column) => {
                self.relations.catalog.table(scope.table).column(*column).ty.clone()
            }
            // The others are compared as texts, if in halves.
            _ => ColumnType::Text,
        }
    }

    /// Notes an expression of values of the request alone that fails if one of them is broken.
    pub(super) fn judge(&mut self, expression: Option<String>) {
        if let Some(expression) = expression.filter(|it| !self.judges.contains(it)) {
            self.judges.push(expression);
        }
    }

    /// Notes a pattern that another statement compares with.
    pub(super) fn judge_pattern(&mut self, Judged { by, with, level: _ }: &Judged) {
        let ty = self.dialect.usual(Usual::Text);
        // A pattern of `LIKE` is judged before the statement.
        if matches!(by, Comparison::Regex | Comparison::Iregex | Comparison::Similar) {
            let placeholder = &self.bind(with, ty);
            let side = Side {
                placeholder,
                reader: &with.reader,
                behind: false,
                bare: true,
                storage: Storage::Exact,
                ty,
            };
            self.judge(self.dialect.judge_value(*by, side));
        }
    }

    /// How many of the judged expressions are null: computing it computes them all.
    pub(super) fn judgement(&mut self) -> Option<String> {
        let judges = std::mem::take(&mut self.judges);
        (!judges.is_empty()).then(|| format!("num_nulls({})", judges.join(", ")))
    }

    /// Adds the judgement of its values to the statement `sql`; `last` is the query whose text it ends with.
    pub(crate) fn with_judgement(&mut self, sql: String, last: Option<&Query>) -> String {
        let Some(judgement) = self.judgement() else { return sql };
        if last.is_some_and(ends_in_offset) {
            format!("{sql} + 0 * {judgement}")
        } else {
            format!("{sql} OFFSET 0 * {judgement}")
        }
    }

    /// Lets `write` append ` WHERE …` of a change, with its values judged.
    pub(super) fn judged_conditions(&mut self, write: impl FnOnce(&mut Self)) {
        let conditions = self.render_aside(write);
        match self.judgement() {
            Some(judgement) => {
                let rest = conditions.strip_prefix(" WHERE ").unwrap_or_default();
                self.sql.push_str(&format!(" WHERE {judgement} >= 0 AND {rest}"));
            }
            None => self.sql.push_str(&conditions),
        }
    }
}

/// True if the offset of `query` is the end of its text.
fn ends_in_offset(query: &Query) -> bool {
    let is_at_end = match query.output {
        Output::Rows(_) => !query.page.from_end,
        Output::Groups { .. } => true,
        Output::Aggregate(_) => false,
    };
    is_at_end && query.page.offset.is_some()
}
