//! Cost of an operation, as observers and clients learn it.

/// Cost of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationCost {
    /// Estimate before it ran.
    pub estimated: u64,
    /// Limit of the caller, if there is one.
    pub max: Option<u64>,
    /// Cost by the answer; `None`: it was not executed, or its answer comes in parts.
    pub actual: Option<u64>,
}

impl OperationCost {
    /// True if the estimate is beyond the limit.
    pub fn is_over(&self) -> bool {
        self.max.is_some_and(|max| self.estimated > max)
    }

    /// `"cost":{…}`, for `extensions`.
    pub fn member(&self) -> String {
        let Self { estimated, max, actual } = self;
        let number = |name: &str, value: &Option<u64>| {
            value.map_or_else(String::new, |value| format!(",\"{name}\":{value}"))
        };
        format!("\"cost\":{{\"estimated\":{estimated}{}{}}}", number("max", max), number("actual", actual))
    }
}
