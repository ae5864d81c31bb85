//! A Weir of its own for a test: a process on a port of its own, spoken to over plain sockets.

#![allow(dead_code, unreachable_pub, reason = "every test that has it uses a part of it")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Nothing in a test takes so long; a socket that does is a failure.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Asks again until `done`, at most [`PATIENCE`].
pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::yield_now();
    }
}

/// A folder that goes with the test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("weir-test-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder can be made");
        Self(path)
    }
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.file(name), text).expect("a file can be written");
        self.file(name)
    }
    /// A database with one table `pet` of three rows.
    pub fn pets(&self) -> PathBuf {
        let file = self.file("pets.db");
        let database = rusqlite::Connection::open(&file).expect("SQLite makes a file");
        database
            .execute_batch(
                "CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                 INSERT INTO pet VALUES (1, 'Ada'), (2, 'Bob'), (3, 'Cyd')",
            )
            .expect("the statements are right");
        file
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A running server. Ends with the test.
pub struct Weir {
    pub child: Child,
    pub address: SocketAddr,
    pub admin: Option<SocketAddr>,
    output: BufReader<ChildStdout>,
    folder: Folder,
}

pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    command.env_remove("WEIR_ADMIN_SECRET").env_remove("HASURA_GRAPHQL_ADMIN_SECRET").stdin(Stdio::null());
    command
}

impl Weir {
    /// Serves the pets with these further arguments.
    pub fn pets(arguments: &[&str]) -> Self {
        let folder = Folder::new();
        let file = folder.pets();
        let target = format!("sqlite:{}", file.display());
        let mut all = vec!["serve", &target, "--listen", "127.0.0.1:0"];
        all.extend(arguments);
        Self::start(&all, folder)
    }

    /// Serves the pets by a configuration that has this text beside `listen` and `sources`.
    pub fn with_settings(yaml: &str) -> Self {
        let folder = Folder::new();
        folder.pets();
        Self::in_folder(folder, yaml)
    }

    /// As [`Weir::with_settings`], where further files are.
    pub fn in_folder(folder: Folder, yaml: &str) -> Self {
        let file = folder.write("weir.yaml", &config(yaml));
        Self::by_file(&file, folder)
    }

    /// Serves the pets beside the services of `sdl`, whose `http://upstream` is the server at `upstream`, by a configuration with this
    /// text beside `listen` and `sources`.
    pub fn with_services(sdl: &str, upstream: SocketAddr, yaml: &str) -> Self {
        let folder = Folder::new();
        let services =
            folder.write("services.graphql", &sdl.replace("http://upstream", &format!("http://{upstream}")));
        let pets = folder.pets();
        let pets = pets.display();
        let services = services.display();
        let yaml = format!(
            "listen: 127.0.0.1:0\nthreads: 1\n{yaml}\nsources:\n  - {{name: main, url: \"sqlite:{pets}\"}}\n  - {{name: services, file: {services}}}\n"
        );
        let file = folder.write("weir.yaml", &yaml);
        Self::by_file(&file, folder)
    }

    /// Serves what the configuration `file` says.
    pub fn by_file(file: &Path, folder: Folder) -> Self {
        Self::start(&["serve", file.to_str().expect("it is UTF-8")], folder)
    }

    /// Serves the database at `url`.
    pub fn serving(url: &str) -> Self {
        Self::start(&["serve", url, "--listen", "127.0.0.1:0"], Folder::new())
    }

    /// Runs Weir with these arguments until the test ends.
    pub fn start(arguments: &[&str], folder: Folder) -> Self {
        Self::run(command().args(arguments), folder)
    }

    /// As [`Weir::start`], by a command of one's own.
    pub fn run(command: &mut Command, folder: Folder) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(fs::File::create(folder.file("log")).expect("the log can be made"))
            .spawn()
            .expect("the binary starts");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut address = None;
        let mut admin = None;
        let mut line = String::new();
        while output.read_line(&mut line).is_ok_and(|it| it > 0) {
            let found = line.split("://").nth(1).map(|it| it.trim().split('/').next().unwrap_or_default());
            match (found.and_then(|it| it.parse().ok()), line.starts_with("metrics")) {
                (Some(it), true) => admin = Some(it),
                (Some(it), false) => address = address.or(Some(it)),
                (None, _) => {}
            }
            line.clear();
            // The lines are written at once, so what is there now is all.
            if output.buffer().is_empty() {
                break;
            }
        }
        let log = || fs::read_to_string(folder.file("log")).unwrap_or_default();
        let address = address.unwrap_or_else(|| panic!("weir did not start: {}", log()));
        Self { child, address, admin, output, folder }
    }

    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.file("log")).unwrap_or_default()
    }

    pub fn connect(&self) -> TcpStream {
        connect(self.address)
    }

    /// Sends `raw` on a connection of its own and reads the answer.
    pub fn raw(&self, raw: &[u8]) -> Answer {
        let mut socket = self.connect();
        // A server may refuse before it has read all; then the rest cannot be sent.
        let _ = socket.write_all(raw);
        Answer::read(&mut BufReader::new(socket))
    }

    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.raw(&message("GET", path, headers, None))
    }

    pub fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut all = vec![("content-type", "application/json")];
        all.extend(headers);
        self.raw(&message("POST", path, &all, Some(body)))
    }

    pub fn query(&self, query: &str) -> Answer {
        self.post("/graphql", &[], body(query).as_bytes())
    }

    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(status.is_ok_and(|it| it.success()), "the signal can be sent");
    }
}

impl Drop for Weir {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A configuration over the pets.
pub fn config(yaml: &str) -> String {
    format!("listen: 127.0.0.1:0\nsources: [{{name: pets, url: pets.db}}]\n{yaml}\n")
}

pub fn connect(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).expect("the server accepts");
    socket.set_read_timeout(Some(PATIENCE)).expect("it is a duration");
    socket.set_write_timeout(Some(PATIENCE)).expect("it is a duration");
    socket.set_nodelay(true).expect("it is a TCP socket");
    socket
}

/// `{"query": …}`.
pub fn body(query: &str) -> String {
    serde_json::json!({ "query": query }).to_string()
}

/// A request in HTTP/1.1 that keeps the connection.
pub fn message(method: &str, path: &str, headers: &[(&str, &str)], body: Option<&[u8]>) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    if !headers.iter().any(|it| it.0 == "host") {
        text.push_str("host: localhost\r\n");
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if let Some(body) = body {
        text.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    text.push_str("\r\n");
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(body.unwrap_or_default());
    bytes
}

/// An HTTP response.
#[derive(Debug)]
pub struct Answer {
    /// 0 if the connection was closed without one.
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    /// Reads one answer, by its length or its chunks.
    pub fn read(from: &mut impl BufRead) -> Self {
        let mut answer = Self { status: 0, headers: Vec::new(), body: Vec::new() };
        let mut line = String::new();
        if from.read_line(&mut line).is_err() || line.is_empty() {
            return answer;
        }
        answer.status = line.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
        loop {
            line.clear();
            from.read_line(&mut line).expect("the head can be read");
            match line.trim_end().split_once(": ") {
                Some((name, value)) => answer.headers.push((name.to_ascii_lowercase(), value.to_string())),
                None => break,
            }
        }
        if answer.header("transfer-encoding") == Some("chunked") {
            answer.read_chunks(from);
        } else if let Some(length) = answer.header("content-length").and_then(|it| it.parse().ok()) {
            answer.body.resize(length, 0);
            from.read_exact(&mut answer.body).expect("the body is as long as announced");
        }
        answer
    }

    fn read_chunks(&mut self, from: &mut impl BufRead) {
        loop {
            let mut line = String::new();
            from.read_line(&mut line).expect("a chunk begins with its length");
            let length = usize::from_str_radix(line.trim(), 16).expect("the length is hexadecimal");
            let begin = self.body.len();
            self.body.resize(begin + length + 2, 0);
            from.read_exact(&mut self.body[begin..]).expect("the chunk is whole");
            self.body.truncate(begin + length);
            if length == 0 {
                return;
            }
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is UTF-8")
    }
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
    /// `errors[0].extensions.code`.
    pub fn code(&self) -> String {
        self.json()["errors"][0]["extensions"]["code"].as_str().unwrap_or_default().to_string()
    }
}

pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|cause| panic!("{}: {cause}", path.display()))
}
