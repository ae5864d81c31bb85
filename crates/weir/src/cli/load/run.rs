//! `weir load run`.

use super::options::RunArguments;
use super::report::write_page;
use super::show::Watcher;
use super::{MISSED, VOID, write_out};
use clap::Args;
use std::process::{Command, ExitCode};
use weir_load::report::run_text;
use weir_load::{RunOptions, Share, check_watched, generate_share};

/// Arguments of a generator process: those of its run, and its share.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct GenerateArguments {
    #[command(flatten)]
    run: RunArguments,
    /// This process's number, from 0
    #[arg(long)]
    share: u32,
    /// The start of the measured period, in microseconds since 1970
    #[arg(long)]
    start: u64,
}

/// Runs a plan and tells its result.
pub(super) fn run(arguments: &RunArguments) -> Result<ExitCode, String> {
    let plan = arguments.plan.plan(&arguments.target, arguments.amount.load())?;
    check_watched(&plan)?;
    let program =
        std::env::current_exe().map_err(|cause| format!("this program cannot be found: {cause}"))?;
    let spawner = |share: Share, start: u64| {
        let mut command = Command::new(&program);
        command.args(["load", "generate"]).args(std::env::args_os().skip(3));
        command.args(["--share", &share.index.to_string(), "--start", &start.to_string()]);
        command
    };
    let processes = (arguments.generators > 1).then_some((arguments.generators, &spawner as _));
    eprintln!("{} — {}", plan.url(), plan.load().words());
    let mut watcher = Watcher::new();
    let options = RunOptions { processes, ..RunOptions::default() };
    let result = weir_load::run(&plan, options, &mut |it| watcher.show("", it));
    watcher.end();
    let result = result?;
    write_out(arguments.out.as_deref(), &result)?;
    if let Some(file) = &arguments.report {
        write_page(file, &result)?;
    }
    super::super::print(&run_text(&result))?;
    Ok(match () {
        () if !result.verdict.valid => ExitCode::from(VOID),
        () if result.total.error_percent() > plan.errors_max_percent() => ExitCode::from(MISSED),
        () => ExitCode::SUCCESS,
    })
}

/// Sends the share of one generator process; reports go to standard output.
pub(super) fn generate(arguments: &GenerateArguments) -> Result<ExitCode, String> {
    let run = &arguments.run;
    let plan = run.plan.plan(&run.target, run.amount.load())?;
    let share = Share { index: arguments.share, of: run.generators };
    generate_share(&plan, share, arguments.start, &mut std::io::stdout())?;
    Ok(ExitCode::SUCCESS)
}
