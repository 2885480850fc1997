//! A template and the limits of its free texts: which of them it relies on, and what they show. Must not know what
//! limits a field.

use crate::schema::template::Template;
use crate::schema::template::ends::need;
use crate::schema::template::form;
use crate::schema::template::limits::{Limits, TextEnd};
use crate::schema::template::part::Part;
use std::sync::Arc;

impl Template {
    /// Whether parts after the first `parts` show where one of these ends.
    pub fn is_open(&self, parts: usize) -> bool {
        let shown_by = |(position, part): (usize, &Part)| match part.end() {
            Some(TextEnd::Back { parts: after, .. }) => position + after + 1,
            _ => 0,
        };
        self.parts.iter().enumerate().take(parts).any(|part| shown_by(part) > parts)
    }

    /// The template whose free texts have other limits: what `of` makes of a field and its limits.
    pub fn limited(mut self, of: &dyn Fn(&str, Option<&Limits>) -> Option<Limits>) -> Template {
        for part in &mut self.parts {
            if let Part::Placeholder { field, value, limits, .. } = part
                && form::is_free_text(value)
            {
                *limits = of(field, limits.as_deref()).map(Arc::new);
            }
        }
        self
    }

    /// Relies on the length of the free text at a position, if all of its texts have one that escapes do not change.
    pub fn need_length(&mut self, position: usize) {
        let next = self.parts.get(position + 1).and_then(Part::literal);
        let has_length = match self.parts.get(position) {
            Some(Part::Placeholder { limits: Some(limits), .. }) => limits.characters_before(next).is_some(),
            _ => false,
        };
        self.parts.iter_mut().skip(position).take(usize::from(has_length)).for_each(need);
    }

    /// The template with no limits but those that it relies on.
    pub fn relied_on(&self) -> Template {
        Template { parts: self.parts.iter().map(Part::relied_on).collect() }
    }

    /// Whether a free text has limits.
    pub fn has_limits(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Placeholder { limits: Some(_), .. }))
    }
}
