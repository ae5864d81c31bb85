//! The sources and documents of the repository against the house rules, against each other, and against what was measured.
//!
//! A binary of its own: it needs no crate, so it is built and run in a moment.

mod attacks;
mod documents;
mod errors;
mod examples;
mod figures;
mod modules;
mod rules;
mod vocabulary;

use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}
