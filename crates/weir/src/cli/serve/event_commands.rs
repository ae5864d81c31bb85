//! `weir events`: what an operator decides about event triggers.

use super::super::print;
use super::{environment, origin};
use crate::config::source::address;
use crate::generation::{Generation, Overrides};
use clap::Subcommand;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum EventsCommand {
    /// Deliver the events of databases that another server served, or of a copied file; that server must be gone
    #[command(after_help = "\
Examples:
  weir events take-over
  weir events take-over --metadata hasura/metadata
  weir events take-over weir.yaml --source default")]
    TakeOver {
        /// Source, as in `weir serve`
        #[arg(value_name = "URL|FILE|WEIR.YAML", default_value = "weir.yaml")]
        target: String,
        /// Metadata, as in `weir serve`
        #[arg(long, value_name = "DIR|FILE")]
        metadata: Option<PathBuf>,
        /// Name of the source; default: all
        #[arg(long, value_name = "NAME")]
        source: Option<String>,
    },
}

/// Runs `command`.
pub(in crate::cli) fn run(command: EventsCommand) -> Result<ExitCode, String> {
    let EventsCommand::TakeOver { target, metadata, source } = command;
    let overrides = Overrides { metadata, environment: environment()?, ..Overrides::default() };
    let config = origin(address::target(&target)?, overrides)?.read()?;
    let generation = Generation::build(config, 1)?;
    let is_meant = |name: &str| source.as_deref().is_none_or(|it| it == name);
    let found: Vec<_> = generation.events.iter().filter(|it| is_meant(&it.name)).collect();
    if found.is_empty() {
        return Err("no source with event triggers is meant".into());
    }
    let mut lines = String::new();
    for source in found {
        let line = weir_events::service::take_over(source);
        lines.push_str(&line.map_err(|error| format!("source `{}`: {error}", source.name))?);
        lines.push('\n');
    }
    print(&lines)
}
