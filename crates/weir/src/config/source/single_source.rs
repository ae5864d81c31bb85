//! The configuration of one source that a command names.

use super::address::Address;
use crate::config::{Config, Source, SourceKind};

impl Config {
    /// The configuration that serves `address` alone.
    pub fn of(address: &Address) -> Self {
        let source = match address {
            Address::Sqlite(path) => {
                let name = path.file_stem().and_then(|it| it.to_str()).unwrap_or("sqlite").to_string();
                let url = format!("sqlite:{}", path.display());
                Source { name, kind: Some(SourceKind::Sqlite), url, ..Source::default() }
            }
            Address::Postgres(url) => {
                let name = "postgres".to_owned();
                Source { name, kind: Some(SourceKind::Postgres), url: url.clone(), ..Source::default() }
            }
            Address::Native(path) => {
                let name = path.file_stem().and_then(|it| it.to_str()).unwrap_or("native").to_string();
                Source { name, native: Some(path.clone()), ..Source::default() }
            }
            Address::Services(path) => {
                let name = path.file_stem().and_then(|it| it.to_str()).unwrap_or("services").to_string();
                Source { name, file: Some(path.clone()), ..Source::default() }
            }
        };
        Self { sources: vec![source], ..Self::default() }
    }
}
