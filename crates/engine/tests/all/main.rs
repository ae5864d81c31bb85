//! The engine over sources of the tests' own: plans, composition, streams, lifetimes.

#[path = "../kit/mod.rs"]
mod kit;

mod alone;
mod committed;
mod compose;
mod demand;
mod engine;
mod entities;
mod flowing_lists;
mod increments;
mod introspection;
mod lifetime;
mod live_queries;
mod memory;
mod naive;
mod observer;
mod parts;
mod plan;
mod random_inputs;
mod refresh;
mod stream;
mod streamed_lists;
mod visibility;
