//! `weir demo`: serves the Chinook sample database.

use super::ServeOptions;
use super::serve::sample_database::sample_file;
use super::serve::{origin, overrides, run};
use crate::config::source::address::{Address, Target};
use std::path::PathBuf;
use std::process::ExitCode;

/// Serves the sample database, which is created if missing.
pub(super) fn demo(reset: bool, data: Option<PathBuf>, options: ServeOptions) -> Result<ExitCode, String> {
    let file = sample_file(reset, data)?;
    run(origin(Target::Source(Address::Sqlite(file)), overrides(options)?)?)
}
