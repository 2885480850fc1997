//! `keyfold selftest`: a place for tables in, whether this release does there what it must out.
//!
//! [`goldens`] are operations with what they must lead to, [`histories`] are clients that write the same items at once.
//! `proof` runs both on the tables of `scratch`; `tap` sees every call, and `renamed_store`
//! gives tables their scratch names. `cost` says first what it takes, and `report` what came of it.

mod cost;
pub mod goldens;
pub mod histories;
mod proof;
mod renamed_store;
mod report;
mod scratch;
mod tap;

use super::output::{self, OutputFormat};
use super::server::signals::StopSignals;
use super::store_choice::Remote;
use crate::cli::goldens::bundle::Bundle;
use anyhow::{Context, Result, bail};
use clap::Args;
use cost::Cost;
use indicatif::{ProgressBar, ProgressStyle};
use proof::{ProofScope, Size};
use report::Report;
use scratch::{Scratch, ScratchPlace};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use tokio::time::Instant;

/// Prove this release on DynamoDB, on a compatible server, or in memory
///
/// It creates tables with names of their own, runs the golden operations of this release on them, and compares every
/// call and every response. Then several clients on two gateways write the same items at once while answers get lost,
/// and an order must explain what every client got. The tables are deleted at the end. Without --endpoint-url and
/// --region, everything is in memory. The exit code is 0 if nothing differs, and otherwise 1.
#[derive(Debug, Args)]
pub struct Selftest {
    #[command(flatten)]
    remote: Remote,

    /// What the names of the tables begin with; no table with such a name may exist [default: keyfold-selftest- and
    /// random letters]
    #[arg(long, value_name = "PREFIX", value_parser = scratch::prefix)]
    table_prefix: Option<String>,

    /// Only the golden operations of these systems
    #[arg(long, value_name = "SYSTEM", value_delimiter = ',')]
    only: Vec<String>,

    /// How many items clients write at once; 0 leaves this part out
    #[arg(long, value_name = "N", default_value_t = 20)]
    cases: u16,

    /// What random choices follow from [default: another each time, which is printed]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,

    /// Do not ask before tables are created that cost money
    #[arg(long)]
    yes: bool,

    /// Leave the tables there
    #[arg(long)]
    keep: bool,

    /// Form of the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
}

impl Selftest {
    /// Runs the command.
    pub async fn run(self) -> Result<ExitCode> {
        let bundle = Bundle::embedded()?;
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..1_000_000));
        let scope = ProofScope { only: self.only.clone(), histories: self.cases.into(), seed };
        let size = proof::size(&bundle, &scope)?;
        let prefix = self.table_prefix.clone().unwrap_or_else(scratch::any_prefix);
        let place =
            if self.remote.is_given() { ScratchPlace::Remote(self.remote.clone()) } else { ScratchPlace::Memory };
        let scratch = Scratch::new(&place, prefix).await?;
        let mut signals = StopSignals::new()?;
        let estimate = match place {
            ScratchPlace::Memory => None,
            ScratchPlace::Remote(_) => {
                proof::refuse_existing(&bundle, &scope, &scratch).await?;
                let estimate = tokio::select! {
                    estimate = rehearse(&bundle, &scope, size) => estimate?,
                    signal = signals.next() => bail!("stopped by {signal}; nothing was created"),
                };
                if !self.may_go_on(&mut signals).await? {
                    return Ok(ExitCode::FAILURE);
                }
                Some(estimate)
            }
        };
        let begun = Instant::now();
        let bar = bar(size.cases + scope.histories + scope.histories.div_ceil(2));
        let done = || bar.inc(1);
        let ran = tokio::select! {
            ran = proof::run(&bundle, &scope, &scratch, &done) => ran,
            signal = signals.next() => Err(anyhow::anyhow!("stopped by {signal}")),
        };
        let seconds = begun.elapsed().as_secs_f64();
        bar.finish_and_clear();
        let cleaned = match self.keep && estimate.is_some() {
            true => kept(&scratch),
            false => deleted(&scratch, &mut signals).await,
        };
        let result = match (ran, &cleaned) {
            (Ok(result), _) => result,
            (Err(error), cleaned) => {
                let left = cleaned.as_ref().err().map(|error| format!("\n  {error:#}")).unwrap_or_default();
                bail!("the proof did not come to its end (--seed {seed}): {error:#}{left}");
            }
        };
        let measured = Cost::measured(scratch.meter.usage());
        self.print(&Report { size, seed, seconds, estimate, measured, result: &result })?;
        cleaned?;
        Ok(if result.agrees() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Asks on a terminal; without one, `--yes` is the answer.
    async fn may_go_on(&self, signals: &mut StopSignals) -> Result<bool> {
        if self.yes {
            return Ok(true);
        }
        if !std::io::stdin().is_terminal() {
            bail!("nobody is there to ask whether to create tables that cost money\n  --yes goes on without asking");
        }
        eprint!("Go on? [y/N] ");
        std::io::stderr().flush()?;
        // A thread of its own: the runtime would not end before a task that waits for the answer.
        let (sender, read) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let _ = sender.send(std::io::stdin().read_line(&mut line).map(|_| line));
        });
        let line = tokio::select! {
            line = read => line.context("the thread that reads the answer has ended")??,
            signal = signals.next() => bail!("stopped by {signal}; nothing was created"),
        };
        Ok(matches!(line.trim(), "y" | "Y" | "yes"))
    }

    fn print(&self, report: &Report<'_>) -> Result<()> {
        match self.format {
            OutputFormat::Text => output::print(&report.to_text()),
            OutputFormat::Json => output::print(&format!("{:#}\n", report.to_json())),
        }
    }
}

/// Runs everything in memory, and says what it takes on DynamoDB.
async fn rehearse(bundle: &Bundle, scope: &ProofScope, size: Size) -> Result<Cost> {
    eprintln!("Rehearsing in memory to see what it takes …");
    let scratch = Scratch::new(&ScratchPlace::Memory, scratch::any_prefix()).await?;
    proof::run(bundle, scope, &scratch, &|| ()).await.context("the rehearsal in memory")?;
    let rehearsed = scratch.meter.usage();
    let estimate = Cost::estimated(rehearsed);
    let seconds = cost::seconds(rehearsed, size.tables, proof::GROUNDS_AT_ONCE);
    eprint!("{}", report::announcement(size, &estimate, seconds));
    Ok(estimate)
}

/// Says which tables are left.
fn kept(scratch: &Scratch) -> Result<()> {
    eprintln!("These tables stay: {}", scratch.left().join(", "));
    Ok(())
}

/// Deletes the tables; a second signal ends that.
async fn deleted(scratch: &Scratch, signals: &mut StopSignals) -> Result<()> {
    tokio::select! {
        deleted = scratch.delete() => deleted,
        signal = signals.next() => bail!("stopped by {signal}; delete these tables: {}", scratch.left().join(", ")),
    }
}

/// A progress bar on standard error, shown only if that is a terminal.
fn bar(total: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} cases, {eta} left");
    let bar = ProgressBar::new(total as u64);
    style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style))
}
