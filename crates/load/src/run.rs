//! `weir load run`: generators, watched processes and a verdict become one result.

mod generator;
mod marks;
mod pace;
mod process;
mod push;
mod record;
mod slot;
mod state;
mod verdict;

use crate::plan::{Load, Plan, Share};
use crate::result::machine;
use crate::result::{FORMAT, OperationKind, ProcessSeries, RunResult};
use generator::{Event, Job, generate};
use record::{Recorder, Tally, Tick};
use serde::{Deserialize, Serialize};
pub(crate) use slot::answers;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
pub(crate) use verdict::{ACHIEVED_MIN_PERCENT, LAG_MAX_US, cause, is_saturated};

/// Time to open connections before the warm-up.
const LEAD: Duration = Duration::from_millis(100);
/// Time to open connections, if generator processes have to be started first.
const LEAD_OF_PROCESSES: Duration = Duration::from_millis(1500);

/// Makes the command of a generator process: its share, and the start of the measured period in microseconds since 1970.
pub type Spawner<'s> = &'s dyn Fn(Share, u64) -> Command;

/// Settings of one run.
#[derive(Default)]
pub struct RunOptions<'s> {
    /// The load, if it is not that of the plan.
    pub load: Option<Load>,
    /// The only part of the mix that is sent, by its place.
    pub only: Option<usize>,
    /// Number of generator processes, and how they are started; without it this process generates.
    pub processes: Option<(u32, Spawner<'s>)>,
}

/// One second of a running test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Second of the run, from 1.
    pub second: u64,
    pub seconds: f64,
    /// Answers in this second.
    pub completed: u64,
    /// Failed requests in this second.
    pub errors: u64,
    /// Latencies in this second.
    pub p50_us: u64,
    /// 99th percentile of the latencies in this second.
    pub p99_us: u64,
}

/// Checks that the processes to watch are there.
/// # Errors
/// One that is not.
pub fn check_watched(plan: &Plan) -> Result<(), String> {
    process::check(&plan.watch)
}

/// Runs a plan; `progress` gets each second.
/// # Errors
/// Causes for which nothing can be measured: a name that cannot be resolved, a process that cannot be started.
pub fn run(
    plan: &Arc<Plan>,
    options: RunOptions<'_>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<RunResult, String> {
    let load = options.load.unwrap_or_else(|| plan.load.clone());
    let started_at = machine::now();
    let lead = if options.processes.is_some() { LEAD_OF_PROCESSES } else { LEAD };
    let start = Instant::now() + lead + plan.warmup;
    let mut weights: Vec<f64> = plan.flows.iter().map(|it| it.weight).collect();
    if let Some(only) = options.only {
        weights.iter_mut().enumerate().for_each(|(at, it)| *it = if at == only { 1.0 } else { 0.0 });
    }
    let (news, events) = channel();
    let (mut children, count) = match options.processes {
        Some((count, spawner)) => (spawn(count, spawner, start, &news)?, count),
        None => {
            let plan = Arc::clone(plan);
            let load = load.clone();
            let warmup = plan.warmup;
            let job = Job { plan, load, weights, share: Share::WHOLE, start, warmup };
            let news = news.clone();
            std::thread::spawn(move || generate(job, &news));
            (Vec::new(), 1)
        }
    };
    drop(news);
    let period = load.duration();
    let (stop, stopped) = channel();
    let names = watched_names(plan, &children);
    let watch = std::thread::spawn(move || process::watch(&names, start, period, &stopped));
    let gathered = gather(count, &events, period, plan.operations.len(), progress);
    drop(stop);
    for child in &mut children {
        if gathered.is_err() {
            drop(child.kill());
        }
        drop(child.wait());
    }
    let series = watch.join().map_err(|_| "the watch of processes failed".to_owned())?;
    Ok(result(plan, &load, &gathered?, series, count, started_at))
}

/// The processes of the plan, and the generators as the last.
fn watched_names(plan: &Plan, children: &[Child]) -> Vec<String> {
    let mut names = plan.watch.clone();
    let pids: Vec<String> = match children {
        [] => vec![std::process::id().to_string()],
        children => children.iter().map(|it| it.id().to_string()).collect(),
    };
    names.push(pids.join(","));
    names
}

/// Waits for all generators.
fn gather(
    count: u32,
    events: &Receiver<Event>,
    period: Duration,
    operations: usize,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Recorder, String> {
    let mut sum = Recorder::new(operations);
    let mut done = 0;
    let mut told = 0;
    let mut pending = Tick::default();
    while done < count {
        match events.recv() {
            Ok(Event::Done(recorder)) => {
                sum.add(&recorder);
                done += 1;
            }
            Ok(Event::Failed(message)) => return Err(message),
            Ok(Event::Tick(tick)) => {
                pending.add(&tick);
                told += 1;
                if told == count {
                    let (completed, errors, p50_us, p99_us) = generator::figures(&pending);
                    let second = pending.second + 1;
                    let seconds = period.as_secs_f64();
                    progress(&Progress { second, seconds, completed, errors, p50_us, p99_us });
                    (told, pending) = (0, Tick::default());
                }
            }
            Err(_) => return Err("a generator ended without a result".into()),
        }
    }
    Ok(sum)
}

#[expect(clippy::cast_precision_loss, reason = "percentages and times")]
fn result(
    plan: &Plan,
    load: &Load,
    recorder: &Recorder,
    mut processes: Vec<ProcessSeries>,
    generators: u32,
    started_at: String,
) -> RunResult {
    let total = total(plan, recorder);
    if let Some(own) = processes.last_mut() {
        own.name = crate::result::GENERATOR.to_owned();
        own.cpu_s = recorder.cpu_s;
    }
    for it in &mut processes {
        it.cpu_us_per_request = it.cpu_s * 1e6 / total.completed.max(1) as f64;
    }
    let operations = plan.operations.iter().zip(&recorder.operations);
    let mut setup = machine::describe();
    setup.target = plan.url();
    setup.protocol = plan.protocol_words();
    setup.connections = recorder.connections;
    setup.generators = generators;
    setup.load = load.words();
    setup.duration_s = load.duration().as_secs_f64();
    setup.seed = plan.seed;
    RunResult {
        format: FORMAT,
        name: plan.name.clone(),
        started_at,
        verdict: verdict::judge(load, recorder, &total, generators),
        setup,
        total: total.result("total", OperationKind::Http, 0.0),
        operations: operations
            .filter(|it| it.1.scheduled > 0 || it.0.weight > 0.0)
            .map(|(it, tally)| tally.result(&it.name, it.kind, it.weight))
            .collect(),
        timeline: recorder.timeline(),
        processes,
    }
}

/// All requests together. Subscribers are connections, not requests; their pushes are kept.
fn total(plan: &Plan, recorder: &Recorder) -> Tally {
    let mut requests = Recorder::new(1);
    for (operation, tally) in plan.operations.iter().zip(&recorder.operations) {
        if operation.kind == OperationKind::Subscription {
            let push = Tally { push: tally.push.clone(), errors: tally.errors.clone(), ..Tally::default() };
            requests.add(&Recorder { operations: vec![push], ..Recorder::default() });
        } else {
            requests.add(&Recorder { operations: vec![tally.clone()], ..Recorder::default() });
        }
    }
    requests.total()
}

/// A line between generator processes.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Report {
    Tick(Tick),
    Done(Box<Recorder>),
    Failed(String),
}

/// Starts the generator processes and listens to them.
fn spawn(
    count: u32,
    spawner: Spawner<'_>,
    start: Instant,
    news: &Sender<Event>,
) -> Result<Vec<Child>, String> {
    let at = SystemTime::now() + start.saturating_duration_since(Instant::now());
    let micros = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    let micros = u64::try_from(micros).unwrap_or(u64::MAX);
    let mut children: Vec<Child> = Vec::new();
    for index in 0..count {
        let mut command = spawner(Share { index, of: count }, micros);
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|cause| format!("a generator cannot be started: {cause}"))?;
        let Some(out) = child.stdout.take() else { return Err("a generator has no output".into()) };
        let news = news.clone();
        std::thread::spawn(move || {
            let mut last = Event::Failed("a generator ended without a result".to_owned());
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                match serde_json::from_str(&line) {
                    Ok(Report::Tick(it)) => drop(news.send(Event::Tick(it))),
                    Ok(Report::Done(it)) => last = Event::Done(it),
                    Ok(Report::Failed(it)) => last = Event::Failed(it),
                    Err(cause) => last = Event::Failed(format!("a generator wrote no report: {cause}")),
                }
            }
            drop(news.send(last));
        });
        children.push(child);
    }
    Ok(children)
}

/// One of several generator processes: sends its share and writes reports for [`run`] to `out`.
/// # Errors
/// A parent that no longer listens.
pub fn generate_share(
    plan: &Arc<Plan>,
    share: Share,
    start_us: u64,
    out: &mut dyn Write,
) -> Result<(), String> {
    let at = UNIX_EPOCH + Duration::from_micros(start_us);
    let start = Instant::now() + at.duration_since(SystemTime::now()).unwrap_or_default();
    let weights = plan.flows.iter().map(|it| it.weight).collect();
    let (plan, load, warmup) = (Arc::clone(plan), plan.load.clone(), plan.warmup);
    let job = Job { plan, load, weights, share, start, warmup };
    let (news, events) = channel();
    std::thread::spawn(move || generate(job, &news));
    for event in events {
        let report = match event {
            Event::Tick(it) => Report::Tick(it),
            Event::Done(it) => Report::Done(it),
            Event::Failed(it) => Report::Failed(it),
        };
        let line = serde_json::to_string(&report).map_err(|cause| cause.to_string())?;
        writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|cause| cause.to_string())?;
    }
    Ok(())
}
