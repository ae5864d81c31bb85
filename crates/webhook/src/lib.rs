//! Calls of webhooks as Hasura makes them: addresses and headers with variables of the environment, transforms of requests and
//! answers, and the call itself by the machinery of services. Actions, event triggers and schedules use it.
