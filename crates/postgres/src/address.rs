//! Address and settings of a database, read from a URL.
//!
//! Settings that the URL lacks come from the `PG*` variables, which the caller looks up: a source reads no environment.
//!
//! **Invariant:** a password is never shown, neither by `Debug` nor in an error.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use weir_relational::dialect::flavour::Flavour;

/// Folder of the socket in Debian's PostgreSQL.
const SOCKET_FOLDER: &str = "/var/run/postgresql";
const PORT: u16 = 5432;

/// A database, or several that stand in for each other, and the bounds of our use of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Server addresses, tried in order.
    pub hosts: Vec<Host>,
    /// User name.
    pub user: String,
    /// Password of the user.
    pub password: Option<Secret>,
    /// The database's name.
    pub database: String,
    /// Encryption.
    pub tls: Tls,
    /// Roles of a server that are accepted.
    pub target: Target,
    /// Timeout of one attempt to connect.
    pub connect_timeout: Duration,
    /// Name in `pg_stat_activity`.
    pub application_name: String,
    /// Command line options for the session, as `-c search_path=app`.
    pub options: Option<String>,
    /// Use of named statements.
    pub naming: Naming,
    /// Database flavour, if it is not to be detected.
    pub flavour: Option<Flavour>,
    /// Resource limits.
    pub limits: Limits,
    /// Replicas that reads may go to.
    pub replicas: Vec<Host>,
    /// Maximum lag of such a replica.
    pub replica_lag_max: Duration,
    /// Maximum lag of a replica for reads with `ReadPreference::Stale`, and maximum age of follower reads.
    pub stale_reads_max: Duration,
    /// Settings of sessions whose reads may be of the past ([`weir_relational::dialect::flavour::Abilities::follower_reads`]).
    pub follower_reads: &'static [(&'static str, &'static str)],
    /// True if queued mutations of one statement share a commit.
    pub batch_mutations: bool,
    /// Logical decoding.
    pub decoding: DecodingSettings,
    /// Settings by which transactions know their caller.
    pub caller: CallerSettings,
}

/// Which transactions are told by settings who the caller is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallerSettings {
    /// Mutations set `hasura.user` and `hasura.tracecontext`.
    pub in_mutations: bool,
    /// Reads set them too, each in a transaction of its own.
    pub in_reads: bool,
    /// Every transaction has the database role of its caller; the other two then count as set.
    pub row_security: Option<RowSecurity>,
}

/// Transactions with the database role of their caller, whose rows the database's own policies choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowSecurity {
    /// The claim of the token that names the role.
    pub role_claim: Box<str>,
    /// The role of callers without a credential, or whose token lacks the claim; `None`: they see nothing.
    pub anonymous_role: Option<Box<str>>,
    /// Headers of the request that are handed on, in lower case.
    pub headers: Box<[Box<str>]>,
}

/// Settings of logical decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodingSettings {
    /// True if changes should be reported where the server supports it.
    pub is_wanted: bool,
    /// A slot that holds back more of the server's log, in bytes, is given up.
    pub log_bytes_max: u64,
}

impl DecodingSettings {
    /// On, for servers with some disk to spare.
    pub const DEFAULT: Self = Self { is_wanted: true, log_bytes_max: 256 << 20 };
}

/// Limits on connections, queues, buffers and times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections that share statements; `None`: one for each thread, and more where the server is slow.
    pub lanes: Option<usize>,
    /// Threads that ask. Each has its share of the lanes.
    pub threads: usize,
    /// Connections for mutations and long reads.
    pub sessions_max: usize,
    /// Statements that may wait for one lane, and callers for a session.
    pub waiting_max: usize,
    /// Timeout of the wait.
    pub wait_max: Duration,
    /// Bytes of unread answers in the process, up to which slow streams are buffered to free their sessions.
    pub unread_bytes_max: u64,
    /// Maximum bytes of one unread answer, see [`Self::unread_bytes_max`].
    pub unread_answer_bytes_max: u64,
    /// Statements that a connection keeps prepared.
    pub statements_max: usize,
    /// Bytes of one answer that is held whole.
    pub answer_bytes_max: usize,
    /// Timeout of a statement: of a mutation as a whole, of a streamed answer until its first rows.
    pub statement_timeout: Duration,
    /// Server's timeout of a session's statement: a stream lasts as long as its reader takes.
    pub stream_timeout: Duration,
    /// Idle time after which a connection is closed; `None`: it stays open.
    pub idle_max: Option<Duration>,
    /// Timeout of a mutation that shares its commit; a slower one is run alone.
    pub group_statement_timeout: Duration,
    /// Lock timeout of such a mutation; after it the mutation is run alone.
    pub group_lock_timeout: Duration,
    /// Lock timeout of a lane's statement; after it the statement is run alone.
    pub lane_lock_timeout: Duration,
    /// Lock timeout of a session's statement, after which only a few of its tables keep waiting; zero: none.
    pub session_lock_timeout: Duration,
}

impl Limits {
    /// Limits of a server with ordinary requests.
    pub const DEFAULT: Self = Self {
        lanes: None,
        threads: 2,
        sessions_max: 32,
        waiting_max: 1024,
        wait_max: Duration::from_secs(2),
        unread_bytes_max: 256 << 20,
        unread_answer_bytes_max: 64 << 20,
        statements_max: 256,
        answer_bytes_max: 64 << 20,
        statement_timeout: Duration::from_secs(20),
        stream_timeout: Duration::from_secs(900),
        idle_max: Some(Duration::from_secs(600)),
        group_statement_timeout: Duration::from_secs(1),
        group_lock_timeout: Duration::from_millis(100),
        lane_lock_timeout: Duration::from_millis(50),
        session_lock_timeout: Duration::from_millis(500),
    };
}

/// A server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// A host name or address, and a port.
    Tcp {
        /// Without brackets.
        name: String,
        /// 5432 if none was said.
        port: u16,
    },
    /// The file of a Unix socket.
    Unix(PathBuf),
}

/// A text that is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Encryption, as libpq's `ssl…` parameters say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// Use of TLS.
    pub mode: TlsMode,
    /// Certificates that are trusted; `None`: those of the system.
    pub root_certificates: Option<PathBuf>,
    /// Certificate and key that we show.
    pub client: Option<(PathBuf, PathBuf)>,
}

/// libpq's `sslmode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsMode {
    /// Never.
    Disable,
    /// When the server insists.
    Allow,
    /// When the server can.
    Prefer,
    /// TLS is required, with any server; with root certificates it means `VerifyCa`.
    Require,
    /// TLS is required, with a certificate of a trusted authority.
    VerifyCa,
    /// TLS is required, with a certificate of a trusted authority for the host's name.
    VerifyFull,
}

/// libpq's `target_session_attrs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The first that answers.
    Any,
    /// A server that accepts writes.
    ReadWrite,
    /// A server that accepts no writes.
    ReadOnly,
    /// A server that is not in recovery.
    Primary,
    /// A server in recovery.
    Standby,
    /// A server in recovery if there is one, else any.
    PreferStandby,
}

/// Use of named statements on connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// Unless something stands between, which is found out.
    Detect,
    /// Statements are always named: the pooler keeps track of them.
    Named,
    /// Never: parsed each time.
    Unnamed,
}

/// Error in a URL or a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError(pub String);

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}

/// The parameters that are understood, and the variable that stands in for each.
const KNOWN: &[(&str, &str)] = &[
    ("host", "PGHOST"),
    ("port", "PGPORT"),
    ("user", "PGUSER"),
    ("password", "PGPASSWORD"),
    ("dbname", "PGDATABASE"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("sslcert", "PGSSLCERT"),
    ("sslkey", "PGSSLKEY"),
    ("target_session_attrs", "PGTARGETSESSIONATTRS"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
    ("application_name", "PGAPPNAME"),
    ("options", "PGOPTIONS"),
];

impl Settings {
    /// Reads `postgres://user:password@host:port,host:port/database?parameter=value`; all parts may be absent.
    ///
    /// - `variable`: looks up a variable of the environment.
    /// # Errors
    /// The part that is wrong.
    pub fn parse(url: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let parts = Parts::read(url)
            .map_err(|error| if may_be_cut(url) { SettingsError(CUT.into()) } else { error })?;
        let get = |name: &str| -> Option<String> {
            let said = parts.0.iter().rfind(|(key, _)| key == name).map(|(_, value)| value.clone());
            let other = || KNOWN.iter().find(|it| it.0 == name).and_then(|it| variable(it.1));
            said.or_else(other).filter(|it| !it.is_empty())
        };
        let user = get("user").or_else(|| variable("USER")).ok_or_else(|| {
            SettingsError("no user: write postgres://user@host/database or set PGUSER".into())
        })?;
        let hosts = hosts(get("host").as_deref(), get("port").as_deref());
        Ok(Self {
            hosts: hosts.map_err(|error| if may_be_cut(url) { SettingsError(CUT.into()) } else { error })?,
            database: get("dbname").unwrap_or_else(|| user.clone()),
            user,
            password: get("password").map(Secret),
            tls: tls(&get)?,
            target: get("target_session_attrs").map_or(Ok(Target::Any), |it| target(&it))?,
            connect_timeout: connect_timeout(get("connect_timeout").as_deref())?,
            application_name: get("application_name").unwrap_or_else(|| "weir".into()),
            options: get("options"),
            naming: Naming::Detect,
            flavour: None,
            limits: Limits::DEFAULT,
            replicas: Vec::new(),
            replica_lag_max: Duration::from_secs(1),
            stale_reads_max: Duration::from_secs(10),
            follower_reads: &[],
            batch_mutations: false,
            decoding: DecodingSettings::DEFAULT,
            caller: CallerSettings::default(),
        })
    }
}

/// Message for a part that cannot be parsed and may belong to a password: the part itself is not shown.
const CUT: &str =
    "a `/` or `?` in a user or password is written %2F or %3F; a password can also stand in PGPASSWORD";

/// True if the part before the last `@` may contain an unescaped separator.
fn may_be_cut(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |it| it.1);
    rest.find(['/', '?']).is_some_and(|end| rest.rfind('@').is_some_and(|at| at > end))
}

fn tls(get: &dyn Fn(&str) -> Option<String>) -> Result<Tls, SettingsError> {
    let mode = match get("sslmode").as_deref() {
        None | Some("prefer") => TlsMode::Prefer,
        Some("disable") => TlsMode::Disable,
        Some("allow") => TlsMode::Allow,
        Some("require") => TlsMode::Require,
        Some("verify-ca") => TlsMode::VerifyCa,
        Some("verify-full") => TlsMode::VerifyFull,
        Some(other) => {
            let known = "disable, allow, prefer, require, verify-ca or verify-full";
            return Err(SettingsError(format!("sslmode `{other}` is not one of {known}")));
        }
    };
    let root_certificates = get("sslrootcert").filter(|it| it != "system").map(PathBuf::from);
    let client = match (get("sslcert"), get("sslkey")) {
        (Some(certificate), Some(key)) => Some((certificate.into(), key.into())),
        (None, None) => None,
        (Some(_), None) => return Err(SettingsError("sslcert needs sslkey".into())),
        (None, Some(_)) => return Err(SettingsError("sslkey needs sslcert".into())),
    };
    Ok(Tls { mode, root_certificates, client })
}

fn target(text: &str) -> Result<Target, SettingsError> {
    Ok(match text {
        "any" => Target::Any,
        "read-write" => Target::ReadWrite,
        "read-only" => Target::ReadOnly,
        "primary" => Target::Primary,
        "standby" => Target::Standby,
        "prefer-standby" => Target::PreferStandby,
        other => {
            let known = "any, read-write, read-only, primary, standby or prefer-standby";
            return Err(SettingsError(format!("target_session_attrs `{other}` is not one of {known}")));
        }
    })
}

/// libpq's zero means no bound; ours is ten seconds then.
fn connect_timeout(text: Option<&str>) -> Result<Duration, SettingsError> {
    let wrong = |_| SettingsError("connect_timeout is not a number of seconds".into());
    let seconds = text.map_or(Ok(0), |it| it.parse::<u32>().map_err(wrong))?;
    Ok(Duration::from_secs(if seconds == 0 { 10 } else { seconds.into() }))
}

/// Reads lists that are parted by commas; one port serves all hosts.
///
/// # Errors
/// A port that is none, or as many ports as there are not hosts.
pub fn hosts(names: Option<&str>, ports: Option<&str>) -> Result<Vec<Host>, SettingsError> {
    let names: Vec<&str> = names.unwrap_or_default().split(',').collect();
    let port = |text: &str| match text {
        "" => Ok(PORT),
        text => text.parse().map_err(|_| SettingsError(format!("`{text}` is no port"))),
    };
    let ports: Vec<u16> = ports.unwrap_or_default().split(',').map(port).collect::<Result<_, _>>()?;
    if ports.len() != 1 && ports.len() != names.len() {
        return Err(SettingsError(format!("{} ports for {} hosts", ports.len(), names.len())));
    }
    let host = |(name, port): (&&str, &u16)| match *name {
        "" => Host::Unix(format!("{SOCKET_FOLDER}/.s.PGSQL.{port}").into()),
        folder if folder.starts_with('/') => Host::Unix(format!("{folder}/.s.PGSQL.{port}").into()),
        name => Host::Tcp { name: name.into(), port: *port },
    };
    Ok(names.iter().zip(ports.iter().cycle()).map(host).collect())
}

/// The named parts of a URL, decoded, in the order in which they stand; later ones count.
struct Parts(Vec<(String, String)>);

impl Parts {
    fn read(url: &str) -> Result<Self, SettingsError> {
        let rest = url
            .strip_prefix("postgres://")
            .or_else(|| url.strip_prefix("postgresql://"))
            .ok_or_else(|| SettingsError("the URL does not begin with postgres://".into()))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        if !authority.contains('@') && database.contains('@') {
            return Err(SettingsError(CUT.into()));
        }
        let (account, places) = authority.rsplit_once('@').unwrap_or(("", authority));
        let mut parts = Self(Vec::new());
        let (user, password) = account.split_once(':').unwrap_or((account, ""));
        parts.add("user", user)?;
        parts.add("password", password)?;
        parts.add("dbname", database)?;
        parts.add_places(places)?;
        for pair in query.split('&').filter(|it| !it.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !KNOWN.iter().any(|it| it.0 == key) {
                let known: Vec<&str> = KNOWN.iter().map(|it| it.0).collect();
                return Err(SettingsError(format!("parameter `{key}` is not one of {}", known.join(", "))));
            }
            parts.add(key, value)?;
        }
        Ok(parts)
    }

    /// An empty part is as none.
    fn add(&mut self, name: &str, text: &str) -> Result<(), SettingsError> {
        if !text.is_empty() {
            self.0.push((name.into(), percent_decode(text, name)?));
        }
        Ok(())
    }

    /// `host:port,[::1]:port`.
    fn add_places(&mut self, places: &str) -> Result<(), SettingsError> {
        let split = |place: &str| -> (String, String) {
            let (name, port) = match place.strip_prefix('[').and_then(|it| it.split_once(']')) {
                Some((name, port)) => (name, port.trim_start_matches(':')),
                None => place.rsplit_once(':').unwrap_or((place, "")),
            };
            (name.into(), port.into())
        };
        let (names, ports): (Vec<String>, Vec<String>) = places.split(',').map(split).unzip();
        self.add("host", &names.join(","))?;
        if ports.iter().all(String::is_empty) { Ok(()) } else { self.add("port", &ports.join(",")) }
    }
}

/// Decodes `%41`. An error names only `part`, as `text` may be the password.
fn percent_decode(text: &str, part: &str) -> Result<String, SettingsError> {
    let wrong =
        || SettingsError(format!("{part} has a `%` that is not followed by two hexadecimal digits of UTF-8"));
    let mut bytes = Vec::with_capacity(text.len());
    let mut pieces = text.split('%');
    bytes.extend_from_slice(pieces.next().unwrap_or_default().as_bytes());
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2).ok_or_else(wrong)?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| wrong())?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: &[(&str, &str)] = &[];

    fn parse(url: &str, variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        Settings::parse(url, |name| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_string()))
    }

    fn check(url: &str, variables: &[(&str, &str)], expected: &str) {
        let shown = match parse(url, variables) {
            Ok(it) => {
                let password = it.password.map_or(String::new(), |it| format!(":{}", it.0));
                format!("{}{password} {:?} {}", it.user, it.hosts, it.database)
            }
            Err(error) => error.to_string(),
        };
        let short = shown.replace("Tcp { name: ", "").replace(", port: ", ":").replace(" }", "");
        assert_eq!(short, expected, "{url}");
    }

    #[test]
    fn a_url_says_it_all() {
        check("postgres://me:pa%3Ass@db:6432/shop", NOTHING, "me:pa:ss [\"db\":6432] shop");
        check("postgresql://me@a,b:1,[::1]:2/shop", NOTHING, "me [\"a\":5432, \"b\":1, \"::1\":2] shop");
        check("postgres://me@/shop?host=/run/pg&port=7", NOTHING, "me [Unix(\"/run/pg/.s.PGSQL.7\")] shop");
        check("postgres://me@%2Frun%2Fpg/shop", NOTHING, "me [Unix(\"/run/pg/.s.PGSQL.5432\")] shop");
        check("postgres://me@a/", NOTHING, "me [\"a\":5432] me");
    }

    #[test]
    fn variables_stand_in_for_what_the_url_leaves_out() {
        let variables =
            [("PGHOST", "x,y"), ("PGPORT", "9"), ("PGUSER", "you"), ("PGPASSWORD", "p"), ("PGDATABASE", "d")];
        check("postgres://", &variables, "you:p [\"x\":9, \"y\":9] d");
        check("postgres://me@a/shop", &variables, "me:p [\"a\":9] shop");
        check("postgres:///shop", &[("USER", "os")], "os [Unix(\"/var/run/postgresql/.s.PGSQL.5432\")] shop");
    }

    #[test]
    fn a_wrong_part_is_named_and_a_password_never_shown() {
        check("mysql://a", NOTHING, "the URL does not begin with postgres://");
        check("postgres://a/b", NOTHING, "no user: write postgres://user@host/database or set PGUSER");
        check("postgres://me@a:x/b", NOTHING, "`x` is no port");
        check("postgres://me@a/b?port=1,2", NOTHING, "2 ports for 1 hosts");
        check(
            "postgres://me:se%cret@a/b",
            NOTHING,
            "password has a `%` that is not followed by two hexadecimal digits of UTF-8",
        );
        check("postgres://me@a/b?sslcert=x", NOTHING, "sslcert needs sslkey");
        for password in ["pa/ss", "1234/ss", "/ss", "pa?ss", "12?ss=x&user=y"] {
            check(&format!("postgres://me:{password}@a/b"), NOTHING, CUT);
        }
        check("postgres://a:1/b?user=me@work", NOTHING, "me@work [\"a\":1] b");
        let error = parse("postgres://me@a/b?sslmod=require", NOTHING).unwrap_err();
        assert!(
            error.to_string().starts_with("parameter `sslmod` is not one of host, port, user"),
            "{error}"
        );
        let shown = format!("{:?}", parse("postgres://me:secret@a/b", NOTHING).unwrap());
        assert!(!shown.contains("secret"), "{shown}");
    }

    #[test]
    fn parameters_choose_encryption_and_host() {
        let settings = parse(
            "postgres://me@a/b?sslmode=verify-full&sslrootcert=/ca&sslcert=/c&sslkey=/k&target_session_attrs=standby&connect_timeout=3",
            NOTHING,
        )
        .unwrap();
        let tls = Tls {
            mode: TlsMode::VerifyFull,
            root_certificates: Some("/ca".into()),
            client: Some(("/c".into(), "/k".into())),
        };
        assert_eq!(settings.tls, tls);
        assert_eq!(settings.target, Target::Standby);
        assert_eq!(settings.connect_timeout, Duration::from_secs(3));
    }
}
