//! The driver of one PostgreSQL database.

use super::caller_session::SessionSettings;
use super::decoding::Decoding;
use super::values::decode::{Choices, Decoder};
use crate::exec::driver::{RelationalFetch, SourceState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weir_engine::source::FetchInput;
use weir_postgres::Facts;
use weir_postgres::local_settings::LocalSettings;
use weir_postgres::pool::Pool;
use weir_relational::dialect::postgres::Postgres;
use weir_relational::passes::reach::Reach;

/// Executes plans on a PostgreSQL database.
#[derive(Debug)]
pub struct PostgresDriver {
    pub(super) dialect: Postgres,
    pub(super) choices: Choices,
    pub(super) pool: Arc<Pool>,
    /// The source's name.
    pub(super) name: Box<str>,
    /// Facts of the server when it was opened.
    pub(super) facts: Option<Facts>,
    pub(super) decoding: Decoding,
    /// Settings of its transactions.
    pub(super) session: SessionSettings,
    /// Numbers of statements by [`Reach`], where tables have shards.
    pub(super) shards: Option<[AtomicU64; Reach::EVERY.len()]>,
}

impl PostgresDriver {
    /// Counts a statement that asks these shards.
    pub(super) fn count(&self, reach: Reach) {
        if let Some(counts) = &self.shards {
            counts[reach as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn decoder(&self, oid: u32) -> Decoder {
        Decoder::new(&self.dialect.types, oid, self.choices)
    }

    /// A decoder of the column at place `at`; those at `keys` are given to the next statement too.
    pub(super) fn decoder_at(&self, at: usize, oid: u32, keys: &[u16]) -> Decoder {
        if keys.iter().any(|it| usize::from(*it) == at) {
            Decoder::of_key(&self.dialect.types, oid, self.choices)
        } else {
            self.decoder(oid)
        }
    }
}

impl RelationalFetch<PostgresDriver> {
    /// The settings of a read; `None`: reads of all callers are alike.
    pub(super) fn read_settings(&self, input: &FetchInput<'_>) -> Option<Arc<LocalSettings>> {
        self.state.driver.session.of_read(input)
    }

    /// The settings of a mutation; `None`: it has none.
    pub(super) fn write_settings(&self, input: &FetchInput<'_>) -> Option<Arc<LocalSettings>> {
        let driver = &self.state.driver;
        driver.session.of_mutation(input, driver.dialect.flavour.abilities().local_settings)
    }
}

pub(super) type PostgresState = SourceState<PostgresDriver>;
pub(super) type PostgresFetch = RelationalFetch<PostgresDriver>;
