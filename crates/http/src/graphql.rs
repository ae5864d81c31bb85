//! Another GraphQL server as a source: its schema is read from itself, and what clients select of it is passed on.
//!
//! All root fields of a query, or all keys of a level, are one operation: each under an alias of its own, all arguments as
//! variables. What comes back has the shape of what was asked.
//!
//! Answers to queries are cached and shared by the rules for services (`crate::passthrough::answer_keeper`).
//!
//! **Invariant:** no value stands in the text of an operation, so the server can know the text.

mod check_response;
mod forward;
mod introspect;
mod lookups;
mod operation_text;
mod presets;
mod remote_errors;
mod remote_socket;
mod roles;
mod server_names;
mod template;

use self::introspect::Subscriptions;
use self::lookups::{ResolvedLookup, RestType};
use self::roles::{RoleView, ServerSchema};
use self::server_names::ServerNames;
use crate::call::{CallCounts, Protocol, Upstream, UpstreamSettings};
use crate::passthrough::answer_keeper::Keeper;
use crate::passthrough::{InheritedSdl, Naming, OpenError, RemoteSchema, Server, Shown};
use bytes::Bytes;
use http::uri::PathAndQuery;
use std::sync::Arc;
use weir_engine::caller::{Facts, Identity};
use weir_engine::source::{
    BoxFuture, OthersChanges, PlanError, PlanNode, PreparedFetch, ServiceCalls, ServiceCheck, Source, nothing,
};
use weir_language::schema::{FieldId, InputId, Schema, TypeKind, Visibility};

/// Maximum nesting of an answer: deeper than a selection.
const DEPTH_MAX: u32 = 200;

/// A GraphQL server.
pub struct GraphqlSource {
    contents: Arc<Contents>,
    shown: Shown,
    roles: Roles,
    link: Arc<GraphqlLink>,
    /// Answer to the introspection query.
    introspection: Bytes,
    /// Lookups of a remote schema that do not fit: their places, and why.
    lookup_faults: Vec<(usize, String)>,
    /// Roles of a remote schema whose permission does not fit: their places, and why.
    role_faults: Vec<(usize, String)>,
    /// Places of inherited roles of a remote schema that see nothing, since the roles they are made of differ.
    split_roles: Vec<usize>,
}

/// The schema of a server, and its names there.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) schema: Arc<Schema>,
    names: ServerNames,
    lookups: Vec<ResolvedLookup>,
    rest_types: Vec<RestType>,
}

/// Views of roles on a remote schema.
enum Roles {
    /// The audience decides: it is a server of a file of services.
    ByAudience,
    /// Every role sees all of it.
    All,
    /// The admin sees all of it, these roles what their permissions say, others nothing.
    Listed(Vec<(String, Arc<RoleView>)>),
}

/// Connection to the server, shared by its fetches.
pub(crate) struct GraphqlLink {
    pub(crate) server: Server,
    pub(crate) upstream: Upstream,
    /// For the sockets of subscriptions, if the server is a remote schema.
    sockets: Option<Upstream>,
    counts: CallCounts,
    path: PathAndQuery,
    pub(crate) keeper: Keeper,
}

impl GraphqlLink {
    /// # Errors
    /// The settings are invalid.
    pub(crate) fn new(server: Server) -> Result<Self, OpenError> {
        let protocol = server.protocol;
        let policy = server.policy.clone();
        let settings =
            UpstreamSettings { base: server.url.clone(), tls: server.tls.clone(), protocol, policy };
        let open = |it: &UpstreamSettings| Upstream::new(it).map_err(|it| OpenError::Unfit(it.to_string()));
        let upstream = open(&settings)?;
        let of_sockets = UpstreamSettings { protocol: Protocol::Http1, ..settings };
        let sockets = server.remote.as_ref().map(|_| open(&of_sockets)).transpose()?;
        let path = server.url.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        let keeper = Keeper::new(&server, b"graphql");
        let counts = CallCounts::new(Arc::from(&*server.name));
        Ok(Self { server, upstream, sockets, counts, path, keeper })
    }
}

impl GraphqlSource {
    /// Opens a server and reads its schema.
    /// # Errors
    /// The server does not answer, or its schema is invalid.
    pub async fn open(server: Server) -> Result<Self, OpenError> {
        let link = Arc::new(GraphqlLink::new(server)?);
        let introspection = introspect::ask(&link).await?;
        Self::with_link(link, introspection)
    }

    /// A server whose answer to the introspection query is known, see [`Self::introspection`].
    /// # Errors
    /// The settings are invalid, or the schema is.
    pub fn from_introspection(server: Server, introspection: Bytes) -> Result<Self, OpenError> {
        Self::with_link(Arc::new(GraphqlLink::new(server)?), introspection)
    }

    fn with_link(link: Arc<GraphqlLink>, introspection: Bytes) -> Result<Self, OpenError> {
        let remote = link.server.remote.as_deref();
        let prefix = Naming::with_prefix(&link.server.prefix);
        let naming = remote.map_or(&prefix, |it| &it.naming);
        // The queries of other servers are live by polling.
        let subscriptions = if remote.is_some() { Subscriptions::Passed } else { Subscriptions::Dropped };
        let read =
            introspect::read(&introspection, naming, remote.map_or(&[], |it| &it.lookups), subscriptions)?;
        let introspect::Introspected { schema, names, lookups, rest_types, faults: lookup_faults } = read;
        let contents = Arc::new(Contents { schema: Arc::new(schema), names, lookups, rest_types });
        let shown = Shown::new(link.server.audience.as_ref(), &contents.schema);
        let mut role_faults = Vec::new();
        let mut split_roles = Vec::new();
        let roles = remote.map_or(Roles::ByAudience, |it| {
            read_roles(it, &contents, &mut role_faults).inherit(&it.inherited_roles, &mut split_roles)
        });
        Ok(Self { contents, shown, roles, link, introspection, lookup_faults, role_faults, split_roles })
    }

    /// The body of the server's answer to the introspection query.
    pub fn introspection(&self) -> &Bytes {
        &self.introspection
    }

    /// True if `other` is the same schema as [`Self::introspection`], perhaps in another order.
    pub fn has_introspection(&self, other: &Bytes) -> bool {
        self.introspection == *other
            || introspect::in_order(&self.introspection) == introspect::in_order(other)
    }

    /// Lookups of a remote schema that do not fit: their places, and why.
    pub fn lookup_faults(&self) -> &[(usize, String)] {
        &self.lookup_faults
    }

    /// Roles of a remote schema whose permission does not fit: their places, and why. They see nothing.
    pub fn role_faults(&self) -> &[(usize, String)] {
        &self.role_faults
    }

    /// Places of inherited roles of a remote schema that see nothing, since the roles they are made of differ.
    pub fn split_roles(&self) -> &[usize] {
        &self.split_roles
    }

    /// The type of the source's schema that the server calls `ty`, and its field that the server calls `field`: their names in the
    /// graph, and that of the field's scalar or enum.
    pub fn find_leaf(&self, ty: &str, field: &str) -> Option<[&str; 3]> {
        let Contents { schema, names, .. } = &*self.contents;
        let on = names.find_type(schema, ty)?;
        let field = names.find_field(schema, on, field)?;
        let leaf = schema.field(field).ty;
        let is_leaf = matches!(schema.ty(leaf.base).kind, TypeKind::Scalar(_) | TypeKind::Enum);
        let names = [schema.type_name(on), schema.field_name(field), schema.type_name(leaf.base)];
        (is_leaf && !leaf.wraps.is_list()).then_some(names)
    }

    /// The object type that the server calls `ty`: its name in the graph, and true if it has a field called `field` there.
    pub fn find_object(&self, ty: &str, field: &str) -> Option<(&str, bool)> {
        let Contents { schema, names, .. } = &*self.contents;
        let on = names.find_type(schema, ty).filter(|it| schema.ty(*it).kind == TypeKind::Object)?;
        Some((schema.type_name(on), schema.field_by_name(on, field).is_some()))
    }
}

/// Reads the permissions of a remote schema.
fn read_roles(remote: &RemoteSchema, contents: &Contents, faults: &mut Vec<(usize, String)>) -> Roles {
    let Some(permissions) = &remote.roles else { return Roles::All };
    let server = ServerSchema { schema: &contents.schema, names: &contents.names };
    let mut views = Vec::new();
    for (at, permission) in permissions.iter().enumerate() {
        match roles::read(&permission.sdl, server) {
            Ok(mut view) => {
                show_lookups(contents, &mut view);
                view.visibility.close_with_joins(&contents.schema);
                views.push((permission.role.clone(), Arc::new(view)));
            }
            Err(reason) => faults.push((at, reason)),
        }
    }
    Roles::Listed(views)
}

impl Roles {
    /// Adds `inherited` roles, which see what the roles see that they are made of, if these see the same. Places of others go to `split`.
    fn inherit(self, inherited: &[InheritedSdl], split: &mut Vec<usize>) -> Self {
        let Self::Listed(mut views) = self else { return self };
        let mut joined = Vec::new();
        for (at, role) in inherited.iter().enumerate() {
            let mut parts = views.iter().filter(|it| role.parts.contains(&it.0)).map(|it| &it.1);
            let Some(first) = parts.next() else { continue };
            if parts.all(|it| it == first) {
                joined.push((role.role.clone(), Arc::clone(first)));
            } else {
                split.push(at);
            }
        }
        views.extend(joined);
        Self::Listed(views)
    }
}

/// Shows a role the lookups whose fields it sees, with the arguments that a relationship sets.
fn show_lookups(contents: &Contents, view: &mut RoleView) {
    let schema = &*contents.schema;
    for RestType { ty, whole } in &contents.rest_types {
        view.visibility.show_type(*ty, view.visibility.has_type(*whole));
        for input in schema.ty(*ty).members.range().map(|it| InputId(it as u32)) {
            let own = schema.input_by_name(schema.ty(*whole).members, schema.input_name(input));
            let is_shown = own.is_some_and(|it| view.visibility.has_input(it));
            view.visibility.show_input(input, is_shown);
        }
    }
    for lookup in &contents.lookups {
        let mut last = None;
        let mut is_shown = true;
        for step in &lookup.steps {
            let Some(own) = step.own else {
                is_shown = false;
                break;
            };
            let is_open = |name: &str| {
                let input = schema.input_by_name(schema.field(own).arguments, name);
                input.is_some_and(|it| view.visibility.has_input(it) || view.preset(it).is_some())
            };
            is_shown &= view.visibility.has_field(own) && step.arguments.iter().all(|it| is_open(&it.name));
            last = Some(own);
        }
        view.visibility.show_field(lookup.field, is_shown);
        let Some(last) = last.filter(|_| is_shown) else { continue };
        for input in schema.arguments(lookup.field) {
            // An argument that stands for a key has no namesake.
            let name = schema.input_name(input);
            let own = schema.input_by_name(schema.field(last).arguments, name);
            view.visibility.show_input(input, own.is_none_or(|it| view.visibility.has_input(it)));
        }
    }
}

impl Source for GraphqlSource {
    fn name(&self) -> &str {
        &self.link.server.name
    }

    fn schema(&self) -> &Arc<Schema> {
        &self.contents.schema
    }

    fn namespace(&self) -> Option<&str> {
        self.link.server.remote.as_ref()?.naming.namespace.as_deref()
    }

    /// A type's view of each role has to be the same in both servers.
    fn shares_objects(&self) -> bool {
        matches!(self.roles, Roles::All)
    }

    fn others_changes(&self) -> OthersChanges {
        match self.link.server.remote {
            Some(_) => OthersChanges::PassedThrough,
            None => OthersChanges::Lifetimes,
        }
    }

    /// Every query is live by polling, since servers do not report changes; those of remote schemas are not, as in Hasura.
    fn is_live(&self, _: FieldId) -> bool {
        self.link.server.remote.is_none()
    }

    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        let role = self.role_view(node.facts).cloned();
        let contents = Arc::clone(&self.contents);
        Ok(Box::new(forward::ForwardedFetch::new(contents, Arc::clone(&self.link), role, node)))
    }

    fn calls(&self) -> Vec<ServiceCalls> {
        let GraphqlLink { upstream, counts, server, .. } = &*self.link;
        vec![upstream.load().calls(Arc::from(&*server.tag), [counts])]
    }

    fn check_services(&self) -> BoxFuture<'_, Vec<ServiceCheck>> {
        Box::pin(async { vec![self.link.upstream.check(Arc::from(&*self.link.server.tag)).await] })
    }

    fn profile(&self, identity: &Identity, facts: &mut Facts) {
        match &self.roles {
            Roles::ByAudience => self.shown.profile(identity, facts),
            Roles::All => {}
            Roles::Listed(_) if identity.is_admin() => {}
            Roles::Listed(views) => {
                let at = views.iter().position(|it| *it.0 == *identity.role);
                facts.push(at.map_or(0, |it| it as u64 + 1));
            }
        }
    }

    fn visibility(&self, facts: &[u64]) -> Option<Visibility> {
        match (&self.roles, self.role_view(facts)) {
            (Roles::ByAudience, _) => self.shown.visibility(self.schema(), facts),
            (Roles::All | Roles::Listed(_), Some(view)) => Some(view.visibility.clone()),
            (Roles::All | Roles::Listed(_), None) => Some(nothing(self.schema())),
        }
    }
}

impl GraphqlSource {
    /// The view of callers with these facts, if roles differ.
    fn role_view(&self, facts: &[u64]) -> Option<&Arc<RoleView>> {
        let Roles::Listed(views) = &self.roles else { return None };
        let at = usize::try_from(*facts.first()?).ok()?.checked_sub(1)?;
        views.get(at).map(|it| &it.1)
    }
}
