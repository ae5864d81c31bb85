//! `weir metadata export`: what is served, as Hasura's metadata.

use super::print;
use super::serve::{environment, origin};
use crate::config::Config;
use crate::config::source::address;
use crate::config::source::address::Address;
use crate::generation::Overrides;
use crate::sources::databases;
use clap::{Args, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use weir_metadata::Metadata;
use weir_metadata::document::source::{
    ConnectionInfo, DatabaseUrl, PoolSettings, SourceConfiguration, SourceEntry, SourceKind, UrlFromEnv,
};
use weir_metadata::export::Export;

/// Commands about metadata.
#[derive(Debug, Subcommand)]
pub(super) enum MetadataCommand {
    /// Write what is served as Hasura's metadata, version 3
    #[command(after_help = "\
Examples:
  weir metadata export                                 what weir.yaml serves, as JSON
  weir metadata export sqlite:chinook.db --format yaml
  weir metadata export --to metadata                   a folder, as Hasura's CLI writes it")]
    Export(ExportOptions),
}

/// Options of `weir metadata export`.
#[derive(Debug, Args)]
pub(super) struct ExportOptions {
    /// Source, as in `weir serve`
    #[arg(value_name = "URL|FILE|WEIR.YAML", default_value = "weir.yaml")]
    target: String,
    /// Metadata, as in `weir serve`
    #[arg(long, value_name = "DIR|FILE")]
    metadata: Option<PathBuf>,
    /// A new folder, or a new file that ends in .json or .yaml; default: standard output
    #[arg(long, value_name = "DIR|FILE")]
    to: Option<PathBuf>,
    /// Format of standard output
    #[arg(long, value_enum, default_value = "json")]
    format: FileFormat,
}

/// Formats of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FileFormat {
    /// JSON
    Json,
    /// YAML
    Yaml,
}

pub(super) fn run(command: MetadataCommand) -> Result<ExitCode, String> {
    let MetadataCommand::Export(ExportOptions { target, metadata, to, format }) = command;
    let overrides = Overrides { metadata, environment: environment()?, ..Overrides::default() };
    let config = origin(address::target(&target)?, overrides)?.read()?;
    let loaded = config.described.as_ref().map(|it| &it.loaded);
    let aside = loaded.map(|it| it.aside.clone()).unwrap_or_default();
    let export = Export::of(&document(&config)?, &aside)?;
    write_export(&export, to, format)?;
    let broken = loaded.map_or(&[][..], |it| &it.broken);
    broken.iter().for_each(|(_, reason)| eprintln!("error: not exported, as it cannot be read: {reason}"));
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Writes `export` to the place `to`, or to the standard output.
fn write_export(export: &Export, to: Option<PathBuf>, format: FileFormat) -> Result<ExitCode, String> {
    let text = |format| match format {
        FileFormat::Json => export.json(),
        FileFormat::Yaml => Ok(export.yaml()),
    };
    let Some(to) = to else { return print(&text(format)?) };
    let shown = to.display();
    if to.exists() {
        return Err(format!("{shown} is there already; name another place"));
    }
    match to.extension().and_then(|it| it.to_str()) {
        Some("json") => write(&to, &text(FileFormat::Json)?)?,
        Some("yaml" | "yml") => write(&to, &text(FileFormat::Yaml)?)?,
        Some(_) | None => {
            export.folder().iter().try_for_each(|(path, text)| write(&to.join(path), text))?;
        }
    }
    print(&format!("wrote {shown}\n"))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder.and_then(|()| std::fs::write(path, text)).map_err(|cause| format!("{}: {cause}", path.display()))
}

/// Metadata of `config`: the document it was built from, with entries for its other databases.
fn document(config: &Config) -> Result<Metadata, String> {
    let mut document = config.described.as_ref().map(|it| it.loaded.document.clone()).unwrap_or_default();
    for source in config.sources.iter().filter(|it| it.of_metadata.is_none()) {
        if source.url.is_empty() {
            eprintln!("warning: source `{}` is no database and has no metadata", source.name);
            continue;
        }
        let address = address::parse(&source.url)?;
        let tables = databases::entries(source, &address, config)
            .map_err(|it| format!("source `{}`: {it}", source.name))?;
        let (kind, database_url) = match address {
            Address::Sqlite(path) => {
                (SourceKind::Sqlite, DatabaseUrl::Text(format!("sqlite:{}", path.display())))
            }
            _ => {
                // The address may contain a password.
                let word = |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_uppercase() } else { '_' };
                let from_env = format!("WEIR_{}_URL", source.name.chars().map(word).collect::<String>());
                eprintln!(
                    "note: the address of source `{}` is to be in the variable {from_env}",
                    source.name
                );
                (SourceKind::Postgres, DatabaseUrl::FromEnv(UrlFromEnv { from_env }))
            }
        };
        let connection_info = ConnectionInfo {
            database_url,
            pool_settings: PoolSettings::default(),
            use_prepared_statements: None,
            isolation_level: None,
            ssl_configuration: None,
        };
        document.sources.push(SourceEntry {
            kind,
            configuration: Some(SourceConfiguration::new(connection_info)),
            tables,
            functions: source.functions.clone(),
            customization: source.customization.clone(),
            ..SourceEntry::new(source.name.clone())
        });
    }
    Ok(document)
}
