//! Reports on results: a page and texts for people, a comparison with an older result for pipelines, and the formats' JSON schemas.

mod baseline;
mod charts;
mod published;
mod run_page;
mod search_text;

pub use crate::page::figures::{micros, rate};
pub use baseline::{BaselineComparison, Change, Figure, Limit, compare, hold};
pub use published::{ResultKind, schema};
pub use run_page::{page, run_text};
pub use search_text::{compare_text, max_text};

use crate::result::{FORMAT, RunResult};

/// Reads a result of `weir load run`.
/// # Errors
/// A text that is none, and how to get one.
pub fn read(text: &str) -> Result<RunResult, String> {
    let format =
        serde_json::from_str::<Format>(text).map_err(|cause| format!("no result of a load test: {cause}"))?;
    if format.format != FORMAT {
        return Err(format!("a result of format {}; this Weir reads format {FORMAT}", format.format));
    }
    serde_json::from_str(text).map_err(|cause| format!("no result of `weir load run --json`: {cause}"))
}

#[derive(serde::Deserialize)]
struct Format {
    format: u32,
}
