//! Notes of sources about the answer to one request, beside its bytes: cookies for the client, how handlers refused, and whether the
//! answer can change any more.
//!
//! **Cost:** a request without notes takes one lock when its answer leaves, and no memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of cookies of one answer.
const COOKIES_MAX: usize = 100;

/// Maximum number of refusals that are noted; they are looked up by their messages.
const REFUSALS_MAX: usize = 100;

/// Notes of one request.
#[derive(Debug, Default)]
pub struct AnswerNotes(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    cookies: Vec<Box<[u8]>>,
    refusals: Vec<HandlerRefusal>,
    is_final: bool,
}

/// A field that the handler of its service refused, for endpoints that answer with a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerRefusal {
    /// Message of the field's error.
    pub message: Box<str>,
    /// Status of the handler's answer, 400 to 499.
    pub status: u16,
    /// Code in the handler's answer.
    pub code: Option<Box<str>>,
    /// JSON that the handler gave as `extensions`.
    pub extensions: Option<Box<str>>,
}

impl AnswerNotes {
    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the value of a `Set-Cookie` header. Values beyond `COOKIES_MAX` are dropped.
    pub fn add_cookie(&self, value: &[u8]) {
        let mut noted = self.lock();
        if noted.cookies.len() < COOKIES_MAX {
            noted.cookies.push(value.into());
        }
    }

    /// Takes all values of `Set-Cookie` headers.
    pub fn take_cookies(&self) -> Vec<Box<[u8]>> {
        std::mem::take(&mut self.lock().cookies)
    }

    /// Adds a refusal. Those beyond `REFUSALS_MAX` are dropped.
    pub fn add_refusal(&self, refusal: HandlerRefusal) {
        let mut noted = self.lock();
        if noted.refusals.len() < REFUSALS_MAX {
            noted.refusals.push(refusal);
        }
    }

    /// Notes that what the root fields of the source show never changes any more: a subscription ends with it.
    pub fn set_final(&self) {
        self.lock().is_final = true;
    }

    /// True after [`Self::set_final`].
    pub fn is_final(&self) -> bool {
        self.lock().is_final
    }

    /// The first refusal with this message.
    pub fn find_refusal(&self, message: &str) -> Option<HandlerRefusal> {
        self.lock().refusals.iter().find(|it| &*it.message == message).cloned()
    }
}
