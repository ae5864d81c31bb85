//! Progress bars of long commands on standard error; hidden if it is not a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// Time between two redraws.
const DRAW: Duration = Duration::from_millis(200);

/// A bar.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// A bar that counts `unit`.
    pub(super) fn of(unit: &str) -> Self {
        let template = match unit {
            "bytes" => "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
            _ => "{msg} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}",
        };
        let bar = ProgressBar::new(0);
        // The templates are valid; the fallback is a plain bar.
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        bar.enable_steady_tick(DRAW);
        Self(bar)
    }

    /// Restarts the bar for work of `length`.
    pub(super) fn begin(&mut self, message: &str, length: u64) {
        self.0.reset();
        self.0.set_length(length);
        self.0.set_message(message.to_owned());
    }

    /// Shows `done` of `all`. A new message restarts the bar.
    pub(super) fn show(&self, message: &str, done: u64, all: u64) {
        if self.0.message() != message {
            self.0.reset();
            self.0.set_message(message.to_owned());
        }
        self.0.set_length(all);
        self.0.set_position(done);
    }

    /// Sets the amount of work done.
    pub(super) fn set_position(&self, done: u64) {
        self.0.set_position(done);
    }

    /// Sets the message.
    pub(super) fn message(&self, message: String) {
        self.0.set_message(message);
    }

    /// Time since the bar was started.
    pub(super) fn running_time(&self) -> Duration {
        self.0.elapsed()
    }

    /// Removes the bar.
    pub(super) fn clear(&self) {
        self.0.finish_and_clear();
    }
}
