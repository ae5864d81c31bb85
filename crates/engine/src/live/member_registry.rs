//! Members of an engine's live queries, indexed by the data they depend on.
//!
//! **Invariant:** a member is in one of four states: idle, dirty and queued, being read, being read and dirty. A queued member
//! stands in the queue once. A stream whose last batch the subscriber has not taken is not read; it stays dirty until then.
//!
//! **Cost:** joining and leaving are a few hash look-ups; a change is one look-up by tag, one by key, and a flag per member that it concerns.

use super::live_result::{Cause, Changed, JoinedMember, LiveResult, MemberId, Newest, ReadReason};
use super::reread_times::{NextRead, due_at, next_read};
use super::stream_state::{StreamOutcome, StreamState};
use super::{LiveSettings, LiveState};
use crate::caching::tag_versions::{Change, RowKey};
use crate::engine::bound_operation::BoundOperation;
use crate::execute::PartLifetime;
use crate::source::{Coverage, StreamRead};
use foldhash::HashMap;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Subscriptions that are read as one.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) operation: BoundOperation,
    key: Arc<[u8]>,
    pub(super) subscriptions: usize,
    pub(super) newest: watch::Sender<Newest>,
    /// The tables and rows it depends on.
    dependencies: Dependencies,
    /// The sources it asks, each once.
    pub(super) sources: Vec<u16>,
    /// Since when its last result may be old, and why.
    dirty: Option<ReadReason>,
    is_queued: bool,
    is_read: bool,
    /// When its last read began.
    read_at: Option<Instant>,
    /// Reads that began.
    pub(super) reads: u64,
    /// Results that differed from the one before.
    pub(super) results: u64,
    /// The first read that a subscriber still waits for, and the read that the newest subscriber waits for: one that joins during a
    /// read waits for the next.
    awaited: Option<(u64, u64)>,
    /// When it becomes dirty without a change: after the polling interval, or at the end of the result's lifetime.
    pub(super) due: Option<ReadReason>,
    /// The places of the tags of its last result.
    pub(super) places: Vec<u16>,
    /// An unconfirmed change is settled by this time; a read that began earlier may have missed it.
    later: Option<Instant>,
    /// Progress of the stream, if the operation is a stream.
    pub(super) stream: Option<StreamState>,
}

impl Member {
    /// The tables it depends on.
    pub(super) fn tables(&self) -> impl Iterator<Item = &Arc<str>> {
        let Dependencies { tables, rows, .. } = &self.dependencies;
        tables.iter().chain(rows.iter().map(|it| &it.tag.0))
    }
}

/// Tables whose changes concern a member: any, or only those of one row.
#[derive(Debug, Default)]
struct Dependencies {
    tables: Vec<Arc<str>>,
    rows: Vec<RowKey>,
    /// Sources of which it may read data that has no tag.
    untagged: Vec<u16>,
}

impl Dependencies {
    fn of(operation: &BoundOperation) -> Self {
        let mut tables: Vec<Arc<str>> = Vec::new();
        let mut rows: Vec<RowKey> = Vec::new();
        let nodes = operation.plan.nodes.iter();
        let untagged = nodes.filter(|it| it.fetch.reads_untagged()).filter_map(|it| it.source).collect();
        for node in &operation.plan.nodes {
            let confined = match node.parent {
                None => node.fetch.rows(operation.fetch_input()),
                Some(_) => Vec::new(),
            };
            let named = node.fetch.touches().iter().filter(|tag| !confined.iter().any(|it| it.tag == **tag));
            tables.extend(named.map(|it| Arc::clone(&it.0)));
            rows.extend(confined);
        }
        tables.sort_unstable();
        tables.dedup();
        rows.retain(|it| tables.binary_search(&it.tag.0).is_err());
        Self { tables, rows, untagged }
    }

    /// True if the feed of `source` reports every change of the data that the member reads there.
    fn is_covered_by_feed(&self, source: u16, coverage: &Coverage) -> bool {
        match coverage {
            Coverage::Nothing => false,
            Coverage::Everything => true,
            Coverage::Except(untold) => {
                let mut tags = self.tables.iter().chain(self.rows.iter().map(|it| &it.tag.0));
                !self.untagged.contains(&source) && (untold.is_empty() || !tags.any(|it| untold.contains(it)))
            }
        }
    }
}

/// Members by what they depend on, of one table.
#[derive(Debug, Default)]
struct TableIndex {
    whole: BTreeSet<MemberId>,
    rows: HashMap<Box<[u8]>, BTreeSet<MemberId>>,
}

impl TableIndex {
    fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.rows.is_empty()
    }
}

/// Traits of a source that matter to live queries.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceTraits {
    /// It has a feed.
    pub(super) has_feed: bool,
    /// True if its answers have lifetimes: a cached result is as good as a new one.
    pub(super) has_lifetimes: bool,
}

/// A source as far as live queries go.
#[derive(Clone, Debug, Default)]
pub(super) struct SourceEntry {
    /// Members that ask it.
    pub(super) members: usize,
    /// True if it has a feed.
    has_feed: bool,
    /// Coverage of its feed.
    pub(super) coverage: Coverage,
}

/// A read that is to be made.
pub(super) struct DueRead {
    pub(super) id: MemberId,
    pub(super) operation: BoundOperation,
    /// Batch to read, if the operation is a stream.
    pub(super) stream: Option<Arc<StreamRead>>,
    pub(super) since: Instant,
    pub(super) cause: Cause,
}

/// All members.
#[derive(Debug)]
pub(crate) struct Registry {
    members: Vec<(u32, Option<Box<Member>>)>, // Boxed, as there are places to spare.
    free: Vec<u32>,
    by_key: HashMap<Arc<[u8]>, MemberId>,
    tables: HashMap<Arc<str>, TableIndex>,
    sources: Vec<SourceEntry>,
    /// Members by the slots of the value-dependent tags of their last results.
    pub(super) tagged: HashMap<u16, BTreeSet<MemberId>>,
    /// Dirty members that are not being read, the longest dirty first.
    queue: VecDeque<MemberId>,
    /// Members by the time of their next check.
    timers: BTreeSet<(Instant, MemberId)>,
    subscriptions: usize,
    pub(super) has_runner: bool,
    pub(super) is_closed: bool,
    reads: u64,
    results: u64,
}

impl Registry {
    pub(super) fn new(sources: usize) -> Self {
        Self {
            members: Vec::new(),
            free: Vec::new(),
            by_key: HashMap::default(),
            tables: HashMap::default(),
            sources: vec![SourceEntry::default(); sources],
            tagged: HashMap::default(),
            queue: VecDeque::new(),
            timers: BTreeSet::new(),
            subscriptions: 0,
            has_runner: false,
            is_closed: false,
            reads: 0,
            results: 0,
        }
    }

    pub(super) fn subscriptions(&self) -> usize {
        self.subscriptions
    }

    pub(super) fn state(&self) -> LiveState {
        let operations = self.members.len() - self.free.len();
        let subscriptions = self.subscriptions;
        LiveState { subscriptions, operations, reads: self.reads, results: self.results }
    }

    /// All members.
    pub(super) fn members(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter_map(|it| it.1.as_deref())
    }

    pub(super) fn sources(&self) -> &[SourceEntry] {
        &self.sources
    }

    /// Ends all subscriptions.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
        self.queue.clear();
        self.timers.clear();
        self.by_key.clear();
        self.tables.clear();
        self.tagged.clear();
        self.members.clear();
        self.free.clear();
    }

    pub(super) fn member(&mut self, id: MemberId) -> Option<&mut Member> {
        let (age, member) = self.members.get_mut(id.at as usize)?;
        if *age == id.age { member.as_deref_mut() } else { None }
    }

    /// A place without a member.
    fn free_place(&mut self) -> MemberId {
        let at = self.free.pop().unwrap_or_else(|| {
            self.members.push((0, None));
            self.members.len() as u32 - 1
        });
        MemberId { at, age: self.members[at as usize].0 }
    }

    /// Adds a subscription; `stream`: the position of a stream, which is a member of its own.
    pub(super) fn join(
        &mut self,
        operation: BoundOperation,
        stream: Option<Option<Arc<str>>>,
        traits: impl Fn(u16) -> SourceTraits,
        now: Instant,
    ) -> JoinedMember {
        self.subscriptions += 1;
        let key: Arc<[u8]> = if stream.is_none() { operation.key().into() } else { [].into() };
        if let Some(&id) = self.by_key.get(&key)
            && let Some(joined) = self.join_member(id, &traits, now)
        {
            return joined;
        }
        let id = self.free_place();
        let mut sources: Vec<u16> = operation.plan.nodes.iter().filter_map(|it| it.source).collect();
        sources.sort_unstable();
        sources.dedup();
        for &source in &sources {
            let entry = &mut self.sources[usize::from(source)];
            entry.members += 1;
            entry.has_feed = traits(source).has_feed;
        }
        let dependencies = Dependencies::of(&operation);
        for tag in &dependencies.tables {
            self.tables.entry(Arc::clone(tag)).or_default().whole.insert(id);
        }
        for RowKey { tag, key } in &dependencies.rows {
            let table = self.tables.entry(Arc::clone(&tag.0)).or_default();
            table.rows.entry(key.clone()).or_default().insert(id);
        }
        let (newest, receiver) = watch::channel(Newest::default());
        let member = Member {
            operation,
            key: Arc::clone(&key),
            subscriptions: 1,
            newest,
            dependencies,
            sources,
            dirty: Some(ReadReason { at: now, cause: Cause::First }),
            is_queued: true,
            is_read: false,
            read_at: None,
            reads: 0,
            results: 0,
            awaited: Some((1, 1)),
            due: None,
            places: Vec::new(),
            later: None,
            stream: stream.map(StreamState::at_position),
        };
        if member.stream.is_none() {
            self.by_key.insert(key, id);
        }
        self.members[id.at as usize].1 = Some(Box::new(member));
        self.queue.push_back(id);
        JoinedMember { id, newest: receiver, first_read: 1 }
    }

    /// Adds a subscription to a member that is there.
    fn join_member(
        &mut self,
        id: MemberId,
        traits: impl Fn(u16) -> SourceTraits,
        now: Instant,
    ) -> Option<JoinedMember> {
        let member = self.member(id)?;
        member.subscriptions += 1;
        let newest = member.newest.subscribe();
        if member.sources.iter().all(|it| traits(*it).has_lifetimes) {
            return Some(JoinedMember { id, newest, first_read: 1 });
        }
        let first_read = member.reads + 1;
        member.awaited = Some((member.awaited.map_or(first_read, |it| it.0), first_read));
        self.mark_dirty(id, ReadReason { at: now, cause: Cause::First });
        Some(JoinedMember { id, newest, first_read })
    }

    /// Takes a subscription away, and its member with the last one.
    pub(super) fn leave(&mut self, id: MemberId) {
        self.subscriptions = self.subscriptions.saturating_sub(1);
        let Some(member) = self.member(id) else { return };
        member.subscriptions -= 1;
        if member.subscriptions > 0 {
            return;
        }
        let place = &mut self.members[id.at as usize];
        place.0 = place.0.wrapping_add(1);
        let Some(member) = place.1.take() else { return };
        self.free.push(id.at);
        self.by_key.remove(&member.key);
        for &source in &member.sources {
            self.sources[usize::from(source)].members -= 1;
        }
        if let Some(ReadReason { at, .. }) = member.due {
            self.timers.remove(&(at, id));
        }
        self.untag(id, &member.places);
        let Dependencies { tables, rows, .. } = &member.dependencies;
        for tag in tables {
            self.forget(tag, |table| {
                table.whole.remove(&id);
            });
        }
        for RowKey { tag, key } in rows {
            self.forget(&tag.0, |table| {
                if let Some(members) = table.rows.get_mut(key) {
                    members.remove(&id);
                    if members.is_empty() {
                        table.rows.remove(key);
                    }
                }
            });
        }
    }

    fn forget(&mut self, tag: &Arc<str>, from: impl FnOnce(&mut TableIndex)) {
        if let Some(table) = self.tables.get_mut(tag) {
            from(table);
            if table.is_empty() {
                self.tables.remove(tag);
            }
        }
    }

    /// Marks the members that `change` concerns; `source`: only those that ask it. True if there are any.
    pub(super) fn mark(&mut self, change: &Change<'_>, source: Option<u16>, now: Instant) -> bool {
        let mut concerned: Vec<MemberId> = self.with_tag(change.tag).collect();
        if let Some(table) = self.tables.get(change.tag) {
            let whole = table.whole.iter();
            match change.key {
                Some(key) => concerned.extend(whole.chain(table.rows.get(key).into_iter().flatten())),
                None => concerned.extend(whole.chain(table.rows.values().flatten())),
            }
        }
        let mut cause = None;
        for id in concerned {
            let asks = |it: &Member| source.is_none_or(|source| it.sources.contains(&source));
            if self.member(id).is_some_and(|it| asks(it)) {
                let cause = cause.get_or_insert_with(|| Cause::from(Changed::from(change)));
                self.mark_dirty(id, ReadReason { at: now, cause: cause.clone() });
            }
        }
        cause.is_some()
    }

    /// Has the members that `change` concerns read at `at`, or before.
    pub(super) fn mark_later(&mut self, change: &Change<'_>, at: Instant) {
        let Some(table) = self.tables.get(change.tag) else { return };
        let concerned: Vec<MemberId> =
            table.whole.iter().chain(table.rows.values().flatten()).copied().collect();
        let cause = Cause::from(Changed::from(change));
        for id in concerned {
            let due = ReadReason { at, cause: cause.clone() };
            let Some(member) = self.member(id) else { continue };
            let before = member.later.replace(at);
            let is_sooner = member.due.as_ref().is_none_or(|it| it.at > at);
            if is_sooner && before.is_none() {
                if let Some(ReadReason { at: old, .. }) = member.due.replace(due) {
                    self.timers.remove(&(old, id));
                }
                self.timers.insert((at, id));
            }
        }
    }

    /// Marks all members, or those that ask `source`.
    pub(super) fn mark_all(&mut self, source: Option<u16>, changed: Changed, now: Instant) {
        let cause = Cause::from(changed);
        for at in 0..self.members.len() as u32 {
            let (age, member) = &self.members[at as usize];
            let asks = |it: &Member| source.is_none_or(|source| it.sources.contains(&source));
            if member.as_deref().is_some_and(asks) {
                self.mark_dirty(MemberId { at, age: *age }, ReadReason { at: now, cause: cause.clone() });
            }
        }
    }

    /// Records the changes that the feed of `source` reports from now on: earlier changes may be missing.
    pub(super) fn set_coverage(&mut self, source: u16, coverage: Coverage, changed: Changed, now: Instant) {
        let before = std::mem::replace(&mut self.sources[usize::from(source)].coverage, coverage.clone());
        if (before, coverage) != (Coverage::Nothing, Coverage::Nothing) {
            self.mark_all(Some(source), changed, now);
        }
    }

    /// The feed of `source` is not watched any more.
    pub(super) fn end_feed(&mut self, source: u16) {
        self.sources[usize::from(source)].coverage = Coverage::Nothing;
    }

    pub(super) fn mark_dirty(&mut self, id: MemberId, why: ReadReason) {
        let Some(member) = self.member(id) else { return };
        if member.dirty.as_ref().is_none_or(|it| it.cause.exactness() < why.cause.exactness()) {
            member.dirty = Some(why);
        }
        if !member.is_read && !std::mem::replace(&mut member.is_queued, true) {
            self.queue.push_back(id);
        }
    }

    /// The sources with a feed that some member asks.
    pub(super) fn fed_sources(&self) -> impl Iterator<Item = u16> + '_ {
        let sources = self.sources.iter().enumerate();
        sources.filter(|it| it.1.has_feed && it.1.members > 0).map(|it| it.0 as u16)
    }

    /// Queues the members whose time has come, and says when the next one's does.
    pub(super) fn tick(&mut self, now: Instant) -> Option<Instant> {
        while let Some(&(at, id)) = self.timers.first() {
            if at > now {
                return Some(at);
            }
            self.timers.pop_first();
            let Some(member) = self.member(id) else { continue };
            match member.due.take() {
                Some(due) => self.mark_dirty(id, due),
                // It was queued before it might be read again.
                None => {
                    member.is_queued = true;
                    self.queue.push_back(id);
                }
            }
        }
        None
    }

    /// The next read, if one may begin: no member is read twice within `floor`.
    pub(super) fn next_read(&mut self, floor: Duration, now: Instant) -> Option<DueRead> {
        while let Some(id) = self.queue.pop_front() {
            let Some(member) = self.member(id) else { continue };
            let is_untaken = member.stream.as_ref().is_some_and(|it| it.is_untaken);
            if is_untaken || member.dirty.is_none() {
                member.is_queued = false;
                continue;
            }
            if let Some(at) = member.read_at.map(|it| it + floor).filter(|it| *it > now) {
                let due = member.due.take();
                if let Some(ReadReason { at: before, .. }) = due {
                    self.timers.remove(&(before, id));
                }
                self.timers.insert((at, id));
                continue;
            }
            let Some(ReadReason { at: since, cause }) = member.dirty.take() else { continue };
            (member.is_queued, member.is_read, member.read_at) = (false, true, Some(now));
            member.reads += 1;
            let operation = member.operation.clone();
            let read = |it: &StreamState| Arc::new(StreamRead::after(it.position.clone(), it.hold.clone()));
            let stream = member.stream.as_ref().map(read);
            if let Some(ReadReason { at, .. }) = member.due.take() {
                self.timers.remove(&(at, id));
            }
            return Some(DueRead { id, operation, stream, since, cause });
        }
        None
    }

    /// The subscriber of a stream wants the next batch. True if the stream is to be read.
    pub(super) fn request_next_batch(&mut self, id: MemberId, now: Instant) -> bool {
        let Some(member) = self.member(id) else { return false };
        let Some(stream) = &mut member.stream else { return false };
        stream.is_untaken = false;
        if std::mem::take(&mut stream.is_full) {
            member.dirty.get_or_insert(ReadReason { at: now, cause: Cause::Batch });
            member.read_at = None;
        }
        let Some(why) = member.dirty.clone() else { return false };
        self.mark_dirty(id, why);
        true
    }

    /// Records the end of a read; `end` is set for streams, `lifetimes` are those of the parts.
    pub(super) fn finish_read(
        &mut self,
        id: MemberId,
        mut result: LiveResult,
        end: Option<StreamOutcome>,
        lifetimes: &[PartLifetime],
        settings: &LiveSettings,
        now: Instant,
    ) {
        self.reads += 1;
        let sources = &self.sources;
        let Some((age, Some(member))) = self.members.get_mut(id.at as usize) else { return };
        if *age != id.age {
            return;
        }
        let is_told =
            |it: u16| member.dependencies.is_covered_by_feed(it, &sources[usize::from(it)].coverage);
        let poll = settings.poll;
        let soon = result.has_errors.then_some(NextRead { after: poll, cause: Cause::Poll });
        let again = next_read(lifetimes, is_told, poll).into_iter().chain(soon).min_by_key(|it| it.after);
        let again = again.map(|it| due_at(it, poll, now));
        member.is_read = false;
        let before = member.newest.borrow().result.clone();
        let differs = match &mut member.stream {
            Some(stream) => stream.accept_batch(&result, end, before.as_deref()),
            None => before.is_none_or(|it| it.body != result.body || it.is_last != result.is_last),
        };
        let read = member.reads;
        member.results += u64::from(differs);
        let is_awaited = member.awaited.is_some_and(|it| it.0 <= read);
        if is_awaited {
            member.awaited = member.awaited.map(|it| (it.1, it.1)).filter(|it| it.0 > read);
        }
        result.name_cause(member.dirty.as_ref(), now);
        member.newest.send_if_modified(|newest| {
            newest.read = read;
            if differs {
                newest.result = Some(Arc::new(result));
            }
            differs || is_awaited
        });
        member.later = member.later.filter(|at| member.read_at.is_some_and(|it| it < *at));
        let held = member.stream.as_ref().and_then(|it| it.reread_at(settings, now));
        let due = held.or(member.later).map(|at| ReadReason { at, cause: Changed::Unknown.into() }).or(again);
        if member.dirty.is_some() {
            member.is_queued = true;
            self.queue.push_back(id);
        } else if let Some(due) = due {
            let at = due.at;
            member.due = Some(due);
            self.timers.insert((at, id));
        }
        self.results += u64::from(differs);
    }
}
