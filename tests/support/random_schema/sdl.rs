//! The text of a schema.

use super::forms::FORMS;
use super::keys::ASSIGNED;
use super::reads::Shape;
use super::rules;
use super::values::AWS_TEXTS;
use super::{Constraint, Default_, DefaultPart, Field, ItemType, Kind, Part, Schema, Table, Template, When};
use serde_json::Value;
use std::fmt::Write;

impl Schema {
    /// The text.
    pub fn sdl(&self) -> String {
        let mut sdl = String::new();
        for table in &self.tables {
            sdl += &of_table(table, self.idempotent);
        }
        sdl += "enum Status {\n  OPEN @attribute(name: \"open\")\n  DONE\n}\n\n";
        if self.types.iter().any(|ty| self.is_paged(ty)) {
            sdl += "type PageInfo {\n  hasNextPage: Boolean!\n  hasPreviousPage: Boolean!\n  startCursor: String\n  endCursor: String\n}\n\n";
        }
        for ty in &self.types {
            sdl += &self.of_type(ty);
        }
        sdl += "type Query {\n";
        for read in &self.queries {
            writeln!(sdl, "  {}", read.sdl(self)).unwrap();
        }
        sdl += "}\n";
        self.mutations.iter().for_each(|mutation| sdl += &mutation.element_sdl(self));
        self.mutations.iter().for_each(|mutation| sdl += &mutation.payload_sdl(self));
        if !self.mutations.is_empty() {
            sdl += "\ntype Mutation {\n";
            for mutation in &self.mutations {
                writeln!(sdl, "  {}", mutation.sdl(self)).unwrap();
            }
            sdl += "}\n";
        }
        rules::with(&sdl, &self.rules)
    }

    /// Whether some field returns pages of a type.
    fn is_paged(&self, ty: &ItemType) -> bool {
        let mut reads = self.queries.iter().chain(self.types.iter().flat_map(|ty| &ty.relations));
        reads.any(|read| read.shape == Shape::Connection && self.types[read.target].name == ty.name)
    }

    fn of_type(&self, ty: &ItemType) -> String {
        let keys: Vec<String> =
            ty.keys.iter().map(|(attribute, templates)| format!("{attribute}: {}", of_templates(templates))).collect();
        let mut place = format!("keys: {{ {} }}", keys.join(", "));
        if !ty.conditions.is_empty() {
            let entry = |(attribute, templates): &(String, Vec<Template>)| {
                let all = ty.conditions.iter().filter(|(key, _)| key == attribute).map(|(_, when)| when.to_string());
                let all = all.collect::<Vec<_>>().join(" AND ");
                let when = if all.is_empty() { String::new() } else { format!(", when: {all:?}") };
                format!("{{ attribute: {attribute:?}, template: {}{when} }}", of_templates(templates))
            };
            place = format!("keys: [{}]", ty.keys.iter().map(entry).collect::<Vec<_>>().join(", "));
        }
        if self.tables.len() > 1 {
            place = format!("table: {:?}, {place}", self.table_of(ty).name);
        }
        if !ty.constants.is_empty() {
            // Both forms mean the same, and only a list has any name.
            let is_name = |name: &str| !name.contains([' ', '-']);
            place += &match ty.constants.iter().all(|(name, _)| is_name(name)) {
                true => {
                    let constants: Vec<String> =
                        ty.constants.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                    format!(", attributes: {{ {} }}", constants.join(", "))
                }
                false => {
                    let constant =
                        |(name, value): &(String, Value)| format!("{{ attribute: {name:?}, value: {value} }}");
                    let constants: Vec<String> = ty.constants.iter().map(constant).collect();
                    format!(", attributes: [{}]", constants.join(", "))
                }
            };
        }
        let mut sdl = format!("type {} @item({place}) {{\n", ty.name);
        for field in &ty.fields {
            writeln!(sdl, "  {}", of_field(ty, field)).unwrap();
        }
        for relation in &ty.relations {
            writeln!(sdl, "  {}", relation.sdl(self)).unwrap();
        }
        sdl += "}\n\n";
        let name = &ty.name;
        if self.is_paged(ty) {
            // What an index cannot tell apart cannot be counted in it, so not every type has it.
            let total = if ty.constants.is_empty() { "  totalCount: Int!\n" } else { "" };
            write!(
                sdl,
                "type {name}Connection {{\n  nodes: [{name}!]!\n  edges: [{name}Edge!]!\n  pageInfo: PageInfo!\n{total}}}\n\n"
            )
            .unwrap();
            write!(sdl, "type {name}Edge {{\n  node: {name}!\n  cursor: String!\n}}\n\n").unwrap();
        }
        if ty.fields.iter().any(|field| field.kind == Kind::Counts) {
            let count = ty.count();
            write!(sdl, "type {count} {{\n  day: String!\n  n: Int!\n}}\n\n").unwrap();
            write!(sdl, "input {count}Input {{\n  day: String!\n  n: Int!\n}}\n\n").unwrap();
        }
        if ty.fields.iter().any(|field| matches!(field.kind, Kind::Parts | Kind::Tally)) {
            let part = ty.part();
            write!(sdl, "type {part} {{\n  id: ID!\n  text: String\n  count: Int! @default(value: \"0\")\n}}\n\n")
                .unwrap();
            write!(sdl, "input {part}Input {{\n  id: ID!\n  text: String\n  count: Int\n}}\n\n").unwrap();
        }
        sdl
    }
}

fn of_table(table: &Table, has_records: bool) -> String {
    let mut sdl = format!("extend schema @table(\n  name: {:?}\n  partitionKey: {:?}\n", table.name, table.partition);
    if let Some(sort) = &table.sort {
        writeln!(sdl, "  sortKey: {sort:?}").unwrap();
    }
    sdl += if has_records { "  timeToLive: \"recordEnds\"\n" } else { "" };
    if !table.indexes.is_empty() {
        sdl += "  indexes: [\n";
        for index in &table.indexes {
            write!(sdl, "    {{ name: {:?}", index.name).unwrap();
            if !index.local {
                write!(sdl, ", partitionKey: {:?}", index.partition).unwrap();
            }
            if let Some(sort) = &index.sort {
                write!(sdl, ", sortKey: {sort:?}").unwrap();
            }
            sdl += if index.number { ", sortKeyType: N" } else { "" };
            sdl += if index.keys_only { ", projection: KEYS_ONLY }\n" } else { " }\n" };
        }
        sdl += "  ]\n";
    }
    sdl + ")\n\n"
}

fn of_templates(templates: &[Template]) -> String {
    let texts: Vec<String> = templates.iter().map(|template| format!("{:?}", template.to_string())).collect();
    match texts.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

impl std::fmt::Display for When {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Equal(field, Value::String(text)) => write!(f, "{field} = '{text}'"),
            Self::Equal(field, value) => write!(f, "{field} = {value}"),
            Self::AtLeast(field, least) => write!(f, "{field} >= {least}"),
            Self::Present(field) => write!(f, "attribute_exists({field})"),
            Self::Missing(field) => write!(f, "attribute_not_exists({field})"),
        }
    }
}

impl std::fmt::Display for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Field(field) => write!(f, "{{{field}}}"),
            Part::Padded(field, width) => write!(f, "{{{field}:0{width}}}"),
            Part::Lower(field) => write!(f, "{{{field}:lower}}"),
            Part::Year(field) => write!(f, "{{{field}:%Y}}"),
            Part::Shard(count) => write!(f, "{{shard:{count}}}"),
            Part::Replica(count) => write!(f, "{{replica:{count}}}"),
            Part::Assigned => write!(f, "{{shard:{:02}..{:02}}}", ASSIGNED.start(), ASSIGNED.end()),
        })
    }
}

/// A field's type, with or without the mark of a never-null field.
pub fn type_of(ty: &ItemType, kind: Kind, non_null: bool, input: bool) -> String {
    let name = match kind {
        Kind::Id => "ID".to_owned(),
        Kind::Text => "String".to_owned(),
        Kind::Int | Kind::Number => "Int".to_owned(),
        Kind::Flag => "Boolean".to_owned(),
        Kind::Status => "Status".to_owned(),
        Kind::Set | Kind::Log => "[String!]".to_owned(),
        Kind::Part => format!("{}Input", ty.part()),
        Kind::Time(form) => FORMS[form].scalar.to_owned(),
        Kind::TextInt => "Int".to_owned(),
        Kind::NumberFlag => "Boolean".to_owned(),
        Kind::NumberId => "ID".to_owned(),
        Kind::AwsText(scalar) => AWS_TEXTS[scalar].0.to_owned(),
        Kind::Stamp => "AWSTimestamp".to_owned(),
        Kind::Parts | Kind::Tally => format!("[{}{}!]", ty.part(), if input { "Input" } else { "" }),
        Kind::Counts => format!("[{}{}!]", ty.count(), if input { "Input" } else { "" }),
    };
    format!("{name}{}", if non_null { "!" } else { "" })
}

fn of_field(ty: &ItemType, field: &Field) -> String {
    let mut sdl = format!("{}: {}", field.name, type_of(ty, field.kind, field.non_null, false));
    let mut attribute: Vec<String> = field.attribute.iter().map(|name| format!("name: {name:?}")).collect();
    match field.kind {
        Kind::Set => attribute.push("stored: SET".to_owned()),
        Kind::Tally => attribute.push("stored: MAP, by: \"id\"".to_owned()),
        Kind::Counts => attribute.push("stored: MAP, by: \"day\", value: \"n\"".to_owned()),
        Kind::Time(form) => attribute.push(format!("form: {:?}", FORMS[form].form)),
        Kind::TextInt => attribute.push("type: S".to_owned()),
        Kind::NumberFlag | Kind::NumberId => attribute.push("type: N".to_owned()),
        _ => {}
    }
    if !attribute.is_empty() {
        write!(sdl, " @attribute({})", attribute.join(", ")).unwrap();
    }
    if let Some(default) = &field.default {
        sdl += &of_default(default);
    }
    sdl += if field.unique { " @unique" } else { "" };
    sdl += if field.version { " @version" } else { "" };
    match field.constraint {
        Some(Constraint::Max(most)) => write!(sdl, " @constraint(max: {most})").unwrap(),
        Some(Constraint::MaxLength(most)) => write!(sdl, " @constraint(maxLength: {most})").unwrap(),
        None => {}
    }
    sdl
}

fn of_default(default: &Default_) -> String {
    let part = |part: &DefaultPart| match part {
        DefaultPart::Text(text) => text.clone(),
        DefaultPart::Field(field) => format!("{{{field}}}"),
    };
    let value: String = default.parts.iter().map(part).collect();
    format!(" @default(value: {value:?}{})", if default.every_write { ", on: WRITE" } else { "" })
}
