//! Long lists, answered in parts while their rows arrive: those of a statement as they come, those with something below them, and
//! several lists, as [`Portals`] give them. The parts are bytes, or rows where the engine writes the answer ([`row_parts`]).
//!
//! **Invariant:** bytes leave only between whole items of a list of the root, where no mark is open that could still be
//! cut back to; the channel gets its end only when the answer is whole, else its failure.
//!
//! **Cost:** memory for one part of rows, one chunk of the answer and the few chunks that may wait; a slow client slows
//! the database's connection, until others need it: see [`super::outflow`].

mod row_parts;

use super::outflow::Outflow;
use super::portal::{ListParameters, Part, Portals};
use crate::exec::output::answer::{CHUNK_BYTES, TooLong, pieces};
use crate::exec::output::response_writer::ResponseWriter;
use crate::postgres::driver::PostgresFetch;
use crate::postgres::retry::is_repeated;
use crate::postgres::statements::prepared::Prepared;
use crate::postgres::statements::result_rows::{ResultRow, ResultRows};
use crate::postgres::statements::result_set::ResultSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::source::{
    Chunk, Chunks, FetchBody, FetchInput, FetchResult, Finished, PathError, SourceError, Step,
};
use weir_engine::write::out::Out;
use weir_postgres::bulkhead::Cause;
use weir_postgres::cursor::Cursor;
use weir_postgres::error::Error;
use weir_postgres::rows::Rows;
use weir_postgres::session::Session;
use weir_postgres::statement::Parameters;
use weir_relational::plan::{Member, MemberKind};

/// Timeout of the database from one part to the next.
const PROGRESS_MAX: Duration = Duration::from_secs(30);

/// State of a stream.
struct Job {
    fetch: Arc<PostgresFetch>,
    prepared: Arc<Prepared>,
    output: Arc<OutputPlan>,
    hold_back_bytes: usize,
    /// Number of items in the first part, if rows are streamed.
    first_items: Option<u32>,
    /// Source of rows; `None` when all are read.
    feed: Option<Feed>,
    /// Rows of statements that are read besides the lists.
    beside: Rows,
    way: PartsReceiver,
}

/// Source of rows.
enum Feed {
    /// The answer to the only statement.
    Rows(Session),
    /// Each list's own.
    Portals(Portals),
}

impl Feed {
    fn session(&self) -> &Session {
        match self {
            Self::Rows(session) => session,
            Self::Portals(portals) => portals.session(),
        }
    }
}

/// Destination of the parts: the first one is the reply.
struct PartsReceiver {
    answer: Option<oneshot::Sender<Result<FetchResult, SourceError>>>,
    chunks: Option<Outflow>,
}

impl PartsReceiver {
    /// Further parts, after the reply.
    async fn send(&mut self, parts: impl Iterator<Item = Vec<u8>>) -> Result<(), End> {
        let Some(chunks) = &mut self.chunks else { return Err(End::Gone) };
        for part in parts {
            chunks.push(Chunk::Bytes(part)).await.map_err(|_| End::Gone)?;
        }
        Ok(())
    }
}

/// Why a stream ends early.
enum End {
    /// Nobody waits for it any more.
    Gone,
    Failed(SourceError),
}

/// Bytes that are written and not sent.
#[derive(Default)]
struct UnsentBytes {
    bytes: Vec<u8>,
    errors: Vec<PathError>,
}

/// Answers with the first part of the only list; the rest follows.
pub(crate) async fn run_rows(
    fetch: &Arc<PostgresFetch>,
    prepared: &Arc<Prepared>,
    input: &FetchInput<'_>,
    parameters: Parameters,
) -> Result<FetchResult, SourceError> {
    let settings = fetch.read_settings(input);
    let reads = fetch.reads(input).with_settings(settings.as_deref());
    let statement = &prepared.read.statement;
    fetch.state.driver.count(prepared.read.reach);
    let begin = || reads.stream(statement, &parameters, input.deadline);
    let session = begin_with_retries(begin).await.map_err(|error| fetch.failure(error, &prepared.plan))?;
    run(fetch, prepared, input, Feed::Rows(session), Rows::default()).await
}

/// Answers with the first part of the first list; the rest and the other lists follow. `values` belong to each list, `parameters`
/// to the statement besides the lists.
pub(crate) async fn run_lists(
    fetch: &Arc<PostgresFetch>,
    prepared: &Arc<Prepared>,
    input: &FetchInput<'_>,
    parameters: Parameters,
    values: Vec<ListParameters>,
) -> Result<FetchResult, SourceError> {
    let pool = &fetch.state.driver.pool;
    let lists = prepared.in_parts.lists();
    let settings = fetch.read_settings(input);
    let reads = fetch.reads(input).with_settings(settings.as_deref());
    prepared.reading_statements().for_each(|it| fetch.state.driver.count(it.reach));
    let beside = (!prepared.read.arms.is_empty()).then(|| (Arc::clone(&prepared.read.statement), parameters));
    let failed = |error| fetch.failure(error, &prepared.plan);
    let mut gate = pool.gate(Cause::Read, &prepared.locks, input.deadline);
    let (portals, beside) = loop {
        let patience = gate.enter().await.map_err(failed)?;
        let open = || Portals::open(reads, patience, lists, &values, beside.as_ref(), input.deadline);
        let opened = begin_with_retries(open).await;
        if !gate.should_retry(opened.as_ref().err()) {
            break opened.map_err(failed)?;
        }
    };
    drop(gate);
    run(fetch, prepared, input, Feed::Portals(portals), beside).await
}

/// Result of `begin`, after a few attempts.
async fn begin_with_retries<T, F: Future<Output = Result<T, Error>>>(
    begin: impl Fn() -> F,
) -> Result<T, Error> {
    let mut tries = 0;
    loop {
        tries += 1;
        match begin().await {
            Err(error) if is_repeated(&error, tries) => {}
            begun => return begun,
        }
    }
}

async fn run(
    fetch: &Arc<PostgresFetch>,
    prepared: &Arc<Prepared>,
    input: &FetchInput<'_>,
    feed: Feed,
    beside: Rows,
) -> Result<FetchResult, SourceError> {
    let (sender, receiver) = oneshot::channel();
    let job = Job {
        fetch: Arc::clone(fetch),
        prepared: Arc::clone(prepared),
        output: Arc::clone(input.output),
        hold_back_bytes: input.hold_back_bytes,
        first_items: input.first_items,
        feed: Some(feed),
        beside,
        way: PartsReceiver { answer: Some(sender), chunks: None },
    };
    let guard = Guard(Some(tokio::spawn(job.run(input.deadline))));
    let reply = receiver.await;
    guard.disarm();
    reply.unwrap_or_else(|_| Err(SourceError::Broken("a stream ended without an answer".into())))
}

/// Aborts the stream if nobody waits for its first part.
struct Guard(Option<tokio::task::JoinHandle<()>>);

impl Guard {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

impl Job {
    async fn run(mut self, deadline: Instant) {
        let done = if self.fetch.rows { self.rows(deadline).await } else { self.members(deadline).await };
        let Err(End::Failed(error)) = done else { return };
        // The session is not needed any more.
        self.feed = None;
        match (self.way.answer.take(), self.way.chunks.take()) {
            // Nobody waiting is no failure: the request was cancelled.
            (Some(answer), _) => {
                let _ = answer.send(Err(error));
            }
            (None, Some(chunks)) => {
                let _ = chunks.finish([Chunk::Failed(error)].into_iter()).await;
            }
            (None, None) => {}
        }
    }

    async fn members(&mut self, deadline: Instant) -> Result<(), End> {
        let prepared = Arc::clone(&self.prepared);
        let mut written = UnsentBytes::default();
        let mut failed = false;
        let mut list = 0;
        for member in &prepared.plan.members[prepared.plan.root.range()] {
            match member.kind {
                MemberKind::Many(level) => {
                    if !self.list(member, (level, list), deadline, &mut written).await? {
                        // Nothing has left, and nothing of the answer will.
                        return self.end(written, true).await;
                    }
                    list += 1;
                }
                _ => {
                    let set = ResultSet::new(&prepared.read, &self.beside);
                    let mut writer = self.writer(&prepared, &set, &mut written);
                    let done = writer.root_member(member);
                    (written.bytes, written.errors) = writer.into_parts();
                    failed |= !done.map_err(|it: TooLong| End::Failed(it.into_error()))?;
                }
            }
        }
        self.end(written, failed).await
    }

    /// Writes a list of the root and sends parts of it. `false`: it failed before anything was sent.
    async fn list(
        &mut self,
        member: &Member,
        (level, list): (u32, usize),
        deadline: Instant,
        written: &mut UnsentBytes,
    ) -> Result<bool, End> {
        let prepared = Arc::clone(&self.prepared);
        let output = Arc::clone(&self.output);
        let of = &output.fields[member.field as usize];
        let mark = written.bytes.len();
        let mut out = Out::new(std::mem::take(&mut written.bytes));
        out.member_open(&of.key, b'[');
        written.bytes = out.into_bytes();
        let mut index = 0;
        let before = written.errors.len();
        while let Some(part) = self.part(deadline).await? {
            let done = {
                let set = part.result_set(&prepared, list);
                self.items(&prepared, (level, member), &set, &mut index, written)
            };
            if !done.map_err(|it: TooLong| End::Failed(it.into_error()))? {
                let late = SourceError::Broken("a null came too late to be bubbled".into());
                if self.way.chunks.is_some() {
                    return Err(End::Failed(late));
                }
                written.bytes.truncate(mark);
                written.close(before, member);
                return Ok(false);
            }
            self.flush(member, before, written).await?;
        }
        let mut out = Out::new(std::mem::take(&mut written.bytes));
        out.close(b']');
        out.comma();
        written.bytes = out.into_bytes();
        written.close(if self.way.chunks.is_some() { 0 } else { before }, member);
        Ok(true)
    }

    /// Writes the items of one part.
    fn items<'r>(
        &'r self,
        prepared: &'r Prepared,
        (level, member): (u32, &'r Member),
        set: &'r ResultSet<'r>,
        index: &mut u32,
        written: &mut UnsentBytes,
    ) -> Result<bool, TooLong> {
        let mut writer = self.writer(prepared, set, written);
        let of = &prepared.plan.levels[level as usize];
        let mut done = Ok(true);
        for (number, row) in set.all(0).enumerate() {
            let cursor = Cursor::with_number(row, number);
            done = writer.item(of, member, ResultRow::new(&cursor, set, 0), *index);
            *index += 1;
            if !matches!(done, Ok(true)) {
                break;
            }
        }
        (written.bytes, written.errors) = writer.into_parts();
        done
    }

    fn writer<'r>(
        &'r self,
        prepared: &'r Prepared,
        set: &'r ResultSet<'r>,
        written: &mut UnsentBytes,
    ) -> ResponseWriter<'r, ResultRows<'r>> {
        let bytes = std::mem::take(&mut written.bytes);
        let errors = std::mem::take(&mut written.errors);
        let source = ResultRows::of_query(prepared, Some(set));
        let names = self.fetch.names(&self.output);
        ResponseWriter::resume(source, &prepared.plan, names, bytes, errors)
    }

    /// The next rows: the first in time, the others with progress.
    async fn part(&mut self, deadline: Instant) -> Result<Option<Part>, End> {
        let part_deadline = match self.way.chunks {
            Some(_) => Instant::now() + PROGRESS_MAX,
            None => deadline,
        };
        let part = match &mut self.feed {
            None => return Ok(None),
            Some(Feed::Rows(session)) => {
                let part = tokio::time::timeout_at(part_deadline.into(), session.part()).await;
                part.unwrap_or(Err(Error::Timeout)).map(|it| it.map(|rows| Part { rows, below: None }))
            }
            Some(Feed::Portals(portals)) => portals.next(self.prepared.in_parts.lists(), part_deadline).await,
        };
        part.map_err(|it| End::Failed(self.fetch.failure(it, &self.prepared.plan)))
    }

    /// Lets whole items go, all but the last comma, which the closing bracket may take.
    async fn flush(&mut self, member: &Member, before: usize, written: &mut UnsentBytes) -> Result<(), End> {
        let bytes_max = if self.way.chunks.is_some() { CHUNK_BYTES } else { self.hold_back_bytes };
        // A list without items yet ends with its bracket, which is no comma to hold back.
        if written.bytes.len() <= bytes_max || written.bytes.last() != Some(&b',') {
            return Ok(());
        }
        let mut bytes = std::mem::replace(&mut written.bytes, Vec::with_capacity(2 * CHUNK_BYTES));
        bytes.pop();
        written.bytes.push(b',');
        if self.way.chunks.is_some() {
            return self.way.send(pieces(bytes)).await;
        }
        written.close(before, member);
        self.begin(std::mem::take(&mut written.errors), |rest| {
            FetchBody::Finished(Finished { bytes, ends: Vec::new(), failed: false, rest: Some(rest) })
        })
    }

    /// Answers with the first part.
    fn begin(&mut self, errors: Vec<PathError>, body: impl FnOnce(Chunks) -> FetchBody) -> Result<(), End> {
        let Some(feed) = &self.feed else { return Err(End::Gone) };
        let (chunks, rest) = Outflow::of(feed.session().owner());
        self.way.chunks = Some(chunks);
        let reply = FetchResult { body: body(rest), errors, cache_control: None };
        let answer = self.way.answer.take();
        if answer.is_some_and(|it| it.send(Ok(reply)).is_ok()) { Ok(()) } else { Err(End::Gone) }
    }

    async fn end(&mut self, written: UnsentBytes, failed: bool) -> Result<(), End> {
        let UnsentBytes { bytes, errors } = written;
        // All rows are read: sending the rest needs no session.
        self.feed = None;
        match (self.way.chunks.take(), self.way.answer.take()) {
            (Some(chunks), _) => {
                let rest = pieces(bytes).map(Chunk::Bytes).chain([Chunk::End(errors)]);
                chunks.finish(rest).await.map_err(|_| End::Gone)
            }
            (None, Some(answer)) => {
                let finished = Finished { bytes, ends: Vec::new(), failed, rest: None };
                let reply = FetchResult { body: FetchBody::Finished(finished), errors, cache_control: None };
                answer.send(Ok(reply)).map_err(|_| End::Gone)
            }
            (None, None) => Err(End::Gone),
        }
    }
}

impl Part {
    /// Rows of the part, which belong to the list number `list`.
    fn result_set<'r>(&'r self, prepared: &'r Prepared, list: usize) -> ResultSet<'r> {
        let Some(list) = prepared.in_parts.lists().get(list) else {
            return ResultSet::new(&prepared.read, &self.rows);
        };
        let below = list.below.as_ref().zip(self.below.as_ref());
        ResultSet::new(&list.own, &self.rows)
            .with_children(below.map(|(of, rows)| ResultSet::new(&of.asked, rows)))
    }
}

impl UnsentBytes {
    /// Puts the list's own step in front of the paths of its errors, which were written backwards.
    fn close(&mut self, before: usize, member: &Member) {
        for error in self.errors.get_mut(before..).unwrap_or_default() {
            error.path.push(Step::Field(member.field));
            error.path.reverse();
        }
    }
}
