//! The checker accepts nearly all schemas that the generator makes.

use crate::random_schema::{Dimensions, Schema};
use keyfold::schema;

/// The number of schemas to try.
const SCHEMAS: u64 = 200;

#[test]
fn the_checker_accepts_random_schemas() {
    let mut refused = Vec::new();
    for seed in 0..SCHEMAS {
        let sdl = Schema::random(seed, &Dimensions::default()).sdl();
        if let Err(mistakes) = schema::load("random.graphql", &sdl, &|_| None) {
            refused.push((seed, mistakes.render(false)));
        }
    }
    assert!(
        refused.len() as u64 * 20 <= SCHEMAS,
        "{} of {SCHEMAS} are refused\n{}",
        refused.len(),
        refused.iter().take(5).map(|(seed, why)| format!("seed {seed}\n{why}\n")).collect::<String>()
    );
}
