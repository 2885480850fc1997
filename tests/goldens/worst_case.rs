//! What an operation costs at most whatever its variables are is no less than what it costs at most with those of its
//! golden; and without variables, it is the same.

use crate::support::golden::cases;
use keyfold::execute::gateway::plan;
use keyfold::plan::operation::budget::OperationBudgets;
use keyfold::plan::operation::document::Document;
use keyfold::plan::worst_case::{WorstCase, worst_case};
use libtest_mimic::{Failed, Trial};
use std::collections::HashMap;

/// One test for all operations.
pub fn trials() -> Vec<Trial> {
    vec![Trial::test("worst_case::no_variables_of_a_golden_cost_more", no_variables_cost_more)]
}

fn no_variables_cost_more() -> Result<(), Failed> {
    let (mut models, mut trouble, mut compared) = (HashMap::new(), String::new(), [0, 0]);
    for case in cases() {
        let model = models.entry(case.system.clone()).or_insert_with(|| crate::support::model(&case.system));
        let request = case.request()?;
        let Ok((_, cost)) = plan(model, &request, &crate::support::settings()) else { continue };
        let document = Document::parse(&model.api, &request.query, &OperationBudgets::default());
        let document = document.map_err(|errors| format!("{case:?}: {errors:?}"))?;
        let operation = document.operation(None).map_err(|error| format!("{case:?}: {error:?}"))?;
        let worst = worst_case(model, &document, operation).map_err(|error| format!("{case:?}: {error:?}"))?;
        let with = WorstCase {
            calls: cost.calls,
            waves: cost.waves,
            read_units: cost.read_units,
            write_units: cost.write_units,
            objects: cost.objects,
            untried: worst.untried,
        };
        let has_variables = !operation.variables.is_empty();
        compared[usize::from(has_variables)] += 1;
        let is_less = worst.calls < with.calls
            || worst.waves < with.waves
            || worst.read_units < with.read_units
            || worst.write_units < with.write_units
            || worst.objects < with.objects;
        if is_less || (!has_variables && worst != with) {
            trouble += &format!("{}::{}: {worst:?}\n  with its variables {with:?}\n", case.system, case.name);
        }
    }
    let enough = compared[0] > 500 && compared[1] > 25;
    if trouble.is_empty() && enough { Ok(()) } else { Err(format!("{compared:?}\n{trouble}").into()) }
}
