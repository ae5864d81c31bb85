//! Documents of metadata: read, refused with their places, written and read again.

mod actions;
mod cron_triggers;
mod edits;
mod exports;
mod folders;
mod parts;
mod round_trip;
mod schema_renames;
mod shapes;
