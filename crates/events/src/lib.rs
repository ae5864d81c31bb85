//! Event triggers and scheduled triggers: capture by triggers of the databases, schedules, delivery to webhooks, and their logs.

pub mod capture;
pub mod delivery;
pub mod dispatch;
pub mod log;
pub mod service;
pub mod trigger;
