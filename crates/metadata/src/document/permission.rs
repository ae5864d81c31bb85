//! Permissions of tables and functions.
//!
//! Conditions are JSON in the order of the file; the model compiles them. Names in them and in `columns` are those of the database.
//!
//! **Cost:** the roles of a list whose permissions are equal share one.

use super::is_default;
use crate::json::{Json, Members};
use schemars::JsonSchema;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;

/// A permission of one role.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "P: Deserialize<'de>", serialize = "P: Serialize"))]
#[schemars(rename = "{P}Entry")]
pub struct PermissionEntry<P> {
    /// The role; never `admin`.
    pub role: String,
    /// The permission.
    #[serde(deserialize_with = "alone", serialize_with = "whole")]
    pub permission: Arc<P>,
    /// Comment of the permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

fn alone<'de, P: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<P>, D::Error> {
    P::deserialize(deserializer).map(Arc::new)
}

fn whole<P: Serialize, S: Serializer>(permission: &Arc<P>, serializer: S) -> Result<S::Ok, S::Error> {
    P::serialize(permission, serializer)
}

/// The permissions of one list that are known, each once.
struct Distinct<P>(HashSet<Arc<P>>);

impl<P: Eq + Hash> Distinct<P> {
    fn new() -> Self {
        Self(HashSet::new())
    }

    /// Replaces the entry's permission by the equal one that is known.
    fn share(&mut self, entry: &mut PermissionEntry<P>) {
        match self.0.get(&entry.permission) {
            Some(known) => entry.permission = Arc::clone(known),
            None => _ = self.0.insert(Arc::clone(&entry.permission)),
        }
    }
}

/// Makes equal permissions of `list` one.
pub(super) fn share<P: Eq + Hash>(list: &mut [PermissionEntry<P>]) {
    let mut known = Distinct::new();
    list.iter_mut().for_each(|it| known.share(it));
}

/// A permission's conditions on rows.
pub(super) trait Conditions {
    /// All row conditions of the permission.
    fn conditions(&self) -> impl Iterator<Item = &Json>;
    /// Mutable version of [`Self::conditions`].
    fn conditions_mut(&mut self) -> impl Iterator<Item = &mut Json>;
}

impl Conditions for InsertPermission {
    fn conditions(&self) -> impl Iterator<Item = &Json> {
        std::iter::once(&self.check)
    }
    fn conditions_mut(&mut self) -> impl Iterator<Item = &mut Json> {
        std::iter::once(&mut self.check)
    }
}

impl Conditions for SelectPermission {
    fn conditions(&self) -> impl Iterator<Item = &Json> {
        std::iter::once(&self.filter)
    }
    fn conditions_mut(&mut self) -> impl Iterator<Item = &mut Json> {
        std::iter::once(&mut self.filter)
    }
}

impl Conditions for UpdatePermission {
    fn conditions(&self) -> impl Iterator<Item = &Json> {
        std::iter::once(&self.filter).chain(&self.check)
    }
    fn conditions_mut(&mut self) -> impl Iterator<Item = &mut Json> {
        std::iter::once(&mut self.filter).chain(&mut self.check)
    }
}

impl Conditions for DeletePermission {
    fn conditions(&self) -> impl Iterator<Item = &Json> {
        std::iter::once(&self.filter)
    }
    fn conditions_mut(&mut self) -> impl Iterator<Item = &mut Json> {
        std::iter::once(&mut self.filter)
    }
}

/// Runs `change` on the conditions of the permissions in `list` that have one for which `concerns` holds. Equal permissions are one then, too.
pub(super) fn each_condition<P: Conditions + Clone + Eq + Hash>(
    list: &mut [PermissionEntry<P>],
    concerns: &impl Fn(&Json) -> bool,
    change: &mut impl FnMut(&mut Json),
) {
    let mut is_changed = false;
    for entry in list.iter_mut().filter(|it| it.permission.conditions().any(concerns)) {
        Arc::make_mut(&mut entry.permission).conditions_mut().for_each(&mut *change);
        is_changed = true;
    }
    if is_changed {
        share(list);
    }
}

/// Reads a list of permissions; equal permissions share one value.
pub(super) fn deserialize_shared<'de, P: Deserialize<'de> + Eq + Hash, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<PermissionEntry<P>>, D::Error> {
    deserializer.deserialize_seq(PermissionList(PhantomData))
}

/// Takes a list of permissions.
struct PermissionList<P>(PhantomData<P>);

impl<'de, P: Deserialize<'de> + Eq + Hash> Visitor<'de> for PermissionList<P> {
    type Value = Vec<PermissionEntry<P>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of permissions")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        let mut known = Distinct::new();
        while let Some(mut entry) = list.next_element()? {
            known.share(&mut entry);
            entries.push(entry);
        }
        entries.shrink_to_fit();
        Ok(entries)
    }
}

/// Columns of a permission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, JsonSchema)]
pub enum Columns {
    /// `'*'`: those of the table when it is loaded.
    #[default]
    #[schemars(rename = "*")]
    All,
    /// The listed columns, by their names in the database.
    #[schemars(untagged)]
    Listed(Vec<String>),
}

impl<'de> Deserialize<'de> for Columns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "columns are '*' or a list of names")]
        enum StarOrListed {
            Star(String),
            Listed(Vec<String>),
        }
        match StarOrListed::deserialize(deserializer)? {
            StarOrListed::Star(star) if star == "*" => Ok(Self::All),
            StarOrListed::Star(_) => Err(D::Error::custom("columns are '*' or a list of names")),
            StarOrListed::Listed(names) => Ok(Self::Listed(names)),
        }
    }
}

impl Serialize for Columns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All => serializer.serialize_str("*"),
            Self::Listed(names) => serializer.collect_seq(names),
        }
    }
}

/// `permission` of `select_permissions`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectPermission {
    /// Columns that are seen.
    pub columns: Columns,
    /// Names of scalar computed fields that the role may select.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub computed_fields: Vec<String>,
    /// Rows that are seen.
    #[schemars(with = "serde_json::Value")]
    pub filter: Json,
    /// Rows of one list.
    #[serde(default, deserialize_with = "limit", skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// True if aggregates may be asked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allow_aggregations: bool,
    /// Fields of the query root; without it all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_root_fields: Option<Vec<QueryRootField>>,
    /// Fields of the subscription root; without it all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscription_root_fields: Option<Vec<SubscriptionRootField>>,
}

/// Members of `query_root_fields`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum QueryRootField {
    Select,
    SelectByPk,
    SelectAggregate,
}

/// Members of `subscription_root_fields`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum SubscriptionRootField {
    Select,
    SelectByPk,
    SelectAggregate,
    SelectStream,
}

/// `permission` of `insert_permissions`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InsertPermission {
    /// The condition on the row as it is stored.
    #[schemars(with = "serde_json::Value")]
    pub check: Json,
    /// Values that are set in any case, by column: a text that begins with `x-hasura-` is a session variable.
    #[serde(default, skip_serializing_if = "Members::is_empty")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub set: Members,
    /// Columns that may be given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub columns: Columns,
    /// True for trusted backends only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub backend_only: bool,
    /// Without effect, as in Hasura: what a write returns, the select permission grants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub computed_fields: Vec<String>,
    /// A webhook that has to agree. Not supported: the permission must not be granted without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub validate_input: Option<Json>,
}

/// `permission` of `update_permissions`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdatePermission {
    /// Columns that may be changed.
    pub columns: Columns,
    /// Rows that may be changed.
    #[schemars(with = "serde_json::Value")]
    pub filter: Json,
    /// The condition on the changed row; written also where there is none.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Value>")]
    pub check: Option<Json>,
    /// Values that are set in any case, by column: a text that begins with `x-hasura-` is a session variable.
    #[serde(default, skip_serializing_if = "Members::is_empty")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub set: Members,
    /// True for trusted backends only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub backend_only: bool,
    /// Without effect, as in Hasura: what a write returns, the select permission grants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub computed_fields: Vec<String>,
    /// A webhook that has to agree. Not supported, see [`InsertPermission::validate_input`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub validate_input: Option<Json>,
}

/// `permission` of `delete_permissions`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeletePermission {
    /// Rows that may be deleted.
    #[schemars(with = "serde_json::Value")]
    pub filter: Json,
    /// True for trusted backends only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub backend_only: bool,
    /// Without effect, as in Hasura: what a write returns, the select permission grants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub computed_fields: Vec<String>,
    /// A webhook that has to agree. Not supported, see [`InsertPermission::validate_input`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub validate_input: Option<Json>,
}

/// A permission of a function, which has nothing to say but the role.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionPermission {
    /// The role; never `admin`.
    pub role: String,
}

fn limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let limit = Option::<i64>::deserialize(deserializer)?;
    limit.map(u32::try_from).transpose().map_err(|_| {
        D::Error::custom(if limit < Some(0) { "unexpected negative value" } else { "the limit is too large" })
    })
}
