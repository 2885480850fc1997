//! An operation and all items of the store in; the data and the errors that the gateway must give, out: field by field,
//! in the simplest way, without a plan and without batches (GraphQL specification, section 6.4 "Executing Fields").

use super::document::{Arguments, Document, Selected};
use super::pages::{Cursors, Paging};
use super::rows::{Code, Row, World};
use super::values::{Held, elements, held, scalar};
use apollo_compiler::ast::Type;
use apollo_compiler::executable::SelectionSet;
use keyfold::schema::model::find::{Access, Find, Returns, Via};
use keyfold::schema::model::source::Source;
use keyfold::schema::model::{Field, FieldKind, ObjectType};
use keyfold::schema::scalar::form::MapForm;
use keyfold::schema::scalar::value_type::ValueType;
use keyfold::table::data::attribute::{Attribute, Item};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A value that may not be null is null, so its parent becomes null.
struct Null;

/// The parts of an error that are compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// As JSON.
    pub path: String,
    pub code: String,
    pub line: usize,
    pub column: usize,
}

/// Runs one operation.
pub struct Naive<'w, 'd> {
    world: &'d World<'w>,
    document: &'d Document,
    cursors: &'d Cursors,
    path: Vec<Value>,
    location: (usize, usize),
    faults: Vec<Fault>,
}

impl<'w, 'd> Naive<'w, 'd> {
    /// The data and the errors of an operation. A cursor appears as `{"cursor": place}`.
    pub fn run(world: &'d World<'w>, document: &'d Document, cursors: &'d Cursors) -> (Value, Vec<Fault>) {
        let mut naive = Self::new(world, document, cursors);
        let query = document.schema.schema_definition.query.as_ref().map_or("Query", |name| name.as_str());
        let root = Row::of(world.type_named(query));
        let data = naive.object(&root, &document.root()).unwrap_or(Value::Null);
        naive.faults.sort();
        (data, naive.faults)
    }

    /// Before its first field.
    pub fn new(world: &'d World<'w>, document: &'d Document, cursors: &'d Cursors) -> Self {
        Naive { world, document, cursors, path: Vec::new(), location: (0, 0), faults: Vec::new() }
    }

    fn fault(&mut self, code: Code) -> Null {
        let (line, column) = self.location;
        self.faults.push(Fault { path: json!(self.path).to_string(), code: code.to_owned(), line, column });
        Null
    }

    /// A value at a step of the path. If it fails and its type allows null, it becomes null.
    fn at(
        &mut self,
        step: Value,
        ty: &Type,
        value: impl FnOnce(&mut Self) -> Result<Value, Null>,
    ) -> Result<Value, Null> {
        self.path.push(step);
        let value = value(self);
        self.path.pop();
        match value {
            Err(Null) if !ty.is_non_null() => Ok(Value::Null),
            other => other,
        }
    }

    /// The selected fields of an object of a type, each computed from its source.
    fn fields(
        &mut self,
        sets: &[&SelectionSet],
        type_name: &str,
        mut value: impl FnMut(&mut Self, &Selected<'_>) -> Result<Value, Null>,
    ) -> Result<Value, Null> {
        let document = self.document;
        let mut object = Map::new();
        for selected in document.collect(sets, type_name) {
            let outer = std::mem::replace(&mut self.location, document.location(selected.fields[0]));
            // Use the type's own field: a field that an interface lets be null may be non-null in it.
            let field = document.schema.type_field(type_name, selected.name());
            let ty = field.map_or_else(|_| selected.fields[0].definition.ty.clone(), |field| field.ty.clone());
            let made = self.at(json!(selected.key), &ty, |naive| match selected.name() {
                "__typename" => Ok(json!(type_name)),
                _ => value(naive, &selected),
            });
            self.location = outer;
            object.insert(selected.key, made?);
        }
        Ok(Value::Object(object))
    }

    fn object(&mut self, row: &Row<'w>, sets: &[&SelectionSet]) -> Result<Value, Null> {
        self.fields(sets, &row.ty.name, |naive, selected| {
            let field = &row.ty.fields[selected.name()];
            match &field.kind {
                FieldKind::Stored(_) => naive.stored(row, (field, &field.ty), selected),
                FieldKind::Find(find) => naive.found(row, (field, find), selected),
                FieldKind::Computed(_) => naive.computed(row, field),
                _ => unreachable!("{} is no field of a query", field.name),
            }
        })
    }

    fn missing(&mut self, ty: &Type) -> Result<Value, Null> {
        if ty.is_non_null() { Err(self.fault("INTERNAL")) } else { Ok(Value::Null) }
    }

    fn stored(&mut self, row: &Row<'w>, (field, ty): (&Field, &Type), selected: &Selected<'_>) -> Result<Value, Null> {
        let FieldKind::Stored(stored) = &field.kind else { unreachable!() };
        let known = || row.known.get(&field.name).cloned().map(Held::Value);
        let value = row.item.map_or_else(known, |item| held(row.ty, &field.name, item));
        match value {
            Some(Held::Value(value)) if !value.is_null() => Ok(value),
            Some(Held::Attribute(attribute)) if *attribute != Attribute::Null => match attribute {
                Cow::Borrowed(attribute) => self.complete(ty, &stored.value, attribute, &selected.sets()),
                Cow::Owned(_) => unreachable!(),
            },
            // A missing list is empty if it may not be null.
            _ if ty.is_list() && ty.is_non_null() => Ok(json!([])),
            _ => self.missing(ty),
        }
    }

    /// A value of the object's fields: null if one of them is, and an error if one of them cannot be read.
    fn computed(&mut self, row: &Row<'w>, field: &Field) -> Result<Value, Null> {
        let written = self.world.rules.computed(&row.ty.name, &field.name).expect("a computed field");
        let mut values: BTreeMap<String, Value> = BTreeMap::new();
        for name in written.fields() {
            let FieldKind::Stored(stored) = &row.ty.fields[&name].kind else { panic!("{name} is stored") };
            let known = || row.known.get(&name).cloned().map(Held::Value);
            let value = match row.item.map_or_else(known, |item| held(row.ty, &name, item)) {
                Some(Held::Value(value)) => value,
                Some(Held::Attribute(attribute)) if *attribute != Attribute::Null => {
                    scalar(&stored.value, &attribute).ok_or(()).map_err(|()| self.fault("INTERNAL"))?
                }
                _ => Value::Null,
            };
            values.insert(name, value);
        }
        if values.values().any(Value::is_null) {
            return self.missing(&field.ty);
        }
        written.value(&field.ty, &|name| values[name].clone()).ok_or(()).map_err(|()| self.fault("INTERNAL"))
    }

    /// A stored value in the form of its type.
    fn complete(
        &mut self,
        ty: &Type,
        kind: &ValueType,
        attribute: &'w Attribute,
        sets: &[&SelectionSet],
    ) -> Result<Value, Null> {
        match (ty, attribute) {
            (_, Attribute::Null) => self.missing(ty),
            (Type::List(item) | Type::NonNullList(item), Attribute::M(map)) if let ValueType::Map(form) = kind => {
                let object = ValueType::Embedded(form.element.clone());
                let entries: BTreeMap<&str, &Attribute> = map.iter().map(|(key, entry)| (&**key, entry)).collect();
                let each = |(position, (key, entry))| {
                    // The objects of a map are nowhere, so each is made for the rest of the test.
                    let made: &'w Attribute = Box::leak(Box::new(object_of_entry(form, key, entry)));
                    self.at(json!(position), item, |naive| naive.complete(item, &object, made, sets))
                };
                entries.into_iter().enumerate().map(each).collect::<Result<_, Null>>().map(Value::Array)
            }
            (Type::List(item) | Type::NonNullList(item), list) => {
                let element = if let ValueType::Set(element) = kind { element } else { kind };
                let is_list = matches!((list, kind), (Attribute::L(_), _) | (_, ValueType::Set(_)))
                    && !matches!(kind, ValueType::Map(_));
                if !is_list {
                    return Err(self.fault("INTERNAL"));
                }
                let Attribute::L(values) = list else {
                    // Sets hold scalars only.
                    let values = elements(list).ok_or(()).map_err(|()| self.fault("INTERNAL"))?;
                    return Ok(values.iter().map(|value| scalar(element, value).unwrap_or(Value::Null)).collect());
                };
                let each = |(position, value)| {
                    self.at(json!(position), item, |naive| naive.complete(item, element, value, sets))
                };
                values.iter().enumerate().map(each).collect::<Result<_, Null>>().map(Value::Array)
            }
            (_, Attribute::M(map)) if let ValueType::Embedded(name) = kind => {
                let row = Row { item: Some(map), ..Row::of(self.world.type_named(name)) };
                self.object(&row, sets)
            }
            _ => scalar(kind, attribute).ok_or(()).map_err(|()| self.fault("INTERNAL")),
        }
    }

    fn found(
        &mut self,
        row: &Row<'w>,
        (field, find): (&'w Field, &'w Find),
        selected: &Selected<'_>,
    ) -> Result<Value, Null> {
        let sets = selected.sets();
        let arguments = self.document.arguments(selected.fields[0]);
        let pages = find.returns == Returns::Connection;
        let paging = match pages.then(|| self.paging(&arguments, (field, find))).transpose() {
            Ok(paging) => paging,
            Err(code) => return Err(self.fault(code)),
        };
        let nodes = if pages { self.nodes(&sets, field) } else { sets.clone() };
        let mut rows = match self.follow(row, (field, find), &arguments, (&nodes, find.returns)) {
            Ok(rows) => rows,
            Err(code) => return Err(self.fault(code)),
        };
        match find.returns {
            Returns::Exists => Ok(json!(rows.iter().any(Option::is_some))),
            Returns::Count => Ok(json!(rows.iter().flatten().count())),
            Returns::One => match rows.into_iter().flatten().next() {
                Some(row) => self.object(&row, &sets),
                None if field.ty.is_non_null() => Err(self.fault("NOT_FOUND")),
                None => Ok(Value::Null),
            },
            Returns::List => {
                let item = field.ty.item_type();
                if rows.iter().flatten().count() > find.max as usize {
                    return Err(self.fault("LIMIT_EXCEEDED"));
                }
                if item.is_non_null() {
                    rows.retain(Option::is_some);
                }
                self.elements(item, rows, &sets)
            }
            Returns::Connection => {
                let rows = rows.into_iter().flatten().collect();
                self.page(rows, paging.unwrap(), &self.list_key(row, (field, find), &arguments), (field, &sets))
            }
        }
    }

    /// The page that the arguments of a field ask for.
    pub fn paging(&self, arguments: &Arguments, (field, find): (&Field, &Find)) -> Result<Paging, Code> {
        let page = self.document.schema.get_object(field.ty.inner_named_type());
        let is_of_items = page.is_some_and(|page| page.fields.contains_key("items"));
        Paging::of(arguments, field, (find.max, is_of_items))
    }

    fn elements(&mut self, item: &Type, rows: Vec<Option<Row<'w>>>, sets: &[&SelectionSet]) -> Result<Value, Null> {
        let each = |(position, row): (usize, Option<Row<'w>>)| {
            self.at(json!(position), item, |naive| match row {
                Some(row) => naive.object(&row, sets),
                None => naive.missing(item),
            })
        };
        rows.into_iter().enumerate().map(each).collect::<Result<_, Null>>().map(Value::Array)
    }

    /// The identity of a list: its field, and the values that bind it. For a path, those of its first relation that
    /// finds several items.
    fn list_key(&self, row: &Row<'w>, (field, find): (&'w Field, &'w Find), arguments: &Arguments) -> String {
        let (mut from, mut hop, mut given) = (row.clone(), find, arguments.clone());
        while let Via::Through(path) = &hop.via {
            for name in path {
                let field = &from.ty.fields[name];
                let FieldKind::Find(next) = &field.kind else { unreachable!() };
                (hop, given) = (next, of_hop(&given, field));
                if next.returns != Returns::One || matches!(next.via, Via::Through(_)) {
                    break;
                }
                let found = self
                    .world
                    .rows(&from, (field, next), &given)
                    .ok()
                    .and_then(|rows| rows.into_iter().flatten().next());
                let Some(reached) = found else { return String::new() };
                from = reached;
            }
        }
        let list = self.world.list(hop, &given);
        format!("{}.{} of {} {list}", row.ty.name, field.name, self.world.bound_values(&from, hop, &given))
    }

    /// A page of a whole list.
    fn page(
        &mut self,
        rows: Vec<Row<'w>>,
        paging: Paging,
        list: &str,
        (field, sets): (&Field, &[&SelectionSet]),
    ) -> Result<Value, Null> {
        // Where the way to the list ends before it, nothing is read, and nobody looks at the cursor.
        let given = paging.from.as_ref().filter(|_| !list.is_empty());
        let from = match given.map(|cursor| self.cursors.place(cursor, list)).transpose() {
            Ok(from) => from,
            Err(code) => return Err(self.fault(code)),
        };
        let places: Vec<usize> = rows.iter().map(|row| row.place).collect();
        let page = paging.cut(&places, from);
        let total = rows.len();
        let rows: Vec<(usize, Row<'w>)> = rows[page.shown.clone()].iter().map(|row| (row.place, row.clone())).collect();
        let cursor = |position: Option<usize>| {
            position.map_or(Value::Null, |position| json!({ "cursor": format!("{position} of {list}") }))
        };
        let ty = field.ty.inner_named_type().to_string();
        self.fields(sets, &ty, |naive, part| match part.name() {
            "nodes" | "items" => {
                let item = part.fields[0].definition.ty.item_type().clone();
                naive.elements(&item, rows.iter().map(|(_, row)| Some(row.clone())).collect(), &part.sets())
            }
            "edges" => {
                let item = part.fields[0].definition.ty.item_type().clone();
                let ty = item.inner_named_type().to_string();
                let mut edges = Vec::new();
                for (number, (position, row)) in rows.iter().enumerate() {
                    edges.push(naive.at(json!(number), &item, |naive| {
                        naive.fields(&part.sets(), &ty, |naive, part| match part.name() {
                            "node" => naive.object(row, &part.sets()),
                            "cursor" => Ok(cursor(Some(*position))),
                            name => {
                                let link = row.link.as_ref().expect("a link");
                                let ty = &part.fields[0].definition.ty;
                                naive.stored(link, (&link.ty.fields[name], ty), part)
                            }
                        })
                    })?);
                }
                Ok(Value::Array(edges))
            }
            "totalCount" => Ok(json!(total)),
            "nextToken" => Ok(cursor(rows.last().map(|(position, _)| *position).filter(|_| page.has_next))),
            _ => naive.fields(&part.sets(), "PageInfo", |_, part| {
                Ok(match part.name() {
                    "hasNextPage" => json!(page.has_next),
                    "hasPreviousPage" => json!(page.has_previous),
                    "startCursor" => cursor(rows.first().map(|(position, _)| *position)),
                    _ => cursor(rows.last().map(|(position, _)| *position)),
                })
            }),
        })
    }

    /// The selection of a connection's nodes, wherever it is.
    pub fn nodes<'s>(&self, sets: &[&'s SelectionSet], field: &Field) -> Vec<&'s SelectionSet>
    where
        'd: 's,
    {
        let ty = field.ty.inner_named_type();
        let mut found = Vec::new();
        for part in self.document.collect(sets, ty) {
            match part.name() {
                "nodes" | "items" => found.extend(part.fields.iter().map(|field| &field.selection_set)),
                "edges" => {
                    let edge = part.fields[0].definition.ty.inner_named_type().clone();
                    let sets: Vec<&SelectionSet> = part.fields.iter().map(|field| &field.selection_set).collect();
                    for part in self.document.collect(&sets, &edge).iter().filter(|part| part.name() == "node") {
                        found.extend(part.fields.iter().map(|field| &field.selection_set));
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// The rows of a find, also through other items. `None` is an item that does not exist.
    fn follow(
        &self,
        row: &Row<'w>,
        (field, find): (&'w Field, &'w Find),
        arguments: &Arguments,
        (sets, returns): (&[&SelectionSet], Returns),
    ) -> Result<Vec<Option<Row<'w>>>, Code> {
        let counts = matches!(returns, Returns::Exists | Returns::Count);
        let Via::Through(path) = &find.via else {
            let needs = if counts { None } else { self.needs(find, sets) };
            return match self.elided(row, (field, find), arguments, needs)? {
                Some(elided) => Ok(vec![elided]),
                None => self.world.rows(row, (field, find), arguments),
            };
        };
        let mut rows = vec![row.clone()];
        let mut several = false;
        for (position, name) in path.iter().enumerate() {
            let mut next = Vec::new();
            let was_several = several;
            for row in &rows {
                let field = &row.ty.fields[name];
                let FieldKind::Find(hop) = &field.kind else { unreachable!() };
                let arguments = of_hop(arguments, field);
                let needs = match path.get(position + 1) {
                    // The link is left out if the last item does not exist.
                    None => None,
                    Some(next) => {
                        let ty = self.world.type_named(&hop.item);
                        let FieldKind::Find(find) = &ty.fields[next].kind else { unreachable!() };
                        Some(self.parent_fields(ty, find, &of_hop(&arguments, &ty.fields[next])))
                    }
                };
                let made = match self.elided(row, (field, hop), &arguments, needs)? {
                    Some(elided) => vec![elided],
                    None if matches!(hop.via, Via::Through(_)) => {
                        self.follow(row, (field, hop), &arguments, (sets, hop.returns))?
                    }
                    None => self.world.rows(row, (field, hop), &arguments)?,
                };
                let most = if hop.returns == Returns::One { 1 } else { usize::MAX };
                several = was_several || hop.returns != Returns::One;
                // A page is a page of the first relation that finds several items.
                let place = |made: Row<'w>| {
                    let link = match was_several {
                        true => row.link.clone(),
                        false => made.link.clone().or_else(|| several.then(|| Box::new(made.clone()))),
                    };
                    Row { place: if was_several { row.place } else { made.place }, link, ..made }
                };
                next.extend(made.into_iter().flatten().take(most).map(place));
            }
            rows = next;
        }
        Ok(rows.into_iter().map(Some).collect())
    }

    /// The row of a reference whose key answers the whole selection, if the item may not be missing: it is not read.
    pub fn elided(
        &self,
        row: &Row<'w>,
        (field, find): (&'w Field, &'w Find),
        arguments: &Arguments,
        needs: Option<Vec<String>>,
    ) -> Result<Option<Option<Row<'w>>>, Code> {
        let Via::Keys(_) = &find.via else { return Ok(None) };
        let path = self.world.path(find, arguments)?;
        let names_list = |name: &str| field.arguments.iter().any(|one| one.name == name && one.ty.is_list());
        let is_list = |source: &Source| matches!(source, Source::Argument(name) if names_list(name));
        let is_null = |name: &str| arguments.values.get(name).is_none_or(Value::is_null);
        let filters = find.filter.as_ref().is_some_and(|filter| filter.without(&is_null).is_some());
        let certain = find.returns == Returns::One && field.ty.is_non_null() && !filters;
        let (true, Some(needs), Access::Get { .. }) = (certain, needs, &path.access) else { return Ok(None) };
        if path.bindings.values().any(is_list) || !needs.iter().all(|field| path.bindings.contains_key(field)) {
            return Ok(None);
        }
        let known = self.world.known(row, find, arguments)?;
        let ty = self.world.type_named(&find.item);
        Ok(Some(known.map(|known| Row { known, ..Row::of(ty) })))
    }

    /// The stored fields of a find's item that a selection uses.
    pub fn needs(&self, find: &'w Find, sets: &[&SelectionSet]) -> Option<Vec<String>> {
        let ty = match find.via {
            Via::Keys(_) => self.world.type_named(&find.item),
            _ => return None,
        };
        let mut needs = Vec::new();
        for selected in self.document.collect(sets, &ty.name) {
            match ty.fields.get(selected.name()).map(|field| &field.kind) {
                Some(FieldKind::Stored(_)) => needs.push(selected.name().to_owned()),
                Some(FieldKind::Computed(_)) => {
                    needs.extend(
                        self.world.rules.computed(&ty.name, selected.name()).expect("a computed field").fields(),
                    );
                }
                Some(FieldKind::Find(find)) => {
                    needs.extend(self.parent_fields(ty, find, &self.document.arguments(selected.fields[0])));
                }
                _ => {}
            }
        }
        Some(needs)
    }

    /// The fields of an object that bind a find in it.
    pub fn parent_fields(&self, ty: &'w ObjectType, find: &'w Find, arguments: &Arguments) -> Vec<String> {
        if let Via::Through(path) = &find.via {
            let hop = &ty.fields[&path[0]];
            let FieldKind::Find(find) = &hop.kind else { unreachable!() };
            return self.parent_fields(ty, find, &of_hop(arguments, hop));
        }
        let Ok(path) = self.world.path(find, arguments) else { return Vec::new() };
        path.parent_fields().into_iter().map(str::to_owned).collect()
    }
}

/// The arguments of a field that a relation on its path also has; others have their defaults.
pub fn of_hop(arguments: &Arguments, hop: &Field) -> Arguments {
    let mut of_hop = Arguments::default();
    for argument in &hop.arguments {
        if let Some(value) = arguments.values.get(&argument.name).or(argument.default.as_ref()) {
            of_hop.values.insert(argument.name.clone(), value.clone());
        }
    }
    of_hop.given = arguments.given.iter().filter(|name| of_hop.values.contains_key(*name)).cloned().collect();
    of_hop
}

/// The object that the entry of a map is in the API.
fn object_of_entry(form: &MapForm, key: &str, entry: &Attribute) -> Attribute {
    let mut object = match (&form.value, entry) {
        (Some(value), entry) => Item::from([(value.attribute.as_str(), entry.clone())]),
        (None, Attribute::M(members)) => members.clone(),
        (None, other) => return other.clone(),
    };
    object.insert(form.by.attribute.as_str(), Attribute::S(key.into()));
    Attribute::M(object)
}
