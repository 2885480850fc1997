//! A stored value that does not fit its field, while a response is written, in; out: one log line for it, which names
//! table, key, attribute and stored type. The value itself is not logged, and callers see none of this.

use crate::execute::key::shown::shown;
use crate::plan::attributes;
use crate::plan::tree::FieldReader;
use crate::schema::model::Model;
use crate::table::data::attribute::Item;

/// The first value of a response's step that does not fit.
#[derive(Debug)]
pub struct Misfit {
    /// The names of the attributes that lead to it, the innermost first.
    path: Vec<String>,
    stored: &'static str,
    /// The type of its item, and the item, once they are known.
    holder: Option<(String, Item)>,
    /// How many others do not fit either.
    others: u64,
}

impl Misfit {
    /// Notes a value of this stored type, before its attribute and its item are known.
    #[cold]
    pub(super) fn note(first: &mut Option<Box<Self>>, stored: &'static str) {
        match first {
            Some(misfit) if misfit.holder.is_some() => misfit.others += 1,
            Some(_) => {}
            none => *none = Some(Box::new(Self { path: Vec::new(), stored, holder: None, others: 0 })),
        }
    }

    /// Notes the attribute that it is in, and the item of this type if that is the item's own.
    #[cold]
    pub(super) fn locate(&mut self, reader: &FieldReader, type_name: &str, item: Option<&Item>) {
        if self.holder.is_none() {
            self.path.push(reader.stored.attribute.as_ref().unwrap_or(&reader.field).clone());
            self.holder = item.map(|item| (type_name.to_owned(), item.clone()));
        }
    }

    /// Logs it.
    pub fn log(self, model: &Model) {
        let Self { mut path, stored, holder, others } = self;
        path.reverse();
        let of_type = holder.as_ref().and_then(|(name, _)| attributes::keys(model.types.get(name)?));
        let table = of_type.map(|keys| &model.tables[keys.table]);
        let key = table
            .zip(holder.as_ref())
            .map(|(table, (_, item))| shown(table.primary_key().map(|key| key.name.as_str()), item));
        let (attribute, others) = (path.join("."), (others > 0).then_some(others));
        let (table, key) = (table.map(|table| table.name.as_str()), key.as_deref());
        tracing::warn!(table, key, attribute, stored, others, "a stored value does not fit the schema");
    }
}
