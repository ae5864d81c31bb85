//! Remote schemas of a generation: what their servers told, and whether they tell something else by now.

use super::services;
use bytes::Bytes;
use weir_http::passthrough::Server;
use weir_metadata::Inconsistent;

/// A remote schema of a generation.
#[derive(Clone)]
pub(crate) struct WatchedRemote {
    /// Name of the remote schema.
    pub(crate) name: String,
    pub(super) server: Server,
    /// The server's answer to the introspection query that is served; `None`: it never gave one.
    pub(crate) told: Option<Bytes>,
    /// Why the server did not answer, if its last answer before is served.
    pub(crate) stale: Option<Inconsistent>,
}

impl WatchedRemote {
    /// Asks the server, and says whether it tells another schema than the one that is served, or answers again.
    fn is_changed(&self) -> bool {
        let Ok(source) = services::ask(self.server.clone()) else { return false };
        self.stale.is_some() || self.told.as_ref().is_none_or(|told| !source.has_introspection(told))
    }
}

/// True if one of `remotes` has to be read again.
pub(crate) fn are_changed(remotes: &[WatchedRemote]) -> bool {
    let changed = remotes.iter().find(|it| it.is_changed());
    if let Some(changed) = changed {
        tracing::info!(remote_schema = %changed.name, "the schema of the server changed");
    }
    changed.is_some()
}
