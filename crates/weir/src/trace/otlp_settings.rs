//! Settings of the export, from the configuration and the standard variables.
//!
//! Source: OpenTelemetry, "OTLP Exporter Configuration", "Environment Variable Specification", "Resource SDK".

use super::span_queue::QueueLimits;
use crate::config;
use hyper::http::{HeaderName, HeaderValue, Uri};
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Path of traces below a collector's address. Source: OTLP, section "OTLP/HTTP Request".
const PATH: &str = "v1/traces";
/// A collector on this machine, which the specification names as the default.
const ENDPOINT: &str = "http://localhost:4318";
const TIMEOUT_MS: u64 = 10_000;
const QUEUE_MAX: u64 = 2048;
const BATCH_MAX: u64 = 512;
const DELAY_MS: u64 = 5000;

/// Settings of an export.
#[derive(Debug)]
pub(super) struct OtlpSettings {
    pub(super) endpoint: Uri,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) is_compressed: bool,
    /// A file of certificates that are trusted.
    pub(super) certificate: Option<PathBuf>,
    /// Timeout of one export.
    pub(super) timeout: Duration,
    pub(super) limits: QueueLimits,
    /// Attributes of all spans.
    pub(super) resource: BTreeMap<String, String>,
}

impl OtlpSettings {
    /// # Errors
    /// A setting is invalid.
    pub(super) fn read(
        config: &config::Tracing,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        // A variable for traces counts before the one for all signals.
        let exporter = |name: &str| {
            let names = [format!("OTEL_EXPORTER_OTLP_TRACES_{name}"), format!("OTEL_EXPORTER_OTLP_{name}")];
            names.into_iter().find_map(|it| variable(&it).map(|value| (it, value)))
        };
        check_protocol(exporter("PROTOCOL"))?;
        let number = |name: &str, usual: u64| {
            let value = variable(name).and_then(|it| it.trim().parse().ok());
            value.filter(|it| *it > 0).unwrap_or(usual)
        };
        let timeout_ms = exporter("TIMEOUT").and_then(|it| it.1.trim().parse().ok());
        let queue_max = number("OTEL_BSP_MAX_QUEUE_SIZE", QUEUE_MAX);
        Ok(Self {
            endpoint: find_endpoint(config, &variable)?,
            headers: read_headers(exporter("HEADERS"))?,
            is_compressed: read_compression(exporter("COMPRESSION"))?,
            certificate: exporter("CERTIFICATE").map(|it| PathBuf::from(it.1)),
            timeout: Duration::from_millis(timeout_ms.filter(|it| *it > 0).unwrap_or(TIMEOUT_MS)),
            limits: QueueLimits {
                queue_max: usize::try_from(queue_max).unwrap_or(usize::MAX),
                batch_max: usize::try_from(
                    number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", BATCH_MAX).min(queue_max),
                )
                .unwrap_or(usize::MAX),
                delay: Duration::from_millis(number("OTEL_BSP_SCHEDULE_DELAY", DELAY_MS)),
            },
            resource: describe_resource(config, &variable),
        })
    }
}

/// Refuses unsupported protocols.
fn check_protocol(named: Option<(String, String)>) -> Result<(), String> {
    match named {
        Some((name, protocol)) if protocol != "http/protobuf" => Err(format!(
            "{name} is `{protocol}`: traces are sent by `http/protobuf`, which a collector takes at port 4318"
        )),
        Some(_) | None => Ok(()),
    }
}

fn find_endpoint(config: &config::Tracing, variable: impl Fn(&str) -> Option<String>) -> Result<Uri, String> {
    let with_path = || variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    let base = || variable("OTEL_EXPORTER_OTLP_ENDPOINT").unwrap_or_else(|| ENDPOINT.into());
    let address = match &config.endpoint {
        Some(endpoint) => append_path(endpoint),
        None => with_path().unwrap_or_else(|| append_path(&base())),
    };
    let uri: Uri = address.trim().parse().map_err(|cause| format!("`tracing`: `{address}`: {cause}"))?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
    if is_http {
        Ok(uri)
    } else {
        Err(format!("`tracing`: `{address}` is no address with http:// or https://"))
    }
}

/// Address for traces of a collector at `endpoint`.
fn append_path(endpoint: &str) -> String {
    let base = endpoint.trim().trim_end_matches('/');
    if base.ends_with(PATH) { base.to_owned() } else { format!("{base}/{PATH}") }
}

/// Names and values of a list `a=1,b=2`; values may be percent-encoded.
fn read_pairs(list: &str) -> impl Iterator<Item = (&str, String)> {
    list.split(',').filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let value = percent_decode_str(value.trim()).decode_utf8_lossy().into_owned();
        Some((name.trim(), value)).filter(|it| !it.0.is_empty())
    })
}

/// Headers of each export. The error does not repeat a value, which may be secret.
fn read_headers(named: Option<(String, String)>) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
    let Some((name, list)) = named else { return Ok(Vec::new()) };
    let headers = read_pairs(&list).map(|(key, value)| {
        let header: HeaderName =
            key.parse().map_err(|_| format!("{name}: `{key}` is no name of a header"))?;
        let value = HeaderValue::from_str(&value);
        let mut value =
            value.map_err(|_| format!("{name}: the value of `{key}` cannot be sent in a header"))?;
        value.set_sensitive(true);
        Ok((header, value))
    });
    headers.collect()
}

fn read_compression(named: Option<(String, String)>) -> Result<bool, String> {
    match named {
        None => Ok(false),
        Some((_, value)) if value == "gzip" => Ok(true),
        Some((_, value)) if value == "none" => Ok(false),
        Some((name, value)) => Err(format!("{name} is `{value}`: it can be `gzip` or `none`")),
    }
}

/// Attributes of the process, equal for all spans.
fn describe_resource(
    config: &config::Tracing,
    variable: impl Fn(&str) -> Option<String>,
) -> BTreeMap<String, String> {
    let version = env!("CARGO_PKG_VERSION");
    let own = [
        ("service.name", "weir"),
        ("service.version", version),
        ("telemetry.sdk.language", "rust"),
        ("telemetry.sdk.name", "weir"),
        ("telemetry.sdk.version", version),
    ];
    let mut resource: BTreeMap<String, String> = own.map(|(key, value)| (key.into(), value.into())).into();
    let list = variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    resource.extend(read_pairs(&list).map(|(key, value)| (key.to_owned(), value)));
    let name = config.service_name.clone().or_else(|| variable("OTEL_SERVICE_NAME"));
    resource.extend(name.map(|it| ("service.name".to_owned(), it)));
    resource
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)], config: &config::Tracing) -> Result<OtlpSettings, String> {
        let find = |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        OtlpSettings::read(config, find)
    }

    fn usual(variables: &[(&str, &str)]) -> Result<OtlpSettings, String> {
        read(variables, &config::Tracing::default())
    }

    fn endpoint(variables: &[(&str, &str)]) -> String {
        usual(variables).expect("they fit").endpoint.to_string()
    }

    #[test]
    fn an_address_is_a_collectors_or_that_of_its_traces() {
        let all = "OTEL_EXPORTER_OTLP_ENDPOINT";
        assert_eq!(endpoint(&[(all, "http://127.0.0.1:4318")]), "http://127.0.0.1:4318/v1/traces");
        assert_eq!(endpoint(&[(all, "https://c.example/otlp/")]), "https://c.example/otlp/v1/traces");
        assert_eq!(endpoint(&[(all, "http://c:4318/v1/traces")]), "http://c:4318/v1/traces");
        let of_traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://d:1/at/last");
        assert_eq!(endpoint(&[(all, "http://c:4318"), of_traces]), "http://d:1/at/last");
        let config = config::Tracing { endpoint: Some("http://e:2".into()), ..config::Tracing::default() };
        assert_eq!(
            read(&[of_traces], &config).expect("it fits").endpoint.to_string(),
            "http://e:2/v1/traces"
        );
        for wrong in ["c:4318", "ftp://c", "http://"] {
            assert!(usual(&[(all, wrong)]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn settings_that_are_not_understood_are_refused_with_the_way_out() {
        let of = |name: &str, value: &str| usual(&[(name, value)]).map(|it| it.is_compressed);
        assert_eq!(of("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"), Ok(false));
        assert!(of("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc").unwrap_err().contains("port 4318"));
        assert_eq!(of("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"), Ok(true));
        assert!(of("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "zstd").unwrap_err().contains("`gzip`"));
        let secret = of("OTEL_EXPORTER_OTLP_HEADERS", "x=se%0Acret").unwrap_err();
        assert!(secret.contains("`x`") && !secret.contains("cret\n"), "{secret}");
    }

    #[test]
    fn lists_of_headers_and_attributes_are_decoded() {
        let settings = usual(&[
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20one, x-key = 2"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=ours,k8s.pod.name=a%2Cb,none"),
        ])
        .expect("they fit");
        let headers = settings.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        assert_eq!(headers.collect::<Vec<_>>(), [("authorization", &b"Bearer one"[..]), ("x-key", b"2")]);
        let resource = |key: &str| settings.resource.get(key).map(String::as_str);
        assert_eq!((resource("service.name"), resource("k8s.pod.name")), (Some("ours"), Some("a,b")));
        let config = config::Tracing { service_name: Some("told".into()), ..config::Tracing::default() };
        let named = read(&[("OTEL_SERVICE_NAME", "other")], &config).expect("they fit");
        assert_eq!(named.resource["service.name"], "told");
    }

    #[test]
    fn numbers_have_defaults_and_a_batch_fits_the_queue() {
        let limits = usual(&[]).expect("they fit").limits;
        assert_eq!(limits, QueueLimits { queue_max: 2048, batch_max: 512, delay: Duration::from_secs(5) });
        let small = usual(&[("OTEL_BSP_MAX_QUEUE_SIZE", "10"), ("OTEL_BSP_SCHEDULE_DELAY", "none")]);
        let small = small.expect("they fit").limits;
        assert_eq!((small.queue_max, small.batch_max, small.delay.as_secs()), (10, 10, 5));
        let timeout = usual(&[("OTEL_EXPORTER_OTLP_TIMEOUT", "250")]).expect("they fit").timeout;
        assert_eq!(timeout, Duration::from_millis(250));
    }
}
