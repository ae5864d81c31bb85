//! Verdict on a run: void if its figures show the speed of the generator instead of the server's.
//!
//! A request that leaves late has its lag in its latency. A lag matters where it is a large part of the latencies, and not beside
//! slower ones. On a machine that others use, one request of a hundred is late at any rate; then the median still tells of the server.

use super::record::{Recorder, Tally};
use crate::plan::Load;
use crate::result::Verdict;

/// Lags up to this are those of any machine.
pub(crate) const LAG_MAX_US: u64 = 1000;
/// A run that achieves less of its schedule is void.
pub(crate) const ACHIEVED_MIN_PERCENT: f64 = 99.0;
/// A generator that uses more of a core is at its limit.
const SATURATED: f64 = 0.8;

/// True if `lag_us` is too long, and most of the latency of the same percentile.
fn is_most(lag_us: u64, latency_us: u64) -> bool {
    lag_us > LAG_MAX_US && lag_us.saturating_mul(2) > latency_us
}

/// True if generators that used `cpu_s` in that time were at their CPU limit.
pub(crate) fn is_saturated(cpu_s: f64, duration_s: f64, generators: u32) -> bool {
    cpu_s > SATURATED * duration_s * f64::from(generators.max(1))
}

/// The cause of late requests and its remedy.
pub(crate) const fn cause(is_saturated: bool) -> &'static str {
    if is_saturated {
        "the generator is too slow: lower the rate, or use `--generators 2`"
    } else {
        "the machine is busy: give the generator a core of its own"
    }
}

/// Judges a run of `load` whose requests are counted in `total`.
#[expect(clippy::cast_precision_loss, reason = "percentages")]
pub(super) fn judge(load: &Load, recorder: &Recorder, total: &Tally, generators: u32) -> Verdict {
    let is_closed = matches!(load, Load::Closed { .. });
    let achieved_percent = if is_closed || total.scheduled == 0 {
        100.0
    } else {
        total.sent as f64 * 100.0 / total.scheduled as f64
    };
    let mut verdict = Verdict {
        lag_p50_us: recorder.lag.value_at(50.0),
        lag_p99_us: recorder.lag.value_at(99.0),
        achieved_percent,
        ..Verdict::default()
    };
    judge_lag(load, recorder, total, generators, &mut verdict);
    if achieved_percent < ACHIEVED_MIN_PERCENT {
        verdict.void_because.push(format!(
            "only {achieved_percent:.1} % of the scheduled requests could be sent; raise `connections`, or lower the rate"
        ));
    }
    if total.scheduled == 0 {
        verdict.void_because.push("no request was sent in the measured period".into());
    }
    verdict.valid = verdict.void_because.is_empty();
    verdict
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds for people")]
fn judge_lag(load: &Load, recorder: &Recorder, total: &Tally, generators: u32, verdict: &mut Verdict) {
    let is_saturated = is_saturated(recorder.cpu_s, load.duration().as_secs_f64(), generators);
    let cause = cause(is_saturated);
    let milliseconds = |micros: u64| micros as f64 / 1000.0;
    let is_median_late = is_most(verdict.lag_p50_us, total.latency.value_at(50.0));
    let is_tail_late = is_most(verdict.lag_p99_us, total.latency.value_at(99.0));
    if is_median_late {
        verdict.void_because.push(format!(
            "half of the requests were sent more than {:.1} ms late, which is most of their latency; {cause}",
            milliseconds(verdict.lag_p50_us)
        ));
    } else if is_tail_late && is_saturated {
        verdict.void_because.push(format!(
            "1 % of the requests were sent more than {:.1} ms late, which is most of their latency; {cause}",
            milliseconds(verdict.lag_p99_us)
        ));
    } else if is_tail_late {
        verdict.notes.push(format!(
            "1 % of the requests were sent more than {:.1} ms late, so p99 tells of this machine too (p99 of the service time: {:.1} ms); \
             {cause}",
            milliseconds(verdict.lag_p99_us),
            milliseconds(total.service.value_at(99.0))
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn load() -> Load {
        Load::constant(100.0, Duration::from_secs(10), crate::profile::Arrivals::Constant).expect("a load")
    }

    /// The verdict on 1000 requests: `late` of them left `lag` too late, and the server took `service` for each.
    fn verdict(late: usize, lag: Duration, service: Duration, cpu_s: f64) -> Verdict {
        let mut recorder = Recorder::new(1);
        for at in 0..1000 {
            let lag = if at < late { lag } else { Duration::from_micros(60) };
            recorder.lag.record(lag);
            let tally = &mut recorder.operations[0];
            (tally.scheduled, tally.sent) = (tally.scheduled + 1, tally.sent + 1);
            tally.latency.record(lag + service);
            tally.service.record(service);
        }
        recorder.cpu_s = cpu_s;
        judge(&load(), &recorder, &recorder.total(), 1)
    }

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn a_lag_beside_longer_latencies_is_none() {
        for (late, lag) in [(50, ms(4)), (700, ms(4)), (1000, ms(9))] {
            let verdict = verdict(late, lag, ms(20), 9.9);
            assert!(verdict.valid && verdict.notes.is_empty(), "{late} {lag:?}: {verdict:?}");
        }
    }

    #[test]
    fn a_tail_that_others_make_is_noted_and_one_of_the_generator_is_void() {
        let busy = verdict(50, ms(4), ms(1), 3.0);
        assert!(busy.valid, "{busy:?}");
        assert!(busy.notes[0].contains("the machine is busy") && busy.notes[0].contains("4.0 ms late"));
        assert!(busy.notes[0].contains("service time: 1.0 ms"), "{:?}", busy.notes);
        let slow = verdict(50, ms(4), ms(1), 9.5);
        assert!(!slow.valid && slow.notes.is_empty(), "{slow:?}");
        assert!(slow.void_because[0].contains("the generator is too slow"), "{:?}", slow.void_because);
        assert!(verdict(5, ms(4), ms(1), 9.5).valid, "less than 1 % is late");
    }

    #[test]
    fn a_median_of_lag_is_void_whatever_its_cause() {
        for (cpu_s, cause) in [(2.0, "the machine is busy"), (9.5, "the generator is too slow")] {
            let verdict = verdict(700, ms(4), ms(1), cpu_s);
            assert!(!verdict.valid, "{verdict:?}");
            assert!(verdict.void_because[0].contains(cause), "{:?}", verdict.void_because);
        }
        assert!(verdict(1000, Duration::from_micros(900), ms(0), 9.9).valid, "any machine has this lag");
    }

    #[test]
    fn requests_that_are_not_sent_make_a_run_void() {
        let mut recorder = Recorder::new(1);
        assert!(judge(&load(), &recorder, &recorder.total(), 1).void_because[0].contains("no request"));
        (recorder.operations[0].scheduled, recorder.operations[0].sent) = (100, 98);
        let verdict = judge(&load(), &recorder, &recorder.total(), 1);
        assert!(verdict.void_because[0].starts_with("only 98.0 %"), "{:?}", verdict.void_because);
        recorder.operations[0].sent = 99;
        assert!(judge(&load(), &recorder, &recorder.total(), 1).valid);
    }
}
