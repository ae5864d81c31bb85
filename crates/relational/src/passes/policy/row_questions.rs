//! Questions about one row: which conditions of a policy are true of it, as reads with this policy decide it.
//!
//! Each question is a level of a plan: the row with this key, restricted by one condition as a policy restricts rows. That
//! level has a row where the condition is true. A second level, restricted by its opposite, tells false from unknown.
//!
//! **Invariant:** a condition is the policy's own; one on other rows is asked along the way that leads to these.
//!
//! **Cost:** two levels per condition, [`CONDITIONS_MAX`] conditions at most; for operators, never on the path of requests.

use super::super::claims::Claims;
use super::super::{barrier, stored_keys};
use crate::catalog::{Relations, TableId};
use crate::plan::operators::Comparison;
use crate::plan::{Expr, Filter, Level, Output, Page, Plan, Purpose, Query, Run, Scan, describe_condition};

/// Conditions of one row that are asked at most.
pub const CONDITIONS_MAX: usize = 100;

/// Kinds of conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    /// All parts hold.
    All,
    /// One of the parts holds.
    Any,
    /// The part does not hold.
    Not,
    /// Another row fulfils the parts; each part alone may be fulfilled by a different row.
    Exists,
    /// A test without parts.
    Test,
}

/// Levels that answer a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TruthLevels {
    /// This level has a row if the condition is true.
    pub is_true: u32,
    /// This level has a row if it is false; `None`: the condition is never unknown.
    pub is_false: Option<u32>,
}

/// A condition and the levels that answer it.
#[derive(Clone, Debug)]
pub struct AskedCondition {
    /// Kind of the condition.
    pub kind: ConditionKind,
    /// Text form, for people.
    pub text: String,
    /// The role whose permission the condition is, if it is one of several.
    pub role: Option<Box<str>>,
    /// `None`: nothing is asked, because a session variable is missing or there are too many conditions.
    pub asked: Option<TruthLevels>,
    /// Session variables that it reads and the caller does not have.
    pub missing: Vec<Box<str>>,
    /// The conditions that it is made of.
    pub parts: Vec<AskedCondition>,
}

/// Questions about the row of `table` with `key`.
pub struct RowQuestions<'q> {
    relations: &'q Relations,
    table: TableId,
    key: Filter,
    /// True for a session variable that the caller has.
    has: &'q dyn Fn(&str) -> bool,
    levels: Vec<Query>,
    conditions: usize,
}

/// The place of a condition: the table whose rows it is about, and what makes a condition on the asked row of it.
struct ConditionPlace<'p> {
    table: TableId,
    wrap: &'p dyn Fn(Filter) -> Filter,
    is_elsewhere: bool,
    /// True for a whole condition, which is asked also when its parts are too many.
    is_whole: bool,
}

impl<'q> RowQuestions<'q> {
    /// No questions yet about the row of `table` for which `key` is true. `has` says which session variables the caller has.
    pub fn new(relations: &'q Relations, table: TableId, key: Filter, has: &'q dyn Fn(&str) -> bool) -> Self {
        Self { relations, table, key, has, levels: Vec::new(), conditions: 0 }
    }

    /// The level that has a row if there is one that fulfils `filter`; `None`: a session variable is missing.
    pub fn ask_row(&mut self, filter: Option<Filter>) -> Option<u32> {
        if filter.as_ref().is_some_and(|it| !self.find_missing(it).is_empty()) {
            return None;
        }
        Some(self.push_level(filter))
    }

    /// Session variables that `filter` reads and the caller does not have.
    pub fn find_missing(&self, filter: &Filter) -> Vec<Box<str>> {
        let mut claims = Claims::default();
        claims.note(filter);
        claims.names().into_iter().filter(|it| !(self.has)(it)).collect()
    }

    /// Asks for `filter`, a condition on rows of the table, and for what it is made of, as far as that is not too much.
    pub fn ask(&mut self, filter: &Filter) -> AskedCondition {
        let place = ConditionPlace { table: self.table, wrap: &|it| it, is_elsewhere: false, is_whole: true };
        self.ask_condition(filter, &place)
    }

    /// True if there were more conditions than are asked.
    pub const fn is_cut(&self) -> bool {
        self.conditions > CONDITIONS_MAX
    }

    /// The plan whose levels answer the questions, without members.
    pub fn into_plan(self, field: impl Fn(u32) -> u32) -> Plan {
        let mut plan = Plan::default();
        for (at, query) in self.levels.into_iter().enumerate() {
            let field = field(at as u32);
            let members = Run::default();
            let path = String::new();
            plan.levels.push(Level {
                query,
                members,
                choice: None,
                hidden: Vec::new(),
                by: None,
                field,
                path,
            });
        }
        stored_keys::keep(&mut plan);
        barrier::raise(&mut plan, self.relations);
        plan
    }

    fn push_level(&mut self, filter: Option<Filter>) -> u32 {
        let mut scan = Scan::of(self.table, Purpose::Root);
        if let Some(filter) = filter.filter(|it| !it.is_true()) {
            scan.restrict(filter);
        }
        self.levels.push(Query {
            scan,
            call: None,
            nest: Vec::new(),
            through: None,
            filter: self.key.clone(),
            distinct_on: Vec::new(),
            order: Vec::new(),
            page: Page::default(),
            output: Output::Rows(vec![Expr::Null]),
        });
        self.levels.len() as u32 - 1
    }

    fn ask_condition(&mut self, filter: &Filter, place: &ConditionPlace<'_>) -> AskedCondition {
        let filter = unwrap_single(filter);
        let kind = find_kind(filter);
        let text = describe_condition(self.relations, filter, place.table);
        self.conditions += 1;
        let missing = self.find_missing(filter);
        let is_asked = missing.is_empty() && (place.is_whole || !self.is_cut());
        let asked = is_asked.then(|| TruthLevels {
            is_true: self.push_level(Some((place.wrap)(filter.clone()))),
            // Elsewhere only whether some row fulfils the condition is asked.
            is_false: (!place.is_elsewhere)
                .then(|| self.push_level(Some((place.wrap)(Filter::Not(Box::new(filter.clone())))))),
        });
        let below = ConditionPlace { is_whole: false, ..*place };
        let parts = if self.is_cut() { Vec::new() } else { self.ask_parts(filter, &below) };
        AskedCondition { kind, text, role: None, asked, missing, parts }
    }

    fn ask_parts(&mut self, filter: &Filter, place: &ConditionPlace<'_>) -> Vec<AskedCondition> {
        match filter {
            Filter::All(_) | Filter::Any(_) if find_kind(filter) == ConditionKind::Test => Vec::new(),
            Filter::All(_) | Filter::Any(_) => {
                list_parts(filter).into_iter().map(|it| self.ask_condition(it, place)).collect()
            }
            Filter::Not(part) | Filter::NotTrue(part) => vec![self.ask_condition(part, place)],
            Filter::Exists { by, scan, filter } => {
                let relations = self.relations;
                let wrap = |it: Filter| (place.wrap)(Filter::exists(relations, *by, it));
                self.ask_parts_elsewhere(filter, scan.table(), &wrap)
            }
            Filter::Somewhere { scan, filter } => {
                let table = scan.table();
                let wrap = |it: Filter| (place.wrap)(Filter::any_row(table, it));
                self.ask_parts_elsewhere(filter, table, &wrap)
            }
            _ => Vec::new(),
        }
    }

    /// The conditions on another row: that there is one, and each that it has to fulfil.
    fn ask_parts_elsewhere(
        &mut self,
        filter: &Filter,
        table: TableId,
        wrap: &dyn Fn(Filter) -> Filter,
    ) -> Vec<AskedCondition> {
        if filter.is_true() {
            return Vec::new();
        }
        let place = ConditionPlace { table, wrap, is_elsewhere: true, is_whole: false };
        let mut there = self.ask_condition(&Filter::TRUE, &place);
        there.text = format!("a row of {}", self.relations.catalog.table(table).name);
        let own = match filter {
            Filter::All(_) if find_kind(filter) == ConditionKind::All => list_parts(filter),
            _ => vec![filter],
        };
        std::iter::once(there).chain(own.into_iter().map(|it| self.ask_condition(it, &place))).collect()
    }
}

/// The parts of a conjunction or disjunction, without those that another one implies: a value that equals something is not null.
fn list_parts(filter: &Filter) -> Vec<&Filter> {
    match filter {
        Filter::All(parts) => {
            let equates = |of: &Expr, it: &Filter| matches!(it, Filter::Compare { of: other, by: Comparison::Eq, .. } if other == of);
            let is_implied = |it: &Filter| match it {
                Filter::Null { of, is: false } => parts.iter().any(|it| equates(of, it)),
                _ => false,
            };
            parts.iter().filter(|it| !is_implied(it)).collect()
        }
        Filter::Any(parts) => parts.iter().collect(),
        _ => Vec::new(),
    }
}

/// The condition without conjunctions and disjunctions of one part around it.
fn unwrap_single(filter: &Filter) -> &Filter {
    let mut inner = filter;
    while let Filter::All(parts) | Filter::Any(parts) = inner
        && let [part] = parts.as_slice()
    {
        inner = part;
    }
    inner
}

fn find_kind(filter: &Filter) -> ConditionKind {
    match filter {
        // An equality that says that its value is not null is one test.
        Filter::All(_) | Filter::Any(_) if list_parts(filter).len() < 2 => ConditionKind::Test,
        Filter::All(_) => ConditionKind::All,
        Filter::Any(_) => ConditionKind::Any,
        Filter::Not(_) | Filter::NotTrue(_) => ConditionKind::Not,
        Filter::Exists { .. } | Filter::Somewhere { .. } => ConditionKind::Exists,
        _ => ConditionKind::Test,
    }
}
