//! `weir init` and `weir check`: for whoever writes a weir.yaml.

use super::serve::origin;
use super::{demo, print};
use crate::config::{RelationshipNames, published};
use crate::databases;
use crate::generation::{Generation, Overrides};
use crate::sources::{self, Address, Findings};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use weir_language::value::json::quoted;

/// What `weir init` writes: every block with its defaults, in comments.
pub(crate) const TEMPLATE: &str = include_str!("weir.yaml");

/// Writes a configuration to a file that is not there yet, or the JSON schema to standard output. It serves the database at
/// `url`, else the one beside the file, else a sample that is made there.
pub(super) fn init(file: &Path, url: Option<&str>, json_schema: bool) -> Result<ExitCode, String> {
    if json_schema {
        return print(&published::text());
    }
    if file == Path::new("-") {
        return print(&url.map_or_else(|| Ok(TEMPLATE.to_owned()), |url| template_for(url, file))?);
    }
    let shown = file.display();
    if file.exists() {
        return Err(format!("{shown} is there already; name another file, or `-` for standard output"));
    }
    let (text, source) = match url {
        Some(url) => (template_for(url, file)?, String::new()),
        None => beside(file)?,
    };
    let made = File::options().write(true).create_new(true).open(file);
    made.and_then(|mut it| it.write_all(text.as_bytes()))
        .map_err(|cause| format!("{shown} cannot be written: {cause}"))?;
    let serve = if file == Path::new("weir.yaml") { String::new() } else { format!(" {shown}") };
    print(&format!("wrote {shown}{source}; edit it, then `weir check{serve}` and `weir serve{serve}`\n"))
}

/// The template for the only database in the folder of `file`, or for the sample, which is made there if there is none; and
/// which of the two it is.
fn beside(file: &Path) -> Result<(String, String), String> {
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .map_err(|cause| format!("{} cannot be made: {cause}", folder.display()))?;
    let entries = std::fs::read_dir(folder).map_err(|cause| format!("{}: {cause}", folder.display()))?;
    let names = entries.flatten().filter_map(|it| it.file_name().into_string().ok());
    let mut databases: Vec<String> = names.filter(|it| is_database(it)).collect();
    databases.sort();
    match databases.as_slice() {
        [] => {
            demo::create(&folder.join("chinook.db"))?;
            Ok((TEMPLATE.to_owned(), " and the sample chinook.db, as no database is here".into()))
        }
        [one] => {
            let read = Address::Sqlite(folder.join(one));
            let text = template(&read, &Address::Sqlite(one.into()))?;
            Ok((text, format!(" for {one}")))
        }
        several => Err(format!(
            "several databases are here ({}); name one by `--url sqlite:{}`",
            several.join(", "),
            several[0]
        )),
    }
}

/// True for the name of a SQLite database that is not the store of types.
fn is_database(name: &str) -> bool {
    matches!(sources::address(name), Ok(Address::Sqlite(_))) && !name.ends_with(".weir.db")
}

/// The template with the database at `url` as its source.
fn template_for(url: &str, file: &Path) -> Result<String, String> {
    let address = sources::address(url)?;
    let mut written = address.clone();
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
    if let (Address::Sqlite(path), Some(_)) = (&mut written, folder) {
        // A file's name in weir.yaml is meant from the folder of that.
        *path = std::path::absolute(&*path).map_err(|cause| format!("{}: {cause}", path.display()))?;
    }
    template(&address, &written)
}

/// The template with the database at `address` as its source, written as `written`, and the rule for relationship names that
/// suits its tables.
fn template(address: &Address, written: &Address) -> Result<String, String> {
    let names = match databases::proposed_names(address)? {
        RelationshipNames::Long => "long",
        RelationshipNames::Short => "short",
        RelationshipNames::Hasura => "hasura",
    };
    let source = sources::config_of(written).sources.remove(0);
    let lines = TEMPLATE.lines().map(|line| match line {
        "  - name: chinook" => format!("  - name: {}\n", scalar(&source.name)),
        "    url: sqlite:chinook.db" => format!("    url: {}\n", scalar(&source.url)),
        "    # relationship_names: long" => format!("    relationship_names: {names}\n"),
        line => format!("{line}\n"),
    });
    Ok(lines.collect())
}

/// `text` as YAML, between quotes where it would not be read back as it stands.
fn scalar(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-@:=".contains(it);
    let starts = text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '/');
    let is_word =
        matches!(text.to_ascii_lowercase().as_str(), "true" | "false" | "null" | "yes" | "no" | "on" | "off");
    match starts && text.chars().all(is_plain) && !text.ends_with(':') && !is_word {
        true => text.to_owned(),
        false => {
            let mut out = String::new();
            quoted(text, &mut out);
            out
        }
    }
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
    fn texts_are_read_back_from_yaml_as_they_are() {
        for text in [
            "shop",
            "sqlite:/a b/c#d.db",
            "postgres://ada:s%22@h/x?a=b&c=d",
            "no",
            "1.5",
            "${X}",
            "a:",
            "it's \"é\"\\",
        ] {
            let yaml = scalar(text);
            let read: Result<String, _> = serde_saphyr::from_str(&yaml);
            assert_eq!(read.as_deref().ok(), Some(text), "{yaml}");
        }
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
