//! A query and all items in; out: what must be read, and for which values each read waits. It goes through the fields
//! as the naive executor does. Where an item is missing, it goes on with the fields that the key gives, because whoever
//! reads both at once does not know yet.

use super::bind::Reading;
use super::needs::{Need, Wanted, What, primary_key};
use crate::naive::document::{Arguments, Document, Selected};
use crate::naive::executor::{Naive, of_hop};
use crate::naive::matching::Matching;
use crate::naive::pages::Paging;
use crate::naive::rows::{Row, World};
use crate::naive::values::keys_of;
use apollo_compiler::executable::SelectionSet;
use keyfold::schema::model::auth::AuthAction;
use keyfold::schema::model::find::{Access, Find, Returns, Via};
use keyfold::schema::model::source::{Source, TextPart};
use keyfold::schema::model::{Field, FieldKind, ObjectType, Stored};
use keyfold::schema::table::Table;
use keyfold::table::data::attribute::{Attribute, Item};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Why a query is not looked at.
pub type Uncovered = &'static str;

/// An object and the reads that bring it.
#[derive(Clone)]
struct Place<'w> {
    row: Row<'w>,
    /// The reads without which there is no such row.
    row_by: Vec<usize>,
    /// The reads that bring its item.
    item_by: Vec<usize>,
    /// The read that brings it from an index, and the attributes' index.
    index_by: Option<(usize, usize)>,
    /// The reads for each field whose value made its key, and where that comes from.
    known: BTreeMap<String, (Vec<usize>, String)>,
    /// The response keys that lead to it.
    path: String,
    /// Whether its item turns out to be missing.
    is_missing: bool,
}

/// A find with what is selected of it.
struct Asked<'a, 's> {
    field: &'a Field,
    find: &'a Find,
    arguments: Arguments,
    /// The response keys that lead to it, and how its arguments are written.
    path: String,
    written: BTreeMap<String, String>,
    /// What is selected of its items; `None` if they are only counted.
    sets: Option<Vec<&'s SelectionSet>>,
    /// The fields that the next relation of a path needs.
    needs: Option<Vec<String>>,
    want: Want,
    /// Whether it is a step of a path that waits for the item before it.
    waits: bool,
}

enum Want {
    One,
    All,
    Page(Paging, bool),
}

/// Goes through a query.
pub struct Walk<'w, 'd> {
    world: &'d World<'w>,
    document: &'d Document,
    naive: Naive<'w, 'd>,
    /// The items that indexes do not have yet.
    late: &'d HashSet<*const Item>,
    needs: Vec<Need>,
}

impl<'w, 'd> Walk<'w, 'd> {
    /// What a query must read.
    pub fn needs(
        naive: Naive<'w, 'd>,
        (world, document): (&'d World<'w>, &'d Document),
        late: &'d HashSet<*const Item>,
    ) -> Result<Vec<Need>, Uncovered> {
        let mut walk = Walk { world, document, naive, late, needs: Vec::new() };
        let query = document.schema.schema_definition.query.as_ref().map_or("Query", |name| name.as_str());
        walk.object(&Place::without_item(Row::of(world.type_named(query)), Vec::new()), &document.root())?;
        Ok(walk.needs)
    }

    fn need(&mut self, what: What, mut after: Vec<usize>) -> usize {
        after.sort_unstable();
        after.dedup();
        let wave = 1 + after.iter().map(|need| self.needs[*need].wave).max().unwrap_or(0);
        self.needs.push(Need { what, after, wave });
        self.needs.len() - 1
    }

    fn object(&mut self, place: &Place<'w>, sets: &[&'d SelectionSet]) -> Result<(), Uncovered> {
        for selected in self.document.collect(sets, &place.row.ty.name) {
            let Some(field) = place.row.ty.fields.get(selected.name()) else { continue };
            match &field.kind {
                FieldKind::Stored(stored) => self.stored(place, (field, stored), &selected)?,
                FieldKind::Find(find) => self.find(place, (field, find), &selected)?,
                FieldKind::Computed(_) => {}
                _ => return Err("a field that is no find"),
            }
        }
        Ok(())
    }

    /// The objects in an attribute.
    fn stored(
        &mut self,
        place: &Place<'w>,
        (field, stored): (&Field, &Stored),
        selected: &Selected<'d>,
    ) -> Result<(), Uncovered> {
        let name = field.ty.inner_named_type().as_str();
        let attribute = stored.attribute.as_ref().and_then(|name| place.row.item?.get(name));
        let (Some(ty), Some(attribute)) = (self.world.model.types.get(name), attribute) else { return Ok(()) };
        let maps: Vec<&'w Item> = match attribute {
            Attribute::M(map) => vec![map],
            Attribute::L(list) => {
                list.iter().filter_map(|one| if let Attribute::M(map) = one { Some(map) } else { None }).collect()
            }
            _ => return Ok(()),
        };
        let by = self.value_by(place, &field.name);
        for map in maps {
            let row = Row { item: Some(map), ..Row::of(ty) };
            let path = format!("{}.{}", place.path, selected.key);
            self.object(
                &Place { path, ..Place::without_item(row, by.clone()) },
                &selected.fields.iter().map(|field| &field.selection_set).collect::<Vec<_>>(),
            )?;
        }
        Ok(())
    }

    fn find(
        &mut self,
        place: &Place<'w>,
        (field, find): (&'w Field, &'w Find),
        selected: &Selected<'d>,
    ) -> Result<(), Uncovered> {
        let sets: Vec<&'d SelectionSet> = selected.fields.iter().map(|field| &field.selection_set).collect();
        let arguments = self.document.arguments(selected.fields[0]);
        let written =
            selected.fields[0].arguments.iter().map(|one| (one.name.to_string(), one.value.to_string())).collect();
        let (path, written): (String, BTreeMap<String, String>) = (format!("{}.{}", place.path, selected.key), written);
        let asked = |sets, want| Asked {
            field,
            find,
            arguments: arguments.clone(),
            path: path.clone(),
            written: written.clone(),
            sets,
            needs: None,
            want,
            waits: false,
        };
        match find.returns {
            Returns::Exists => drop(self.follow(place, asked(None, Want::One))?),
            Returns::Count => drop(self.follow(place, asked(None, Want::All))?),
            Returns::One | Returns::List => {
                let want = if find.returns == Returns::One { Want::One } else { Want::All };
                for place in self.follow(place, asked(Some(sets.clone()), want))? {
                    self.object(&place, &sets)?;
                }
            }
            Returns::Connection => {
                let page = self.naive.paging(&arguments, (field, find)).map_err(|_| "a page that is refused")?;
                if page.from.is_some() {
                    return Err("a page at a cursor");
                }
                let connection = field.ty.inner_named_type();
                if self.selects(connection, &sets, &["totalCount"]) {
                    if matches!(find.via, Via::Through(_)) {
                        return Err("the number of all items behind relations");
                    }
                    self.follow(place, asked(None, Want::All))?;
                }
                let probe = self.selects(connection, &sets, &["hasNextPage", "hasPreviousPage", "nextToken"]);
                let nodes = self.naive.nodes(&sets, field);
                for place in self.follow(place, asked(Some(nodes.clone()), Want::Page(page, probe)))? {
                    self.object(&place, &nodes)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a connection, or the page information in it, has one of these fields.
    fn selects(&self, ty: &str, sets: &[&'d SelectionSet], names: &[&str]) -> bool {
        self.document.collect(sets, ty).iter().any(|part| {
            let inner = || part.fields.iter().map(|field| &field.selection_set).collect::<Vec<_>>();
            names.contains(&part.name()) || part.name() == "pageInfo" && self.selects("PageInfo", &inner(), names)
        })
    }

    /// The objects that a find leads to.
    fn follow(&mut self, place: &Place<'w>, asked: Asked<'w, 'd>) -> Result<Vec<Place<'w>>, Uncovered> {
        let Via::Through(path) = &asked.find.via else { return self.relation(place, asked) };
        let Asked { arguments, mut want, sets, waits, path: at, written, .. } = asked;
        let mut places = vec![place.clone()];
        let mut was_several = false;
        for (position, name) in path.iter().enumerate() {
            let last = position + 1 == path.len();
            let mut next = Vec::new();
            let mut several = false;
            let dangling = matches!(want, Want::Page(..));
            for place in &places {
                let field = &place.row.ty.fields[name];
                let FieldKind::Find(hop) = &field.kind else { unreachable!() };
                let arguments = of_hop(&arguments, field);
                let needs = path.get(position + 1).map(|next| {
                    let ty = self.world.type_named(&hop.item);
                    let FieldKind::Find(find) = &ty.fields[next].kind else { unreachable!() };
                    self.naive.parent_fields(ty, find, &of_hop(&arguments, &ty.fields[next]))
                });
                let is_many = hop.returns != Returns::One;
                several |= is_many;
                let own = match (is_many, was_several, &mut want) {
                    (false, ..) => Want::One,
                    (true, false, Want::Page(page, probe)) => Want::Page(page.clone(), *probe),
                    _ => Want::All,
                };
                let sets = if last { sets.clone() } else { Some(Vec::new()) };
                let waits = position > 0 || waits;
                let (at, written) = (format!("{at}.{name}"), written.clone());
                let asked = Asked { field, find: hop, arguments, path: at, written, sets, needs, want: own, waits };
                let found = self.follow(place, asked)?;
                if was_several && dangling && (found.is_empty() || found.iter().any(|place| place.is_missing)) {
                    return Err("a page with a link that leads nowhere");
                }
                next.extend(found);
            }
            was_several |= several;
            places = next;
        }
        Ok(places)
    }

    /// The objects of one relation.
    fn relation(&mut self, place: &Place<'w>, asked: Asked<'w, 'd>) -> Result<Vec<Place<'w>>, Uncovered> {
        let Asked { field, find, arguments, .. } = &asked;
        let path = self.world.path(find, arguments).map_err(|_| "arguments that are refused")?;
        let (keys, shared) = match &find.via {
            Via::AbstractType(shared) => (&shared.keys, Some(shared)),
            _ => (keys_of(self.world.type_named(&find.item)).unwrap(), None),
        };
        let table = &self.world.model.tables[keys.table];
        let matching =
            Matching { find, path, keys, shared, table, parent: &place.row, arguments, caller: self.world.caller };
        let source = |source| (self.source_by(place, source), origin(place, source, &asked.written));
        let known: BTreeMap<String, (Vec<usize>, String)> = path
            .bindings
            .iter()
            .filter(|(name, _)| keys.case_of(name).is_none())
            .map(|(name, from)| (name.clone(), source(from)))
            .collect();
        let whole: BTreeSet<&str> = matching.partition_fields();
        let origin: Vec<String> = path
            .bindings
            .iter()
            .filter(|(name, _)| whole.contains(name.as_str()))
            .map(|(_, from)| source(from).1)
            .collect();
        let needs = asked.needs.clone().or_else(|| match (&asked.sets, &find.via) {
            (Some(sets), Via::Keys(_)) => self.naive.needs(find, sets),
            _ => None,
        });
        let is_last_of_path = asked.waits && asked.needs.is_none();
        let elided = match is_last_of_path || shared.is_none() && asks_item(self.world.type_named(&find.item)) {
            true => None,
            false => {
                self.naive.elided(&place.row, (field, find), arguments, needs.clone()).map_err(|_| "too many keys")?
            }
        };
        if let Some(row) = elided {
            return Ok(row
                .map(|row| Place { known, path: asked.path.clone(), ..Place::without_item(row, place.row_by.clone()) })
                .into_iter()
                .collect());
        }
        let combinations = matching.combinations().map_err(|_| "too many keys")?;
        let mut after = place.row_by.clone();
        path.sources().iter().for_each(|source| after.extend(self.source_by(place, source)));
        if asked.waits {
            after.extend(&place.item_by);
        }
        if place.is_missing
            && (asked.waits || place.item_by.iter().any(|by| self.wave_after(&after) > self.needs[*by].wave))
        {
            return Ok(Vec::new());
        }
        let rows: Vec<Option<Row<'w>>> =
            self.world.rows(&place.row, (field, find), arguments).map_err(|_| "a find that fails")?;
        let rows: Vec<Option<Row<'w>>> =
            rows.into_iter().filter(|row| path.index.is_none() || !self.is_late(row)).collect();
        let (rows, want, backward) = cut(rows, &asked.want);
        if want == Wanted::First(0) {
            return Ok(Vec::new());
        }
        let found: Vec<Row<'w>> = rows.iter().flatten().cloned().collect();
        let descending = matching.is_descending();
        let is_null = |name: &str| arguments.values.get(name).is_none_or(serde_json::Value::is_null);
        let filter = find.filter.as_ref().and_then(|filter| filter.without(&is_null));
        let filter = filter.map(|filter| format!("{filter:?} {:?}", arguments.values));
        let ends = matches!(want, Wanted::First(wanted) if found.len() < wanted);
        let origin = format!("{origin:?}");
        let reading = Reading {
            matching: &matching,
            want,
            origin,
            forward: descending == backward,
            filter,
            counts: asked.sets.is_none() && want == Wanted::All,
            ends,
            found: &found,
        };
        let whats: Vec<What> = combinations.iter().flat_map(|values| reading.of(values)).collect();
        let by: Vec<usize> = whats.into_iter().map(|what| self.need(what, after.clone())).collect();
        // Without a value of its key, nothing is read. Nobody knows that before the reads that show it.
        let item_by = if by.is_empty() { self.shown_by(place, &matching) } else { by.clone() };
        if item_by.is_empty() {
            return Ok(Vec::new());
        }
        let is_list = combinations.len() > 1 || path.bindings.values().any(|source| is_list(field, source));
        let opens = !matches!(asked.want, Want::One) && (is_list || !matches!(path.access, Access::Get { .. }));
        let row_by = if opens || shared.is_some() {
            by.iter().chain(&place.row_by).copied().collect()
        } else {
            place.row_by.clone()
        };
        let shown = match &asked.want {
            Want::One => 1,
            Want::All => found.len(),
            Want::Page(page, _) => page.size,
        };
        let of_row = |row: Row<'w>| Place {
            row,
            row_by: row_by.clone(),
            item_by: item_by.clone(),
            index_by: None,
            path: asked.path.clone(),
            known: if opens { BTreeMap::new() } else { known.clone() },
            is_missing: false,
        };
        let mut places: Vec<Place<'w>> = found.into_iter().take(shown).map(of_row).collect();
        if places.is_empty() && !opens && shared.is_none() && asked.sets.is_some() {
            // Nobody knows yet that there is none.
            let known_values = match by.is_empty() {
                true => matching.values(),
                false => self.world.known(&place.row, find, arguments).ok().flatten().unwrap_or_default(),
            };
            let row = Row { known: known_values, ..Row::of(self.world.type_named(&find.item)) };
            places.push(Place { is_missing: true, ..of_row(row) });
        }
        if let Some(index) = path.index {
            self.complete(&mut places, index, &asked, table);
        }
        Ok(places)
    }

    /// Reads from the table what an index lacks of its items.
    fn complete(&mut self, places: &mut [Place<'w>], index: usize, asked: &Asked<'w, 'd>, table: &Table) {
        for place in places.iter_mut() {
            let ty = place.row.ty;
            let needs = match (&asked.needs, &asked.sets) {
                (Some(needs), _) => needs.clone(),
                (None, Some(sets)) => self.fields_of(ty, sets),
                (None, None) => Vec::new(),
            };
            let asked_of = || ty.asked_attributes().into_iter().all(|name| table.holds(Some(index), name));
            let holds_all = needs.iter().all(|field| holds(table, index, ty, field)) && asked_of();
            let has_all = holds_all && self.tells(ty, (table, index));
            let Some(item) = place.row.item.filter(|_| !has_all) else { continue };
            let table = keys_of(ty).unwrap().table;
            let key = primary_key(&self.world.model.tables[table], item);
            let list = place.item_by.clone();
            let origin = format!("the item of {}", asked.path);
            let whole = self.need(What::Get { table, consistent: asked.find.consistent, key, origin }, list.clone());
            place.index_by = list.first().map(|list| (*list, index));
            place.item_by = vec![whole];
        }
    }

    /// The stored fields of a type that a selection needs.
    fn fields_of(&self, ty: &'w ObjectType, sets: &[&'d SelectionSet]) -> Vec<String> {
        let mut needs = Vec::new();
        for selected in self.document.collect(sets, &ty.name) {
            match ty.fields.get(selected.name()).map(|field| &field.kind) {
                Some(FieldKind::Stored(_)) => needs.push(selected.name().to_owned()),
                Some(FieldKind::Computed(_)) => {
                    needs.extend(self.world.rules.computed(&ty.name, selected.name()).unwrap().fields());
                }
                Some(FieldKind::Find(find)) => {
                    needs.extend(self.naive.parent_fields(ty, find, &self.document.arguments(selected.fields[0])));
                }
                _ => {}
            }
        }
        needs
    }

    /// Whether an index tells which of its items are of a type.
    fn tells(&self, ty: &ObjectType, (table, index): (&Table, usize)) -> bool {
        let own = keys_of(ty).unwrap();
        let attributes: Vec<&str> =
            table.primary_key().chain(table.keys_of(Some(index)).all()).map(|key| key.name.as_str()).collect();
        let meets = |other: &ObjectType| {
            let Some(keys) = keys_of(other).filter(|keys| other.name != ty.name && keys.table == own.table) else {
                return false;
            };
            attributes.iter().all(|attribute| {
                let of = |of: &'_ keyfold::schema::model::keys::ItemKeys| {
                    of.keys.get(*attribute).cloned().unwrap_or_default()
                };
                of(own).iter().any(|ours| of(keys).iter().any(|theirs| ours.overlaps(theirs)))
            })
        };
        !self.world.model.types.values().any(meets)
            || own.telling().all(|attribute| table.holds(Some(index), attribute))
    }

    fn is_late(&self, row: &Option<Row<'w>>) -> bool {
        row.as_ref().and_then(|row| row.item).is_some_and(|item| self.late.contains(&std::ptr::from_ref(item)))
    }

    /// The reads that show that a value of a key is missing, or that the values make no key.
    fn shown_by(&self, place: &Place<'w>, matching: &Matching<'_, 'w>) -> Vec<usize> {
        let sources = || matching.path.bindings.values();
        let (missing, all): (Vec<&Source>, Vec<&Source>) =
            (sources().filter(|source| matching.source(source).is_null()).collect(), sources().collect());
        let shown = if missing.is_empty() { all } else { missing };
        shown.into_iter().flat_map(|source| self.source_by(place, source)).collect()
    }

    fn wave_after(&self, after: &[usize]) -> usize {
        1 + after.iter().map(|need| self.needs[*need].wave).max().unwrap_or(0)
    }

    /// The reads that a field's value comes from.
    fn value_by(&self, place: &Place<'w>, field: &str) -> Vec<usize> {
        if let Some((known, _)) = place.known.get(field) {
            return known.clone();
        }
        match place.index_by {
            Some((list, index)) => {
                let table = &self.world.model.tables[keys_of(place.row.ty).unwrap().table];
                if holds(table, index, place.row.ty, field) { vec![list] } else { place.item_by.clone() }
            }
            None if place.item_by.is_empty() => place.row_by.clone(),
            None => place.item_by.clone(),
        }
    }

    fn source_by(&self, place: &Place<'w>, source: &Source) -> Vec<usize> {
        match source {
            Source::Parent(field) => self.value_by(place, field),
            Source::Text(parts) => {
                let sources = parts
                    .iter()
                    .filter_map(|part| if let TextPart::Value(source) = part { Some(source) } else { None });
                sources.flat_map(|source| self.source_by(place, source)).collect()
            }
            Source::Argument(_) | Source::Claim(_) | Source::Item(..) => Vec::new(),
        }
    }
}

impl<'w> Place<'w> {
    fn without_item(row: Row<'w>, row_by: Vec<usize>) -> Self {
        Self {
            row,
            row_by,
            item_by: Vec::new(),
            index_by: None,
            known: BTreeMap::new(),
            path: String::new(),
            is_missing: false,
        }
    }
}

/// Where a value comes from: an argument as the document writes it, a claim, or a field of an object in the response.
fn origin(place: &Place<'_>, source: &Source, written: &BTreeMap<String, String>) -> String {
    match source {
        Source::Parent(field) => match place.known.get(field) {
            Some((_, origin)) => origin.clone(),
            None => format!("{}.{field}", place.path),
        },
        Source::Text(parts) => {
            let part = |part: &TextPart| match part {
                TextPart::Literal(text) => text.clone(),
                TextPart::Value(source) => origin(place, source, written),
            };
            parts.iter().map(part).collect()
        }
        Source::Argument(name) => match written.get(name.split('.').next().unwrap_or_default()) {
            Some(value) => format!("{value} {:?}", name.split_once('.')),
            None => name.clone(),
        },
        other => format!("{other:?}"),
    }
}

/// The rows that are read, and how many are wanted, from which end.
fn cut<'w>(mut rows: Vec<Option<Row<'w>>>, want: &Want) -> (Vec<Option<Row<'w>>>, Wanted, bool) {
    match want {
        Want::All => (rows, Wanted::All, false),
        Want::One => {
            // An object is the first item that is there, whichever shard has it.
            rows.retain(Option::is_some);
            rows.truncate(1);
            (rows, Wanted::First(1), false)
        }
        Want::Page(page, probe) => {
            let wanted = page.size + usize::from(*probe);
            if page.backward {
                rows.reverse();
            }
            rows.truncate(wanted);
            (rows, Wanted::First(wanted), page.backward)
        }
    }
}

/// Whether an index has a field.
fn holds(table: &Table, index: usize, ty: &ObjectType, field: &str) -> bool {
    let Some(FieldKind::Stored(stored)) = ty.fields.get(field).map(|field| &field.kind) else { return true };
    stored.identity > 0 || stored.attribute.iter().chain(&stored.keys).any(|name| table.holds(Some(index), name))
}

/// Whether rules about items of a type need the item.
fn asks_item(ty: &ObjectType) -> bool {
    ty.auth.need_item(AuthAction::Read) || ty.auth.hide() || !ty.asked_attributes().is_empty()
}

/// Whether a source is a list argument.
fn is_list(field: &Field, source: &Source) -> bool {
    matches!(source, Source::Argument(name) if field.arguments.iter().any(|one| one.name == *name && one.ty.is_list()))
}
