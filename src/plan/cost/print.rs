//! The greatest cost of an operation → text for people and JSON for tools.

use super::field::FieldCost;
use super::operation::{OperationCost, ServiceCost};
use super::price::UnitPrice;
use serde_json::{Value, json};
use std::fmt::Write;

impl OperationCost {
    /// The cost as text: a line for each field, their sum, and its price.
    pub fn to_text(&self, price: &UnitPrice) -> String {
        let mut text = "at most\n".to_owned();
        for field in &self.fields {
            let FieldCost { coordinate, times, items, calls, units, writes, .. } = field;
            let what = if *writes { "written" } else { "found" };
            let kind = if *writes { "write" } else { "read" };
            let path = if field.path.is_empty() { String::new() } else { format!(" at {}", field.path.join(".")) };
            let _ = writeln!(
                text,
                "  {coordinate}{path}: {times} × {items} {what}, {}, {units} {kind} units",
                counted(*calls, "call")
            );
        }
        for ServiceCost { coordinate, service, objects, calls } in &self.services {
            let (objects, calls) = (counted(*objects, "object"), counted(*calls, "call"));
            let _ = writeln!(text, "  {coordinate}: {objects}, {calls} of {service}, cost unknown");
        }
        let Self { calls, waves, read_units, write_units, objects, .. } = self;
        let written = if *write_units > 0.0 { format!(", {write_units} write units") } else { String::new() };
        let (calls, waves, objects) = (counted(*calls, "call"), counted(*waves, "wave"), counted(*objects, "object"));
        let _ = writeln!(text, "  in all: {calls} in {waves}, {read_units} read units{written}, {objects}");
        let dollars = price.dollars_a_million(*read_units, *write_units);
        let _ = writeln!(text, "  on demand: {dollars} a million operations ({})", price.place());
        text
    }

    /// The cost as JSON.
    pub fn to_json(&self, price: &UnitPrice) -> Value {
        let field = |field: &FieldCost| {
            let FieldCost { coordinate, path, times, items, calls, units, writes, .. } = field;
            json!({ "field": coordinate, "path": path, "times": times, "items": items, "calls": calls, "units": units, "writes": writes })
        };
        let mut cost = json!({
            "calls": self.calls,
            "waves": self.waves,
            "capacity": { "read": self.read_units, "write": self.write_units },
            "dollarsAMillion": price.dollars_a_million(self.read_units, self.write_units).0,
            "objects": self.objects,
            "fields": self.fields.iter().map(field).collect::<Vec<_>>(),
        });
        let service = |cost: &ServiceCost| {
            let ServiceCost { coordinate, service, objects, calls } = cost;
            json!({ "field": coordinate, "service": service, "objects": objects, "calls": calls })
        };
        if let (false, Value::Object(cost)) = (self.services.is_empty(), &mut cost) {
            cost.insert("services".into(), self.services.iter().map(service).collect());
        }
        cost
    }
}

fn counted(number: u64, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}
