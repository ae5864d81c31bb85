//! The GraphQL and gRPC servers that a text of services names: what of it they need to be opened.

use super::HttpSource;
use super::open::{call_policy, protocol};
use crate::inputs::ConfigValues;
use crate::passthrough::{ForwardedHeader, ForwardedValue, Server};
use crate::sdl::{CacheRule, Mistake, Policy, server_name};
use crate::template::{Base, Fixed, Header, HeaderValue, fixed};
use std::sync::Arc;
use weir_language::span::Location;

/// A server that answers for all of its types.
#[derive(Debug)]
pub enum RemoteServer {
    /// `@graphql`: it is asked for its schema.
    Graphql(Server, Location),
    /// `@grpc`, and the file that describes it.
    Grpc(Server, Box<str>, Location),
}

/// Names of a server in the file.
struct ServerText<'n> {
    base: &'n Base,
    prefix: &'n str,
    headers: &'n [Header],
    cache_rule: &'n Option<CacheRule>,
    kind: &'n str,
}

impl HttpSource {
    /// Errors of tags on types that no server of the file has: `is_there` tells if one has a type.
    #[must_use]
    pub fn lost_tags(&self, file: &str, is_there: &dyn Fn(&str) -> bool) -> Vec<Mistake> {
        let mapping = &self.shared.mapping;
        let tagged = mapping.type_tags.iter().zip(&mapping.type_tags_at);
        let lost = tagged.filter(|it| !is_there(&it.0.0));
        let mistake = |((ty, _), at): (&(Box<str>, Arc<str>), &Location)| Mistake {
            file: Arc::from(file),
            location: *at,
            message: format!(
                "no server of this text has a type `{ty}`, so nothing has the tag: mend the name"
            ),
        };
        lost.map(mistake).collect()
    }

    /// The servers that the text, which stands in `file`, names.
    /// # Errors
    /// Headers that cannot be sent there, with their places.
    pub fn servers(&self, file: &str) -> Result<Vec<RemoteServer>, Vec<Mistake>> {
        let (mapping, settings) = (&self.shared.mapping, &self.shared.settings);
        let (mut servers, mut mistakes) = (Vec::new(), Vec::new());
        let mistake = |location, message| Mistake { file: Arc::from(file), location, message };
        let mut server = |it: ServerText<'_>, policy: &Policy, at: Location| {
            let ServerText { base, prefix, headers, cache_rule, kind } = it;
            let forwarded = headers
                .iter()
                .filter_map(|it| forward(it, settings).transpose())
                .collect::<Result<Vec<_>, _>>();
            let query = if base.query.is_empty() { String::new() } else { format!("?{}", base.query) };
            let path = if base.path.is_empty() { "/" } else { &base.path };
            let url = format!("{}{path}{query}", base.origin());
            match (forwarded, url.parse()) {
                (Ok(headers), Ok(url)) => {
                    let name = format!("{}/{}", self.name, server_name(prefix, kind)).into();
                    let (ca, prefix) = (self.ca.clone(), Box::<str>::from(prefix));
                    let (protocol, deadline_header) = (protocol(policy), policy.deadline_header.clone());
                    let (policy, cache_rule) = (call_policy(policy), cache_rule.clone());
                    let (cache, type_tags) = (Arc::clone(&self.shared.cache), mapping.type_tags.clone());
                    Some(Server {
                        name,
                        url,
                        ca,
                        tag: server_name(&prefix, kind).into(),
                        prefix,
                        headers,
                        protocol,
                        policy,
                        deadline_header,
                        cache,
                        cache_rule,
                        type_tags,
                    })
                }
                (Err(message), _) => {
                    mistakes.push(mistake(at, message));
                    None
                }
                (_, Err(error)) => {
                    mistakes.push(mistake(at, error.to_string()));
                    None
                }
            }
        };
        for it in &mapping.graphql {
            let (base, prefix, headers) = (&it.base, &*it.prefix, &it.headers);
            let named = ServerText { base, prefix, headers, cache_rule: &it.cache, kind: "graphql" };
            let made = server(named, &it.policy, it.location);
            servers.extend(made.map(|made| RemoteServer::Graphql(made, it.location)));
        }
        for it in &mapping.grpc {
            let (base, prefix, headers) = (&it.base, &*it.prefix, &it.headers);
            let named = ServerText { base, prefix, headers, cache_rule: &it.cache, kind: "grpc" };
            let made = server(named, &it.policy, it.location);
            servers.extend(made.map(|made| RemoteServer::Grpc(made, it.proto.clone(), it.location)));
        }
        if mistakes.is_empty() { Ok(servers) } else { Err(mistakes) }
    }
}

/// A header as it is sent with every call: its settings are put in once. One whose value is missing is not sent.
fn forward(header: &Header, settings: &ConfigValues) -> Result<Option<ForwardedHeader>, String> {
    let value = match &header.value {
        HeaderValue::From(name) => ForwardedValue::From(name.clone()),
        HeaderValue::Text(parts) => {
            let text = match fixed(parts, &|variable, keys| settings.lookup(variable, keys)) {
                Fixed::Text(text) => text,
                Fixed::Missing => return Ok(None),
                Fixed::NoText => {
                    return Err(format!("header `{}`: a setting in it is no single value", header.name));
                }
                Fixed::Open => {
                    return Err(format!(
                        "header `{}`: only `$config.name` and `$env.name` can stand in it here, and `??` behind them",
                        header.name
                    ));
                }
            };
            let value = http::HeaderValue::from_str(&text);
            ForwardedValue::Fixed(
                value.map_err(|_| format!("header `{}` cannot hold its value", header.name))?,
            )
        }
    };
    Ok(Some(ForwardedHeader { name: header.name.clone(), value }))
}
