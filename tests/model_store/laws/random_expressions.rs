//! Random conditions, updates and projections, with their placeholders.

use crate::laws::random_items::{ATTRIBUTES, Rng, key_value, one_in, pick, usual, value};
use serde_json::{Map, Value, json};

/// Expressions of one request, and what their placeholders stand for.
#[derive(Default)]
pub struct Expressions {
    pub names: Map<String, Value>,
    pub values: Map<String, Value>,
}

impl Expressions {
    /// The placeholders as members of a request.
    pub fn add_to(self, body: &mut Map<String, Value>) {
        if !self.names.is_empty() {
            body.insert("ExpressionAttributeNames".to_owned(), Value::Object(self.names));
        }
        if !self.values.is_empty() {
            body.insert("ExpressionAttributeValues".to_owned(), Value::Object(self.values));
        }
    }

    pub fn name(&mut self, name: &str) -> String {
        let placeholder = format!("#n{}", self.names.len());
        let known = self.names.iter().find(|(_, known)| known.as_str() == Some(name));
        if let Some((placeholder, _)) = known {
            return placeholder.clone();
        }
        self.names.insert(placeholder.clone(), json!(name));
        placeholder
    }

    pub fn value(&mut self, value: Value) -> String {
        let placeholder = format!(":v{}", self.values.len());
        self.values.insert(placeholder.clone(), value);
        placeholder
    }

    /// A path, and the attribute whose type its value has as a rule.
    fn path(&mut self, rng: &mut Rng) -> (String, &'static str) {
        let name = pick(rng, &ATTRIBUTES);
        let path = self.name(name);
        match (name, rng.u8(..4)) {
            ("m", 0) => (format!("{path}.{}", self.name("x")), "n"),
            ("m", 1) => (format!("{path}.{}", self.name("y")), "s"),
            ("m", 2) => (format!("{path}.{}[{}]", self.name("l"), rng.u8(..3)), "n"),
            ("l", 0 | 1) => (format!("{path}[{}]", rng.u8(..4)), "n"),
            _ => (path, name),
        }
    }

    pub fn condition(&mut self, rng: &mut Rng, depth: u32) -> String {
        match rng.u8(..if depth > 0 { 20 } else { 15 }) {
            0..=4 => self.comparison(rng),
            6 => self.range(rng),
            7 => self.choice(rng),
            8 | 9 => format!("attribute_exists({})", self.path(rng).0),
            10 | 11 => format!("attribute_not_exists({})", self.path(rng).0),
            12 => {
                let kind = pick(rng, &["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"]);
                let (path, kind) = (self.path(rng).0, self.value(json!({ "S": kind })));
                format!("attribute_type({path}, {kind})")
            }
            13 => {
                let path = self.path(rng).0;
                let start = usual(rng, "s", 1);
                format!("begins_with({path}, {})", self.value(start))
            }
            5 | 14 => self.containing(rng),
            15 | 16 => format!("({}) AND ({})", self.condition(rng, depth - 1), self.condition(rng, depth - 1)),
            17 => format!("{} or {}", self.condition(rng, depth - 1), self.condition(rng, depth - 1)),
            18 => format!("{} AND {}", self.condition(rng, depth - 1), self.condition(rng, depth - 1)),
            _ => format!("NOT ({})", self.condition(rng, depth - 1)),
        }
    }

    fn comparison(&mut self, rng: &mut Rng) -> String {
        let sign = pick(rng, &["=", "<>", "<", "<=", ">", ">="]);
        let is_ordered = !matches!(sign, "=" | "<>");
        if one_in(rng, 4) {
            let path = self.path(rng).0;
            return format!("size({path}) {sign} {}", self.value(json!({ "N": rng.u8(..5).to_string() })));
        }
        let (path, kind) = self.path(rng);
        if one_in(rng, 8) {
            let other = self.path(rng).0;
            return if other == path { format!("attribute_exists({path})") } else { format!("{path} {sign} {other}") };
        }
        let kind = if is_ordered && !one_in(rng, 30) { pick(rng, &["n", "s", "b"]) } else { kind };
        let operand = if is_ordered { usual(rng, kind, 1) } else { value(rng, kind) };
        let operand = self.value(operand);
        if one_in(rng, 6) { format!("{operand} {sign} {path}") } else { format!("{path} {sign} {operand}") }
    }

    fn range(&mut self, rng: &mut Rng) -> String {
        let (path, kind) = self.path(rng);
        let kind = if matches!(kind, "n" | "s" | "b") { kind } else { "n" };
        let (low, high) = (usual(rng, kind, 1), usual(rng, kind, 1));
        format!("{path} BETWEEN {} AND {}", self.value(low), self.value(high))
    }

    fn choice(&mut self, rng: &mut Rng) -> String {
        let (path, kind) = self.path(rng);
        let count = rng.usize(1..4);
        let operands: Vec<String> = (0..count).map(|_| value(rng, kind)).map(|value| self.value(value)).collect();
        format!("{path} IN ({})", operands.join(", "))
    }

    fn containing(&mut self, rng: &mut Rng) -> String {
        let (path, kind) = match pick(rng, &["ss", "ns", "bs", "l", "s", ""]) {
            "" => self.path(rng),
            name => (self.name(name), name),
        };
        let part = match kind {
            "ss" | "s" | "a.b" => usual(rng, "s", 1),
            "ns" => json!({ "N": pick(rng, &["1", "2.50", "1E1", "4"]) }),
            "l" => usual(rng, "n", 1),
            "bs" | "b" => usual(rng, "b", 1),
            _ => value(rng, "n"),
        };
        format!("contains({path}, {})", self.value(part))
    }

    pub fn update(&mut self, rng: &mut Rng) -> String {
        let mut clauses: Vec<(&str, Vec<String>)> = Vec::new();
        let mut attributes: Vec<&str> = ATTRIBUTES.to_vec();
        rng.shuffle(&mut attributes);
        for attribute in attributes.into_iter().take(rng.usize(1..4)) {
            let (clause, action) = self.action(rng, attribute);
            match clauses.iter_mut().find(|(known, _)| *known == clause) {
                Some((_, actions)) => actions.push(action),
                None => clauses.push((clause, vec![action])),
            }
        }
        if one_in(rng, 5) {
            let name = pick(rng, &["gp", "gs", "ls", "expires"]);
            let value = if one_in(rng, 20) { value(rng, "b") } else { key_value(rng, name) };
            let action = format!("{} = {}", self.name(name), self.value(value));
            match clauses.iter_mut().find(|(known, _)| *known == "SET") {
                Some((_, actions)) => actions.push(action),
                None => clauses.push(("SET", vec![action])),
            }
        }
        if one_in(rng, 80) {
            clauses.push(("REMOVE", vec![self.name("pk")]));
        }
        let clauses: Vec<String> =
            clauses.into_iter().map(|(clause, actions)| format!("{clause} {}", actions.join(", "))).collect();
        clauses.join(" ")
    }

    fn action(&mut self, rng: &mut Rng, attribute: &str) -> (&'static str, String) {
        let path = self.name(attribute);
        let is_set = matches!(attribute, "ss" | "ns" | "bs");
        match rng.u8(..12) {
            0..=2 if attribute == "l" => ("REMOVE", format!("{path}[{}], {path}[{}]", rng.u8(..2), rng.u8(2..4))),
            0 | 1 => ("REMOVE", self.inside(rng, attribute, path)),
            2 | 3 if attribute == "n" || is_set => ("ADD", format!("{path} {}", self.operand(rng, attribute))),
            4 | 5 if is_set => ("DELETE", format!("{path} {}", self.operand(rng, attribute))),
            6 => ("SET", format!("{path} = if_not_exists({path}, {})", self.operand(rng, attribute))),
            7 | 8 if attribute == "n" => {
                let sign = pick(rng, &["+", "-"]);
                let left = if rng.bool() {
                    path.clone()
                } else {
                    format!("if_not_exists({path}, {})", self.operand(rng, "n"))
                };
                ("SET", format!("{path} = {left} {sign} {}", self.operand(rng, "n")))
            }
            7..=9 if attribute == "l" => {
                let (old, new) = (format!("if_not_exists({path}, {})", self.operand(rng, "l")), self.operand(rng, "l"));
                let (first, second) = if rng.bool() { (old, new) } else { (new, path.clone()) };
                ("SET", format!("{path} = list_append({first}, {second})"))
            }
            9 => {
                let other = self.path(rng).0;
                ("SET", format!("{path} = {other}"))
            }
            _ => {
                let target = self.inside(rng, attribute, path);
                let operand = value(rng, attribute);
                ("SET", format!("{target} = {}", self.value(operand)))
            }
        }
    }

    /// The path, or one that leads into its value.
    fn inside(&mut self, rng: &mut Rng, attribute: &str, path: String) -> String {
        match (attribute, rng.u8(..3)) {
            ("m", 0) => format!("{path}.{}", self.name(pick(rng, &["x", "y"]))),
            ("m", 1) => format!("{path}.{}[{}]", self.name("l"), rng.u8(..3)),
            ("l", 0 | 1) => format!("{path}[{}]", rng.u8(..5)),
            _ => path,
        }
    }

    fn operand(&mut self, rng: &mut Rng, attribute: &str) -> String {
        let value = if one_in(rng, 25) { value(rng, attribute) } else { usual(rng, attribute, 1) };
        self.value(value)
    }

    pub fn projection(&mut self, rng: &mut Rng) -> String {
        let mut paths: Vec<String> = (0..rng.usize(1..5)).map(|_| self.path(rng).0).collect();
        paths.sort();
        // Of two paths that overlap, the second goes.
        let mut kept: Vec<String> = Vec::new();
        for path in paths {
            let root = |path: &str| path.split(['.', '[']).next().unwrap_or_default().to_owned();
            if one_in(rng, 40) || !kept.iter().any(|other| root(other) == root(&path)) {
                kept.push(path);
            }
        }
        // A name that is left over is no longer used.
        let used = |placeholder: &String| {
            kept.iter().any(|path| path.split(['.', '[']).any(|part| part == placeholder.as_str()))
        };
        let unused: Vec<String> = self.names.keys().filter(|name| !used(name)).cloned().collect();
        if !one_in(rng, 60) {
            unused.iter().for_each(|name| drop(self.names.shift_remove(name)));
        }
        kept.join(", ")
    }
}
