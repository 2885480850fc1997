//! Global ids in a response: the items that ids name, and the id of an item.

use super::object::null_message;
use super::writer::{PathStep, Place, ValueFault, Writer};
use crate::execute::read::state::Present;
use crate::plan::tree::{NodesOutput, Output, ValueSource};
use crate::schema::scalar::global_id::GlobalId;
use crate::table::json::string::push_json_text;
use apollo_compiler::ast::Type;

impl<'a> Writer<'a> {
    /// The item of an id, or a list with one element for each id.
    pub(super) fn nodes(&mut self, nodes: &'a NodesOutput, ty: &'a Type, at: Place<'_>) -> Result<(), ValueFault> {
        if let Err(failure) = self.state.ids(&nodes.ids) {
            return Err(self.failed(&failure));
        }
        let rows = self.state.under(at.space, at.row, nodes.space);
        if !ty.is_list() {
            return self.node(nodes, rows.start, ty);
        }
        let item = ty.item_type();
        self.body.data.push(b'[');
        for (position, row) in rows.enumerate() {
            if position > 0 {
                self.body.data.push(b',');
            }
            self.within(PathStep::Index(position), |writer| {
                writer.nullable(item, |writer| writer.node(nodes, row, item))
            })?;
        }
        self.body.data.push(b']');
        Ok(())
    }

    /// The item of one id; null if the id names none that is there.
    fn node(&mut self, nodes: &'a NodesOutput, id: usize, ty: &Type) -> Result<(), ValueFault> {
        let state = self.state;
        let row_of = |space| state.under(nodes.space, id, space).next();
        let named = nodes.types.iter().find_map(|node| Some((node, row_of(node.target.space)?)));
        let Some((node, row)) = named else { return self.missing(ty, String::new) };
        let place = Place { space: node.target.space, row, map: None };
        self.pass(node.guard, place)?;
        match state.present(&node.target, place.space, place.row) {
            Present::Yes => self.object(&node.object, place),
            Present::No => self.missing(ty, String::new),
            Present::Failed(failure) => Err(self.failed(&failure)),
        }
    }

    /// The id of the item of a row.
    pub(super) fn global_id(
        &mut self,
        (id, sources): (&GlobalId, &[ValueSource]),
        (type_name, output): (&str, &Output),
        at: Place<'_>,
    ) -> Result<(), ValueFault> {
        let mut values = Vec::with_capacity(sources.len());
        for source in sources {
            match self.state.value(source, at.space, at.row) {
                Ok(value) => values.extend(value),
                Err(failure) => return Err(self.failed(&failure)),
            }
        }
        match id.encode(&values) {
            Some(id) => {
                push_json_text(&mut self.body.data, &id);
                Ok(())
            }
            None => self.missing(&output.ty, || null_message(type_name, &output.key)),
        }
    }
}
