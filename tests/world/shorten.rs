//! A world in which something is wrong → one with as few steps as can be in which something still is.

use crate::run::{Ran, World};

/// The most runs of a search.
const MAX_RUNS: usize = 400;

/// Leaves out steps as long as something stays wrong: first halves, then quarters, … (Zeller, "Simplifying and
/// isolating failure-inducing input", 2002).
pub fn shorten(world: World) -> (World, Ran) {
    let (mut best, mut ran) = (world.clone(), world.run());
    let (mut runs, mut parts) = (1, 2);
    while runs < MAX_RUNS && best.steps.len() > 1 {
        let length = best.steps.len().div_ceil(parts);
        let shorter = (0..best.steps.len()).step_by(length).find_map(|from| {
            let to = (from + length).min(best.steps.len());
            let steps = [&best.steps[..from], &best.steps[to..]].concat();
            let shorter = World { steps, ..best.clone() };
            runs += 1;
            let ran = shorter.run();
            (!ran.wrong.is_empty()).then_some((shorter, ran))
        });
        match shorter {
            Some(found) => {
                (best, ran) = found;
                parts = 2.max(parts - 1);
            }
            None if length == 1 => break,
            None => parts = (parts * 2).min(best.steps.len()),
        }
    }
    (best, ran)
}

/// A failure as it is printed: the seed, what is wrong, the shortened history, and the schedule.
pub fn report(world: World) -> String {
    let seed = world.seed;
    let (shortest, ran) = shorten(world);
    format!(
        "seed {seed} (cargo test --test world -- --seed {seed}), {:?}\n{}\n\nThe history, with {} steps:\n{}\n\nThe schedule:\n{}\n",
        shortest.weather,
        ran.wrong.join("\n"),
        shortest.steps.len(),
        ran.history.join("\n"),
        ran.schedule.join("\n"),
    )
}
