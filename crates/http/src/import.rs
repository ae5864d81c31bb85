//! Converts service descriptions of other tools into a draft of types.

mod graphql_names;
pub mod openapi;
