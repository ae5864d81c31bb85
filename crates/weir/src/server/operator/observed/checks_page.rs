//! `/admin/services/check`: opens a connection to each address of each service, and says how it went.
//!
//! **Invariant:** no call of a service is made, and no credentials are sent.

use crate::server::request::answer::Answer;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::negotiate::Media;
use futures_util::StreamExt;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use serde_json::{Value, json as value};
use weir_engine::source::{AddressCheck, AddressState, ServiceCheck};

/// Number of sources whose services are checked at a time.
const SOURCES_AT_ONCE: usize = 8;

/// Answers a POST.
pub(crate) async fn answer(context: &RequestContext) -> Answer {
    let sources = context.generation.engine.graph().sources().iter().map(|it| &it.0);
    let checks = sources.map(|source| async move {
        let services = source.check_services().await;
        services.iter().map(|it| service_json(source.name(), it)).collect::<Vec<_>>()
    });
    let services: Vec<Value> = futures_util::stream::iter(checks).buffered(SOURCES_AT_ONCE).concat().await;
    let body = ResponseBody::whole(value!({ "services": services }).to_string().into_bytes());
    let mut response = json(StatusCode::OK, Media::Json, body);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Answer::page(response)
}

fn service_json(source: &str, check: &ServiceCheck) -> Value {
    let addresses = check.addresses.as_deref().unwrap_or_default();
    value!({
        "source": source,
        "service": &*check.service,
        "error": check.addresses.as_ref().err(),
        "addresses": addresses.iter().map(address_json).collect::<Vec<_>>(),
    })
}

fn address_json(check: &AddressCheck) -> Value {
    let state = match check.state {
        AddressState::Used => "used",
        AddressState::WarmingUp => "warming_up",
        AddressState::LeftOut => "left_out",
    };
    value!({
        "address": check.address.to_string(),
        "error": check.error,
        "took_ms": check.took.as_millis() as u64,
        "state": state,
        "in_flight": check.in_flight,
        "latency_ms": check.latency.map(|it| it.as_millis() as u64),
    })
}
