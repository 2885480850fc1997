//! A case of a law: a schema and operations, made from a seed. Runs a case, and reduces a failing one to what the
//! failure needs.

use crate::engine::Engine;
use crate::model::{Arguments, Memory};
use crate::random_schema::mutations::{LIST, Mutation, REQUEST_KEY, Returns, Source, Verb};
use crate::random_schema::{Dimensions, Kind, Rng, Schema, chance, keys, rules, values};
use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::Request;
use keyfold::execute::request::Settings;
use keyfold::schema;
use keyfold::schema::model::Model;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A schema and operations on it.
#[derive(Clone)]
pub struct Case {
    pub seed: u64,
    pub schema: Schema,
    pub operations: Vec<Operation>,
}

/// A mutation, and its arguments.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The position of the mutation.
    pub mutation: usize,
    /// Its writer, if there are several. The first operations have no writer and run one after the other.
    pub writer: Option<usize>,
    pub arguments: Arguments,
    /// The caller's claims; null is an anonymous caller.
    pub claims: Value,
}

/// The seeds that a law tries: `KEYFOLD_LAW_CASES` of them, or else this many, from `KEYFOLD_LAW_SEED` on.
pub fn cases(usual: u64) -> std::ops::Range<u64> {
    let set = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = set("KEYFOLD_LAW_SEED").unwrap_or(0);
    first..first + set("KEYFOLD_LAW_CASES").unwrap_or(usual)
}

/// Tries a law on these cases; fails with the smallest case that breaks it.
pub fn law(seeds: std::ops::Range<u64>, dimensions: &Dimensions, most: usize, fails: &dyn Fn(&Case) -> Option<String>) {
    let (count, mut refused) = (seeds.end - seeds.start, 0);
    for seed in seeds {
        match Case::random(seed, dimensions, most) {
            None => refused += 1,
            Some(case) if std::env::var("KEYFOLD_LAW_LIST").is_ok() => {
                if let Some(why) = fails(&case) {
                    println!("seed {seed}: {}", why.lines().take(7).collect::<Vec<_>>().join("\n    "));
                }
            }
            Some(case) if fails(&case).is_some() => panic!("{}", case.minimised(fails)),
            Some(_) => {}
        }
    }
    // Some generated schemas are refused. `accepted` checks how many.
    assert!(refused * 5 <= count, "{refused} of {count} schemas are refused");
}

impl Case {
    /// The case of a seed; `None` if the checker refuses its schema.
    pub fn random(seed: u64, dimensions: &Dimensions, most: usize) -> Option<Self> {
        let mut schema = Schema::random(seed, dimensions);
        let mut rng = Rng::with_seed(seed ^ 0x6f70_6572);
        let writer = |position: usize| position.checked_sub(FIRST).map(|position| position % WRITERS);
        let mut operations: Vec<Operation> =
            (0..most).map(|position| operation(&mut rng, &schema, writer(position))).collect();
        if !dimensions.any_numbers {
            operations.iter_mut().for_each(|operation| operation.number_by_keys(&schema));
        }
        if dimensions.rules {
            schema = rules::with_random(&mut rng, schema, &|schema| load(schema).is_some());
            operations.iter_mut().for_each(|operation| operation.claims = rules::claims(&mut rng));
        }
        // Nothing is drawn for the keys.
        for (position, operation) in operations.iter_mut().enumerate() {
            if schema.mutations[operation.mutation].is_idempotent(&schema) {
                operation.arguments.insert(REQUEST_KEY.to_owned(), json!(format!("k{position}")));
            }
        }
        load(&schema)?;
        Some(Self { seed, schema, operations })
    }

    /// The failure of a case, with the smallest schema and the fewest operations that still fail.
    pub fn minimised(mut self, fails: &dyn Fn(&Case) -> Option<String>) -> String {
        let mut failure = fails(&self).unwrap_or_else(|| "It did not fail a second time.".to_owned());
        let mut attempt = |case: &mut Case, smaller: Case| match fails(&smaller) {
            Some(why) => {
                (failure, *case) = (why, smaller);
                true
            }
            None => false,
        };
        let mut step = (self.operations.len() / 2).max(1);
        loop {
            let mut at = 0;
            while at < self.operations.len() {
                let mut smaller = self.clone();
                smaller.operations.drain(at..(at + step).min(self.operations.len()));
                if !attempt(&mut self, smaller) {
                    at += step;
                }
            }
            if step == 1 {
                break;
            }
            step /= 2;
        }
        let mut smaller = self.clone();
        smaller.prune();
        attempt(&mut self, smaller);
        format!("seed {}: {failure}\n\n{}\n{}", self.seed, self.schema.sdl(), self.listed())
    }

    /// Removes from the schema what no operation uses.
    fn prune(&mut self) {
        self.schema.of_maps = 0;
        let used: Vec<usize> = (0..self.schema.mutations.len())
            .filter(|at| self.operations.iter().any(|one| one.mutation == *at))
            .collect();
        self.schema.mutations = used.iter().map(|at| self.schema.mutations[*at].clone()).collect();
        for operation in &mut self.operations {
            operation.mutation = used.iter().position(|at| *at == operation.mutation).unwrap();
        }
        self.schema.queries.truncate(1);
        let cascades: Vec<String> = self
            .schema
            .mutations
            .iter()
            .flat_map(|mutation| &mutation.actions)
            .flat_map(|action| match &action.verb {
                Verb::Delete { cascade, .. } => {
                    cascade.iter().flat_map(|path| path.split('.')).map(str::to_owned).collect()
                }
                _ => Vec::new(),
            })
            .collect();
        for ty in &mut self.schema.types {
            ty.relations.retain(|relation| cascades.contains(&relation.name));
        }
    }

    fn listed(&self) -> String {
        let writer = |one: &Operation| one.writer.map_or_else(String::new, |writer| format!("{writer}: "));
        self.operations
            .iter()
            .map(|one| {
                format!(
                    "{}{} {} {}\n",
                    writer(one),
                    self.schema.mutations[one.mutation].name,
                    json!(one.arguments),
                    one.claims
                )
            })
            .collect()
    }
}

/// The checked model of a schema; `None` if the checker refuses it.
pub fn load(schema: &Schema) -> Option<Arc<Model>> {
    schema::load("random.graphql", &schema.sdl(), &|_| None).ok().map(|(model, _)| Arc::new(model))
}

/// How many operations of a law run before its writers begin.
pub const FIRST: usize = 24;
/// The number of writers.
pub const WRITERS: usize = 16;

/// A random operation.
fn operation(rng: &mut Rng, schema: &Schema, writer: Option<usize>) -> Operation {
    // Whether it is about a map is chosen beside the rest.
    let mut beside = rng.clone();
    let mut own = rng.usize(..schema.mutations.len() - schema.of_maps);
    let mut rng = rng;
    if schema.of_maps > 0 && chance(&mut beside, 30) {
        own = schema.mutations.len() - 1 - beside.usize(..schema.of_maps);
        rng = &mut beside;
    }
    let mutation = own;
    let arguments = match schema.mutations[mutation].is_listed {
        true => {
            let count = rng.usize(..4);
            let lines = (0..count).map(|_| Value::Object(arguments(rng, schema, mutation))).collect();
            Arguments::from_iter([(LIST.to_owned(), lines)])
        }
        false => arguments(rng, schema, mutation),
    };
    Operation { mutation, writer, arguments, claims: Value::Null }
}

/// Random values of a mutation's arguments, or of an element of its list.
fn arguments(rng: &mut Rng, schema: &Schema, mutation: usize) -> Arguments {
    let mut arguments = Arguments::new();
    for argument in &schema.mutations[mutation].arguments {
        let field = argument.field.as_ref().map(|field| schema.types[argument.of].field(field));
        let broken = field.and_then(|field| field.constraint).filter(|_| chance(rng, 8));
        let value = match (argument.non_null, rng.u8(..100)) {
            (false, 0..15) => continue,
            (false, 15..27) => Value::Null,
            _ if argument.name == "version" => json!(rng.i64(1..4)),
            _ if argument.name == "part" => json!(format!("p{}", rng.usize(..4))),
            _ => broken.map_or_else(|| values::value(rng, argument.kind), values::breaking),
        };
        arguments.insert(argument.name.clone(), value);
    }
    arguments
}

impl Operation {
    /// Gives each item the number that follows from its key, so that no two shards have items of one key.
    fn number_by_keys(&mut self, schema: &Schema) {
        let mutation = &schema.mutations[self.mutation];
        match self.arguments.get_mut(LIST).filter(|_| mutation.is_listed) {
            Some(Value::Array(lines)) => {
                let lines = lines.iter_mut().filter_map(Value::as_object_mut);
                lines.for_each(|line| number_by_keys(schema, mutation, line));
            }
            _ => number_by_keys(schema, mutation, &mut self.arguments),
        }
    }
}

fn number_by_keys(schema: &Schema, mutation: &Mutation, arguments: &mut Arguments) {
    {
        for action in &mutation.actions {
            let Some(number) = &action.number else { continue };
            let ty = &schema.types[action.item];
            let mut bytes = Vec::new();
            for field in ty.key_fields(schema.table_of(ty)) {
                let source = |bound: &[(String, Source)]| {
                    bound.iter().find(|(name, _)| name == field).map(|(_, source)| source.clone())
                };
                // What is found is found by its key.
                let argument = match source(&action.key).or_else(|| source(&action.values)) {
                    Some(Source::Found(of)) => mutation.found.as_ref().and_then(|found| {
                        found.key.iter().find(|(name, _)| *name == of).map(|(_, source)| source.clone())
                    }),
                    own => own,
                };
                let Some(Source::Argument(name)) = argument else { continue };
                bytes.extend(arguments.get(&name).map(Value::to_string).unwrap_or_default().into_bytes());
            }
            let sum: u64 = bytes.into_iter().map(u64::from).sum();
            let count = keys::ASSIGNED.end() - keys::ASSIGNED.start() + 1;
            arguments.insert(number.clone(), json!(keys::ASSIGNED.start() + sum % count));
        }
    }
}

/// The text of an operation that runs a mutation and selects all fields of its items.
pub fn text(schema: &Schema, mutation: &Mutation) -> String {
    use crate::random_schema::sdl::type_of;
    let ty = |of: usize| &schema.types[of];
    let declared: Vec<String> = mutation
        .arguments
        .iter()
        .map(|argument| {
            format!("${}: {}", argument.name, type_of(ty(argument.of), argument.kind, argument.non_null, true))
        })
        .collect();
    let mut declared = if mutation.is_listed { vec![format!("${LIST}: {}", mutation.list_type())] } else { declared };
    let arguments = mutation.arguments.iter().map(|argument| argument.name.as_str());
    let mut arguments: Vec<&str> = if mutation.is_listed { vec![LIST] } else { arguments.collect() };
    if mutation.is_idempotent(schema) {
        declared.push(format!("${REQUEST_KEY}: ID!"));
        arguments.push(REQUEST_KEY);
    }
    let passed: Vec<String> = arguments.iter().map(|name| format!("{name}: ${name}")).collect();
    let selection = match mutation.returns {
        Returns::Item(action) | Returns::Items(action) => {
            let fields = ty(mutation.actions[action].item).fields.iter();
            let one = |kind: Kind, name: &str| match kind {
                Kind::Parts | Kind::Tally => format!("{name} {{ id text count }}"),
                Kind::Counts => format!("{name} {{ day n }}"),
                _ => name.to_owned(),
            };
            format!(" {{ {} }}", fields.map(|field| one(field.kind, &field.name)).collect::<Vec<_>>().join(" "))
        }
        Returns::True => String::new(),
    };
    let selection = if mutation.is_wrapped { format!(" {{ one{selection} ok }}") } else { selection };
    format!("mutation ({}) {{ r: {}({}){selection} }}", declared.join(", "), mutation.name, passed.join(", "))
}

/// The request of an operation.
pub fn request(schema: &Schema, operation: &Operation) -> Request {
    let query = text(schema, &schema.mutations[operation.mutation]);
    let caller = support::caller(operation.claims.clone());
    Request { caller, query, variables: operation.arguments.clone(), ..Request::default() }
}

/// Runs an operation and gives the response.
pub async fn run(gateway: &Gateway, schema: &Schema, operation: &Operation) -> Value {
    run_within(Duration::from_secs(60), gateway, schema, operation).await
}

/// The same with so much time.
pub async fn run_within(time: Duration, gateway: &Gateway, schema: &Schema, operation: &Operation) -> Value {
    let request = request(schema, operation);
    let prepared = gateway.prepare(&request).await.unwrap_or_else(|errors| panic!("{errors:?}: {}", request.query));
    let response = gateway.run(&prepared, Instant::now() + time, false).await;
    let mut response: Value = serde_json::from_slice(&response.body).unwrap();
    let payload = &mut response["data"]["r"];
    if schema.mutations[operation.mutation].is_wrapped && payload.is_object() {
        assert_eq!(payload["ok"], true, "{}", request.query);
        *payload = payload["one"].take();
    }
    response
}

/// A writer's gateway on an engine that has its tables.
pub fn gateway(engine: &Arc<Engine>, model: &Arc<Model>, writer: usize) -> Gateway {
    let settings = Settings { single_writes: engine.single_writes, ..Settings::default() };
    Gateway::new(model.clone(), engine.store(writer), settings)
}

/// Creates the tables and runs the first operations. Gives the model's memory after them.
pub async fn begin(case: &Case, engine: &Arc<Engine>, model: &Arc<Model>) -> Memory {
    let first = gateway(engine, model, WRITERS);
    engine.store(WRITERS).create_missing(&model.tables).await.unwrap();
    let mut memory = Memory::new();
    for operation in case.operations.iter().filter(|operation| operation.writer.is_none()) {
        let mutation = &case.schema.mutations[operation.mutation];
        memory.apply(&case.schema, mutation, &operation.arguments);
        run(&first, &case.schema, operation).await;
    }
    memory
}

/// Runs the operations of all writers concurrently. Gives for each its position, what `note` gave before and after it,
/// and the response.
pub async fn together<N: Send + 'static>(
    case: &Case,
    engine: &Arc<Engine>,
    model: &Arc<Model>,
    note: impl Fn() -> N + Clone + Send + 'static,
) -> Vec<(usize, N, N, Value)> {
    let shared = Arc::new(case.clone());
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (gateway, case, note) = (gateway(engine, model, writer), shared.clone(), note.clone());
            tokio::spawn(async move {
                let mut made = Vec::new();
                for (position, operation) in
                    case.operations.iter().enumerate().filter(|(_, one)| one.writer == Some(writer))
                {
                    let begun = note();
                    let response = run(&gateway, &case.schema, operation).await;
                    made.push((position, begun, note(), response));
                }
                made
            })
        })
        .collect();
    let mut made = Vec::new();
    for writer in writers {
        made.extend(writer.await.unwrap());
    }
    made
}

/// Runs a case with paused time: nothing sleeps.
pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(work)
}
