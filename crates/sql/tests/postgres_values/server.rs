//! A PostgreSQL server for one test: its own directory, its own socket, no port; gone with the test.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where Debian puts the programs, newest first.
const PLACES: [&str; 6] = [
    "/usr/lib/postgresql/18/bin",
    "/usr/lib/postgresql/17/bin",
    "/usr/lib/postgresql/16/bin",
    "/usr/lib/postgresql/15/bin",
    "/usr/lib/postgresql/14/bin",
    "/usr/lib/postgresql/13/bin",
];

pub(crate) struct Server {
    directory: PathBuf,
    programs: PathBuf,
}

impl Server {
    /// Starts a server that has run `sql` in a database called `values`.
    pub(crate) fn start(name: &str, sql: &str) -> Self {
        let programs = PLACES.iter().map(Path::new).find(|it| it.join("initdb").exists());
        let programs =
            programs.expect("PostgreSQL is installed (Debian's package `postgresql`)").to_path_buf();
        let directory = std::env::temp_dir().join(format!("weir-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let server = Self { directory, programs };
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(&server.directory));
        }
        let data = server.directory.join("data");
        let options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "-D"];
        run(server.program("initdb").args(options).arg(&data));
        let directory = server.directory.display();
        let settings = format!("-k {directory} -c listen_addresses= -c fsync=off -c shared_buffers=16MB");
        run(server
            .program("pg_ctl")
            .args(["start", "-w", "-s", "-o", &settings, "-l"])
            .arg(server.directory.join("log"))
            .arg("-D")
            .arg(&data));
        server.psql("postgres", "CREATE DATABASE values;");
        server.psql("values", sql);
        server
    }

    /// A program of the server, run as a user it accepts.
    fn program(&self, name: &str) -> Command {
        let path = self.programs.join(name);
        if !is_root() {
            return Command::new(path);
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(path);
        command
    }

    /// Runs statements; gives the rows, a line each, with `|` between columns.
    pub(crate) fn psql(&self, database: &str, sql: &str) -> String {
        let mut command = Command::new(self.programs.join("psql"));
        command.args([
            "-X",
            "-q",
            "-A",
            "-t",
            "-F",
            "|",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            "postgres",
            "-d",
            database,
        ]);
        command.arg("-h").arg(&self.directory).env("PGCLIENTENCODING", "UTF8").env("PGDATESTYLE", "ISO");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("psql");
        let mut input = child.stdin.take().expect("a pipe");
        let sql = sql.to_owned();
        let writer = std::thread::spawn(move || input.write_all(sql.as_bytes()));
        let output = child.wait_with_output().expect("psql ends");
        writer.join().expect("no panic").expect("psql reads all");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stop = self.program("pg_ctl");
        stop.args(["stop", "-s", "-m", "immediate", "-D"]).arg(self.directory.join("data"));
        let stopped = stop.status().is_ok_and(|it| it.success());
        let removed = std::fs::remove_dir_all(&self.directory).is_ok();
        assert!(std::thread::panicking() || (stopped && removed), "the server is gone");
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}

fn run(command: &mut Command) {
    let output = command.output().expect("the program is there");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
