//! Options that say what is sent, where, and how much.

use clap::{ArgGroup, Args};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use weir_load::{LoadOptions, Plan, PlanOverrides, Protocol, Request, read_duration};

/// The target and the requests.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct PlanOptions {
    /// A GraphQL document, or `@FILE`; may be repeated
    #[arg(long, value_name = "DOCUMENT|@FILE")]
    query: Vec<String>,
    /// Variables of --query: JSON or YAML, with expressions such as `$(between 1 500)`
    #[arg(long, value_name = "JSON", requires = "query")]
    variables: Option<String>,
    /// A .graphql file, or a folder of them: every operation is sent equally often, or by `# weight: 3` above it
    #[arg(long, value_name = "DIR|FILE")]
    operations: Vec<PathBuf>,
    /// A path for GET, with expressions; may be repeated
    #[arg(long, value_name = "PATH")]
    get: Vec<String>,
    /// A header of every request, as curl takes it
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Number of connections; default: as many as are needed, at most 1000, and one per user of a closed loop
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_000))]
    connections: Option<u32>,
    /// Use HTTP/2: by ALPN for https, else with prior knowledge
    #[arg(long)]
    http2: bool,
    /// Requests at a time on each connection, with --http2 [default: 16]
    #[arg(long, value_name = "N", requires = "http2", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    streams: Option<u32>,
    /// Certificates to trust for https, in PEM
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Check the documents against this SDL before anything is sent
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Load that precedes the measured one and is not counted
    #[arg(long, value_name = "TIME", value_parser = read_duration)]
    warmup: Option<Duration>,
    /// Seed of values and arrivals
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// A process of this machine whose CPU, memory and context switches are told, by id or name; may be repeated
    #[arg(long, value_name = "PID|NAME")]
    watch: Vec<String>,
    /// Failed requests that are accepted, in percent [default: 0.1]
    #[arg(long, value_name = "PERCENT")]
    errors_max: Option<f64>,
}

/// Amount of requests over time.
#[derive(Clone, Debug, Default, Args)]
#[command(group = ArgGroup::new("kind").args(["closed", "profile", "replay"]))]
pub(in crate::cli) struct AmountOptions {
    /// Requests per second, whatever the server does
    #[arg(long, value_name = "N", conflicts_with_all = ["closed", "replay"])]
    rate: Option<f64>,
    /// Length of the measured load [default: 10s]
    #[arg(short, long, value_name = "TIME", value_parser = read_duration, conflicts_with = "replay")]
    duration: Option<Duration>,
    /// Exponential distances between requests, as independent clients have; default: equal ones
    #[arg(long, conflicts_with_all = ["closed", "replay"])]
    poisson: bool,
    /// So many users, each of whom waits for the answer before the next request [default: 16]
    #[arg(long, value_name = "USERS")]
    closed: Option<u32>,
    /// Pause of a user between answer and request
    #[arg(long, value_name = "TIME", value_parser = read_duration)]
    think: Option<Duration>,
    /// match-start, toss, comb, soak, ramp or spike
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// A factor of the profile's rates
    #[arg(long, value_name = "1/1000")]
    scale: Option<String>,
    /// A factor by which the profile's time is shorter
    #[arg(long, value_name = "FACTOR")]
    compress: Option<f64>,
    /// Send the requests of an access log with its own timing: Weir's JSON lines, or GETs of the common and combined formats
    #[arg(long, value_name = "FILE")]
    replay: Option<String>,
    /// A factor by which the log's time is shorter
    #[arg(long, value_name = "FACTOR")]
    speed: Option<f64>,
}

/// Arguments of `weir load run`.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct RunArguments {
    /// The server's URL, or a load.yaml
    #[arg(value_name = "URL|LOAD.YAML")]
    pub target: String,
    #[command(flatten)]
    pub plan: PlanOptions,
    #[command(flatten)]
    pub amount: AmountOptions,
    /// Generator processes that share the load
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub generators: u32,
    /// Write the result as JSON
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write the result as a page with charts
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

impl AmountOptions {
    /// The load.
    pub(super) fn load(&self) -> LoadOptions {
        let Self { rate, duration, poisson, closed, think, profile, scale, compress, replay, speed } =
            self.clone();
        LoadOptions { rate, duration, poisson, profile, scale, compress, closed, think, replay, speed }
    }

    /// The load of one slice. Without a kind it is a closed loop of 16 users.
    pub(super) fn slice(&self, length: Duration) -> LoadOptions {
        let mut load = self.load();
        let is_unset = load.rate.is_none() && load.profile.is_none() && load.replay.is_none();
        if is_unset {
            load.closed = load.closed.or(Some(16));
        }
        if load.replay.is_none() {
            load.duration = load.duration.or(Some(length));
        }
        load
    }
}

/// True if the text is a URL, not a file.
fn is_url(text: &str) -> bool {
    ["http://", "https://", "ws://", "wss://"].iter().any(|it| text.starts_with(it))
}

impl PlanOptions {
    /// Reads the plan of a target, which is a URL or a file.
    pub(super) fn plan(&self, target: &str, load: LoadOptions) -> Result<Arc<Plan>, String> {
        let (file, url) = if is_url(target) { (None, Some(target)) } else { (Some(Path::new(target)), None) };
        self.plan_of(file, url, load).map(Arc::new)
    }

    /// Reads the plan in `file`, or that of the options; `url` replaces its target.
    pub(super) fn plan_of(
        &self,
        file: Option<&Path>,
        url: Option<&str>,
        load: LoadOptions,
    ) -> Result<Plan, String> {
        let headers = self.headers.iter().map(|it| header(it)).collect::<Result<Vec<_>, _>>()?;
        let mut plan = match (file, url) {
            (Some(file), url) => {
                let shown = file.display();
                if !self.query.is_empty()
                    || !self.operations.is_empty()
                    || !self.get.is_empty()
                    || !headers.is_empty()
                {
                    return Err(format!(
                        "{shown} has its own operations and headers; add them there, or name a URL"
                    ));
                }
                let text = std::fs::read_to_string(file)
                    .map_err(|cause| format!("{shown} cannot be read: {cause}"))?;
                let base = file.parent().unwrap_or(Path::new("."));
                Plan::read(&text, base, url, load).map_err(|mistake| format!("{shown}:{mistake}"))?
            }
            (None, Some(url)) => {
                let requests = self.requests()?;
                Plan::quick(url, &requests, &headers, load).map_err(|mistake| mistake.message)?
            }
            (None, None) => return Err("name a URL or a plan".into()),
        };
        plan.set(self.overrides())?;
        self.validate(&plan)?;
        Ok(plan)
    }

    fn requests(&self) -> Result<Vec<Request>, String> {
        let mut requests = Vec::new();
        for query in &self.query {
            let document = match query.strip_prefix('@') {
                Some(file) => std::fs::read_to_string(file)
                    .map_err(|cause| format!("{file} cannot be read: {cause}"))?,
                None => query.clone(),
            };
            requests.push(Request::Query(document, self.variables.clone()));
        }
        requests.extend(self.operations.iter().cloned().map(Request::Operations));
        requests.extend(self.get.iter().cloned().map(Request::Get));
        Ok(requests)
    }

    fn overrides(&self) -> PlanOverrides {
        PlanOverrides {
            target: None,
            connections: self.connections,
            protocol: self.http2.then_some(Protocol::Http2),
            streams: self.streams,
            seed: self.seed,
            warmup: self.warmup,
            ca: self.ca.clone(),
            watch: self.watch.clone(),
            errors_max_percent: self.errors_max,
        }
    }

    /// Validates the documents against the schema that is named here or in the plan.
    fn validate(&self, plan: &Plan) -> Result<(), String> {
        let Some(schema) = self.schema.as_ref().or(plan.schema()) else { return Ok(()) };
        let violations = crate::cli::validate::violations(schema, plan.documents())?;
        if violations.is_empty() {
            Ok(())
        } else {
            Err(format!("the documents do not fit {}:\n{}", schema.display(), violations.join("\n")))
        }
    }
}

/// `Name: value` of a header.
fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) =
        text.split_once(':').ok_or_else(|| format!("`{text}` is no header; write `name: value`"))?;
    Ok((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
}
