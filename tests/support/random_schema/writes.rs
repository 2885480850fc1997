//! Random fields of `Mutation`: every kind of write of every type.

use super::keys::{is_assigned, is_kept, is_numbered};
use super::mutations::{Action, Argument, Clause, Condition, Found, Mutation, Returns, Source, Verb};
use super::values::value;
use super::{Dimensions, Field, ItemType, Kind, Rng, Schema, Template, chance, pick};

/// The fields of `Mutation`.
pub fn random(rng: &mut Rng, schema: &Schema, dimensions: &Dimensions) -> Vec<Mutation> {
    let mut all = Vec::new();
    let schema = &Scope { schema, dimensions };
    for item in 0..schema.types.len() {
        all.push(put(rng, schema, item));
        if dimensions.guarded {
            all.extend([put, put, delete, delete, edit, change, relocate].map(|make| make(rng, schema, item)));
            continue;
        }
        for make in [
            put,
            edit,
            edit,
            change,
            change,
            delete,
            delete,
            many,
            element,
            transfer,
            put_and_count,
            number,
            shift,
            relocate,
            both,
        ] {
            if chance(rng, 45) {
                all.push(make(rng, schema, item));
            }
        }
    }
    let mut all: Vec<Mutation> = all.into_iter().filter(|mutation| !mutation.actions.is_empty()).collect();
    for (number, mutation) in all.iter_mut().enumerate() {
        mutation.name += &number.to_string();
        give_shards(rng, schema, mutation);
        mutation.is_listed = chance(rng, 30) && can_be_listed(mutation);
        mutation.non_null |= mutation.is_listed;
        // An `id` is that of the only type that is named.
        let is_of_one = |item: usize| item == mutation.actions[0].item;
        let is_of_one = mutation.actions.iter().map(|action| action.item).all(is_of_one)
            && mutation.found.iter().map(|found| found.item).all(is_of_one);
        mutation.is_wrapped = is_of_one && chance(rng, 20);
    }
    all
}

/// Whether a mutation can be made for each element of a list: each of its directives is about one whole item.
fn can_be_listed(mutation: &Mutation) -> bool {
    let is_whole = |action: &Action| match &action.verb {
        Verb::Update { many, .. } => !many,
        Verb::Delete { many, cascade } => !many && cascade.is_empty(),
        Verb::Append | Verb::ChangeElement | Verb::RemoveElement | Verb::Entry(..) => false,
        Verb::Check | Verb::Put { .. } | Verb::Change(_) | Verb::Move => true,
    };
    mutation.actions.iter().all(is_whole) && mutation.returns != Returns::Items(0)
}

/// Gives each new item the number of its shard, if another program assigns it, and some writes that of the item to
/// find.
fn give_shards(rng: &mut Rng, schema: &Schema, mutation: &mut Mutation) {
    for (position, action) in mutation.actions.iter_mut().enumerate() {
        let ty = &schema.types[action.item];
        let in_key = is_numbered(schema.table_of(ty), ty);
        if let Verb::Update { upsert, .. } = &mut action.verb {
            // Only the key of the item to find binds a number.
            *upsert &= in_key || !is_assigned(ty);
        }
        let makes = matches!(action.verb, Verb::Put { .. } | Verb::Update { upsert: true, .. });
        // The clause of an appended element binds its own fields.
        if is_assigned(ty) && (makes || in_key && action.verb != Verb::Append && chance(rng, 25)) {
            let (name, of) = (format!("shard{position}"), action.item);
            action.number = Some(name.clone());
            mutation.arguments.push(Argument { name, kind: Kind::Number, of, non_null: true, field: None });
        }
    }
}

/// The types, and which writes of them are allowed.
struct Scope<'s> {
    schema: &'s Schema,
    dimensions: &'s Dimensions,
}

impl std::ops::Deref for Scope<'_> {
    type Target = Schema;

    fn deref(&self) -> &Schema {
        self.schema
    }
}

/// A mutation under construction.
struct Making<'s> {
    schema: &'s Schema,
    made: Mutation,
}

impl<'s> Making<'s> {
    fn new(scope: &Scope<'s>, verb: &str, item: usize) -> Self {
        let schema = scope.schema;
        let name = format!("{verb}{}", schema.types[item].name);
        let made = Mutation {
            name,
            arguments: Vec::new(),
            found: None,
            actions: Vec::new(),
            returns: Returns::True,
            non_null: true,
            is_listed: false,
            is_wrapped: false,
        };
        Self { schema, made }
    }

    /// No mutation: the type lacks what it needs.
    fn none(mut self) -> Mutation {
        self.made.actions.clear();
        self.made
    }

    /// An argument of this name for a field.
    fn argument(&mut self, name: &str, of: usize, field: &str, non_null: bool, written: bool) -> Source {
        if self.made.arguments.iter().all(|argument| argument.name != name) {
            let kind = self.schema.types[of].field(field).kind;
            let field = written.then(|| field.to_owned());
            self.made.arguments.push(Argument { name: name.to_owned(), kind, of, non_null, field });
        }
        Source::Argument(name.to_owned())
    }

    /// The key of an item. Each field is given by an argument whose name has this prefix.
    fn key(&mut self, of: usize, prefix: &str) -> Vec<(String, Source)> {
        let ty = &self.schema.types[of];
        let fields = ty.key_fields(self.schema.table_of(ty));
        fields
            .into_iter()
            .map(|field| (field.to_owned(), self.argument(&format!("{prefix}{field}"), of, field, true, false)))
            .collect()
    }

    /// The values of a put: all that are required, and some of the others. With a prefix, a required list always has an
    /// argument, because an item in scope could otherwise fill it.
    fn values(&mut self, rng: &mut Rng, of: usize, prefix: &str) -> Vec<(String, Source)> {
        let mut values = Vec::new();
        for field in self.schema.types[of].fields.iter().filter(|field| !field.version) {
            let needed = field.non_null && field.default.is_none();
            let brings = match (&field.default, field.kind) {
                _ if needed && (!matches!(field.kind, Kind::Log | Kind::Parts) || !prefix.is_empty()) => true,
                (Some(_), _) => chance(rng, 30),
                _ => chance(rng, 75),
            };
            let ty = &self.schema.types[of];
            let is_key = ty.key_fields(self.schema.table_of(ty)).contains(&field.name.as_str());
            if brings && field.kind == Kind::Int && !is_key && !field.unique && chance(rng, 12) {
                // Null is no summand.
                self.argument(&format!("{prefix}{}", field.name), of, &field.name, true, true);
                values.push((field.name.clone(), Source::Next(format!("{prefix}{}", field.name))));
            } else if let Some(made) = self.literal(rng, of, field).filter(|_| brings) {
                values.push((field.name.clone(), made));
            } else if brings {
                let source = self.argument(&format!("{prefix}{}", field.name), of, &field.name, needed, true);
                values.push((field.name.clone(), source));
            }
        }
        values
    }

    /// A literal for a field, sometimes, if it is of a kind that has literals and no key field.
    fn literal(&self, rng: &mut Rng, of: usize, field: &Field) -> Option<Source> {
        let ty = &self.schema.types[of];
        let is_key = ty.key_fields(self.schema.table_of(ty)).contains(&field.name.as_str());
        let is_link = field.name.ends_with("Id");
        let has_literals =
            matches!(field.kind, Kind::Text | Kind::Int | Kind::Flag | Kind::Status | Kind::TextInt | Kind::NumberFlag);
        (has_literals && !is_key && !is_link && !field.unique && chance(rng, 15))
            .then(|| Source::Made(value(rng, field.kind)))
    }

    fn add(
        &mut self,
        verb: Verb,
        item: usize,
        key: Vec<(String, Source)>,
        values: Vec<(String, Source)>,
    ) -> &mut Action {
        self.made.actions.push(Action {
            verb,
            item,
            key,
            values,
            condition: None,
            number: None,
            version: None,
            by_name: false,
        });
        self.made.actions.last_mut().unwrap()
    }

    /// A condition on an item's attributes, with this probability in percent.
    fn condition(&mut self, rng: &mut Rng, of: usize, percent: u8) -> Option<Condition> {
        chance(rng, percent).then(|| {
            let one = self.single_condition(rng, of, "c");
            match rng.u8(..5) {
                0 => Condition::And(Box::new(one), Box::new(self.single_condition(rng, of, "d"))),
                1 => Condition::Or(Box::new(one), Box::new(self.single_condition(rng, of, "d"))),
                _ => one,
            }
        })
    }

    fn single_condition(&mut self, rng: &mut Rng, of: usize, prefix: &str) -> Condition {
        let ty = &self.schema.types[of];
        let comparable = |field: &&Field| {
            matches!(
                field.kind,
                Kind::Id
                    | Kind::Text
                    | Kind::Int
                    | Kind::Status
                    | Kind::Flag
                    | Kind::Time(_)
                    | Kind::TextInt
                    | Kind::NumberFlag
                    | Kind::NumberId
                    | Kind::AwsText(_)
                    | Kind::Stamp
            )
        };
        let kept: Vec<&Field> =
            ty.fields.iter().filter(|field| is_kept(self.schema.table_of(ty), ty, field)).filter(comparable).collect();
        if kept.is_empty() {
            return Condition::Exists("id".to_owned());
        }
        let field = *pick(rng, &kept);
        let name = format!("{prefix}_{}", field.name);
        match (rng.u8(..4), field.kind) {
            (0, _) if !field.non_null => Condition::Missing(field.name.clone()),
            (1, _) => Condition::Exists(field.name.clone()),
            (_, Kind::Int) => {
                self.argument(&name, of, &field.name, true, false);
                Condition::AtLeast(field.name.clone(), name)
            }
            _ => {
                self.argument(&name, of, &field.name, true, false);
                Condition::Equal(field.name.clone(), name)
            }
        }
    }

    /// Requires that the parent exists. Key fields of the parent that the item lacks are separate arguments.
    fn check_parent(&mut self, item: usize, prefix: &str) -> bool {
        let Some(parent) = self.schema.types[item].parent else { return false };
        let ty = &self.schema.types[parent];
        let link = format!("{}Id", ty.small());
        let key = ty.key_fields(self.schema.table_of(ty)).into_iter().map(|field| {
            let name = if field == "id" { format!("{prefix}{link}") } else { format!("up_{field}") };
            let source = match field {
                "id" => self.argument(&name, item, &link, true, false),
                _ => self.argument(&name, parent, field, true, false),
            };
            (field.to_owned(), source)
        });
        let key = key.collect();
        let check = self.add(Verb::Check, parent, key, Vec::new());
        check.condition = Some(Condition::Exists("id".to_owned()));
        true
    }

    fn returns(mut self, returns: Returns, non_null: bool) -> Mutation {
        self.made.returns = returns;
        self.made.non_null = non_null;
        self.made
    }

    fn kept(&self, ty: &ItemType, field: &Field) -> bool {
        is_kept(self.schema.table_of(ty), ty, field)
    }
}

fn put(rng: &mut Rng, schema: &Scope, item: usize) -> Mutation {
    let mut making = Making::new(schema, "put", item);
    let guarded = schema.dimensions.guarded;
    if chance(rng, 40) || guarded {
        making.check_parent(item, "");
    }
    let values = making.values(rng, item, "");
    let replace = chance(rng, 25) && !guarded;
    let by_name = making.made.actions.is_empty();
    making.add(Verb::Put { replace }, item, Vec::new(), values).by_name = by_name;
    let last = making.made.actions.len() - 1;
    making.returns(Returns::Item(last), true)
}

fn edit(rng: &mut Rng, schema: &Scope, item: usize) -> Mutation {
    let mut making = Making::new(schema, "edit", item);
    let (by_name, upsert) =
        (chance(rng, 60), schema.dimensions.upserts && !schema.dimensions.guarded && chance(rng, 25));
    let ty = &schema.types[item];
    let key = making.key(item, if by_name { "" } else { "k_" });
    let key_fields = ty.key_fields(schema.table_of(ty));
    let mut values = Vec::new();
    for field in ty.fields.iter().filter(|field| !field.version && !key_fields.contains(&field.name.as_str())) {
        let needed =
            upsert && field.non_null && field.default.is_none() && !matches!(field.kind, Kind::Log | Kind::Parts);
        if needed || chance(rng, 40) {
            let non_null = needed || chance(rng, 15);
            let made = making.literal(rng, item, field);
            values.push((
                field.name.clone(),
                made.unwrap_or_else(|| making.argument(&field.name, item, &field.name, non_null, true)),
            ));
        }
    }
    if values.is_empty() {
        return making.none();
    }
    let condition = if upsert { None } else { making.condition(rng, item, 25) };
    let version =
        ty.fields.iter().find(|field| field.version && !upsert && chance(rng, 45)).map(|field| field.name.clone());
    if let Some(version) = &version {
        let non_null = chance(rng, 60);
        making.argument(version, item, version, non_null, false);
    }
    let action = making.add(Verb::Update { upsert, many: false }, item, key, values);
    (action.by_name, action.condition, action.version) = (by_name, condition, version);
    let non_null = chance(rng, 15);
    making.returns(Returns::Item(0), non_null)
}

/// An update with an expression.
fn change(rng: &mut Rng, schema: &Scope, item: usize) -> Mutation {
    let mut making = Making::new(schema, "change", item);
    let by_name = chance(rng, 60);
    let ty = &schema.types[item];
    let key = making.key(item, if by_name { "" } else { "k_" });
    let key_fields = ty.key_fields(schema.table_of(ty));
    let mut fields: Vec<&Field> =
        ty.fields.iter().filter(|field| !field.version && !key_fields.contains(&field.name.as_str())).collect();
    rng.shuffle(&mut fields);
    let mut clauses = Vec::new();
    for field in fields.into_iter().take(3) {
        let free =
            !ty.decides_keys(&field.name) && !field.unique && field.constraint.is_none() && making.kept(ty, field);
        let name = format!("v_{}", field.name);
        let clause = match (field.kind, rng.u8(..4)) {
            (Kind::Int, 0) if free && field.non_null => Clause::Plus(field.name.clone(), name.clone()),
            (Kind::Int, 1) if free && field.non_null => Clause::Minus(field.name.clone(), name.clone()),
            (Kind::Int, 0) if free => Clause::Once(field.name.clone(), name.clone()),
            (Kind::Int, 2) if free => Clause::Add(field.name.clone(), name.clone()),
            (Kind::Log, 0 | 1) if free => Clause::Append(field.name.clone(), name.clone()),
            (Kind::Set, 0 | 1) if free => Clause::Add(field.name.clone(), name.clone()),
            (Kind::Set, 2) if free => Clause::Take(field.name.clone(), name.clone()),
            (_, 3) if !field.non_null => Clause::Remove(field.name.clone()),
            (Kind::Parts, _) => continue,
            _ if field.constraint.is_some() && !schema.dimensions.constrained_expressions => continue,
            _ => Clause::Set(field.name.clone(), name.clone()),
        };
        match clause {
            Clause::Remove(_) => {}
            Clause::Set(..) => {
                let free = schema.dimensions.absent_in_expressions || !ty.decides_keys(&field.name) && !field.unique;
                let non_null = field.non_null || !free || chance(rng, 50);
                making.argument(&name, item, &field.name, non_null, true);
            }
            _ => _ = making.argument(&name, item, &field.name, true, false),
        }
        clauses.push(clause);
    }
    if clauses.is_empty() {
        return making.none();
    }
    let condition = making.condition(rng, item, 25);
    let action = making.add(Verb::Change(clauses), item, key, Vec::new());
    (action.by_name, action.condition) = (by_name, condition);
    making.returns(Returns::Item(0), false)
}

fn delete(rng: &mut Rng, schema: &Scope, item: usize) -> Mutation {
    let mut making = Making::new(schema, "delete", item);
    if !schema.dimensions.deletes {
        return making.none();
    }
    let by_name = chance(rng, 60);
    let key = making.key(item, if by_name { "" } else { "k_" });
    let condition = making.condition(rng, item, 20);
    let mut cascade = Vec::new();
    for child in schema.children(item).collect::<Vec<_>>() {
        let relation = format!("{}s", schema.types[child].small());
        if schema.dimensions.guarded || schema.dimensions.cascades && chance(rng, 70) {
            for grandchild in schema.children(child).collect::<Vec<_>>() {
                if chance(rng, 70) || schema.dimensions.guarded {
                    cascade.push(format!("{relation}.{}s", schema.types[grandchild].small()));
                }
            }
            cascade.push(relation);
        }
    }
    let ty = &schema.types[item];
    let version = ty.fields.iter().find(|field| field.version && chance(rng, 40)).map(|field| field.name.clone());
    if let Some(version) = &version {
        let non_null = chance(rng, 60);
        making.argument(version, item, version, non_null, false);
    }
    let action = making.add(Verb::Delete { many: false, cascade }, item, key, Vec::new());
    (action.by_name, action.condition, action.version) = (by_name, condition, version);
    let non_null = schema.dimensions.certain_deletes && chance(rng, 20);
    making.returns(Returns::Item(0), non_null)
}

/// An update or a delete of all items of a partition.
fn many(rng: &mut Rng, schema: &Scope, item: usize) -> Mutation {
    let mut making = Making::new(schema, "many", item);
    let ty = &schema.types[item];
    let table = schema.table_of(ty);
    let partition = ty.key(&table.partition).unwrap()[0].fields();
    let key_fields = ty.key_fields(table);
    let bound = |template: &Template| template.fields().iter().all(|field| partition.contains(field));
    let of_indexes = table.indexes.iter().filter(|index| !index.local).filter_map(|index| ty.key(&index.partition));
    let other = of_indexes.flatten().any(bound) && !schema.dimensions.indexes_for_many;
    if partition.len() == key_fields.len() || other || !schema.dimensions.many {
        return making.none();
    }
    let key =
        partition.iter().map(|field| ((*field).to_owned(), making.argument(field, item, field, true, false))).collect();
    let condition = making.condition(rng, item, 35);
    let settable = |field: &&Field| !field.version && !field.unique && !key_fields.contains(&field.name.as_str());
    let fields: Vec<&Field> = ty.fields.iter().filter(settable).collect();
    let action = if (chance(rng, 50) || !schema.dimensions.deletes) && !fields.is_empty() {
        let field = pick(rng, &fields);
        let non_null = field.non_null && field.default.is_some() && !schema.dimensions.nulls_of_many;
        let values = vec![(field.name.clone(), making.argument(&field.name, item, &field.name, non_null, true))];
        making.add(Verb::Update { upsert: false, many: true }, item, key, values)
    } else {
        making.add(Verb::Delete { many: true, cascade: Vec::new() }, item, key, Vec::new())
    };
    action.by_name = matches!(action.verb, Verb::Delete { .. });
    action.condition = condition;
    making.returns(Returns::Items(0), true)
}

/// Appends, changes or removes an element of the list of embedded objects.
fn element(rng: &mut Rng, schema: &Scope, item: usize) -> Mutation {
    let mut making = Making::new(schema, "part", item);
    let ty = &schema.types[item];
    if ty.get("parts").is_none() {
        return making.none();
    }
    let argument = |making: &mut Making, name: &str, kind: Kind, non_null: bool| {
        making.made.arguments.push(Argument { name: name.to_owned(), kind, of: item, non_null, field: None });
        Source::Argument(name.to_owned())
    };
    let verb = [Verb::Append, Verb::Append, Verb::ChangeElement, Verb::RemoveElement][rng.usize(..4)].clone();
    // A put's `set:` binds the element's fields, so the names of arguments find the item.
    let by_name = verb == Verb::Append;
    let mut key = making.key(item, if by_name { "" } else { "k_" });
    if let Some((_, source)) = key.iter_mut().find(|(field, _)| by_name && field == "id") {
        let name = format!("{}Id", ty.small());
        making.made.arguments.iter_mut().find(|argument| argument.name == "id").unwrap().name = name.clone();
        *source = Source::Argument(name);
    }
    let mut values = Vec::new();
    match verb {
        Verb::Append => values.push(("*".to_owned(), argument(&mut making, "input", Kind::Part, true))),
        Verb::ChangeElement => {
            argument(&mut making, "part", Kind::Id, true);
            values.push(("text".to_owned(), argument(&mut making, "text", Kind::Text, false)));
        }
        _ => _ = argument(&mut making, "part", Kind::Id, true),
    }
    let condition = making.condition(rng, item, 15);
    let action = making.add(verb, item, key, values);
    (action.condition, action.by_name) = (condition, by_name);
    making.returns(Returns::Item(0), false)
}

/// Moves an amount from one item's total to another's.
fn transfer(rng: &mut Rng, schema: &Scope, item: usize) -> Mutation {
    let mut making = Making::new(schema, "transfer", item);
    if !counts(schema, item, "total") {
        return making.none();
    }
    for (prefix, clause) in [
        ("from_", Clause::Minus("total".to_owned(), "amount".to_owned())),
        ("to_", Clause::Plus("total".to_owned(), "amount".to_owned())),
    ] {
        let key = making.key(item, prefix);
        making.argument("amount", item, "total", true, false);
        let action = making.add(Verb::Change(vec![clause]), item, key, Vec::new());
        if prefix == "from_" && chance(rng, 60) {
            action.condition = Some(Condition::AtLeast("total".to_owned(), "amount".to_owned()));
        }
    }
    making.returns(Returns::True, true)
}

/// Puts a child and counts it in its parent's total.
fn put_and_count(rng: &mut Rng, schema: &Scope, item: usize) -> Mutation {
    let mut making = Making::new(schema, "count", item);
    let Some(parent) = schema.types[item].parent.filter(|parent| counts(schema, *parent, "total")) else {
        return making.none();
    };
    let values = making.values(rng, item, "n_");
    making.add(Verb::Put { replace: false }, item, Vec::new(), values);
    let key = making.key(parent, "up_");
    making.add(Verb::Change(vec![Clause::Next("total".to_owned())]), parent, key, Vec::new());
    making.returns(Returns::Item(0), true)
}

/// Puts a child with a number that its parent gives out.
fn number(rng: &mut Rng, schema: &Scope, item: usize) -> Mutation {
    let mut making = Making::new(schema, "number", item);
    let ty = &schema.types[item];
    let Some(parent) = ty.parent.filter(|parent| schema.dimensions.found_values && counts(schema, *parent, "next"))
    else {
        return making.none();
    };
    let numbered = |field: &&Field| field.kind == Kind::Int && !field.version && field.constraint.is_none();
    let Some(field) = ty.fields.iter().rfind(numbered) else { return making.none() };
    let key = making.key(parent, "up_");
    making.made.found = Some(Found { item: parent, key: key.clone() });
    making.add(Verb::Change(vec![Clause::Next("next".to_owned())]), parent, key, Vec::new());
    let mut values = making.values(rng, item, "n_");
    values.retain(|(name, _)| *name != field.name);
    making.made.arguments.retain(|argument| argument.name != format!("n_{}", field.name));
    values.push((field.name.clone(), Source::Found("next".to_owned())));
    making.add(Verb::Put { replace: false }, item, Vec::new(), values);
    making.returns(Returns::Item(1), true)
}

/// Moves an item: finds it, puts it under another key with all its values, and deletes it.
fn shift(rng: &mut Rng, schema: &Scope, item: usize) -> Mutation {
    let mut making = Making::new(schema, "move", item);
    let ty = &schema.types[item];
    if !schema.dimensions.found_values
        || !schema.dimensions.deletes
        || ty
            .fields
            .iter()
            .any(|field| field.unique || !schema.dimensions.found_nulls && field.default.is_some() && !field.non_null)
    {
        return making.none();
    }
    let key = making.key(item, "k_");
    making.made.found = Some(Found { item, key: key.clone() });
    let key_fields = ty.key_fields(schema.table_of(ty));
    let moved = (*pick(rng, &key_fields)).to_owned();
    let mut values = Vec::new();
    for field in ty.fields.iter().filter(|field| !field.version) {
        let source = match field.name == moved {
            true => making.argument(&format!("to_{moved}"), item, &moved, true, true),
            false => Source::Found(field.name.clone()),
        };
        values.push((field.name.clone(), source));
    }
    making.add(Verb::Put { replace: false }, item, Vec::new(), values);
    making.add(Verb::Delete { many: false, cascade: Vec::new() }, item, key, Vec::new());
    making.returns(Returns::True, true)
}

/// Moves an item to another key, with all that it has. What belongs to others is moved if nothing belongs to it, and
/// only to where its parent is.
fn relocate(rng: &mut Rng, schema: &Scope, item: usize) -> Mutation {
    let mut making = Making::new(schema, "relocate", item);
    let ty = &schema.types[item];
    let guarded = schema.dimensions.guarded;
    let follows_rule = is_assigned(ty) && !schema.dimensions.any_numbers;
    if !schema.dimensions.deletes || follows_rule || guarded && schema.children(item).next().is_some() {
        return making.none();
    }
    let key_fields: Vec<String> = ty.key_fields(schema.table_of(ty)).into_iter().map(str::to_owned).collect();
    let link = ty.parent.map(|parent| format!("{}Id", schema.types[parent].small()));
    let first = pick(rng, &key_fields).clone();
    let moves = |field: &Field| key_fields.contains(&field.name) && (field.name == first);
    let mut values = Vec::new();
    for field in ty.fields.iter().filter(|field| !field.version) {
        let is_key = key_fields.contains(&field.name);
        if moves(field) || chance(rng, if is_key { 30 } else { 20 }) && !(guarded && Some(&field.name) == link.as_ref())
        {
            let non_null = chance(rng, if is_key { 80 } else { 15 });
            let name = format!("to_{}", field.name);
            values.push((field.name.clone(), making.argument(&name, item, &field.name, non_null, true)));
        }
    }
    let of_link = link.is_some_and(|link| values.iter().any(|(field, _)| *field == link));
    if guarded && of_link {
        making.made.arguments.clear();
        values.retain(|(field, _)| key_fields.contains(field));
        values.iter().for_each(|(field, _)| _ = making.argument(&format!("to_{field}"), item, field, true, true));
        making.check_parent(item, "to_");
    }
    let key = making.key(item, "k_");
    let condition = making.condition(rng, item, 20);
    let version = ty.fields.iter().find(|field| field.version && chance(rng, 40)).map(|field| field.name.clone());
    if let Some(version) = &version {
        let non_null = chance(rng, 60);
        making.argument(version, item, version, non_null, false);
    }
    let action = making.add(Verb::Move, item, key, values);
    (action.condition, action.version) = (condition, version);
    let last = making.made.actions.len() - 1;
    making.returns(Returns::Item(last), false)
}

/// Puts two items of any types.
fn both(rng: &mut Rng, schema: &Scope, item: usize) -> Mutation {
    let mut making = Making::new(schema, "both", item);
    let other = rng.usize(..schema.types.len());
    for (of, prefix) in [(item, "one_"), (other, "two_")] {
        let values = making.values(rng, of, prefix);
        making.add(Verb::Put { replace: chance(rng, 30) }, of, Vec::new(), values);
    }
    making.returns(Returns::True, true)
}

/// Whether a type has a number of this name that expressions can count.
fn counts(schema: &Scope, item: usize, field: &str) -> bool {
    let ty = &schema.types[item];
    ty.get(field).is_some_and(|field| !ty.decides_keys(&field.name) && is_kept(schema.table_of(ty), ty, field))
}
