//! One item of a table in; what a person should know of it, in sentences, out. What it says is what was found for all
//! items: it decides nothing but which type comes nearest to an item of none.

use super::Survey;
use super::surprise::{Surprise, SurpriseKind};
use super::values::plain;
use crate::execute::key::marks::{is_constant, is_of};
use crate::infer::material::{is_guard, is_record};
use crate::plan::tree::TypeMarks;
use crate::schema::model::keys::ConstantValue;
use crate::schema::template::Template;
use crate::schema::template::part::{Misspelling, Part};
use crate::table::data::attribute::{Attribute, Item};

/// What one attribute of an item is, and what it would be in an item of a type.
struct Misfit {
    attribute: String,
    found: Option<String>,
    /// What the type has there, as the schema writes it.
    wanted: String,
    /// How many bytes both begin with.
    shared: usize,
}

impl Survey<'_> {
    /// Sentences about an item: what the schema would write otherwise, and why an item of no type is of none.
    pub fn remarks(&self, item: &Item) -> Vec<String> {
        if is_guard(self.table, item) {
            return vec!["A guard of a unique value. Mutations write and delete it with its item.".to_owned()];
        }
        if is_record(self.table, item) {
            return vec!["A record of a request, by which a mutation that comes twice is made once.".to_owned()];
        }
        let (fitting, found) = self.look_at(item);
        let remarks: Vec<String> = found.iter().map(|(surprise, found)| sentence(surprise, found)).collect();
        if fitting.is_empty() && remarks.is_empty() { vec![self.reason(item)] } else { remarks }
    }

    /// Why an item is of no type: what does not fit of the type that comes nearest.
    fn reason(&self, item: &Item) -> String {
        let types = self.marks.iter().flat_map(|marks| &marks.types);
        let by_distance = types.map(|marks| {
            let misfits = misfits(marks, item);
            let has_constant = |(name, _): &&(String, ConstantValue)| item.contains_key(name);
            let attributes = marks.key.attributes.len() + marks.constants.iter().filter(has_constant).count();
            let shared: usize = misfits.iter().map(|misfit| misfit.shared).sum();
            ((attributes - misfits.len(), shared), marks, misfits)
        });
        // The first of several that come equally near.
        let nearest = by_distance.reduce(|best, other| if other.0 > best.0 { other } else { best });
        let Some((_, marks, misfits)) = nearest.filter(|((fits, shared), ..)| *fits + *shared > 0) else {
            return "No type has a key that begins as its key does.".to_owned();
        };
        let ty = &marks.item;
        let said: Vec<String> = misfits
            .iter()
            .map(|Misfit { attribute, found, wanted, .. }| match found {
                Some(found) => format!("{attribute} is \"{found}\", and {ty} has {wanted}"),
                None => format!("{attribute} is missing, and {ty} has {wanted}"),
            })
            .collect();
        match said.as_slice() {
            [] => format!("{ty} comes nearest, but a field that stands in both keys has two values."),
            said => format!("{ty} comes nearest: {}.", said.join("; ")),
        }
    }
}

/// The attributes that mark an item as one of a type, and do not in this item.
fn misfits(marks: &TypeMarks, item: &Item) -> Vec<Misfit> {
    let keys = marks.key.attributes.iter().filter_map(|(name, templates)| {
        let value = item.get(name);
        if value.is_some_and(|value| templates.iter().any(|template| is_of(template, value))) {
            return None;
        }
        let shown: Vec<String> = templates.iter().map(|template| format!("\"{}\"", text(template))).collect();
        let shared = templates.iter().map(|template| shared(template, value)).max().unwrap_or_default();
        Some(Misfit { attribute: name.clone(), found: value.map(plain), wanted: shown.join(" or "), shared })
    });
    let constants = marks.constants.iter().filter_map(|(name, constant)| {
        let value = item.get(name).filter(|value| !is_constant(constant, value))?;
        Some(Misfit { attribute: name.clone(), found: Some(plain(value)), wanted: constant.to_string(), shared: 0 })
    });
    keys.chain(constants).collect()
}

/// How many bytes of the text that a template begins with a value begins with.
fn shared(template: &Template, value: Option<&Attribute>) -> usize {
    match (template.parts.first(), value) {
        (Some(Part::Literal(literal)), Some(Attribute::S(text))) => {
            literal.bytes().zip(text.bytes()).take_while(|(own, other)| own == other).count()
        }
        _ => 0,
    }
}

/// A template as the schema has it.
fn text(template: &Template) -> String {
    let part = |part: &Part| match part {
        Part::Literal(text) => text.clone(),
        Part::Placeholder { field, .. } => format!("{{{field}}}"),
    };
    template.parts.iter().map(part).collect()
}

/// What surprises about an item, for whoever looks at it.
fn sentence(Surprise { kind, place }: &Surprise, Misspelling { found, own, .. }: &Misspelling) -> String {
    let own = own.as_deref();
    let name = place.rsplit('.').next().unwrap_or(place);
    let would = format!("The schema would write {name} = \"{}\"", own.unwrap_or_default());
    match kind {
        SurpriseKind::Key if own.is_some() => {
            format!("`{place}` is \"{found}\" in its key, which the schema writes as \"{}\".", own.unwrap_or_default())
        }
        SurpriseKind::Key => format!("`{place}` cannot be \"{found}\", which its key has."),
        SurpriseKind::Misplaced => format!("{would}, so no field finds it by its fields."),
        SurpriseKind::Stale => format!("{would}, so the index lists it at another place."),
        SurpriseKind::Missing => format!("{would}, and it has none, so the index does not list it."),
        SurpriseKind::Left => {
            format!("The schema would write no {name}, as a field of it is null; the index still lists it.")
        }
        SurpriseKind::Value => format!("{would}. \"{found}\" is read, but compared as another text."),
        SurpriseKind::Differs => format!(
            "`{place}` is \"{found}\" in its attribute and \"{}\" in the key, which is read.",
            own.unwrap_or_default()
        ),
        SurpriseKind::Constants => format!("It could be {place}: the constants that tell them apart are missing."),
        SurpriseKind::Null => format!("`{place}` is null, and the schema says that it never is."),
        SurpriseKind::Unread => format!("`{place}` is \"{found}\", which is not in its form."),
        SurpriseKind::Misfit => format!("`{place}` is {found}, which the type of the field cannot read."),
        SurpriseKind::Formless => format!("`{place}` is in a key only, and no template has the form of that."),
    }
}
