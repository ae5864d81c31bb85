//! `weir load capacity`: from CPU per request to a fleet.

use super::super::print;
use super::{read, write};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use weir_load::capacity::{self, Inputs, OperationCost, Sourced, Zones};

/// Options of the command.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  weir load capacity --rate 1M/s --cpu 60ms --utilisation 100% --zones 1     7,500 machines with 8 cores
  weir load capacity --rate 28M/min --result run.json --price 0.34           CPU as `weir load run` measured it
  weir load capacity examples/capacity/match-centre.yaml --html fleet.html   with simulations and plots

A file (all of it: docs/capacity.md):
  rate: 1M/s
  utilisation: 60%
  machine: {cores: 8, price: 0.34}
  zones: {count: 3, lost: 1}
  operations:
    match: {cpu: 190us, weight: 9}
    login: {result: login.json, weight: 1}
  balancers: {count: 13, ttl: 60s, resolvers: 20000, skew: 0.5, own_machines: false}
  scaling: {from: 50%, over: 2min, period: 60s, boot: 3min, growth: 100%}
  cache: {keys: 5000, skew: 1, ttl: 2s, shared: false}
  zone_loss: {detect: 30s, ttl: 60s}"
)]
pub(in crate::cli) struct CapacityOptions {
    /// The inputs; options win over it
    #[arg(value_name = "FILE.YAML")]
    file: Option<PathBuf>,
    /// Requests per second at the planned peak: 500, 250k/s, 1M/s, 28M/min
    #[arg(long, value_parser = capacity::read_rate)]
    rate: Option<f64>,
    /// CPU time of a request, in place of the file's operations: 190us, 60ms
    #[arg(long, value_name = "TIME", value_parser = capacity::read_seconds, conflicts_with = "result")]
    cpu: Option<f64>,
    /// CPU time from a result of `weir load run`, or of `weir load max` for its mix
    #[arg(long, value_name = "RESULT.JSON")]
    result: Option<PathBuf>,
    /// Process whose CPU counts, if the result has several
    #[arg(long, value_name = "NAME", requires = "result")]
    process: Option<String>,
    /// Load above the peak to be carried before more machines serve, as a factor; default: 1
    #[arg(long, value_name = "FACTOR", value_parser = capacity::read_factor)]
    burst: Option<f64>,
    /// CPU that may be in use at the peak; default: 60%
    #[arg(long, value_name = "PART", value_parser = capacity::read_part)]
    utilisation: Option<f64>,
    /// Cores of a machine; default: 8
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    cores: Option<u32>,
    /// Price of a machine per hour, in any currency
    #[arg(long, value_parser = capacity::read_factor)]
    price: Option<f64>,
    /// Zones with machines; default: 3
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100))]
    zones: Option<u64>,
    /// Zones that may be lost at the peak; default: 1 of several
    #[arg(long, value_name = "ZONES")]
    zones_lost: Option<u64>,
    /// Say what it takes to need no more machines than this
    #[arg(long, value_name = "MACHINES", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    at_most: Option<u64>,
    /// Seed of the simulations
    #[arg(long)]
    seed: Option<u64>,
    /// Write a page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Format of the output
    #[arg(long, value_enum, default_value = "text")]
    format: CapacityFormat,
}

/// The forms of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CapacityFormat {
    /// The sum, line by line, and sentences
    Text,
    /// All of it, with the simulated courses
    Json,
}

/// Prints the fleet.
pub(super) fn capacity(options: &CapacityOptions) -> Result<ExitCode, String> {
    let estimate = capacity::estimate(inputs(options)?);
    if let Some(file) = &options.html {
        let stem = options.file.as_ref().and_then(|it| it.file_stem());
        let title =
            stem.map_or_else(|| "Capacity".into(), |it| format!("Capacity: {}", it.to_string_lossy()));
        write(file, &capacity::page(&estimate, &title))?;
    }
    match options.format {
        CapacityFormat::Text => print(&capacity::text(&estimate)),
        CapacityFormat::Json => {
            let text = serde_json::to_string_pretty(&estimate).map_err(|cause| cause.to_string())?;
            print(&(text + "\n"))
        }
    }
}

fn inputs(options: &CapacityOptions) -> Result<Inputs, String> {
    let operation = operation(options)?;
    let mut inputs = match (&options.file, operation) {
        (Some(file), operation) => {
            let folder = file.parent().unwrap_or(Path::new(""));
            let named = |name: &str| read(&folder.join(name));
            let mut inputs = capacity::read(&read(file)?, &named)
                .map_err(|mistake| format!("{}:{mistake}", file.display()))?;
            if let Some(operation) = operation {
                inputs.operations = vec![operation];
            }
            inputs
        }
        (None, Some(operation)) => {
            let rate = options.rate.ok_or("say how many requests come: --rate 1M/s, or a file")?;
            Inputs::new(Sourced::from_user(rate), vec![operation])
        }
        (None, None) => {
            return Err("say what a request costs: --cpu 190us, --result run.json, or a file".into());
        }
    };
    let given = |value: Option<f64>, into: &mut Sourced<f64>| {
        if let Some(it) = value {
            *into = Sourced::from_user(it);
        }
    };
    given(options.rate, &mut inputs.rate);
    given(options.burst, &mut inputs.burst);
    given(options.utilisation, &mut inputs.utilisation);
    inputs.cores = options.cores.map_or(inputs.cores, Sourced::from_user);
    inputs.price = options.price.map(Sourced::from_user).or(inputs.price);
    inputs.at_most = options.at_most.or(inputs.at_most);
    inputs.seed = options.seed.unwrap_or(inputs.seed);
    if options.zones.is_some() || options.zones_lost.is_some() {
        let count = options.zones.unwrap_or(inputs.zones.value.count);
        let lost = options.zones_lost.unwrap_or_else(|| inputs.zones.value.lost.min(count - 1));
        if lost >= count {
            return Err(format!("--zones-lost {lost} of {count} zones leaves none; it has to be smaller"));
        }
        inputs.zones = Sourced::from_user(Zones { count, lost });
    }
    Ok(inputs)
}

/// The operation given on the command line, if any.
fn operation(options: &CapacityOptions) -> Result<Option<OperationCost>, String> {
    match (options.cpu, &options.result) {
        (Some(cpu), _) => {
            let cpu = Sourced::from_user(cpu);
            Ok(Some(OperationCost { name: "request".into(), share: 1.0, cpu, hit: None }))
        }
        (None, Some(file)) => {
            let shown = file.display().to_string();
            capacity::operation(&read(file)?, &shown, "mix", options.process.as_deref()).map(Some)
        }
        (None, None) => Ok(None),
    }
}
