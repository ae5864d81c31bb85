//! GraphQL at `/graphql` of an axum router. A layer of tower adds authentication, CORS, compression and time limits.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use std::sync::Arc;
use weir_runtime::Schema;
use weir_runtime::http::answer;

async fn graphql(State(schema): State<Arc<Schema>>, request: Request) -> Response {
    answer(&schema, request, &crate::served::OPTIONS, |request| request).await.map(Body::new)
}

/// The router.
pub(crate) fn router(schema: Arc<Schema>) -> Router {
    Router::new().route("/graphql", any(graphql)).with_state(schema)
}
