//! Goldens and histories in; what differs on a place's scratch tables out. It makes the same calls wherever it runs.

use super::goldens::case_run::Stage;
use super::goldens::comparison::Difference;
use super::goldens::systems::{Ground, grounds, model};
use super::histories::clients::{self, Clients, HistoryResult};
use super::scratch::Scratch;
use crate::cli::goldens::bundle::Bundle;
use crate::plan::passes::Passes;
use anyhow::Result;
use futures_util::stream::{self, StreamExt};
use serde::Serialize;

/// Grounds that run at the same time.
pub const GROUNDS_AT_ONCE: usize = 4;
/// Queries that run once more for each history: by plans without some of their savings.
const QUERIES_A_HISTORY: usize = 5;

/// What is proved.
#[derive(Debug, Clone)]
pub struct ProofScope {
    /// The systems; none are all.
    pub only: Vec<String>,
    /// The histories.
    pub histories: usize,
    /// What random choices follow from.
    pub seed: u64,
}

/// How much there is to do.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Size {
    /// Tables.
    pub tables: usize,
    /// Items that are loaded into them.
    pub items: usize,
    /// Golden operations.
    pub cases: usize,
}

/// What came of a proof.
#[derive(Debug, Default, Serialize)]
pub struct ProofResult {
    /// Golden operations that ran.
    pub cases: usize,
    /// Queries that ran again by plans without some of their savings.
    pub queries: usize,
    /// Sections that are not the golden's.
    pub differences: Vec<Difference>,
    /// Cases that agreed with their golden when they ran once more: a read that need not be consistent was behind.
    pub repeated: Vec<String>,
    /// What the histories show.
    pub histories: HistoryResult,
}

impl ProofResult {
    /// Whether nothing differs.
    pub fn agrees(&self) -> bool {
        self.differences.is_empty() && self.histories.unexplained.is_empty()
    }

    /// The cases that differ.
    pub fn differing_cases(&self) -> usize {
        let mut cases: Vec<&str> = self.differences.iter().map(|difference| difference.case.as_str()).collect();
        cases.sort_unstable();
        cases.dedup();
        cases.len()
    }
}

/// How much a scope has.
pub fn size(bundle: &Bundle, scope: &ProofScope) -> Result<Size> {
    let grounds = grounds(bundle, &scope.only)?;
    let tables = grounds.iter().map(|ground| ground.model.tables.len()).sum::<usize>();
    let of_histories = if scope.histories > 0 { model(bundle, clients::SCHEMA)?.tables.len() } else { 0 };
    Ok(Size {
        tables: tables + of_histories,
        items: grounds.iter().map(Ground::items_in_all).sum(),
        cases: grounds.iter().map(|ground| ground.cases.len()).sum(),
    })
}

/// Fails if a table that the proof would create exists.
pub async fn refuse_existing(bundle: &Bundle, scope: &ProofScope, scratch: &Scratch) -> Result<()> {
    for mut ground in grounds(bundle, &scope.only)? {
        scratch.rename(&ground.name, &mut ground.model.tables);
        scratch.refuse_existing(&ground.model.tables).await?;
    }
    if scope.histories > 0 {
        let mut model = model(bundle, clients::SCHEMA)?;
        scratch.rename(clients::GROUND, &mut model.tables);
        scratch.refuse_existing(&model.tables).await?;
    }
    Ok(())
}

/// Runs the proof. `done` is called after each case and each history. The tables are left.
pub async fn run(
    bundle: &Bundle,
    scope: &ProofScope,
    scratch: &Scratch,
    done: &(dyn Fn() + Sync),
) -> Result<ProofResult> {
    let mut result = ProofResult::default();
    let grounds = grounds(bundle, &scope.only)?;
    let queries = (scope.histories * QUERIES_A_HISTORY).div_ceil(grounds.len().max(1));
    let proved = grounds.into_iter().map(|ground| prove(ground, (scope.seed, queries), scratch, done));
    let mut proved = stream::iter(proved).buffer_unordered(GROUNDS_AT_ONCE);
    while let Some(of_ground) = proved.next().await {
        let ProofResult { cases, queries, differences, repeated, histories: _ } = of_ground?;
        result.cases += cases;
        result.queries += queries;
        result.differences.extend(differences);
        result.repeated.extend(repeated);
    }
    // Grounds end in any order.
    result.differences.sort_by(|a, b| a.case.cmp(&b.case));
    result.repeated.sort();
    if scope.histories > 0 {
        let clients = Clients::set_up(model(bundle, clients::SCHEMA)?, scratch, scope.seed).await?;
        result.histories = clients.run(scope.histories, done).await?;
    }
    Ok(result)
}

/// The golden operations of a ground, and some of its queries by other plans.
async fn prove(
    ground: Ground,
    (seed, queries): (u64, usize),
    scratch: &Scratch,
    done: &(dyn Fn() + Sync),
) -> Result<ProofResult> {
    let stage = Stage::set_up(ground, scratch).await?;
    let mut result = ProofResult { cases: stage.cases.len(), ..ProofResult::default() };
    for case in &stage.cases {
        let of_case = stage.check(case).await?;
        if of_case.differences.is_empty() && of_case.repetitions > 0 {
            result.repeated.push(case.full_name());
        }
        result.differences.extend(of_case.differences);
        done();
    }
    let mut rng = fastrand::Rng::with_seed(seed);
    let readable: Vec<_> = stage.cases.iter().filter(|case| Stage::is_query(case)).collect();
    for case in rng.choose_multiple(&readable, queries) {
        let (early_waves, shared_queries, projection) = (rng.bool(), rng.bool(), rng.bool());
        let passes = Passes { early_waves, shared_queries, projection, known_items: rng.bool() };
        result.differences.extend(stage.check_passes(case, passes).await?);
        result.queries += 1;
    }
    Ok(result)
}
