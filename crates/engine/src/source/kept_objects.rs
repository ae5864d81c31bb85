//! Objects that a source keeps while a request runs: fetches below a node see the parents themselves, not only their keys.
//!
//! A source of values in this process has parents that are no rows. Its node keeps them here, gives each a number as its
//! [`OBJECT_KEY`], and a fetch below finds the parents again by their numbers.
//!
//! **Invariant:** a node keeps its objects before its result is known, and they stay until the request is over.
//!
//! **Cost:** none for plans whose fetches keep nothing, which is known when they are planned.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Among the keys of a separate fetch: the object itself, as a number that its source gives it in the hidden column of this
/// name. No type has a field of the name, so it cannot be confused with a field.
pub const OBJECT_KEY: &str = "__typename";

/// The objects of one node.
#[derive(Default)]
pub struct KeptObjects(OnceLock<Arc<dyn Any + Send + Sync>>);

impl KeptObjects {
    /// Keeps `objects`; the first of several stays.
    pub fn keep<T: Any + Send + Sync>(&self, objects: T) {
        self.0.get_or_init(|| Arc::new(objects));
    }

    /// The objects, if they were kept and are of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.get()?.downcast_ref()
    }
}

impl fmt::Debug for KeptObjects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptObjects").field("is_kept", &self.0.get().is_some()).finish()
    }
}

/// The objects that a fetch keeps and those of its parents.
#[derive(Clone, Copy, Debug)]
pub struct NodeObjects<'r> {
    /// Objects of the fetch's own node.
    pub own: &'r KeptObjects,
    /// Objects of the parent node.
    pub parents: Option<&'r KeptObjects>,
}

/// The objects of all nodes of a request.
#[derive(Debug)]
pub(crate) struct RequestObjects(Box<[KeptObjects]>);

impl RequestObjects {
    pub(crate) fn new(nodes: usize) -> Self {
        Self((0..nodes).map(|_| KeptObjects::default()).collect())
    }

    /// Objects for some rows of `node`: it shares the objects of `node`, and has none of the nodes below, which are fetched again.
    pub(crate) fn fork(&self, node: u32) -> Self {
        let kept = |at: usize| if at == node as usize { self.0[at].0.clone() } else { OnceLock::new() };
        Self((0..self.0.len()).map(|at| KeptObjects(kept(at))).collect())
    }

    /// Objects of `node` and of its parent node `parent`.
    pub(crate) fn node_objects(&self, node: u32, parent: Option<u32>) -> NodeObjects<'_> {
        NodeObjects { own: &self.0[node as usize], parents: parent.map(|it| &self.0[it as usize]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_finds_what_the_node_above_kept() {
        let objects = RequestObjects::new(2);
        objects.node_objects(0, None).own.keep(vec![7_u32]);
        let below = objects.node_objects(1, Some(0));
        assert_eq!(below.parents.and_then(|it| it.get::<Vec<u32>>()), Some(&vec![7]));
        assert!(below.parents.is_some_and(|it| it.get::<String>().is_none()));
        assert!(below.own.get::<Vec<u32>>().is_none() && objects.node_objects(0, None).parents.is_none());
        below.own.keep(8_u32);
        let forked = objects.fork(0);
        assert!(forked.node_objects(1, Some(0)).parents.is_some_and(|it| it.get::<Vec<u32>>().is_some()));
        assert!(forked.node_objects(1, Some(0)).own.get::<u32>().is_none());
    }
}
