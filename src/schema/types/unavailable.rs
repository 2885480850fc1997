//! Warns of directives that a schema may carry but that do nothing yet, where silence would be dangerous. Must not know anything else.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::syntax::directives::named;
use crate::schema::types::draft::objects;
use apollo_compiler::Schema;

/// Warns of every `@auth`: it is not enforced yet, and an author who relies on it must know that everybody may read.
pub fn check(schema: &Schema, findings: &mut Findings) {
    for object in objects(schema) {
        let own = object.directives.iter().map(|directive| (&directive.node, format!("`{}`", object.name)));
        let of_fields = object
            .fields
            .values()
            .flat_map(|field| field.directives.iter().map(|directive| (directive, format!("`{}.{}`", object.name, field.name))));
        for (directive, what) in own.chain(of_fields).filter(|(directive, _)| directive.name == "auth") {
            let message = format!("`@auth` is not enforced yet: everybody may read {what}");
            findings.warning("KF0605", &named(directive), message, Some("make private fields `@inaccessible` for now".into()));
        }
    }
}
