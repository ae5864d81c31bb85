//! Settings of calls of webhooks, which come from the environment alone.

/// Settings of calls of webhooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Webhooks {
    /// True if configured headers go before those of the client.
    pub configured_headers_first: bool,
    /// True in Hasura's development mode.
    pub is_dev_mode: bool,
    /// True if roles see of remote schemas what their permissions say, even where there are none.
    pub remote_schema_permissions: bool,
    /// True if data of a remote schema counts where errors come with it.
    pub remote_schema_prioritizes_data: bool,
    /// False if the admin sees no details of failed calls either.
    pub admin_internal_errors: Option<bool>,
}

impl Webhooks {
    /// True if errors of calls have details for the admin. No other role ever sees them.
    pub fn shows_internal(&self) -> bool {
        self.is_dev_mode || self.admin_internal_errors != Some(false)
    }
}
