//! The YAML of a test plan.

use super::generators::GeneratorText;
use super::operation::Over;
use crate::notation::yaml::{Pairs, Span, Tree};
use crate::profile::Arrivals;
use serde::Deserialize;
use serde_saphyr::Spanned;

/// A plan.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PlanText {
    pub name: Option<String>,
    pub target: Option<Spanned<String>>,
    pub seed: u64,
    pub protocol: Option<super::Protocol>,
    pub connections: Option<u32>,
    pub streams: Option<u32>,
    pub timeout: Option<Span>,
    pub warmup: Option<Span>,
    pub errors_max: Option<Spanned<String>>,
    pub ca: Option<Spanned<String>>,
    pub schema: Option<Spanned<String>>,
    pub load: Option<Spanned<LoadText>>,
    pub headers: Pairs<Spanned<String>>,
    pub values: Pairs<Spanned<GeneratorText>>,
    pub operations: Pairs<Spanned<OperationText>>,
    pub flows: Pairs<Spanned<FlowText>>,
    pub watch: Vec<String>,
}

/// The load of a plan, or of the command line.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LoadText {
    pub(super) rate: Option<f64>,
    pub(super) duration: Option<Span>,
    pub(super) arrivals: Option<Arrivals>,
    pub(super) profile: Option<String>,
    pub(super) scale: Option<Scale>,
    pub(super) compress: Option<f64>,
    pub(super) points: Option<Vec<(Span, f64)>>,
    pub(super) closed: Option<u32>,
    pub(super) think: Option<Span>,
    pub(super) replay: Option<String>,
    pub(super) speed: Option<f64>,
}

/// A factor: `1/1000` or `0.001`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale(pub f64);

impl Scale {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let number = match text.split_once('/') {
            Some((a, b)) => {
                a.trim().parse::<f64>().ok().zip(b.trim().parse::<f64>().ok()).map(|(a, b)| a / b)
            }
            None => text.trim().parse().ok(),
        };
        number
            .filter(|it| it.is_finite() && *it > 0.0)
            .map(Self)
            .ok_or_else(|| format!("`{text}` is no scale; write `1/1000` or `0.001`"))
    }
}

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match Tree::deserialize(deserializer)? {
            Tree::Int(it) => it.to_string(),
            Tree::Decimal(it) => it.to_string(),
            Tree::Text(it) => it,
            _ => String::new(),
        };
        Self::read(&text).map_err(serde::de::Error::custom)
    }
}

/// An operation.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OperationText {
    pub query: Option<Spanned<String>>,
    pub file: Option<Spanned<String>>,
    pub operation: Option<String>,
    pub variables: Pairs<Spanned<Tree>>,
    pub method: Option<Spanned<String>>,
    pub get: Option<Spanned<String>>,
    pub post: Option<Spanned<String>>,
    pub put: Option<Spanned<String>>,
    pub patch: Option<Spanned<String>>,
    pub delete: Option<Spanned<String>>,
    pub body: Option<Spanned<Tree>>,
    pub headers: Pairs<Spanned<String>>,
    pub weight: Option<f64>,
    pub check: CheckText,
    pub capture: Pairs<Spanned<String>>,
    pub over: Option<Over>,
    pub clients: Option<u32>,
    pub mark: Option<Spanned<String>>,
    pub timeout: Option<Span>,
}

/// Checks of an operation.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CheckText {
    pub status: Option<u16>,
    pub errors: Option<bool>,
    pub exists: Vec<Spanned<String>>,
    pub equals: Pairs<Spanned<Tree>>,
    pub file: Option<Spanned<String>>,
}

/// Operations that one client sends one after the other.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FlowText {
    #[serde(default = "one")]
    pub weight: f64,
    #[serde(default)]
    pub think: Span,
    pub steps: Vec<Spanned<String>>,
}

fn one() -> f64 {
    1.0
}
