//! `weir events`: what an operator decides about event triggers.

use super::super::print;
use super::{environment, origin};
use crate::config::Config;
use crate::config::source::address;
use crate::config::state::STATE_SOURCE;
use crate::generation::{Generation, Overrides};
use clap::Subcommand;
use std::path::PathBuf;
use std::process::ExitCode;
use weir_events::state::StateAddress;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum EventsCommand {
    /// Deliver the events, schedules and stored calls of databases that another server served, or of a copied file; that server must be
    /// gone
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
    let mut lines = String::new();
    for source in &found {
        let line = weir_events::service::take_over(source);
        lines.push_str(&line.map_err(|error| format!("source `{}`: {error}", source.name))?);
        lines.push('\n');
    }
    let state = find_state(&generation.config, source.as_deref())?;
    // Behind the sources, as the schema may be that of one of them.
    let left = state.as_ref().map(weir_events::state::take_over).transpose();
    if let Some(left) = left.map_err(|error| format!("state: {error}"))?.flatten() {
        lines.push_str(&format!("state: taken over with {left}\n"));
    }
    if found.is_empty() && state.is_none() {
        return Err("no source with event triggers is meant, and no state".into());
    }
    print(&lines)
}

/// The database of the state: where all are meant, or the source that holds it.
fn find_state(config: &Config, source: Option<&str>) -> Result<Option<StateAddress>, String> {
    let is_meant = source.is_none_or(|it| it == STATE_SOURCE && config.state.is_none());
    let address = if is_meant { config.writable_state()? } else { None };
    Ok(address.filter(|it| matches!(it, StateAddress::Postgres(_))))
}
