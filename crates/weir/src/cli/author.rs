//! `weir init` and `weir check`: for whoever writes a weir.yaml.

use super::print;
use super::serve::origin;
use crate::config::published;
use crate::generation::{Generation, Overrides};
use crate::sources::{self, Findings};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

/// What `weir init` writes: every block with its defaults, in comments.
pub(crate) const TEMPLATE: &str = include_str!("weir.yaml");

/// Writes the template to a file that is not there yet, or the JSON schema to standard output.
pub(super) fn init(file: &Path, json_schema: bool) -> Result<ExitCode, String> {
    if json_schema {
        return print(&published::text());
    }
    if file == Path::new("-") {
        return print(TEMPLATE);
    }
    let made = File::options().write(true).create_new(true).open(file);
    made.and_then(|mut it| it.write_all(TEMPLATE.as_bytes())).map_err(|cause| match cause.kind() {
        ErrorKind::AlreadyExists => {
            format!("{} is there already; name another file, or `-` for standard output", file.display())
        }
        _ => format!("{} cannot be written: {cause}", file.display()),
    })?;
    print(&format!("wrote {0}; edit it, then `weir check {0}` and `weir serve {0}`\n", file.display()))
}

/// Reads the configuration and opens its sources.
pub(super) fn check(target: &str) -> Result<ExitCode, String> {
    let config = origin(sources::target(target)?, Overrides::default())?.read()?;
    config.check()?;
    let generation = Generation::build_whole(config)?;
    let Findings { mistakes, warnings, .. } = &generation.findings;
    warnings.iter().for_each(|it| eprintln!("warning: {it}"));
    mistakes.iter().for_each(|it| eprintln!("error: {it}"));
    if !mistakes.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    let schema = generation.engine.schema();
    let names: Vec<&str> = generation.config.sources.iter().map(|it| it.name.as_str()).collect();
    print(&format!("ok: {}; {} types\n", names.join(", "), schema.types.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, load};
    use std::collections::HashMap;

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
