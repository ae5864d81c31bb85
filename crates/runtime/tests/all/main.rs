//! Schemas with resolvers, from SDL to answers.

#[path = "../kit/mod.rs"]
mod kit;

mod abstract_types;
mod arguments;
mod build;
mod code_first;
mod control;
mod errors;
mod loaders;
mod mixed;
mod relay;
mod resolvers;
mod subscriptions;
mod visibility;
