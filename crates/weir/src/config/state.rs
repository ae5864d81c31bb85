//! The database of asynchronous actions and scheduled events.

use super::source::address::{self, Address};
use super::{Config, Events};
use std::path::Path;
use weir_events::state::StateAddress;
use weir_postgres::Settings;

/// The source whose database holds the state, if `state` is not set.
pub(crate) const STATE_SOURCE: &str = "default";

impl Config {
    /// The place of the state: `state`, else source `default` if it is a PostgreSQL, else a file beside the metadata. `None` without
    /// any.
    /// # Errors
    /// `state` is none of those, or the address of source `default` is wrong.
    pub(crate) fn state_address(&self) -> Result<Option<StateAddress>, String> {
        let postgres = |url: &str| {
            let settings = Settings::parse(url, |name| std::env::var(name).ok()).map_err(|it| it.0)?;
            Ok(Some(StateAddress::Postgres(Box::new(settings))))
        };
        if let Some(url) = &self.state {
            return match address::parse(url) {
                Ok(Address::Postgres(url)) => postgres(&url).map_err(|it| format!("`state`: {it}")),
                Ok(Address::Sqlite(file)) => Ok(Some(StateAddress::Sqlite(file))),
                Ok(Address::Native(_) | Address::Services(_)) | Err(_) => {
                    Err("`state` is `postgres://…` or `sqlite:FILE`".to_owned())
                }
            };
        }
        let default = self.sources.iter().find(|it| it.name == STATE_SOURCE);
        if let Some(Address::Postgres(url)) = default.and_then(|it| address::parse(&it.url).ok()) {
            return postgres(&url);
        }
        Ok(self.metadata.as_deref().and_then(state_file).map(StateAddress::Sqlite))
    }

    /// The place of the state as [`Self::state_address`] says, but the file beside the metadata if source `default` takes no writes.
    /// Asks the database.
    /// # Errors
    /// See there.
    pub(crate) fn writable_state(&self) -> Result<Option<StateAddress>, String> {
        let address = self.state_address()?;
        let is_chosen = self.state.is_some();
        match address {
            Some(address) if !is_chosen && address.is_read_only() => {
                Ok(self.metadata.as_deref().and_then(state_file).map(StateAddress::Sqlite))
            }
            other => Ok(other),
        }
    }

    /// Where the state is, in words for operators; `None` if there is none, or events are switched off.
    pub(crate) fn describe_state(&self) -> Option<String> {
        if self.events == Events::Off {
            return None;
        }
        let place = match self.writable_state().ok().flatten()? {
            StateAddress::Sqlite(file) => {
                return Some(format!(
                    "state: file {}: schedules and asynchronous actions run in one process only; name a PostgreSQL by `state` in weir.yaml for several",
                    file.display()
                ));
            }
            StateAddress::Postgres(_) if self.state.is_some() => "the database of `state`".to_owned(),
            StateAddress::Postgres(_) => format!("source `{STATE_SOURCE}`"),
        };
        Some(format!("state: schema hdb_catalog of {place}"))
    }
}

/// The file of the state beside the metadata at `path`.
fn state_file(path: &Path) -> Option<std::path::PathBuf> {
    let real = path.canonicalize().ok()?;
    let name = real.file_name()?.to_string_lossy().into_owned();
    Some(real.with_file_name(format!(".{name}.weir-state")).join("state.db"))
}
