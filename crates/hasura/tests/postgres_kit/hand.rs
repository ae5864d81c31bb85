//! Hands beside what is tested, that hold locks and look at what others do.

use super::Database;
use std::time::{Duration, Instant};
use weir_postgres::{Format, Parameters, Pool, Purpose, Session, Settings, Statement};

pub fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// A session that runs statements one by one, to hold locks and to look at what others do.
pub struct Hand(Session);

impl Hand {
    pub async fn new(database: &Database) -> Self {
        let mut settings = Settings::parse(&database.socket_url(), |_| None).unwrap();
        settings.limits.session_lock_timeout = Duration::ZERO;
        let pool = Pool::new(settings);
        Self(pool.session(Purpose::Write, soon()).await.unwrap())
    }

    /// Runs one statement and gives the first column of its first row as text.
    pub async fn run(&mut self, sql: &str) -> String {
        self.0.push(&Statement::new(sql, [], [Format::Text], [], None), &Parameters::new());
        let answers = self.0.flush(soon()).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        let first = answers.first().and_then(|rows| rows.iter().next());
        let cell = first.and_then(|row| row.column(0).flatten());
        cell.map_or(String::new(), |it| String::from_utf8(it.to_vec()).unwrap())
    }

    /// Asks until the answer is as expected.
    pub async fn until(&mut self, sql: &str, expected: &str) {
        let deadline = soon();
        loop {
            let seen = self.run(sql).await;
            if seen == expected {
                return;
            }
            assert!(Instant::now() < deadline, "{sql}: {seen}");
            tokio::task::yield_now().await;
        }
    }

    /// Waits until so many statements of others in this database wait for locks.
    pub async fn until_blocked(&mut self, count: usize) {
        let sql = "SELECT count(*)::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        self.until(sql, &count.to_string()).await;
    }
}

/// Runs statements in `database` beside a source; gives the first column of the last one's first row.
pub fn beside(database: &Database) -> Box<dyn FnMut(&str) -> String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut hand = runtime.block_on(Hand::new(database));
    Box::new(move |sql| {
        let statements = sql.split(';').map(str::trim).filter(|it| !it.is_empty());
        statements.map(|it| runtime.block_on(hand.run(it))).last().unwrap_or_default()
    })
}
