//! Services as a source of a graph: an SDL with `@source` and `@connect` says how types and fields are asked of REST,
//! GraphQL and gRPC services; calls are batched by level, made once while in flight, and cached.
//!
//! **Invariant:** nothing that belongs to one caller is ever given to another: the key of whatever is shared comes from
//! the plan and holds every header the plan forwards or reads.
//!
//! Source: `docs/sources/services.md`.

#![expect(
    missing_docs,
    reason = "the crate is not published: an item has a doc where it says more than the name"
)]

pub mod cache;
mod caching;
pub mod call;
mod error_report;
pub mod graphql;
#[cfg(feature = "grpc")]
pub mod grpc;
#[cfg(not(feature = "grpc"))]
#[path = "grpc/absent.rs"]
pub mod grpc;
#[cfg(all(test, feature = "grpc"))]
#[path = "grpc/absent.rs"]
#[expect(unreachable_pub, reason = "compiled for its tests, which thus run in every build")]
mod grpc_absent;
pub mod import;
pub mod passthrough;
pub mod project;
pub mod sdl;
pub mod selection;
pub mod source;
pub mod template;
pub(crate) mod visible;
