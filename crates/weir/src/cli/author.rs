//! `weir init`: writes a weir.yaml.

use super::print;
use super::serve::sample_database;
use crate::config::source::address;
use crate::config::source::address::Address;
use crate::config::source::types_file;
use crate::config::{Cache, Config, Integers, RelationshipNames, published};
use crate::sources::databases;
use crate::sources::native::Native;
use crate::sources::services;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use weir_language::ast::Definition;
use weir_language::limits::Limits;
use weir_language::parser::{self, Edition};
use weir_language::string_value::write_json;
use weir_postgres::Settings;

/// Template for `weir init`: every block with its defaults, commented out.
pub(crate) const TEMPLATE: &str = include_str!("weir.yaml");

/// The sample database and its lines of [`TEMPLATE`].
const SAMPLE: &str = "chinook.db";
const NAME_LINE: &str = "  - name: chinook";
const URL_LINE: &str = "    url: sqlite:chinook.db";
const NAMES_LINE: &str = "    # relationship_names: long";
const INTEGERS_LINE: &str = "    # integers: declared";
const INTEGERS_KEY: &str = "integers: bigint";

/// Writes a configuration to a new file or to standard output (`-`), or the JSON schema to standard output. The source is `url`,
/// else the only database or `.graphql` file in the folder of `file`, else a sample database that is created there.
pub(super) fn init(file: &Path, url: Option<&str>, json_schema: bool) -> Result<ExitCode, String> {
    if json_schema {
        return print(&published::text());
    }
    let shown = file.display();
    let is_printed = file == Path::new("-");
    if !is_printed && file.exists() {
        return Err(format!("{shown} is there already; name another file, or `-` for standard output"));
    }
    let folder = file.parent().unwrap_or(Path::new(""));
    let found = match url {
        Some(url) => Some((template_for(url, folder)?, String::new())),
        None => find_database(folder)?,
    };
    let (text, source) = match found {
        Some(found) => found,
        None if is_printed => {
            return Err("this folder has no database and no .graphql file of types or services; name a source by `--url`, \
                        or let `weir init` make a sample"
                .into());
        }
        None => {
            let sample = folder.join(SAMPLE);
            sample_database::create(&sample)?;
            (TEMPLATE.to_owned(), format!(" and the sample database {}", sample.display()))
        }
    };
    if is_printed {
        return print(&text);
    }
    std::fs::create_dir_all(folder)
        .map_err(|cause| format!("{} cannot be made: {cause}", folder.display()))?;
    let made = File::options().write(true).create_new(true).open(file);
    made.and_then(|mut it| it.write_all(text.as_bytes()))
        .map_err(|cause| format!("{shown} cannot be written: {cause}"))?;
    let serve = if file == Path::new("weir.yaml") { String::new() } else { format!(" {shown}") };
    print(&format!("wrote {shown}{source}; edit it, then `weir check{serve}` and `weir serve{serve}`\n"))
}

/// The template for the only source in `folder`, with the text that describes it; `None` if there is no source.
fn find_database(folder: &Path) -> Result<Option<(String, String)>, String> {
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let names: Vec<String> = match std::fs::read_dir(listed) {
        Ok(entries) => entries.flatten().filter_map(|it| it.file_name().into_string().ok()).collect(),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(cause) => return Err(format!("{}: {cause}", listed.display())),
    };
    let mut found: Vec<&String> = names.iter().filter(|it| is_database(it)).collect();
    let mut wrong = Vec::new();
    for name in names.iter().filter(|it| address::is_sdl(Path::new(it))) {
        match readable(&folder.join(name)) {
            Ok(true) => found.push(name),
            Ok(false) => {}
            Err(why) => wrong.push(why),
        }
    }
    found.sort();
    match found.as_slice() {
        [] if !wrong.is_empty() => {
            Err(format!("{}\nmend it, or name another source by `--url`", wrong.join("\n")))
        }
        [] => Ok(None),
        [one] => {
            let text = template(&address::parse(&folder.join(one).to_string_lossy())?, Path::new(one))?;
            Ok(Some((text, format!(" for {one}"))))
        }
        [first, ..] => {
            let names: Vec<&str> = found.iter().map(|it| it.as_str()).collect();
            let first = folder.join(first);
            Err(format!(
                "several sources are here ({}); name one by `--url {}`",
                names.join(", "),
                first.display()
            ))
        }
    }
}

/// True for the name of a SQLite database that is not a native store.
fn is_database(name: &str) -> bool {
    matches!(address::parse(name), Ok(Address::Sqlite(_))) && !name.ends_with(".weir.db")
}

/// True if the `.graphql` file at `path` contains types or services, false if it contains queries.
/// # Errors
/// Mistakes in the types, with locations.
fn readable(path: &Path) -> Result<bool, String> {
    let text = types_file::read(path)?;
    if address::is_services(path) {
        return Ok(true);
    }
    let is_query = |it: &Definition| matches!(it, Definition::Operation(_) | Definition::Fragment(_));
    let parsed = parser::parse_edition(&text, &Limits::STANDARD, Edition::September2026);
    if parsed.is_ok_and(|it| it.definitions.iter().all(is_query)) {
        return Ok(false);
    }
    Native::new(path, None)?.types_of(&text).map(|_| true)
}

/// The template for the source at `url`, for a file in `folder`.
fn template_for(url: &str, folder: &Path) -> Result<String, String> {
    let address = address::parse(url)?;
    let path = match &address {
        Address::Sqlite(path) | Address::Native(path) | Address::Services(path) => path.clone(),
        Address::Postgres(_) => PathBuf::new(),
    };
    if folder.as_os_str().is_empty() {
        return template(&address, &path);
    }
    // Paths in weir.yaml are relative to its folder.
    let absolute = std::path::absolute(&path).map_err(|cause| format!("{}: {cause}", path.display()));
    template(&address, &if path.as_os_str().is_empty() { path } else { absolute? })
}

/// The template for the source at `address`, whose file is called `path` there. For a database it includes the relationship names that
/// suit its tables, and the integer type that suits its values.
fn template(address: &Address, path: &Path) -> Result<String, String> {
    let path = path.display().to_string();
    let config = Config::of(address).sources.remove(0);
    let (source, proposal) = match address {
        Address::Sqlite(_) => {
            (format!("url: {}", scalar(&format!("sqlite:{path}"))), Some(databases::propose(address)?))
        }
        Address::Postgres(url) => (format!("url: {}", scalar(url)), Some(databases::propose(address)?)),
        Address::Native(file) => {
            Native::new(file, None)?.types()?;
            (format!("native: {}", scalar(&path)), None)
        }
        Address::Services(file) => {
            services::open(&config, file, &services::keep(&Cache::default())?)?;
            (format!("file: {}", scalar(&path)), None)
        }
    };
    let name = match address {
        Address::Postgres(url) => database_of(url).unwrap_or(config.name),
        Address::Sqlite(_) | Address::Native(_) | Address::Services(_) => config.name,
    };
    let lines = TEMPLATE.lines().map(|line| match (line, &proposal) {
        (NAME_LINE, _) => format!("  - name: {}\n", scalar(&name)),
        (URL_LINE, _) => format!("    {source}\n"),
        (NAMES_LINE, Some(it)) => format!("    relationship_names: {}\n", name_rule(it.names)),
        (INTEGERS_LINE, Some(it)) if it.integers == Integers::Bigint => format!("    {INTEGERS_KEY}\n"),
        (line, _) => format!("{line}\n"),
    });
    Ok(lines.collect())
}

/// Database name in a PostgreSQL URL.
fn database_of(url: &str) -> Option<String> {
    let settings = Settings::parse(url, |name| std::env::var(name).ok()).ok()?;
    Some(settings.database).filter(|it| !it.is_empty())
}

/// A rule for relationship names, as a value of weir.yaml.
const fn name_rule(names: RelationshipNames) -> &'static str {
    match names {
        RelationshipNames::Long => "long",
        RelationshipNames::Short => "short",
        RelationshipNames::Hasura => "hasura",
    }
}

/// `text` as a value of weir.yaml: quoted if YAML would read it differently, with `${` escaped.
fn scalar(text: &str) -> String {
    let text = &text.replace("${", "$${");
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-@:=".contains(it);
    let starts = text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '/');
    let is_word =
        matches!(text.to_ascii_lowercase().as_str(), "true" | "false" | "null" | "yes" | "no" | "on" | "off");
    if starts && text.chars().all(is_plain) && !text.ends_with(':') && !is_word {
        text.to_owned()
    } else {
        let mut out = String::new();
        write_json(text, &mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::config::document::load;
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
            "postgres://a:$b$${C}@h/d",
            "a:",
            "it's \"é\"\\",
        ] {
            let yaml = format!("admin_secret: {}\n", scalar(text));
            let config = load::text(&yaml, Path::new("weir.yaml"), HashMap::new(), |_| {});
            let read = config.as_ref().ok().and_then(|it| it.admin_secret.as_ref()).map(|it| it.expose());
            assert_eq!(read, Some(text), "{yaml}");
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
