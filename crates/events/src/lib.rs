//! Event triggers and scheduled triggers: capture by triggers of the databases, schedules, delivery to webhooks, and their logs.

pub mod capture;
pub mod trigger;
