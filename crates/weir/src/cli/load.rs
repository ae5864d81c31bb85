//! `weir load`: the commands of the load kit.

use super::load_capacity::{self, CapacityOptions};
use super::load_report::{self, ReportOptions};
use clap::Subcommand;
use std::process::ExitCode;

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum LoadCommand {
    /// Compute a fleet from CPU per request, and simulate DNS, bursts, caches and lost zones
    Capacity(Box<CapacityOptions>),
    /// Make a page of a result, or compare it with an older one
    Report(ReportOptions),
}

/// Runs the command.
pub(super) fn run(command: LoadCommand) -> Result<ExitCode, String> {
    match command {
        LoadCommand::Capacity(options) => load_capacity::capacity(&options),
        LoadCommand::Report(options) => load_report::report(&options),
    }
}
