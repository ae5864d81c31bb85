//! Files that the process may have open: as many as the system lets it, of which clients leave some to the rest.
//!
//! A connection of a client is one. Databases, services, logs and reloads need others at any time; without room for them a request
//! fails whose connection was accepted.

/// A part of all descriptors is not for clients: one of so many, within these bounds.
const KEPT_PART: u64 = 4;
const KEPT_MIN: u64 = 32;
const KEPT_MAX: u64 = 2048;

/// Raises the number of descriptors to what the system lets the process have; gives that number, if there is one.
#[cfg(unix)]
pub(crate) fn raise_limit() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return current;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        // Some systems name a limit that they do not grant.
        Err(_) => current,
    }
}

/// No limit is known.
#[cfg(not(unix))]
pub(crate) fn raise_limit() -> Option<u64> {
    None
}

/// So many connections of clients there may be, if there are `descriptors` and `wanted` are configured.
pub(crate) fn limit_connections(wanted: u32, descriptors: Option<u64>) -> usize {
    let Some(descriptors) = descriptors else { return wanted as usize };
    let kept = (descriptors / KEPT_PART).clamp(KEPT_MIN, KEPT_MAX);
    u64::from(wanted).min(descriptors.saturating_sub(kept).max(1)) as usize
}

/// True if a connection was not accepted because there are no descriptors left.
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
