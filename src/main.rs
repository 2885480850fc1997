//! The `keyfold` command: arguments in, an exit code out. 0 is success, 1 an error, 2 wrong usage.

use keyfold::cli::{Cli, is_closed_pipe};
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    match Cli::of_process().run().await {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
