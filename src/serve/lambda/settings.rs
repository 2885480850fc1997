//! The options of a Lambda function.

use clap::{ArgAction, Args};

/// How a Lambda function answers.
#[derive(Debug, Clone, Default, Args)]
pub struct LambdaSettings {
    /// As a Lambda function, stream the answers: for a function URL with the invoke mode RESPONSE_STREAM, or a REST API
    /// with the response transfer mode STREAM
    #[arg(long, env = "KEYFOLD_LAMBDA_STREAMING", value_name = "BOOL", num_args = 0..=1, require_equals = true,
          action = ArgAction::Set, default_value_t = false, default_missing_value = "true")]
    pub lambda_streaming: bool,
}
