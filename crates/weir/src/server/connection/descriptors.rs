//! File descriptors of the process: raised to the system's limit, with a part reserved for uses other than clients.
//!
//! A connection of a client is one. Databases, services, logs and reloads need others at any time; without room for them a request
//! fails whose connection was accepted.

/// One in this many descriptors is reserved, within these bounds.
const KEPT_PART: u64 = 4;
const KEPT_MIN: u64 = 32;
const KEPT_MAX: u64 = 2048;

/// Raises the limit of descriptors to the maximum allowed; returns the limit, if known.
#[cfg(unix)]
pub(crate) fn raise_limit() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return current;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        // Some systems report a maximum that they do not grant.
        Err(_) => current,
    }
}

/// No limit is known.
#[cfg(not(unix))]
pub(crate) fn raise_limit() -> Option<u64> {
    None
}

/// Maximum number of client connections, given the limit of `descriptors` and the configured number `wanted`.
pub(crate) fn limit_connections(wanted: u32, descriptors: Option<u64>) -> usize {
    let Some(descriptors) = descriptors else { return wanted as usize };
    let kept = (descriptors / KEPT_PART).clamp(KEPT_MIN, KEPT_MAX);
    u64::from(wanted).min(descriptors.saturating_sub(kept).max(1)) as usize
}

/// True if a connection could not be accepted for lack of descriptors.
pub(crate) fn are_used_up(cause: &std::io::Error) -> bool {
    #[cfg(unix)]
    let codes = [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE].map(|it| it.raw_os_error());
    #[cfg(not(unix))]
    let codes: [i32; 0] = [];
    cause.raw_os_error().is_some_and(|it| codes.contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_leave_descriptors_to_the_rest() {
        for (wanted, descriptors, expected) in [
            (10_000, None, 10_000),
            (10_000, Some(1_048_576), 10_000),
            (10_000, Some(1024), 768),
            (10_000, Some(64), 32),
            (10_000, Some(16), 1),
            (10_000, Some(10_000), 7_952),
            (100, Some(1024), 100),
        ] {
            assert_eq!(limit_connections(wanted, descriptors), expected, "{wanted} of {descriptors:?}");
        }
    }
}
