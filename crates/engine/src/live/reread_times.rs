//! Time until a result is read again without a reported change.
//!
//! **Invariant:** a part whose source reports every change needs no timer. Every other part is read again at the end of its
//! lifetime, or after the polling interval if it has none.

use super::live_result::{Cause, ReadReason};
use crate::execute::PartLifetime;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Shortest lifetime of a result that is read again at its end.
const LIFETIME_MIN: Duration = Duration::from_secs(1);
/// Longest time until a result is read again by itself.
const LIFETIME_MAX: Duration = Duration::from_secs(24 * 3600);

/// Polling moments per interval. Results with the same moment are read together.
const MOMENTS: u32 = 4;
/// Start of the first polling interval.
static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Time until the next read, and its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NextRead {
    pub(super) after: Duration,
    pub(super) cause: Cause,
}

/// The moment of the next read. A polled result moves to its moment, up to a quarter of the interval earlier.
pub(super) fn due_at(next: NextRead, poll: Duration, now: Instant) -> ReadReason {
    let NextRead { after, cause } = next;
    let at = now + after;
    let moment = (poll / MOMENTS).as_nanos().max(1);
    let beyond = at.duration_since(*ORIGIN).as_nanos() % moment;
    let beyond = Duration::from_nanos(u64::try_from(beyond).unwrap_or_default());
    let at = if matches!(cause, Cause::Poll) { at - beyond } else { at };
    ReadReason { at, cause }
}

/// The next read of a result with these parts.
pub(super) fn next_read(
    parts: &[PartLifetime],
    is_told: impl Fn(u16) -> bool,
    poll: Duration,
) -> Option<NextRead> {
    let untold = parts.iter().filter(|it| !is_told(it.source));
    let after = untold.map(|part| match part.remaining_ms {
        Some(it) => {
            let after = Duration::from_millis(it).clamp(LIFETIME_MIN, LIFETIME_MAX);
            NextRead { after, cause: Cause::Expiry }
        }
        None => NextRead { after: poll, cause: Cause::Poll },
    });
    after.min_by_key(|it| it.after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polled_results_come_together_and_no_later_than_they_were_due() {
        let poll = Duration::from_millis(800);
        let now = *ORIGIN + Duration::from_millis(5_030);
        let at = |after, cause| {
            due_at(NextRead { after: Duration::from_millis(after), cause }, poll, now).at - *ORIGIN
        };
        assert_eq!(at(800, Cause::Poll), Duration::from_millis(5_800));
        assert_eq!(at(769, Cause::Poll), Duration::from_millis(5_600));
        assert_eq!(at(800, Cause::Expiry), Duration::from_millis(5_830));
    }

    #[test]
    fn the_part_that_ends_first_decides_and_one_whose_changes_are_told_never_does() {
        let poll = Duration::from_secs(5);
        let next = |parts: &[(u16, Option<u64>)]| {
            let part = |&(source, remaining_ms): &(u16, Option<u64>)| PartLifetime { source, remaining_ms };
            let parts: Vec<PartLifetime> = parts.iter().map(part).collect();
            next_read(&parts, |it| it == 0, poll)
        };
        let after = |seconds, cause| Some(NextRead { after: Duration::from_secs(seconds), cause });
        assert_eq!(next(&[]), None);
        assert_eq!(next(&[(0, None), (0, Some(9))]), None);
        assert_eq!(next(&[(0, None), (1, Some(60_000))]), after(60, Cause::Expiry));
        assert_eq!(next(&[(1, Some(60_000)), (2, None)]), after(5, Cause::Poll));
        assert_eq!(next(&[(1, Some(3000)), (2, None)]), after(3, Cause::Expiry));
        assert_eq!(next(&[(1, Some(0))]), after(1, Cause::Expiry));
        assert_eq!(next(&[(1, Some(u64::MAX - 1))]), after(24 * 3600, Cause::Expiry));
    }
}
