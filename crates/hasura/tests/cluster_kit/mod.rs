//! A private PostgreSQL for the tests of the wire: a cluster below `target/`, on loopback, that ends with the process.
//!
//! A shell stands between: it stops the server and cleans up when its standard input closes, which it does however the test
//! ends.

#![allow(dead_code, unreachable_pub, reason = "every test that has it uses a part of it")]

pub mod client;

use crate::port_kit::free_port;
use crate::postgres_kit::release::Release;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use weir_postgres::Settings;

const SETTINGS: &str = "
listen_addresses = '127.0.0.1'
fsync = off
shared_buffers = 16MB
max_connections = 100
ssl = on
ssl_cert_file = 'server.crt'
ssl_key_file = 'server.key'
ssl_ca_file = 'ca.crt'
";

/// Authentication rules. A user is named after its method.
const RULES: &str = "
local   all postgres trust
host    all postgres 127.0.0.1/32 trust
host    replication postgres 127.0.0.1/32 trust
host    all scram 127.0.0.1/32 scram-sha-256
host    all md5 127.0.0.1/32 md5
host    all clear 127.0.0.1/32 password
hostssl all encrypted 127.0.0.1/32 trust
hostnossl all bare 127.0.0.1/32 trust
hostssl all certified 127.0.0.1/32 cert
";

const USERS: &str = "
SET password_encryption = 'scram-sha-256'; CREATE USER scram PASSWORD 'pa:ss w\u{f6}rd'; CREATE USER clear PASSWORD 'clear';
SET password_encryption = 'md5'; CREATE USER md5 PASSWORD 'digest';
CREATE USER encrypted; CREATE USER bare; CREATE USER certified;
CREATE TABLE thing (id int4 PRIMARY KEY, name text);
INSERT INTO thing SELECT i, 'thing ' || i FROM generate_series(1, 1000) AS i;
";

/// A cluster.
pub struct Cluster {
    pub folder: PathBuf,
    pub port: u16,
    server: Option<Child>,
}

/// The cluster that the tests of this process share.
pub fn shared() -> &'static Cluster {
    static SHARED: OnceLock<Cluster> = OnceLock::new();
    SHARED.get_or_init(|| {
        let mut cluster = Cluster::new();
        cluster.start();
        cluster
    })
}

/// A program of the server, or of the clients, which PostgreSQL 18 has none of.
pub fn bin(name: &str) -> PathBuf {
    let folder =
        if matches!(name, "initdb" | "postgres") { Release::current().server() } else { Release::clients() };
    folder.join(name)
}

/// `program` as a user that PostgreSQL takes: it refuses root.
pub fn command(program: impl AsRef<Path>) -> Command {
    let program = program.as_ref();
    // The owner of our files tells who we are.
    let is_root = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0;
    if !is_root {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "postgres", "--regid", "postgres", "--clear-groups"]).arg(program);
    command
}

pub fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A folder of its own that the server's user owns.
pub fn folder(name: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    give(&folder);
    folder
}

/// Gives a file to the server's user, for whom alone it is then.
fn give(path: &Path) {
    let path_text = path.to_str().unwrap();
    if Command::new("chown").args(["postgres:postgres", path_text]).output().unwrap().status.success() {
        succeed(Command::new("chmod").args(["go=", path_text]));
    }
}

/// Waits until processes that were killed are gone; whether somebody has asked for their outcome does not matter.
fn await_ends<'p>(processes: impl Iterator<Item = &'p str>) {
    let lives = |process: &str| {
        let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        state.rsplit_once(") ").is_some_and(|it| !it.1.starts_with('Z'))
    };
    let deadline = Instant::now() + Duration::from_secs(120);
    for process in processes {
        while lives(process) {
            assert!(Instant::now() < deadline, "process {process} does not end");
            std::thread::yield_now();
        }
    }
}

/// Runs `program` in `folder` until the child reads a line, or its input ends; then the folder is emptied too.
pub fn guarded(program: &Path, arguments: &[&str], folder: &Path) -> Child {
    let script = "\"$@\" >> log 2>&1 & server=$!; read line; more=$?; kill -INT $server; wait $server; [ $more = 0 ] || rm -rf ./*";
    let mut command = command("sh");
    command.args(["-c", script, "sh"]).arg(program).args(arguments).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

impl Cluster {
    /// Makes a cluster that does not run yet.
    pub fn new() -> Self {
        let folder = folder("wire");
        let data = folder.join("data");
        succeed(
            command(bin("initdb"))
                .args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-N", "-D"])
                .arg(&data),
        );
        std::fs::OpenOptions::new()
            .append(true)
            .open(data.join("postgresql.conf"))
            .unwrap()
            .write_all(SETTINGS.as_bytes())
            .unwrap();
        std::fs::write(data.join("pg_hba.conf"), RULES).unwrap();
        let cluster = Self { folder, port: free_port(), server: None };
        cluster.certify();
        cluster
    }

    /// Makes a replica of this cluster, which runs already.
    pub fn replica(&self) -> Self {
        let folder = folder("replica");
        let port = self.port.to_string();
        let arguments = ["-R", "-c", "fast", "-h", "127.0.0.1", "-p", &port, "-U", "postgres", "-D"];
        succeed(command(bin("pg_basebackup")).args(arguments).arg(folder.join("data")));
        std::fs::write(folder.join("made"), "").unwrap();
        let mut replica = Self { folder, port: free_port(), server: None };
        replica.start();
        replica
    }

    /// Certificates: of an authority, of the server as `localhost`, of the client `certified`.
    fn certify(&self) {
        let data = self.folder.join("data");
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        std::fs::write(data.join("ca.crt"), authority.pem()).unwrap();
        std::fs::write(self.file("ca.crt"), authority.pem()).unwrap();
        for (name, host) in [("server", "localhost"), ("certified", "certified")] {
            let key = KeyPair::generate().unwrap();
            let mut params = CertificateParams::new([host.to_string()]).unwrap();
            params.distinguished_name.push(rcgen::DnType::CommonName, host);
            let certificate = params.signed_by(&key, &authority).unwrap();
            let folder = if name == "server" { &data } else { &self.folder };
            std::fs::write(folder.join(format!("{name}.crt")), certificate.pem()).unwrap();
            let key_file = folder.join(format!("{name}.key"));
            std::fs::write(&key_file, key.serialize_pem()).unwrap();
            give(&key_file);
        }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Starts the server and waits until it takes connections; the first time makes users and a table.
    pub fn start(&mut self) {
        let data = self.folder.join("data");
        let port = self.port.to_string();
        let socket = self.folder.to_str().unwrap();
        let arguments = ["-D", data.to_str().unwrap(), "-p", &port, "-k", socket];
        self.server = Some(guarded(&bin("postgres"), &arguments, &self.folder));
        let log = || std::fs::read_to_string(self.file("log")).unwrap_or_default();
        let deadline = Instant::now() + Duration::from_secs(120);
        while !succeeds(command(bin("pg_isready")).args(["-q", "-h", "127.0.0.1", "-p", &port])) {
            assert!(Instant::now() < deadline, "the server does not start: {}", log());
            std::thread::yield_now();
        }
        if !self.file("made").exists() {
            self.sql(USERS);
            std::fs::write(self.file("made"), "").unwrap();
        }
    }

    /// Stops the server; clients are told.
    pub fn stop(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.stdin.take().unwrap().write_all(b"stop\n").unwrap();
            server.wait().unwrap();
        }
    }

    /// Sends a signal to the server and all its processes.
    pub fn signal(&self, name: &str) {
        let file = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap();
        let server = file.lines().next().unwrap();
        // One that has ended already is as it should be.
        let send = |name: &str, process: &str| Command::new("kill").args([name, process]).output().unwrap();
        // A server that stands still starts no process that the list would miss.
        send("-STOP", server);
        let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children")).unwrap();
        for process in children.split_whitespace().chain([server]) {
            send(name, process);
        }
        if name != "-STOP" {
            send("-CONT", server);
        }
        if name == "-KILL" {
            // A process that is not gone yet holds memory that the next server refuses to share.
            await_ends(children.split_whitespace());
        }
    }

    /// Lets the server stand still until what this gives is dropped.
    pub fn freeze(&self) -> Frozen<'_> {
        self.signal("-STOP");
        Frozen(self)
    }

    /// Runs SQL beside the client that is tested, and gives its output.
    pub fn sql(&self, sql: &str) -> String {
        self.sql_in("postgres", sql)
    }

    /// The same in another database.
    pub fn sql_in(&self, database: &str, sql: &str) -> String {
        let port = self.port.to_string();
        let to = ["-h", "127.0.0.1", "-p", &port, "-U", "postgres", "-d", database];
        let arguments = [&["-XqAt", "-v", "ON_ERROR_STOP=1"][..], &to, &["-c", sql]].concat();
        let output = succeed(command(bin("psql")).args(arguments));
        String::from_utf8(output.stdout).unwrap().trim().into()
    }

    /// Connection settings of `user`, with more parameters of the URL.
    pub fn settings(&self, user: &str, parameters: &str) -> Settings {
        let url = format!("postgres://{user}@127.0.0.1:{}/postgres?{parameters}", self.port);
        Settings::parse(&url, |_| None).unwrap()
    }
}

/// A server that stands still.
pub struct Frozen<'c>(&'c Cluster);

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        self.0.signal("-CONT");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
        // A folder that cannot be removed lies below target/.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn succeeds(command: &mut Command) -> bool {
    command.stderr(Stdio::null()).output().is_ok_and(|it| it.status.success())
}

/// Waits until something listens.
pub fn await_port(port: u16) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < deadline, "nothing listens on port {port}");
        std::thread::yield_now();
    }
}
