//! One session of a stream of changes: from the connections to whatever ends it.
//!
//! The publication is made before the slot, as a slot only knows what was there when it began. The slot is temporary: it goes with the
//! connection, so no log is kept for a process that is gone. A lock that is held as long as the connection marks the publication as in use.
//!
//! **Invariant:** a commit is told when reads see it, and what may have been missed is told as unknown: commits at the beginning whose
//! transactions had written their record before the slot and were not seen yet.
//!
//! **Cost:** idle, a message every 10 s and no statement; a statement per commit of told tables, or for all that come at once; while the
//! database is written to, a small one every 2 s and one over all tables every 30 s; while a transaction from before the slot runs, a small
//! one every 2 s.

use super::obstacle::{CAPABILITIES, obstacle};
use super::stream_connection::{StreamConnection, Streamed};
use super::streamed_commits::{Collector, Commit, Taken};
use super::streamed_tables::{HEIRS, RELATIONS, Tables};
use super::visibility::{HeldCommits, Snapshot, Suspects};
use super::{SessionTask, SharedStream, StreamState, TableName, Turn};
use crate::connect::dial::Kind;
use crate::error::Error;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{MissedTickBehavior, interval};
use weir_relational::quoting::literal;

/// Time between two confirmations, which the server answers.
const CONFIRM: Duration = Duration::from_secs(10);
/// A server that said nothing for so long is gone.
const SILENCE_MAX: Duration = Duration::from_secs(30);
/// Time between two looks at the publication while the database is written to: a table that is dropped leaves it, an heir is not in it.
const GLANCE: Duration = Duration::from_secs(2);
/// Time between two checks of all tables and the slot.
const LOOK: Duration = Duration::from_secs(30);
/// Bytes of log after which the slot is looked at sooner.
const LOOK_BYTES: u64 = 16 << 20;
/// First pause between two looks for transactions that ran when the slot began; the next ones double.
const SUSPECTS_PAUSE: Duration = Duration::from_millis(100);
/// Longest such pause.
const SUSPECTS_PAUSE_MAX: Duration = Duration::from_secs(2);
/// Lock timeout of the publication: longer than the second (`deadlock_timeout`) after which an automatic `VACUUM` gives way.
const PUBLICATION_LOCKS: &str = "SET LOCAL lock_timeout = '4s'";

/// Query for the transactions that a read sees.
const SNAPSHOT: &str = "SELECT pg_catalog.pg_current_snapshot()::text";
/// Query for the number of a transaction that begins now and ends at once.
const NEWEST: &str = "SELECT pg_catalog.pg_current_xact_id()::text";

/// The beginning of the names of publications and slots.
const PREFIX: &str = "weir_live_";

/// Publications whose process is gone: the lock of the number in the name is free.
const ABANDONED: &str = "SELECT p.pubname::text FROM pg_catalog.pg_publication p \
    WHERE p.pubname ~ '^weir_live_[0-9a-f]{16}$' AND pg_has_role(p.pubowner, 'USAGE') AND NOT EXISTS ( \
      SELECT FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_database d ON d.oid = l.database \
      WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND d.datname = current_database() \
        AND (l.classid::bigint << 32 | l.objid::bigint) = ('x' || right(p.pubname, 16))::bit(64)::bigint)";

/// Why a session ended.
pub(super) enum SessionEnd {
    /// Nobody listens.
    Unwanted,
    /// The set of tables or the settings changed.
    Retold,
    /// An operator has to do something first.
    Obstacle(String),
    /// The session broke or was given up; it can be started again.
    Broken(String),
}

impl From<Error> for SessionEnd {
    fn from(error: Error) -> Self {
        match &error {
            Error::Database { error, .. } if !error.hint.is_empty() => {
                Self::Broken(format!("{error}: {}", error.hint))
            }
            _ => Self::Broken(error.to_string()),
        }
    }
}

impl SessionEnd {
    /// The end because `statement` failed or timed out.
    fn of(statement: &str, error: Error) -> Self {
        match Self::from(error) {
            Self::Broken(cause) => Self::Broken(format!("`{statement}`: {cause}")),
            other => other,
        }
    }
}

pub(super) async fn run(shared: &SharedStream) -> SessionEnd {
    let task = shared.task();
    if task.wanted.is_empty() {
        return shared.turn(&task).await.into();
    }
    let mut side = match StreamConnection::open(&task.settings, Kind::Session).await {
        Ok(side) => side,
        Err(error) => return error.into(),
    };
    let number = random();
    let name = format!("{PREFIX}{number:016x}");
    let begun = tokio::select! {
        begun = begin(&task, &mut side, &name, number) => begun,
        turn = shared.turn(&task) => Err(turn.into()),
    };
    let end = match begun {
        Ok((stream, tables)) => {
            StreamSession::new(shared, &task, stream, &mut side, &name, tables).serve().await
        }
        Err(end) => end,
    };
    // A publication that cannot be dropped now is abandoned, and dropped by the next session.
    let drop = format!("DROP PUBLICATION IF EXISTS \"{name}\"");
    let _ = tokio::time::timeout(CONFIRM, side.rows(&drop)).await;
    end
}

impl From<Turn> for SessionEnd {
    fn from(turn: Turn) -> Self {
        match turn {
            Turn::Unwanted => Self::Unwanted,
            Turn::Retold => Self::Retold,
        }
    }
}

/// A number that no other process has.
fn random() -> u64 {
    use std::hash::BuildHasher;
    std::hash::RandomState::new().hash_one(std::process::id())
}

/// Makes the publication and the slot `name`, and begins to stream.
async fn begin(
    task: &SessionTask,
    side: &mut StreamConnection,
    name: &str,
    number: u64,
) -> Result<(StreamConnection, Tables), SessionEnd> {
    let capabilities = side.rows(CAPABILITIES).await?;
    if let Some(obstacle) = obstacle(&task.settings, side.facts, &capabilities) {
        return Err(SessionEnd::Obstacle(obstacle));
    }
    let tables = read_tables(side, &task.wanted).await?;
    if tables.told.is_empty() {
        return Err(SessionEnd::Obstacle(
            tables.left_out_words().unwrap_or_else(|| "it has no tables".into()),
        ));
    }
    let mut stream = StreamConnection::open(&task.settings, Kind::Replication).await?;
    let lock = number.cast_signed();
    stream.rows(&format!("SELECT pg_catalog.pg_advisory_lock({lock})::text")).await?;
    for row in side.rows(ABANDONED).await? {
        if let Some(abandoned) = row.first().and_then(Option::as_deref) {
            side.rows(&format!("DROP PUBLICATION IF EXISTS \"{abandoned}\"")).await?;
        }
    }
    let publication =
        format!("{PUBLICATION_LOCKS}; CREATE PUBLICATION \"{name}\" FOR TABLE {}", tables.list());
    side.rows(&publication).await.map_err(|it| SessionEnd::of("CREATE PUBLICATION", it))?;
    // The server waits here for all running transactions that have written, but not longer than the lock timeout.
    let slot = format!("CREATE_REPLICATION_SLOT \"{name}\" TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT");
    stream.rows(&slot).await.map_err(|it| SessionEnd::of("CREATE_REPLICATION_SLOT", it))?;
    stream.start(name).await?;
    Ok((stream, tables))
}

async fn read_tables(side: &mut StreamConnection, wanted: &BTreeSet<TableName>) -> Result<Tables, Error> {
    let relations = side.rows(RELATIONS).await?;
    Ok(Tables::read(&relations, &side.rows(HEIRS).await?, wanted))
}

/// A stream that runs.
struct StreamSession<'s> {
    shared: &'s SharedStream,
    task: &'s SessionTask,
    stream: StreamConnection,
    side: &'s mut StreamConnection,
    name: &'s str,
    tables: Arc<Tables>,
    /// Query for whether the publication is as it was made, and for the state of the definitions.
    glance: String,
    /// The state of the definitions when it was asked last.
    definitions: Option<String>,
    collector: Collector,
    held: HeldCommits,
    /// Up to here everything was taken in.
    position: u64,
    /// The position when the publication was looked at last.
    glanced_at: u64,
    /// The position when all tables and the slot were checked last.
    looked_at: u64,
    /// When the server said something last.
    heard: Instant,
    suspects: Suspects,
    /// Pause until the next look for them.
    suspects_pause: Duration,
}

impl<'s> StreamSession<'s> {
    fn new(
        shared: &'s SharedStream,
        task: &'s SessionTask,
        stream: StreamConnection,
        side: &'s mut StreamConnection,
        name: &'s str,
        tables: Tables,
    ) -> Self {
        let tables = Arc::new(tables);
        let collector = Collector::new(Arc::clone(&tables));
        let glance = tables.glance(name);
        Self {
            shared,
            task,
            stream,
            side,
            name,
            tables,
            glance,
            definitions: None,
            collector,
            held: HeldCommits::default(),
            position: 0,
            glanced_at: 0,
            looked_at: 0,
            heard: Instant::now(),
            suspects: Suspects::default(),
            suspects_pause: SUSPECTS_PAUSE,
        }
    }

    /// Tells changes until something ends that.
    async fn serve(mut self) -> SessionEnd {
        let ended = match self.get_ready().await {
            Ok(()) => {
                let told = self.tables.told.iter().map(|it| it.name.clone()).collect();
                self.shared.set_state(StreamState::Told(Arc::new(told)));
                self.shared.note_left_out(self.tables.left_out_words());
                self.pass_on().await
            }
            Err(end) => Err(end),
        };
        self.shared.set_state(StreamState::Down);
        match ended {
            Ok(turn) => turn.into(),
            Err(end) => end,
        }
    }

    /// Notes how things are before every subscription is read.
    async fn get_ready(&mut self) -> Result<(), SessionEnd> {
        self.definitions = self.ask_glance().await?.1;
        self.watch_suspects().await
    }

    async fn pass_on(&mut self) -> Result<Turn, SessionEnd> {
        let look_bytes = LOOK_BYTES.min(self.task.settings.decoding.log_bytes_max / 4);
        let mut turn = std::pin::pin!(self.shared.turn(self.task));
        let mut confirm = interval(CONFIRM);
        let mut glance = interval(GLANCE);
        let mut look = interval(LOOK);
        let mut again = Instant::now() + self.suspects_pause;
        for it in [&mut confirm, &mut glance, &mut look] {
            it.set_missed_tick_behavior(MissedTickBehavior::Delay);
        }
        loop {
            let pause = self.held.pause();
            tokio::select! {
                turn = &mut turn => return Ok(turn),
                streamed = self.stream.next() => {
                    self.take(streamed?).await?;
                    // All that came together is one look at the snapshot.
                    while let Some(streamed) = self.stream.take()? {
                        self.take(streamed).await?;
                    }
                    self.release().await?;
                }
                () = tokio::time::sleep(pause), if !self.held.is_empty() => self.release().await?,
                () = tokio::time::sleep_until(again.into()), if !self.suspects.is_empty() => {
                    self.clear_suspects().await?;
                    again = Instant::now() + self.suspects_pause;
                }
                _ = confirm.tick() => self.confirm().await?,
                _ = glance.tick() => self.glance().await?,
                _ = look.tick() => self.look().await?,
            }
            if self.position - self.looked_at > look_bytes {
                self.confirm().await?;
                self.look().await?;
            }
        }
    }

    async fn take(&mut self, streamed: Streamed) -> Result<(), SessionEnd> {
        self.heard = Instant::now();
        let malformed = || SessionEnd::Broken("the server sent a change that cannot be read".into());
        match streamed {
            Streamed::Change { message, is_cut: true, .. } => self.collector.take_cut(&message),
            Streamed::Change { message, is_cut: false, position } => {
                self.position = self.position.max(position);
                if let Taken::Commit(commit, end) = self.collector.take(&message).map_err(|_| malformed())? {
                    self.position = self.position.max(end);
                    commit.into_iter().for_each(|it| self.held.push(it));
                }
            }
            Streamed::KeepAlive { position, wants_answer } => {
                self.position = self.position.max(position);
                if wants_answer {
                    self.stream.confirm(self.position, false).await?;
                }
            }
        }
        Ok(())
    }

    /// Confirms the position up to which all was received, and checks that the server is alive.
    async fn confirm(&mut self) -> Result<(), SessionEnd> {
        if self.heard.elapsed() > SILENCE_MAX {
            return Err(SessionEnd::Broken("the server says nothing".into()));
        }
        self.stream.confirm(self.position, true).await?;
        Ok(())
    }

    async fn snapshot(&mut self) -> Result<Snapshot, SessionEnd> {
        let rows = self.side.rows(SNAPSHOT).await?;
        let text = rows.first().and_then(|it| it.first()?.as_deref());
        text.and_then(Snapshot::read).ok_or_else(|| SessionEnd::Broken("the server tells no snapshot".into()))
    }

    /// Tells the commits that reads see.
    async fn release(&mut self) -> Result<(), SessionEnd> {
        if !self.held.is_empty() {
            let snapshot = self.snapshot().await?;
            self.held.release(&snapshot).into_iter().for_each(|it| self.shared.send_commit(it));
        }
        Ok(())
    }

    /// Notes the transactions that ran when the slot began.
    async fn watch_suspects(&mut self) -> Result<(), SessionEnd> {
        let rows = self.side.rows(NEWEST).await?;
        let newest = rows.first().and_then(|it| it.first()?.as_ref()?.parse().ok());
        let newest =
            newest.ok_or_else(|| SessionEnd::Broken("the server tells no number of a transaction".into()))?;
        self.suspects = Suspects::new(&self.snapshot().await?, newest);
        Ok(())
    }

    /// Reports that anything may have changed if one of these transactions ended: reads see its changes from now on.
    async fn clear_suspects(&mut self) -> Result<(), SessionEnd> {
        self.suspects_pause = (self.suspects_pause * 2).min(SUSPECTS_PAUSE_MAX);
        let now = self.snapshot().await?;
        if self.suspects.take_ended(&now) {
            self.suspects_pause = SUSPECTS_PAUSE;
            self.shared.send_commit(Arc::new(Commit { changes: Vec::new(), is_unknown: true }));
        }
        Ok(())
    }

    /// Restarts if the publication no longer fits: a table that is created anew is not in it. Reports that anything may have changed
    /// if definitions changed, because no row change reports their new values.
    async fn glance(&mut self) -> Result<(), SessionEnd> {
        if self.position == std::mem::replace(&mut self.glanced_at, self.position) {
            return Ok(());
        }
        let (is_same, definitions) = self.ask_glance().await?;
        if !is_same {
            return Err(SessionEnd::Retold);
        }
        if self.definitions != definitions {
            self.definitions = definitions;
            self.shared.send_commit(Arc::new(Commit { changes: Vec::new(), is_unknown: true }));
        }
        Ok(())
    }

    /// True if the publication is as it was made, and the state of the definitions.
    async fn ask_glance(&mut self) -> Result<(bool, Option<String>), SessionEnd> {
        let mut rows = self.side.rows(&self.glance).await?;
        let mut cells = rows.pop().unwrap_or_default().into_iter();
        Ok((cells.next().flatten().as_deref() == Some("true"), cells.next().flatten()))
    }

    /// Gives up the slot if it holds back too much of the log, and restarts if the set of tables changed.
    async fn look(&mut self) -> Result<(), SessionEnd> {
        if self.position == self.looked_at {
            return Ok(());
        }
        self.looked_at = self.position;
        let held = format!(
            "SELECT pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), restart_lsn)::bigint::text \
             FROM pg_catalog.pg_replication_slots WHERE slot_name = {}",
            literal(self.name)
        );
        let held = self.side.rows(&held).await?;
        let held = held.first().and_then(|it| it.first()?.as_ref()?.parse::<u64>().ok()).unwrap_or(0);
        let held_max = self.task.settings.decoding.log_bytes_max;
        if held > held_max {
            return Err(SessionEnd::Broken(format!(
                "the slot is given up, as it holds back {held} bytes of the server's log, more than {held_max}"
            )));
        }
        if read_tables(self.side, &self.task.wanted).await? == *self.tables {
            Ok(())
        } else {
            Err(SessionEnd::Retold)
        }
    }
}
