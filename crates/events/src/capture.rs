//! Triggers of databases that write the log of events, in the transaction of the change and whoever makes it.
//!
//! **Invariant:** no trigger makes the statement fail that fires it.

mod difference;
pub mod postgres;
pub mod sqlite;

pub use difference::{CaptureDifference, Leftovers};
