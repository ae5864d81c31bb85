//! CPU per request from the result of a load test.

use super::inputs::{OperationCost, Sourced};
use crate::page::figures::{rate, thousands};
use crate::result::{GENERATOR, MaxResult, RunResult};

/// CPU of the server per request: of the mix of a `weir load run`, or of the operation `name` of a `weir load max`.
/// `process` names the server's process where several were watched.
/// # Errors
/// A text that is no result, a void run, or one without the server's process.
pub fn operation(text: &str, file: &str, name: &str, process: Option<&str>) -> Result<OperationCost, String> {
    let measured = match serde_json::from_str::<MaxResult>(text) {
        Ok(found) => of_max(&found, name, process),
        Err(_) => {
            let run = serde_json::from_str(text);
            let run =
                run.map_err(|cause| format!("{file} is no result of `weir load run` or `max`: {cause}"))?;
            of_run(&run, process)
        }
    };
    let (cpu, words) = measured.map_err(|message| format!("{file}: {message}"))?;
    let cpu = Sourced { value: cpu / 1e6, source: format!("measured: {file}, {words}") };
    Ok(OperationCost { name: name.into(), share: 1.0, cpu, hit: None })
}

/// Microseconds per request, and their source in words.
type Measured = Result<(f64, String), String>;

fn of_run(run: &RunResult, process: Option<&str>) -> Measured {
    if !run.verdict.valid {
        return Err(format!("the run is void and measures nothing: {}", run.verdict.void_because.join("; ")));
    }
    let processes = run.processes.iter().map(|it| (it.name.as_str(), it.cpu_us_per_request));
    let (process, cpu) = server(processes, process)?;
    let requests = thousands(run.total.completed as f64);
    Ok((cpu, format!("process {process}, {requests} requests, {}", run.setup.machine)))
}

fn of_max(max: &MaxResult, name: &str, process: Option<&str>) -> Measured {
    let names: Vec<&str> = max.maxima.iter().map(|it| it.name.as_str()).collect();
    let found = max.maxima.iter().find(|it| it.name == name);
    let found = found.ok_or_else(|| crate::notation::yaml::unknown_name("operation", name, &names))?;
    let processes = found.cpu_us_per_request.iter().map(|it| (it.0.as_str(), *it.1));
    let (process, cpu) = server(processes, process)?;
    Ok((cpu, format!("process {process} at {}, {}", rate(found.requests_per_s), max.setup.machine)))
}

/// The server among the watched processes, and its CPU per request.
fn server<'a>(
    processes: impl Iterator<Item = (&'a str, f64)>,
    process: Option<&str>,
) -> Result<(&'a str, f64), String> {
    let watched: Vec<(&str, f64)> = processes.filter(|it| it.0 != GENERATOR).collect();
    let names: Vec<&str> = watched.iter().map(|it| it.0).collect();
    let found = match (process, watched.as_slice()) {
        (Some(name), _) => watched
            .iter()
            .find(|it| it.0 == name)
            .copied()
            .ok_or_else(|| crate::notation::yaml::unknown_name("process", name, &names))?,
        (None, [one]) => *one,
        (None, []) => return Err("no process was watched; measure again with `--watch NAME`".into()),
        (None, _) => return Err(format!("several processes were watched; say which: {}", names.join(", "))),
    };
    if found.1 > 0.0 && found.1.is_finite() {
        Ok(found)
    } else {
        Err(format!("process `{}` used no CPU", found.0))
    }
}
