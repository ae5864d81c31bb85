//! `weir load compare`: its two sides, which are URLs or commands.

use super::options::{AmountOptions, PlanOptions};
use super::show::Watcher;
use super::{MISSED, write_out};
use clap::Args;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_load::report::compare_text;
use weir_load::result::Comparison;
use weir_load::{CompareOptions, PlanOverrides, Side, check_watched, compare as measure, read_duration};

/// Time that a command may take until it listens.
const START: Duration = Duration::from_secs(30);
/// Pause between two attempts to connect.
const LOOK: Duration = Duration::from_millis(20);

/// Arguments of `weir load compare`.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct CompareArguments {
    /// A URL, or a command with {port} in it
    #[arg(value_name = "A")]
    a: String,
    /// The other side
    #[arg(value_name = "B")]
    b: String,
    /// A load.yaml; its target and load are replaced
    #[arg(long, value_name = "LOAD.YAML")]
    plan_file: Option<PathBuf>,
    #[command(flatten)]
    plan: PlanOptions,
    #[command(flatten)]
    amount: AmountOptions,
    /// Path of a command's URL
    #[arg(long, value_name = "PATH", default_value = "/graphql")]
    path: String,
    /// Pairs of slices
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(3..=1000))]
    pairs: u32,
    /// Length of a slice
    #[arg(long, value_name = "TIME", value_parser = read_duration, default_value = "3s")]
    slice: Duration,
    /// The smallest difference that counts, in percent
    #[arg(long, value_name = "PERCENT", default_value = "2")]
    least: f64,
    /// Requests of each operation whose answers are compared; 0 compares none
    #[arg(long, value_name = "N", default_value = "5")]
    answers: u32,
    /// A process of A, by id or name
    #[arg(long, value_name = "PID|NAME")]
    watch_a: Vec<String>,
    /// A process of B
    #[arg(long, value_name = "PID|NAME")]
    watch_b: Vec<String>,
    /// Write the result as JSON
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// A started command; dropping it ends the command.
struct Started(Option<Child>);

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // The command may have exited already.
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Compares and prints the table.
pub(super) fn compare(arguments: &CompareArguments) -> Result<ExitCode, String> {
    let (a, _a_process) = arguments.side(&arguments.a, &arguments.watch_a)?;
    let (b, _b_process) = arguments.side(&arguments.b, &arguments.watch_b)?;
    let options =
        CompareOptions { pairs: arguments.pairs, least: arguments.least / 100.0, answers: arguments.answers };
    let mut watcher = Watcher::new();
    let result = measure(&a, &b, &options, &mut |side, pair, it| {
        watcher.show(&format!("{}/{} {side}: ", pair + 1, arguments.pairs), it);
    });
    watcher.end();
    let result = result?;
    write_out(arguments.out.as_deref(), &result)?;
    super::super::print(&compare_text(&result))?;
    let is_missed = result.verdict == Comparison::Worse || !result.differences.is_empty();
    Ok(if is_missed { ExitCode::from(MISSED) } else { ExitCode::SUCCESS })
}

impl CompareArguments {
    fn side(&self, text: &str, watch: &[String]) -> Result<(Side, Started), String> {
        let mut watch = watch.to_vec();
        let (url, started) = if text.starts_with("http://") || text.starts_with("https://") {
            (text.to_owned(), Started(None))
        } else {
            let (port, child) = start(text)?;
            watch.push(child.id().to_string());
            (format!("http://127.0.0.1:{port}{}", self.path), Started(Some(child)))
        };
        let mut plan =
            self.plan.plan_of(self.plan_file.as_deref(), Some(&url), self.amount.slice(self.slice))?;
        plan.set(PlanOverrides { watch, ..PlanOverrides::default() })?;
        check_watched(&plan)?;
        Ok((Side { plan: Arc::new(plan), name: text.to_owned() }, started))
    }
}

/// Starts a command on a free port and waits until it listens there.
fn start(text: &str) -> Result<(u16, Child), String> {
    if !text.contains("{port}") {
        return Err(format!("`{text}` is no URL, and no command with {{port}} in it"));
    }
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|it| it.local_addr());
    let port = free.map_err(|cause| format!("no port is free: {cause}"))?.port();
    // `exec` replaces the shell, so that the child's process id is the command's.
    let line = format!("exec {}", text.replace("{port}", &port.to_string()));
    let command = Command::new("sh").arg("-c").arg(line).stdout(Stdio::null()).spawn();
    let mut child = command.map_err(|cause| format!("`{text}` cannot be started: {cause}"))?;
    let until = Instant::now() + START;
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        if let Ok(Some(status)) = child.try_wait() {
            return Err(format!("`{text}` has ended with {status}"));
        }
        if Instant::now() > until {
            drop(Started(Some(child)));
            return Err(format!("`{text}` does not listen at port {port} after {} s", START.as_secs()));
        }
        std::thread::sleep(LOOK);
    }
    Ok((port, child))
}
