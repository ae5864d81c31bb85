//! The `weir` command.

use std::process::ExitCode;

/// The measurement: with many threads and small answers this allocator has fewer page faults than the system's. Huge pages are off: they
/// doubled idle memory (59 against 31 MB on 300 tables) and made no request cheaper.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    weir::cli::main()
}
