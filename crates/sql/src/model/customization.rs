//! Prefixes and suffixes of the names of one source, in the format of Hasura's metadata v3.
//!
//! Prefix and suffix go around whole names: `Album_by_pk` with the prefix `music_` is `music_Album_by_pk`. Scalars, what
//! compares them and `order_by` keep their names, as sources share those.
//!
//! **Invariant:** a name with prefix and suffix is a valid GraphQL name.

use super::names::graphql_name;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// `customization` of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::manual_non_exhaustive, reason = "keys that have to be empty hold nothing")]
pub struct Customization {
    /// Around the names of the fields of the roots.
    pub root_fields: RootFieldNames,
    /// Around the names of the types that tables and functions bring.
    pub type_names: Affixes,
    #[serde(deserialize_with = "naming_convention")]
    naming_convention: (),
}

/// `customization.root_fields`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::manual_non_exhaustive, reason = "keys that have to be empty hold nothing")]
pub struct RootFieldNames {
    /// In front.
    #[serde(deserialize_with = "prefix")]
    pub prefix: String,
    /// Behind.
    #[serde(deserialize_with = "suffix")]
    pub suffix: String,
    #[serde(deserialize_with = "namespace")]
    namespace: (),
}

/// `customization.type_names`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Affixes {
    /// In front.
    #[serde(deserialize_with = "prefix")]
    pub prefix: String,
    /// Behind.
    #[serde(deserialize_with = "suffix")]
    pub suffix: String,
}

fn prefix<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
    match text.is_empty() || graphql_name(&text).is_some_and(|valid| valid == text) {
        true => Ok(text),
        false => Err(D::Error::custom(
            "a prefix has to begin with a letter or one underscore and go on with letters, digits and underscores",
        )),
    }
}

fn suffix<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
    match text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_') {
        true => Ok(text),
        false => Err(D::Error::custom("a suffix has to be of letters, digits and underscores")),
    }
}

fn namespace<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    match Option::<String>::deserialize(deserializer)?.as_deref() {
        None | Some("") => Ok(()),
        Some(_) => Err(D::Error::custom(
            "`namespace` is not supported yet: leave it out and tell root fields apart by `prefix` or `suffix`",
        )),
    }
}

fn naming_convention<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    match Option::<String>::deserialize(deserializer)?.as_deref() {
        None | Some("" | "hasura-default") => Ok(()),
        Some(_) => Err(D::Error::custom(
            "of `naming_convention` only `hasura-default` is supported yet: leave it out",
        )),
    }
}
