//! How `weir.yaml` is read: values of the environment in it, errors with their places.

pub mod load;
pub mod places;
pub(crate) mod variables;
