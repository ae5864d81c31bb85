//! CPU per request from the result of a load test.

use super::input::{Operation, Sourced};
use crate::result::{GENERATOR, ProcessSeries, RunResult};

/// The mix of a run as one operation: what its server used per request. `process` names the server's process where the
/// run watched several.
/// # Errors
/// A text that is no result, a void run, or one without the server's process.
pub fn operation(text: &str, file: &str, process: Option<&str>) -> Result<Operation, String> {
    let run: RunResult = serde_json::from_str(text)
        .map_err(|cause| format!("{file} is no result of `weir load run`: {cause}"))?;
    if !run.verdict.valid {
        return Err(format!("{file} is void and measures nothing: {}", run.verdict.void_because.join("; ")));
    }
    let series = server(&run, process).map_err(|message| format!("{file}: {message}"))?;
    if !(series.cpu_us_per_request > 0.0 && series.cpu_us_per_request.is_finite()) {
        return Err(format!("{file}: process `{}` used no CPU", series.name));
    }
    let source = format!(
        "measured: {file}, process {}, {} requests, {}",
        series.name,
        crate::figures::thousands(run.total.completed as f64),
        run.setup.machine
    );
    Ok(Operation {
        name: run.name.clone(),
        share: 1.0,
        cpu: Sourced { value: series.cpu_us_per_request / 1e6, source },
        hit: None,
    })
}

fn server<'a>(run: &'a RunResult, process: Option<&str>) -> Result<&'a ProcessSeries, String> {
    let watched: Vec<&ProcessSeries> = run.processes.iter().filter(|it| it.name != GENERATOR).collect();
    let names: Vec<&str> = watched.iter().map(|it| it.name.as_str()).collect();
    match (process, watched.as_slice()) {
        (Some(name), _) => {
            let found = watched.iter().find(|it| it.name == name).copied();
            found.ok_or_else(|| crate::yaml::unknown("process", name, &names))
        }
        (None, [one]) => Ok(one),
        (None, []) => Err("the run watched no process; name the server's to `weir load run`".into()),
        (None, _) => Err(format!("the run watched several processes; say which: {}", names.join(", "))),
    }
}
