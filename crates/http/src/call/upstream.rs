//! A service and what is known about it.

use super::attempt::Line;
use super::dial::Dialer;
use super::error::CallError;
use super::settings::{Policy, Settings, SettingsError};
use super::{Answer, Ask};
use tokio::time::{Instant, timeout_at};

/// One service, shared by all that call it.
pub struct Upstream {
    line: Line,
    policy: Policy,
}

impl Upstream {
    /// Nothing is sent yet.
    /// # Errors
    /// A base URL that names no service, or certificates that cannot be read.
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let line = Line::new(Dialer::new(settings)?, settings.policy.body_bytes_max);
        Ok(Self { line, policy: settings.policy.clone() })
    }

    /// Asks the service. Dropping the future gives up.
    /// # Errors
    /// There is no answer; an answer of any status is no error.
    pub async fn call(&self, ask: &Ask) -> Result<Answer, CallError> {
        let within = Instant::now() + ask.timeout.unwrap_or(self.policy.timeout);
        let deadline = within.min(Instant::from_std(ask.deadline));
        match timeout_at(deadline, self.line.ask(ask, &ask.path_and_query)).await {
            Ok(done) => done.map_err(|it| it.error),
            Err(_) => Err(CallError::Timeout),
        }
    }
}

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upstream").field("policy", &self.policy).finish_non_exhaustive()
    }
}
