//! Resolves the cron triggers of the metadata.

use super::{Findings, Misfit};
use crate::config::Config;
use weir_events::schedule::{CronTrigger, resolve_triggers};

/// The cron triggers that run; entries that do not are added to `findings`.
pub(super) fn resolve(config: &Config, findings: &mut Findings) -> Result<Vec<CronTrigger>, String> {
    config.state_address()?;
    let Some(described) = &config.described else { return Ok(Vec::new()) };
    let entries = &described.loaded.document.cron_triggers;
    let (triggers, wrong) = resolve_triggers(entries, &|name| std::env::var(name).ok());
    for (at, reason) in wrong {
        let path = vec!["cron_triggers".into(), at.into()];
        findings.add_misfit(config, Misfit { is_metadata: true, path, reason, is_served: false });
    }
    Ok(triggers)
}
