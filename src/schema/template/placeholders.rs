//! The placeholders of a template: its fields, its claims, and the number of its shard or replica. Must not know keys.

use crate::schema::expression::claim::ClaimPath;
use crate::schema::scalar::form::Form;
use crate::schema::scalar::spread::Spread;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::template::limits::TextEnd;
use crate::schema::template::part::{Part, claim_of, spread_of};
use crate::schema::template::{Template, form};

impl Template {
    /// The fields of the placeholders, in order, each once. The number of a shard or replica is not a field, and
    /// neither is a claim.
    pub fn fields(&self) -> Vec<&str> {
        let mut fields: Vec<&str> = Vec::new();
        for part in &self.parts {
            if let Part::Placeholder { field, value, .. } = part
                && !matches!(value, ValueType::Spread(_))
                && claim_of(part).is_none()
                && !fields.contains(&field.as_str())
            {
                fields.push(field);
            }
        }
        fields
    }

    /// The fields whose values can be read back from a text, in order, each once: those that it does not have in one
    /// case.
    pub fn read_fields(&self) -> Vec<&str> {
        let is_exact = |field: &&str| self.is_read_back() && self.case_of(field).is_none();
        self.fields().into_iter().filter(is_exact).collect()
    }

    /// The case in which the template has a field, if it has it in one.
    pub fn case_of(&self, name: &str) -> Option<&Form> {
        self.parts.iter().find_map(|part| match part {
            Part::Placeholder { field, value, .. } if field == name => value.case(),
            _ => None,
        })
    }

    /// The fields and claims of the placeholders, in order, as often as they stand there. The number of a shard or
    /// replica is none of them.
    pub fn placeholders(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter(|part| spread_of(part).is_none()).filter_map(|part| match part {
            Part::Placeholder { field, .. } => Some(field.as_str()),
            Part::Literal(_) => None,
        })
    }

    /// How each placeholder of a field has its value.
    pub fn values_of<'t>(&'t self, name: &str) -> impl Iterator<Item = &'t ValueType> {
        self.parts.iter().filter_map(move |part| match part {
            Part::Placeholder { field, value, .. } if field == name => Some(value),
            _ => None,
        })
    }

    /// The first unpadded number (field, position of the part). Unpadded numbers sort wrongly as text: `10` before `9`.
    pub fn bare_number(&self) -> Option<(String, usize)> {
        self.parts.iter().enumerate().find_map(|(position, part)| match part {
            Part::Placeholder { field, value, width: None, .. } if form::is_number(value) => {
                Some((field.clone(), position))
            }
            _ => None,
        })
    }

    /// The fields that a find may bind: those before the first part that does not show where its text ends.
    pub fn beginning(&self) -> Vec<&str> {
        let unread = self.parts.iter().position(|part| part.end() == Some(TextEnd::Unread));
        let mut fields = self.fields();
        fields.retain(|field| {
            let is_of = |part: &Part| matches!(part, Part::Placeholder { field: own, .. } if own == field);
            self.parts.iter().take(unread.unwrap_or(usize::MAX)).any(is_of)
        });
        fields
    }

    /// The spread of the template, if it has one.
    pub fn spread(&self) -> Option<Spread> {
        self.spreads().next()
    }

    /// Whether it has the number of a shard that another program assigned.
    pub fn has_assigned(&self) -> bool {
        self.spreads().any(|spread| spread.assigned.is_some())
    }

    /// The claims of the caller in the template, in order.
    pub fn claims(&self) -> impl Iterator<Item = ClaimPath> {
        self.parts.iter().filter_map(claim_of)
    }

    /// Every spread in the template.
    pub fn spreads(&self) -> impl Iterator<Item = Spread> {
        self.parts.iter().filter_map(spread_of)
    }
}
