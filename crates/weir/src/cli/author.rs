//! `weir init` and `weir check`: for whoever writes a weir.yaml.

use super::print;
use super::serve::origin;
use crate::config::published;
use crate::generation::{Generation, Overrides};
use crate::sources;
use std::process::ExitCode;

/// What `weir init` writes: every block with its defaults, in comments.
pub(crate) const TEMPLATE: &str = include_str!("weir.yaml");

/// Writes the template, or the JSON schema.
pub(super) fn init(json_schema: bool) -> Result<ExitCode, String> {
    if json_schema { print(&published::text()) } else { print(TEMPLATE) }
}

/// Reads the configuration and opens its sources.
pub(super) fn check(target: &str) -> Result<ExitCode, String> {
    let config = origin(sources::target(target)?, Overrides::default())?.read()?;
    config.check()?;
    let generation = Generation::build(config, 1)?;
    let schema = generation.engine.schema();
    let names: Vec<&str> = generation.config.sources.iter().map(|it| it.name.as_str()).collect();
    print(&format!("ok: {}; {} types\n", names.join(", "), schema.types.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, load};
    use std::collections::HashMap;
    use std::path::Path;

    fn check(yaml: &str, holds: fn(&Config) -> bool) {
        let config = load::text(yaml, Path::new("weir.yaml"), HashMap::new(), |_| {});
        assert!(config.as_ref().is_ok_and(holds), "{config:?}");
    }

    #[test]
    fn the_template_can_be_served() {
        check(TEMPLATE, |it| it.sources.len() == 1);
    }

    #[test]
    fn the_template_s_comments_are_the_defaults() {
        let all: String =
            TEMPLATE.lines().map(|line| format!("{}\n", line.strip_prefix("#: ").unwrap_or(line))).collect();
        check(&all, |it| {
            let default = Config::default();
            it.limits == default.limits && it.cache == default.cache && it.log == default.log
        });
    }
}
