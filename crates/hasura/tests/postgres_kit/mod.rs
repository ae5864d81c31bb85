//! A PostgreSQL of the tests' own: one cluster per test process and release, one database per test.
//!
//! The cluster is made by `initdb` in a folder that only its user may enter, so its socket needs no password; on
//! loopback it wants the one in [`Cluster::url`]. A shell keeps it: it waits on a pipe from this process, and when that
//! closes, however the process ends, it stops the server and removes the folder. As root all runs as user `postgres`,
//! because the server refuses root.

#![allow(dead_code, unreachable_pub, reason = "every test that has it uses a part of it")]

pub mod hand;
pub mod release;

use release::{RELEASES, Release};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Chinook's tables, its rows (the same as on SQLite), its sequences.
const CHINOOK: [&str; 3] = [
    include_str!("../../../../examples/chinook/postgres-before.sql"),
    include_str!("../../../../examples/chinook/chinook.sql"),
    include_str!("../../../../examples/chinook/postgres-after.sql"),
];

/// Starts the server and says so; ends it when the pipe closes.
const KEEPER: &str = r#"
"$1/postgres" -D "$2/data" -k "$2" >"$2/log" 2>&1 &
server=$!
tries=0
until "$3/pg_isready" -q -h "$2"; do
  tries=$((tries + 1))
  if [ $tries -gt 600 ] || ! kill -0 $server 2>/dev/null; then cat "$2/log" >&2; exit 1; fi
  sleep 0.1
done
echo ready
read -r _
kill -QUIT $server
wait $server
cd /
rm -rf "$2"
"#;

/// A running server.
pub struct Cluster {
    folder: PathBuf,
    port: u16,
    password: String,
    user: Option<(u32, u32)>,
    /// Pipe that the keeper waits on; the system closes it with the process.
    _pipe: ChildStdin,
}

/// A database of its own.
pub struct Database {
    /// Its name.
    pub name: String,
    cluster: &'static Cluster,
}

/// The cluster of this process, of this thread's release.
pub fn cluster() -> &'static Cluster {
    static CLUSTERS: [OnceLock<Cluster>; RELEASES] = [const { OnceLock::new() }; RELEASES];
    CLUSTERS[Release::current() as usize].get_or_init(|| Cluster::start(&[]))
}

/// A new, empty database made by `sql`.
pub fn database(sql: &str) -> Database {
    let database = cluster().create("template0");
    database.run(sql);
    database
}

/// A new database with Chinook in it.
pub fn chinook() -> Database {
    static TEMPLATES: [OnceLock<String>; RELEASES] = [const { OnceLock::new() }; RELEASES];
    let template = TEMPLATES[Release::current() as usize].get_or_init(|| {
        let database = cluster().create("template0");
        let [before, both, after] = CHINOOK;
        let rows = &both[both.find("INSERT INTO").unwrap()..];
        database.run(&[before, rows, after].concat());
        database.name
    });
    cluster().create(template)
}

impl Cluster {
    /// Makes and starts a cluster with more lines for its configuration.
    pub fn start(settings: &[&str]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("weir-postgres-{}-{number}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
        let bin = Release::current().server();
        let user = user();
        if let Some((uid, gid)) = user {
            std::os::unix::fs::chown(&folder, Some(uid), Some(gid)).unwrap();
        }
        let password = secret();
        write(&folder.join("password"), &password, user);
        let data = folder.join("data");
        let mut initdb = Command::new(bin.join("initdb"));
        initdb.args(["--no-sync", "--no-instructions", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8"]);
        initdb.args(["--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile"]);
        initdb.arg(folder.join("password")).arg("-D").arg(&data);
        run(as_user(&mut initdb, user, &folder), "");
        let port = crate::port_kit::free_port();
        let lines = [
            &format!("port = {port}"),
            "listen_addresses = '127.0.0.1'",
            "fsync = off",
            "full_page_writes = off",
            "shared_buffers = 64MB",
            "max_connections = 400",
            "timezone = 'UTC'",
        ];
        let configuration = data.join("postgresql.conf");
        let mut file = std::fs::OpenOptions::new().append(true).open(configuration).unwrap();
        file.write_all([&lines[..], settings].concat().join("\n").as_bytes()).unwrap();
        let keeper = keep(&bin, &folder, port, user);
        Self { folder, port, password, user, _pipe: keeper }
    }

    /// The address of a database over loopback.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres:{}@127.0.0.1:{}/{database}", self.password, self.port)
    }

    /// The address of a database over the Unix socket.
    pub fn socket_url(&self, database: &str) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{folder}:{}/{database}", self.port)
    }

    /// A copy of the database `template`.
    pub fn create(&'static self, template: &str) -> Database {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.psql("postgres", &[], &format!("CREATE DATABASE {name} TEMPLATE {template}"));
        Database { name, cluster: self }
    }

    /// Output of `psql` for `sql`.
    fn psql(&self, database: &str, arguments: &[&str], sql: &str) -> Vec<u8> {
        let mut psql = Command::new(Release::clients().join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", database]);
        psql.arg("-h").arg(&self.folder).args(["-p", &self.port.to_string()]).args(arguments);
        run(as_user(&mut psql, self.user, &self.folder), sql)
    }
}

impl Database {
    /// A copy, as long as nobody else is connected.
    pub fn copy(&self) -> Self {
        self.cluster.create(&self.name)
    }

    /// Its address over loopback, with a password.
    pub fn url(&self) -> String {
        self.cluster.url(&self.name)
    }

    /// Its address over the Unix socket.
    pub fn socket_url(&self) -> String {
        self.cluster.socket_url(&self.name)
    }

    /// The server's major version.
    pub fn version(&self) -> u32 {
        self.run("SELECT current_setting('server_version_num')::int / 10000").trim().parse().unwrap()
    }

    /// Runs statements, and gives what `psql` prints for them: a line per row, `|` between columns.
    pub fn run(&self, sql: &str) -> String {
        String::from_utf8(self.cluster.psql(&self.name, &[], sql)).unwrap()
    }

    /// Rows of texts; null is `None`. For names with anything in them but the separators ASCII has for this.
    pub fn rows(&self, sql: &str) -> Vec<Vec<Option<Vec<u8>>>> {
        let arguments = ["-F", "\u{1f}", "-R", "\u{1e}", "-P", "null=\u{1d}"];
        let printed = self.cluster.psql(&self.name, &arguments, sql);
        let printed = printed.strip_suffix(b"\n").unwrap_or(&printed);
        if printed.is_empty() {
            return Vec::new();
        }
        let cell = |cell: &[u8]| (cell != b"\x1d").then(|| cell.to_vec());
        printed.split(|&it| it == 0x1e).map(|row| row.split(|&it| it == 0x1f).map(cell).collect()).collect()
    }
}

/// Whom the server runs as, where that is not us.
fn user() -> Option<(u32, u32)> {
    let id = |arguments: &[&str]| {
        let out = Command::new("id").args(arguments).output().unwrap();
        String::from_utf8(out.stdout).unwrap().trim().parse::<u32>().ok()
    };
    if id(&["-u"]) != Some(0) {
        return None;
    }
    let user = id(&["-u", "postgres"]).zip(id(&["-g", "postgres"]));
    Some(user.expect("root may not run the server and there is no user postgres to do it"))
}

fn as_user<'c>(command: &'c mut Command, user: Option<(u32, u32)>, folder: &Path) -> &'c mut Command {
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    command.current_dir(folder)
}

/// Runs to the end, with `input`.
fn run(command: &mut Command, input: &str) -> Vec<u8> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_owned();
    // A reader that stops early reports the cause itself, so an unwritten rest is ignored.
    let writing = std::thread::spawn(move || drop(pipe.write_all(input.as_bytes())));
    let out = child.wait_with_output().unwrap();
    writing.join().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}

/// Starts the server and waits until it can be asked.
#[allow(clippy::zombie_processes, reason = "the keeper outlives this process, which it waits for")]
fn keep(bin: &Path, folder: &Path, port: u16, user: Option<(u32, u32)>) -> ChildStdin {
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(KEEPER)
        .arg("keeper")
        .args([bin, folder, &Release::clients()])
        .env("PGPORT", port.to_string());
    // Of a group of its own: what interrupts the tests must not take the keeper along.
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut shell: Child = as_user(&mut shell, user, folder).spawn().unwrap();
    let pipe = shell.stdin.take().unwrap();
    let mut line = String::new();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
    if line.trim() != "ready" {
        let mut words = String::new();
        shell.stderr.take().unwrap().read_to_string(&mut words).unwrap();
        panic!("the server does not start: {words}");
    }
    pipe
}

fn write(path: &Path, text: &str, user: Option<(u32, u32)>) {
    std::fs::write(path, text).unwrap();
    if let Some((uid, gid)) = user {
        std::os::unix::fs::chown(path, Some(uid), Some(gid)).unwrap();
    }
}

/// A password for this run.
fn secret() -> String {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
