//! `tracing`: traces for a collector of OpenTelemetry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_http::call::UpstreamSettings;

/// `tracing`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tracing {
    /// Address of a collector that takes OTLP over HTTP: `http://127.0.0.1:4318`. Without the key that of `OTEL_EXPORTER_OTLP_ENDPOINT`;
    /// without both nothing is traced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Share of the requests that are traced, from 0 to 1, where their client has not decided it by `traceparent`. Without the key
    /// `OTEL_TRACES_SAMPLER_ARG`; without both 1 in dev mode, else 0.01.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Name of this service in traces; without the key `OTEL_SERVICE_NAME`, without both `weir`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_name: Option<String>,
}

impl Tracing {
    /// # Errors
    /// The first key with a value that means nothing, with the way out.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.ratio.is_some_and(|it| !(0.0..=1.0).contains(&it)) {
            return Err("`tracing.ratio` is a share from 0 (nothing) to 1 (every request)".into());
        }
        let is_address = |it: &str| UpstreamSettings::is_base(it);
        match &self.endpoint {
            Some(endpoint) if !is_address(endpoint) => Err(format!(
                "`tracing.endpoint` is `{endpoint}`, which is no address of a collector: write `http://127.0.0.1:4318`"
            )),
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(endpoint: Option<&str>, ratio: Option<f64>, expected: Option<&str>) {
        let tracing = Tracing { endpoint: endpoint.map(Into::into), ratio, service_name: None };
        let found = tracing.check().err();
        assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
        assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()));
    }

    #[test]
    fn a_collector_has_an_address_and_a_share_is_one() {
        check(None, None, None);
        check(Some("http://127.0.0.1:4318"), Some(0.25), None);
        check(Some("https://collector.example/otlp"), Some(1.0), None);
        check(Some("127.0.0.1:4318"), None, Some("`tracing.endpoint`"));
        check(Some("grpc://collector:4317"), None, Some("`tracing.endpoint`"));
        for ratio in [-0.1, 1.5, f64::NAN] {
            check(None, Some(ratio), Some("`tracing.ratio`"));
        }
    }
}
