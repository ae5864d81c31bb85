//! `weir load max`.

use super::options::PlanOptions;
use super::show::Watcher;
use super::{MISSED, write_out};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use weir_load::report::{max_text, micros, rate};
use weir_load::{Arrivals, LoadOptions, MaxOptions, MaxProgress, check_watched, read_duration};

/// Arguments of `weir load max`.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct MaxArguments {
    /// The server's URL, or a load.yaml
    #[arg(value_name = "URL|LOAD.YAML")]
    target: String,
    #[command(flatten)]
    plan: PlanOptions,
    /// Bound of the median [default: 200ms, if no other bound is named]
    #[arg(long, value_name = "TIME", value_parser = read_duration, conflicts_with_all = ["p99", "percentile"])]
    p50: Option<Duration>,
    /// Bound of the 99th percentile
    #[arg(long, value_name = "TIME", value_parser = read_duration, conflicts_with = "percentile")]
    p99: Option<Duration>,
    /// A percentile that --bound bounds
    #[arg(long, value_name = "PERCENT", requires = "bound")]
    percentile: Option<f64>,
    /// The bound of --percentile
    #[arg(long, value_name = "TIME", value_parser = read_duration, requires = "percentile")]
    bound: Option<Duration>,
    /// First rate, in requests per second
    #[arg(long, value_name = "N", default_value = "50")]
    from: f64,
    /// Length of a probe
    #[arg(long, value_name = "TIME", value_parser = read_duration, default_value = "5s")]
    probe: Duration,
    /// Length of each of three confirmations
    #[arg(long, value_name = "TIME", value_parser = read_duration, default_value = "20s")]
    confirm: Duration,
    /// Exponential distances between requests
    #[arg(long)]
    poisson: bool,
    /// Search the mix only, not each operation
    #[arg(long)]
    mix_only: bool,
    /// Write the result as JSON
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl MaxArguments {
    fn options(&self, errors_max_percent: f64) -> Result<MaxOptions, String> {
        let (percentile, bound) = match (self.p50, self.p99, self.percentile.zip(self.bound)) {
            (_, Some(bound), _) => (99.0, bound),
            (_, None, Some(both)) => both,
            (p50, None, None) => (50.0, p50.unwrap_or(Duration::from_millis(200))),
        };
        let is_rate = self.from.is_finite() && self.from > 0.0;
        if !is_rate || !(0.0..=100.0).contains(&percentile) {
            return Err("--percentile is from 0 to 100, and --from above 0".into());
        }
        Ok(MaxOptions {
            percentile,
            bound,
            errors_max_percent,
            from: self.from,
            probe: self.probe,
            confirm: self.confirm,
            arrivals: if self.poisson { Arrivals::Poisson } else { Arrivals::Constant },
            is_mix_only: self.mix_only,
        })
    }
}

/// Searches and prints the table.
pub(super) fn max(arguments: &MaxArguments) -> Result<ExitCode, String> {
    let plan = arguments.plan.plan(&arguments.target, LoadOptions::default())?;
    check_watched(&plan)?;
    let options = arguments.options(plan.errors_max_percent())?;
    let mut watcher = Watcher::new();
    let result = weir_load::max(&plan, &options, &mut |news| match news {
        MaxProgress::Begin(name) => watcher.line(&format!("{name}:")),
        MaxProgress::Second(offered, it) => watcher.show(&format!("{}: ", rate(offered)), &it),
        MaxProgress::Probed(probe) => {
            let percentile = format!("p{} {}", options.percentile, micros(probe.percentile_us));
            let verdict = if probe.holds { "holds" } else { probe.reason.as_str() };
            let kind = if probe.is_confirmation { " (confirmation)" } else { "" };
            watcher.line(&format!("  {:>11}  {percentile:>14}  {verdict}{kind}", rate(probe.offered_per_s)));
        }
    });
    watcher.end();
    let result = result?;
    write_out(arguments.out.as_deref(), &result)?;
    super::super::print(&max_text(&result))?;
    let is_missed = result.maxima.iter().any(|it| it.requests_per_s == 0.0);
    Ok(if is_missed { ExitCode::from(MISSED) } else { ExitCode::SUCCESS })
}
