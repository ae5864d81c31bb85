//! Schemas with resolvers, from SDL to answers.

#[path = "../kit/mod.rs"]
mod kit;

mod abstract_types;
mod any_input;
mod arguments;
mod build;
mod code_first;
mod code_first_checks;
mod code_first_interfaces;
mod code_first_numbers;
mod control;
mod errors;
#[cfg(feature = "http")]
mod event_streams;
mod incremental;
mod interceptors;
mod loaders;
mod mixed;
mod object_guards;
mod relay;
mod resolvers;
mod shared_keys;
mod subscriptions;
mod testing;
mod usage;
mod visibility;
