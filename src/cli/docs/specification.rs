//! A model in; its tables, indexes and item types as chapters of the document out. Must not know samples.

use super::descriptions::Descriptions;
use super::markdown::{code, plain, quote, table};
use crate::schema::model::keys::{ConstantValue, ItemKeys, RECORD_ATTRIBUTES};
use crate::schema::model::{Field, FieldKind, Model, ObjectType, TypeKind};
use crate::schema::scalar::form::Form;
use crate::schema::scalar::value_type::{Moment, ValueType};
use crate::schema::table::{Billing, Capacity, Index, KeyAttribute, Projection, Table};
use crate::schema::template::Template;
use crate::schema::template::part::Part;

/// The chapter about the tables.
pub fn tables(model: &Model) -> String {
    let mut text = String::from("## Tables\n");
    for declared in &model.tables {
        text += &format!("\n### Table {}\n\n", plain(&declared.name));
        let on = |said: bool| if said { "on" } else { "off" }.to_owned();
        let rows = [
            ("Partition key", key(declared.keys_of(None).partition)),
            ("Sort key", key(declared.keys_of(None).sort)),
            ("Billing", billing(declared.billing)),
            ("Time to live", declared.time_to_live.as_ref().map_or_else(|| "none".into(), |name| code(name))),
            ("Stream", declared.stream.map_or_else(|| "none".into(), |view| code(view.name()))),
            ("Point-in-time recovery", on(declared.point_in_time_recovery)),
        ];
        text += &table(&["property", "value"], &rows.map(|(name, value)| vec![name.to_owned(), value]));
        if !declared.indexes.is_empty() {
            text += "\n";
            text += &indexes(declared);
        }
    }
    text
}

fn indexes(declared: &Table) -> String {
    let row = |index: &Index| {
        let kind = if index.local { "local" } else { "global" };
        let holds = match &index.projection {
            Projection::Include(names) => {
                format!("{}: {}", code("INCLUDE"), names.iter().map(|name| code(name)).collect::<Vec<_>>().join(", "))
            }
            other => code(other.name()),
        };
        let capacity = match (index.capacity, declared.billing) {
            (Some(capacity), _) => units(capacity),
            (None, Billing::Provisioned(_)) => "the table's".into(),
            (None, Billing::PayPerRequest) => "by request".into(),
        };
        vec![code(&index.name), kind.into(), key(&index.partition), key(&index.sort), holds, capacity]
    };
    let rows: Vec<Vec<String>> = declared.indexes.iter().map(row).collect();
    table(&["index", "kind", "partition key", "sort key", "projection", "capacity"], &rows)
}

fn key(attributes: &[KeyAttribute]) -> String {
    match attributes {
        [] => "none".into(),
        all => {
            all.iter().map(|key| format!("{} ({})", code(&key.name), key.kind.name())).collect::<Vec<_>>().join(", ")
        }
    }
}

fn billing(billing: Billing) -> String {
    match billing {
        Billing::PayPerRequest => format!("{}: by request", code(billing.mode())),
        Billing::Provisioned(capacity) => format!("{}: {}", code(billing.mode()), units(capacity)),
    }
}

fn units(capacity: Capacity) -> String {
    format!("{} read, {} write units", capacity.read, capacity.write)
}

/// The chapter about the item types and the objects embedded in them.
pub fn items(model: &Model, descriptions: &Descriptions) -> String {
    let mut text = String::from(
        "## Item types\n\nA field in braces is replaced by its value: `Group#{groupId}` is the text `Group#`, followed by the id.\n",
    );
    for object in model.types.values() {
        let TypeKind::Item(keys) = &object.kind else { continue };
        let Some(declared) = model.tables.get(keys.table) else { continue };
        text += &head(object, descriptions);
        text += &format!("In the table {}.\n\n", code(&declared.name));
        text += &table(&["key", "attribute", "template"], &key_rows(declared, keys));
        let rows = attribute_rows(object, keys, descriptions);
        if !rows.is_empty() {
            text += "\n";
            text += &table(&["attribute", "field", "type", "stored as", "meaning"], &rows);
        }
        text += &computed(object, descriptions);
    }
    for object in model.types.values().filter(|object| matches!(object.kind, TypeKind::Embedded)) {
        let inside = holders(model, &object.name);
        if inside.is_empty() {
            continue;
        }
        text += &head(object, descriptions);
        text += &format!("A map inside {}.\n\n", inside.join(", "));
        let keys = ItemKeys {
            table: 0,
            keys: Default::default(),
            constants: Vec::new(),
            shares_keys: false,
            narrower: Vec::new(),
            limited: None,
            expires: None,
        };
        text += &table(
            &["attribute", "field", "type", "stored as", "meaning"],
            &attribute_rows(object, &keys, descriptions),
        );
        text += &computed(object, descriptions);
    }
    text
}

/// The chapter about the records of requests: nothing without `@idempotent`.
pub fn records(model: &Model) -> Option<String> {
    let mut rows = Vec::new();
    for object in model.types.values() {
        for field in object.fields.values() {
            let FieldKind::Write(write) = &field.kind else { continue };
            let Some(by) = &write.idempotency else { continue };
            let Some(declared) = model.tables.get(by.table) else { continue };
            let header =
                if by.by_header { format!(", or the header {}", code("Idempotency-Key")) } else { String::new() };
            let sort = declared.sort.as_ref().map_or_else(|| "none".to_owned(), |_| code(&by.mark));
            rows.push(vec![
                code(&format!("{}.{}", object.name, field.name)),
                format!("{}{header}", code(&by.argument)),
                code(&declared.name),
                code(&format!("{}#<hash>", by.mark)),
                sort,
                declared.time_to_live.as_deref().map(code).unwrap_or_default(),
            ]);
        }
    }
    let [fingerprint, items, ..] = RECORD_ATTRIBUTES.map(code);
    let said = format!(
        "## Records of requests\n\nWhat these mutations write holds a record of its request besides, which is an item of no type: a request that comes\nagain with the key of an earlier one writes nothing. A record counts for 24 hours, and its table's time to live deletes it later.\nThe hash in its key is that of the request's key and its caller; {fingerprint} is the hash of the arguments, and {items}\nhas the keys of the items that the mutation returns, and all of those that it deletes.\n\n"
    );
    let columns = ["mutation", "key of the request", "table", "partition key", "sort key", "ends at"];
    (!rows.is_empty()).then(|| said + &table(&columns, &rows))
}

fn head(object: &ObjectType, descriptions: &Descriptions) -> String {
    let said = quote(descriptions.get(&object.name));
    format!("\n### {}\n\n{said}{}", object.name, if said.is_empty() { "" } else { "\n" })
}

/// The fields with an embedded type.
fn holders(model: &Model, embedded: &str) -> Vec<String> {
    let mut holders = Vec::new();
    for object in model.types.values() {
        for field in object.fields.values() {
            let FieldKind::Stored(stored) = &field.kind else { continue };
            if stored.value.embedded().is_some_and(|name| name == embedded) {
                holders.push(code(&format!("{}.{}", object.name, field.name)));
            }
        }
    }
    holders
}

fn key_rows(declared: &Table, keys: &ItemKeys) -> Vec<Vec<String>> {
    let used = |attribute: &str| {
        let mut uses = Vec::new();
        for (index, of) in std::iter::once((None, "the table".to_owned()))
            .chain(declared.indexes.iter().enumerate().map(|(position, index)| (Some(position), code(&index.name))))
        {
            let of_place = declared.keys_of(index);
            let is_in = |keys: &[KeyAttribute]| keys.iter().any(|key| key.name == attribute);
            // A local index has the partition key of its table.
            let local = index.and_then(|index| declared.indexes.get(index)).is_some_and(|index| index.local);
            if is_in(of_place.partition) && !local {
                uses.push(format!("partition key of {of}"));
            }
            if is_in(of_place.sort) {
                uses.push(format!("sort key of {of}"));
            }
        }
        uses.join(", ")
    };
    let row = |(attribute, templates): (&String, &Vec<Template>)| {
        let when = |template: &Template| template.when.as_ref().map(|when| format!(" when {}", code(&when.text)));
        let text = |template: &Template| code(&template_text(template)) + &when(template).unwrap_or_default();
        let templates: Vec<String> = templates.iter().map(text).collect();
        vec![used(attribute), code(attribute), templates.join(" or ")]
    };
    keys.keys.iter().map(row).collect()
}

fn template_text(template: &Template) -> String {
    let part = |part: &Part| match part {
        Part::Literal(text) => text.replace('{', "{{").replace('}', "}}"),
        Part::Placeholder { field, width: None, .. } => format!("{{{field}}}"),
        Part::Placeholder { field, width: Some(width), .. } => format!("{{{field}:0{width}}}"),
    };
    template.parts.iter().map(part).collect()
}

/// The computed fields of a type, which are in no attribute.
fn computed(object: &ObjectType, descriptions: &Descriptions) -> String {
    let row = |field: &Field| match &field.kind {
        FieldKind::Computed(computed) => Some(vec![
            code(&field.name),
            code(&field.ty.to_string()),
            code(&computed.written),
            meaning(descriptions, object, field),
        ]),
        _ => None,
    };
    let rows: Vec<Vec<String>> = object.fields.values().filter_map(row).collect();
    match rows.is_empty() {
        true => String::new(),
        false => format!("\n{}", table(&["computed field", "type", "of", "meaning"], &rows)),
    }
}

/// The description of a field, in one line.
fn meaning(descriptions: &Descriptions, object: &ObjectType, field: &Field) -> String {
    let description = descriptions.get(&format!("{}.{}", object.name, field.name));
    description.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn attribute_rows(object: &ObjectType, keys: &ItemKeys, descriptions: &Descriptions) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut shown = Vec::new();
    for field in object.fields.values() {
        let FieldKind::Stored(stored) = &field.kind else { continue };
        let attribute = match &stored.attribute {
            Some(name) => code(name),
            None => format!("in {}", stored.keys.iter().map(|key| code(key)).collect::<Vec<_>>().join(", ")),
        };
        let mut meaning = meaning(descriptions, object, field);
        if let Some((name, value)) = keys.constants.iter().find(|(name, _)| stored.attribute.as_ref() == Some(name)) {
            shown.push(name);
            meaning = format!("{}. {meaning}", always(value));
        }
        rows.push(vec![
            attribute,
            code(&field.name),
            code(&field.ty.to_string()),
            kept(&stored.value, field.ty.is_list()),
            meaning.trim_end_matches(". ").to_owned(),
        ]);
    }
    rows.extend(keys.constants.iter().filter(|(name, _)| !shown.contains(&name)).map(|(name, value)| {
        let kind = match value {
            ConstantValue::Text(_) => "S",
            ConstantValue::Number(_) => "N",
            ConstantValue::Boolean(_) => "BOOL",
        };
        vec![code(name), String::new(), String::new(), kind.into(), always(value)]
    }));
    rows
}

fn always(value: &ConstantValue) -> String {
    match value {
        ConstantValue::Text(text) => format!("always {}", code(text)),
        other => format!("always {}", code(&other.to_string())),
    }
}

/// The DynamoDB type of an attribute.
fn kept(value: &ValueType, list: bool) -> String {
    let text = match value {
        ValueType::Set(element) => match kept(element, false).as_str() {
            "N" => "NS",
            "B" => "BS",
            _ => "SS",
        },
        ValueType::Map(form) => return format!("M by {}", code(&form.by.field)),
        _ if list => "L",
        ValueType::Int | ValueType::Float | ValueType::Long | ValueType::Decimal => "N",
        ValueType::DateTime(Moment::EpochSeconds) => "N, seconds since 1970",
        ValueType::DateTime(Moment::EpochMillis) => "N, milliseconds since 1970",
        ValueType::Boolean => "BOOL",
        ValueType::InForm(plain, _) if value.as_aws().is_some() => return kept(plain, false),
        ValueType::InForm(_, form) => match form.as_time() {
            Some(form) => return format!("S, {}", code(form.text())),
            None if **form == Form::Number => "N",
            None => "S",
        },
        ValueType::Binary => "B",
        ValueType::Embedded(_) => "M",
        ValueType::Json => "any",
        _ => "S",
    };
    text.to_owned()
}
