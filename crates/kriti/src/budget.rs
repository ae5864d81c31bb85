//! Means of an evaluation: its variables, and the rest of its limits.

use crate::error::{ErrorCode, Fault, Span};
use crate::value::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationLimits {
    /// Maximum number of expressions that are evaluated and values that are looked at.
    pub steps_max: u32,
    /// Maximum size of all texts and lists that are made, in bytes.
    pub bytes_max: usize,
}

impl EvaluationLimits {
    /// Defaults.
    pub const USUAL: Self = Self { steps_max: 1_000_000, bytes_max: 16 * 1024 * 1024 };
}

/// Variables of a template by their names, `$` included.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    variables: Vec<(Box<str>, Value)>,
}

impl Scope {
    /// Adds a variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.variables.push((name.into(), value));
        self
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.variables.iter().find(|it| &*it.0 == name).map(|it| &it.1)
    }
}

/// The rest of the limits of an evaluation.
pub(crate) struct Budget {
    limits: EvaluationLimits,
    steps_left: usize,
    bytes_left: usize,
    /// The expression that is evaluated.
    pub(crate) span: Span,
}

impl Budget {
    pub(crate) fn new(limits: EvaluationLimits) -> Self {
        let steps_left = limits.steps_max as usize;
        Self { limits, steps_left, bytes_left: limits.bytes_max, span: Span::default() }
    }

    pub(crate) fn step(&mut self) -> Result<(), Fault> {
        self.spend_steps(1)
    }

    pub(crate) fn spend_steps(&mut self, count: usize) -> Result<(), Fault> {
        self.steps_left = self.steps_left.checked_sub(count).ok_or_else(|| {
            let message = format!("A template takes at most {} steps.", self.limits.steps_max);
            Fault::new(ErrorCode::Limit, message, self.span)
        })?;
        Ok(())
    }

    pub(crate) fn spend_bytes(&mut self, count: usize) -> Result<(), Fault> {
        self.bytes_left = self.bytes_left.checked_sub(count).ok_or_else(|| self.too_many_bytes())?;
        Ok(())
    }

    /// Pays for a list of `count` items.
    pub(crate) fn spend_items(&mut self, count: usize) -> Result<(), Fault> {
        self.spend_steps(count)?;
        self.spend_bytes(count.saturating_mul(size_of::<Value>()))
    }

    /// Appends the JSON text of `value`.
    pub(crate) fn write_json(&mut self, value: &Value, out: &mut String) -> Result<(), Fault> {
        let before = out.len();
        let written = value.write_json(before.saturating_add(self.bytes_left), out);
        self.spend_bytes(out.len() - before)?;
        written.map_err(|_| self.too_many_bytes())
    }

    pub(crate) fn too_many_bytes(&self) -> Fault {
        let message = format!("A template makes at most {} bytes.", self.limits.bytes_max);
        Fault::new(ErrorCode::Limit, message, self.span)
    }
}

/// One evaluation of a template.
pub(crate) struct Evaluation<'t> {
    pub(crate) scope: &'t Scope,
    /// Variables of `range`, the innermost last.
    pub(crate) bound: Vec<(&'t str, Value)>,
    pub(crate) budget: Budget,
}
