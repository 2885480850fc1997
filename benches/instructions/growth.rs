//! Counts the instructions of loading schemas of 200, 1,000 and 2,000 types: they grow as the number of types does.
//! Without optimisation, the schemas have a fifth of these types, unless `KEYFOLD_LOAD_TYPES` says how many.

use keyfold::schema;
use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

/// The numbers of types: five times and ten times the first.
const TYPES: [usize; 3] = if cfg!(debug_assertions) { [40, 200, 400] } else { [200, 1_000, 2_000] };

/// How much more than its share of the types a larger schema may take.
const TOLERANCE: f64 = 1.2;

/// Counts each schema in a process under callgrind. Gives whether none takes more than its share.
pub fn is_even(directory: &Path) -> bool {
    let mut counted =
        numbers().into_iter().map(|types| (types, count(types, &directory.join(format!("load-{types}.out")))));
    let Some((fewest, least)) = counted.next() else { return true };
    println!("\ninstructions of loading a schema, in thousands\n\n{fewest:>6} types {:>12}", least / 1000);
    let mut is_even = true;
    for (types, instructions) in counted {
        let (growth, share) = (instructions as f64 / least as f64, types as f64 / fewest as f64);
        let too_many = growth > share * TOLERANCE;
        is_even &= !too_many;
        println!(
            "{types:>6} types {:>12}, {growth:.2} times for {share} times the types{}",
            instructions / 1000,
            if too_many { "  too many" } else { "" }
        );
    }
    is_even
}

/// How many types each schema has. `KEYFOLD_LOAD_TYPES=200,1000,2000` takes the optimised numbers without optimisation,
/// for ten minutes.
fn numbers() -> Vec<usize> {
    let Ok(wanted) = std::env::var("KEYFOLD_LOAD_TYPES") else { return TYPES.to_vec() };
    wanted.split(',').map(|number| number.trim().parse().expect("KEYFOLD_LOAD_TYPES is a list of numbers")).collect()
}

fn count(types: usize, profile: &Path) -> u64 {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--quiet", "--collect-atstart=no", "--toggle-collect=*counted_load*"]);
    command.arg(format!("--callgrind-out-file={}", profile.display()));
    command.arg(std::env::current_exe().unwrap()).args(["--load", &types.to_string()]);
    let ended = command.status().expect("valgrind cannot be started: install it (apt-get install valgrind)");
    assert!(ended.success(), "{types} types: {ended}");
    let profile = std::fs::read_to_string(profile).unwrap();
    let total = profile.lines().find_map(|line| line.strip_prefix("totals: ").or(line.strip_prefix("summary: ")));
    total.unwrap().trim().parse().unwrap()
}

/// Loads a schema of so many item types, for callgrind.
pub fn load(types: usize) {
    counted_load(&text(types));
}

/// callgrind counts within this function, known by its name.
#[inline(never)]
fn counted_load(text: &str) {
    let loaded = schema::load("types.graphql", text, &|_| None);
    let (model, found) = loaded.unwrap_or_else(|found| panic!("{}", found.render(false)));
    assert!(found.list.is_empty(), "{}", found.render(false));
    black_box(model);
}

/// Pairs of a parent and its children, each with finds, pages and writes.
fn text(types: usize) -> String {
    let (mut text, mut query, mut mutation) = (HEAD.to_owned(), String::new(), String::new());
    for pair in 0..types / 2 {
        let of_pair = |template: &str| template.replace('№', &pair.to_string());
        text.push_str(&of_pair(PAIR));
        query
            .push_str(&of_pair("  parent№(id: ID!): Parent№ @find\n  child№(parent№Id: ID!, id: ID!): Child№ @find\n"));
        mutation.push_str(&of_pair(WRITES));
    }
    let _ = write!(text, "type Query {{\n{query}}}\ntype Mutation {{\n{mutation}}}\n");
    text
}

const HEAD: &str = r#"extend schema @table(
  name: "types", partitionKey: "PK", sortKey: "SK"
  indexes: [{ name: "byTime", partitionKey: "G1PK", sortKey: "G1SK" }])
"#;

const PAIR: &str = r#"
type Parent№ @item(keys: { PK: "Parent№#{id}", SK: "Parent№" }) {
  id: ID! @default(value: "{uuid}")
  name: String!
  children: [Child№!]! @find
  page(first: Int = 10, after: String): Child№Connection! @find(orderBy: "at")
}
type Child№ @item(keys: { PK: "Parent№#{parent№Id}", SK: "Child№#{id}", G1PK: "Parent№#{parent№Id}#", G1SK: "{at}" }) {
  parent№Id: ID!
  id: ID!
  at: DateTime! @default(value: "{now}")
  note: String
  parent: Parent№! @find(where: { id: "{parent№Id}" })
}
type Child№Connection { nodes: [Child№!]! pageInfo: PageInfo! }
"#;

const WRITES: &str = r#"
  createParent№(name: String!): Parent№! @put
  createChild№(parent№Id: ID!, id: ID!, note: String): Child№!
    @check(item: Parent№, where: { id: "{parent№Id}" }, if: "attribute_exists(id)") @put
  updateChild№(parent№Id: ID!, id: ID!, note: String): Child№ @update
"#;
