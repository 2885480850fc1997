//! A receiver that lists what it gets, a line for each thing.

use keyfold::schema::table::{KeyAttribute, KeyAttributes, Table};
use keyfold::sources::material::{AttributeHint, HintKind, PatternHint, Receiver, SourcePlace, TypeHint};
use keyfold::table::bulk::export_lines::write_line;
use keyfold::table::data::attribute::Item;
use std::ops::ControlFlow;

/// The lines so far.
#[derive(Default)]
pub struct Listing {
    pub lines: Vec<String>,
    pub items: Vec<Item>,
    place: Option<SourcePlace>,
}

fn key(key: &KeyAttribute) -> String {
    format!("{} {}", key.name, key.kind.name())
}

fn keys(keys: KeyAttributes<'_>) -> String {
    let of_role = |keys: &[KeyAttribute]| keys.iter().map(key).collect::<Vec<_>>().join(" + ");
    match keys.sort {
        [] => of_role(keys.partition),
        sort => format!("{}, {}", of_role(keys.partition), of_role(sort)),
    }
}

fn attribute(hint: &AttributeHint) -> String {
    let field = hint.field.as_ref().map(|field| format!(" as {field}")).unwrap_or_default();
    let kind = hint.kind.as_ref().map(|kind| format!(": {}", kind_of(kind))).unwrap_or_default();
    format!("{}{field}{kind}{}", hint.name, if hint.required { "!" } else { "" })
}

fn kind_of(kind: &HintKind) -> String {
    match kind {
        HintKind::List(inner) => format!("[{}]", kind_of(inner)),
        HintKind::Set(inner) => format!("{{{}}}", kind_of(inner)),
        HintKind::Enum(texts) => texts.join("|"),
        other => format!("{other:?}"),
    }
}

impl Receiver for Listing {
    fn table(&mut self, table: Table) {
        let mut line = format!("table {}: {}; {:?}", table.name, keys(table.keys_of(None)), table.billing);
        for (name, value) in [("stream", table.stream.map(|view| view.name())), ("ttl", table.time_to_live.as_deref())]
        {
            line += &value.map(|value| format!("; {name} {value}")).unwrap_or_default();
        }
        line += if table.point_in_time_recovery { "; recovery" } else { "" };
        self.lines.push(line);
        for index in &table.indexes {
            let local = if index.local { "local index" } else { "index" };
            let keys = keys(index.keys());
            self.lines.push(format!("  {local} {}: {keys}; {:?}; {:?}", index.name, index.projection, index.capacity));
        }
    }

    fn item(&mut self, table: Option<&str>, item: Item) -> ControlFlow<()> {
        let place = self.place.take().expect("a place before each item");
        self.lines.push(format!("item of {} at {place}: {}", table.unwrap_or("-"), write_line(&item)));
        self.items.push(item);
        ControlFlow::Continue(())
    }

    fn type_hint(&mut self, table: Option<&str>, hint: TypeHint) {
        self.lines.push(format!("type {} of {}", hint.name, table.unwrap_or("-")));
        let attributes: Vec<String> = hint.attributes.iter().map(attribute).collect();
        self.lines.push(format!("  {}", attributes.join(", ")));
        self.lines.extend(hint.keys.iter().map(|key| format!("  key {}: {}", key.attribute, key.template)));
        self.lines.extend(hint.constants.iter().map(|(name, text)| format!("  constant {name}: {text}")));
    }

    fn pattern_hint(&mut self, hint: PatternHint) {
        self.lines.push(format!("{hint:?}"));
    }

    fn note(&mut self, note: String) {
        self.lines.push(format!("note: {note}"));
    }

    fn place(&mut self, place: &SourcePlace) {
        self.place = Some(place.clone());
    }

    fn mistake(&mut self, place: &SourcePlace, problem: &str) -> ControlFlow<()> {
        self.lines.push(format!("mistake at {place}: {problem}"));
        ControlFlow::Continue(())
    }
}
