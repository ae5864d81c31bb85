//! Progress for people.

use super::super::progress::Progress as Bar;
use std::io::IsTerminal;
use weir_load::Progress;
use weir_load::report::micros;

/// Shows progress each second: a bar on a terminal, else lines.
pub(super) struct Watcher {
    bar: Option<Bar>,
    is_begun: bool,
}

impl Watcher {
    pub(super) fn new() -> Self {
        Self { bar: std::io::stderr().is_terminal().then(|| Bar::of("seconds")), is_begun: false }
    }

    /// Shows a second.
    pub(super) fn show(&mut self, before: &str, it: &Progress) {
        let words = format!(
            "{before}{}/s  p50 {}  p99 {}  {} errors",
            it.completed,
            micros(it.p50_us),
            micros(it.p99_us),
            it.errors
        );
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds")]
        let seconds = it.seconds.ceil() as u64;
        match &mut self.bar {
            Some(bar) => {
                if !self.is_begun || it.second == 1 {
                    bar.begin("", seconds);
                    self.is_begun = true;
                }
                bar.message(words);
                bar.set_position(it.second);
            }
            None => eprintln!("{:>4} s  {words}", it.second),
        }
    }

    /// Writes a line that stays.
    pub(super) fn line(&mut self, text: &str) {
        self.end();
        eprintln!("{text}");
        self.bar = self.bar.is_some().then(|| Bar::of("seconds"));
        self.is_begun = false;
    }

    /// Removes the bar.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.clear();
        }
    }
}
