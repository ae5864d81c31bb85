//! Synchronous resolvers of single fields: closures over one object, which may borrow from it.
//!
//! Values go straight from the object to the response or to a column.
//!
//! **Cost:** one dynamic call per field, nothing allocated.

use std::any::{Any, TypeId as RustType};
use std::sync::Arc;
use weir_engine::memory::{Answer, Binder, LeafOf, Scope, Spot, Unbound, Writer};
use weir_engine::plan::output_plan::OutputField;
use weir_engine::rows::Column;

/// A resolver of one field on objects of one Rust type, without the type of its values. [`leaf()`] has an example.
pub struct Leaf {
    /// The objects' Rust type.
    pub(crate) record: RustType,
    pub(crate) record_name: &'static str,
    /// An `Arc<dyn LeafOf<R>>`.
    pub(crate) resolve: Box<dyn Any + Send + Sync>,
}

/// A leaf with the type of its values, of which [`crate::SchemaBuilder::field`] makes the field's SDL. [`leaf()`] has an example.
pub struct TypedLeaf<A: ?Sized> {
    pub(crate) leaf: Leaf,
    gives: std::marker::PhantomData<fn() -> Box<A>>,
}

impl<A: ?Sized> From<Leaf> for TypedLeaf<A> {
    fn from(leaf: Leaf) -> Self {
        Self { leaf, gives: std::marker::PhantomData }
    }
}

impl Leaf {
    fn new<P: 'static>(resolve: Arc<dyn LeafOf<P>>) -> Self {
        Self {
            record: RustType::of::<P>(),
            record_name: std::any::type_name::<P>(),
            resolve: Box::new(resolve),
        }
    }
}

/// A value that is made for the field: a number, an `Option`, a text that is put together.
///
/// ```
/// use weir_runtime::leaf;
/// struct User { first: String, last: String }
/// let name = leaf(|user: &User| format!("{} {}", user.first, user.last));
/// # let _ = name;
/// ```
pub fn leaf<P: 'static, A: Answer + 'static>(get: impl Fn(&P) -> A + Send + Sync + 'static) -> TypedLeaf<A> {
    Leaf::new(Arc::new(Owned { get, gives: std::marker::PhantomData::<fn() -> A> })).into()
}

/// A value that is borrowed from the object.
///
/// ```
/// use weir_runtime::leaf_ref;
/// struct User { mail: String }
/// let mail = leaf_ref(|user: &User| user.mail.as_str());
/// # let _ = mail;
/// ```
pub fn leaf_ref<P: 'static, A: Answer + ?Sized + 'static>(
    get: impl for<'p> Fn(&'p P) -> &'p A + Send + Sync + 'static,
) -> TypedLeaf<A> {
    Leaf::new(Arc::new(Borrowed { get, gives: std::marker::PhantomData::<fn() -> Box<A>> })).into()
}

/// A value that is borrowed from the object, or null.
///
/// ```
/// use weir_runtime::leaf_option_ref;
/// struct User { nick: Option<String> }
/// let nick = leaf_option_ref(|user: &User| user.nick.as_deref());
/// # let _ = nick;
/// ```
pub fn leaf_option_ref<P: 'static, A: Answer + ?Sized + 'static>(
    get: impl for<'p> Fn(&'p P) -> Option<&'p A> + Send + Sync + 'static,
) -> TypedLeaf<Option<Box<A>>> {
    Leaf::new(Arc::new(Optional { get, gives: std::marker::PhantomData::<fn() -> Box<A>> })).into()
}

struct Owned<F, A> {
    get: F,
    gives: std::marker::PhantomData<fn() -> A>,
}

impl<P, A: Answer, F: Fn(&P) -> A + Send + Sync> LeafOf<P> for Owned<F, A> {
    fn bind(&self, binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
        A::bind(binder, spot)
    }
    fn write(&self, record: &P, field: u32, output_field: &OutputField, writer: &mut Writer<'_>) -> bool {
        (self.get)(record).write_member(field, output_field, writer)
    }
    fn column(&self, records: &[Option<&P>], spot: Spot<'_>, scope: Scope<'_>) -> Column {
        let values: Vec<Option<A>> = records.iter().map(|it| it.map(&self.get)).collect();
        let values: Vec<Option<&A>> = values.iter().map(Option::as_ref).collect();
        A::column(&values, spot, scope)
    }
}

struct Borrowed<F, A: ?Sized> {
    get: F,
    gives: std::marker::PhantomData<fn() -> Box<A>>,
}

impl<P, A: Answer + ?Sized, F: for<'p> Fn(&'p P) -> &'p A + Send + Sync> LeafOf<P> for Borrowed<F, A> {
    fn bind(&self, binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
        A::bind(binder, spot)
    }
    fn write(&self, record: &P, field: u32, output_field: &OutputField, writer: &mut Writer<'_>) -> bool {
        (self.get)(record).write_member(field, output_field, writer)
    }
    fn column(&self, records: &[Option<&P>], spot: Spot<'_>, scope: Scope<'_>) -> Column {
        let values: Vec<Option<&A>> = records.iter().map(|it| it.map(|record| (self.get)(record))).collect();
        A::column(&values, spot, scope)
    }
}

struct Optional<F, A: ?Sized> {
    get: F,
    gives: std::marker::PhantomData<fn() -> Box<A>>,
}

impl<P, A, F> LeafOf<P> for Optional<F, A>
where
    A: Answer + ?Sized,
    F: for<'p> Fn(&'p P) -> Option<&'p A> + Send + Sync,
{
    fn bind(&self, binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
        A::bind(binder, spot)
    }
    fn write(&self, record: &P, field: u32, output_field: &OutputField, writer: &mut Writer<'_>) -> bool {
        (self.get)(record).write_member(field, output_field, writer)
    }
    fn column(&self, records: &[Option<&P>], spot: Spot<'_>, scope: Scope<'_>) -> Column {
        let values: Vec<Option<&A>> =
            records.iter().map(|it| it.and_then(|record| (self.get)(record))).collect();
        A::column(&values, spot, scope)
    }
}
