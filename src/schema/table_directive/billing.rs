//! `billing:` and the capacities of a `@table` and its indexes in; out: how they are billed. Must not know keys or
//! names.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::syntax::directives::{argument, member};
use crate::schema::table::{Billing, Capacity};
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, Value};

/// The default capacity, in read or write capacity units: the default of the DynamoDB console.
const USUAL_CAPACITY: u32 = 5;
/// The help for a capacity on a table that is not provisioned.
const ONLY_PROVISIONED: &str = "write `billing: PROVISIONED`, or leave the capacity out";

/// How a table is billed.
pub fn table_billing(directive: &Node<Directive>, findings: &mut Findings) -> Billing {
    let provisioned =
        argument(directive, "billing").and_then(|value| value.as_enum()).is_some_and(|name| name == "PROVISIONED");
    let capacity = |name: &str, findings: &mut Findings| {
        let written = argument(directive, name)?;
        if !provisioned {
            let message = format!("`{name}` has no effect: the table is billed by request");
            findings.error(
                rules::KF0108,
                &span::from_location(written.location()),
                message,
                Some(ONLY_PROVISIONED.to_owned().into()),
            );
        }
        units(name, written, findings)
    };
    let read = capacity("readCapacity", findings).unwrap_or(USUAL_CAPACITY);
    let write = capacity("writeCapacity", findings).unwrap_or(USUAL_CAPACITY);
    if provisioned { Billing::Provisioned(Capacity { read, write }) } else { Billing::PayPerRequest }
}

/// The capacity of a global index; where it gives none, the table's applies. A local index has none of its own.
pub fn index_capacity(
    billing: Billing,
    local: bool,
    written: &Node<Value>,
    findings: &mut Findings,
) -> Option<Capacity> {
    let capacity = |name: &str, findings: &mut Findings| {
        let written = member(written, name)?;
        let place = span::from_location(written.location());
        if local {
            let help = "leave it out: a local index uses the table's capacity".to_owned();
            findings.error(rules::KF0108, &place, "a local index does not have its own capacity", Some(help.into()));
        } else if billing == Billing::PayPerRequest {
            let message = format!("`{name}` has no effect: the table is billed by request");
            findings.error(rules::KF0108, &place, message, Some(ONLY_PROVISIONED.to_owned().into()));
        }
        units(name, written, findings)
    };
    let (read, write) = (capacity("readCapacity", findings), capacity("writeCapacity", findings));
    match billing {
        Billing::Provisioned(table) if !local => {
            Some(Capacity { read: read.unwrap_or(table.read), write: write.unwrap_or(table.write) })
        }
        _ => None,
    }
}

/// Reads a number of capacity units: at least one (DynamoDB API reference, `ProvisionedThroughput`).
fn units(name: &str, written: &Node<Value>, findings: &mut Findings) -> Option<u32> {
    let number = written.to_i32()?;
    let units = u32::try_from(number).ok().filter(|units| *units > 0);
    if units.is_none() {
        findings.error(
            rules::KF0108,
            &span::from_location(written.location()),
            format!("`{name}` is {number}, but the minimum is 1"),
            None,
        );
    }
    units
}
