//! Plans by the form of the structural variables: which conditions, orders and columns a request has.
//!
//! A form with many words makes a plan that takes long: it is planned away from the event loop ([`Forms::is_costly`]).
//!
//! **Invariant:** at most [`FORMS_MAX`] forms are kept, of at most [`WORDS_MAX`] words together but for the last one.
//!
//! **Cost:** a known form is a few comparisons under a lock that is never held while something is rendered.

use crate::frontend::form::Form;
use std::sync::{Arc, Mutex, PoisonError};
use weir_engine::source::{BoxFuture, SourceError};

/// Plans kept per fetch.
const FORMS_MAX: usize = 64;

/// Words of the forms of the plans kept per fetch: a plan takes some hundred bytes for each.
const WORDS_MAX: usize = 64 << 10;

/// Variables of fewer nodes have no form that is costly.
pub(crate) const CHEAP_NODES_MAX: usize = 500;

/// A plan of a form with more words, some hundreds of comparisons or rows, takes milliseconds to make.
const COSTLY_WORDS: usize = 1 << 10;

/// Ends when a plan is made.
pub(crate) type Planning = BoxFuture<'static, Result<(), SourceError>>;

/// Plans of one fetch by the form of its structural variables.
#[derive(Debug)]
pub(crate) struct Forms<P> {
    fixed: Option<Arc<P>>,
    /// The last used stand first.
    known: Mutex<Vec<(Form, Arc<P>)>>,
}

impl<P> Forms<P> {
    /// A single plan for all requests.
    pub(crate) fn one(plan: P) -> Self {
        Self { fixed: Some(Arc::new(plan)), known: Mutex::default() }
    }

    /// A plan per form.
    pub(crate) fn many() -> Self {
        Self { fixed: None, known: Mutex::default() }
    }

    /// The plan for all requests, if no variable can change it.
    pub(crate) fn fixed_plan(&self) -> Option<&Arc<P>> {
        self.fixed.as_ref()
    }

    /// True if the plan for `form` is missing and expensive.
    pub(crate) fn is_costly(&self, form: &Form) -> bool {
        form.key.len() > COSTLY_WORDS && self.find_known(form).is_none()
    }

    /// The plan for `form`, made by `make` if it is new.
    pub(crate) fn find<E>(&self, form: &Form, make: impl FnOnce() -> Result<P, E>) -> Result<Arc<P>, E> {
        if let Some(known) = self.find_known(form) {
            return Ok(known);
        }
        let plan = Arc::new(make()?);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(0, (form.clone(), Arc::clone(&plan)));
        known.truncate(FORMS_MAX);
        let mut words = 0;
        let kept = known.iter().take_while(|it| {
            words += it.0.key.len();
            words <= WORDS_MAX
        });
        let kept = kept.count().max(1);
        known.truncate(kept);
        Ok(plan)
    }

    fn find_known(&self, form: &Form) -> Option<Arc<P>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.iter().position(|it| it.0.key == form.key)?;
        known[..=at].rotate_right(1);
        Some(Arc::clone(&known[0].1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(number: u32, words: usize) -> Form {
        let mut form = Form::default();
        form.key.extend(std::iter::repeat_n(number, words));
        form
    }

    #[test]
    fn plans_are_kept_up_to_a_number_and_a_size() {
        let forms = Forms::many();
        let find = |it: &Form| *forms.find(it, || Ok::<_, ()>(it.key[0])).unwrap();
        (0..100).for_each(|it| assert_eq!(find(&form(it, 10)), it));
        assert!(forms.find_known(&form(99, 10)).is_some() && forms.find_known(&form(35, 10)).is_none());
        assert_eq!(find(&form(200, WORDS_MAX)), 200);
        assert!(
            forms.find_known(&form(200, WORDS_MAX)).is_some() && forms.find_known(&form(99, 10)).is_none()
        );
        assert_eq!(find(&form(201, WORDS_MAX + 1)), 201);
        assert!(forms.find_known(&form(201, WORDS_MAX + 1)).is_some());
    }

    #[test]
    fn a_long_form_is_costly_until_it_is_known() {
        let forms = Forms::many();
        let short = form(1, COSTLY_WORDS);
        let long = form(2, COSTLY_WORDS + 1);
        assert_eq!([&short, &long].map(|it| forms.is_costly(it)), [false, true]);
        assert!(forms.find(&long, || Ok::<_, ()>(())).is_ok());
        assert!(!forms.is_costly(&long));
    }
}
