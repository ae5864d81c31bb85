//! The cache as a whole, against upstreams made of a closure and a clock that is moved by hand.

#[cfg(feature = "redis")]
mod cluster;
#[cfg(feature = "redis")]
mod hostile;
pub(super) mod kit;
#[cfg(feature = "redis")]
mod messages;
mod model;
#[cfg(feature = "redis")]
#[path = "../../../engine/tests/port_kit/mod.rs"]
mod port_kit;
#[cfg(feature = "redis")]
mod redis_kit;
#[cfg(feature = "redis")]
#[path = "../../tests/redis_server_kit/mod.rs"]
mod redis_server_kit;
mod revalidation;
#[cfg(feature = "redis")]
mod second;
mod sharing;
mod standard;
mod together;
mod windows;
