//! Checks keys of a source against its address.

use crate::config::source::address::Address;
use crate::config::{Source, SourceKind};

/// Checks that `kind` and the block `postgres` match the address.
pub(super) fn check(source: &Source, address: &Address) -> Result<(), String> {
    let is_services = matches!(address, Address::Services(_));
    if !is_services && (source.env.is_some() || !source.services.is_empty()) {
        return Err("`env` and `services` are for `file`; remove them".into());
    }
    if source.tell_denials && !matches!(address, Address::Native(_)) {
        return Err("`tell_denials` is for `native`; remove it".into());
    }
    let (kind, word) = match address {
        Address::Sqlite(_) => (SourceKind::Sqlite, "SQLite"),
        Address::Postgres(_) => (SourceKind::Postgres, "PostgreSQL"),
        Address::Native(_) if source.kind.is_none() && source.postgres.is_none() && source.ca.is_none() => {
            return Ok(());
        }
        Address::Native(_) if source.ca.is_some() => return Err("`ca` is for `file`; remove it".into()),
        Address::Native(_) => return Err("`kind` and `postgres` are not for `native`; remove them".into()),
        Address::Services(_)
            if source.kind.is_none() && source.postgres.is_none() && source.store.is_none() =>
        {
            return Ok(());
        }
        Address::Services(_) => {
            return Err("`kind`, `postgres` and `store` are not for `file`; remove them".into());
        }
    };
    if !source.config.is_empty() {
        return Err("`config` is for `file`; remove it".into());
    }
    if source.ca.is_some() {
        return Err("`ca` is for `file`; remove it".into());
    }
    if source.store.is_some() {
        return Err("`store` is for `native`; remove it".into());
    }
    if source.kind.is_some_and(|it| it != kind) {
        return Err(format!("`kind` says otherwise than `url`, which is one of {word}; leave `kind` out"));
    }
    if source.postgres.is_some() && kind != SourceKind::Postgres {
        return Err(format!("the block `postgres` is not for {word}; remove it"));
    }
    Ok(())
}
