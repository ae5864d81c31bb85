//! A test plan: the target, the operations and their mix, the values of their requests, the load.
//!
//! **Invariant:** a plan that was read can be run; every mistake in its text is reported with line, column and a fix.

mod build_plan;
mod check;
mod document_operations;
mod generators;
mod json_path;
mod load_options;
mod operation;
mod plan_text;
mod quick;
mod replay;
mod request_parts;

pub use generators::Share;
pub(crate) use generators::{Generators, RunValues, cumulate};
pub(crate) use json_path::parse_captured;
pub use load_options::{Load, LoadOptions};
pub(crate) use operation::{Mark, Operation, Over};
pub use quick::Request;
pub use replay::Entry;

use crate::wire::Target;
use std::path::PathBuf;
use std::time::Duration;

/// The version of HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP/1.1, one request at a time on each connection.
    #[default]
    Http1,
    /// HTTP/2: over TLS by ALPN, else with prior knowledge.
    Http2,
}

/// A plan that can be run.
#[derive(Debug)]
pub struct Plan {
    pub(crate) name: String,
    pub(crate) target: Target,
    pub(crate) seed: u64,
    pub(crate) protocol: Protocol,
    pub(crate) connections: Option<u32>,
    pub(crate) streams: u32,
    pub(crate) warmup: Duration,
    pub(crate) errors_max_percent: f64,
    pub(crate) ca: Option<PathBuf>,
    pub(crate) schema: Option<PathBuf>,
    pub(crate) load: Load,
    pub(crate) operations: Vec<Operation>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) generators: Generators,
    pub(crate) captures: usize,
    pub(crate) watch: Vec<String>,
}

/// Operations that one client sends one after the other; an operation of the mix is a flow of one.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub name: String,
    pub weight: f64,
    pub think: Duration,
    pub steps: Vec<usize>,
    /// The generators that its steps use.
    pub used: Vec<usize>,
}

/// Settings of the command line that replace those of a plan.
#[derive(Clone, Debug, Default)]
pub struct PlanOverrides {
    /// The server.
    pub target: Option<String>,
    /// Number of connections.
    pub connections: Option<u32>,
    /// Version of HTTP.
    pub protocol: Option<Protocol>,
    /// Streams of a connection with HTTP/2.
    pub streams: Option<u32>,
    /// Seed of values and arrivals.
    pub seed: Option<u64>,
    /// Time before the measured period.
    pub warmup: Option<Duration>,
    /// Certificates to trust.
    pub ca: Option<PathBuf>,
    /// Processes to watch, by id or name.
    pub watch: Vec<String>,
    /// Share of failed requests that is accepted.
    pub errors_max_percent: Option<f64>,
}

impl Plan {
    /// Replaces settings.
    /// # Errors
    /// A target that is no URL.
    pub fn set(&mut self, overrides: PlanOverrides) -> Result<(), String> {
        if let Some(target) = overrides.target {
            self.retarget(&target)?;
        }
        self.connections = overrides.connections.or(self.connections);
        self.protocol = overrides.protocol.unwrap_or(self.protocol);
        self.streams = overrides.streams.unwrap_or(self.streams);
        self.seed = overrides.seed.unwrap_or(self.seed);
        self.warmup = overrides.warmup.unwrap_or(self.warmup);
        self.ca = overrides.ca.or(self.ca.take());
        self.errors_max_percent = overrides.errors_max_percent.unwrap_or(self.errors_max_percent);
        self.watch.extend(overrides.watch);
        Ok(())
    }

    /// Calls another server by the same paths; GraphQL goes to the URL's own path.
    /// # Errors
    /// A target that is no URL.
    pub fn retarget(&mut self, url: &str) -> Result<(), String> {
        let target = Target::read(url)?;
        let old = std::mem::replace(&mut self.target, target);
        for operation in &mut self.operations {
            operation.repath(&old.path, &self.target.path);
            operation.prepare(&self.target);
        }
        Ok(())
    }

    pub fn load(&self) -> &Load {
        &self.load
    }

    /// The URL that is called.
    pub fn url(&self) -> String {
        format!("{}{}", self.target.origin(), self.target.path)
    }

    /// The name of the plan.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Share of failed requests that is accepted.
    pub fn errors_max_percent(&self) -> f64 {
        self.errors_max_percent
    }

    /// The schema that the plan names.
    pub fn schema(&self) -> Option<&PathBuf> {
        self.schema.as_ref()
    }

    /// The GraphQL documents, each with the name of its operation.
    pub fn documents(&self) -> impl Iterator<Item = (&str, &str)> {
        self.operations.iter().filter_map(|it| Some((it.name.as_str(), it.document.as_deref()?)))
    }

    /// The names of the mix: operations and flows with a weight.
    pub(crate) fn mix(&self) -> impl Iterator<Item = &str> {
        self.flows.iter().map(|it| it.name.as_str())
    }

    pub(crate) fn protocol_words(&self) -> String {
        let version = match self.protocol {
            Protocol::Http1 => "http1",
            Protocol::Http2 => "http2",
        };
        format!("{version}{}", if self.target.is_tls { " tls" } else { "" })
    }
}
