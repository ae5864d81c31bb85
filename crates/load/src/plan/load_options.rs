//! The load of a plan: open by a profile or a log, or closed.

use super::plan_text::{LoadText, Scale};
use super::replay::Entry;
use crate::notation::yaml::Span;
use crate::profile::{Arrivals, ProfileOptions, RateProfile};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Amount of requests over time, and the duration.
#[derive(Clone, Debug)]
pub enum Load {
    /// Requests come by a schedule, whatever the server does.
    Open {
        /// The rate over time.
        profile: RateProfile,
        /// The distances between them.
        arrivals: Arrivals,
        /// For people.
        words: String,
    },
    /// Each of `users` users waits for its answer before it sends the next request.
    Closed {
        /// Number of users.
        users: u32,
        /// Length.
        duration: Duration,
        /// Pause of a user between answer and request.
        think: Duration,
    },
    /// Requests come as a log has them.
    Replay {
        /// Log entries by time.
        entries: Arc<Vec<Entry>>,
        /// For people.
        words: String,
    },
}

/// Length of a load that names none.
const DURATION: Duration = Duration::from_secs(10);

impl Load {
    /// An open load of one rate.
    /// # Errors
    /// A rate or duration that gives no request.
    pub fn constant(rate: f64, duration: Duration, arrivals: Arrivals) -> Result<Self, String> {
        let profile = RateProfile::constant(rate, duration)?;
        let words = words(&format!("{rate}/s"), duration, arrivals);
        Ok(Self::Open { profile, arrivals, words })
    }

    /// Length of the measured period.
    pub fn duration(&self) -> Duration {
        match self {
            Self::Open { profile, .. } => profile.duration(),
            Self::Closed { duration, .. } => *duration,
            Self::Replay { entries, .. } => {
                entries.last().map_or(Duration::ZERO, |it| it.at + Duration::from_millis(1))
            }
        }
    }

    /// For people.
    pub fn words(&self) -> String {
        match self {
            Self::Open { words, .. } | Self::Replay { words, .. } => words.clone(),
            Self::Closed { users, duration, think } if think.is_zero() => {
                format!("{users} users in a closed loop for {}", seconds(*duration))
            }
            Self::Closed { users, duration, think } => {
                format!("{users} users who think for {think:?}, for {}", seconds(*duration))
            }
        }
    }
}

fn words(rate: &str, duration: Duration, arrivals: Arrivals) -> String {
    let kind = match arrivals {
        Arrivals::Constant => "constant",
        Arrivals::Poisson => "poisson",
    };
    format!("{rate} for {}, {kind}", seconds(duration))
}

fn seconds(duration: Duration) -> String {
    format!("{} s", (duration.as_secs_f64() * 1000.0).round() / 1000.0)
}

/// The load of the command line; what is not set there is that of the plan.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Requests per second.
    pub rate: Option<f64>,
    /// Length.
    pub duration: Option<Duration>,
    /// Exponential distances.
    pub poisson: bool,
    /// A built-in profile.
    pub profile: Option<String>,
    /// A factor of the profile's rates, as `1/1000`.
    pub scale: Option<String>,
    /// A factor by which the profile's time runs faster.
    pub compress: Option<f64>,
    /// Users of a closed loop.
    pub closed: Option<u32>,
    /// Their pause.
    pub think: Option<Duration>,
    /// An access log.
    pub replay: Option<String>,
    /// A factor by which the log's time runs faster.
    pub speed: Option<f64>,
}

impl LoadOptions {
    /// Puts these over the plan's own. A rate, a profile, a closed loop and a log exclude each other, so one here removes any there.
    pub(super) fn override_plan(self, own: LoadText) -> Result<LoadText, String> {
        let is_new = self.profile.is_some() || self.closed.is_some() || self.replay.is_some();
        let is_rate = self.rate.is_some() && own.profile.is_none();
        let own = if is_new || is_rate { LoadText { duration: None, ..LoadText::default() } } else { own };
        let poisson = self.poisson.then_some(Arrivals::Poisson);
        Ok(LoadText {
            rate: self.rate.or(own.rate),
            duration: self.duration.map(Span).or(own.duration),
            arrivals: poisson.or(own.arrivals),
            profile: self.profile.or(own.profile),
            scale: self.scale.as_deref().map(Scale::read).transpose()?.or(own.scale),
            compress: self.compress.or(own.compress),
            points: own.points,
            closed: self.closed.or(own.closed),
            think: self.think.map(Span).or(own.think),
            replay: self.replay.or(own.replay),
            speed: self.speed.or(own.speed),
        })
    }
}

/// Entries of a log, and the number of skipped lines.
pub(super) type Replayed = (Vec<Entry>, u64);

impl LoadText {
    /// Makes the load; `replay` reads a log. Without any setting it is a closed loop of 16 users.
    pub(super) fn load(
        self,
        base: &Path,
        replay: impl FnOnce(&Path) -> Result<Replayed, String>,
    ) -> Result<Load, String> {
        let kinds = [
            (self.closed.is_some(), "closed"),
            (self.profile.is_some(), "profile"),
            (self.points.is_some(), "points"),
            (self.replay.is_some(), "replay"),
        ];
        let named: Vec<&str> = kinds.iter().filter(|it| it.0).map(|it| it.1).collect();
        if named.len() > 1 {
            return Err(format!("`{}` and `{}` exclude each other; keep one of them", named[0], named[1]));
        }
        if self.rate.is_some_and(|_| matches!(named.first(), Some(&("closed" | "points" | "replay")))) {
            return Err(format!("`rate` and `{}` exclude each other; keep one of them", named[0]));
        }
        self.check_owners()?;
        for (name, value) in [("rate", self.rate), ("compress", self.compress), ("speed", self.speed)] {
            if let Some(value) = value.filter(|it| !it.is_finite() || *it <= 0.0) {
                return Err(format!("`{name}` has to be above 0, not {value}"));
            }
        }
        let arrivals = self.arrivals.unwrap_or_default();
        let duration = self.duration.map(|it| it.0);
        if let Some(file) = &self.replay {
            return self.replay_load(&base.join(file), replay);
        }
        let (profile, rate) = match (&self.profile, self.points, self.rate) {
            (Some(name), ..) => {
                let scale = self.scale.map_or(1.0, |it| it.0);
                let compress = self.compress.unwrap_or(1.0);
                let options = ProfileOptions { rate: self.rate, scale, duration, compress };
                (RateProfile::from_name(name, options)?, name.clone())
            }
            (None, Some(points), _) => {
                let points = points.into_iter().map(|it| (it.0.0.as_secs_f64(), it.1)).collect();
                (RateProfile::through(points)?, "points".to_owned())
            }
            (None, None, Some(rate)) => return Load::constant(rate, duration.unwrap_or(DURATION), arrivals),
            (None, None, None) => {
                let users = self.closed.unwrap_or(16);
                if users == 0 {
                    return Err("`closed` needs a user".into());
                }
                let think = self.think.unwrap_or_default().0;
                return Ok(Load::Closed { users, duration: duration.unwrap_or(DURATION), think });
            }
        };
        let rate = format!("{rate} of {:.0}/s on average", profile.mean_rate());
        let words = words(&rate, profile.duration(), arrivals);
        Ok(Load::Open { profile, arrivals, words })
    }

    /// A setting that belongs to another one which is missing.
    fn check_owners(&self) -> Result<(), String> {
        let owned = [
            ("think", self.think.is_some(), "closed", self.closed.is_some()),
            ("scale", self.scale.is_some(), "profile", self.profile.is_some()),
            ("compress", self.compress.is_some(), "profile", self.profile.is_some()),
            ("speed", self.speed.is_some(), "replay", self.replay.is_some()),
            (
                "duration",
                self.duration.is_some(),
                "rate`, `profile` or `closed",
                self.points.is_none() && self.replay.is_none(),
            ),
        ];
        match owned.iter().find(|it| it.1 && !it.3) {
            Some((name, _, owner, _)) => Err(format!("`{name}` belongs to `{owner}`")),
            None => Ok(()),
        }
    }

    fn replay_load(
        &self,
        file: &Path,
        replay: impl FnOnce(&Path) -> Result<Replayed, String>,
    ) -> Result<Load, String> {
        let (mut entries, skipped) = replay(file)?;
        let speed = self.speed.unwrap_or(1.0);
        entries.iter_mut().for_each(|it| it.at = it.at.div_f64(speed));
        let count = entries.len();
        let mut words = format!("{count} requests of {} at {speed} times its pace", file.display());
        if skipped > 0 {
            words.push_str(&format!(", {skipped} of other kinds left out"));
        }
        Ok(Load::Replay { entries: Arc::new(entries), words })
    }
}
