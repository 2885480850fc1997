//! Random operations on random items of random schemas return what the naive executor returns.

use crate::naive::binding::Rules;
use crate::naive::model_check::{disagreements, unsaid};
use crate::naive::pages::Cursors;
use crate::naive::rows::World;
use crate::random::finds::{Extra, extras, with};
use crate::random::operations::{Maker, Pool};
use crate::random::trial::{Seen, Trial};
use crate::random_operations::{MOST, cases, settings};
use crate::random_schema::{Dimensions, Rng, Schema, computed, keys, rules, values};
use crate::support;
use keyfold::execute::caller::Caller;
use keyfold::execute::gateway::Gateway;
use keyfold::schema::load;
use keyfold::schema::model::Model;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::data::attribute::Item;
use keyfold::table::store::TableStore;
use serde_json::json;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// A schema with items, made from a seed.
pub struct Made {
    pub sdl: String,
    pub model: Arc<Model>,
    pub items: Vec<Vec<Item>>,
    /// The fields that were added to the schema.
    more: Vec<Extra>,
    /// The items' values, with the positions of their types.
    values: Vec<(usize, keys::Values)>,
    /// How many more fields were tried, how many the checker accepted, and how many of these find an interface.
    tried: usize,
    kept: usize,
    of_interfaces: usize,
    /// How many of these have fields of links on their edges.
    of_links: usize,
}

impl Made {
    pub fn of(seed: u64) -> Option<Self> {
        let mut schema = Schema::random(seed, &Dimensions::default());
        schema.mutations.clear();
        Self::with_more(seed, schema)
    }

    /// A schema with rules.
    pub fn ruled(seed: u64) -> Option<Self> {
        let mut schema = Schema::random(seed, &Dimensions::default());
        schema.mutations.clear();
        let schema = rules::with_random(&mut Rng::with_seed(seed ^ 0x7275_6c65), schema, &|schema| {
            model_of(&schema.sdl()).is_some()
        });
        Self::with_more(seed, schema)
    }

    /// A schema with computed fields.
    pub fn computed(seed: u64) -> Option<Self> {
        let mut schema = Schema::random(seed, &Dimensions::default());
        schema.mutations.clear();
        let fields = computed::fields(&mut Rng::with_seed(seed ^ 0x636f_6d70), &schema);
        let made = Self::with_more(seed, schema)?;
        let sdl = computed::with(&made.sdl, &fields);
        let model = load("computed.graphql", &sdl, &|_| None)
            .unwrap_or_else(|mistakes| panic!("seed {seed}: {}", mistakes.render(false)))
            .0;
        Some(Self { model: model.into(), sdl, ..made })
    }

    /// A schema with more fields.
    pub fn with_more(seed: u64, schema: Schema) -> Option<Self> {
        let base = schema.sdl();
        model_of(&base)?;
        let mut rng = Rng::with_seed(seed ^ 0x7265_6164);
        let mut all = extras(&mut rng, &schema);
        if !schema.rules.is_empty() {
            all.iter_mut().for_each(|extra| {
                extra.field += if rng.u8(..4) == 0 { " @auth(signedIn: true)" } else { " @auth(public: true)" }
            });
        }
        let mut kept: Vec<Extra> = Vec::new();
        for extra in &all {
            let known = kept.iter().any(|known| {
                known.owner == extra.owner
                    && known.field.split(['(', ':']).next() == extra.field.split(['(', ':']).next()
            });
            if !known && model_of(&with(&base, std::slice::from_ref(extra))).is_some() {
                kept.push(extra.clone());
            }
        }
        let sdl = with(&base, &kept);
        let model = Arc::new(model_of(&sdl)?);
        let values = values::items(&mut rng, &schema, 9);
        let items = items(&schema, &values);
        let of_interfaces = kept.iter().filter(|extra| !extra.implementors.is_empty()).count();
        let of_links = kept.iter().filter(|extra| extra.shows_links).count();
        let (tried, kept, more) = (all.len(), kept.len(), kept);
        Some(Self { sdl, model, items, more, values, tried, kept, of_interfaces, of_links })
    }

    /// The same fields and items on a schema that has other names in its tables.
    pub fn renamed(&self, schema: &Schema) -> Self {
        let sdl = with(&schema.sdl(), &self.more);
        let (more, values) = (self.more.clone(), self.values.clone());
        let model = load("renamed.graphql", &sdl, &|_| None)
            .unwrap_or_else(|mistakes| panic!("{}\n{sdl}", mistakes.render(false)))
            .0;
        Self { model: model.into(), items: items(schema, &values), sdl, more, values, ..*self }
    }

    /// The same schema, with answers that the cache may keep.
    pub fn cached(self) -> Self {
        let sdl = self.sdl.replace(" @item(", " @cacheControl(maxAge: 60) @item(");
        let model =
            load("cached.graphql", &sdl, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        Self { model: model.0.into(), sdl, ..self }
    }

    /// A gateway with the items.
    pub fn gateway(&self, seed: u64, runtime: &Runtime) -> Gateway {
        let store = TableStore::in_memory().unwrap();
        runtime.block_on(async {
            store.create_missing(&self.model.tables).await.unwrap();
            for (table, items) in self.model.tables.iter().zip(&self.items) {
                store.load(table, items.clone(), support::deadline()).await.unwrap();
            }
        });
        Gateway::new(self.model.clone(), store, settings(&mut Rng::with_seed(seed)))
    }

    /// Lets a law try operations of this caller on a gateway with the items.
    pub fn tried_by<T>(&self, seed: u64, caller: &Caller, law: impl FnOnce(&Trial<'_>, &mut Maker<'_>) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let gateway = self.gateway(seed, &runtime);
        let world = World { model: &self.model, rules: &Rules::of(&self.sdl), items: &self.items, caller };
        let pool = Pool::of(&self.model, &self.items);
        let trial = Trial { gateway: &gateway, world: &world, runtime: &runtime };
        law(&trial, &mut Maker::new(&self.model, &pool, Rng::with_seed(seed)))
    }
}

/// The items of each table.
fn items(schema: &Schema, values: &[(usize, keys::Values)]) -> Vec<Vec<Item>> {
    let mut items: Vec<Vec<Item>> = vec![Vec::new(); schema.tables.len()];
    for (position, values) in values {
        let ty = &schema.types[*position];
        for item in keys::items(schema, ty, values) {
            items[ty.table].push(parse_line(&json!({ "Item": item }).to_string()).unwrap().unwrap());
        }
    }
    items
}

/// How many schemas are tried. Fewer may not have what a law asks of all of them.
const USUAL: u64 = 40;

fn model_of(sdl: &str) -> Option<Model> {
    load("random.graphql", sdl, &|_| None).ok().map(|(model, _)| model)
}

#[test]
fn a_query_on_any_schema_gives_what_reading_field_by_field_gives() {
    let mut seen = Seen::default();
    let mut failures: Vec<String> = Vec::new();
    let (mut tried, mut kept, mut of_interfaces, mut of_links, mut schemas) = (0, 0, 0, 0, 0);
    let range = cases(USUAL);
    let count = range.end - range.start;
    for seed in range {
        let Some(made) = Made::of(seed) else { continue };
        (tried, kept, schemas) = (tried + made.tried, kept + made.kept, schemas + 1);
        of_interfaces += made.of_interfaces;
        of_links += made.of_links;
        let rules = Rules::of(&made.sdl);
        let otherwise = disagreements(&made.model, &rules);
        assert!(otherwise.is_empty(), "seed {seed}: {otherwise:#?}\n{}", made.sdl);
        let silent = unsaid(&made.model, &rules);
        assert!(silent.is_empty(), "seed {seed}: {silent:#?}\n{}", made.sdl);
        let failure = made.tried_by(seed, &Caller::anonymous(), |trial, maker| {
            (0..12).find_map(|_| {
                let mut set = maker.operation();
                let mut cursors = Cursors::default();
                (0..3).find_map(|_| {
                    let before = cursors.clone();
                    let failure = trial.differs(&set, &mut cursors, &mut seen).map(|_| trial.minimised(&set, &before));
                    set = trial.turned(&set, &cursors, &mut maker.rng);
                    failure
                })
            })
        });
        if let Some(failure) = failure {
            let items: String = made.items.iter().flatten().map(|item| format!("{item:?}\n")).collect();
            failures.push(format!("seed {seed}: {failure}\n{}\n{items}", made.sdl));
        }
        if failures.len() >= MOST {
            break;
        }
    }
    eprintln!(
        "random: {seen:?}, {schemas} schemas, {kept} of {tried} more fields, {of_interfaces} of interfaces, {of_links} of links"
    );
    assert!(failures.is_empty(), "{} operations differ:\n\n{}", failures.len(), failures.join("\n\n"));
    if count < USUAL {
        return;
    }
    assert!(schemas * 10 > count * 9, "the checker refuses too many schemas: {schemas} of {count} are left");
    assert!(kept * 4 > tried, "the checker refuses too many fields: {kept} of {tried} are left");
    assert!(
        of_interfaces * 8 > usize::try_from(schemas).unwrap(),
        "few finds of interfaces: {of_interfaces} in {schemas} schemas"
    );
    assert!(of_links > 5, "few finds with fields of links: {of_links}");
    assert!(seen.there * 3 > seen.roots, "most root fields give nothing: {seen:?}");
    assert!(seen.errors > 0 && seen.going_on * 20 > seen.pages && seen.pages > 0, "{seen:?}");
    assert!(seen.totals > 10 && seen.tokens > 0, "{seen:?}");
}
