//! A pooler in front of the databases of PostgreSQL cases, if `WEIR_POOLER` names the `run.sh` of one (`tests/kits/poolers`).

use crate::postgres_kit::Database;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// A pooler before one database; it ends with its standard input.
pub(crate) struct Pooler {
    child: Child,
    input: Option<ChildStdin>,
}

/// True if there is to be one.
pub(crate) fn is_wanted() -> bool {
    std::env::var_os("WEIR_POOLER").is_some()
}

/// True if the server behind it has not this extension: `lacks.txt` beside `run.sh` names such, one a line.
pub(crate) fn lacks(extension: &str) -> bool {
    let file = std::env::var("WEIR_POOLER").ok().map(|it| Path::new(&it).with_file_name("lacks.txt"));
    let named = file.and_then(|it| std::fs::read_to_string(it).ok()).unwrap_or_default();
    named.lines().any(|it| it == extension)
}

/// The address by which Weir opens `database`, and what has to live meanwhile.
pub(crate) fn address(database: &Database) -> (String, Option<Pooler>) {
    let Some(program) = std::env::var_os("WEIR_POOLER") else { return (database.url(), None) };
    let mut command = Command::new(program);
    command.arg(database.socket_url()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the pooler can be run");
    let input = child.stdin.take();
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line).expect("it can be read");
    assert!(!line.is_empty(), "the pooler does not start");
    (line.trim().to_owned(), Some(Pooler { child, input }))
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.input.take());
        self.child.wait().expect("it ends with its input");
    }
}
