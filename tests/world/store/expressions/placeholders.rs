//! `ExpressionAttributeNames` and `ExpressionAttributeValues` in; what each placeholder stands for, and which none
//! uses, out.

use crate::store::data::attribute::Attribute;
use crate::store::error::{Answer, ModelError};
use crate::store::request::Request;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The placeholders of a request.
pub struct Placeholders {
    names: BTreeMap<String, String>,
    values: BTreeMap<String, Attribute>,
    used: RefCell<BTreeSet<String>>,
}

impl Placeholders {
    /// The placeholders of a request that may have these expressions.
    pub fn parse(request: Request<'_>, expressions: &[&str]) -> Answer<Self> {
        let (mut names, mut values) = (BTreeMap::new(), BTreeMap::new());
        let has_expression = expressions.iter().any(|name| request.get(name).is_some());
        for (member, sign) in [("ExpressionAttributeNames", '#'), ("ExpressionAttributeValues", ':')] {
            let Some(given) = request.object(member)? else { continue };
            if !has_expression {
                return Err(ModelError::invalid(format!("{member} can only be specified when using expressions")));
            }
            if given.is_empty() {
                return Err(ModelError::invalid(format!("{member} must not be empty")));
            }
            for (placeholder, meaning) in given {
                if !placeholder.starts_with(sign) || placeholder.len() == 1 {
                    return Err(ModelError::invalid(format!("{member} contains invalid key: {placeholder}")));
                }
                if sign == ':' {
                    values.insert(placeholder.clone(), Attribute::parse(meaning)?);
                } else {
                    let name = meaning.as_str().ok_or_else(|| ModelError::malformed("a name is a text"))?;
                    names.insert(placeholder.clone(), name.to_owned());
                }
            }
        }
        Ok(Self { names, values, used: RefCell::default() })
    }

    pub fn name(&self, placeholder: &str) -> Answer<String> {
        self.used.borrow_mut().insert(placeholder.to_owned());
        self.names.get(placeholder).cloned().ok_or_else(|| {
            let message = "An expression attribute name used in the document path is not defined";
            ModelError::invalid(format!("{message}; attribute name: {placeholder}"))
        })
    }

    pub fn value(&self, placeholder: &str) -> Answer<Attribute> {
        self.used.borrow_mut().insert(placeholder.to_owned());
        self.values.get(placeholder).cloned().ok_or_else(|| {
            let message = "An expression attribute value used in expression is not defined";
            ModelError::invalid(format!("{message}; attribute value: {placeholder}"))
        })
    }

    /// Each placeholder must be used.
    pub fn check_used(&self) -> Answer<()> {
        let used = self.used.borrow();
        match self.names.keys().chain(self.values.keys()).find(|placeholder| !used.contains(*placeholder)) {
            None => Ok(()),
            Some(unused) => Err(ModelError::invalid(format!("Value provided is unused in expressions: {unused}"))),
        }
    }
}
