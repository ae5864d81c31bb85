//! The pages of operators: version, metrics, probes, explain, reload, invalidate, types, catalogs, live queries, saved operations, console.

pub(crate) mod catalog_page;
pub(crate) mod console;
pub(crate) mod explain_page;
pub(crate) mod invalidate;
pub(crate) mod metadata_api;
pub(crate) mod observed;
pub(crate) mod pages;
pub(crate) mod plan_page;
pub(crate) mod probes;
#[cfg(feature = "profile")]
pub(crate) mod profile;
#[cfg(not(feature = "profile"))]
#[path = "operator/profile/absent.rs"]
pub(crate) mod profile;
pub(crate) mod reload;
pub(crate) mod row_page;
pub(crate) mod schema_page;
pub(crate) mod swagger;
pub(crate) mod tools;
