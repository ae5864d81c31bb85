//! One attempt to deliver an event: the call, the decision about the next one, the row of the log. Event triggers and schedules
//! share it.
//!
//! **Invariant:** a row of the log has no value of the environment and no credentials.

mod attempt;
mod decision;
mod invocation;
mod trace;

pub use attempt::{Attempt, Receiver, attempt};
pub use decision::{Decision, RetryPolicy, decide};
pub use invocation::{Invocation, LogVersion};
pub use trace::{CallTrace, DeliveryTracer, TracedDelivery, read_trace};
