//! Source addresses on the command line and in `url` of a configuration.

use super::types_file;
use std::path::{Path, PathBuf};
use weir_http::source;

/// File endings of SQLite databases.
const SQLITE_ENDINGS: [&str; 3] = ["db", "sqlite", "sqlite3"];

/// Meaning of an address on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A configuration file.
    Config(PathBuf),
    /// A folder of Hasura's metadata.
    Metadata(PathBuf),
    /// A single source without further configuration.
    Source(Address),
}

/// Address of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL server, by URL.
    Postgres(String),
    /// A file of native types, whose database Weir creates.
    Native(PathBuf),
    /// A file of services.
    Services(PathBuf),
}

/// Parses an address: `sqlite:chinook.db`, `chinook.db`, `weir.yaml`.
/// # Errors
/// The address is not supported; the message names those that are.
pub fn target(text: &str) -> Result<Target, String> {
    let ending =
        Path::new(text).extension().and_then(|it| it.to_str()).unwrap_or_default().to_ascii_lowercase();
    if !text.contains(':') && Path::new(text).join("version.yaml").is_file() {
        return Ok(Target::Metadata(PathBuf::from(text)));
    }
    if matches!(ending.as_str(), "yaml" | "yml") && !text.contains(':') {
        return Ok(Target::Config(PathBuf::from(text)));
    }
    parse(text).map(Target::Source)
}

/// Parses the address of a source.
/// # Errors
/// See [`target`].
pub fn parse(text: &str) -> Result<Address, String> {
    if let Some(path) = text.strip_prefix("sqlite:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        return match path {
            "" => Err("`sqlite:` needs a file name, as in `sqlite:chinook.db`".into()),
            _ => Ok(Address::Sqlite(PathBuf::from(path))),
        };
    }
    if let Some((scheme, _)) = text.split_once("://") {
        return Err(match scheme {
            "postgres" | "postgresql" => return Ok(Address::Postgres(text.to_owned())),
            _ => format!(
                "`{scheme}://` is not a kind of source Weir knows; try `postgres://…` or `sqlite:chinook.db`"
            ),
        });
    }
    if is_services(Path::new(text)) {
        return Ok(Address::Services(PathBuf::from(text)));
    }
    if is_sdl(Path::new(text)) {
        return Ok(Address::Native(PathBuf::from(text)));
    }
    let ending =
        Path::new(text).extension().and_then(|it| it.to_str()).unwrap_or_default().to_ascii_lowercase();
    if SQLITE_ENDINGS.contains(&ending.as_str()) {
        return Ok(Address::Sqlite(PathBuf::from(text)));
    }
    Err(format!(
        "cannot tell what `{text}` is; name a .graphql file of types or services, a .db, .sqlite or .sqlite3 file, \
         `sqlite:FILE`, `postgres://…`, or a weir.yaml"
    ))
}

/// True if `path` has the ending of a file of types or services.
pub fn is_sdl(path: &Path) -> bool {
    types_file::is_named(path)
}

/// True if the file at `path` describes services. False if it cannot be read; opening it reports the cause.
pub fn is_services(path: &Path) -> bool {
    is_sdl(path) && std::fs::read_to_string(path).is_ok_and(|text| source::is_services(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<Target, &str>) {
        match (target(text), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
            (Err(message), Err(part)) => assert!(message.contains(part), "{text}: {message}"),
            (found, expected) => panic!("{text}: {found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn an_address_says_what_it_is() {
        let sqlite = |path: &str| Ok(Target::Source(Address::Sqlite(path.into())));
        check("sqlite:chinook.db", sqlite("chinook.db"));
        check("sqlite:///var/lib/chinook", sqlite("/var/lib/chinook"));
        check("data/chinook.SQLite3", sqlite("data/chinook.SQLite3"));
        check("postgres://ada@h/x", Ok(Target::Source(Address::Postgres("postgres://ada@h/x".into()))));
        check("shop.graphql", Ok(Target::Source(Address::Native("shop.graphql".into()))));
        check("conf/weir.yaml", Ok(Target::Config("conf/weir.yaml".into())));
    }

    #[test]
    fn what_cannot_be_served_says_what_can() {
        check("mysql://localhost/x", Err("not a kind of source"));
        check("chinook", Err("cannot tell what `chinook` is"));
        check("sqlite:", Err("needs a file name"));
    }
}
