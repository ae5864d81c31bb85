//! Names of one source's types and root fields.
//!
//! Prefix and suffix go around whole names: `Album_by_pk` with the prefix `music_` is `music_Album_by_pk`. Scalars, what
//! compares them and `order_by` keep their names, as sources share those.
//!
//! **Invariant:** a name with prefix and suffix is a valid GraphQL name.

use super::is_default;
use crate::names::{is_end_of_name, is_name};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// `customization` of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Customization {
    /// Around the names of the fields of the roots.
    #[serde(skip_serializing_if = "is_default")]
    pub root_fields: RootFieldNames,
    /// Around the names of the types that tables and functions bring.
    #[serde(skip_serializing_if = "is_default")]
    pub type_names: Affixes,
    /// The rule for generated names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub naming_convention: Option<NamingConvention>,
}

/// `customization.naming_convention`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NamingConvention {
    /// `insert_boat_one`, `boat_bool_exp`.
    HasuraDefault,
    /// `insertBoatOne`, `BoatBoolExp`.
    GraphqlDefault,
}

/// `customization.root_fields`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RootFieldNames {
    /// The field that holds all others of the source.
    #[serde(deserialize_with = "namespace", skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// In front.
    #[serde(deserialize_with = "prefix", skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// Behind.
    #[serde(deserialize_with = "suffix", skip_serializing_if = "String::is_empty")]
    pub suffix: String,
}

/// `customization.type_names`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Affixes {
    /// In front.
    #[serde(deserialize_with = "prefix", skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// Behind.
    #[serde(deserialize_with = "suffix", skip_serializing_if = "String::is_empty")]
    pub suffix: String,
}

fn prefix<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
    if text.is_empty() || is_name(&text) {
        Ok(text)
    } else {
        Err(D::Error::custom(
            "a prefix has to begin with a letter or one underscore and go on with letters, digits and underscores",
        ))
    }
}

fn suffix<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
    if is_end_of_name(&text) {
        Ok(text)
    } else {
        Err(D::Error::custom("a suffix has to be of letters, digits and underscores"))
    }
}

fn namespace<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Option::<String>::deserialize(deserializer)? {
        Some(text) if text.is_empty() => Ok(None),
        Some(text) if !is_name(&text) => Err(D::Error::custom("a namespace has to be a GraphQL name")),
        text => Ok(text),
    }
}
