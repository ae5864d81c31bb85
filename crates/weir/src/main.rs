//! The `weir` command.

use std::process::ExitCode;

/// Measured on small answers from many threads: fewer page faults than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    weir::cli::main()
}
