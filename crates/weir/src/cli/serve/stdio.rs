//! `weir mcp`: tools for one agent over standard input and output, one message on each line.
//!
//! The agent has the role of the command line, as the process belongs to whoever started it. Nothing listens, and nothing but messages is
//! written to standard output.
//!
//! **Invariant:** at most [`CALLS_MAX`] calls run and [`WAITING_MAX`] wait, none is longer than `limits.body_bytes_max`, and nothing that
//! runs keeps the next message from being read. Rates and limits of the role hold as they do for a server.

use super::agent_options::AgentOptions;
use super::json_option::json_of;
use super::sample_database::sample_file;
use super::{environment, origin};
use crate::config::source::address::{self, Address, Target};
use crate::config::{Config, Listen, SchemaTool};
use crate::generation::admission::Asker;
use crate::generation::{Generation, Overrides};
use crate::operations::tools::answer;
use crate::operations::tools::catalog::ToolCatalog;
use crate::operations::tools::fault::RpcFault;
use crate::operations::tools::host::{ToolHost, ToolOperation};
use crate::operations::tools::message::{self, AgentMessage};
use crate::operations::tools::reply::error_reply;
use crate::server::{Metrics, log};
use crate::session;
use rmcp::model::ErrorCode;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{BufRead, Read, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{AbortHandle, LocalSet, spawn_local, yield_now};
use weir_engine::caller::ADMIN;
use weir_engine::engine::{Engine, Response};
use weir_engine::source::{Caller, NoHeaders};
use weir_language::json::{Json, JsonRef};

/// Calls of tools that run at once.
const CALLS_MAX: u32 = 16;

/// Calls that wait for others to end; further ones are refused.
const WAITING_MAX: u32 = 48;

/// Serves the agent until it closes standard input.
pub(in crate::cli) fn run(options: AgentOptions) -> Result<ExitCode, String> {
    let config = read_config(&options)?;
    log::start(&config.log, &Arc::new(Metrics::new()))?;
    let generation = Generation::build(config, 1)?;
    if generation.is_waiting {
        return Err(generation.findings.down.first().map_or_else(String::new, ToString::to_string));
    }
    let findings = &generation.findings;
    findings.mistakes.iter().chain(&findings.warnings).for_each(|it| eprintln!("{it}"));
    findings.down.iter().for_each(|it| eprintln!("{it}"));
    let caller = read_caller(&options, &generation)?;
    let host = Rc::new(StdioHost { generation, caller });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|cause| format!("no event loop: {cause}"))?;
    let lines = read_lines(host.generation.config.limits.body_bytes_max as usize);
    LocalSet::new().block_on(&runtime, serve_lines(host, lines));
    log::drain();
    Ok(ExitCode::SUCCESS)
}

/// The configuration of `options`. A database alone has no saved operations, so its agents get the tools over the schema.
fn read_config(options: &AgentOptions) -> Result<Config, String> {
    let target = if options.demo {
        Target::Source(Address::Sqlite(sample_file(false, None)?))
    } else {
        address::target(&options.target)?
    };
    let is_alone = matches!(target, Target::Source(_));
    let metadata = options.metadata.clone();
    let overrides = Overrides { metadata, environment: environment()?, ..Overrides::default() };
    let mut config = origin(target, overrides)?.read()?;
    // Nothing listens, so addresses of the file need no secret.
    (config.listen, config.admin_listen) = (Listen::default(), None);
    let mcp = &mut config.operations.mcp;
    mcp.enabled = true;
    match &options.tools {
        Some(named) => mcp.schema_tools = named.iter().map(|it| SchemaTool::from(*it)).collect(),
        None if is_alone => mcp.schema_tools = SchemaTool::ALL.to_vec(),
        None => {}
    }
    mcp.execute_mutations |= options.execute_mutations;
    config.check()?;
    Ok(config)
}

fn read_caller(options: &AgentOptions, generation: &Generation) -> Result<Caller, String> {
    let claims = options.claims.as_deref().map(|it| json_of("--claims", it)).transpose()?;
    let tape = claims.as_ref().map(|it| Json::parse(it.as_bytes(), generation.config.limits.nesting_max));
    let tape = tape.transpose().map_err(|error| format!("--claims: {error}"))?;
    let identity = session::assume_identity(options.role.as_deref(), tape.as_ref().map(Json::root))?;
    Ok(generation.engine.caller(&generation.native_auth.with_values(identity)))
}

/// One line of standard input.
enum InputLine {
    Text(Vec<u8>),
    TooLong,
}

/// Reads standard input on a thread of its own, as it cannot be polled.
fn read_lines(bytes_max: usize) -> mpsc::Receiver<InputLine> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        while let Ok(Some(line)) = read_line(&mut input, bytes_max) {
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

/// The next line of `input`; `None` at its end.
fn read_line(input: &mut impl BufRead, bytes_max: usize) -> std::io::Result<Option<InputLine>> {
    let mut line = Vec::new();
    let limit = bytes_max as u64 + 1;
    if input.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.len() as u64 == limit && line.last() != Some(&b'\n') {
        loop {
            let (end, read) = match input.fill_buf()? {
                [] => (true, 0),
                bytes => match bytes.iter().position(|it| *it == b'\n') {
                    Some(at) => (true, at + 1),
                    None => (false, bytes.len()),
                },
            };
            input.consume(read);
            if end {
                return Ok(Some(InputLine::TooLong));
            }
        }
    }
    Ok(Some(InputLine::Text(line)))
}

/// Calls of tools that run or wait, by id as written.
type Calls = Rc<RefCell<HashMap<Box<str>, AbortHandle>>>;

/// Answers each line; returns when all are answered.
async fn serve_lines(host: Rc<StdioHost>, mut lines: mpsc::Receiver<InputLine>) {
    let turns = Arc::new(Semaphore::new(CALLS_MAX as usize));
    let places = Arc::new(Semaphore::new((CALLS_MAX + WAITING_MAX) as usize));
    let calls = Calls::default();
    while let Some(line) = lines.recv().await {
        let bytes = match line {
            InputLine::Text(bytes) if bytes.trim_ascii().is_empty() => continue,
            InputLine::Text(bytes) => bytes,
            InputLine::TooLong => {
                let bytes_max = host.generation.config.limits.body_bytes_max;
                let words = format!("the message is longer than {bytes_max} bytes");
                write_line(error_reply(None, &RpcFault::new(ErrorCode::INVALID_REQUEST, words)));
                continue;
            }
        };
        let id = match read_line_kind(&host, &calls, &bytes) {
            LineKind::Done => {
                // A cancelled call leaves its place when it is polled next.
                yield_now().await;
                continue;
            }
            LineKind::Quick => {
                answer_line(&host, &bytes).await;
                continue;
            }
            LineKind::Call(id) => id,
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            let words = format!("{WAITING_MAX} calls wait already: call again when some are answered");
            write_line(error_reply(Some(&id), &RpcFault::crowded(words)));
            continue;
        };
        let host = Rc::clone(&host);
        let turns = Arc::clone(&turns);
        let done = (Rc::clone(&calls), id.clone());
        let task = spawn_local(async move {
            let _place = place;
            // A closed semaphore does not occur: nobody closes it.
            let _turn = turns.acquire().await;
            answer_line(&host, &bytes).await;
            done.0.borrow_mut().remove(&done.1);
        });
        calls.borrow_mut().insert(id, task.abort_handle());
    }
    let _ = places.acquire_many(CALLS_MAX + WAITING_MAX).await;
}

/// A line by what is left to do for it.
enum LineKind {
    /// It needs no answer, or was answered.
    Done,
    /// A request that waits for no source.
    Quick,
    /// A call of a tool, or a list of tools, with its id.
    Call(Box<str>),
}

/// Reads the message in `bytes`; ends the call that it cancels.
fn read_line_kind(host: &StdioHost, calls: &Calls, bytes: &[u8]) -> LineKind {
    let tape = match Json::parse(bytes, host.generation.config.limits.nesting_max) {
        Ok(tape) => tape,
        Err(error) => {
            let fault = RpcFault::new(ErrorCode::PARSE_ERROR, format!("the line is not valid JSON: {error}"));
            write_line(error_reply(None, &fault));
            return LineKind::Done;
        }
    };
    match message::read(tape.root()) {
        Ok(AgentMessage::Request(request)) if request.method.starts_with("tools/") => {
            LineKind::Call(request.id.into())
        }
        Ok(AgentMessage::Request(_)) => LineKind::Quick,
        Ok(AgentMessage::Note { method, params }) => {
            let ended = params.filter(|_| method == "notifications/cancelled");
            let ended = ended.and_then(|it| it.get("requestId")).map(JsonRef::raw);
            if let Some(call) = ended.and_then(|it| calls.borrow_mut().remove(it)) {
                call.abort();
            }
            LineKind::Done
        }
        Err((id, fault)) => {
            write_line(error_reply(id, &fault));
            LineKind::Done
        }
    }
}

/// Answers the request in `bytes`.
async fn answer_line(host: &StdioHost, bytes: &[u8]) {
    let Ok(tape) = Json::parse(bytes, host.generation.config.limits.nesting_max) else { return };
    let Ok(AgentMessage::Request(request)) = message::read(tape.root()) else { return };
    let answered = match request.era() {
        Ok(era) => answer::answer(host, era, &request).await,
        Err(fault) => Err(fault),
    };
    write_line(answered.unwrap_or_else(|fault| error_reply(Some(request.id), &fault)));
}

/// Writes a message as one line. JSON of databases may have line feeds between its members, which mean nothing there.
fn write_line(mut message: Vec<u8>) {
    message.iter_mut().filter(|it| matches!(it, b'\n' | b'\r')).for_each(|it| *it = b' ');
    message.push(b'\n');
    let mut output = std::io::stdout().lock();
    // An agent that is gone closes standard input too, which ends the process.
    let _ = output.write_all(&message).and_then(|()| output.flush());
}

/// The agent of this process.
struct StdioHost {
    generation: Generation,
    caller: Caller,
}

impl StdioHost {
    /// The agent as rates see it. Whoever started the process proved its role by that.
    fn asker<'a>(&'a self, text: &'a str, operation_name: Option<&'a str>) -> Asker<'a> {
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Asker { caller: &self.caller, address, is_proven: true, text, operation_name }
    }
}

impl ToolHost for StdioHost {
    fn caller(&self) -> &Caller {
        &self.caller
    }
    fn config(&self) -> &Config {
        &self.generation.config
    }
    fn engine(&self) -> &Engine {
        &self.generation.engine
    }
    fn catalog(&self) -> &ToolCatalog {
        &self.generation.operations.tools
    }
    fn allows(&self, text: &str) -> bool {
        self.caller.role() == ADMIN || self.generation.operations.allows(text, self.caller.role())
    }
    async fn count(&self, text: &str, operation_name: Option<&str>) -> Result<(), String> {
        let Generation { admission, operations, .. } = &self.generation;
        let asker = self.asker(text, operation_name);
        let counted = admission.count(&asker, &operations.known, &mut Vec::new()).await;
        counted.map_err(|refusal| refusal.words())
    }
    async fn execute(&self, operation: ToolOperation<'_>) -> Response {
        let patience = Duration::from_secs(self.generation.config.limits.request_s.into());
        let request = operation.request(&NoHeaders, Instant::now() + patience);
        let asker = self.asker(operation.text, operation.operation_name);
        match self.generation.admission.limit_request(&asker, request) {
            Ok(request) => self.generation.engine.execute(request, &self.caller).await,
            Err(response) => *response,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_bounded_and_the_next_one_is_read() {
        let mut input = std::io::Cursor::new(b"short\n0123456789\nnext\n1234567".as_slice());
        let mut read = || match read_line(&mut input, 7).expect("it can be read") {
            Some(InputLine::Text(line)) => String::from_utf8(line).expect("it is UTF-8"),
            Some(InputLine::TooLong) => "too long".to_owned(),
            None => "end".to_owned(),
        };
        let found: Vec<String> = (0..5).map(|_| read()).collect();
        assert_eq!(found, ["short\n", "too long", "next\n", "1234567", "end"]);
    }
}
