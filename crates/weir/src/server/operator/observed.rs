//! Pages that show a running server: counted operations with samples, live queries, saved documents, services and their addresses,
//! memory and queues, the mirror. They change nothing.

pub(crate) mod checks_page;
pub(crate) mod documents_page;
pub(crate) mod live_page;
pub(crate) mod mirror_page;
pub(crate) mod samples_page;
pub(crate) mod services_page;
pub(crate) mod state_page;
pub(crate) mod usage_page;
