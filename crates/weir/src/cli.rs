//! The command line: commands, options, and the module that runs each.
//!
//! Exit codes: 0 success, 1 the command failed, 2 invalid command line; `load` has more.

mod author;
mod check;
mod demo;
mod document;
mod import;
mod introspection_sdl;
mod load;
mod metadata;
mod mock;
#[cfg(feature = "progress")]
mod progress;
#[cfg(not(feature = "progress"))]
#[path = "cli/progress/absent.rs"]
mod progress;
mod schema_diff;
mod serve;
mod store;
mod validate;
mod watch;

use crate::config::Listen;
use clap::builder::UnknownArgumentValueParser;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;
use std::process::ExitCode;

/// One GraphQL engine in front of databases and services.
#[derive(Debug, Parser)]
#[command(
    name = "weir",
    version,
    arg_required_else_help = true,
    after_help = "\
Examples:
  weir demo                                    a sample database with a console at http://127.0.0.1:8080
  weir init                                    writes weir.yaml, with a sample chinook.db if there is no database
  weir check                                   opens the sources of weir.yaml
  weir serve                                   serves the sources of weir.yaml
  weir serve chinook.db                        GraphQL over a SQLite file, nothing to configure
  weir explain '{ Album { Title } }' chinook.db   the plan and the SQL of a query
  weir schema chinook.db > schema.graphql      the schema of a database
  echo 'type Note { text: String! }' > notes.graphql
  weir serve notes.graphql                     a database made from GraphQL types"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve a database, or the sources of a weir.yaml
    #[command(after_help = "\
Examples:
  weir serve sqlite:chinook.db
  weir serve postgres://ada@localhost/music
  weir serve data/shop.db --listen 127.0.0.1:9000
  weir serve --metadata hasura/metadata
  WEIR_ADMIN_SECRET=… weir serve weir.yaml --listen 0.0.0.0:8080")]
    Serve {
        /// `postgres://…`, `sqlite:FILE`, a .db/.sqlite/.sqlite3 file, a .graphql file of types or services, or a weir.yaml
        #[arg(value_name = "URL|FILE|WEIR.YAML", default_value = "weir.yaml")]
        target: String,
        /// Hasura's metadata: a folder as its CLI writes it, or a file
        #[arg(long, value_name = "DIR|FILE")]
        metadata: Option<PathBuf>,
        /// Store of a .graphql file of types; default: a file beside it
        #[arg(long, value_name = "URL")]
        store: Option<String>,
        #[command(flatten)]
        options: ServeOptions,
    },
    /// Serve a copy of the Chinook sample database
    #[command(after_help = "\
Examples:
  weir demo
  weir demo --reset                          start afresh
  curl http://127.0.0.1:8080/graphql -H 'content-type: application/json' \\
       -d '{\"query\":\"{ Album_by_pk(AlbumId: 1) { Title AlbumId } }\"}'")]
    Demo {
        /// Replace the copy by a new one
        #[arg(long)]
        reset: bool,
        /// Folder of the copy
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        #[command(flatten)]
        options: ServeOptions,
    },
    /// Serve an agent over standard input and output: saved operations as tools (MCP)
    #[command(after_help = "\
Examples:
  weir mcp --demo                            a sample database, with tools to search and query it
  weir mcp postgres://ada@localhost/music --role reader
  weir mcp weir.yaml --role support --claims '{\"x-hasura-user-id\": \"7\"}'
  claude mcp add music -- weir mcp sqlite:chinook.db")]
    Mcp(serve::agent_options::AgentOptions),
    /// Write a commented weir.yaml
    #[command(after_help = "\
Examples:
  weir init                                  for the only database or .graphql file here, else for a new sample
  weir init conf/weir.yaml                   the same for the folder conf, which is created
  weir init --url sqlite:shop.db             for this database, with relationship names that suit its tables
  weir init --url shop.graphql               for these types or services
  weir init - --url postgres://ada@localhost/music    to standard output
  weir init --json-schema > weir.schema.json")]
    Init {
        /// The new file; `-` prints it to standard output and creates no sample
        #[arg(value_name = "FILE", default_value = "weir.yaml")]
        file: PathBuf,
        /// The source to serve, as for `serve`. A database's tables are read to propose `relationship_names`
        #[arg(long, value_name = "URL|FILE", conflicts_with = "json_schema")]
        url: Option<String>,
        /// Write the JSON schema of weir.yaml to standard output instead, for editors
        #[arg(long)]
        json_schema: bool,
    },
    /// Check a configuration and open its sources without serving
    #[command(
        after_help = "Examples:\n  weir check\n  weir check conf/weir.yaml\n  weir check sqlite:chinook.db\n  weir check --metadata metadata"
    )]
    Check {
        /// Source, as in `weir serve`
        #[arg(value_name = "URL|FILE|WEIR.YAML", default_value = "weir.yaml")]
        target: String,
        /// Metadata, as in `weir serve`
        #[arg(long, value_name = "DIR|FILE")]
        metadata: Option<PathBuf>,
    },
    /// Show the plan of a query and the SQL it runs, without running it
    #[command(after_help = "\
Examples:
  weir explain '{ Album { Title } }' sqlite:chinook.db
  weir explain @query.graphql --variables '{\"id\": 1}'
  weir explain '{ boat { name } }' --role sailor --claims '{\"x-hasura-user-id\": \"7\"}'")]
    Explain {
        /// The document, `@FILE`, or `-` for standard input
        query: String,
        /// Source, as in `weir serve`
        #[arg(value_name = "URL|FILE|WEIR.YAML", default_value = "weir.yaml")]
        target: String,
        /// The variables: a JSON object, or a file with one
        #[arg(long, value_name = "JSON|FILE")]
        variables: Option<String>,
        /// Name of the operation to explain, if the document has several
        #[arg(long, value_name = "NAME")]
        operation: Option<String>,
        /// Explain what this role gets; default: admin
        #[arg(long, value_name = "ROLE")]
        role: Option<String>,
        /// The role's session variables and claims: a JSON object, or a file with one
        #[arg(long, value_name = "JSON|FILE")]
        claims: Option<String>,
    },
    /// Print the served schema as SDL, or compare two schemas
    #[command(
        args_conflicts_with_subcommands = true,
        after_help = "\
Examples:
  weir schema sqlite:chinook.db > schema.graphql
  weir schema diff schema.graphql new.graphql    which changes break clients"
    )]
    Schema {
        /// Source, as in `weir serve`
        #[arg(value_name = "URL|FILE|WEIR.YAML", default_value = "weir.yaml")]
        target: String,
        #[command(subcommand)]
        command: Option<SchemaCommand>,
    },
    /// Validate documents against a schema
    #[command(after_help = "\
Examples:
  weir validate --schema schema.graphql query.graphql
  weir validate --schema introspection.json --format json queries/*.graphql

The files are one program: operations may use fragments of other files.
Exit code 1: there is a violation, or a file cannot be read.")]
    Validate {
        /// The schema: SDL, or the answer to an introspection query
        #[arg(long, value_name = "FILE")]
        schema: PathBuf,
        /// The documents
        #[arg(value_name = "FILE", required = true)]
        documents: Vec<PathBuf>,
        /// Format of the report
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Migrate a native store to its types
    #[command(after_help = "\
Examples:
  weir migrate shop.graphql --plan                       the changes and their SQL
  weir migrate shop.graphql
  weir migrate shop.graphql --allow-data-loss Dish.pic   drop a field with its values")]
    Migrate {
        /// The types: X.graphql, or a weir.yaml with one native source
        #[arg(value_name = "X.GRAPHQL", default_value = "weir.yaml")]
        target: String,
        /// Print the changes and their SQL without running them
        #[arg(long)]
        plan: bool,
        /// Types and fields whose values may be lost, as `Dish` or `Dish.pic`
        #[arg(long, value_name = "NAME", num_args = 1..)]
        allow_data_loss: Vec<String>,
        /// The store; default: a file beside the types
        #[arg(long, value_name = "URL")]
        store: Option<String>,
    },
    /// Load files into a native store, or print types from the description of services or an export of Dgraph
    #[command(after_help = "\
Examples:
  weir import dishes.ndjson --into shop.graphql --type Dish
  weir import *.csv --into shop.graphql --map names.yaml
  weir import dgraph g01.gql_schema.gz > shop.graphql    the types of an export of Dgraph
  weir import g01.rdf.gz --into shop.graphql             its data, also g01.json.gz
  weir import openapi petstore.yaml > services.graphql   types for REST services, to edit")]
    Import(import::Imports),
    /// Write the objects of a native store to files
    #[command(after_help = "\
Examples:
  weir export shop.graphql > shop.ndjson
  weir export shop.graphql --format csv --to folder
  weir export shop.graphql --format nquads --to shop.rdf")]
    Export(store::Export),
    /// Copy an embedded native store; a server may keep serving it
    #[command(after_help = "Examples:\n  weir backup monday.db shop.graphql")]
    Backup {
        /// The new file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The types: X.graphql, or a weir.yaml with one native source
        #[arg(value_name = "X.GRAPHQL", default_value = "weir.yaml")]
        target: String,
        /// The store; default: a file beside the types
        #[arg(long, value_name = "URL")]
        store: Option<String>,
    },
    /// Decide about event triggers
    #[command(subcommand)]
    Events(serve::event_commands::EventsCommand),
    /// Write what is served as Hasura's metadata
    #[command(subcommand)]
    Metadata(metadata::MetadataCommand),
    /// Serve mock REST services from a scenario, to test a gateway
    #[command(after_help = "\
Examples:
  weir mock examples/gateway/mock.yaml
  weir mock mock.yaml --listen 127.0.0.1:4000

A scenario (all of it: docs/mock.md):
  latency: {median: 5ms, sigma: 0.4, spikes: {probability: 0.002, add: 80ms}}
  errors: {rate: 0.01, statuses: [503], retry_after: 1s}
  version: 2s                                # $(version) grows every two seconds
  headers: {X-TTL: 2}
  objects:
    player: {id: $(id), name: Player $(words 2), points: $(between 0 900)}
  endpoints:
    GET /players/{id}: {known: 1..500, body: {$of: player}}
    GET /players: {known: 1..500, body: {$ids: query.id, $of: player}}

While it runs:
  curl http://127.0.0.1:3900/__stats         calls, ids and errors by endpoint
  curl http://127.0.0.1:3900/__reset         count from 0, draw the same latencies again
  curl 'http://127.0.0.1:3900/__set?latency=50ms&errors=0.2&version=7'    until set to `own`")]
    Mock {
        /// The scenario
        #[arg(value_name = "FILE.YAML")]
        file: PathBuf,
        /// Address to listen on
        #[arg(long, value_name = "[ADDRESS:]PORT", default_value = "127.0.0.1:3900")]
        listen: Listen,
        // Users try `--port`; hidden, it reports the right option.
        #[arg(long = "port", hide = true, value_name = "PORT", value_parser = no_port())]
        _port: Option<String>,
    },
    /// Drive a GraphQL or HTTP server: latencies, its maximum, two servers compared
    #[command(subcommand)]
    Load(Box<load::LoadCommand>),
    /// Write a completion script for a shell
    #[command(after_help = "Examples:\n  weir completions bash > /etc/bash_completion.d/weir")]
    Completions {
        /// bash, elvish, fish, powershell or zsh
        shell: Shell,
    },
}

/// Refuses `--port` and names the option to use instead.
fn no_port() -> UnknownArgumentValueParser {
    UnknownArgumentValueParser::suggest_arg("--listen")
        .and_suggest("`--listen 9000` is port 9000 on 127.0.0.1")
}

/// Options that `serve` and `demo` share.
#[derive(Debug, Args)]
struct ServeOptions {
    /// Address to listen on; a port alone is on 127.0.0.1
    #[arg(long, value_name = "[ADDRESS:]PORT")]
    listen: Option<Listen>,
    // Users try `--port`; hidden, it reports the right option.
    #[arg(long = "port", hide = true, value_name = "PORT", value_parser = no_port())]
    _port: Option<String>,
    /// Separate address for metrics and health probes
    #[arg(long, value_name = "[ADDRESS:]PORT")]
    admin_listen: Option<Listen>,
    /// Callers with this secret are the admin; needed to listen off loopback
    #[arg(long, env = "WEIR_ADMIN_SECRET", hide_env_values = true, value_name = "SECRET")]
    admin_secret: Option<String>,
    /// Open the console and explain to everyone who can connect
    #[arg(long)]
    dev: bool,
    /// Allow web pages of this origin, or of any; default: pages of localhost, if Weir listens on loopback only
    #[arg(long, value_name = "ORIGIN|*")]
    cors: Vec<String>,
    /// Documents that clients name by an identifier: a manifest of Apollo, Relay or codegen, or a folder of .graphql files
    #[arg(long, value_name = "FILE|DIR")]
    persisted: Vec<PathBuf>,
    /// Run stored documents alone; the role admin may send any text
    #[arg(long)]
    persisted_only: bool,
}

#[derive(Debug, Subcommand)]
enum SchemaCommand {
    /// Compare two schemas and say which changes break clients
    #[command(after_help = "\
Exit codes:
  0  no change reaches --fail-on
  4  a change does
  1  a file cannot be read

Examples:
  weir schema diff old.graphql new.graphql
  weir schema weir.yaml > new.graphql && weir schema diff schema.graphql new.graphql
  weir schema diff old.graphql new.graphql --fail-on dangerous --format json")]
    Diff {
        /// The schema that clients know: SDL, or the answer to an introspection query
        #[arg(value_name = "OLD")]
        old: PathBuf,
        /// The schema that replaces it
        #[arg(value_name = "NEW")]
        new: PathBuf,
        /// Format of the report
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
        /// The changes that make the command fail
        #[arg(long, value_enum, default_value = "breaking")]
        fail_on: FailOn,
    },
}

/// The changes of a schema that make `weir schema diff` fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Changes that make documents invalid, or answers unexpected
    Breaking,
    /// Also changes that may alter what valid documents do
    Dangerous,
    /// None
    Never,
}

/// The forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// `file:line:column: message`
    Text,
    /// One JSON object with all violations
    Json,
}

/// Runs the command the process was started with.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli.command) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<ExitCode, String> {
    match command {
        Command::Serve { target, metadata, store, options } => {
            serve::serve(&target, metadata, store, options)
        }
        Command::Demo { reset, data, options } => demo::demo(reset, data, options),
        Command::Mcp(options) => serve::stdio::run(options),
        Command::Init { file, url, json_schema } => author::init(&file, url.as_deref(), json_schema),
        Command::Check { target, metadata } => check::check(&target, metadata),
        Command::Explain { query, target, variables, operation, role, claims } => {
            let caller = document::AssumedCaller { role: role.as_deref(), claims: claims.as_deref() };
            document::explain(&query, &target, variables.as_deref(), operation.as_deref(), caller)
        }
        Command::Schema { target, command: None } => document::schema(&target),
        Command::Schema { command: Some(SchemaCommand::Diff { old, new, format, fail_on }), .. } => {
            schema_diff::run(&old, &new, format, fail_on)
        }
        Command::Validate { schema, documents, format } => validate::validate(&schema, &documents, format),
        Command::Migrate { target, plan, allow_data_loss, store } => {
            store::migrate(&target, store.as_deref(), plan, &allow_data_loss)
        }
        Command::Import(options) => import::import(&options),
        Command::Export(options) => store::export_all(&options),
        Command::Backup { file, target, store } => store::save(&file, &target, store.as_deref()),
        Command::Events(command) => serve::event_commands::run(command),
        Command::Metadata(command) => metadata::run(command),
        Command::Mock { file, listen, .. } => mock::mock(&file, listen.0),
        Command::Load(command) => load::load(*command),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "weir", &mut script);
            print(&String::from_utf8_lossy(&script))
        }
    }
}

/// Writes to standard output; a closed reader is no error.
fn print(text: &str) -> Result<ExitCode, String> {
    use std::io::Write;
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(cause) if cause.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("standard output: {cause}"))
        }
        Ok(()) | Err(_) => Ok(ExitCode::SUCCESS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str], expected: Result<(), &str>) {
        match (Cli::try_parse_from(std::iter::once(&"weir").chain(arguments)), expected) {
            (Ok(_), Ok(())) => {}
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, _) => panic!("{arguments:?}: {found:?}"),
        }
    }

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
        check(&["serve", "sqlite:chinook.db", "--listen", "127.0.0.1:0"], Ok(()));
        check(&["serve", "sqlite:chinook.db", "--port", "9000"], Err("--listen"));
        check(&["demo", "--port=9000"], Err("a similar argument exists: '--listen'"));
        check(&["mock", "mock.yaml", "--port", "9000"], Err("--listen"));
        check(&["demo", "--reset"], Ok(()));
        check(&["demo", "--cors", "*"], Ok(()));
        check(&["mcp", "sqlite:chinook.db", "--role", "user", "--tools", "search,execute"], Ok(()));
        check(&["mcp", "chinook.db", "--demo"], Err("cannot be used with"));
        check(&["mcp", "--tools", "delete"], Err("invalid value 'delete'"));
        check(&["serve", "--cors", "https://a.example", "--cors", "http://b.example"], Ok(()));
        check(&["import", "openapi", "petstore.yaml"], Ok(()));
        check(&["import", "dgraph", "g01.gql_schema.gz"], Ok(()));
        check(&["import", "a.csv", "--into", "shop.graphql"], Ok(()));
        check(&["import", "a.csv"], Err("--into"));
        check(&["mock", "mock.yaml", "--listen", "127.0.0.1:0"], Ok(()));
        check(&["load", "run", "http://a/", "--get", "/", "--rate", "5", "--duration", "1s"], Ok(()));
        check(&["load", "run", "http://a/", "--closed", "5", "--rate", "5"], Err("cannot be used with"));
        check(&["load", "run", "http://a/", "--duration", "5"], Err("write it as `250us`"));
        check(&["load", "max", "http://a/", "--percentile", "99"], Err("--bound"));
        check(&["load", "compare", "http://a/"], Err("<B>"));
        check(&["serve", "--listen", "nonsense"], Err("invalid value 'nonsense'"));
        check(&["load", "capacity", "--rate", "1M/s", "--cpu", "60ms"], Ok(()));
        check(&["load", "capacity", "--rate", "5", "--cpu", "60ms", "--result", "r.json"], Err("--result"));
        check(&["load", "capacity", "--rate", "1M/h"], Err("28M/min"));
        check(&["load", "report", "r.json", "--fail-if", "p99 > 50ms"], Ok(()));
        check(&["load", "report", "r.json", "--tolerance", "10%"], Err("--baseline"));
        check(
            &["load", "report", "r.json", "--baseline", "a.json", "--fail-if", "p99 1.2x"],
            Err("is no limit"),
        );
        check(&["validate", "q.graphql"], Err("--schema"));
        check(&["schema"], Ok(()));
        check(&["schema", "sqlite:chinook.db"], Ok(()));
        check(&["schema", "diff", "old.graphql", "new.graphql", "--fail-on", "dangerous"], Ok(()));
        check(&["schema", "diff", "old.graphql"], Err("<NEW>"));
    }
}
