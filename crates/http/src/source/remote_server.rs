//! Settings of the GraphQL and gRPC servers in a file of services.

use super::HttpSource;
use super::open::{call_policy, protocol};
use crate::passthrough::{Audience, ForwardedHeader, ForwardedValue, MadeHeader, Server, find_guarded};
use crate::sdl::{CacheRule, Mapping, Mistake, Policy, ServerGuard, server_name};
use crate::selection::inputs::ConfigValues;
use crate::template::{Base, Fixed, Header, HeaderValue, fill_settings};
use http::Uri;
use std::sync::Arc;
use weir_language::schema::Schema;
use weir_language::span::Location;

/// A remote server that resolves all of its types.
#[derive(Debug)]
pub enum RemoteServer {
    /// `@graphql`: its schema is read by introspection.
    Graphql(Server, Location),
    /// `@grpc`, with the path of its description.
    Grpc(Server, Box<str>, Location),
}

/// A server's names and settings in the file.
#[derive(Clone, Copy)]
struct ServerText<'n> {
    base: &'n Base,
    prefix: &'n str,
    headers: &'n [Header],
    visible: Option<&'n [u32]>,
    cache_rule: &'n Option<CacheRule>,
    kind: &'n str,
}

impl HttpSource {
    /// Errors of tags on types that no server of the file has. `is_there` tells whether a server has a type.
    pub fn unmatched_tags(&self, file: &str, is_there: &dyn Fn(&str) -> bool) -> Vec<Mistake> {
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

    /// Errors of guards on types and fields that no server of the file has, or whose server only the admin sees. `servers` are all schemas
    /// by name.
    pub fn unmatched_guards(&self, file: &str, servers: &[(&str, &Schema)]) -> Vec<Mistake> {
        let mapping = &self.shared.mapping;
        let named = |prefix: &str, kind: &str| format!("{}/{}", self.name, server_name(prefix, kind));
        let graphql = mapping.graphql.iter().filter(|it| it.visible.is_none());
        let grpc = mapping.grpc.iter().filter(|it| it.visible.is_none());
        let closed =
            graphql.map(|it| named(&it.prefix, "graphql")).chain(grpc.map(|it| named(&it.prefix, "grpc")));
        let closed: Vec<String> = closed.collect();
        let mistake = |guard: &ServerGuard| {
            let ServerGuard { ty, field, location, .. } = guard;
            let shown = field.as_ref().map_or_else(|| ty.to_string(), |it| format!("{ty}.{it}"));
            let has = |schema: &Schema| find_guarded(schema, ty, field.as_deref()).is_some();
            let message = match servers.iter().find(|it| has(it.1)) {
                None => {
                    format!("no server of this text has `{shown}`: mend the name, or give it a `@connect`")
                }
                Some((name, _)) if closed.iter().any(|it| it == name) => format!(
                    "the admin alone sees the server that has `{shown}`: give it `visible`, as in `visible: {{authenticated: true}}`"
                ),
                Some(_) => return None,
            };
            Some(Mistake { file: Arc::from(file), location: *location, message })
        };
        mapping.server_guards.iter().filter_map(mistake).collect()
    }

    fn to_server(
        &self,
        text: ServerText<'_>,
        policy: &Policy,
        headers: Vec<ForwardedHeader>,
        url: Uri,
    ) -> Server {
        let name = server_name(text.prefix, text.kind);
        let mapping = &self.shared.mapping;
        Server {
            name: format!("{}/{name}", self.name).into(),
            url,
            tls: self.tls.of(name),
            tag: name.into(),
            prefix: text.prefix.into(),
            headers,
            protocol: protocol(policy),
            policy: call_policy(policy),
            deadline_header: policy.deadline_header.clone(),
            cache: Arc::clone(&self.shared.cache),
            cache_rule: text.cache_rule.clone(),
            type_tags: mapping.type_tags.clone(),
            audience: text.visible.map(|it| audience(mapping, it)),
            remote: None,
        }
    }

    /// The servers that the file names.
    /// # Errors
    /// Headers that cannot be sent, with locations.
    pub fn servers(&self, file: &str) -> Result<Vec<RemoteServer>, Vec<Mistake>> {
        let mapping = &self.shared.mapping;
        let settings = &self.shared.settings;
        let mut servers = Vec::new();
        let mut mistakes = Vec::new();
        let mistake = |location, message| Mistake { file: Arc::from(file), location, message };
        let mut server = |it: ServerText<'_>, policy: &Policy, at: Location| {
            let base = it.base;
            let made = it.headers.iter().filter_map(|it| forward(it, settings).transpose());
            let forwarded = made.collect::<Result<Vec<_>, _>>();
            let query = if base.query.is_empty() { String::new() } else { format!("?{}", base.query) };
            let path = if base.path.is_empty() { "/" } else { &base.path };
            let url = format!("{}{path}{query}", base.origin());
            match (forwarded, url.parse()) {
                (Ok(headers), Ok(url)) => Some(self.to_server(it, policy, headers, url)),
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
            let base = &it.base;
            let prefix = &*it.prefix;
            let headers = &it.headers;
            let visible = it.visible.as_deref();
            let named = ServerText { base, prefix, headers, visible, cache_rule: &it.cache, kind: "graphql" };
            let made = server(named, &it.policy, it.location);
            servers.extend(made.map(|made| RemoteServer::Graphql(made, it.location)));
        }
        for it in &mapping.grpc {
            let base = &it.base;
            let prefix = &*it.prefix;
            let headers = &it.headers;
            let visible = it.visible.as_deref();
            let named = ServerText { base, prefix, headers, visible, cache_rule: &it.cache, kind: "grpc" };
            let made = server(named, &it.policy, it.location);
            servers.extend(made.map(|made| RemoteServer::Grpc(made, it.proto.clone(), it.location)));
        }
        if mistakes.is_empty() { Ok(servers) } else { Err(mistakes) }
    }
}

/// Audience of a server with these conditions.
fn audience(mapping: &Mapping, visible: &[u32]) -> Audience {
    Audience {
        conditions: mapping.server_conditions.clone(),
        whole: visible.to_vec(),
        guards: mapping.server_guards.clone(),
    }
}

/// A header of every call. Settings are filled in once, unless claims are part of the value too. `None` if the value is missing.
fn forward(header: &Header, settings: &Arc<ConfigValues>) -> Result<Option<ForwardedHeader>, String> {
    let value = match &header.value {
        HeaderValue::From(name) => ForwardedValue::From(name.clone()),
        HeaderValue::Text(parts) => {
            let text = match fill_settings(parts, &|variable, keys| settings.lookup(variable, keys)) {
                Fixed::Text(text) => text,
                Fixed::Missing => return Ok(None),
                Fixed::NoText => {
                    return Err(format!("header `{}`: a setting in it is no single value", header.name));
                }
                Fixed::Open => {
                    let made = MadeHeader::new(parts, settings).ok_or_else(|| {
                        format!(
                            "header `{}`: only `$config.name`, `$env.name`, `$claims.name` and `$role` can stand in it here, and `??` behind them",
                            header.name
                        )
                    })?;
                    let value = ForwardedValue::Made(made);
                    return Ok(Some(ForwardedHeader { name: header.name.clone(), value }));
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
