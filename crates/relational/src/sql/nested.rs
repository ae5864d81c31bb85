//! A level below others, over the keys of its parents' rows.
//!
//! Parents are the relation `p`: keys `k0`, `k1` … of an arm's rows, each once; or lists in memory, with the place `n`.
//! Rows without a page are one join, or a test against the list of keys where an index can answer it; aggregates are
//! grouped by key. Pages below parents are `LATERAL`, or numbered by `row_number()` where a flavour plans that badly.
//!
//! Equal values of some types have different bytes (`1.0` and `1.00`): each spelling is a parent of its own, told from the
//! others by its text.
//!
//! **Invariant:** what is given back as a key has the bytes of the parent's own value.

use super::assembly::{Assembler, Draft, Parents};
use super::merged::unnest;
use super::slots::SlotValue;
use super::{ParentKey, Scope, nest_scope};
use crate::catalog::postgres_types::oid;
use crate::catalog::{ColumnId, Placement};
use crate::dialect::Dialect;
use crate::plan::{Expr, Filter, Origin, Output, Query, Tie};

/// The current level and its parents.
pub(super) struct Nested<'n, 'a> {
    it: &'n mut Assembler<'a>,
    level: u32,
    query: &'a Query,
    /// The relation of parents that can have rows below them.
    parents: String,
    /// The relation of all parents.
    all: String,
    /// Returned key columns, then texts of keys that have several spellings.
    keys: Vec<SlotValue>,
    /// The one key as a list and the column it is a key of, where rows may be tested against it.
    list: Option<(String, ColumnId)>,
    /// The keys in memory, while those of an arm take their place.
    memory: Option<Vec<ParentKey>>,
}

/// Column with the number of a row within its parent; an aggregate over an empty page still finds its parent by it.
const PLACE: &str = "weir_place";

/// The cast or collation under which a key is as it is spelled; nothing if equal keys of the type have one spelling.
fn key_spelling(ty: u32, folds: bool) -> Option<&'static str> {
    if is_text(ty) {
        return folds.then_some(" COLLATE \"C\"");
    }
    (!has_one_form(ty)).then_some("::text")
}

impl<'n, 'a> Nested<'n, 'a> {
    /// Below an arm, whose rows are a common table expression.
    pub(super) fn below_arm(it: &'n mut Assembler<'a>, level: u32, parent: usize) -> Self {
        let plan = it.plan;
        let query = &plan.levels[level as usize].query;
        let catalog = &it.renderer.relations.catalog;
        let parent_query = &plan.levels[it.arms[parent].level as usize].query;
        let table = catalog.table(parent_query.table());
        let columns = parent_query.columns();
        let mut names = Vec::new();
        let mut filled = Vec::new();
        let mut keys = Vec::new();
        let mut ids = Vec::new();
        for (at, &(_, from)) in query.nest.iter().enumerate() {
            let column = format!("l{parent}.c{from}");
            if let Expr::Column(id) | Expr::Key(id) = columns[usize::from(from)] {
                ids.push(id);
                if table.column(id).nullable {
                    filled.push(format!("{column} IS NOT NULL"));
                }
            }
            names.push(format!("{column} AS k{at}"));
            let ty = it.arms[parent].columns[usize::from(from)].1;
            keys.push(ParentKey {
                origin: Origin::ParentColumn(from),
                column: format!("p.k{at}"),
                ty: Some(ty),
            });
        }
        let mut back: Vec<SlotValue> =
            keys.iter().map(|it| (it.column.clone(), it.ty.unwrap_or(0))).collect();
        // Several parents in memory may have the same row below them, as may several spellings of a key.
        let once = matches!(it.parents, Parents::None | Parents::Row(_)) && !it.arms[parent].repeats;
        let unique = once && table.is_unique(&ids);
        let distinct = if unique { "" } else { "DISTINCT " };
        for (at, &(_, from)) in query.nest.iter().enumerate().filter(|_| !unique) {
            let folds = matches!(columns[usize::from(from)], Expr::Column(id) | Expr::Key(id) if table.column(id).folds);
            let Some(spelling) = key_spelling(back[at].1, folds) else { continue };
            names.push(format!("l{parent}.c{from}{spelling} AS f{at}"));
            back.push((format!("p.f{at}"), oid::TEXT));
        }
        let all = format!("(SELECT {distinct}{} FROM l{parent}) AS p", names.join(", "));
        let parents = if filled.is_empty() {
            all.clone()
        } else {
            format!(
                "(SELECT {distinct}{} FROM l{parent} WHERE {}) AS p",
                names.join(", "),
                filled.join(" AND ")
            )
        };
        let list = match query.nest.as_slice() {
            [(Tie::Column(column), from)] => {
                Some((format!("ARRAY(SELECT {distinct}l{parent}.c{from} FROM l{parent})"), *column))
            }
            _ => None,
        };
        let memory = Some(std::mem::replace(&mut it.renderer.parents, keys));
        Self { it, level, query, parents, all, keys: back, list, memory }
    }

    /// Below parents in memory.
    pub(super) fn below_memory(it: &'n mut Assembler<'a>, level: u32) -> Self {
        let query = &it.plan.levels[level as usize].query;
        let keys = match it.parents {
            Parents::None | Parents::Row(_) => 0,
            Parents::Keys(keys) => keys,
            Parents::Rows(columns) => columns.len(),
        };
        let all = unnest(keys, "p", "k");
        let keys = vec![("p.n".to_owned(), oid::INT8)];
        Self { it, level, query, parents: all.clone(), all, keys, list: None, memory: None }
    }

    /// The arm of the level.
    pub(super) fn draft(mut self) -> Draft {
        let query = self.query;
        let paged = query.page.limit.is_some() || query.page.offset.is_some();
        let plain = !paged && query.distinct_on.is_empty();
        let lateral = self.it.dialect.flavour.abilities().lateral_pages;
        let filled = self.never_null_column();
        let (columns, rest, bracketed) = match (&query.output, plain, filled) {
            (Output::Rows(columns), true, _) => self.flat(columns),
            (Output::Aggregate(columns), true, Some(filled)) => self.group_by_parent(columns, filled),
            (Output::Groups { by, columns, having }, true, _) => {
                let scope = self.it.renderer.scope(query);
                let columns = self.it.renderer.columns(columns, scope);
                let rest = self.groups(by, having, scope);
                let order = self.order(scope);
                (columns, rest + &order, !order.is_empty())
            }
            (Output::Aggregate(_), true, None) => self.lateral(),
            (Output::Rows(_) | Output::Aggregate(_) | Output::Groups { .. }, false, _) if lateral => {
                self.lateral()
            }
            (Output::Rows(columns), false, _) => self.numbered_rows(columns),
            (Output::Aggregate(columns), false, _) => self.numbered_aggregate(columns),
            (Output::Groups { by, columns, having }, false, _) => self.numbered_groups(by, columns, having),
        };
        let mut repeats = false;
        if let Some(memory) = self.memory {
            self.it.renderer.parents = memory;
            repeats = self.keys.len() > query.nest.len();
            self.keys.truncate(query.nest.len());
        }
        let columns = columns.into_iter().zip(self.it.types(self.level)).collect();
        Draft {
            level: self.level,
            columns,
            keys: self.keys,
            distinct: String::new(),
            rest,
            bracketed,
            repeats,
        }
    }

    /// A column that is null in no row below a parent.
    fn never_null_column(&self) -> Option<ColumnId> {
        let table = self.it.renderer.relations.catalog.table(self.query.table());
        let key = table.primary_key.as_ref().map(|key| key.columns[0]);
        let other = || table.columns.iter().position(|it| !it.nullable).map(|at| ColumnId(at as u32));
        let tied = self.query.nest.first().and_then(|it| match it.0 {
            Tie::Column(column) => Some(column).filter(|_| self.query.through.is_none()),
            Tie::Row => None,
        });
        // A function may give rows that its table would not take.
        if self.query.call.is_some() { None } else { tied.or(key).or_else(other) }
    }

    /// Rows without a page.
    fn flat(&mut self, columns: &[Expr]) -> (Vec<String>, String, bool) {
        let scope = self.it.renderer.scope(self.query);
        let columns = self.it.renderer.columns(columns, scope);
        let same = self.give_back_own(scope);
        let any = self.it.dialect.flavour.abilities().any_of_keys && same;
        let rest = match self.list.take().filter(|_| any) {
            Some((list, column)) => self.write_membership(&list, column, scope),
            None => self.join(&self.parents.clone(), " JOIN ", scope),
        };
        let order = self.order(scope);
        (columns, rest + &order, !order.is_empty())
    }

    /// Gives back the level's own columns where they are surely the same bytes as the parent's.
    fn give_back_own(&mut self, scope: Scope) -> bool {
        let own = self.query.nest.iter().map(|it| match it.0 {
            Tie::Column(column) => Some(column),
            Tie::Row => None,
        });
        let Some(own) = own.collect::<Option<Vec<_>>>() else { return false };
        let scope = nest_scope(self.query, scope);
        let types = own.iter().map(|it| self.it.renderer.ty(&Expr::Column(*it), scope.table));
        let same =
            self.memory.is_some() && types.zip(&self.keys).all(|(ty, key)| ty == key.1 && has_one_form(ty));
        if same {
            let texts =
                own.iter().map(|it| self.it.renderer.render_aside(|of| of.write_stored_column(scope, *it)));
            let texts: Vec<String> = texts.collect();
            self.keys.iter_mut().zip(texts).for_each(|(key, text)| key.0 = text);
        }
        same
    }

    /// ` FROM table WHERE key = ANY(list) AND …`.
    fn write_membership(&mut self, list: &str, column: ColumnId, scope: Scope) -> String {
        let query = self.query;
        self.it.renderer.render_aside(|it| {
            it.read_from(query, scope);
            it.sql.push_str(" WHERE ");
            it.key_column(nest_scope(query, scope), column);
            it.sql.push_str(&format!(" = ANY({list})"));
            it.both(" AND ", &query.scan, &query.filter, scope);
        })
    }

    /// ` FROM parents JOIN table ON …`.
    fn join(&mut self, parents: &str, word: &str, scope: Scope) -> String {
        let query = self.query;
        self.it.renderer.render_aside(|it| {
            it.sql.push_str(&format!(" FROM {parents}{word}"));
            it.sql.push_str(if query.through.is_some() { "(" } else { "" });
            it.source(query, scope);
            it.sql.push_str(if query.through.is_some() { ")" } else { "" });
            let conditions = it.render_aside(|it| it.conditions(query, scope, " ON "));
            it.sql.push_str(if conditions.is_empty() { " ON true" } else { &conditions });
        }) + &self.among_shards(scope)
    }

    /// ` AND key = ANY(list)`, where a table of shards is joined to keys in memory: the join alone would ask all shards.
    fn among_shards(&mut self, scope: Scope) -> String {
        let of = self.it.renderer.relations.catalog.table(scope.table);
        let is_joined = self.it.dialect.flavour.abilities().merges_by_join;
        let Placement::Sharded { column, .. } = of.placement else { return String::new() };
        let key = self.query.key_of_parents(column).filter(|_| self.memory.is_none() && !is_joined);
        let ty = of.column(column).oid;
        let is_list = |it: &ParentKey| Some(&it.origin) == key.as_ref() && it.ty == Some(ty);
        let at = self.it.renderer.parents.iter().position(is_list);
        let Some(at) = at.filter(|_| is_text(ty) || has_one_form(ty)) else { return String::new() };
        let list = self.it.dialect.placeholder(at + 1);
        let column = self.it.renderer.render_aside(|it| it.write_stored_column(scope, column));
        format!(" AND {column} = ANY({list})")
    }

    fn order(&mut self, scope: Scope) -> String {
        let query = self.query;
        self.it.renderer.render_aside(|it| {
            if query.page.from_end { it.order(&query.to_reversed(), scope) } else { it.order(query, scope) }
        })
    }

    /// The texts of the keys.
    fn key_list(&self) -> String {
        let texts: Vec<&str> = self.keys.iter().map(|it| it.0.as_str()).collect();
        texts.join(", ")
    }

    /// Groups the joined rows: one row for each parent, also if no row is below it.
    fn group_by_parent(&mut self, columns: &[Expr], filled: ColumnId) -> (Vec<String>, String, bool) {
        let scope = self.it.renderer.scope(self.query);
        let filled = self.it.renderer.render_aside(|it| it.write_stored_column(scope, filled));
        let columns = self.aggregates(columns, scope, &filled);
        let mut rest = self.join(&self.all.clone(), " LEFT JOIN ", scope);
        rest.push_str(&format!(" GROUP BY {}", self.key_list()));
        (columns, rest, false)
    }

    /// The aggregates of an outer join, in which rows are those where `filled` is there.
    fn aggregates(&mut self, columns: &[Expr], scope: Scope, filled: &str) -> Vec<String> {
        let mut texts = self.it.renderer.columns(columns, scope);
        for (column, text) in columns.iter().zip(&mut texts) {
            match column {
                Expr::Count { columns, .. } if columns.len() == 1 => {}
                Expr::Count { columns, distinct: true } if !columns.is_empty() => {
                    text.push_str(&format!(" FILTER (WHERE {filled} IS NOT NULL)"));
                }
                Expr::Count { .. } => *text = format!("count({filled})"),
                _ => {}
            }
        }
        texts
    }

    /// ` FROM parents JOIN table ON … GROUP BY parent, … HAVING …`.
    fn groups(&mut self, by: &[ColumnId], having: &Filter, scope: Scope) -> String {
        let mut rest = self.join(&self.parents.clone(), " JOIN ", scope);
        rest.push_str(&format!(" GROUP BY {}", self.key_list()));
        rest + &self.it.renderer.render_aside(|it| {
            for &column in by {
                it.sql.push_str(", ");
                it.column(scope, column);
            }
            if !having.is_true() {
                it.sql.push_str(" HAVING ");
                it.filter(having, scope);
            }
        })
    }

    /// The whole query once for each parent.
    fn lateral(&mut self) -> (Vec<String>, String, bool) {
        let parts = self.it.renderer.query(self.query);
        let aggregate = matches!(self.query.output, Output::Aggregate(_));
        let parents = if aggregate { &self.all } else { &self.parents };
        let list = name_columns(&parts.columns);
        let list = if list.is_empty() { "1".to_owned() } else { list };
        let inner = format!("SELECT {}{list}{}", parts.distinct, parts.rest);
        let columns = (0..parts.columns.len()).map(|at| format!("x.c{at}")).collect();
        (columns, format!(" FROM {parents} CROSS JOIN LATERAL ({inner}) AS x"), false)
    }

    /// Selects `list` of the joined rows, with their keys and their row numbers within their parent.
    fn number_rows(&mut self, list: &str, scope: Scope) -> String {
        let query = self.query;
        let partition = self.key_list();
        let names = self.named_keys();
        let list = if list.is_empty() { names } else { format!("{list}, {names}") };
        let order = self.order(scope);
        let from = self.join(&self.parents.clone(), " JOIN ", scope);
        if query.distinct_on.is_empty() {
            return format!(
                "SELECT {list}, row_number() OVER (PARTITION BY {partition}{order}) AS {PLACE}{from}"
            );
        }
        let mut terms = String::new();
        let mut outer = String::new();
        for (at, term) in query.order.iter().enumerate() {
            let text = self.it.renderer.render_aside(|it| it.expr(&term.of, scope));
            terms.push_str(&format!(", {text} AS weir_order_{at}"));
            outer.push_str(&format!("{} y.weir_order_{at}", if at == 0 { " ORDER BY" } else { "," }));
            self.it.dialect.direction(&mut outer, term);
        }
        let mut first = partition;
        for &column in &query.distinct_on {
            first.push_str(", ");
            first.push_str(&self.it.renderer.render_aside(|it| it.column(scope, column)));
        }
        let keys: Vec<String> = (0..self.keys.len()).map(|at| format!("y.weir_key_{at}")).collect();
        let keys = keys.join(", ");
        format!(
            "SELECT y.*, row_number() OVER (PARTITION BY {keys}{outer}) AS {PLACE} FROM (SELECT {list}{terms}, \
             row_number() OVER (PARTITION BY {first}{order}) AS weir_first{from}) AS y WHERE y.weir_first = 1"
        )
    }

    fn named_keys(&self) -> String {
        let names = self.keys.iter().enumerate();
        let names: Vec<String> = names.map(|(at, key)| format!("{} AS weir_key_{at}", key.0)).collect();
        names.join(", ")
    }

    /// Gives back the keys under which `alias` has them.
    fn keys_of(&mut self, alias: &str) {
        for (at, key) in self.keys.iter_mut().enumerate() {
            key.0 = format!("{alias}.weir_key_{at}");
        }
    }

    /// SQL condition for rows on the page, by their number; empty without a page.
    fn on_page(&mut self, place: &str) -> String {
        const MAX: i64 = i64::MAX;
        match self.it.renderer.page_values(&self.query.page) {
            (None, None) => String::new(),
            (Some(limit), None) => format!("{place} <= coalesce({limit}, {MAX})"),
            (None, Some(offset)) => format!("{place} > coalesce({offset}, 0)"),
            (Some(limit), Some(offset)) => {
                format!("{place} - coalesce({offset}, 0) BETWEEN 1 AND coalesce({limit}, {MAX})")
            }
        }
    }

    /// The rows of `inner` that are on the page, in their order.
    fn page_of(&mut self, inner: &str, columns: usize) -> (Vec<String>, String, bool) {
        self.keys_of("x");
        let page = self.on_page("x.weir_place");
        let word = if page.is_empty() { "" } else { " WHERE " };
        let back = if self.query.page.from_end { " DESC" } else { "" };
        let rest = format!(" FROM ({inner}) AS x{word}{page} ORDER BY x.{PLACE}{back}");
        ((0..columns).map(|at| format!("x.c{at}")).collect(), rest, true)
    }

    fn numbered_rows(&mut self, columns: &[Expr]) -> (Vec<String>, String, bool) {
        let scope = self.it.renderer.scope(self.query);
        let list = name_columns(&self.it.renderer.columns(columns, scope));
        let inner = self.number_rows(&list, scope);
        self.page_of(&inner, columns.len())
    }

    fn numbered_groups(
        &mut self,
        by: &[ColumnId],
        columns: &[Expr],
        having: &Filter,
    ) -> (Vec<String>, String, bool) {
        let scope = self.it.renderer.scope(self.query);
        let mut list = self.it.renderer.columns(columns, scope);
        let count = list.len();
        list = vec![name_columns(&list), self.named_keys()];
        list.retain(|it| !it.is_empty());
        let order = self.order(scope);
        let partition = self.key_list();
        let rest = self.groups(by, having, scope);
        let list = list.join(", ");
        let inner =
            format!("SELECT {list}, row_number() OVER (PARTITION BY {partition}{order}) AS {PLACE}{rest}");
        self.page_of(&inner, count)
    }

    /// Aggregates over a page of the rows below each parent.
    fn numbered_aggregate(&mut self, columns: &[Expr]) -> (Vec<String>, String, bool) {
        let scope = self.it.renderer.scope(self.query);
        let whole = self.it.renderer.render_aside(|it| it.all_columns(scope));
        let inner = self.number_rows(&whole, scope);
        let row_scope = self.it.renderer.alias(self.query.table());
        self.it.renderer.guard(row_scope, &self.query.scan);
        let alias = self.it.renderer.render_aside(|it| it.write_alias(row_scope.alias));
        let columns = self.aggregates(columns, row_scope, &format!("{alias}.{PLACE}"));
        let mut conditions: Vec<String> = self
            .keys
            .iter()
            .enumerate()
            .map(|(at, key)| format!("{alias}.weir_key_{at} = {}", key.0))
            .collect();
        conditions.push(self.on_page(&format!("{alias}.{PLACE}")));
        conditions.retain(|it| !it.is_empty());
        let all = &self.all;
        let conditions = conditions.join(" AND ");
        let keys = self.key_list();
        let rest = format!(" FROM {all} LEFT JOIN ({inner}) AS {alias} ON {conditions} GROUP BY {keys}");
        (columns, rest, false)
    }
}

/// `a AS c0, b AS c1`.
fn name_columns(columns: &[String]) -> String {
    let names = columns.iter().enumerate().map(|(at, it)| format!("{it} AS c{at}"));
    names.collect::<Vec<_>>().join(", ")
}

/// True for text types, whose values are equal if their bytes are, except under some collations.
const fn is_text(ty: u32) -> bool {
    matches!(ty, oid::TEXT | oid::VARCHAR | oid::NAME | oid::BPCHAR)
}

/// True if equal values of a type always have equal bytes.
const fn has_one_form(ty: u32) -> bool {
    matches!(
        ty,
        oid::INT2
            | oid::INT4
            | oid::INT8
            | oid::OID
            | oid::UUID
            | oid::DATE
            | oid::BOOL
            | oid::TIMESTAMP
            | oid::TIMESTAMPTZ
    )
}
