//! The `keyfold` command: arguments in, an exit code out. 0 is success, 1 an error, 2 wrong usage.

#![forbid(unsafe_code)]

use keyfold::cli::{Cli, is_closed_pipe};
use std::process::ExitCode;

/// Static binaries have musl, whose own allocator has one lock for all threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let (command, file) = match Cli::read() {
        Ok(read) => read,
        Err(error) => {
            eprintln!("error: {error:#}");
            return ExitCode::from(2);
        }
    };
    match command.run(&file).await {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
