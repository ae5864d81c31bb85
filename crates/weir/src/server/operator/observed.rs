//! Pages that show a running server: counted operations with samples, live queries, saved documents, services, memory and queues. They change nothing.

pub(crate) mod documents_page;
pub(crate) mod live_page;
pub(crate) mod samples_page;
pub(crate) mod services_page;
pub(crate) mod state_page;
pub(crate) mod usage_page;
