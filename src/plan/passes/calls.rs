//! Calls of services in, the reads and calls that they wait for out: of all that a service gets, and of what shows
//! whether it may get it.

use super::waves::{Sources, add_holder, add_source, add_space};
use crate::plan::tree::*;

/// Finds what each call waits for.
pub fn find_needs(calls: &mut [ServiceCall], spaces: &[Space], guards: &[Guard]) {
    for call in calls {
        let mut needs = Needs { spaces, guards, found: Sources::default() };
        needs.space(call.space);
        needs.guard(call.guard);
        call.presence.iter().for_each(|presence| needs.presence(presence));
        needs.object(&call.requires);
        let Sources { reads, calls } = needs.found.in_order();
        (call.after, call.after_calls) = (reads, calls);
    }
}

/// What is needed to write objects.
struct Needs<'n> {
    spaces: &'n [Space],
    guards: &'n [Guard],
    found: Sources,
}

impl Needs<'_> {
    fn space(&mut self, space: SpaceId) {
        let mut next = Some(space);
        while let Some(space) = next {
            add_space(space, self.spaces, &mut self.found);
            next = self.spaces[space].parent;
        }
    }

    fn guard(&mut self, guard: Option<GuardId>) {
        let mut next = guard;
        while let Some(guard) = next.map(|guard| &self.guards[guard]) {
            for demand in &guard.demands {
                if let DecidedBy::Rows { holder, lookups } = &demand.decided {
                    holder.iter().for_each(|holder| add_holder(*holder, self.spaces, &mut self.found));
                    self.found.reads.extend(lookups.iter().flatten());
                }
            }
            next = guard.within;
        }
    }

    fn presence(&mut self, presence: &Presence) {
        match presence {
            Presence::Read(read) => self.found.reads.push(*read),
            Presence::Seed(_) => {}
            Presence::Values(sources) => sources.iter().for_each(|source| self.source(source)),
        }
    }

    fn source(&mut self, source: &ValueSource) {
        add_source(source, self.spaces, &mut self.found);
    }

    fn object(&mut self, object: &Object) {
        self.guard(object.guard);
        object.fields.iter().for_each(|output| self.output(output));
        for (space, variant) in &object.variants {
            self.space(*space);
            self.object(variant);
        }
    }

    fn output(&mut self, output: &Output) {
        self.guard(output.guard);
        match &output.value {
            OutputValue::Typename | OutputValue::Introspection | OutputValue::Done => {}
            OutputValue::Leaf(at) => self.location(at),
            OutputValue::Computed(_, parts) => parts.iter().for_each(|part| self.location(part)),
            OutputValue::Embedded(at, object, rows) => {
                self.location(at);
                rows.iter().for_each(|space| self.space(*space));
                self.object(object);
            }
            OutputValue::One(target, object) | OutputValue::List(target, object) => {
                self.target(target);
                self.object(object);
            }
            OutputValue::Nodes(nodes) => {
                for node in &nodes.types {
                    self.guard(node.guard);
                    self.target(&node.target);
                    self.object(&node.object);
                }
            }
            OutputValue::GlobalId(_, sources) => sources.iter().for_each(|source| self.source(source)),
            OutputValue::Page(target, parts) => {
                self.target(target);
                parts.iter().for_each(|part| self.part(part));
            }
            OutputValue::Payload(object) => self.object(object),
            OutputValue::Exists(target, guard) => {
                self.target(target);
                self.guard(*guard);
            }
            OutputValue::Count(target) => self.target(target),
        }
    }

    fn location(&mut self, at: &ValueLocation) {
        match at {
            ValueLocation::In(holder, _) => add_holder(*holder, self.spaces, &mut self.found),
            ValueLocation::Here(_) => {}
            ValueLocation::Known(source, _) => self.source(source),
        }
    }

    fn target(&mut self, target: &ObjectSource) {
        self.found.reads.extend(target.pages);
        self.space(target.space);
        self.presence(&target.presence);
    }

    fn part(&mut self, part: &PageOutput) {
        match &part.part {
            PagePart::Nodes(_, object) | PagePart::Node(_, object) => self.object(object),
            PagePart::Link(space, object) => {
                self.space(*space);
                self.object(object);
            }
            PagePart::Edges(_, parts) | PagePart::PageInfo(parts) => parts.iter().for_each(|part| self.part(part)),
            PagePart::TotalCount(_, target) => self.target(target),
            PagePart::Typename(_)
            | PagePart::Cursor
            | PagePart::NextToken
            | PagePart::HasNextPage
            | PagePart::HasPreviousPage
            | PagePart::StartCursor
            | PagePart::EndCursor => {}
        }
    }
}
