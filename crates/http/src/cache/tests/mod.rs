//! The cache as a whole, against upstreams made of a closure and a clock that is moved by hand.

mod cluster;
mod hostile;
mod kit;
mod model;
mod redis_kit;
mod second;
mod sharing;
mod standard;
mod together;
mod windows;
