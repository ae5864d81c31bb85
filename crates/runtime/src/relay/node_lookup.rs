//! Global ids, and the fields `node` and `nodes` that find an object by its id alone.
//!
//! **Cost:** one call per type that the ids of a field name; calls run at the same time.

use super::bad_input;
use crate::context::Context;
use crate::resolve_error::ResolveError;
use crate::resolver::{TypedResolver, async_root};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::join_all;
use std::fmt;
use std::sync::Arc;
use weir_derive::Input;
use weir_engine::memory::Answer;

/// An id that is unique among all types: a type and a key of it.
///
/// ```
/// use weir_runtime::relay::GlobalId;
/// let id = GlobalId::new("User", 7).to_string();
/// assert_eq!(GlobalId::parse(&id).unwrap(), GlobalId::new("User", 7));
/// assert!(GlobalId::parse("7").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalId {
    /// Name of the object type.
    pub type_name: String,
    /// The key in that type.
    pub key: String,
}

impl GlobalId {
    /// The id of the object of `type_name` with `key`.
    #[must_use]
    pub fn new(type_name: &str, key: impl fmt::Display) -> Self {
        Self { type_name: type_name.into(), key: key.to_string() }
    }
    /// Reads an id that a client sent.
    /// # Errors
    /// The text is no id: `BAD_USER_INPUT`.
    pub fn parse(text: &str) -> Result<Self, ResolveError> {
        let decoded = URL_SAFE_NO_PAD.decode(text).ok().and_then(|it| String::from_utf8(it).ok());
        let found = decoded.as_deref().and_then(|it| it.split_once(':')).filter(|it| !it.0.is_empty());
        let (type_name, key) = found.ok_or_else(|| bad_input(format!("`{text}` is no id")))?;
        Ok(Self { type_name: type_name.into(), key: key.into() })
    }
}

impl fmt::Display for GlobalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(format!("{}:{}", self.type_name, self.key)))
    }
}

/// Arguments of `node`. [`node`] has an example.
#[derive(Clone, Debug, Input)]
pub struct NodeArguments {
    /// Global id.
    #[graphql(id)]
    pub id: String,
}

/// Arguments of `nodes`. [`node`] has an example.
#[derive(Clone, Debug, Input)]
pub struct NodesArguments {
    /// Global ids.
    #[graphql(id)]
    pub ids: Vec<String>,
}

/// Value of `nodes`: per id an object, `None`, or an error.
pub type FoundNodes<N> = Vec<Result<Option<N>, ResolveError>>;

/// The field `node(id: ID!)`. `load` gets the name of a type and keys of it, and gives one object or `None` per key.
///
/// ```
/// use weir_runtime::relay::{GlobalId, node, nodes};
/// use weir_runtime::{Context, Interface, Object, Request, ResolveError, Schema};
///
/// #[derive(Object)]
/// struct User { #[graphql(id)] id: String }
///
/// #[derive(Interface)]
/// #[graphql(fields(#[graphql(id)] id: String))]
/// enum Node { User(User) }
///
/// async fn load(ty: String, keys: Vec<String>, _: Context) -> Result<Vec<Option<Node>>, ResolveError> {
///     Ok(keys.iter().map(|key| Some(Node::User(User { id: GlobalId::new(&ty, key).to_string() }))).collect())
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = Schema::code_first().field("Query.node", node(load)).field("Query.nodes", nodes(100, load)).build()?;
/// let id = GlobalId::new("User", 7);
/// let query = format!(r#"{{ node(id: "{id}") {{ id }} }}"#);
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// let answer = runtime.block_on(schema.execute(Request::new(&query)));
/// assert_eq!(answer.at("data.node.id"), Some(format!("\"{id}\"")));
/// # Ok(())
/// # }
/// ```
pub fn node<N, T>(
    load: impl Fn(String, Vec<String>, Context) -> T + Send + Sync + 'static,
) -> TypedResolver<NodeArguments, Result<Option<N>, ResolveError>>
where
    N: Answer + Send + Sync + 'static,
    T: Future<Output = Result<Vec<Option<N>>, ResolveError>> + Send + 'static,
{
    async_root(move |arguments: &NodeArguments, context: &Context| {
        let found =
            GlobalId::parse(&arguments.id).map(|it| load(it.type_name, vec![it.key], context.clone()));
        async move { Ok(check_count(1, found?.await?)?.pop().flatten()) }
    })
}

/// The field `nodes(ids: [ID!]!)`, at most `ids_max` at once; `load` is that of [`node`], called once per type. An invalid id is an
/// error at its own position. [`node`] has an example.
pub fn nodes<N, T>(
    ids_max: usize,
    load: impl Fn(String, Vec<String>, Context) -> T + Send + Sync + 'static,
) -> TypedResolver<NodesArguments, Result<FoundNodes<N>, ResolveError>>
where
    N: Answer + Send + Sync + 'static,
    T: Future<Output = Result<Vec<Option<N>>, ResolveError>> + Send + 'static,
{
    let load = Arc::new(load);
    async_root(move |arguments: &NodesArguments, context: &Context| {
        let load = Arc::clone(&load);
        let ids = arguments.ids.clone();
        let context = context.clone();
        async move {
            if ids.len() > ids_max {
                return Err(bad_input(format!("`ids` has at most {ids_max} items")));
            }
            let (mut values, groups) = group_by_type::<N>(&ids);
            let call = |(type_name, ids): (String, Vec<(usize, String)>)| {
                let (places, keys): (Vec<usize>, Vec<String>) = ids.into_iter().unzip();
                let reply = load(type_name, keys, context.clone());
                async move { (reply.await.and_then(|it| check_count(places.len(), it)), places) }
            };
            for (reply, places) in join_all(groups.into_iter().map(call)).await {
                match reply {
                    Ok(found) => places.into_iter().zip(found).for_each(|(at, it)| values[at] = Ok(it)),
                    Err(error) => places.into_iter().for_each(|at| values[at] = Err(error.clone())),
                }
            }
            Ok(values)
        }
    })
}

/// Types, each with the places and keys of its ids.
type Groups = Vec<(String, Vec<(usize, String)>)>;

/// Groups the ids by type; invalid ids become errors at their positions.
fn group_by_type<N>(ids: &[String]) -> (FoundNodes<N>, Groups) {
    let mut groups: Groups = Vec::new();
    let mut values = Vec::with_capacity(ids.len());
    for (at, id) in ids.iter().enumerate() {
        let parsed = GlobalId::parse(id);
        values.push(parsed.as_ref().map(|_| None).map_err(Clone::clone));
        let Ok(GlobalId { type_name, key }) = parsed else { continue };
        match groups.iter_mut().find(|it| it.0 == type_name) {
            Some(group) => group.1.push((at, key)),
            None => groups.push((type_name, vec![(at, key)])),
        }
    }
    (values, groups)
}

/// Checks that there is one value per key.
fn check_count<N>(keys: usize, values: Vec<Option<N>>) -> Result<Vec<Option<N>>, ResolveError> {
    if values.len() == keys {
        Ok(values)
    } else {
        Err(std::io::Error::other(format!("{} nodes were loaded for {keys} keys", values.len())).into())
    }
}
