//! `weir load`: drives any GraphQL or HTTP server, finds its maximum, compares two, reports, and plans fleets.
//!
//! Exit codes beyond those of all commands: 3 the run is void, 4 a bound is missed (errors above `--errors-max`, no rate holds the
//! bound, B is worse than A, a result is worse than its baseline allows).

mod capacity;
mod options;
mod report;
mod run;
mod search;
mod show;
mod side;

use clap::Subcommand;
use options::RunArguments;
use std::path::Path;
use std::process::ExitCode;
use weir_load::report::ResultKind;

/// The run is void: the generator did not offer its load.
const VOID: u8 = 3;
/// A bound is missed.
const MISSED: u8 = 4;

/// Commands of `weir load`.
#[derive(Debug, Subcommand)]
pub(super) enum LoadCommand {
    /// Send a load and tell latencies, errors and CPU
    #[command(after_help = "\
Examples:
  weir load run http://127.0.0.1:8080/graphql --query '{ Album { Title } }' --rate 500 --duration 10s
  weir load run http://127.0.0.1:8080/graphql --operations queries/ --closed 64 --watch weir
  weir load run http://127.0.0.1:8080/graphql --query 'query($id: Int!) { Album_by_pk(AlbumId: $id) { Title } }' \\
       --variables '{id: $(between 1 300)}' --rate 2000 --poisson
  weir load run http://127.0.0.1:8080/graphql --operations q.graphql --profile match-start --scale 1/1000 --compress 10
  weir load run http://127.0.0.1:3900 --get '/players/$(between 1 500)' --closed 16
  weir load run load.yaml --generators 2 --out result.json
  weir load run http://127.0.0.1:8080 --replay access.log --speed 2

Profiles: match-start (rate doubles), toss (a step to the double), comb (all clients at once, each 2 s), soak (an hour), ramp
(from 0 to the double), spike (five times the rate in the middle). Their base rate is 14 million requests a minute times --scale,
or --rate.

A load.yaml (all of it: docs/load-testing.md):
  target: http://127.0.0.1:8080/graphql
  load: {rate: 500, duration: 30s, arrivals: poisson}
  values:
    id: {zipf: 1..500}
  operations:
    match: {file: centre.graphql, variables: {match: $(id)}, weight: 3}
    players: {get: /players?id=$(id), check: {status: 200}}

Exit codes: 0 done, 1 nothing could be measured, 2 the command line is wrong, 3 the run is void because the generator was too
slow, 4 more requests failed than --errors-max allows")]
    Run(RunArguments),
    /// Find the most requests per second within a latency bound
    #[command(after_help = "\
Examples:
  weir load max http://127.0.0.1:8080/graphql --operations queries/
  weir load max load.yaml --p99 50ms --watch weir
  weir load max http://127.0.0.1:8080/graphql --query '{ Album { Title } }' --percentile 99.9 --bound 80ms

The rate doubles in probes of 5 s until it breaks the bound, the interval is bisected to 5 %, and the rate is confirmed by three
runs of 20 s, whose median is told: for each operation alone, then for the mix.

Exit codes: 0 found, 1 nothing could be measured, 2 the command line is wrong, 4 not even the lowest rate holds the bound")]
    Max(search::MaxArguments),
    /// Compare two servers in alternating slices
    #[command(after_help = "\
Examples:
  weir load compare http://127.0.0.1:8080/graphql http://127.0.0.1:8081/graphql --operations queries/
  weir load compare 'weir-old serve shop.db --listen {port}' 'weir serve shop.db --listen {port}' --path /graphql --query '{ a }'
  weir load compare http://a/graphql http://b/graphql --plan-file load.yaml --pairs 20 --slice 5s --watch-a 4711 --watch-b 4712

A side is a URL, or a command that is started with {port} replaced by a free one. A command's CPU time is measured. A difference
is told as better or worse if its 99 % confidence interval excludes 1 and it is larger than --least.

Exit codes: 0 better, or no difference can be told; 1 nothing could be measured; 2 the command line is wrong; 4 B is worse than A,
or its answers differ")]
    Compare(side::CompareArguments),
    /// Make a page of a result, or compare it with an older one
    Report(report::ReportOptions),
    /// Compute a fleet from CPU per request, and simulate DNS, bursts, caches and lost zones
    Capacity(Box<capacity::CapacityOptions>),
    /// Send one generator's share of a run
    #[command(hide = true)]
    Generate(run::GenerateArguments),
    /// Print the JSON schema of results
    #[command(after_help = "Examples:\n  weir load schema > load-report.schema.json\n  weir load schema max")]
    Schema {
        /// The command that writes them
        #[arg(value_enum, default_value = "run")]
        of: ResultOf,
    },
}

/// Commands with results.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum ResultOf {
    Run,
    Max,
    Compare,
}

impl From<ResultOf> for ResultKind {
    fn from(of: ResultOf) -> Self {
        match of {
            ResultOf::Run => Self::Run,
            ResultOf::Max => Self::Max,
            ResultOf::Compare => Self::Compare,
        }
    }
}

/// Runs a command.
pub(super) fn load(command: LoadCommand) -> Result<ExitCode, String> {
    match command {
        LoadCommand::Run(arguments) => run::run(&arguments),
        LoadCommand::Max(arguments) => search::max(&arguments),
        LoadCommand::Compare(arguments) => side::compare(&arguments),
        LoadCommand::Generate(arguments) => run::generate(&arguments),
        LoadCommand::Schema { of } => super::print(&weir_load::report::schema(of.into())),
        LoadCommand::Report(options) => report::report(&options),
        LoadCommand::Capacity(options) => capacity::capacity(&options),
    }
}

/// Writes a result as JSON, if a file is named.
fn write_out(file: Option<&Path>, result: &impl serde::Serialize) -> Result<(), String> {
    let Some(file) = file else { return Ok(()) };
    let json = serde_json::to_string(result).map_err(|cause| cause.to_string())?;
    write(file, &(json + "\n"))
}

/// Reads a file that the command line names.
fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|cause| format!("{} cannot be read: {cause}", file.display()))
}

/// Writes a file that the command line names.
fn write(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|cause| format!("{} cannot be written: {cause}", file.display()))
}
