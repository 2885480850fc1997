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

    /// Whether the values are read back from a key: whether every part shows where its text ends.
    pub fn is_read_back(&self) -> bool {
        self.parts.iter().all(|part| part.end() != Some(TextEnd::Unread))
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

    /// Lets alternatives end where the free text of a longer one begins: `ORG#` beside `ORG#{unit}`. An empty text then
    /// makes the key of the shorter one, so the longer one is never read with it.
    pub fn end_early(alternatives: &mut [Template]) {
        let shorter: Vec<String> = alternatives.iter().map(|other| other.as_written(other.parts.len())).collect();
        for template in alternatives {
            let beginning = template.as_written(template.parts.len().saturating_sub(1));
            if let Some(Part::Placeholder { value, limits, .. }) = template.parts.last_mut()
                && form::is_free_text(value)
                && shorter.contains(&beginning)
            {
                let own = limits.as_deref().cloned().unwrap_or(Limits::NONE);
                *limits = Some(Arc::new(Limits { least: own.least.max(1), ..own }));
            }
        }
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
        Template { parts: self.parts.iter().map(Part::relied_on).collect(), when: self.when.clone() }
    }

    /// Whether a free text has limits.
    pub fn has_limits(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Placeholder { limits: Some(_), .. }))
    }
}
