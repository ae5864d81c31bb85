//! Calls of webhooks as Hasura makes them: addresses and headers with variables of the environment, transforms of requests and
//! answers, and the call itself by the machinery of services. Actions, event triggers and schedules use it.
//!
//! [`environment`] fills `{{NAME}}` and resolves headers, [`address`] reads addresses, [`transform`] changes requests and answers,
//! [`client`] calls.
//!
//! **Invariant:** what is logged has no values of the environment and no credentials; only the webhook itself gets them.

#![expect(
    missing_docs,
    reason = "the crate is not published: an item has a doc where it says more than the name"
)]

pub mod address;
pub mod answer;
pub mod client;
pub mod environment;
pub mod headers;
pub mod transform;

pub use address::WebhookUrl;
pub use answer::WebhookAnswer;
pub use client::{WebhookClient, WebhookError, WebhookLimits, WebhookRequest};
pub use environment::{Environment, EnvironmentError};
pub use transform::{RequestTransformer, ResponseTransformer, TransformErrors};

/// The version of Hasura whose API Weir speaks.
pub const HASURA_VERSION: &str = "v2.48.0";
