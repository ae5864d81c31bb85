//! `weir load report`: a result as a page, or against an older one.

use super::super::print;
use super::{MISSED, VOID, read, write};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use weir_load::report::{self, Limit};
use weir_load::result::{GENERATOR, RunResult};

/// Options of the command.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  weir load report result.json > report.html
  weir load report result.json --baseline main.json --tolerance 10%
  weir load report result.json --baseline main.json --fail-if 'p99 > 1.2x' --fail-if 'errors > 0.1%'
  weir load report result.json --fail-if 'p99 > 50ms'

Limits: p50, p99.9, mean, throughput, errors, cpu, memory, cpu:PROCESS, memory:PROCESS; `>` or `<`; a ratio to the
baseline (1.2x) or a value (200ms, 5k/s, 0.1%, 400MB), which needs no baseline. They hold for the totals and for each
operation.

Exit codes: 0 all limits hold, 1 the command failed, 2 invalid command line, 3 a result is void, 4 a limit is broken")]
pub(in crate::cli) struct ReportOptions {
    /// The result of `weir load run`; `-` for standard input
    #[arg(value_name = "RESULT.JSON")]
    result: PathBuf,
    /// Compare with this older result, and print a table in place of the page
    #[arg(long, value_name = "RESULT.JSON")]
    baseline: Option<PathBuf>,
    /// Fail if throughput is less, or p50, p99 or CPU per request are more than the baseline's by this part, or if
    /// more than 0.1 % of the requests fail
    #[arg(long, value_name = "PART", requires = "baseline", value_parser = tolerance)]
    tolerance: Option<f64>,
    /// Fail if this is so, and print a table in place of the page; may be given several times
    #[arg(long, value_name = "LIMIT", value_parser = Limit::read)]
    fail_if: Vec<Limit>,
    /// Write the page here instead of to standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

fn tolerance(text: &str) -> Result<f64, String> {
    let part = weir_load::capacity::read_part(text)?;
    if part < 1.0 { Ok(part) } else { Err(format!("`{text}` has to be below 100 %")) }
}

/// Prints the page, or the comparison.
pub(super) fn report(options: &ReportOptions) -> Result<ExitCode, String> {
    let new = load(&options.result)?;
    if let Some(html) = &options.html {
        write_page(html, &new)?;
    }
    let mut limits = options.fail_if.clone();
    let comparison = match &options.baseline {
        Some(older) => {
            let old = load(older)?;
            if let Some(tolerance) = options.tolerance {
                let has_cpu = old.processes.iter().any(|it| it.name != GENERATOR);
                limits.extend(Limit::of_tolerance(tolerance, has_cpu));
            }
            report::compare(&old, &new, &limits)?
        }
        None if !limits.is_empty() => report::hold(&new, &limits)?,
        None if options.html.is_some() => return Ok(ExitCode::SUCCESS),
        None => return print(&report::page(&new)?),
    };
    print(&comparison.text())?;
    Ok(match () {
        () if !comparison.void.is_empty() => ExitCode::from(VOID),
        () if !comparison.holds() => ExitCode::from(MISSED),
        () => ExitCode::SUCCESS,
    })
}

/// Writes the page of a result.
pub(super) fn write_page(file: &Path, run: &RunResult) -> Result<(), String> {
    write(file, &report::page(run)?)
}

fn load(file: &Path) -> Result<RunResult, String> {
    let text = if file == Path::new("-") {
        std::io::read_to_string(std::io::stdin()).map_err(|cause| format!("standard input: {cause}"))?
    } else {
        read(file)?
    };
    report::read(&text).map_err(|message| format!("{}: {message}", file.display()))
}
