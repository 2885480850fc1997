//! A draft in, a schema that passes every check out. A mistake says by its place and code what to change: a find that
//! no key serves goes, types that could be confused get constraints, an index whose keys cannot be read is left out.

use super::document::{DraftPlace, SchemaText};
use crate::infer::draft::{ApiDraft, FieldDraft};
use crate::infer::shape::atoms::{Atom, atom};
use crate::schema;
use crate::schema::diagnostics::diagnostic::{Diagnostic, Severity};
use std::collections::BTreeSet;

/// A schema that passes every check.
#[derive(Debug)]
pub struct WrittenSchema {
    /// Its text.
    pub text: String,
    /// The draft that it was written from.
    pub draft: ApiDraft,
    /// What was left out, as sentences.
    pub left_out: Vec<String>,
}

/// Writes a draft. Each mistake takes something away or adds a constraint, so this ends.
pub fn written(mut draft: ApiDraft) -> WrittenSchema {
    let mut left_out = std::mem::take(&mut draft.left_out);
    loop {
        let document = SchemaText::new(&draft);
        let mistakes = match schema::load("schema.graphql", &document.text, &|_| None) {
            Ok(_) => return WrittenSchema { text: document.text, draft, left_out },
            Err(found) => found.list.into_iter().filter(|found| found.severity == Severity::Error).collect::<Vec<_>>(),
        };
        let before = document.text.clone();
        Repair { draft: &mut draft, left_out: &mut left_out }.all(&document, &mistakes);
        if SchemaText::new(&draft).text == before {
            // Nothing said what to do: the last type goes, and what leads to it.
            let Some(last) = draft.types.len().checked_sub(1) else {
                return WrittenSchema { text: before, draft, left_out };
            };
            let why = mistakes.first().map_or("", |mistake| mistake.message.as_str());
            Repair { draft: &mut draft, left_out: &mut left_out }.drop_type(last, why);
        }
    }
}

struct Repair<'d> {
    draft: &'d mut ApiDraft,
    left_out: &'d mut Vec<String>,
}

/// What goes, by the positions that it had before anything went.
#[derive(Debug, Default)]
struct Going {
    finds: BTreeSet<usize>,
    writes: BTreeSet<usize>,
    relations: BTreeSet<(usize, usize)>,
    fields: BTreeSet<(usize, usize)>,
    types: BTreeSet<usize>,
    objects: BTreeSet<usize>,
    /// Key attributes of types.
    keys: BTreeSet<(usize, String)>,
    /// What is said of types that could be confused.
    messages: Vec<String>,
}

impl Repair<'_> {
    /// Repairs what one check found. Only the mistakes of the first kind that there is: others may follow from them.
    fn all(&mut self, document: &SchemaText, mistakes: &[Diagnostic]) {
        let of = |mistake: &Diagnostic| document.element(mistake.span.start);
        let is_find = |mistake: &&Diagnostic| {
            matches!(of(mistake), Some(DraftPlace::Find(_) | DraftPlace::Write(_) | DraftPlace::Relation(..)))
        };
        let (finds, others): (Vec<&Diagnostic>, Vec<&Diagnostic>) = mistakes.iter().partition(is_find);
        let messages = mistakes.iter().map(|mistake| mistake.message.clone()).collect();
        let mut going = Going { messages, ..Going::default() };
        for mistake in if others.is_empty() { &finds } else { &others } {
            match of(mistake) {
                Some(DraftPlace::Find(find)) => {
                    if going.finds.insert(find) {
                        let name = &self.draft.finds[find].name;
                        self.left_out.push(format!("Query.{name}: {} ({})", mistake.message, mistake.code));
                    }
                }
                Some(DraftPlace::Relation(ty, relation)) => {
                    if going.relations.insert((ty, relation)) {
                        let ty = &self.draft.types[ty];
                        let name = &ty.relations[relation].name;
                        self.left_out.push(format!("{}.{name}: {} ({})", ty.name, mistake.message, mistake.code));
                    }
                }
                Some(DraftPlace::Write(write)) => {
                    if going.writes.insert(write) {
                        let name = &self.draft.writes[write].name;
                        self.left_out.push(format!("Mutation.{name}: {} ({})", mistake.message, mistake.code));
                    }
                }
                Some(DraftPlace::Key(ty, key)) => self.key(ty, key, mistake, &mut going),
                Some(DraftPlace::Field(ty, field)) => self.field(ty, field, mistake, &mut going),
                Some(DraftPlace::Type(ty)) => self.ty(ty, mistake, &mut going),
                Some(DraftPlace::Object(object)) => _ = going.objects.insert(object),
                Some(DraftPlace::Table(_)) | None => {}
            }
        }
        self.remove(&going);
    }

    fn remove(&mut self, going: &Going) {
        let mut position = 0;
        self.draft.finds.retain(|_| {
            position += 1;
            !going.finds.contains(&(position - 1))
        });
        let mut position = 0;
        self.draft.writes.retain(|_| {
            position += 1;
            !going.writes.contains(&(position - 1))
        });
        for (at, ty) in self.draft.types.iter_mut().enumerate() {
            let mut position = 0;
            ty.relations.retain(|_| {
                position += 1;
                !going.relations.contains(&(at, position - 1))
            });
        }
        // From the end, so that the positions before stay.
        for (ty, field) in going.fields.iter().rev() {
            self.drop_field(*ty, *field);
        }
        for (ty, attribute) in &going.keys {
            self.draft.types[*ty].keys.retain(|key| key.attribute != *attribute);
        }
        for object in going.objects.iter().rev() {
            self.object(*object);
        }
        for ty in going.types.iter().rev() {
            self.drop_type(*ty, "");
        }
    }

    /// A key that cannot be: an index is left out; the key of the table gets constraints, or its type goes.
    fn key(&mut self, ty: usize, key: usize, mistake: &Diagnostic, going: &mut Going) {
        let Some(attribute) = self.draft.types[ty].keys.get(key).map(|key| key.attribute.clone()) else { return };
        let table = &self.draft.tables[self.draft.types[ty].table];
        if mistake.code == "KF0216" {
            return self.ty(ty, mistake, going);
        }
        if !table.is_primary_key(&attribute) {
            let of_index = table.indexes.iter().filter(|index| index.keys().contains(&attribute));
            let keys: Vec<String> = of_index
                .flat_map(|index| index.keys().all())
                .map(|key| key.name.clone())
                .filter(|name| !table.is_primary_key(name))
                .collect();
            let position = ty;
            let ty = &mut self.draft.types[ty];
            ty.read_only = true;
            ty.guesses.push(format!("{attribute} is left out: {}", mistake.message));
            going.keys.extend(keys.into_iter().map(|key| (position, key)));
            return;
        }
        if !self.constrain(ty) && going.types.insert(ty) {
            self.left_out.push(format!("{}: {} ({})", self.draft.types[ty].name, mistake.message, mistake.code));
        }
    }

    /// A field that cannot be: it goes, or becomes a text if a key has it.
    fn field(&mut self, ty: usize, field: usize, mistake: &Diagnostic, going: &mut Going) {
        let in_key = self.draft.types[ty].keys.iter().any(|key| {
            key.parts.iter().any(|part| matches!(part, crate::infer::draft::PartDraft::Field(at, _) if *at == field))
        });
        let draft = &mut self.draft.types[ty].fields[field];
        if draft.constraint.take().is_some() {
            draft.unconstrained = true;
            return;
        }
        if !in_key {
            self.left_out.push(format!(
                "{}.{}: {}",
                self.draft.types[ty].name, self.draft.types[ty].fields[field].name, mistake.message
            ));
            going.fields.insert((ty, field));
            return;
        }
        if draft.scalar != "ID" || draft.stored.is_some() {
            (draft.scalar, draft.stored) = ("ID".to_owned(), None);
            for key in &mut self.draft.types[ty].keys {
                for part in &mut key.parts {
                    if let crate::infer::draft::PartDraft::Field(at, form) = part
                        && *at == field
                    {
                        *form = None;
                    }
                }
            }
            return;
        }
        if going.types.insert(ty) {
            self.left_out.push(format!("{}: {} ({})", self.draft.types[ty].name, mistake.message, mistake.code));
        }
    }

    /// A type that could be confused with another, or is wrong otherwise.
    fn ty(&mut self, ty: usize, mistake: &Diagnostic, going: &mut Going) {
        let mut named: Vec<usize> = vec![ty];
        for (position, other) in self.draft.types.iter().enumerate() {
            if position != ty && mistake.message.contains(&format!("`{}`", other.name)) {
                named.push(position);
            }
        }
        let mut changed = false;
        for ty in &named {
            changed |= self.constrain(*ty);
        }
        if changed || named.iter().any(|ty| going.types.contains(ty)) {
            return;
        }
        // The one that most others could be goes; of equal ones, that with fewest items.
        let worst = named.into_iter().max_by_key(|ty| {
            let name = format!("`{}`", self.draft.types[*ty].name);
            let count = going.messages.iter().filter(|message| message.contains(&name)).count();
            (count, std::cmp::Reverse(self.draft.types[*ty].count))
        });
        let Some(worst) = worst else { return };
        self.left_out.push(format!("{}: {} ({})", self.draft.types[worst].name, mistake.message, mistake.code));
        going.types.insert(worst);
    }

    fn object(&mut self, object: usize) {
        let name = self.draft.objects[object].name.clone();
        let json = |field: &mut FieldDraft| {
            if field.named_type() == name {
                (field.scalar, field.stored) = ("JSON".to_owned(), None);
            }
        };
        self.draft.types.iter_mut().flat_map(|ty| &mut ty.fields).for_each(json);
        self.draft.objects.iter_mut().flat_map(|object| &mut object.fields).for_each(json);
        self.draft.objects.remove(object);
    }

    /// Says of the texts in the key of a type what all of them show; whether there was something to say.
    fn constrain(&mut self, ty: usize) -> bool {
        let ty = &mut self.draft.types[ty];
        let table = &self.draft.tables[ty.table];
        let keys: Vec<String> = table.primary_key().map(|key| key.name.clone()).collect();
        let fields: BTreeSet<usize> = keys.iter().flat_map(|key| ty.fields_of(key)).collect();
        let separators: BTreeSet<char> = ty
            .keys
            .iter()
            .filter(|key| keys.contains(&key.attribute))
            .flat_map(|key| &key.parts)
            .filter_map(|part| match part {
                crate::infer::draft::PartDraft::Literal(text) => Some(text),
                crate::infer::draft::PartDraft::Field(..) => None,
            })
            .flat_map(|text| text.chars())
            .filter(|letter| !letter.is_alphanumeric() && !letter.is_whitespace())
            .collect();
        let mut changed = false;
        for field in fields {
            let field = &mut ty.fields[field];
            if field.constraint.is_none() && !field.unconstrained && matches!(field.scalar.as_str(), "ID" | "String") {
                field.constraint = constraint(&field.texts, &separators);
                changed |= field.constraint.is_some();
            }
        }
        changed
    }

    fn drop_field(&mut self, ty: usize, field: usize) {
        let ty = &mut self.draft.types[ty];
        ty.fields.remove(field);
        for part in ty.keys.iter_mut().flat_map(|key| &mut key.parts) {
            if let crate::infer::draft::PartDraft::Field(at, _) = part
                && *at > field
            {
                *at -= 1;
            }
        }
    }

    fn drop_type(&mut self, ty: usize, why: &str) {
        let gone = self.draft.types.remove(ty);
        if !why.is_empty() {
            self.left_out.push(format!("{}: {why}", gone.name));
        }
        self.draft.finds.retain(|find| find.target != gone.name);
        self.draft.writes.retain(|write| write.target != gone.name);
        for ty in &mut self.draft.types {
            ty.relations.retain(|find| find.target != gone.name);
        }
    }
}

/// What all texts of a field show, as a directive.
fn constraint(texts: &[String], separators: &BTreeSet<char>) -> Option<String> {
    let all = |kind: Atom| !texts.is_empty() && texts.iter().all(|text| atom(text) == kind);
    if all(Atom::Uuid) {
        return Some("@constraint(format: \"uuid\")".to_owned());
    }
    if all(Atom::Ulid) {
        return Some("@constraint(format: \"ulid\")".to_owned());
    }
    if texts.iter().any(|text| text.chars().any(|letter| separators.contains(&letter))) || separators.is_empty() {
        return None;
    }
    let class: String = separators.iter().map(|letter| escaped(*letter)).collect();
    Some(format!("@constraint(pattern: \"[^{class}]+\")"))
}

/// A character in a class of a pattern, in a text of GraphQL.
fn escaped(letter: char) -> String {
    match letter {
        // A backslash for the pattern, and each once more for the text of GraphQL.
        '\\' => "\\\\\\\\".to_owned(),
        ']' | '[' | '^' | '-' | '&' | '~' => format!("\\\\{letter}"),
        '"' => "\\\"".to_owned(),
        letter => letter.to_string(),
    }
}
