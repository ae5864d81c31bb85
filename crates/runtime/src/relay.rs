//! Relay's conventions: connections with keyset cursors, global ids, `node` and `nodes`.
//!
//! A cursor is the key of its row, so a page costs the same wherever it is, and rows that come or go do not move it.
//!
//! **Invariant:** a cursor is read only for the connection that wrote it; any other text is the error `BAD_USER_INPUT`. Cursors and
//! ids are checked against mistakes, they are neither secret nor signed.
//!
//! **Cost:** one text per edge; of a slice a binary search.

mod cursor;
mod node_lookup;

pub use cursor::CursorKey;
pub use node_lookup::{FoundNodes, GlobalId, NodeArguments, NodesArguments, node, nodes};

use crate::resolve_error::{BAD_USER_INPUT, ResolveError};
use weir_derive::{Input, Object};

/// Arguments of a connection. [`connection!`](crate::connection!) has an example.
#[derive(Clone, Debug, Default, Input)]
pub struct PageArguments {
    /// Size of the page, from the beginning.
    pub first: Option<i32>,
    /// Only what comes after this cursor.
    pub after: Option<String>,
    /// Size of the page, from the end.
    pub last: Option<i32>,
    /// Only what comes before this cursor.
    pub before: Option<String>,
}

/// Position of a page in its list. [`connection!`](crate::connection!) has an example.
#[derive(Clone, Debug, PartialEq, Eq, Object)]
pub struct PageInfo {
    /// True if something comes after the page.
    pub has_next_page: bool,
    /// True if something comes before the page.
    pub has_previous_page: bool,
    /// Cursor of the first edge.
    pub start_cursor: Option<String>,
    /// Cursor of the last edge.
    pub end_cursor: Option<String>,
}

/// Sizes of pages. [`connection!`](crate::connection!) has an example.
#[derive(Clone, Copy, Debug)]
pub struct PageLimits {
    /// Size if neither `first` nor `last` is given.
    pub default: u32,
    /// The largest size.
    pub max: u32,
}

/// Rows of a page: for a query, or for [`PageBounds::page_of_slice`]. [`connection!`](crate::connection!) has an example.
#[derive(Clone, Debug)]
pub struct PageBounds<K> {
    /// Rows have greater keys.
    pub after: Option<K>,
    /// Rows have smaller keys.
    pub before: Option<K>,
    /// Size of the page.
    pub size: usize,
    /// True if the page has the last rows: query in descending order.
    pub from_end: bool,
    connection: &'static str,
}

/// A page. `connection!` makes a connection type of it. [`connection!`](crate::connection!) has an example.
#[derive(Clone, Debug)]
pub struct Page<T> {
    /// Cursors and nodes.
    pub edges: Vec<(String, T)>,
    /// Position of the page.
    pub page_info: PageInfo,
}

fn bad_input(message: String) -> ResolveError {
    ResolveError::new(message).code(BAD_USER_INPUT)
}

impl PageArguments {
    /// Reads the arguments. `connection` names the list in its cursors.
    /// # Errors
    /// `first` and `last` at once, a size out of `limits`, a cursor of another connection: `BAD_USER_INPUT`.
    pub fn bounds<K: CursorKey>(
        &self,
        connection: &'static str,
        limits: PageLimits,
    ) -> Result<PageBounds<K>, ResolveError> {
        let (name, size) = match (self.first, self.last) {
            (Some(_), Some(_)) => return Err(bad_input("`first` and `last` exclude each other".into())),
            (Some(size), None) => ("first", Some(size)),
            (None, Some(size)) => ("last", Some(size)),
            (None, None) => ("first", None),
        };
        let size = match size.map(u32::try_from) {
            None => limits.default,
            Some(Ok(size)) if size <= limits.max => size,
            Some(_) => return Err(bad_input(format!("`{name}` is from 0 to {}", limits.max))),
        };
        let read = |name: &str, text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => match cursor::read(connection, text) {
                Some(key) => Ok(Some(key)),
                None => Err(bad_input(format!("`{name}` is no cursor of `{connection}`"))),
            },
        };
        let after = read("after", &self.after)?;
        let before = read("before", &self.before)?;
        Ok(PageBounds { after, before, size: size as usize, from_end: name == "last", connection })
    }
}

impl<K: CursorKey> PageBounds<K> {
    /// Rows to query: one more than the page has, to know whether there are more.
    #[must_use]
    pub fn rows_max(&self) -> usize {
        self.size + 1
    }

    /// The page of the rows that a query gave: at most [`PageBounds::rows_max`] between `after` and `before`, ascending by key, or
    /// descending if the page is [`PageBounds::from_end`]. The row of a cursor counts as being there.
    pub fn page<T>(&self, mut rows: Vec<T>, key: impl Fn(&T) -> K) -> Page<T> {
        let has_more = rows.len() > self.size;
        rows.truncate(self.size);
        if self.from_end {
            rows.reverse();
        }
        let edge = |row: T| (cursor::write(self.connection, &key(&row)), row);
        let edges: Vec<(String, T)> = rows.into_iter().map(edge).collect();
        let page_info = PageInfo {
            has_next_page: self.before.is_some() || !self.from_end && has_more,
            has_previous_page: self.after.is_some() || self.from_end && has_more,
            start_cursor: edges.first().map(|it| it.0.clone()),
            end_cursor: edges.last().map(|it| it.0.clone()),
        };
        Page { edges, page_info }
    }

    /// The page of a slice that ascends by key; keys are unique.
    pub fn page_of_slice<T: Clone>(&self, rows: &[T], key: impl Fn(&T) -> K) -> Page<T>
    where
        K: Ord,
    {
        let start = self.after.as_ref().map_or(0, |after| rows.partition_point(|it| key(it) <= *after));
        let end = self.before.as_ref().map_or(rows.len(), |it| rows.partition_point(|row| key(row) < *it));
        let rows = rows.get(start..end).unwrap_or_default();
        let taken = if self.from_end {
            rows.iter().rev().take(self.rows_max()).cloned().collect()
        } else {
            rows.iter().take(self.rows_max()).cloned().collect()
        };
        self.page(taken, key)
    }
}

/// Makes the types of a connection: `connection!(pub UserConnection, UserEdge of User)`.
///
/// ```
/// use weir_runtime::relay::{Page, PageArguments, PageLimits};
/// use weir_runtime::{Context, Object, ResolveError, Schema, connection, root};
///
/// #[derive(Clone, Object)]
/// struct User { id: i32 }
/// connection!(UserConnection, UserEdge of User);
///
/// let schema = Schema::code_first().field("Query.users", root(|page: &PageArguments, _: &Context| {
///     let users: Vec<User> = (1..=9).map(|id| User { id }).collect();
///     let bounds = page.bounds::<i32>("users", PageLimits { default: 20, max: 100 })?;
///     Ok::<UserConnection, ResolveError>(bounds.page_of_slice(&users, |it| it.id).into())
/// }));
/// assert!(schema.build().is_ok());
/// ```
#[macro_export]
macro_rules! connection {
    ($visibility:vis $connection:ident, $edge:ident of $node:ty) => {
        /// A node and its place in the list.
        #[derive($crate::Object)]
        $visibility struct $edge {
            /// The place.
            $visibility cursor: ::std::string::String,
            /// The node.
            $visibility node: $node,
        }

        /// A page of a list.
        #[derive($crate::Object)]
        $visibility struct $connection {
            /// The nodes of the page.
            $visibility edges: ::std::vec::Vec<$edge>,
            /// Position of the page.
            $visibility page_info: $crate::relay::PageInfo,
        }

        impl ::std::convert::From<$crate::relay::Page<$node>> for $connection {
            fn from(page: $crate::relay::Page<$node>) -> Self {
                let edges = page.edges.into_iter().map(|(cursor, node)| $edge { cursor, node }).collect();
                Self { edges, page_info: page.page_info }
            }
        }
    };
}
