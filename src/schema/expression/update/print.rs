//! An update as text: in the grammar that the parser reads, with stored attribute names.

use crate::schema::expression::operand::{Operand, Path};
use crate::schema::expression::update::{SetValue, Update};
use std::fmt::{Display, Formatter, Result};

impl Display for Update {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let set = |(path, value): &(Path, SetValue)| format!("{path} = {value}");
        let computed = self.computed.iter().map(|(field, value)| format!("{field} = {value}"));
        let with = |(path, operand): &(Path, Operand)| format!("{path} {operand}");
        let clauses = [
            ("SET", self.set.iter().map(set).chain(computed).collect::<Vec<_>>()),
            ("REMOVE", self.remove.iter().map(ToString::to_string).collect()),
            ("ADD", self.add.iter().map(with).collect()),
            ("DELETE", self.delete.iter().map(with).collect()),
        ];
        let written = clauses.iter().filter(|(_, actions)| !actions.is_empty());
        for (position, (clause, actions)) in written.enumerate() {
            write!(f, "{}{clause} {}", if position == 0 { "" } else { " " }, actions.join(", "))?;
        }
        Ok(())
    }
}

impl Display for SetValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            SetValue::Operand(operand) => write!(f, "{operand}"),
            SetValue::Plus(left, right) => write!(f, "{left} + {right}"),
            SetValue::Minus(left, right) => write!(f, "{left} - {right}"),
            SetValue::IfNotExists(path, value) => write!(f, "if_not_exists({path}, {value})"),
            SetValue::ListAppend(first, second) => write!(f, "list_append({first}, {second})"),
        }
    }
}
