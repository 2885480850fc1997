//! `keyfold health`: a running server asked whether it is live; the exit code says so. It is the health check of images
//! without a shell.

use crate::serve::outbound::probe::probe;
use anyhow::{Context, Result};
use clap::Args;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

/// The port of a server whose settings have none.
const USUAL_PORT: u16 = 4000;

/// Ask a running server whether it is live; the exit code is 0 if it is
#[derive(Debug, Args)]
pub struct Health {
    /// Address of the server [default: this machine at the port of --listen, which is 4000 unless it is set]
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Address that the server listens on
    #[arg(long, env = "KEYFOLD_LISTEN", value_name = "ADDRESS", conflicts_with = "url")]
    listen: Option<String>,

    /// Ask whether its tables can be used, too
    #[arg(long)]
    ready: bool,
}

impl Health {
    /// Runs the command.
    pub async fn run(self) -> Result<ExitCode> {
        let url = self.url.unwrap_or_else(|| url_of(self.listen.as_deref()));
        let path = if self.ready { "ready" } else { "live" };
        let probed = probe(&format!("{}/health/{path}", url.trim_end_matches('/'))).await;
        let (status, text) =
            probed.context("no server answers: start one with `keyfold dev`, or name another by --url")?;
        println!("{} {}", status.as_u16(), text.trim());
        Ok(if status.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// The URL of a server that listens on this address. One that listens on all addresses is asked on this machine.
fn url_of(listen: Option<&str>) -> String {
    match listen.map(str::parse::<SocketAddr>) {
        Some(Ok(address)) if address.ip().is_unspecified() => {
            format!("http://{}:{}", Ipv4Addr::LOCALHOST, address.port())
        }
        Some(Ok(address)) => format!("http://{address}"),
        Some(Err(_)) => format!("http://{}", listen.unwrap_or_default()),
        None => format!("http://{}:{USUAL_PORT}", Ipv4Addr::LOCALHOST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_asked_where_it_listens() {
        for (listen, url) in [
            (None, "http://127.0.0.1:4000"),
            (Some("0.0.0.0:8080"), "http://127.0.0.1:8080"),
            (Some("[::]:8080"), "http://127.0.0.1:8080"),
            (Some("10.0.0.1:80"), "http://10.0.0.1:80"),
            (Some("localhost:4100"), "http://localhost:4100"),
        ] {
            assert_eq!(url_of(listen), url);
        }
    }
}
