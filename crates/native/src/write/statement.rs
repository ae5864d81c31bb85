//! The statements of mutations: relational plans, restricted by the policy and rendered once per store.
//!
//! A [`TemplateKey`] names a statement without building its plan, so that a mutation whose statements are cached builds
//! none. Bound values are numbered in the order of the key's parts: inserted or set columns, then conditions.
//!
//! **Invariant:** a text depends on the layout and the policy alone; values of clients are bound.
//!
//! **Cost:** one lookup per statement; at most [`TEMPLATES_MAX`] templates are cached, all evicted when there are more.

use crate::layout::{ColumnIds, Database, Layout};
use crate::store::versions::NUMBERS;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use weir_database::frontend::program::{BoundStatement, ChangedRows, StatementTemplate, Value};
use weir_relational::catalog::{ColumnId, Relations, TableId};
use weir_relational::dialect::Dialect;
use weir_relational::dialect::store::Reserve;
use weir_relational::passes::effects;
use weir_relational::passes::policy::{self, Nothing, Policy};
use weir_relational::plan::operators::Comparison;
use weir_relational::plan::write::{Assign, Change, Conflict, Delete, Insert, Update};
use weir_relational::plan::{Expr, Filter, Origin, Output, Page, Parameter, Purpose, Query, Reader, Scan};
use weir_relational::sql::{render, write::render_command};

/// Maximum number of cached templates.
const TEMPLATES_MAX: usize = 4096;

/// Key of a statement's template.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum TemplateKey {
    /// Reads columns of rows.
    Find { table: TableId, columns: ColumnIds, rows: RowCondition },
    /// Inserts a row.
    Insert { table: TableId, columns: ColumnIds },
    /// Inserts a row unless one of its keys exists.
    InsertMissing { table: TableId, columns: ColumnIds },
    /// Sets columns of rows.
    Update { table: TableId, columns: ColumnIds, rows: RowCondition },
    /// Sets a reference to null, whatever the policy hides: its target is deleted or has another partner.
    Clear { table: TableId, column: ColumnId, rows: RowCondition },
    /// Deletes rows.
    Delete { table: TableId, rows: RowCondition },
}

/// Condition on rows: one column equals the bound value, and others compare to theirs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct RowCondition {
    pub(super) by: ColumnId,
    /// A list of numbers of objects is bound for `by`, not one value.
    pub(super) many: bool,
    pub(super) and: SmallVec<[(ColumnId, Comparison); 2]>,
}

impl TemplateKey {
    /// The statement without SQL, for people.
    fn describe(&self, layout: &Layout) -> String {
        let table = |it: &TableId| layout.relations.catalog.table(*it);
        let name = |of: &TableId, it: &ColumnId| table(of).column(*it).name.as_str();
        let names =
            |of: &TableId, all: &ColumnIds| all.iter().map(|it| name(of, it)).collect::<Vec<_>>().join(", ");
        let condition = |of: &TableId, rows: &RowCondition| {
            let by = if rows.many { Comparison::In } else { Comparison::Eq };
            let all = std::iter::once((rows.by, by)).chain(rows.and.iter().copied());
            let value = |by| if by == Comparison::In { "values" } else { "value" };
            all.map(|(column, by)| format!("{} {} {}", name(of, &column), by.plan_text(), value(by)))
                .collect::<Vec<_>>()
                .join(" and ")
        };
        match self {
            Self::Find { table: of, columns, rows } => {
                format!("find {} of {} where {}", names(of, columns), table(of).name, condition(of, rows))
            }
            Self::Insert { table: of, columns } => {
                format!("insert a row of {} ({})", table(of).name, names(of, columns))
            }
            Self::InsertMissing { table: of, columns } => {
                format!("insert a row of {} ({}) unless it is there", table(of).name, names(of, columns))
            }
            Self::Update { table: of, columns, rows } => {
                format!(
                    "update rows of {} ({}) where {}",
                    table(of).name,
                    names(of, columns),
                    condition(of, rows)
                )
            }
            Self::Clear { table: of, column, rows } => {
                format!("clear {} of {} where {}", name(of, column), table(of).name, condition(of, rows))
            }
            Self::Delete { table: of, rows } => {
                format!("delete rows of {} where {}", table(of).name, condition(of, rows))
            }
        }
    }
}

impl RowCondition {
    /// Rows whose `column` equals the bound value.
    pub(super) fn by(column: ColumnId) -> Self {
        Self { by: column, many: false, and: SmallVec::new() }
    }
}

/// The templates of one store.
#[derive(Debug)]
pub(super) struct Templates {
    database: Database,
    /// Statements that reserve numbers for new objects; true if one binds how many.
    numbers: Vec<(Arc<StatementTemplate>, bool)>,
    policy: Arc<dyn Policy>,
    cached: RwLock<HashMap<TemplateKey, Arc<StatementTemplate>, foldhash::fast::RandomState>>,
}

impl Templates {
    pub(super) fn new(database: Database, policy: Arc<dyn Policy>) -> Self {
        let all = database.store_dialect().reserve(&NUMBERS).into_iter();
        let template =
            |it: Reserve| (Arc::new(StatementTemplate::new(it.sql, it.width, false)), it.binds_count);
        Self { database, numbers: all.map(template).collect(), policy, cached: RwLock::default() }
    }

    /// The statements that reserve `count` numbers for new objects, with their values.
    pub(super) fn numbers(&self, count: i64) -> impl Iterator<Item = BoundStatement> {
        self.numbers.iter().map(move |(template, binds_count)| BoundStatement {
            template: Arc::clone(template),
            values: binds_count.then_some(Value::Int(count)).into_iter().collect(),
        })
    }

    /// The template of `key`.
    pub(super) fn get(&self, layout: &Layout, key: TemplateKey) -> Arc<StatementTemplate> {
        if let Some(cached) = self.cached.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Arc::clone(cached);
        }
        let made = Arc::new(self.render(layout, &key));
        let mut cached = self.cached.write().unwrap_or_else(PoisonError::into_inner);
        if cached.len() >= TEMPLATES_MAX {
            cached.clear();
        }
        Arc::clone(cached.entry(key).or_insert(made))
    }

    /// Words for a template of this store.
    pub(super) fn describe_template(&self, layout: &Layout, template: &Arc<StatementTemplate>) -> String {
        let cached = self.cached.read().unwrap_or_else(PoisonError::into_inner);
        let key = cached.iter().find(|it| Arc::ptr_eq(it.1, template));
        key.map_or_else(|| "reserve numbers of objects".to_owned(), |it| it.0.describe(layout))
    }

    fn render(&self, layout: &Layout, key: &TemplateKey) -> StatementTemplate {
        let dialect = self.database.dialect();
        let plan = Planner { layout, bound: 0 }.plan(key);
        let width = if let StatementPlan::Read(query) = &plan { query.columns().len() } else { 0 };
        let is_indexed = plan.change().is_some_and(|it| self.is_indexed(layout, it));
        let changes = plan.change().map(|it| changed_rows(layout, key, it));
        let mut restricted = plan.clone();
        restricted.restrict(&*self.policy);
        let (mut sql, parameters) = restricted.render(dialect, &layout.relations);
        let is_own = |(at, it): (usize, &Parameter)| it.origin == Origin::Bound(at as u16);
        if !parameters.iter().enumerate().all(is_own) {
            // Values of a request do not reach a template: a policy that needs one allows no row here.
            let mut nothing = plan;
            nothing.restrict(&Nothing);
            sql = nothing.render(dialect, &layout.relations).0;
        }
        StatementTemplate::new(sql, width, is_indexed).changing(changes)
    }

    /// True if `change` changes a column of an index that is a separate table.
    fn is_indexed(&self, layout: &Layout, change: &Change) -> bool {
        let is_set = |column: &ColumnId| match change {
            Change::Update(update) => update.set.iter().any(|it| it.0 == *column),
            Change::Insert(_) | Change::Delete(_) | Change::Call(_) => true,
        };
        let is_apart = |kind| self.database.store_dialect().index_is_table(kind);
        let mut indexes = layout.indexes.iter().filter(|it| it.table == change.table() && is_apart(it.kind));
        indexes.any(|it| it.columns.iter().any(is_set))
    }
}

/// The rows that the statement of `key` may change.
fn changed_rows(layout: &Layout, key: &TemplateKey, change: &Change) -> ChangedRows {
    let catalog = &layout.relations.catalog;
    let own = change.table();
    let tables = effects::touched_tables(catalog, vec![own], std::slice::from_ref(change));
    let is_alone = tables.as_ref().is_some_and(|all| all.iter().all(|it| *it == own));
    let primary = catalog.table(own).primary_key.as_ref().map(|it| it.columns.as_slice());
    let is_key = |column: &ColumnId| primary == Some(std::slice::from_ref(column));
    let value = match key {
        TemplateKey::Find { .. } => None,
        TemplateKey::Insert { columns, .. } | TemplateKey::InsertMissing { columns, .. } => {
            columns.iter().position(is_key)
        }
        TemplateKey::Update { columns, rows, .. } => {
            let moves = columns.iter().any(is_key);
            (is_key(&rows.by) && !moves).then_some(columns.len())
        }
        TemplateKey::Clear { column, rows, .. } => (is_key(&rows.by) && !is_key(column)).then_some(0),
        TemplateKey::Delete { rows, .. } => is_key(&rows.by).then_some(0),
    };
    ChangedRows { tables, key: value.filter(|_| is_alone) }
}

/// The plan of one template.
#[derive(Clone, Debug)]
enum StatementPlan {
    Read(Box<Query>),
    Change(Box<Change>),
}

impl StatementPlan {
    fn change(&self) -> Option<&Change> {
        match self {
            Self::Read(_) => None,
            Self::Change(change) => Some(change),
        }
    }

    fn restrict(&mut self, by: &dyn Policy) {
        match self {
            Self::Read(query) => policy::restrict_query(query, by),
            Self::Change(change) => policy::restrict_change(change, by),
        }
    }

    fn render(&self, dialect: &dyn Dialect, relations: &Relations) -> (String, Vec<Parameter>) {
        match self {
            Self::Read(query) => {
                let made = render(dialect, relations, query);
                (made.sql, made.parameters)
            }
            Self::Change(change) => {
                let made = render_command(dialect, relations, change);
                (made.sql, made.parameters)
            }
        }
    }
}

/// Builds the plan of one template.
struct Planner<'l> {
    layout: &'l Layout,
    /// Number of bound values so far.
    bound: u16,
}

impl Planner<'_> {
    fn plan(mut self, key: &TemplateKey) -> StatementPlan {
        match key {
            TemplateKey::Find { table, columns, rows } => {
                let filter = self.filter(*table, rows);
                read(*table, columns, filter)
            }
            TemplateKey::Insert { table, columns } => insert(*table, columns, None),
            TemplateKey::InsertMissing { table, columns } => {
                let scan = Scan::of(*table, Purpose::Update);
                let update = Vec::new();
                let presets = Vec::new();
                let conflict = Conflict { arbiter: None, update, presets, scan, filter: Filter::TRUE };
                insert(*table, columns, Some(conflict))
            }
            TemplateKey::Update { table, columns, rows } => {
                let set = columns.iter().map(|it| (*it, Assign::Value(self.value(*table, *it)))).collect();
                let scan = Scan::of(*table, Purpose::Update);
                let filter = self.filter(*table, rows);
                StatementPlan::Change(Box::new(Change::Update(Update {
                    scan,
                    set,
                    filter,
                    returning: Vec::new(),
                })))
            }
            TemplateKey::Clear { table, column, rows } => {
                let set = vec![(*column, Assign::Null)];
                let scan = Scan::of(*table, Purpose::Reference);
                let filter = self.filter(*table, rows);
                StatementPlan::Change(Box::new(Change::Update(Update {
                    scan,
                    set,
                    filter,
                    returning: Vec::new(),
                })))
            }
            TemplateKey::Delete { table, rows } => {
                let scan = Scan::of(*table, Purpose::Delete);
                let filter = self.filter(*table, rows);
                StatementPlan::Change(Box::new(Change::Delete(Delete {
                    scan,
                    filter,
                    returning: Vec::new(),
                })))
            }
        }
    }

    fn filter(&mut self, table: TableId, rows: &RowCondition) -> Filter {
        let by = if rows.many { Comparison::In } else { Comparison::Eq };
        let conditions = std::iter::once((rows.by, by)).chain(rows.and.iter().copied());
        let compare = |(column, by): (ColumnId, Comparison)| {
            let ty = self.layout.relations.catalog.table(table).column(column).ty.clone();
            let reader = if by == Comparison::In { Reader::Each(ty) } else { Reader::Column(ty) };
            Filter::Compare { of: Expr::Column(column), by, with: self.bind(reader) }
        };
        Filter::All(conditions.map(compare).collect())
    }

    /// The next bound value, as one of a column.
    fn value(&mut self, table: TableId, column: ColumnId) -> Parameter {
        let ty = self.layout.relations.catalog.table(table).column(column).ty.clone();
        self.bind(Reader::Column(ty))
    }

    fn bind(&mut self, reader: Reader) -> Parameter {
        self.bound += 1;
        Parameter { origin: Origin::Bound(self.bound - 1), reader, path: "".into() }
    }
}

fn read(table: TableId, columns: &[ColumnId], filter: Filter) -> StatementPlan {
    StatementPlan::Read(Box::new(Query {
        scan: Scan::of(table, Purpose::Lookup),
        call: None,
        nest: Vec::new(),
        through: None,
        filter,
        distinct_on: Vec::new(),
        order: Vec::new(),
        page: Page::default(),
        output: Output::Rows(columns.iter().map(|it| Expr::Column(*it)).collect()),
    }))
}

fn insert(table: TableId, columns: &[ColumnId], conflict: Option<Conflict>) -> StatementPlan {
    let scan = Scan::of(table, Purpose::Insert);
    let columns = columns.to_vec();
    StatementPlan::Change(Box::new(Change::Insert(Insert { scan, columns, conflict, returning: Vec::new() })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_relational::passes::policy::Everything;

    const TYPES: &str =
        "type Dish { id: ID!, name: String! @id, tags: [String], cook: Cook @hasInverse(field: dishes) }
         type Cook { id: ID!, dishes: [Dish] }";

    /// Hides the rows of a table that are not named so: in the text, or by a value of the request.
    #[derive(Debug)]
    struct Hiding {
        table: TableId,
        with: Option<Parameter>,
    }

    impl Policy for Hiding {
        fn rows(&self, table: TableId, purpose: Purpose) -> Option<Filter> {
            let compare = |with: &Parameter| Filter::Compare {
                of: Expr::Column(ColumnId(0)),
                by: Comparison::Eq,
                with: with.clone(),
            };
            let is_changed = purpose != Purpose::Insert && table == self.table;
            is_changed.then(|| self.with.as_ref().map_or(Filter::Any(Vec::new()), compare))
        }
    }

    /// The text of the statement of `key` in `database`.
    fn text(
        database: Database,
        policy: Arc<dyn Policy>,
        key: impl Fn(&Layout, TableId) -> TemplateKey,
    ) -> String {
        let model = crate::sdl::read(TYPES).expect("sound types").model;
        let layout = Layout::new(&model, database, "main");
        let dish = layout.tables[model.type_by_name("Dish").expect("it is in the text").index()];
        let key = key(&layout, dish);
        Templates::new(database, policy).get(&layout, key).sql.clone()
    }

    fn rows(layout: &Layout, table: TableId, many: bool, and: &[&str]) -> RowCondition {
        let column = |name: &str| layout.relations.catalog.table(table).find(name).expect("a column");
        let and = and.iter().map(|it| (column(it), Comparison::Neq)).collect();
        RowCondition { by: column("id"), many, and }
    }

    fn update(layout: &Layout, table: TableId) -> TemplateKey {
        let column = layout.relations.catalog.table(table).find("name").expect("a column");
        let columns = ColumnIds::from_slice(&[column]);
        TemplateKey::Update { table, columns, rows: rows(layout, table, true, &["name"]) }
    }

    #[test]
    fn values_are_bound_in_the_order_of_the_key() {
        let everything = || Arc::new(Everything);
        assert_eq!(
            text(Database::Sqlite, everything(), update),
            "UPDATE \"Dish\" AS t0 SET \"name\" = ?1 WHERE (t0.\"id\" IN (SELECT value FROM json_each(?2)) AND t0.\"name\" <> ?3)"
        );
        assert_eq!(
            text(Database::Postgres, everything(), update),
            "UPDATE \"main\".\"Dish\" AS t0 SET \"name\" = $1 WHERE (t0.\"id\" = ANY($2) AND t0.\"name\" <> $3)"
        );
        let insert = |_: &Layout, table| TemplateKey::InsertMissing {
            table,
            columns: ColumnIds::from_slice(&[ColumnId(0), ColumnId(1)]),
        };
        let text = text(Database::Postgres, everything(), insert);
        assert_eq!(
            text,
            "INSERT INTO \"main\".\"Dish\" AS t0 (\"id\", \"name\") VALUES ($1, $2) ON CONFLICT DO NOTHING"
        );
    }

    #[test]
    fn a_policy_holds_for_lookups_updates_and_deletes() {
        let find = |layout: &Layout, table| TemplateKey::Find {
            table,
            columns: ColumnIds::from_slice(&[ColumnId(0)]),
            rows: rows(layout, table, false, &[]),
        };
        let delete =
            |layout: &Layout, table| TemplateKey::Delete { table, rows: rows(layout, table, false, &[]) };
        type MakeKey<'m> = &'m dyn Fn(&Layout, TableId) -> TemplateKey;
        let keys: [MakeKey<'_>; 3] = [&find, &delete, &update];
        // A value of the request is not there: no row instead of any.
        let value = Parameter { origin: Origin::Variable(0), reader: Reader::Id, path: "".into() };
        for key in keys {
            for with in [None, Some(value.clone())] {
                let table = std::cell::Cell::new(TableId(0));
                let noted = |layout: &Layout, dish: TableId| {
                    table.set(dish);
                    key(layout, dish)
                };
                text(Database::Sqlite, Arc::new(Everything), noted);
                let hiding = Arc::new(Hiding { table: table.get(), with });
                let text = text(Database::Sqlite, hiding, key);
                assert!(text.contains(" WHERE (1 = 0) AND "), "{text}");
            }
        }
    }
}
