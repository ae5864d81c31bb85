//! An allocator that counts what the current thread asks for: of the allocation tests of every crate.
//!
//! **Invariant:** every call goes to [`System`] unchanged; the count is a plain thread-local number without a destructor,
//! so counting never allocates.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: all three methods hand the caller's own arguments to `System`, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Number of allocations of `run` on this thread.
pub(crate) fn count<T>(run: impl FnOnce() -> T) -> (usize, T) {
    let before = COUNT.get();
    let value = run();
    (COUNT.get() - before, value)
}
