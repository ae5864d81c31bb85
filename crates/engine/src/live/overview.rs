//! Overview of live queries for operators: by operation and role, with the last pushes, and by source.
//!
//! **Invariant:** no value of a variable or claim is told.
//!
//! **Cost:** one walk over the members under the lock of the registry; nothing between two questions.

use super::live_result::LiveResult;
use super::member_registry::Member;
use super::{Cause, LiveQueries, LiveSettings};
use crate::source::{Coverage, OthersChanges};
use foldhash::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_language::ast::OperationKind;

/// Operations and pushes that are told.
const GROUPS_MAX: usize = 500;
const PUSHES_MAX: usize = 100;
/// Tables that are told of one operation.
const TABLES_MAX: usize = 50;

/// Live queries at one moment.
#[derive(Debug)]
pub struct LiveOverview {
    /// Operations by role, those with the most subscriptions first.
    pub groups: Vec<LiveGroup>,
    /// Groups that are not told.
    pub groups_left_out: usize,
    /// The last result of members, the newest first.
    pub pushes: Vec<LivePush>,
    /// Sources of the engine.
    pub sources: Vec<LiveSource>,
    /// Subscriptions to events, which are not read.
    pub event_streams: usize,
    /// Intervals and limits.
    pub settings: LiveSettings,
}

/// The live queries of one operation by callers of one role.
#[derive(Clone, Debug)]
pub struct LiveGroup {
    /// Number of the operation, if an observer gave one.
    pub number: Option<u64>,
    /// Query or subscription.
    pub kind: OperationKind,
    /// Role of the callers.
    pub role: Box<str>,
    /// Subscribers.
    pub subscriptions: usize,
    /// Subscriptions that are read as one: equal in variables and claims.
    pub members: usize,
    /// Plans: members of one plan may be read by one statement.
    pub cohorts: usize,
    /// Members that are streams.
    pub streams: usize,
    /// Reads that began, of all members that are there.
    pub reads: u64,
    /// Results that differed from the one before.
    pub results: u64,
    /// Members that are read again without a change: after the polling interval, and at the end of a lifetime.
    pub polled: usize,
    /// See [`Self::polled`].
    pub expiring: usize,
    /// Tables that it depends on; sorted.
    pub tables: Vec<Arc<str>>,
    /// Places of its sources in [`LiveOverview::sources`].
    pub sources: Vec<u16>,
}

/// A result that went to the subscribers of a member.
#[derive(Clone, Debug)]
pub struct LivePush {
    /// Number of the operation, if an observer gave one.
    pub number: Option<u64>,
    /// Role of the callers.
    pub role: Box<str>,
    /// Subscribers by now.
    pub subscriptions: usize,
    /// Reason of the read; of a changed row its table alone is to be told.
    pub cause: Cause,
    /// Time from the reason to the result.
    pub took: Duration,
    /// Time since the result.
    pub age: Duration,
    /// Bytes of the result.
    pub bytes: usize,
    /// True if it has errors.
    pub has_errors: bool,
}

/// A source as live queries see it.
#[derive(Clone, Debug)]
pub struct LiveSource {
    /// Name of the source.
    pub name: Box<str>,
    /// Members that ask it.
    pub members: usize,
    /// The way in which it tells changes of others.
    pub others_changes: OthersChanges,
    /// Changes that its feed reports while members ask it.
    pub coverage: Coverage,
}

impl LiveGroup {
    fn of(member: &Member) -> Self {
        let operation = &member.operation;
        let tables = member.tables().take(TABLES_MAX).map(Arc::clone).collect();
        Self {
            number: operation.number(),
            kind: operation.kind(),
            role: operation.caller.role().into(),
            subscriptions: 0,
            members: 0,
            cohorts: 0,
            streams: 0,
            reads: 0,
            results: 0,
            polled: 0,
            expiring: 0,
            tables,
            sources: member.sources.clone(),
        }
    }

    fn add(&mut self, member: &Member) {
        self.subscriptions += member.subscriptions;
        self.members += 1;
        self.streams += usize::from(member.stream.is_some());
        self.reads += member.reads;
        self.results += member.results;
        match member.due.as_ref().map(|it| &it.cause) {
            Some(Cause::Poll) => self.polled += 1,
            Some(Cause::Expiry) => self.expiring += 1,
            Some(Cause::First | Cause::Change(_) | Cause::Batch | Cause::Event) | None => {}
        }
    }

    /// Adds another plan of the operation.
    fn merge(&mut self, other: Self) {
        self.subscriptions += other.subscriptions;
        self.members += other.members;
        self.cohorts += other.cohorts;
        self.streams += other.streams;
        self.reads += other.reads;
        self.results += other.results;
        self.polled += other.polled;
        self.expiring += other.expiring;
        self.tables.extend(other.tables);
        self.tables.sort_unstable();
        self.tables.dedup();
        self.tables.truncate(TABLES_MAX);
        self.sources.extend(other.sources);
        self.sources.sort_unstable();
        self.sources.dedup();
    }
}

impl LivePush {
    fn of(member: &Member, result: &LiveResult, now: Instant) -> Self {
        Self {
            number: member.operation.number(),
            role: member.operation.caller.role().into(),
            subscriptions: member.subscriptions,
            cause: result.cause.clone(),
            took: result.took,
            age: now.saturating_duration_since(result.due + result.took),
            bytes: result.body.len(),
            has_errors: result.has_errors,
        }
    }
}

/// Groups of members, first by plan and role, then by operation and role.
fn group<'m>(members: impl Iterator<Item = &'m Member>) -> Vec<LiveGroup> {
    let mut by_plan: HashMap<(usize, &str), LiveGroup> = HashMap::default();
    for member in members {
        let plan = Arc::as_ptr(&member.operation.plan) as usize;
        let key = (plan, member.operation.caller.role());
        by_plan.entry(key).or_insert_with(|| LiveGroup { cohorts: 1, ..LiveGroup::of(member) }).add(member);
    }
    let mut groups: HashMap<(Option<u64>, Box<str>), LiveGroup> = HashMap::default();
    for group in by_plan.into_values() {
        match groups.entry((group.number, group.role.clone())) {
            std::collections::hash_map::Entry::Occupied(mut known) => known.get_mut().merge(group),
            std::collections::hash_map::Entry::Vacant(free) => _ = free.insert(group),
        }
    }
    let mut groups: Vec<LiveGroup> = groups.into_values().collect();
    groups.sort_by_cached_key(|it| (std::cmp::Reverse(it.subscriptions), it.number, it.role.clone()));
    groups
}

impl LiveQueries {
    /// Live queries at this moment.
    pub fn overview(&self) -> LiveOverview {
        let shared = &self.shared;
        let now = Instant::now();
        let registry = shared.registry();
        let mut groups = group(registry.members());
        let mut pushed: Vec<(&Member, Arc<LiveResult>)> =
            registry.members().filter_map(|it| Some((it, it.newest.borrow().result.clone()?))).collect();
        pushed.sort_by_cached_key(|it| std::cmp::Reverse(it.1.due + it.1.took));
        let pushes = pushed
            .iter()
            .take(PUSHES_MAX)
            .map(|(member, result)| LivePush::of(member, result, now))
            .collect();
        let sources =
            shared.planner.graph.sources().iter().zip(registry.sources()).map(|(source, entry)| LiveSource {
                name: source.0.name().into(),
                members: entry.members,
                others_changes: source.0.others_changes(),
                coverage: entry.coverage.clone(),
            });
        let sources = sources.collect();
        drop(pushed);
        drop(registry);
        let groups_left_out = groups.len().saturating_sub(GROUPS_MAX);
        groups.truncate(GROUPS_MAX);
        let event_streams = shared.event_streams.load(std::sync::atomic::Ordering::Relaxed);
        LiveOverview { groups, groups_left_out, pushes, sources, event_streams, settings: shared.settings }
    }
}
