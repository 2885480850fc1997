//! The greatest cost of an operation, and its limits, in; whether the operation is refused, and which field to page,
//! out.

use super::field::FieldCost;
use super::operation::OperationCost;
use std::fmt;

/// The limits on the cost of an operation. `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CostLimits {
    /// The most calls.
    pub calls: Option<u64>,
    /// The most capacity units, reading and writing together.
    pub units: Option<u64>,
}

/// An operation that may cost too much.
#[derive(Debug)]
pub struct TooCostly {
    /// One sentence for the caller.
    pub message: String,
    /// The field that multiplies the cost most.
    pub field: Option<Box<FieldCost>>,
}

impl CostLimits {
    /// Whether there are no limits.
    pub fn is_none(&self) -> bool {
        self.calls.is_none() && self.units.is_none()
    }

    /// Refuses an operation that may cost more.
    pub fn check(&self, cost: &OperationCost) -> Result<(), TooCostly> {
        let units = cost.read_units + cost.write_units;
        let over = match (self.calls, self.units) {
            (Some(most), _) if cost.calls > most => format!("{} calls, more than {most}", cost.calls),
            (_, Some(most)) if units > most as f64 => format!("{units} capacity units, more than {most}"),
            _ => return Ok(()),
        };
        let field = cost.field_to_page().cloned();
        let advice = field.as_ref().map(|field| format!(" {}", Advice(field))).unwrap_or_default();
        Err(TooCostly { message: format!("The operation may cost {over}.{advice}"), field: field.map(Box::new) })
    }
}

impl OperationCost {
    /// The field whose smaller page lowers the cost most: on the path to the most expensive read, the field with the
    /// most items.
    fn field_to_page(&self) -> Option<&FieldCost> {
        let worst = self.fields.iter().max_by(|left, right| left.units.total_cmp(&right.units))?;
        let leads = |field: &&FieldCost| worst.path.starts_with(&field.path) && !field.path.is_empty();
        let way = || self.fields.iter().filter(leads);
        way()
            .filter(|field| field.is_page)
            .max_by_key(|field| field.items)
            .or_else(|| way().max_by_key(|field| field.items))
            .or(Some(worst))
    }
}

/// Advice about a field.
struct Advice<'f>(&'f FieldCost);

impl fmt::Display for Advice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FieldCost { coordinate, path, items, is_page, .. } = self.0;
        let place = if path.is_empty() { String::new() } else { format!(" (at {})", path.join(".")) };
        match is_page {
            true => write!(f, "Ask for smaller pages of {coordinate}{place}, which may have {items} items each."),
            false => write!(f, "Most of the cost is {coordinate}{place}."),
        }
    }
}
