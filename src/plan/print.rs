//! A plan as text for people and as JSON for tools: one line, or one object, a read.

use super::print_writes::{write_json, write_text};
use super::tree::*;
use crate::schema::model::Model;
use crate::schema::model::find::sharding::Reading;
use crate::schema::model::find::{Access, SortAccess};
use crate::schema::table::KeyAttribute;
use crate::schema::template::Template;
use crate::schema::template::part::Part;
use serde_json::{Value, json};
use std::fmt::Write;

impl OperationPlan {
    /// The number of waves in which an operation reads its response, all steps together.
    pub fn waves(&self) -> usize {
        self.steps.iter().map(|step| step.plan.waves.len()).sum()
    }

    /// The plan as text, step by step.
    pub fn to_text(&self, model: &Model) -> String {
        let mut text = String::new();
        for step in &self.steps {
            if let Some(write) = &step.write {
                text += &write_text(model, write);
                let guard = step.plan.root.fields.first().and_then(|output| output.guard);
                text.extend(step.plan.demands(guard).map(|demand| format!("  rule {demand}\n")));
            }
            if let Some(watch) = &step.watch {
                text += &watch_text(model, watch);
                text.extend(step.plan.demands(watch.guard).map(|demand| format!("  rule {demand}\n")));
            }
            text += &step.plan.to_text(model);
        }
        if text.is_empty() {
            text.push_str("nothing to read\n");
        }
        text
    }

    /// The plan as JSON: the reads of a query; of a mutation, the writes and the reads after each.
    pub fn to_json(&self, model: &Model) -> Value {
        match self.steps.as_slice() {
            [PlanStep { write: None, watch: None, plan }] => plan.to_json(model),
            steps => {
                let step = |step: &PlanStep| {
                    let mut json = step.plan.to_json(model);
                    if let (Some(write), Value::Object(json)) = (&step.write, &mut json) {
                        json.insert("write".into(), write_json(model, write));
                    }
                    if let (Some(watch), Value::Object(json)) = (&step.watch, &mut json) {
                        json.insert("watch".into(), watch_json(model, watch));
                    }
                    json
                };
                json!({ "waves": self.waves(), "steps": steps.iter().map(step).collect::<Vec<_>>() })
            }
        }
    }
}

impl Plan {
    /// What a guard demands, besides what those around it do.
    fn demands(&self, guard: Option<GuardId>) -> impl Iterator<Item = &Demand> {
        guard.and_then(|guard| self.guards.get(guard)).into_iter().flat_map(|guard| &guard.demands)
    }

    /// The plan as text: waves, and the reads of each.
    pub(super) fn to_text(&self, model: &Model) -> String {
        let mut text = String::new();
        for (number, wave) in self.waves.iter().enumerate() {
            let _ = writeln!(text, "wave {}", number + 1);
            for &id in wave {
                let read = &self.reads[id];
                let place = place(model, read);
                let key = key_condition(read);
                let _ = writeln!(text, "  #{id} {} {} on {place}", operation(read), read.item);
                let _ = writeln!(text, "     for   {}{}", read.coordinate, each(self, read.space));
                for demand in self.demands(read.guard) {
                    let _ = writeln!(text, "     rule  {demand}");
                }
                for marks in read.discriminator.types.iter().filter(|marks| !marks.rules.is_empty()) {
                    let rules: Vec<String> = marks.rules.iter().map(ToString::to_string).collect();
                    let _ = writeln!(text, "     sees  {}: {}", marks.item, rules.join(", or "));
                }
                if let Some(reads) = numbers(&read.known.rules_from) {
                    let _ = writeln!(text, "     rules known where {reads} brought what they look up");
                }
                let _ = writeln!(text, "     key   {key}");
                if let Some(over) = over(read) {
                    let _ = writeln!(text, "     over  {over}");
                }
                let _ = writeln!(text, "     asks  {}", asks(read));
                if let Some(reads) = numbers(&read.known.from) {
                    let _ = writeln!(text, "     known where {reads} brought it");
                }
                if let Some(reads) = numbers(&read.let_come_by(&self.reads)) {
                    let _ = writeln!(text, "     early where {reads} is known or early");
                }
                if let Some(age) = read.max_age {
                    let _ = writeln!(text, "     cache maxAge {age}");
                }
                if read.action.item_filter().is_some() {
                    let _ = writeln!(text, "     wants items that match the filter");
                }
                if let ReadAction::Query(query) = &read.action {
                    let _ = writeln!(text, "     wants {}", want(read, query));
                }
            }
            for collection in
                self.collections.iter().filter(|collection| collection.reads.iter().any(|read| wave.contains(read)))
            {
                let reads: Vec<String> = collection.reads.iter().map(|read| format!("#{read}")).collect();
                let _ = writeln!(text, "  one Query for {}", reads.join(", "));
                let _ = writeln!(text, "     asks  {}", collection.projection.join(", "));
            }
            text.extend(
                self.calls.iter().filter(|call| call.wave == number + 1).map(|call| self.call_text(model, call)),
            );
        }
        text
    }

    /// A call of a service as text.
    fn call_text(&self, model: &Model, call: &ServiceCall) -> String {
        let mut text = format!("  call {}\n", model.services[call.service].name);
        let _ = writeln!(text, "     for   {}{}", call.coordinate, each(self, call.space));
        for demand in self.demands(call.guard) {
            let _ = writeln!(text, "     rule  {demand}");
        }
        let _ = writeln!(text, "     gets  {}", call.gets);
        let before: Vec<String> =
            numbers(&call.after).into_iter().chain(self.calls_before(call).map(str::to_owned)).collect();
        if !before.is_empty() {
            let _ = writeln!(text, "     after {}", before.join(", "));
        }
        text + "     cost  unknown\n"
    }

    /// A call of a service as JSON.
    fn call_json(&self, model: &Model, call: &ServiceCall) -> Value {
        let service = &model.services[call.service].name;
        let ServiceCall { wave, coordinate, gets, after, .. } = call;
        let mut said = json!({ "wave": wave, "service": service, "field": coordinate, "gets": gets, "after": after });
        let calls: Vec<&str> = self.calls_before(call).collect();
        if let (false, Value::Object(said)) = (calls.is_empty(), &mut said) {
            said.insert("afterCalls".into(), json!(calls));
        }
        said
    }

    /// The fields whose calls a call waits for.
    fn calls_before(&self, call: &ServiceCall) -> impl Iterator<Item = &str> {
        call.after_calls.iter().filter_map(|before| self.calls.get(*before)).map(|before| before.coordinate.as_str())
    }

    /// The plan as JSON: a list of reads, each with its wave and what it waits for.
    pub(super) fn to_json(&self, model: &Model) -> Value {
        let reads = self.reads.iter().enumerate().map(|(id, read)| {
            let table = &model.tables[read.table];
            let mut step = json!({
                "id": id,
                "wave": read.wave,
                "operation": operation(read),
                "field": read.coordinate,
                "type": read.item,
                "table": table.name,
                "key": key_condition(read),
                "projection": &read.projection[..],
                "after": read.after,
            });
            let rules: Vec<String> = self.demands(read.guard).map(ToString::to_string).collect();
            if let (false, Value::Object(step)) = (rules.is_empty(), &mut step) {
                step.insert("rules".into(), json!(rules));
            }
            if let (Some(index), Value::Object(step)) = (read.index, &mut step) {
                step.insert("index".into(), json!(table.indexes[index].name));
            }
            if let (Some(age), Value::Object(step)) = (read.max_age, &mut step) {
                step.insert("maxAge".into(), json!(age));
            }
            let (KnownFrom { from, rules_from, .. }, early) = (&read.known, &read.let_come_by(&self.reads));
            for (name, from) in [("knownFrom", from), ("rulesKnownFrom", rules_from), ("earlyAfter", early)] {
                if let (false, Value::Object(step)) = (from.is_empty(), &mut step) {
                    step.insert(name.into(), json!(from));
                }
            }
            if let (Some(over), Value::Object(step)) = (over(read), &mut step) {
                step.insert("over".into(), json!(over.to_string()));
            }
            if let (Some(_), Value::Object(step)) = (read.action.item_filter(), &mut step) {
                step.insert("wants".into(), json!("items that match the filter"));
            }
            if let (ReadAction::Query(query), Value::Object(step)) = (&read.action, &mut step) {
                step.insert("wants".into(), json!(want(read, query)));
            }
            step
        });
        let collection =
            |collection: &Collection| json!({ "reads": collection.reads, "projection": &collection.projection[..] });
        let collections: Vec<Value> = self.collections.iter().map(collection).collect();
        let mut plan =
            json!({ "waves": self.waves.len(), "reads": reads.collect::<Vec<_>>(), "collections": collections });
        if let (false, Value::Object(plan)) = (self.calls.is_empty(), &mut plan) {
            plan.insert("calls".into(), self.calls.iter().map(|call| self.call_json(model, call)).collect());
        }
        plan
    }
}

/// What a subscription watches, and what it reads first.
fn watch_text(model: &Model, watch: &PlannedWatch) -> String {
    let mut text =
        format!("watch {}\n  changes of {} in {}\n", watch.field, watch.item, model.tables[watch.table].name);
    let bound: Vec<&str> = watch.bindings.iter().map(|binding| binding.reader.field.as_str()).collect();
    if !bound.is_empty() {
        let _ = writeln!(text, "  whose {} has the given value", bound.join(", "));
    }
    if watch.filter.is_some() {
        text += "  that match the filter\n";
    }
    if let Some(initial) = &watch.initial {
        let plan = initial.plan.to_text(model);
        text = plan.lines().fold(text + "  first " + &initial.item + "\n", |text, line| text + "    " + line + "\n");
    }
    text
}

fn watch_json(model: &Model, watch: &PlannedWatch) -> Value {
    let bound: Vec<&str> = watch.bindings.iter().map(|binding| binding.reader.field.as_str()).collect();
    json!({
        "field": watch.field,
        "type": watch.item,
        "table": model.tables[watch.table].name,
        "bound": bound,
        "filter": watch.filter.is_some(),
        "first": watch.initial.as_ref().map(|initial| initial.plan.to_json(model)),
    })
}

/// The numbers of reads; `None` if there are none.
fn numbers(reads: &[ReadId]) -> Option<String> {
    let numbers: Vec<String> = reads.iter().map(|read| format!("#{read}")).collect();
    (!numbers.is_empty()).then(|| numbers.join(", "))
}

fn operation(read: &Read) -> &'static str {
    match &read.action {
        ReadAction::Get(_) | ReadAction::FetchMissing(_) => "Get",
        ReadAction::Query(query) if query.key.partition.is_none() => "Scan",
        ReadAction::Query(_) => "Query",
    }
}

fn place(model: &Model, read: &Read) -> String {
    let table = &model.tables[read.table];
    match read.index {
        Some(index) => format!("{}.{}", table.name, table.indexes[index].name),
        None => table.name.clone(),
    }
}

fn each(plan: &Plan, space: SpaceId) -> String {
    match &plan.spaces[space].origin {
        Origin::Operation | Origin::Seed => String::new(),
        Origin::SeedVariant(types, member) => {
            format!(", each {}", types.types.get(*member).map_or("", |marks| &marks.item))
        }
        Origin::Ids(ids) => format!(", each of ${}", ids.name),
        Origin::OfId(ids, id) => format!(", each {} of ${}", id.type_name(), ids.name),
        Origin::Read(of) => format!(", each of #{of}"),
        Origin::Variant(of, member) => {
            let item = plan.reads[*of].discriminator.types.get(*member).map_or("", |marks| &marks.item);
            format!(", each {item} of #{of}")
        }
        Origin::Elements(_, reader) => format!(", each of {}", reader.field),
    }
}

/// The shards or the replica that a read takes.
fn over(read: &Read) -> Option<Reading> {
    read.action.key().and_then(|key| key.spread)
}

fn asks(read: &Read) -> String {
    match &read.action {
        ReadAction::Query(query) if query.want == (Want::Count { looked_at: false }) => "COUNT".to_owned(),
        _ => read.projection.join(", "),
    }
}

fn want(read: &Read, query: &QueryBinding) -> String {
    let order = if query.descending { ", descending" } else { "" };
    let filter = if query.filter.is_some() { ", filtered" } else { "" };
    let much = match query.want {
        Want::First => "the first".to_owned(),
        Want::Whole { max } => format!("all, up to {max}"),
        Want::Page { .. } => "a page".to_owned(),
        Want::Count { looked_at: false } if read.discriminator.times().next().is_some() => {
            "the number of those that have not expired".to_owned()
        }
        Want::Count { .. } => "the number".to_owned(),
    };
    format!("{much}{order}{filter}")
}

/// The key condition in DynamoDB's form: arguments as `$name`, values of other reads as `#read.field`.
pub fn key_condition(read: &Read) -> String {
    let (key, sort) = match &read.action {
        ReadAction::FetchMissing(of) => return format!("the key of #{of}"),
        ReadAction::Get(get) => (&get.key, None),
        ReadAction::Query(query) => match &query.access {
            Access::Query { sort, .. } => (&query.key, Some((sort, query.range.as_ref()))),
            _ => return "everything".to_owned(),
        },
    };
    let mut condition = String::new();
    for (attribute, template) in key.whole() {
        let and = if condition.is_empty() { "" } else { " AND " };
        let _ = write!(condition, "{and}{} = {}", attribute.name, fill(template, template.parts.len(), key));
    }
    let (Some(KeyAttribute { name: attribute, .. }), Some(template)) = (&key.sort_attribute, &key.sort) else {
        return condition;
    };
    let whole = template.parts.len();
    match sort {
        None | Some((SortAccess::Equal { .. }, _)) => {
            let _ = write!(condition, " AND {attribute} = {}", fill(template, whole, key));
        }
        Some((SortAccess::Prefix { parts, .. }, _)) => {
            let _ = write!(condition, " AND begins_with({attribute}, {})", fill(template, *parts, key));
        }
        Some((SortAccess::Range { parts, .. }, Some(range))) => {
            let prefix = fill(template, *parts, key);
            let _ = write!(condition, " AND {attribute} from {prefix}{}", bounds(range));
        }
        _ => {}
    }
    condition
}

fn bounds(range: &BoundRange) -> String {
    match range {
        BoundRange::BeginsWith(source) => format!(" begins_with {}", name(source)),
        BoundRange::Between(lower, upper) => {
            let side = |bound: &Option<(ValueSource, bool)>, strict: &str, loose: &str| {
                bound
                    .as_ref()
                    .map(|(source, inclusive)| format!(" {} {}", if *inclusive { loose } else { strict }, name(source)))
            };
            [side(lower, ">", ">="), side(upper, "<", "<=")].into_iter().flatten().collect()
        }
    }
}

/// A template with its placeholders replaced by the names of their sources.
fn fill(template: &Template, parts: usize, key: &KeyBinding) -> String {
    let mut text = String::from("\"");
    for part in &template.parts[..parts.min(template.parts.len())] {
        match part {
            Part::Literal(literal) => text.push_str(literal),
            Part::Placeholder { field, .. } => {
                let source = key.fields.get(field.as_str()).map_or_else(|| field.clone(), name);
                let _ = write!(text, "{{{source}}}");
            }
        }
    }
    text.push('"');
    text
}

fn name(source: &ValueSource) -> String {
    match source {
        ValueSource::Argument(_, name) => format!("${name}"),
        ValueSource::Claim(claim) => claim.to_string(),
        ValueSource::Field(Holder::Read(read), reader) => format!("#{read}.{}", reader.field),
        ValueSource::Field(Holder::Element(_), reader) => format!("element.{}", reader.field),
        ValueSource::Field(Holder::Resolved(_), reader) => format!("resolved.{}", reader.field),
        ValueSource::Text(parts) => parts
            .iter()
            .map(|part| match part {
                SourceText::Literal(text) => text.clone(),
                SourceText::Value(source) => name(source),
            })
            .collect(),
    }
}
