//! Relay's connections: `edges` and `pageInfo` of a page of rows, and the rows around it.
//!
//! The rows of a connection are sorted by `order_by` and then by the primary key, so that a cursor, which holds the values of these terms,
//! tells each row from the others. A page is a level of its own; its edges and the cursors of its ends are made of the same rows. Whether
//! rows lie beyond it say levels of at most one row.
//!
//! **Invariant:** the order is total. A null stands where the order puts it, and a cursor that holds one as well.

use super::keyset::{Cut, Term};
use super::{Compiler, Row};
use crate::api::meaning::{FieldMeaning, InputMeaning, PageFact};
use weir_database::frontend::{self, input::Place};
use weir_engine::plan::output_plan::{OutputField, OutputKind};
use weir_engine::source::PlanError;
use weir_language::value::Node;
use weir_relational::catalog::{ColumnId, RelationshipId, TableId};
use weir_relational::plan::operators::Sign;
use weir_relational::plan::{
    Expr, Filter, Level, Member, MemberKind, Order, Output, Page, Parameter, Purpose, Query, Reader, RowAt,
    Run, Scan, Tie, mark_copied,
};

/// A connection while its fields are compiled.
struct Connection {
    table: TableId,
    /// Columns that tie its rows to the parent's.
    nest: Vec<(Tie, u16)>,
    /// The condition on all its rows.
    all: Filter,
    distinct_on: Vec<ColumnId>,
    order: Vec<Order>,
    /// The terms of the order, for cursors.
    terms: Vec<Term>,
    /// The rows on one side of a cursor.
    cut: Option<Cut>,
    limit: Option<Parameter>,
    /// The last rows, not the first ones.
    from_end: bool,
    /// The level whose rows are the page.
    page: Option<u32>,
    /// The code of cursors.
    cursor: Option<u32>,
    /// The level of a row that does not fit on the page.
    more: Option<u32>,
    /// The level of a row on the other side of the cursor.
    outside: Option<u32>,
}

/// The arguments of a connection that say which page is shown.
#[derive(Default)]
struct PageArguments {
    first: Option<Place>,
    last: Option<Place>,
    after: Option<Place>,
    before: Option<Place>,
}

impl<'c> Compiler<'c> {
    /// The connection of the rows that a relationship leads to.
    pub(super) fn related_connection(
        &mut self,
        field: &'c OutputField,
        by: RelationshipId,
        row: &mut Row,
    ) -> Result<MemberKind, PlanError> {
        let related = &self.api.model.relations.relationships[by.0 as usize];
        let nest = super::nest(&self.api.model.relations, related, row);
        self.connection(field, related.to, nest)
    }

    /// `t_connection`: an object of its own.
    pub(super) fn connection(
        &mut self,
        field: &'c OutputField,
        table: TableId,
        nest: Vec<(Tie, u16)>,
    ) -> Result<MemberKind, PlanError> {
        let mut of = self.open(field, table, nest)?;
        let set = self.object(field)?;
        let places = self.output.set(set).range().map(|it| it as u32);
        let has_ends = places.clone().any(|at| self.asks_for_ends(at));
        let mut kinds = vec![None; places.len()];
        // The first edges bring the page, which `pageInfo` is about.
        for (at, kind) in places.clone().zip(&mut kinds) {
            if let Some(FieldMeaning::Edges(_)) = self.own_meaning(at) {
                let is_page = of.page.is_none();
                *kind =
                    Some(self.below_field(at, |it, field| it.edges(field, &mut of, is_page && has_ends))?);
            }
        }
        for (at, kind) in places.clone().zip(&mut kinds) {
            if let Some(FieldMeaning::PageInfo(_)) = self.own_meaning(at) {
                *kind = Some(self.below_field(at, |it, field| it.page_info(field, &mut of, has_ends))?);
            }
        }
        let members =
            places.zip(kinds).map(|(at, kind)| self.build_member(at, kind)).collect::<Result<_, _>>()?;
        Ok(MemberKind::Inline(self.store_copied(members)))
    }

    /// The meaning of the field at `at`, if this source answers it.
    fn own_meaning(&self, at: u32) -> Option<FieldMeaning> {
        let field = &self.output.fields[at as usize];
        match field.member {
            OutputKind::Constant { .. } | OutputKind::Foreign { .. } => None,
            OutputKind::Leaf | OutputKind::Object(_) | OutputKind::Abstract(_) => {
                Some(self.field_meaning(field))
            }
        }
    }

    /// The member of the field at `at`.
    fn build_member(&self, at: u32, kind: Option<MemberKind>) -> Result<Member, PlanError> {
        let field = &self.output.fields[at as usize];
        let kind = match (kind, field.member) {
            (Some(kind), _) => kind,
            (None, OutputKind::Constant { .. }) => MemberKind::Constant,
            (None, OutputKind::Foreign { .. }) => MemberKind::Foreign,
            (None, OutputKind::Leaf | OutputKind::Object(_) | OutputKind::Abstract(_)) => {
                return Err(self.refuse("this field cannot be answered here"));
            }
        };
        Ok(frontend::member(at, field, kind))
    }

    fn store_copied(&mut self, mut members: Vec<Member>) -> Run {
        mark_copied(&mut members);
        self.store(members)
    }

    /// Compiles the field at `at` by `inner`.
    fn below_field<T>(
        &mut self,
        at: u32,
        inner: impl FnOnce(&mut Self, &'c OutputField) -> Result<T, PlanError>,
    ) -> Result<T, PlanError> {
        let output = self.output;
        let field = &output.fields[at as usize];
        let outer = std::mem::replace(&mut self.field, at);
        self.keys.push(field.key.name());
        let done = inner(self, field)?;
        self.keys.pop();
        self.field = outer;
        Ok(done)
    }

    /// True if the field at `at` is a `pageInfo` with cursors.
    fn asks_for_ends(&self, at: u32) -> bool {
        let Some(FieldMeaning::PageInfo(_)) = self.own_meaning(at) else { return false };
        let OutputKind::Object(set) = self.output.fields[at as usize].member else { return false };
        let ends = [FieldMeaning::PageFact(PageFact::Start), FieldMeaning::PageFact(PageFact::End)];
        let mut places = self.output.set(set).range();
        places.any(|it| self.own_meaning(it as u32).is_some_and(|it| ends.contains(&it)))
    }

    /// Reads the arguments of a connection.
    fn open(
        &mut self,
        field: &'c OutputField,
        table: TableId,
        nest: Vec<(Tie, u16)>,
    ) -> Result<Connection, PlanError> {
        let rows = self.rows_arguments(field)?;
        let page = self.page_arguments(field)?;
        if page.last.is_some() && !rows.distinct_on.is_empty() {
            return Err(self.refuse("\"last\" and \"distinct_on\" are not allowed at once"));
        }
        let distinct_on = rows.distinct_on;
        let order = self.total_order(rows.order, &distinct_on, table);
        let terms = self.terms(&order, table)?;
        // Rows that are equal in the columns of `distinct_on` lie on one side of a cursor together.
        let apart = if distinct_on.is_empty() {
            terms.len()
        } else {
            terms.iter().take_while(|it| it.is_one_of(&distinct_on)).count()
        };
        let cut = match (page.after, page.before) {
            (Some(place), _) => Some(self.split_at_cursor("after", place, &terms, apart)?),
            (None, Some(place)) => Some(self.split_at_cursor("before", place, &terms, apart)?),
            (None, None) => None,
        };
        let (name, count) = match (page.first, page.last) {
            (_, Some(place)) => ("last", Some(place)),
            (first, None) => ("first", first),
        };
        self.path.push(name.into());
        let limit = count.map(|it| self.parameter(it, Reader::Limit));
        self.path.pop();
        let mut of = Connection {
            table,
            nest,
            all: rows.filter,
            distinct_on,
            order,
            terms,
            cut,
            limit,
            from_end: page.last.is_some(),
            page: None,
            cursor: None,
            more: None,
            outside: None,
        };
        self.cap(&mut of);
        Ok(of)
    }

    fn page_arguments(&mut self, field: &'c OutputField) -> Result<PageArguments, PlanError> {
        let mut page = PageArguments::default();
        for argument in self.output.arguments(field) {
            let place = self.argument(argument);
            if matches!(self.inputs.node(place), Node::Null | Node::Absent) {
                continue;
            }
            match self.meaning(argument.input) {
                InputMeaning::First => page.first = Some(place),
                InputMeaning::Last => page.last = Some(place),
                InputMeaning::After => page.after = Some(place),
                InputMeaning::Before => page.before = Some(place),
                _ => {}
            }
        }
        if page.first.is_some() && page.last.is_some() {
            return Err(self.refuse("\"first\" and \"last\" are not allowed at once"));
        }
        if page.after.is_some() && page.before.is_some() {
            return Err(self.refuse("\"after\" and \"before\" are not allowed at once"));
        }
        Ok(page)
    }

    /// `order`, then the columns of `distinct_on` and of the primary key that are not in it.
    fn total_order(&self, mut order: Vec<Order>, distinct_on: &[ColumnId], table: TableId) -> Vec<Order> {
        let table = self.api.model.relations.catalog.table(table);
        let key = table.primary_key.iter().flat_map(|it| &it.columns);
        for &column in distinct_on.iter().chain(key) {
            let of = Expr::Column(column);
            if order.iter().all(|it| it.of != of) {
                let nullable = table.column(column).nullable;
                order.push(Order { of, descending: false, nulls_first: false, nullable });
            }
        }
        order
    }

    /// Keeps the rows within the role's limit on lists: always the first ones, whichever are shown.
    fn cap(&self, of: &mut Connection) {
        let Some(rows_max) = self.policy.limit(of.table, of.purpose()) else { return };
        let table = self.api.model.relations.catalog.table(of.table);
        let key: Vec<ColumnId> = table.primary_key.iter().flat_map(|it| it.columns.clone()).collect();
        let mut all = Vec::from_iter(Some(std::mem::take(&mut of.all)).filter(|it| !it.is_true()));
        all.extend(of.nest.iter().filter_map(|it| match it.0 {
            Tie::Column(column) => {
                let (of, row) = (Expr::Key(column), RowAt::Root(of.table));
                Some(Filter::Columns { of, by: Sign::Eq, row, with: column })
            }
            Tie::Row => None,
        }));
        let query = Query {
            scan: Scan::of(of.table, of.purpose()),
            call: None,
            nest: Vec::new(),
            through: None,
            filter: Filter::All(all),
            distinct_on: std::mem::take(&mut of.distinct_on),
            order: of.order.clone(),
            page: Page {
                limit: Some(Parameter::constant(rows_max.to_string(), Reader::Limit)),
                ..Page::default()
            },
            output: Output::Rows(key.iter().map(|it| Expr::Column(*it)).collect()),
        };
        of.all = Filter::Among { key, query: Box::new(query) };
    }

    /// The list of edges.
    fn edges(
        &mut self,
        field: &'c OutputField,
        of: &mut Connection,
        has_ends: bool,
    ) -> Result<MemberKind, PlanError> {
        let set = self.object(field)?;
        let at = self.field;
        let path = self.keys.join(".");
        let places = self.output.set(set).range().map(|it| it as u32);
        let is_cursor = |it: u32| matches!(self.own_meaning(it), Some(FieldMeaning::Cursor(_)));
        let mut row = Row::default();
        if has_ends || places.clone().any(is_cursor) {
            self.cursor(of, &mut row);
        }
        let mut members = Vec::with_capacity(places.len());
        for at in places {
            let kind = match (self.own_meaning(at), of.cursor) {
                (Some(FieldMeaning::Cursor(_)), Some(code)) => Some(MemberKind::Coded(code)),
                (Some(FieldMeaning::EdgeNode(_)), _) => Some(self.below_field(at, |it, field| {
                    let set = it.object(field)?;
                    if !it.output.set(set).hidden.is_empty() {
                        return Err(it.refuse("rows of a connection cannot be joined with another source"));
                    }
                    Ok(MemberKind::Inline(it.set(set, &mut row)?))
                })?),
                _ => None,
            };
            members.push(self.build_member(at, kind)?);
        }
        let members = self.store_copied(members);
        let level = self.level(of.level(row, members, at, path));
        of.page.get_or_insert(level);
        Ok(MemberKind::Many(level))
    }

    /// Puts the values of a cursor first among the columns of `row`, so that all levels have them at the same places.
    fn cursor(&mut self, of: &mut Connection, row: &mut Row) {
        for term in &of.terms {
            row.column(term.of.clone());
        }
        if of.cursor.is_none() {
            of.cursor = Some(self.plan.codes.len() as u32);
            self.plan.codes.push(super::cursor_code::cursor(&of.terms));
        }
    }

    fn page_info(
        &mut self,
        field: &'c OutputField,
        of: &mut Connection,
        has_ends: bool,
    ) -> Result<MemberKind, PlanError> {
        let set = self.object(field)?;
        let mut members = Vec::new();
        for at in self.output.set(set).range().map(|it| it as u32) {
            let kind = match self.own_meaning(at) {
                Some(FieldMeaning::PageFact(fact)) => {
                    Some(self.below_field(at, |it, _| Ok(it.page_fact(fact, of, has_ends)))?)
                }
                _ => None,
            };
            members.push(self.build_member(at, kind)?);
        }
        Ok(MemberKind::Inline(self.store_copied(members)))
    }

    /// The level of the page, a separate one if `edges` has none.
    fn page(&mut self, of: &mut Connection, has_ends: bool) -> u32 {
        if let Some(page) = of.page {
            return page;
        }
        let mut row = Row::default();
        if has_ends {
            self.cursor(of, &mut row);
        }
        let at = self.field;
        let path = self.keys.join(".");
        let level = self.level(of.level(row, Run::default(), at, path));
        *of.page.insert(level)
    }

    fn page_fact(&mut self, fact: PageFact, of: &mut Connection, has_ends: bool) -> MemberKind {
        let forward = match fact {
            PageFact::Start | PageFact::End => {
                let level = self.page(of, has_ends);
                let is_last = fact == PageFact::End;
                let code = of.cursor.unwrap_or_default();
                return MemberKind::End { level, code, is_last };
            }
            PageFact::HasNext => true,
            PageFact::HasPrevious => false,
        };
        let does_not_fit = of.limit.is_some() && of.from_end != forward;
        let is_outside = of.cut.as_ref().is_some_and(|it| it.is_behind != forward);
        let page = (does_not_fit || is_outside).then(|| self.page(of, has_ends));
        let more = does_not_fit.then(|| self.overflow_level(of));
        let outside = is_outside.then(|| self.outside_level(of));
        MemberKind::Beyond { page, probes: [more, outside] }
    }

    /// The level of a row that does not fit on the page.
    fn overflow_level(&mut self, of: &mut Connection) -> u32 {
        if let Some(level) = of.more {
            return level;
        }
        let offset = of.limit.as_ref().map(|it| Parameter { reader: Reader::Offset, ..it.clone() });
        let level = self.probe(of, of.page_filter(), offset);
        *of.more.insert(level)
    }

    /// The level of a row on the other side of the cursor, or at it.
    fn outside_level(&mut self, of: &mut Connection) -> u32 {
        if let Some(level) = of.outside {
            return level;
        }
        let outside = of.cut.as_ref().map_or(Filter::TRUE, |it| it.outside.clone());
        let level = self.probe(of, both(&of.all, outside), None);
        *of.outside.insert(level)
    }

    /// A level of at most one of the rows that fulfil `filter`.
    fn probe(&mut self, of: &Connection, filter: Filter, offset: Option<Parameter>) -> u32 {
        let limit = Some(Parameter::constant("1", Reader::First));
        // Rows are distinguished in the same order, but need not be sorted to be counted.
        let order = if of.distinct_on.is_empty() { Vec::new() } else { of.order.clone() };
        let query =
            Query { filter, order, page: Page { limit, offset, from_end: false }, ..of.query(Vec::new()) };
        let field = self.field;
        let path = self.keys.join(".");
        let members = Run::default();
        let hidden = Vec::new();
        self.level(Level { query, members, choice: None, hidden, by: None, field, path })
    }
}

impl Connection {
    fn purpose(&self) -> Purpose {
        if self.nest.is_empty() { Purpose::Root } else { Purpose::Related }
    }

    /// The filter of the page: the connection's own, and the cursor's.
    fn page_filter(&self) -> Filter {
        self.cut.as_ref().map_or_else(|| self.all.clone(), |it| both(&self.all, it.shown.clone()))
    }

    fn query(&self, columns: Vec<Expr>) -> Query {
        Query {
            scan: Scan::of(self.table, self.purpose()),
            call: None,
            nest: self.nest.clone(),
            through: None,
            filter: self.page_filter(),
            distinct_on: self.distinct_on.clone(),
            order: self.order.clone(),
            page: Page { limit: self.limit.clone(), offset: None, from_end: self.from_end },
            output: Output::Rows(columns),
        }
    }

    /// A level of the rows of the page.
    fn level(&self, row: Row, members: Run, field: u32, path: String) -> Level {
        let query = self.query(row.columns);
        Level { query, members, choice: None, hidden: Vec::new(), by: None, field, path }
    }
}

/// Both conditions.
fn both(all: &Filter, more: Filter) -> Filter {
    if all.is_true() { more } else { Filter::All(vec![all.clone(), more]) }
}
