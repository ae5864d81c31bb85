//! Converts service descriptions of other tools into a draft of types.

mod names;
pub mod openapi;
