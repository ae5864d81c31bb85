//! The machine that a generator runs on, and the time of day.

use super::Setup;
use std::fs;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Figures of `/proc`.
pub(crate) fn describe() -> Setup {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let value = |text: &str, name: &str| {
        let line = text.lines().find(|it| it.starts_with(name)).unwrap_or_default();
        line.split_once(':').map_or("", |it| it.1).trim().to_owned()
    };
    let memory = value(&read("/proc/meminfo"), "MemTotal");
    let memory_kb: u64 = memory.split(' ').next().and_then(|it| it.parse().ok()).unwrap_or(0);
    let kernel =
        format!("{} {}", read("/proc/sys/kernel/ostype").trim(), read("/proc/sys/kernel/osrelease").trim());
    Setup {
        weir_version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: value(&cpu, "model name"),
        cores: std::thread::available_parallelism().map_or(1, |it| u32::try_from(it.get()).unwrap_or(1)),
        memory_bytes: memory_kb * 1024,
        kernel: kernel.trim().to_owned(),
        ..Setup::default()
    }
}

/// Now, as RFC 3339.
pub(crate) fn now() -> String {
    let now = OffsetDateTime::now_utc();
    now.replace_nanosecond(0).unwrap_or(now).format(&Rfc3339).unwrap_or_default()
}
