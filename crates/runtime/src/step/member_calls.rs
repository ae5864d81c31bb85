//! Calls of a step's resolvers: with objects of the step above, or with the number or the keys of the parents.
//!
//! **Cost:** the objects are found once for all members.

use super::{LibraryFetch, MemberCall, Memory, ParentForm, StepField, subscription_events};
use crate::context::Context;
use crate::resolve_error::internal;
use crate::resolver::answers::{Answers, Failed, refused_error};
use crate::resolver::object_guard::Guard;
use crate::resolver::parents::{Kept, ObjectParents, parent_numbers};
use crate::resolver::{Called, Parents, Step, StepArguments};
use std::any::Any;
use weir_engine::memory::RecordHost;
use weir_engine::rows::Column;
use weir_engine::source::FetchInput;

/// Calls of one member: one per batch of parents, with the rows of each batch.
pub(super) struct MemberCalls {
    pub(super) calls: Vec<Called>,
    /// Rows of the parents in the order they were seen; `None`: in their own order.
    pub(super) rows: Option<Vec<u32>>,
}

impl MemberCalls {
    fn one(called: Called) -> Self {
        Self { calls: vec![called], rows: None }
    }
}

/// A member whose resolver is called batch by batch.
struct BatchCaller<'r> {
    call: &'r MemberCall,
    arguments: StepArguments<'r>,
    context: Context,
    host: &'r dyn RecordHost,
    calls: Vec<Called>,
    /// Rows of the parents with which it was called.
    rows: Vec<u32>,
}

impl BatchCaller<'_> {
    /// Calls the resolver with the objects of `rows`, but for those that the guard refuses.
    fn call(&mut self, rows: &[u32], objects: &[&dyn Any]) {
        let Some(guard) = self.call.guard.as_deref() else {
            self.rows.extend_from_slice(rows);
            return self.call_allowed(objects);
        };
        let verdicts = guard(Parents::Objects(objects), &self.context).unwrap_or_default();
        let mut allowed = Vec::with_capacity(objects.len());
        for (at, (row, object)) in rows.iter().zip(objects).enumerate() {
            if verdicts.get(at) == Some(&true) {
                self.rows.push(*row);
                allowed.push(*object);
            }
        }
        if !allowed.is_empty() {
            self.call_allowed(&allowed);
        }
    }

    fn call_allowed(&mut self, objects: &[&dyn Any]) {
        let Self { arguments, context, host, .. } = &*self;
        let step = Step { parents: Parents::Objects(objects), arguments: *arguments, context, host: *host };
        let called = self.call.resolve.call(step);
        self.calls.push(called);
    }

    /// The calls, once `met` of `rows` parents were shown.
    fn finish(self, met: usize, rows: usize) -> MemberCalls {
        let failed = |error| {
            let answers: Box<dyn Answers> = Box::new(Failed { error, rows });
            MemberCalls::one(Called::Ready(answers))
        };
        if met != rows {
            return failed(internal());
        }
        if self.calls.is_empty() {
            return failed(refused_error());
        }
        let is_whole =
            self.rows.len() == rows && self.rows.iter().enumerate().all(|(at, row)| at == *row as usize);
        MemberCalls { calls: self.calls, rows: (!is_whole).then_some(self.rows) }
    }
}

impl LibraryFetch {
    /// Calls the resolvers of all members that have one.
    pub(super) fn call_members(&self, input: FetchInput<'_>, memory: &Memory) -> Vec<Option<MemberCalls>> {
        if let (ParentForm::Objects(parents), Some(keys)) = (&self.parents, input.parent_keys) {
            return self.call_with_objects(parents, keys, input, memory);
        }
        let call = |member: &StepField| Some(self.call(member, member.call.as_ref()?, input, memory));
        self.members.iter().map(call).collect()
    }

    /// Calls the resolvers with the objects of `keys`.
    fn call_with_objects(
        &self,
        parents: &ObjectParents,
        keys: &[Column],
        input: FetchInput<'_>,
        memory: &Memory,
    ) -> Vec<Option<MemberCalls>> {
        let callers = self.members.iter().map(|it| self.batch_caller(it, input, memory));
        let mut callers: Vec<Option<BatchCaller<'_>>> = callers.collect();
        let kept = input.objects.and_then(|it| it.parents).and_then(|it| it.get::<Kept>());
        let mut met = 0;
        if let (Some(kept), Some(wanted)) = (kept, parent_numbers(keys)) {
            parents.each(kept, input.output, wanted, &mut |rows, objects| {
                met += rows.len();
                callers.iter_mut().flatten().for_each(|it| it.call(rows, objects));
            });
        }
        let rows = keys.first().map_or(0, Column::len);
        callers.into_iter().map(|it| Some(it?.finish(met, rows))).collect()
    }

    fn batch_caller<'r>(
        &'r self,
        member: &'r StepField,
        input: FetchInput<'r>,
        memory: &Memory,
    ) -> Option<BatchCaller<'r>> {
        let call = member.call.as_ref()?;
        Some(BatchCaller {
            call,
            arguments: self.arguments(call, input),
            context: self.context(member, input, memory),
            host: &*self.library,
            calls: Vec::new(),
            rows: Vec::new(),
        })
    }

    /// Calls the resolver of `member`, whose parents are known by number or by key.
    fn call(
        &self,
        member: &StepField,
        called: &MemberCall,
        input: FetchInput<'_>,
        memory: &Memory,
    ) -> MemberCalls {
        let MemberCall { resolve, guard, .. } = called;
        if let Some(answers) = subscription_events::event(input, &**resolve) {
            return MemberCalls::one(Called::Ready(answers));
        }
        let rows = self.rows(input);
        let context = self.context(member, input, memory);
        if !allows(guard.as_deref(), rows, &context) {
            return MemberCalls::one(Called::Ready(Box::new(Failed { error: refused_error(), rows })));
        }
        let parents = match (&self.parents, input.parent_keys) {
            (ParentForm::Keys, Some(keys)) => Parents::Keys(keys, rows),
            (ParentForm::Root | ParentForm::Objects(_), _) | (ParentForm::Keys, None) => Parents::Units(rows),
        };
        let arguments = self.arguments(called, input);
        MemberCalls::one(resolve.call(Step { parents, arguments, context: &context, host: &*self.library }))
    }
}

/// True if the guard allows parents whose objects are not known.
pub(crate) fn allows(guard: Option<&Guard>, rows: usize, context: &Context) -> bool {
    let allowed = |it: &Guard| it(Parents::Units(rows), context);
    guard.is_none_or(|it| allowed(it).is_some_and(|it| it.into_iter().all(|it| it)))
}

/// True if every call is ready.
pub(super) fn ready(calls: &[Option<MemberCalls>]) -> bool {
    let is_ready = |it: &Called| matches!(it, Called::Ready(_));
    calls.iter().flatten().all(|it| it.calls.iter().all(is_ready))
}

/// The values of all calls in the order of the parents.
pub(super) fn join_answers(
    answers: Vec<Box<dyn Answers>>,
    rows: Option<Vec<u32>>,
    len: usize,
) -> Box<dyn Answers> {
    let all = answers.into_iter().reduce(|all, more| all.append(more));
    let mut all = all.unwrap_or_else(|| Box::new(Failed { error: internal(), rows: len }));
    if let Some(rows) = rows {
        let mut order = vec![u32::MAX; len];
        rows.iter().enumerate().for_each(|(at, row)| order[*row as usize] = at as u32);
        all.reorder(order);
    }
    all
}
