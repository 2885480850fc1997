//! The `keyfold` command: arguments in, exit code out (0, 1 for an error, 2 for a mistake of usage).

use clap::Parser;
use keyfold::cli::{Cli, is_closed_pipe};
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    match Cli::parse().run().await {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
