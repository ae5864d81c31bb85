//! `weir import`: files into a native store, or a description of services or types into types to edit.

use super::{print, store};
use crate::config::source::types_file;
use bytes::Bytes;
use clap::{Args, Subcommand};
use hyper::http::uri::PathAndQuery;
use hyper::{Method, Uri};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use weir_http::call::{Ask, CallPolicy, Peer, Protocol, TlsFiles, Upstream, UpstreamSettings};
use weir_http::grpc;
use weir_http::import::openapi;

/// Timeout of the download of an API description.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Options of `weir import`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Imports {
    #[command(subcommand)]
    described: Option<TypesToPrint>,
    #[command(flatten)]
    files: Option<store::Import>,
}

/// Descriptions of types.
#[derive(Debug, Subcommand)]
enum TypesToPrint {
    /// Print the types in a file of Dgraph's export, to edit
    #[command(after_help = "\
Examples:
  weir import dgraph g01.gql_schema.gz > schema.graphql
  weir import g01.rdf.gz --into schema.graphql           then its data")]
    Dgraph {
        /// `g01.gql_schema.gz`, or the same unpacked
        #[arg(value_name = "FILE")]
        types: PathBuf,
    },
    /// Print types with @source and @connect for the REST services of an OpenAPI 3 description
    #[command(after_help = "\
Examples:
  weir import openapi petstore.yaml > services.graphql
  weir import openapi https://api.example/openapi.json > services.graphql

Edit the result: choose names, add `@connect` batches for calls per parent, set cache lifetimes.
Comments at the top list the operations that were left out.")]
    Openapi {
        /// JSON or YAML
        #[arg(value_name = "FILE|URL")]
        description: String,
    },
    /// Print a .graphql file for a gRPC server, with its types and fields as comments
    #[command(after_help = "\
Examples:
  weir import proto stock.proto > services.graphql
  weir import proto stock.pb --prefix stock_             a descriptor set

Set `url` to the address of the server. Keep the description beside the .graphql file: Weir reads both.")]
    Proto {
        /// A .proto file, or a descriptor set
        #[arg(value_name = "FILE")]
        description: PathBuf,
        /// Prefix of type names and root fields
        #[arg(long, value_name = "PREFIX", default_value = "")]
        prefix: String,
    },
}

/// Runs `weir import`.
pub(super) fn import(options: &Imports) -> Result<ExitCode, String> {
    match (&options.described, &options.files) {
        (Some(TypesToPrint::Openapi { description }), _) => {
            let text = read(description)?;
            print(&openapi::sdl(&text, description).map_err(|error| format!("{description} {error}"))?)
        }
        (Some(TypesToPrint::Dgraph { types }), _) => {
            print(&format!("{}\n", types_file::read(types)?.trim_end()))
        }
        (Some(TypesToPrint::Proto { description, prefix }), _) => {
            let types = grpc::sdl(description, prefix).map_err(|error| error.to_string())?;
            print(&grpc_text(description, prefix, &types))
        }
        (None, Some(files)) => store::import(files),
        (None, None) => Err("nothing to import; `weir import --help` shows what can be".into()),
    }
}

/// A file of services for the server of `description`. Its `types` come from the description and are comments.
fn grpc_text(description: &Path, prefix: &str, types: &str) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let prefix = if prefix.is_empty() { String::new() } else { format!(", prefix: {}", quoted(prefix)) };
    let mut text = format!(
        "# Made by `weir import proto`: put the address of the server into `url`.
extend schema
  @link(url: \"https://weir.example/spec/v1\", import: [\"@grpc\"])
  @grpc(url: \"http://localhost:50051\", proto: {}{prefix})

# Its types and fields:
",
        quoted(&description.to_string_lossy())
    );
    for line in types.lines() {
        text.push_str(format!("# {line}").trim_end());
        text.push('\n');
    }
    text
}

/// The text at a file name or URL.
fn read(description: &str) -> Result<String, String> {
    if !description.starts_with("http://") && !description.starts_with("https://") {
        return std::fs::read_to_string(description)
            .map_err(|cause| format!("{description} cannot be read: {cause}"));
    }
    let fail = |cause: &dyn std::fmt::Display| format!("{description} cannot be fetched: {cause}");
    let base: Uri = description.parse().map_err(|cause| fail(&cause))?;
    let path_and_query = base.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    let policy = CallPolicy { timeout: TIMEOUT, ..CallPolicy::USUAL };
    let upstream = Upstream::new(&UpstreamSettings {
        base,
        tls: TlsFiles::default(),
        protocol: Protocol::Negotiated,
        policy,
    });
    let upstream = upstream.map_err(|cause| fail(&cause))?;
    let ask = Ask {
        method: Method::GET,
        path_and_query,
        headers: Vec::new(),
        body: Bytes::new(),
        deadline: Instant::now() + TIMEOUT,
        timeout: None,
        idempotent: true,
        span: None,
        peer: Peer::Service,
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|cause| fail(&cause))?;
    let answer = runtime.block_on(upstream.call(&ask)).map_err(|cause| fail(&cause))?;
    if !answer.status.is_success() {
        return Err(fail(&format!("the server says {}", answer.status)));
    }
    String::from_utf8(answer.body.to_vec()).map_err(|_| fail(&"it is no text"))
}
