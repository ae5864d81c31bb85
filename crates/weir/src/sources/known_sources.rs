//! Contents of the sources of a generation as they were when they were last reached: the next generation is made of them where a
//! source is down.
//!
//! **Invariant:** contents say nothing of permissions. Those are always of the configuration that is taken over, so a source that is
//! down keeps no right in service.

use crate::config::Source;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_database::contents::Contents;
use weir_database::postgres::PostgresContents;
use weir_http::passthrough::Server;
use weir_native::store::Building;
use weir_relational::catalog::Catalog;

/// Last known contents by [`address_key`] or [`server_key`]; keys may contain passwords.
#[derive(Clone, Default)]
pub(crate) struct KnownSources(BTreeMap<String, KnownContents>);

/// Contents of one source.
#[derive(Clone, Debug)]
pub(crate) enum KnownContents {
    /// A SQLite file.
    Sqlite(Arc<Contents>),
    /// A database server.
    Postgres(Arc<PostgresContents>),
    /// A native store: its tables and pending indexes.
    Native(Arc<(Catalog, Vec<Building>)>),
    /// A GraphQL server: its answer to the introspection query.
    Graphql(Bytes),
}

impl KnownSources {
    /// Contents of `key`.
    pub(crate) fn get(&self, key: &str) -> Option<&KnownContents> {
        self.0.get(key)
    }

    /// Adds the contents of `others`.
    pub(crate) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Stores the contents of `key`.
    pub(crate) fn insert(&mut self, key: String, contents: KnownContents) {
        self.0.insert(key, contents);
    }
}

/// Key of a source's contents: differs if the database or the served part of its catalog differs.
pub(crate) fn address_key(source: &Source) -> String {
    // Entries of tracked tables name their schemas, so `schemas` has no effect.
    let schemas = source.postgres.as_ref().filter(|_| !source.tracked_only).map(|it| it.schemas.as_slice());
    let store = (&source.native, &source.store);
    format!("{:?}", (&source.name, &source.url, schemas.unwrap_or_default(), source.integers, store))
}

/// Key of a GraphQL server in a file of services, like [`address_key`].
pub(crate) fn server_key(server: &Server) -> String {
    format!("{:?}", (&server.name, &server.url, &server.prefix))
}
