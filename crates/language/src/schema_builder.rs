//! Builds a schema: by calls or from SDL, then indexed and checked as a whole.
//!
//! [`build`] collects types, `built_in_items` puts in what every schema has, [`sdl`] reads type system definitions, and `finish`
//! makes the [`Schema`](crate::schema::Schema): it coerces defaults and checks every rule of the type system.

mod applied_values;
pub mod build;
mod built_in_items;
mod complaints;
mod finish;
mod input_owners;
mod modify;
mod name_index;
pub mod sdl;
mod sdl_places;
mod sound;
