//! Plans by the form of the structural variables: which conditions, orders and columns a request has.
//!
//! **Cost:** a known form is a few comparisons under a lock that is never held while something is rendered.

use crate::relational::form::Form;
use std::sync::{Arc, Mutex, PoisonError};

/// Plans kept per fetch.
const FORMS_MAX: usize = 64;

/// See the module's words.
#[derive(Debug)]
pub(crate) struct Forms<P> {
    fixed: Option<Arc<P>>,
    /// The last used stand first.
    known: Mutex<Vec<(Form, Arc<P>)>>,
}

impl<P> Forms<P> {
    /// One plan for all requests.
    pub(crate) fn one(plan: P) -> Self {
        Self { fixed: Some(Arc::new(plan)), known: Mutex::default() }
    }

    /// One for each form.
    pub(crate) fn many() -> Self {
        Self { fixed: None, known: Mutex::default() }
    }

    /// The plan for all requests, if no variable can change it.
    pub(crate) fn fixed(&self) -> Option<&Arc<P>> {
        self.fixed.as_ref()
    }

    /// The plan for `form`, made by `make` if it is new.
    pub(crate) fn find<E>(&self, form: &Form, make: impl FnOnce() -> Result<P, E>) -> Result<Arc<P>, E> {
        if let Some(known) = self.known(form) {
            return Ok(known);
        }
        let plan = Arc::new(make()?);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= FORMS_MAX {
            known.pop();
        }
        known.insert(0, (form.clone(), Arc::clone(&plan)));
        Ok(plan)
    }

    fn known(&self, form: &Form) -> Option<Arc<P>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.iter().position(|it| it.0.key == form.key)?;
        known[..=at].rotate_right(1);
        Some(Arc::clone(&known[0].1))
    }
}
