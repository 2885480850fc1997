//! Random rules (`@auth`) and callers: rules that hide items, rules that refuse them or a field, and rules that look an
//! item up.

use super::{Field, ItemType, Kind, Rng, Schema, chance, pick, values};
use serde_json::{Value, json};

/// A rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The type on which it stands, or whose field it guards.
    pub ty: String,
    pub field: Option<String>,
    /// Its text, `@auth(...)`.
    pub text: String,
}

/// The schema with as many random rules as `accepts` lets in. The rules of fields come first: those of types need some
/// of them.
pub fn with_random(rng: &mut Rng, mut schema: Schema, accepts: &dyn Fn(&Schema) -> bool) -> Schema {
    let mut wanted: Vec<Rule> = Vec::new();
    for mutation in &schema.mutations {
        wanted.push(of_field(rng, &schema, "Mutation", &mutation.name));
    }
    for (owner, reads) in std::iter::once(("Query", &schema.queries))
        .chain(schema.types.iter().map(|ty| (ty.name.as_str(), &ty.relations)))
    {
        wanted.extend(reads.iter().map(|read| of_field(rng, &schema, owner, &read.name)));
    }
    add_each(&mut schema, &wanted, accepts);
    for ty in schema.types.clone() {
        for _ in 0..2 {
            let rules = of_type(rng, &schema, &ty);
            if !schema.rules.iter().any(|rule| rule.ty == ty.name && rule.field.is_none()) {
                add(&mut schema, &rules, accepts);
            }
        }
        let stored: Vec<&Field> = ty.fields.iter().filter(|field| !ty.in_keys(&field.name)).collect();
        if chance(rng, 30) && !stored.is_empty() {
            let text = format!("@auth({}, on: [READ])", by_claims(rng, &schema, &ty, false));
            let rule = Rule { ty: ty.name.clone(), field: Some(pick(rng, &stored).name.clone()), text };
            add(&mut schema, &[rule], accepts);
        }
    }
    schema
}

/// Adds those of several rules that the schema may have.
fn add_each(schema: &mut Schema, rules: &[Rule], accepts: &dyn Fn(&Schema) -> bool) {
    if !add(schema, rules, accepts) && rules.len() > 1 {
        let (first, last) = rules.split_at(rules.len() / 2);
        add_each(schema, first, accepts);
        add_each(schema, last, accepts);
    }
}

/// Adds rules, if the schema may have them.
fn add(schema: &mut Schema, rules: &[Rule], accepts: &dyn Fn(&Schema) -> bool) -> bool {
    let before = schema.rules.len();
    schema.rules.extend_from_slice(rules);
    let accepted = accepts(schema);
    if !accepted {
        schema.rules.truncate(before);
    }
    accepted
}

/// The text of a schema with these rules. Those of fields that it does not have are left out.
pub fn with(sdl: &str, rules: &[Rule]) -> String {
    let (mut text, mut ty) = (String::new(), String::new());
    for line in sdl.lines() {
        let mut line = line.to_owned();
        if let Some(name) = line.strip_prefix("type ").and_then(|rest| rest.split(' ').next()).map(str::to_owned) {
            ty = name;
            for rule in rules.iter().filter(|rule| rule.ty == ty && rule.field.is_none()) {
                line.insert_str(line.len() - 1, &format!("{} ", rule.text));
            }
        } else if let Some(field) =
            line.strip_prefix("  ").and_then(|field| field.split(['(', ':']).next()).map(str::to_owned)
        {
            for rule in rules.iter().filter(|rule| rule.ty == ty && rule.field.as_ref() == Some(&field)) {
                line += &format!(" {}", rule.text);
            }
        }
        text += &line;
        text.push('\n');
    }
    text
}

/// The claims of a random caller; null is an anonymous one.
pub fn claims(rng: &mut Rng) -> Value {
    if chance(rng, 20) {
        return Value::Null;
    }
    let mut claims = json!({});
    if chance(rng, 85) {
        claims["sub"] = json!(pick(rng, &values::IDS));
    }
    if chance(rng, 85) {
        claims["name"] = json!(pick(rng, &values::TEXTS));
    }
    if chance(rng, 85) {
        claims["level"] = json!(rng.i64(0..12));
    }
    if chance(rng, 85) {
        claims["texts"] = (0..rng.usize(..4)).map(|_| json!(pick(rng, &values::TEXTS))).collect();
    }
    claims
}

/// A rule of a query, a relation or a mutation.
fn of_field(rng: &mut Rng, schema: &Schema, owner: &str, field: &str) -> Rule {
    let arguments = if owner == "Mutation" { of_mutation(schema, field) } else { of_read(schema, owner, field) };
    let looked_up = chance(rng, 25).then(|| look_up(rng, schema, &arguments)).flatten();
    let text = match (looked_up, rng.u8(..10)) {
        (Some(looked_up), _) => format!("@auth({looked_up})"),
        (None, 0) => "@auth(if: \"auth.level > 2\")".to_owned(),
        (None, 1 | 2) => "@auth(signedIn: true)".to_owned(),
        _ => "@auth(public: true)".to_owned(),
    };
    Rule { ty: owner.to_owned(), field: Some(field.to_owned()), text }
}

/// The never-null arguments of a mutation.
fn of_mutation(schema: &Schema, name: &str) -> Vec<(String, Kind)> {
    let mutation = schema.mutations.iter().find(|mutation| mutation.name == name).unwrap();
    // A rule knows no elements of a list.
    let arguments = if mutation.is_listed { &[] } else { mutation.arguments.as_slice() };
    arguments
        .iter()
        .filter(|argument| argument.non_null)
        .map(|argument| (argument.name.clone(), argument.kind))
        .collect()
}

/// The arguments that bind a query, or the fields of the type that has a relation.
fn of_read(schema: &Schema, owner: &str, name: &str) -> Vec<(String, Kind)> {
    if let Some(ty) = schema.types.iter().find(|ty| ty.name == owner) {
        return of_item(ty);
    }
    let read = schema.queries.iter().find(|read| read.name == name).unwrap();
    let target = &schema.types[read.target];
    read.bound.iter().map(|(field, _)| (field.clone(), target.field(field).kind)).collect()
}

fn of_item(ty: &ItemType) -> Vec<(String, Kind)> {
    ty.fields.iter().filter(|field| field.non_null).map(|field| (field.name.clone(), field.kind)).collect()
}

/// The rules of a type: of one or two, each is enough.
fn of_type(rng: &mut Rng, schema: &Schema, ty: &ItemType) -> Vec<Rule> {
    let hide = if chance(rng, 65) { ", hide: true" } else { "" };
    let on = *pick(rng, &["", ", on: [READ]", ", on: [READ]", ", on: [READ]", ", on: [WRITE]"]);
    let hide = if on.contains("WRITE") { "" } else { hide };
    let one = |rng: &mut Rng| {
        let text = format!("@auth({}{hide}{on})", by_claims(rng, schema, ty, true));
        Rule { ty: ty.name.clone(), field: None, text }
    };
    (0..if chance(rng, 25) { 2 } else { 1 }).map(|_| one(rng)).collect()
}

/// Who is let in to an item of a type.
fn by_claims(rng: &mut Rng, schema: &Schema, ty: &ItemType, by_item: bool) -> String {
    if chance(rng, 40)
        && let Some(looked_up) = look_up(rng, schema, &of_item(ty))
    {
        return looked_up;
    }
    let plain = |field: &&Field| matches!(field.kind, Kind::Id | Kind::Text | Kind::Int) && !field.version;
    let fields: Vec<&Field> = ty.fields.iter().filter(plain).collect();
    if !by_item || chance(rng, 15) {
        return (*pick(rng, &["if: \"auth.level > 2\"", "signedIn: true", "if: \"auth.name = 'x'\""])).to_owned();
    }
    let field = *pick(rng, &fields);
    let name = &field.name;
    match (field.kind, rng.u8(..4)) {
        (Kind::Int, 0) => format!("if: \"{name} < 8\", public: true"),
        (Kind::Int, _) => format!("if: \"NOT {name} > auth.level\""),
        (Kind::Id, _) => format!("if: \"auth.sub = {name}\""),
        (_, 0) => format!("if: \"{name} <> 'x'\", public: true"),
        (_, 1) => format!("if: \"auth.name = {name}\""),
        _ => format!("if: \"{name} IN (auth.texts)\""),
    }
}

/// A rule that looks up an item, whose key is made of claims and of these values.
fn look_up(rng: &mut Rng, schema: &Schema, known: &[(String, Kind)]) -> Option<String> {
    let other = pick(rng, &schema.types);
    let mut bound = Vec::new();
    for name in other.key_fields(schema.table_of(other)) {
        let kind = other.field(name).kind;
        let fitting: Vec<&String> = known.iter().filter(|(_, of)| *of == kind).map(|(name, _)| name).collect();
        let claim = match kind {
            Kind::Id => "auth.sub",
            Kind::Text => "auth.name",
            Kind::Int => "auth.level",
            _ => return None,
        };
        let is_claim = fitting.is_empty() || chance(rng, 35);
        let source = if is_claim { claim.to_owned() } else { (*pick(rng, &fitting)).clone() };
        bound.push(format!("{name}: \"{{{source}}}\""));
    }
    let condition = match other.fields.iter().find(|field| field.kind == Kind::Text) {
        Some(field) if chance(rng, 30) => format!(", if: \"{} <> 'x'\"", field.name),
        _ => String::new(),
    };
    Some(format!("exists: {}, where: {{ {} }}{condition}", other.name, bound.join(", ")))
}
