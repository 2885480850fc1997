//! A draft in; the text of its schema, and what each place of the text is about, out.

use crate::infer::draft::names::is_name;
use crate::infer::draft::{
    ApiDraft, EnumDraft, FieldDraft, FindDraft, KeyDraft, MutationDraft, ObjectDraft, TypeDraft,
};
use crate::schema::table::{Billing, Index, KeyAttribute, KeyAttributes, Projection, Table};
use std::fmt::Write;
use std::ops::Range;

/// What a place of the text is about, by positions in the draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DraftPlace {
    /// A table.
    Table(usize),
    /// An item type.
    Type(usize),
    /// A key of a type.
    Key(usize, usize),
    /// A field of a type.
    Field(usize, usize),
    /// A relation of a type.
    Relation(usize, usize),
    /// An object inside items.
    Object(usize),
    /// A field of `Query`.
    Find(usize),
    /// A field of `Mutation`.
    Write(usize),
}

/// The text of a schema.
#[derive(Debug, Clone, Default)]
pub struct SchemaText {
    /// The text.
    pub text: String,
    places: Vec<(Range<usize>, DraftPlace)>,
}

impl SchemaText {
    /// The document of a draft.
    pub fn new(draft: &ApiDraft) -> Self {
        let mut document = Self::default();
        for (position, table) in draft.tables.iter().enumerate() {
            document.about(DraftPlace::Table(position), |document| document.table(table));
        }
        for position in 0..draft.types.len() {
            document.about(DraftPlace::Type(position), |document| document.ty(draft, position));
        }
        for (position, object) in draft.objects.iter().enumerate() {
            document.about(DraftPlace::Object(position), |document| document.object(object));
        }
        draft.enums.iter().for_each(|of| document.enumeration(of));
        document.text.push_str("\ntype Query {\n");
        for (position, find) in draft.finds.iter().enumerate() {
            document.about(DraftPlace::Find(position), |document| document.find(find));
        }
        document.text.push_str("}\n");
        if !draft.writes.is_empty() {
            document.text.push_str("\ntype Mutation {\n");
            for (position, write) in draft.writes.iter().enumerate() {
                document.about(DraftPlace::Write(position), |document| document.write(write));
            }
            document.text.push_str("}\n");
        }
        document
    }

    /// The smallest element at a place of the text.
    pub fn element(&self, at: usize) -> Option<DraftPlace> {
        let holding = self.places.iter().filter(|(place, _)| place.contains(&at));
        holding.min_by_key(|(place, _)| place.len()).map(|(_, element)| *element)
    }

    fn about(&mut self, element: DraftPlace, write: impl FnOnce(&mut Self)) {
        let start = self.text.len();
        write(self);
        self.places.push((start..self.text.len(), element));
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn table(&mut self, table: &Table) {
        let mut lines = vec![format!("name: {}", quoted(&table.name))];
        lines.extend(key_lines(table.keys_of(None)));
        lines.extend(table.time_to_live.as_ref().map(|name| format!("timeToLive: {}", quoted(name))));
        lines.extend(table.stream.map(|stream| format!("stream: {}", stream.name())));
        if let Billing::Provisioned(capacity) = table.billing {
            lines.push(format!(
                "billing: PROVISIONED\n  readCapacity: {}\n  writeCapacity: {}",
                capacity.read, capacity.write
            ));
        }
        if !table.indexes.is_empty() {
            let indexes: Vec<String> = table.indexes.iter().map(|index| format!("    {}", index_text(index))).collect();
            lines.push(format!("indexes: [\n{}\n  ]", indexes.join("\n")));
        }
        let begin = if self.text.is_empty() { "" } else { "\n" };
        let _ = writeln!(self.text, "{begin}extend schema @table(\n  {})", lines.join("\n  "));
    }

    fn ty(&mut self, draft: &ApiDraft, position: usize) {
        let ty = &draft.types[position];
        self.text.push('\n');
        for guess in &ty.guesses {
            self.line(&format!("# guess: {}", one_line(guess)));
        }
        let items = if ty.count == 1 { "item" } else { "items" };
        self.line(&format!("# {} {items}", ty.count));
        self.line(&format!("type {}", ty.name));
        self.line("  @item(");
        if draft.tables.len() > 1 {
            self.line(&format!("    table: {}", quoted(&draft.tables[ty.table].name)));
        }
        self.keys(ty, position);
        if !ty.constants.is_empty() {
            self.line(&format!("    attributes: {}", constants(&ty.constants)));
        }
        if ty.read_only {
            self.line("    readOnly: true");
        }
        self.line("  ) {");
        for (at, field) in ty.fields.iter().enumerate() {
            self.about(DraftPlace::Field(position, at), |document| document.field(field));
        }
        for (at, relation) in ty.relations.iter().enumerate() {
            self.about(DraftPlace::Relation(position, at), |document| document.find(relation));
        }
        self.line("}");
    }

    fn keys(&mut self, ty: &TypeDraft, position: usize) {
        let are_names = ty.keys.iter().all(|key| is_name(&key.attribute));
        let entry = |key: &KeyDraft| {
            let template = quoted(&key.template(&ty.fields));
            match are_names {
                true => format!("{}: {template}", key.attribute),
                false => format!("{{ attribute: {}, template: {template} }}", quoted(&key.attribute)),
            }
        };
        self.line(if are_names { "    keys: {" } else { "    keys: [" });
        for (at, key) in ty.keys.iter().enumerate() {
            self.about(DraftPlace::Key(position, at), |document| document.line(&format!("      {}", entry(key))));
        }
        self.line(if are_names { "    }" } else { "    ]" });
    }

    fn object(&mut self, object: &ObjectDraft) {
        self.line(&format!("\ntype {} {{", object.name));
        for field in &object.fields {
            self.field(field);
        }
        self.line("}");
    }

    fn enumeration(&mut self, of: &EnumDraft) {
        self.line(&format!("\nenum {} {{", of.name));
        for (name, text) in &of.values {
            let stored = if name == text { String::new() } else { format!(" @attribute(name: {})", quoted(text)) };
            self.line(&format!("  {name}{stored}"));
        }
        self.line("}");
    }

    fn field(&mut self, field: &FieldDraft) {
        if let Some(guess) = &field.guess {
            self.line(&format!("  # guess: {}", one_line(&guess.to_string())));
        }
        let required = if field.required { "!" } else { "" };
        let mut text = format!("  {}: {}{required}", field.name, field.scalar);
        let name = field.attribute.as_ref().map(|name| format!("name: {}", quoted(name)));
        let arguments: Vec<String> = name.into_iter().chain(field.stored.clone()).collect();
        if !arguments.is_empty() {
            let _ = write!(text, " @attribute({})", arguments.join(", "));
        }
        if let Some(constraint) = &field.constraint {
            let _ = write!(text, " {constraint}");
        }
        self.line(&text);
    }

    fn write(&mut self, write: &MutationDraft) {
        if let Some(description) = &write.description {
            self.line(&format!("  {}", described(description)));
        }
        let arguments = arguments(&write.arguments);
        self.line(&format!("  {}{arguments}: {} {}", write.name, write.target, write.directive));
    }

    fn find(&mut self, find: &FindDraft) {
        if let Some(description) = &find.description {
            self.line(&format!("  {}", described(description)));
        }
        let arguments = arguments(&find.arguments);
        let ty = if find.list { format!("[{}!]!", find.target) } else { find.target.clone() };
        let bindings: Vec<String> = find.bindings.iter().map(|(field, text)| format!("{field}: {text}")).collect();
        let bound = (!bindings.is_empty()).then(|| format!("where: {{ {} }}", bindings.join(", ")));
        let index = find.index.as_ref().map(|index| format!("index: {}", quoted(index)));
        let more: Vec<String> = bound.into_iter().chain(index).collect();
        let more = if more.is_empty() { String::new() } else { format!("({})", more.join(", ")) };
        self.line(&format!("  {}{arguments}: {ty} @find{more}", find.name));
    }
}

fn arguments(arguments: &[(String, String)]) -> String {
    let arguments: Vec<String> = arguments.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
    if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) }
}

/// A description in one line.
fn described(text: &str) -> String {
    quoted(&one_line(text))
}

/// A text in one line, as a comment needs it.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text of GraphQL (GraphQL spec section 2.9.4).
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}

fn constants(constants: &[(String, String)]) -> String {
    match constants.iter().all(|(name, _)| is_name(name)) {
        true => {
            let all: Vec<String> = constants.iter().map(|(name, text)| format!("{name}: {}", quoted(text))).collect();
            format!("{{ {} }}", all.join(", "))
        }
        false => {
            let one =
                |(name, text): &(String, String)| format!("{{ attribute: {}, value: {} }}", quoted(name), quoted(text));
            format!("[{}]", constants.iter().map(one).collect::<Vec<_>>().join(" "))
        }
    }
}

/// The lines of keys. The types of several attributes are all written, since no field may follow that tells them.
fn key_lines(keys: KeyAttributes<'_>) -> Vec<String> {
    let has_several = keys.partition.len() > 1 || keys.sort.len() > 1;
    let of_role = |role: &str, keys: &[KeyAttribute]| {
        let names: Vec<String> = keys.iter().map(|key| quoted(&key.name)).collect();
        let types: Vec<&str> = keys.iter().map(|key| key.kind.name()).collect();
        match (names.as_slice(), types.as_slice()) {
            ([], _) => Vec::new(),
            ([name], ["S"]) if !has_several => vec![format!("{role}: {name}")],
            ([name], [kind]) => vec![format!("{role}: {name}"), format!("{role}Type: {kind}")],
            _ => vec![format!("{role}: [{}]", names.join(", ")), format!("{role}Type: [{}]", types.join(", "))],
        }
    };
    let mut lines = of_role("partitionKey", keys.partition);
    lines.extend(of_role("sortKey", keys.sort));
    lines
}

fn index_text(index: &Index) -> String {
    let mut parts = vec![format!("name: {}", quoted(&index.name))];
    let of_keys = key_lines(index.keys());
    parts.extend(of_keys.into_iter().filter(|line| !index.local || !line.starts_with("partitionKey")));
    match &index.projection {
        Projection::All => {}
        Projection::KeysOnly => parts.push("projection: KEYS_ONLY".to_owned()),
        Projection::Include(names) => {
            let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            parts.push(format!("projection: INCLUDE, include: [{}]", names.join(", ")));
        }
    }
    if let Some(capacity) = index.capacity {
        parts.push(format!("readCapacity: {}, writeCapacity: {}", capacity.read, capacity.write));
    }
    format!("{{ {} }}", parts.join(", "))
}
