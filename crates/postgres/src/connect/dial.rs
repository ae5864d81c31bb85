//! Gets a connection let in: the first host that fits, encrypted as asked, with the settings that our reading relies on.
//!
//! Each host is tried at each of its addresses. A server that refuses a way of encryption is tried the other way where the
//! mode has one; one that refuses our settings, as poolers do, is asked again with the few that all know.
//!
//! **Invariant:** a connection that leaves here fits `target_session_attrs` and has its [`Facts`].

use crate::address::{Host, Naming, Settings, Target, TlsMode};
use crate::admission::helper_lanes::HelperLanes;
use crate::connect::proof::{Proof, Refusal};
use crate::error::{DatabaseError, Error};
use crate::places::{Places, Use};
use crate::protocol::connection::{Connection, End, READ_BYTES};
use crate::protocol::facts::Facts;
use crate::protocol::rows::split;
use crate::protocol::stream::{Address, Encryption, Stream, resolve};
use bytes::{Buf, BytesMut};
use postgres_protocol::message::frontend;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsConnector;
use weir_relational::dialect::flavour::{Flavour, Release};

/// Pause before a cancel request is repeated for the first time.
const CANCEL_PAUSE: Duration = Duration::from_millis(50);
/// Timeout of a cancel request.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);

/// Timeout of an idle transaction, set on the server.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// A new slot waits at most so long for transactions that run.
const SLOT_TIMEOUT: Duration = Duration::from_secs(10);

/// Query for the facts of a new connection.
const FACTS: &str = "SELECT version(), current_setting('server_version_num'), current_setting('TimeZone'), \
    pg_backend_pid(), pg_is_in_recovery(), current_setting('transaction_read_only'), \
    (SELECT extversion FROM pg_catalog.pg_extension WHERE extname = 'citus'), to_regclass('pg_dist_partition') IS NOT NULL";

/// In the version of a server whose connections are one session: PostgreSQL in a process of JavaScript.
const SINGLE: &str = "PGlite";
/// Pause before such a server is asked again to let a connection in: it learns late that the last one is closed.
const SINGLE_PAUSE: Duration = Duration::from_millis(5);
/// Attempts at a server that closes connections, while its kind is unknown. The pause between two of them doubles up to
/// [`UNKNOWN_DOUBLINGS_MAX`] times, so that all of them take 0.8 s: long enough for a busy server to notice that an earlier connection
/// has ended, short enough for callers of a proxy without a server behind it.
const UNKNOWN_TRIES_MAX: u32 = 10;
const UNKNOWN_DOUBLINGS_MAX: u32 = 5;

/// Names of the time zone that is none.
const UTC: &[&str] = &["UTC", "Etc/UTC", "UCT", "Etc/UCT", "GMT", "Etc/GMT", "Zulu", "Etc/Zulu", "Universal"];

/// Purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A connection that short statements share.
    Lane,
    /// A connection that one caller uses at a time.
    Session,
    /// Mutations that share a commit: none may keep the others waiting.
    Group,
    /// A stream of changes.
    Replication,
}

/// Versions of the database that connections read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadVersion {
    Present,
    /// A past version, which followers have.
    Followers,
}

impl Kind {
    /// Query that counts the connections at the server.
    pub(crate) const fn usage(self) -> Use {
        match self {
            Self::Lane => Use::Lane,
            Self::Session => Use::Session,
            Self::Group | Self::Replication => Use::Beside,
        }
    }
}

/// Makes connections.
#[derive(Debug)]
pub(crate) struct Dialer {
    pub(crate) settings: Settings,
    tls: Result<Option<TlsConnectorHandle>, String>,
    reading: ReadVersion,
    /// The server was seen to refuse our settings.
    is_modest: AtomicBool,
    facts: Mutex<Option<Facts>>,
    /// A name of a statement was taken already: connections share a session, so that none may have names.
    has_clashed: Arc<AtomicBool>,
    /// Turns to be connected to a server that lets one connection in at a time.
    turns: Arc<Semaphore>,
    /// The lanes beyond the first of each thread.
    pub(crate) helpers: HelperLanes,
    /// Maximum number of connections.
    pub(crate) places: Arc<Places>,
}

/// A connector, which cannot show itself.
struct TlsConnectorHandle(TlsConnector);

impl std::fmt::Debug for TlsConnectorHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TlsConnector")
    }
}

/// Key of a cancel request for a connection.
#[derive(Clone, Debug)]
pub(crate) struct CancelKey {
    address: Address,
    encryption: Encryption,
    process: i32,
    secret: i32,
}

/// A connection before it is asked for its facts.
struct Admitted {
    stream: Stream,
    read: BytesMut,
    process: i32,
    secret: i32,
}

/// A connection, and how to stop what it is asked.
pub(crate) type Connected = (Connection, CancelKey);

impl Dialer {
    pub(crate) fn new(settings: Settings, reading: ReadVersion) -> Self {
        let tls = crate::connect::tls::connector(&settings).map(|it| it.map(TlsConnectorHandle));
        let is_modest = AtomicBool::new(false);
        let has_clashed = Arc::default();
        let facts = Mutex::new(None);
        let turns = Arc::new(Semaphore::new(1));
        let helpers = HelperLanes::default();
        let places = Arc::default();
        Self { settings, tls, reading, is_modest, facts, has_clashed, turns, helpers, places }
    }

    /// Facts of the newest connection.
    pub(crate) fn facts(&self) -> Option<Facts> {
        *self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the facts of a connection.
    pub(crate) fn note_facts(&self, facts: Facts) {
        *self.facts.lock().unwrap_or_else(PoisonError::into_inner) = Some(facts);
    }

    /// Connects to the first of `hosts` that is as `target` wants it; where one connection may be at a time, when the last one is closed.
    pub(crate) async fn connect(
        &self,
        kind: Kind,
        hosts: &[Host],
        target: Target,
    ) -> Result<(Connection, CancelKey), Error> {
        let last = Instant::now() + self.settings.connect_timeout;
        let mut tries = 0;
        let (mut connection, key, turn) = loop {
            let turn = if self.is_single() { Some(self.turn().await?) } else { None };
            let done = self.connect_now(kind, hosts, target).await;
            tries += 1;
            let error = match done {
                Ok((connection, key)) => break (connection, key, turn),
                Err(error) => error,
            };
            drop(turn);
            if !error.is_hang_up() || !self.may_be_single(tries) || Instant::now() >= last {
                return Err(error);
            }
            tokio::time::sleep(self.single_pause(tries)).await;
        };
        if connection.facts.is_single {
            let turn = match turn {
                Some(turn) => turn,
                // The first connection shows that the server takes only one at a time.
                None => self.turn().await?,
            };
            connection.hold(turn);
        }
        // The next connections take turns, so this one has to hold a turn too.
        self.note_facts(connection.facts);
        Ok((connection, key))
    }

    /// True if the server was seen to refuse our settings.
    pub(crate) fn is_modest(&self) -> bool {
        self.is_modest.load(Ordering::Relaxed)
    }

    /// True if the server lets one connection in at a time, as far as it is known.
    pub(crate) fn is_single(&self) -> bool {
        self.facts().is_some_and(|it| it.is_single)
    }

    /// True if the server lets one connection in at a time, or if after so many `tries` it may still turn out to: another attempt, which
    /// may be the one that it lets in, is about to tell, or an earlier connection is about to end.
    fn may_be_single(&self, tries: u32) -> bool {
        self.facts().map_or(tries < UNKNOWN_TRIES_MAX, |it| it.is_single)
    }

    /// Pause after so many `tries` at a server that hung up.
    fn single_pause(&self, tries: u32) -> Duration {
        if self.is_single() {
            return SINGLE_PAUSE;
        }
        SINGLE_PAUSE * 2_u32.pow(tries.saturating_sub(1).min(UNKNOWN_DOUBLINGS_MAX))
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, Error> {
        Arc::clone(&self.turns).acquire_owned().await.map_err(Error::unavailable)
    }

    async fn connect_now(
        &self,
        kind: Kind,
        hosts: &[Host],
        target: Target,
    ) -> Result<(Connection, CancelKey), Error> {
        let passes: &[Target] = match target {
            Target::PreferStandby => &[Target::Standby, Target::Any],
            _ => &[target],
        };
        let mut last = None;
        for target in passes {
            for host in hosts {
                match tokio::time::timeout(self.settings.connect_timeout, self.host(kind, host)).await {
                    Ok(Ok((connection, key))) if fits(connection.facts, *target) => {
                        return Ok((connection, key));
                    }
                    Ok(Ok(_)) => {
                        let facts = format!("{host:?} is not `{target:?}`, as target_session_attrs wants it");
                        last = Some(Error::unavailable(facts));
                    }
                    Ok(Err(error)) => last = Some(error),
                    Err(_) => last = Some(Error::unavailable(format!("{host:?} does not answer"))),
                }
            }
        }
        Err(last.unwrap_or_else(|| Error::unavailable("no host is named")))
    }

    /// The first address of `host` that lets us in.
    async fn host(&self, kind: Kind, host: &Host) -> Result<(Connection, CancelKey), Error> {
        let mut last = None;
        for address in resolve(host).await.map_err(Error::unavailable)? {
            match self.address(kind, &address).await {
                Ok(done) => return Ok(done),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| Error::unavailable(format!("{host:?} has no address"))))
    }

    async fn address(&self, kind: Kind, address: &Address) -> Result<(Connection, CancelKey), Error> {
        use Encryption::{Always, IfOffered, Never};
        let attempts: &[Encryption] = match self.settings.tls.mode {
            _ if !address.is_tcp() => &[Never],
            TlsMode::Disable => &[Never],
            TlsMode::Allow => &[Never, Always],
            TlsMode::Prefer => &[IfOffered, Never],
            TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull => &[Always],
        };
        let mut last = None;
        for encryption in attempts {
            match self.enter(kind, address, *encryption).await {
                Ok(admitted) => {
                    let key = CancelKey {
                        address: address.clone(),
                        encryption: *encryption,
                        process: admitted.process,
                        secret: admitted.secret,
                    };
                    return Ok((self.read_server_facts(admitted).await?, key));
                }
                Err(Refusal::Broken(error)) => last = Some(Error::unavailable(error)),
                // Another encryption may help; any other refusal would be repeated.
                Err(Refusal::Said(error)) if &error.sqlstate == b"28000" => {
                    last = Some(Error::Unavailable(error))
                }
                Err(Refusal::Said(error)) => return Err(Error::Unavailable(error)),
            }
        }
        Err(last.unwrap_or_else(|| Error::unavailable("no way to connect is allowed")))
    }

    fn connector(&self) -> Result<Option<&TlsConnector>, io::Error> {
        match &self.tls {
            Ok(tls) => Ok(tls.as_ref().map(|it| &it.0)),
            Err(words) => Err(io::Error::other(words.clone())),
        }
    }

    /// Connects and is let in, with fewer settings if ours are refused.
    async fn enter(
        &self,
        kind: Kind,
        address: &Address,
        encryption: Encryption,
    ) -> Result<Admitted, Refusal> {
        let tls = self.connector()?;
        let is_modest = self.is_modest.load(Ordering::Relaxed);
        let stream = address.connect(encryption, tls).await?;
        match self.start(stream, kind, is_modest).await {
            Err(Refusal::Said(error)) if !is_modest && is_about_settings(&error) => {
                let stream = address.connect(encryption, tls).await?;
                let admitted = self.start(stream, kind, true).await?;
                self.is_modest.store(true, Ordering::Relaxed);
                Ok(admitted)
            }
            other => other,
        }
    }

    /// Authenticates. Source: the manual of PostgreSQL, "Message Flow", "Start-up".
    async fn start(&self, mut stream: Stream, kind: Kind, is_modest: bool) -> Result<Admitted, Refusal> {
        let mut out = BytesMut::new();
        let parameters = self.parameters(kind, is_modest);
        frontend::startup_message(parameters.iter().map(|(name, value)| (*name, value.as_str())), &mut out)?;
        stream.write_all(&out.split()).await?;
        let mut read = BytesMut::with_capacity(READ_BYTES);
        let mut process = 0;
        let mut secret = 0;
        let mut proof = Proof { settings: &self.settings, scram: None, is_over: false };
        loop {
            let length = next_message(&mut stream, &mut read).await?;
            let Some((tag, body, _)) = split(&read) else { continue };
            match tag {
                b'R' => proof.answer(body, &mut out)?,
                b'K' => {
                    let number = |from: usize| body.get(from..from + 4).map(|mut it| it.get_i32());
                    (process, secret) = (number(0).unwrap_or(0), number(4).unwrap_or(0));
                }
                b'E' => return Err(Refusal::Said(Box::new(DatabaseError::read(body)))),
                b'Z' if !proof.is_over => {
                    let words = "the server begins before the authentication is over";
                    return Err(io::Error::other(words).into());
                }
                b'Z' => {
                    read.advance(length);
                    return Ok(Admitted { stream, read, process, secret });
                }
                // Settings and notices.
                _ => {}
            }
            read.advance(length);
            if !out.is_empty() {
                stream.write_all(&out.split()).await?;
            }
        }
    }

    /// Session parameters. Source: the manual of PostgreSQL, chapter "Client Connection Defaults".
    fn parameters(&self, kind: Kind, is_modest: bool) -> Vec<(&'static str, String)> {
        let settings = &self.settings;
        let limits = &settings.limits;
        let (timeout, lock_timeout) = match kind {
            Kind::Lane => (limits.statement_timeout, limits.lane_lock_timeout),
            Kind::Session => (limits.stream_timeout, limits.session_lock_timeout),
            Kind::Group => (limits.group_statement_timeout, limits.group_lock_timeout),
            Kind::Replication => (Duration::ZERO, SLOT_TIMEOUT),
        };
        let mut parameters = vec![
            ("user", settings.user.clone()),
            ("database", settings.database.clone()),
            ("application_name", settings.application_name.clone()),
            ("client_encoding", "UTF8".into()),
            ("DateStyle", "ISO".into()),
        ];
        parameters.extend((kind == Kind::Replication).then(|| ("replication", "database".into())));
        parameters.extend(settings.options.iter().map(|it| ("options", it.clone())));
        if !is_modest {
            parameters.extend([
                ("IntervalStyle", "postgres".into()),
                ("extra_float_digits", "1".into()),
                ("bytea_output", "hex".into()),
                ("jit", "off".into()),
                ("statement_timeout", timeout.as_millis().to_string()),
                ("lock_timeout", lock_timeout.as_millis().to_string()),
                ("idle_in_transaction_session_timeout", IDLE_TIMEOUT.as_millis().to_string()),
            ]);
        }
        // A server that refuses these gives the present: more than was asked for.
        if self.reading == ReadVersion::Followers && !is_modest {
            let stale_max_ms = settings.stale_reads_max.as_millis().to_string();
            parameters
                .extend(settings.follower_reads.iter().map(|it| (it.0, it.1.replace("{ms}", &stale_max_ms))));
        }
        parameters
    }

    /// Reads the server's facts over a new connection.
    async fn read_server_facts(&self, admitted: Admitted) -> Result<Connection, Error> {
        let Admitted { mut stream, read, process, .. } = admitted;
        let mut out = BytesMut::new();
        frontend::query(FACTS, &mut out).map_err(Error::unavailable)?;
        stream.write_all(&out).await.map_err(Error::unavailable)?;
        let limits = &self.settings.limits;
        let unknown = Facts {
            version: 0,
            flavour: Flavour::Postgres,
            release: Release::NONE,
            is_utc: false,
            is_pooled: false,
            is_single: false,
            in_recovery: false,
            is_read_only: false,
            tells_shards: false,
        };
        let mut connection =
            Connection::new(stream, read, limits.statements_max, limits.answer_bytes_max, unknown);
        let mut facts = None;
        loop {
            match connection.next_end().await? {
                End::Complete(rows) => {
                    facts = rows.iter().next().map(|row| self.read_facts(row.columns(), process));
                }
                End::TooLarge { .. } => {
                    return Err(Error::Protocol("the server's version is too long".into()));
                }
                End::Refused(error) => return Err(Error::Unavailable(error)),
                End::Ready(_) => break,
            }
        }
        connection.facts = facts.ok_or_else(|| Error::Protocol("the server says not what it is".into()))?;
        let has_names = match self.settings.naming {
            // A session that others had before has their statements.
            Naming::Detect => {
                let has_clashed = self.has_clashed.load(Ordering::Relaxed);
                !(connection.facts.is_pooled || connection.facts.is_single || has_clashed)
            }
            Naming::Named => true,
            Naming::Unnamed => false,
        };
        if !has_names {
            connection.forgo_names();
        }
        connection.note_clashes_in(&self.has_clashed);
        Ok(connection)
    }

    /// `process`: the one to cancel. A pooler makes it up.
    fn read_facts<'r>(&self, columns: impl Iterator<Item = Option<&'r [u8]>>, process: i32) -> Facts {
        let texts: Vec<&str> =
            columns.map(|it| it.and_then(|it| std::str::from_utf8(it).ok()).unwrap_or("")).collect();
        let text = |at: usize| texts.get(at).copied().unwrap_or("");
        let found = Flavour::detect(text(0), !text(6).is_empty());
        let flavour = self.settings.flavour.unwrap_or(found);
        Facts {
            version: text(1).parse().unwrap_or(0),
            flavour,
            release: Release::detect(flavour, text(0), text(6)),
            is_utc: UTC.contains(&text(2)),
            is_pooled: found != Flavour::Cockroach && text(3).parse() != Ok(process),
            is_single: text(0).contains(SINGLE),
            in_recovery: text(4) == "t",
            is_read_only: text(5) == "on",
            tells_shards: flavour == Flavour::Citus && text(7) == "t",
        }
    }

    /// Cancels the statement of `key`'s connection, until `settled` is done. A request is lost that arrives before the
    /// statement begins, so it is repeated, with pauses that double.
    /// # Errors
    /// The server takes no request.
    pub(crate) async fn stop<T>(&self, key: &CancelKey, settled: impl Future<Output = T>) -> io::Result<T> {
        let mut settled = pin!(settled);
        let mut pause = CANCEL_PAUSE;
        loop {
            self.cancel(key).await?;
            if let Ok(done) = tokio::time::timeout(pause, settled.as_mut()).await {
                return Ok(done);
            }
            pause *= 2;
        }
    }

    /// Sends a cancel request for `key`'s connection, and waits until the server has accepted it.
    pub(crate) async fn cancel(&self, key: &CancelKey) -> io::Result<()> {
        let request = async {
            let mut stream = key.address.connect(key.encryption, self.connector()?).await?;
            let mut out = BytesMut::new();
            frontend::cancel_request(key.process, key.secret, &mut out);
            stream.write_all(&out).await?;
            stream.flush().await?;
            // The server says nothing and closes.
            let mut rest = [0; 1];
            stream.read(&mut rest).await.map(drop)
        };
        tokio::time::timeout(CANCEL_TIMEOUT, request).await?
    }
}

/// True if the server has the wanted role.
fn fits(facts: Facts, target: Target) -> bool {
    match target {
        Target::Any | Target::PreferStandby => true,
        Target::ReadWrite => !facts.is_read_only && !facts.in_recovery,
        Target::ReadOnly => facts.is_read_only || facts.in_recovery,
        Target::Primary => !facts.in_recovery,
        Target::Standby => facts.in_recovery,
    }
}

/// A pooler that knows no such setting, or a server that is older or other than ours.
fn is_about_settings(error: &DatabaseError) -> bool {
    matches!(&error.sqlstate, b"08P01" | b"42704" | b"22023" | b"0A000")
        && (error.message.contains("parameter") || error.message.contains("setting"))
}

/// Reads until a message is whole at the beginning of `read`: its length.
async fn next_message(stream: &mut Stream, read: &mut BytesMut) -> io::Result<usize> {
    loop {
        if let Some((_, body, _)) = split(read) {
            return Ok(body.len() + 5);
        }
        if read.len() > READ_BYTES {
            return Err(io::Error::other("the server does not speak PostgreSQL's protocol"));
        }
        if stream.read_buf(read).await? == 0 {
            let words = "the server closed the connection while it was made";
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, words));
        }
    }
}
