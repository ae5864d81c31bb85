//! A source of Rust values: for programs that embed the engine, for tests and for benchmarks.
//!
//! Resolvers stand at root fields and give whole values: structs named by [`record!`](crate::record!), lists of them,
//! or [`Value`] trees. What is selected of a value is written by code made for its type, one dynamic call per root
//! field. For child nodes of other sources the same values become columns.
//!
//! ```
//! use weir_engine::{memory::Memory, record};
//! # use weir_language::schema::build::SchemaBuilder;
//! struct User { id: i32, name: String }
//! record!(User { id, name });
//! # let mut b = SchemaBuilder::new();
//! # let query = b.object("Query", "");
//! # let users = b.type_ref("[User!]!");
//! # b.field("users", "", users);
//! # b.query(query);
//! # b.object("User", "");
//! # let (int, text) = (b.type_ref("Int!"), b.type_ref("String!"));
//! # b.field("id", "", int);
//! # b.field("name", "", text);
//! # let schema = b.build().unwrap();
//! let source = Memory::new("users", schema.into())
//!     .field("users", |_| vec![User { id: 1, name: "Ada".into() }]);
//! # let _ = source;
//! ```
//!
//! **Invariant:** whether a value's type fits the schema is checked while planning; a mismatch is refused there.
//!
//! **Cost:** 5 to 10 ns per field, nothing allocated per field or row.

mod binder;
mod host;
mod resolver_call;
mod rust_answer;
mod rust_record;
mod spot;
mod value_tree;
mod wide;

pub use binder::{Binder, Bindings, Scope, Unbound};
pub use host::{AnswerError, ObjectNumbers, ObjectVisitor, ProgramError, RecordHost};
pub use resolver_call::Call;
pub use rust_answer::{Answer, ItemObject, RawJson, Writer};
pub use rust_record::{LeafOf, Record};
#[doc(hidden)]
pub use rust_record::{
    bind_by, bind_by_value, bind_record, bind_variant, join_names, merge_variants, never, record_column,
    write_records,
};
pub use spot::Spot;
pub use value_tree::{Object, Value};

use crate::answer::field_error::{FieldError, PlanError, SourceError};
use crate::answer::output_plan::OutputField;
use crate::answer::rows::{Column, Rows};
use crate::answer::size_hint::SizeHint;
use crate::answer::write::out::Out;
use crate::caching::tag_versions::Tag;
use crate::source::{
    BoxFuture, ExplainInput, FetchBody, FetchInput, FetchResult, Finished, Ids, PlanNode, PreparedFetch,
    Source,
};
use std::marker::PhantomData;
use std::sync::Arc;
use weir_language::schema::Schema;

/// The source. Root fields without a resolver are null.
pub struct Memory {
    name: String,
    schema: Arc<Schema>,
    fields: Vec<(String, Arc<dyn Resolver>)>,
    always_rows: bool,
}

impl Memory {
    /// A source called `name` for the graph `schema`.
    pub fn new(name: &str, schema: Arc<Schema>) -> Self {
        Self { name: name.into(), schema, fields: Vec::new(), always_rows: false }
    }

    /// Answers the root field `name`: `resolve` is called once per response, or once per parent's key where the
    /// field hangs below another source.
    #[must_use]
    pub fn field<A: Answer + 'static>(
        self,
        name: &str,
        resolve: impl Fn(&Call<'_>) -> A + Send + Sync + 'static,
    ) -> Self {
        self.field_many(name, move |calls| calls.iter().map(&resolve).collect())
    }

    /// Answers a root field like [`Memory::field`], with one call for all keys of the parents: one value per call, in order.
    #[must_use]
    pub fn field_many<A: Answer + 'static>(
        mut self,
        name: &str,
        resolve: impl Fn(&[Call<'_>]) -> Vec<A> + Send + Sync + 'static,
    ) -> Self {
        self.fields.push((name.into(), Arc::new(Resolved { resolve, gives: PhantomData::<fn() -> A> })));
        self
    }

    /// Answers in typed rows even where it could write the response itself.
    #[must_use]
    pub fn always_rows(mut self) -> Self {
        self.always_rows = true;
        self
    }
}

/// A resolver with the type it gives forgotten.
trait Resolver: Send + Sync {
    fn bind(&self, binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound>;
    fn write(&self, call: Call<'_>, field: u32, writer: &mut Writer<'_>) -> bool;
    fn column(&self, calls: &[Call<'_>], spot: Spot<'_>, scope: Scope<'_>) -> Result<Column, SourceError>;
}

struct Resolved<F, A> {
    resolve: F,
    gives: PhantomData<fn() -> A>,
}

impl<A: Answer, F: Fn(&[Call<'_>]) -> Vec<A> + Send + Sync> Resolver for Resolved<F, A> {
    fn bind(&self, binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
        A::bind(binder, spot)
    }
    fn write(&self, call: Call<'_>, field: u32, writer: &mut Writer<'_>) -> bool {
        match (self.resolve)(&[call]).first() {
            Some(value) => value.write_member(field, call.output_field, writer),
            None => Value::Null.write_member(field, call.output_field, writer),
        }
    }
    fn column(&self, calls: &[Call<'_>], spot: Spot<'_>, scope: Scope<'_>) -> Result<Column, SourceError> {
        let values = (self.resolve)(calls);
        if values.len() != calls.len() {
            let said = format!("{} values for {} keys", values.len(), calls.len());
            return Err(SourceError::Broken(said.into()));
        }
        let values: Vec<Option<&A>> = values.iter().map(Some).collect();
        Ok(A::column(&values, spot, scope))
    }
}

impl Source for Memory {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        let bindings = Bindings::new(&self.schema, node.ids, node.output, None);
        let mut binder = Binder::new(node.output, bindings);
        let mut members = Vec::with_capacity(node.fields.len());
        for &field in node.fields {
            let output_field = &node.output.fields[field as usize];
            let name = self.schema.field_name(node.ids.field(output_field.field));
            let found = self.fields.iter().find(|it| it.0 == name).map(|it| Arc::clone(&it.1));
            let resolver = found.unwrap_or_else(|| {
                Arc::new(Resolved {
                    resolve: |calls: &[Call<'_>]| vec![Value::Null; calls.len()],
                    gives: PhantomData,
                })
            });
            let spot = Spot { field, output_field, ty: output_field.ty };
            resolver.bind(&mut binder, spot).map_err(unfit)?;
            members.push((field, resolver));
        }
        let as_rows = self.always_rows || node.answer.is_rows() || node.parent_keys.is_some();
        Ok(Box::new(MemoryFetch {
            bindings: binder.finish().map_err(|unbound| unfit(unbound[0].clone()))?,
            ids: Arc::clone(node.ids),
            schema: Arc::clone(&self.schema),
            members,
            as_rows,
            size: SizeHint::default(),
        }))
    }
}

/// A value whose type does not fit the schema.
fn unfit(unbound: Unbound) -> PlanError {
    let message = unbound.message.into();
    let error = FieldError { code: "INTERNAL", message, hasura_path: None, extensions: None };
    PlanError { error, field: unbound.field }
}

/// A node, bound.
struct MemoryFetch {
    bindings: Bindings,
    ids: Arc<Ids>,
    schema: Arc<Schema>,
    members: Vec<(u32, Arc<dyn Resolver>)>,
    as_rows: bool,
    size: SizeHint,
}

impl MemoryFetch {
    fn call<'r>(&'r self, input: FetchInput<'r>, output_field: &'r OutputField, row: usize) -> Call<'r> {
        Call { input, output_field, schema: &self.schema, ids: &self.ids, row }
    }

    /// The response's bytes, written straight from the values.
    fn finish(&self, input: FetchInput<'_>) -> FetchResult {
        let mut out = Out::new(Vec::with_capacity(self.size.room(64)));
        let mut errors = Vec::new();
        let mut ends = Vec::with_capacity(self.members.len());
        let mut failed = false;
        for (field, resolver) in &self.members {
            let output_field = &input.output.fields[*field as usize];
            let mark = out.len();
            let before = errors.len();
            let mut writer = Writer {
                schema: &self.schema,
                output: input.output,
                bindings: &self.bindings,
                out: &mut out,
                errors: &mut errors,
            };
            failed = !resolver.write(self.call(input, output_field, 0), *field, &mut writer);
            if failed {
                out.truncate(mark);
            }
            for error in &mut errors[before..] {
                error.path.reverse();
            }
            ends.push(out.len() as u32);
            if failed {
                break;
            }
        }
        let body = Finished { bytes: self.size.record_size(out.into_bytes(), 0), ends, failed, rest: None };
        FetchResult { body: FetchBody::Finished(body), errors, cache_control: None }
    }

    /// One row at the root, one per key below.
    fn rows(&self, input: FetchInput<'_>) -> Result<FetchResult, SourceError> {
        let rows = input.parent_keys.map_or(1, key_rows);
        let scope = Scope::new(input.output, &self.bindings);
        let columns = self.members.iter().map(|(field, resolver)| {
            let output_field = &input.output.fields[*field as usize];
            let calls: Vec<Call<'_>> = (0..rows).map(|row| self.call(input, output_field, row)).collect();
            resolver.column(&calls, Spot { field: *field, output_field, ty: output_field.ty }, scope)
        });
        let columns = columns.collect::<Result<_, _>>()?;
        let body = Rows { rows: rows as u32, columns, hidden: Vec::new() };
        Ok(FetchResult { body: FetchBody::Rows(body), errors: Vec::new(), cache_control: None })
    }
}

/// The number of keys.
fn key_rows(keys: &[Column]) -> usize {
    keys.first().map_or(0, Column::len)
}

impl PreparedFetch for MemoryFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        let reply = if self.as_rows { self.rows(input) } else { Ok(self.finish(input)) };
        Box::pin(std::future::ready(reply))
    }

    fn touches(&self) -> &[Tag] {
        &[]
    }

    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        out.push_str("values in memory");
    }
}
