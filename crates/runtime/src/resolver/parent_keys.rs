//! Keys of parents as Rust values, read from the columns that the engine gathered, and the resolvers that take them.

use super::{BatchReply, Outcome, ParentType, Parents, Resolver, TypedResolver};
use crate::context::Context;
use crate::input::InputObject;
use std::sync::Arc;
use weir_engine::memory::Answer;
use weir_engine::rows::{Column, Data};

/// A Rust value of one or several key columns. [`keyed`] has an example.
pub trait KeyRow: Sized {
    /// The number of columns.
    const COLUMNS: usize;
    /// The key at `row`; `None` if it has another type.
    fn read(columns: &[Column], row: usize) -> Option<Self>;
}

/// The text at `row`.
fn text(columns: &[Column], row: usize) -> Option<&str> {
    match &columns.first()?.data {
        Data::Text(texts) | Data::Json(texts) => std::str::from_utf8(texts.find(row)?).ok(),
        _ => None,
    }
}

macro_rules! single {
    ($($rust:ty: |$columns:ident, $row:ident| $read:expr;)*) => { $(
        impl KeyRow for $rust {
            const COLUMNS: usize = 1;
            fn read($columns: &[Column], $row: usize) -> Option<Self> {
                $read
            }
        }
    )* };
}
single! {
    i64: |columns, row| match &columns.first()?.data {
        Data::Int(values) => values.get(row).copied(),
        _ => text(columns, row)?.parse().ok(),
    };
    i32: |columns, row| i32::try_from(i64::read(columns, row)?).ok();
    i16: |columns, row| i16::try_from(i64::read(columns, row)?).ok();
    u16: |columns, row| u16::try_from(i64::read(columns, row)?).ok();
    u32: |columns, row| u32::try_from(i64::read(columns, row)?).ok();
    u64: |columns, row| match &columns.first()?.data {
        Data::Int(values) => u64::try_from(*values.get(row)?).ok(),
        _ => text(columns, row)?.parse().ok(),
    };
    bool: |columns, row| match &columns.first()?.data {
        Data::Bool(values) => values.get(row).copied(),
        _ => None,
    };
    String: |columns, row| text(columns, row).map(str::to_owned);
    Arc<str>: |columns, row| text(columns, row).map(Arc::from);
}

macro_rules! several {
    ($($len:literal: $($name:ident $at:literal),*;)*) => { $(
        impl<$($name: KeyRow),*> KeyRow for ($($name,)*) {
            const COLUMNS: usize = $len;
            fn read(columns: &[Column], row: usize) -> Option<Self> {
                Some(($($name::read(columns.get($at..)?, row)?,)*))
            }
        }
    )* };
}
several! {
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
}

/// A resolver that is called once for all parents with the values of their fields `names`: for types of other sources, whose rows
/// are no objects, and for keys that many parents share.
///
/// ```
/// use weir_runtime::{Context, keyed};
/// let rating = keyed(["AlbumId"], |ids: &[i64], _: &(), _: &Context| vec![4.5; ids.len()]);
/// # let _ = rating;
/// ```
pub fn keyed<K, I, R, const N: usize>(
    names: [&str; N],
    resolve: impl Fn(&[K], &I, &Context) -> R + Send + Sync + 'static,
) -> TypedResolver<I, R::Item>
where
    K: KeyRow + 'static,
    I: InputObject + 'static,
    R: BatchReply,
{
    of_keys(names, move |keys: &[K], arguments: &I, context| {
        Outcome::Ready(resolve(keys, arguments, context).values())
    })
    .into()
}

/// Resolves like [`keyed`], with a future. [`keyed`] has an example.
pub fn async_keyed<K, I, R, T, const N: usize>(
    names: [&str; N],
    resolve: impl Fn(Vec<K>, &I, &Context) -> T + Send + Sync + 'static,
) -> TypedResolver<I, R::Item>
where
    K: KeyRow + Clone + 'static,
    I: InputObject + 'static,
    R: BatchReply,
    T: Future<Output = R> + Send + 'static,
{
    of_keys(names, move |keys: &[K], arguments: &I, context| {
        let reply = resolve(keys.to_vec(), arguments, context);
        Outcome::Later(Box::pin(async move { reply.await.values() }))
    })
    .into()
}

fn of_keys<K, I, A, const N: usize>(
    names: [&str; N],
    call: impl Fn(&[K], &I, &Context) -> Outcome<A> + Send + Sync + 'static,
) -> Resolver
where
    K: KeyRow + 'static,
    I: InputObject + 'static,
    A: Answer + Send + Sync + 'static,
{
    let read = move |parents: Parents<'_>, arguments: I, context: &Context| {
        let Parents::Keys(columns, rows) = parents else {
            return Outcome::Ready(Err(std::io::Error::other("there are no keys").into()));
        };
        match (0..rows).map(|row| K::read(columns, row)).collect::<Option<Vec<K>>>() {
            Some(keys) => call(&keys, &arguments, context),
            None => {
                let cause = format!("a key is no `{}`", std::any::type_name::<K>());
                Outcome::Ready(Err(std::io::Error::other(cause).into()))
            }
        }
    };
    let resolver = Resolver::from_call::<_, (), I, A>(ParentType::Keys(K::COLUMNS), None, read);
    Resolver { keys: Some(names.into_iter().map(Into::into).collect()), ..resolver }
}
