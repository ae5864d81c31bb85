//! A plan with its statements rendered for PostgreSQL, and where it may run.
//!
//! **Invariant:** all levels of a query are arms of one statement, unless its lists leave in parts: those have statements of their
//! own, which see one state. Levels below a root field of a mutation are arms of one statement that is asked after it.

use super::asked_levels::Asked;
use super::fallible::may_fail;
use crate::exec::plans::prepared_plan::PreparedPlan;
use crate::postgres::driver::PostgresState;
use crate::postgres::values::bind::OwnParameters;
use crate::postgres::values::decode::{Decoder, column_types};
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;
use weir_postgres::statement::table_set;
use weir_postgres::statement::{Parameters, Statement};
use weir_relational::catalog::postgres_types::oid;
use weir_relational::catalog::{FunctionId, Relations, TableId, Volatility};
use weir_relational::passes::reach::{self, Reach};
use weir_relational::plan::operators::Comparison;
use weir_relational::plan::write::{Change, Given, Work, Write, WriteAnswer};
use weir_relational::plan::{Expr, Filter, Level, MemberKind, Output, Parameter, Plan};
use weir_relational::sql::assemble::{Arm, Parents, TooWide};
use weir_relational::sql::write::render_change;

/// A plan ready to run.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) plan: Plan,
    /// Statements of a query, beside [`InParts::Lists`]: none in a mutation.
    pub(crate) read: Asked,
    /// Children of the row of `read`, if that row is read first.
    pub(crate) then: Option<Children>,
    /// How the answer is streamed.
    pub(crate) in_parts: InParts,
    /// Parallel to the plan's changes.
    pub(crate) changes: Vec<Ready>,
    /// Parallel to the plan's writes: reads below the rows that came back.
    pub(crate) below: Vec<Option<Children>>,
    /// Parallel to the plan's checks of written rows.
    pub(crate) row_checks: Vec<Children>,
    /// Parallel to the plan's writes: reads of those that are programs.
    pub(crate) programs: Vec<Option<Programmed>>,
    /// The tables of a mutation, or of lists that leave in parts: as a whole it waits for their locks.
    pub(crate) locks: Box<[TableId]>,
    /// True if it always needs a session.
    pub(crate) is_long: bool,
    /// True if it calls functions that may change data, or return another result each time.
    pub(crate) is_volatile: bool,
    /// Parallel to the plan's writes: a value of the answer may not fit its place, so that it is made before the commit.
    pub(crate) may_fail: Vec<bool>,
    /// True if the database has to be told that this mutation changes shards one after the other.
    pub(crate) is_sequential: bool,
}

/// Ways that an answer is streamed.
#[derive(Debug)]
pub(crate) enum InParts {
    /// The answer is not streamed.
    No,
    /// The answer is one list with nothing below it, whose rows are those of `read` as they arrive.
    Rows,
    /// The lists of the root, each with its nested levels.
    Lists(Vec<List>),
}

/// A list of the root that leaves in parts.
#[derive(Debug)]
pub(crate) struct List {
    /// Level of the list.
    pub(crate) level: u32,
    /// Statement for the rows of the list.
    pub(crate) own: Asked,
    /// Statements below some of them.
    pub(crate) below: Option<Children>,
}

impl InParts {
    fn of(source: &PostgresState, plan: &Plan, tops: &[u32]) -> Result<Self, TooWide> {
        let lists: Vec<u32> = plan.members[plan.root.range()]
            .iter()
            .filter_map(|it| match it.kind {
                MemberKind::Many(level) => Some(level),
                _ => None,
            })
            .collect();
        match lists.as_slice() {
            [] => Ok(Self::No),
            [only] if tops.len() == 1 && plan.levels_of(*only).is_empty() => Ok(Self::Rows),
            _ if !source.driver.dialect.flavour.abilities().portals => Ok(Self::No),
            _ => {
                lists.iter().map(|&it| List::new(source, plan, it)).collect::<Result<_, _>>().map(Self::Lists)
            }
        }
    }

    /// Lists that are sent in parts.
    pub(crate) fn lists(&self) -> &[List] {
        match self {
            Self::Lists(lists) => lists,
            Self::No | Self::Rows => &[],
        }
    }

    fn reading_statements(&self) -> impl Iterator<Item = &Asked> {
        self.lists().iter().flat_map(|it| [Some(&it.own), it.below.as_ref().map(|it| &it.asked)]).flatten()
    }
}

impl List {
    fn new(source: &PostgresState, plan: &Plan, level: u32) -> Result<Self, TooWide> {
        let tops = plan.levels_of(level);
        let own = source.ask_alone(plan, level, &keys_of(plan, &tops))?;
        let query = &plan.levels[level as usize].query;
        let below = Children::prepare(source, plan, &tops, query.table(), query.columns())?;
        Ok(Self { level, own, below })
    }
}

/// A changing statement.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) statement: Arc<Statement>,
    /// Parameters that follow the values of an inserted row.
    pub(crate) parameters: Vec<Parameter>,
    /// By returned column.
    pub(crate) decoders: Vec<Decoder>,
    pub(crate) tables: Vec<TableId>,
    /// Shards that it asks.
    pub(crate) reach: Reach,
    /// A hash of its text, and from which of its parameters on they say which rows it touches; `None` for those that add
    /// rows.
    touched: Option<(u64, usize)>,
}

/// The levels below the rows of a root field of a mutation.
#[derive(Debug)]
pub(crate) struct Children {
    pub(crate) asked: Asked,
    /// The returned columns whose values are sent as arrays, in order.
    pub(crate) keys: Vec<u16>,
}

/// Reads for a program.
#[derive(Debug)]
pub(crate) struct Programmed {
    /// The objects that the field's filter finds.
    pub(crate) find: Option<Asked>,
    /// Conditions on objects, by the program's numbers.
    pub(crate) checks: Vec<(u32, Asked)>,
    /// Reads for the objects in the answer.
    pub(crate) shown: Option<Asked>,
}

impl Programmed {
    fn reading_statements(&self) -> impl Iterator<Item = &Asked> {
        self.find.iter().chain(self.checks.iter().map(|it| &it.1)).chain(&self.shown)
    }

    fn of(source: &PostgresState, plan: &Plan, write: &Write) -> Result<Option<Self>, TooWide> {
        let finder = write.works.iter().find_map(|it| match it {
            Work::Program { find, checks } => Some((*find, checks)),
            Work::Nothing | Work::Change(_) | Work::Insert(_) | Work::Each { .. } => None,
        });
        let (Some((finder, checks)), WriteAnswer::Response(run)) = (finder, write.answer) else {
            return Ok(None);
        };
        let ask = |tops: &[u32]| match tops {
            [] => Ok(None),
            _ => source.ask(plan, tops, Parents::None).map(Some),
        };
        let find = ask(finder.as_slice())?;
        let mut ready = Vec::new();
        for check in checks {
            ready.extend(ask(&[check.level])?.map(|it| (check.number, it)));
        }
        Ok(Some(Self { find, checks: ready, shown: ask(&plan.levels_below(run))? }))
    }
}

impl Prepared {
    /// Renders `plan`; `parent_keys` is how many columns the keys of its parents in another source have.
    pub(crate) fn new(
        source: &PostgresState,
        plan: Plan,
        parent_keys: Option<u32>,
        streams: bool,
    ) -> Result<Self, TooWide> {
        let mut tops = plan.levels_below(plan.root);
        let is_costly = plan.levels.iter().any(is_costly) || lists_deep(&plan, &tops) > SHARED_LISTS_MAX;
        let is_long = tops.iter().any(|&it| is_long(&plan.levels[it as usize]));
        let is_volatile = plan.functions.iter().any(|it| volatility(source, *it) == Volatility::Volatile);
        let is_streamed = streams && is_long && !is_volatile && !plan.root_copied && plan.first.is_none();
        let in_parts = if is_streamed { InParts::of(source, &plan, &tops)? } else { InParts::No };
        tops.retain(|it| in_parts.lists().iter().all(|list| list.level != *it));
        let parents = parent_keys.map_or(Parents::None, |count| Parents::Keys(count as usize));
        let (read, then) = match plan.first {
            Some(first) => Children::of_row(source, &plan, first)?,
            None => (source.ask(&plan, &tops, parents)?, None),
        };
        let keys = keys_of_changes(&plan);
        let changes = plan.changes.iter().zip(&keys).map(|(it, keys)| Ready::new(source, it, keys)).collect();
        let below = plan.writes.iter().map(|it| Children::of(source, &plan, it)).collect::<Result<_, _>>()?;
        let row_checks = plan.row_checks.iter().filter_map(|it| {
            let change = &plan.changes[it.change as usize];
            Children::prepare(source, &plan, &[it.level], change.table(), change.returning()).transpose()
        });
        let row_checks = row_checks.collect::<Result<_, _>>()?;
        let programs =
            plan.writes.iter().map(|it| Programmed::of(source, &plan, it)).collect::<Result<_, _>>()?;
        let relations = source.frontend.relations();
        let floats = source.driver.dialect.floats;
        let may_fail = plan.writes.iter().map(|it| may_fail(&plan, relations, floats, it)).collect();
        let is_long = is_long || is_costly;
        let locks = Box::default();
        let mixes = source.driver.dialect.flavour.abilities().mixes_shards;
        let is_sequential = !mixes && reach::mixes(source.frontend.relations(), &plan);
        let mut it = Self {
            plan,
            read,
            then,
            in_parts,
            changes,
            below,
            row_checks,
            programs,
            locks,
            is_long,
            is_volatile,
            may_fail,
            is_sequential,
        };
        it.locks = it.all_tables();
        Ok(it)
    }

    fn all_tables(&self) -> Box<[TableId]> {
        let programs = self.programs.iter().flatten().flat_map(Programmed::reading_statements);
        let asked = self.reading_statements().chain(programs).flat_map(|it| &it.tables);
        table_set(asked.chain(self.changes.iter().flat_map(|it| &it.tables)).copied())
    }

    /// All reading statements but those of programs.
    pub(crate) fn reading_statements(&self) -> impl Iterator<Item = &Asked> {
        let read = Some(&self.read).filter(|it| !it.arms.is_empty());
        let then = self.then.iter().chain(self.below.iter().flatten()).chain(&self.row_checks);
        let then = then.map(|it| &it.asked);
        read.into_iter().chain(self.in_parts.reading_statements()).chain(then)
    }
}

impl PreparedPlan for Prepared {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn statement_count(&self) -> usize {
        self.changes.len() + self.reading_statements().count()
    }

    fn tables(&self) -> Vec<TableId> {
        let read = self.reading_statements().flat_map(|it| &it.tables);
        read.chain(self.changes.iter().flat_map(|it| &it.tables)).copied().collect()
    }

    fn statements(&self, relations: &Relations) -> Vec<(String, &str)> {
        let has_shards = relations.catalog.has_shards();
        let words = |of: &str, reach: Reach| {
            if has_shards { format!("{of} ({})", reach.label()) } else { of.to_owned() }
        };
        let changes = self.plan.changes.iter().zip(&self.changes).map(|(of, it)| {
            let table = &relations.catalog.table(of.table()).name;
            (words(table, it.reach), &*it.statement.sql)
        });
        let said = |of: &str, it: &'_ Asked| words(of, it.reach);
        let below = self.plan.writes.iter().zip(&self.below).filter_map(|(write, it)| {
            let asked = &it.as_ref()?.asked;
            Some((said(&write.path, asked), &*asked.statement.sql))
        });
        let checks = self.plan.row_checks.iter().zip(&self.row_checks).map(|(check, it)| {
            let path = &self.plan.levels[check.level as usize].path;
            (said(path, &it.asked), &*it.asked.statement.sql)
        });
        let programs = self.plan.writes.iter().zip(&self.programs).flat_map(|(write, it)| {
            let asked = it.iter().flat_map(Programmed::reading_statements);
            asked.map(|it| (write.path.clone(), &*it.statement.sql))
        });
        let path = |it: &Arm| self.plan.levels[it.level as usize].path.as_str();
        let paths = |it: &Asked| it.arms.iter().map(path).collect::<Vec<_>>().join(", ");
        let read = Some(&self.read).filter(|it| !it.arms.is_empty());
        let read = read
            .into_iter()
            .chain(self.then.iter().map(|it| &it.asked))
            .chain(self.in_parts.reading_statements());
        let read = read.map(|it| (said(&paths(it), it), &*it.statement.sql));
        changes.chain(checks).chain(below).chain(programs).chain(read).collect()
    }
}

fn volatility(source: &PostgresState, id: FunctionId) -> Volatility {
    source.frontend.relations().function(id).1.volatility
}

impl Ready {
    /// The parameters whose values are found in the request.
    pub(crate) fn own_parameters(&self) -> OwnParameters<'_> {
        OwnParameters { parameters: &self.parameters, oids: &self.statement.parameters }
    }

    /// Hash of the rows that it changes with `parameters`.
    pub(crate) fn rows(&self, parameters: &Parameters) -> Option<u64> {
        let (text, from) = self.touched?;
        let mut hasher = foldhash::fast::FixedState::with_seed(text).build_hasher();
        parameters.iter().skip(from).for_each(|it| it.hash(&mut hasher));
        Some(hasher.finish())
    }

    /// `keys`: indexes of the returned columns that later statements take.
    fn new(source: &PostgresState, change: &Change, keys: &[u16]) -> Self {
        let relations = source.frontend.relations();
        let rendered = render_change(&source.driver.dialect, relations, change);
        let reach = reach::of_change(relations, change);
        let columns = rendered.columns.iter().enumerate();
        let decoders: Vec<Decoder> =
            columns.map(|(at, &oid)| source.driver.decoder_at(at, oid, keys)).collect();
        let formats: Vec<_> = decoders.iter().map(Decoder::format).collect();
        let columns = column_types(&source.driver.dialect.types, &rendered.columns, &decoders);
        let statement = Statement::new(rendered.sql, rendered.types, formats, columns, None);
        let statement = statement.about(rendered.tables.iter().copied());
        let text = foldhash::fast::FixedState::default().hash_one(&*statement.sql);
        let touched = match change {
            Change::Update(_) => Some((text, rendered.assigned)),
            Change::Delete(_) => Some((text, 0)),
            Change::Insert(_) | Change::Call(_) => None,
        };
        let parameters = rendered.parameters;
        let tables = rendered.tables;
        Self { statement, parameters, decoders, tables, reach, touched }
    }
}

impl Children {
    /// Reads about the rows that `write` returns, if any.
    fn of(source: &PostgresState, plan: &Plan, write: &Write) -> Result<Option<Self>, TooWide> {
        let (WriteAnswer::Row(run)
        | WriteAnswer::Rows(run)
        | WriteAnswer::Response(run)
        | WriteAnswer::Responses(run)) = write.answer;
        let tops = plan.levels_below(run);
        let change = write.works.iter().find_map(|work| match work {
            Work::Nothing | Work::Program { .. } => None,
            Work::Change(change) => Some(*change),
            Work::Insert(steps) | Work::Each { steps, .. } => {
                steps.iter().find(|it| it.shown).map(|it| it.change)
            }
        });
        let Some(change) = change else { return Ok(None) };
        let change = &plan.changes[change as usize];
        Self::prepare(source, plan, &tops, change.table(), change.returning())
    }

    /// Prepares the row of the level `first` alone, and then the levels below it, by its values.
    fn of_row(source: &PostgresState, plan: &Plan, first: u32) -> Result<(Asked, Option<Self>), TooWide> {
        let tops = plan.levels_of(first);
        let query = &plan.levels[first as usize].query;
        let (keys, types) = Self::keys(source, plan, &tops, query.table(), query.columns());
        let read = source.ask_alone(plan, first, &keys)?;
        Ok((read, Some(Self { asked: source.ask(plan, &tops, Parents::Row(&types))?, keys })))
    }

    /// Prepares reads of the levels `tops` below rows of `table` with the columns `of`; `None` without such levels.
    fn prepare(
        source: &PostgresState,
        plan: &Plan,
        tops: &[u32],
        table: TableId,
        of: &[Expr],
    ) -> Result<Option<Self>, TooWide> {
        if tops.is_empty() {
            return Ok(None);
        }
        let (keys, types) = Self::keys(source, plan, tops, table, of);
        let asked = source.ask(plan, tops, Parents::Rows(&types))?;
        Ok(Some(Self { asked, keys }))
    }

    /// The columns, among `of`, of rows of `table` by which the levels `tops` are found, and the numbers of their types.
    fn keys(
        source: &PostgresState,
        plan: &Plan,
        tops: &[u32],
        table: TableId,
        of: &[Expr],
    ) -> (Vec<u16>, Vec<(u16, u32)>) {
        let keys = keys_of(plan, tops);
        let table = source.frontend.relations().catalog.table(table);
        let types = keys
            .iter()
            .map(|&key| match &of[usize::from(key)] {
                Expr::Column(column) | Expr::Key(column) => (key, table.column(*column).oid),
                Expr::Row => (key, oid::TEXT),
                _ => (key, 0),
            })
            .collect();
        (keys, types)
    }
}

/// Parallel to the changes of a plan: indexes of the returned columns that later statements take.
fn keys_of_changes(plan: &Plan) -> Vec<Vec<u16>> {
    let mut keys = vec![Vec::new(); plan.changes.len()];
    for write in &plan.writes {
        let (WriteAnswer::Row(run)
        | WriteAnswer::Rows(run)
        | WriteAnswer::Response(run)
        | WriteAnswer::Responses(run)) = write.answer;
        let below = keys_of(plan, &plan.levels_below(run));
        for work in &write.works {
            let steps = match work {
                Work::Nothing | Work::Program { .. } => continue,
                Work::Change(change) => {
                    keys[*change as usize].extend_from_slice(&below);
                    continue;
                }
                Work::Insert(steps) | Work::Each { steps, .. } => steps,
            };
            for step in steps {
                if step.shown {
                    keys[step.change as usize].extend_from_slice(&below);
                }
                for value in &step.values {
                    if let Given::Returned { step, column } = value {
                        keys[steps[*step as usize].change as usize].push(*column);
                    }
                }
            }
        }
    }
    keys
}

/// The columns of a level that those of the levels `tops` below it are keys of.
fn keys_of(plan: &Plan, tops: &[u32]) -> Vec<u16> {
    let nests = tops.iter().flat_map(|&it| &plan.levels[it as usize].query.nest);
    let mut keys: Vec<u16> = nests.map(|key| key.1).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// A condition and an order that lead through more relationships may take long for each row, and would hold up the statements beside
/// them on a shared connection.
const SHARED_RELATIONSHIPS_MAX: usize = 4;

/// More lists without a limit, one below the other, have as many rows as the product of their lengths.
const SHARED_LISTS_MAX: usize = 2;

/// Maximum nesting of lists without a limit, from `tops`.
fn lists_deep(plan: &Plan, tops: &[u32]) -> usize {
    let mut is_list = vec![false; plan.levels.len()];
    for member in &plan.members {
        if let MemberKind::Many(level) = member.kind {
            is_list[level as usize] = plan.levels[level as usize].query.page.limit.is_none();
        }
    }
    let mut waiting: Vec<(u32, usize)> = tops.iter().map(|it| (*it, 0)).collect();
    let mut most = 0;
    while let Some((level, above)) = waiting.pop() {
        let lists = above + usize::from(is_list[level as usize]);
        most = most.max(lists);
        waiting.extend(plan.levels_of(level).into_iter().map(|it| (it, lists)));
    }
    most
}

/// True if the rows of a level may take long to find.
fn is_costly(level: &Level) -> bool {
    let query = &level.query;
    let ordered: usize = query.order.iter().map(|it| it.of.relationships()).sum();
    let policy = query.scan.policy().into_iter().chain(query.scan.shown_ifs());
    let restricted: usize = policy.map(Filter::relationships).sum();
    query.filter.relationships() + ordered + restricted > SHARED_RELATIONSHIPS_MAX
}

/// Lists without a bound, of which no one knows how long they take.
fn is_long(level: &Level) -> bool {
    let query = &level.query;
    let is_key =
        |filter: &Filter| matches!(filter, Filter::Compare { of: Expr::Column(_), by: Comparison::Eq, .. });
    let by_key = match &query.filter {
        Filter::All(all) => all.iter().any(is_key),
        other => is_key(other),
    };
    matches!(query.output, Output::Rows(_)) && query.page.limit.is_none() && !by_key
}
