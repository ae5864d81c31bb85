//! CPU, memory and context switches of processes, from `/proc`.
//!
//! **Invariant:** CPU time of a process that began or ended within a second is counted as far as `/proc` still showed it.

use crate::result::{ProcessSample, ProcessSeries};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Ticks per second of `/proc/PID/stat`: `USER_HZ`, which is part of Linux's interface to programs.
const TICKS_PER_S: f64 = 100.0;

/// CPU time and context switches of a process so far.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    ticks: u64,
    rss_bytes: u64,
    voluntary: u64,
    involuntary: u64,
}

/// CPU time of this process so far.
pub(crate) fn own_cpu_s() -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "seconds")]
    ticks(Path::new("/proc/self")).map_or(0.0, |it| it as f64 / TICKS_PER_S)
}

/// User and kernel ticks.
fn ticks(folder: &Path) -> Option<u64> {
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

fn usage(pid: u32) -> Option<Usage> {
    let folder = Path::new("/proc").join(pid.to_string());
    let mut usage = Usage { ticks: ticks(&folder)?, ..Usage::default() };
    usage.rss_bytes = field(&fs::read_to_string(folder.join("status")).ok()?, "VmRSS:") * 1024;
    for thread in fs::read_dir(folder.join("task")).ok()?.flatten() {
        let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        usage.voluntary += field(&status, "voluntary_ctxt_switches:");
        usage.involuntary += field(&status, "nonvoluntary_ctxt_switches:");
    }
    Some(usage)
}

fn field(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|it| it.strip_prefix(name));
    line.and_then(|it| it.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// The processes of those ids, separated by commas, or of that name.
fn processes(wanted: &str) -> Vec<u32> {
    let pids: Result<Vec<u32>, _> = wanted.split(',').map(str::parse).collect();
    if let Ok(pids) = pids {
        return pids;
    }
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    // A generator of the same program is none of the servers.
    let own = std::process::id();
    let is_named = |pid: &u32| {
        let comm = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let parent = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        comm.trim_end() == wanted && *pid != own && field(&parent, "PPid:") != u64::from(own)
    };
    let mut found: Vec<u32> = pids.filter(is_named).collect();
    found.sort_unstable();
    found
}

/// Checks that every process to watch is there.
/// # Errors
/// One that is not.
pub(crate) fn check(watch: &[String]) -> Result<(), String> {
    let is_there = |it: &String| {
        processes(it).iter().any(|pid| ticks(&Path::new("/proc").join(pid.to_string())).is_some())
    };
    match watch.iter().find(|it| !is_there(it)) {
        Some(it) => Err(format!("no process `{it}` runs here; name one by its id or as `ps -e` does")),
        None => Ok(()),
    }
}

/// The series of one name while it grows.
struct Watched {
    series: ProcessSeries,
    before: BTreeMap<u32, Usage>,
    ticks: u64,
}

/// Samples the processes each second from `start`, until `stop` is closed or the period is over.
#[expect(clippy::cast_precision_loss, reason = "percentages and seconds")]
pub(crate) fn watch(
    names: &[String],
    start: Instant,
    period: Duration,
    stop: &Receiver<()>,
) -> Vec<ProcessSeries> {
    let mut watched: Vec<Watched> = Vec::new();
    let wait = |until: Instant| {
        matches!(
            stop.recv_timeout(until.saturating_duration_since(Instant::now())),
            Err(RecvTimeoutError::Timeout)
        )
    };
    if !wait(start) {
        return Vec::new();
    }
    for name in names {
        let pids = processes(name);
        let before = pids.iter().filter_map(|it| Some((*it, usage(*it)?))).collect();
        let pid = pids.first().copied().unwrap_or(0);
        let series = ProcessSeries { name: name.clone(), pid, ..ProcessSeries::default() };
        watched.push(Watched { series, before, ticks: 0 });
    }
    let mut from = start;
    for second in 0.. {
        let until = (from + Duration::from_secs(1)).min(start + period);
        let is_over = !wait(until);
        let length = from.elapsed().as_secs_f64().max(1e-6);
        from = Instant::now();
        for it in &mut watched {
            it.sample(second, length);
        }
        if is_over || from >= start + period {
            break;
        }
    }
    let finish = |it: Watched| {
        let mut series = it.series;
        series.cpu_s = it.ticks as f64 / TICKS_PER_S;
        series
    };
    watched.into_iter().map(finish).collect()
}

impl Watched {
    #[expect(clippy::cast_precision_loss, reason = "percentages")]
    fn sample(&mut self, second: u64, length: f64) {
        let mut sample = ProcessSample { second, ..ProcessSample::default() };
        let mut ticks = 0;
        let mut now = BTreeMap::new();
        for pid in processes(&self.series.name) {
            let Some(used) = usage(pid) else { continue };
            let before = self.before.get(&pid).copied().unwrap_or_default();
            ticks += used.ticks.saturating_sub(before.ticks);
            sample.voluntary_switches += used.voluntary.saturating_sub(before.voluntary);
            sample.involuntary_switches += used.involuntary.saturating_sub(before.involuntary);
            sample.rss_bytes += used.rss_bytes;
            now.insert(pid, used);
        }
        self.before = now;
        self.ticks += ticks;
        sample.cpu_percent = ticks as f64 / TICKS_PER_S / length * 100.0;
        self.series.samples.push(sample);
    }
}
