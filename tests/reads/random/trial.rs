//! An operation in; the difference between the gateway and the naive executor, and the smallest operation that shows
//! it, out.

use super::operations::{Argument, Node, What, Written, write};
use crate::naive::compared::difference;
use crate::naive::document::Document;
use crate::naive::executor::Naive;
use crate::naive::pages::Cursors;
use crate::naive::rows::World;
use crate::support;
use keyfold::execute::gateway::{Gateway, plan};
use keyfold::execute::request::Request;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use tokio::runtime::Runtime;

/// A gateway and the items that it reads.
pub struct Trial<'w> {
    pub gateway: &'w Gateway,
    pub world: &'w World<'w>,
    pub runtime: &'w Runtime,
}

/// Statistics over all operations, so that a law that tests nothing fails.
#[derive(Debug, Default, Clone)]
pub struct Seen {
    pub operations: usize,
    pub refused: usize,
    /// Root fields, and those with a result.
    pub roots: usize,
    pub there: usize,
    pub objects: usize,
    pub errors: usize,
    /// Pages, and those that continue.
    pub pages: usize,
    pub going_on: usize,
    /// The numbers of all items of pages.
    pub totals: usize,
    /// The pages of AppSync's form that continue.
    pub tokens: usize,
}

impl Seen {
    /// Adds other statistics.
    pub fn add(&mut self, other: &Self) {
        let Self { operations, refused, roots, there, objects, errors, pages, going_on, totals, tokens } = other;
        for (mine, other) in [
            (&mut self.operations, operations),
            (&mut self.refused, refused),
            (&mut self.roots, roots),
            (&mut self.there, there),
            (&mut self.objects, objects),
            (&mut self.errors, errors),
            (&mut self.pages, pages),
            (&mut self.going_on, going_on),
            (&mut self.totals, totals),
            (&mut self.tokens, tokens),
        ] {
            *mine += other;
        }
    }

    fn note(&mut self, data: &Value) {
        match data {
            Value::Object(members) => {
                self.objects += 1;
                for (name, value) in members {
                    self.pages += usize::from(name == "hasNextPage");
                    self.tokens += usize::from(name == "nextToken" && value != &Value::Null);
                    self.totals += usize::from(name == "totalCount" && value.as_u64() > Some(0));
                    self.going_on += usize::from(name == "hasNextPage" && value == &json!(true));
                    self.note(value);
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.note(value)),
            _ => {}
        }
    }
}

impl Trial<'_> {
    fn request(&self, text: &str, variables: &Map<String, Value>) -> Request {
        Request {
            caller: self.world.caller.clone(),
            query: text.to_owned(),
            variables: variables.clone(),
            ..Request::default()
        }
    }

    fn response(&self, text: &str, variables: &Map<String, Value>) -> Value {
        let request = self.request(text, variables);
        self.runtime.block_on(support::run(self.gateway, &request, false))
    }

    /// How an operation costs more than is said before it runs, if it does. Its pages leave their cursors. Counts its
    /// errors by their codes.
    pub fn costs_more(
        &self,
        set: &[Node],
        cursors: &mut Cursors,
        codes: &mut BTreeMap<String, usize>,
    ) -> Option<String> {
        let written = write(set);
        let response =
            self.runtime.block_on(support::run(self.gateway, &self.request(&written.text, &written.variables), true));
        self.note(set, &response["data"], None, cursors);
        for error in response["errors"].as_array().into_iter().flatten() {
            *codes.entry(error["extensions"]["code"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        let excess = support::costs_more(&response)?;
        Some(format!(
            "{excess}\n{}\n{}\n{:#}",
            written.text,
            Value::Object(written.variables),
            response["extensions"]["keyfold"]
        ))
    }

    /// Records the cursors of a response. Their places are not known.
    fn note(&self, set: &[Node], value: &Value, page: Option<&(String, String)>, cursors: &mut Cursors) {
        if let Value::Array(values) = value {
            return values.iter().for_each(|value| self.note(set, value, page, cursors));
        }
        for node in set {
            let What::Field { of, .. } = &node.what else {
                self.note(&node.set, value, page, cursors);
                continue;
            };
            let definition = self.world.model.api.type_field(&of.0, &of.1);
            let is_page = definition.is_ok_and(|field| {
                field.arguments.iter().any(|argument| ["after", "before", "nextToken"].contains(&&*argument.name))
            });
            let page = if is_page { Some(of) } else { page };
            match (&value[&node.key], page) {
                (Value::String(cursor), Some((ty, field)))
                    if of.1.to_lowercase().ends_with("cursor") || of.1 == "nextToken" =>
                {
                    cursors.note(cursor, &format!("0 of {ty}.{field} of {cursor}")).unwrap();
                }
                (value, page) => self.note(&node.set, value, page, cursors),
            }
        }
    }

    /// The difference between the gateway's response and the expected one.
    pub fn differs(&self, set: &[Node], cursors: &mut Cursors, seen: &mut Seen) -> Option<String> {
        let written = write(set);
        let document = match Document::parse(&self.world.model.api, &written.text, written.variables.clone()) {
            Ok(document) => document,
            Err(mistakes) => return Some(format!("the operation is not valid: {mistakes}")),
        };
        let response = self.response(&written.text, &written.variables);
        seen.operations += 1;
        if response.get("data").is_none() {
            seen.refused += 1;
            let code = response["errors"][0]["extensions"]["code"].as_str().unwrap_or_default();
            let expected = document.refusal(self.world);
            return (expected != Some(code))
                .then(|| format!("refused as {}, expected {expected:?}", response["errors"]));
        }
        if let Some(refusal) = document.refusal(self.world) {
            return Some(format!("not refused as {refusal}: {response:#}"));
        }
        let expected = Naive::run(self.world, &document, cursors);
        seen.errors += expected.1.len();
        seen.note(&expected.0);
        for value in expected.0.as_object().into_iter().flat_map(|root| root.values()) {
            seen.roots += 1;
            seen.there +=
                usize::from(!(value.is_null() || value == &json!([]) || value == &json!(false) || value == &json!(0)));
        }
        difference(&response, &expected, cursors)
    }

    /// The same operation with the fields' own cursors in its paging arguments; the unchanged operation if a field
    /// occurs twice and its arguments would differ.
    pub fn turned(&self, set: &[Node], cursors: &Cursors, rng: &mut fastrand::Rng) -> Vec<Node> {
        let mut turned = set.to_vec();
        self.turn(&mut turned, cursors, rng);
        let Written { text, variables } = write(&turned);
        if Document::parse(&self.world.model.api, &text, variables).is_ok() { turned } else { set.to_vec() }
    }

    fn turn(&self, set: &mut [Node], cursors: &Cursors, rng: &mut fastrand::Rng) {
        for node in set {
            if let What::Field { of: (ty, name), arguments } = &mut node.what
                && let Ok(definition) = self.world.model.api.type_field(ty, name)
            {
                let forward = rng.usize(..3) > 0;
                let is_of_items = definition.argument_by_name("nextToken").is_some();
                let (size, from) = match (is_of_items, forward) {
                    (true, _) => ("limit", "nextToken"),
                    (false, true) => ("first", "after"),
                    (false, false) => ("last", "before"),
                };
                let argument = definition.arguments.iter().find(|argument| argument.name == from);
                let known = cursors.of_field(ty, name);
                if let (Some(argument), false, true) = (argument, known.is_empty(), rng.usize(..4) > 0) {
                    arguments.retain(|one| {
                        !["first", "after", "last", "before", "limit", "nextToken"].contains(&one.name.as_str())
                    });
                    let cursor = known[rng.usize(..known.len())];
                    let variable = rng.bool();
                    arguments.push(Argument {
                        name: from.to_owned(),
                        ty: (*argument.ty).clone(),
                        value: json!(cursor),
                        variable,
                    });
                    if let Some(argument) =
                        definition.arguments.iter().find(|argument| argument.name == size && rng.bool())
                    {
                        let value = json!(rng.usize(1..4));
                        arguments.push(Argument {
                            name: size.to_owned(),
                            ty: (*argument.ty).clone(),
                            value,
                            variable: false,
                        });
                    }
                }
            }
            self.turn(&mut node.set, cursors, rng);
        }
    }

    /// The failure of an operation, and the smallest operation that fails.
    pub fn minimised(&self, set: &[Node], cursors: &Cursors) -> String {
        let fails = |set: &[Node]| {
            let mut known = cursors.clone();
            self.differs(set, &mut known, &mut Seen::default())
                .filter(|failure| !failure.starts_with("the operation is not valid"))
        };
        let mut smallest = set.to_vec();
        let mut at = 0;
        loop {
            let mut smaller = smallest.clone();
            let mut number = at;
            if !cut(&mut smaller, &mut number) {
                break;
            }
            match fails(&smaller) {
                Some(_) if !smaller.is_empty() => smallest = smaller,
                _ => at += 1,
            }
        }
        let written = write(&smallest);
        let failure = fails(&smallest).unwrap_or_else(|| "It did not fail a second time.".to_owned());
        let request = self.request(&written.text, &written.variables);
        let planned = plan(self.world.model, &request, &support::settings())
            .map_or_else(|_| String::new(), |(plan, _)| plan.to_text(self.world.model));
        format!("{}\nvariables {}\n{failure}\n{planned}", written.text, Value::Object(written.variables))
    }
}

/// Removes the selection or the argument with this number, or a fragment around its selections; false if there are
/// fewer.
fn cut(set: &mut Vec<Node>, number: &mut usize) -> bool {
    for position in 0..set.len() {
        if *number == 0 {
            set.remove(position);
            return true;
        }
        *number -= 1;
        if let What::Fragment { .. } = &set[position].what {
            if *number == 0 {
                let inner = set.remove(position).set;
                set.splice(position..position, inner);
                return true;
            }
            *number -= 1;
        }
        if let What::Field { arguments, .. } = &mut set[position].what {
            for argument in 0..arguments.len() {
                let needed = arguments[argument].ty.is_non_null();
                if needed && !arguments[argument].variable {
                    continue;
                }
                if *number == 0 {
                    if needed {
                        arguments[argument].variable = false
                    } else {
                        drop(arguments.remove(argument))
                    }
                    return true;
                }
                *number -= 1;
            }
        }
        let had = !set[position].set.is_empty();
        if cut(&mut set[position].set, number) {
            if had && set[position].set.is_empty() {
                set.remove(position);
            }
            return true;
        }
    }
    false
}
