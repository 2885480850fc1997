//! What an operator sees of a running `keyfold serve`: metrics that Prometheus reads, traces that a collector receives,
//! log lines, and the documentation of them all.

mod day;
mod documented;
mod log;
mod metrics;
mod observed;
mod traces;

/// The flat of the samples, and its fridge.
const FLAT: &str = "22222222-2222-4222-8222-222222222222";
const FRIDGE: &str = "33333333-3333-4333-8333-333333333333";
/// Three waves: the fridge's group is found with the fridge; then its members and containers; then the members' users.
const NESTED: &str =
    "query Nested($group: ID!, $id: ID!) { group(id: $group) { container(containerId: $id) { name group {
    name users { nodes { name } } containers { nodes { name foods { name quantity } } } } } } }";
