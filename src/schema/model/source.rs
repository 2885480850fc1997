//! Where a bound value comes from, and the rule by which it is bound. Plain data.

use crate::schema::expression::claim::ClaimPath;

/// Where a bound value comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// An argument of the field; a list here means one key, or one range, for each of its values. A field of an input
    /// object is dotted: `input.name`. In an action with `each:`, so is one of the list's element: `lines.sku`.
    Argument(String),
    /// A stored field of the parent object.
    Parent(String),
    /// Text made of literals and other sources: `where: { id: "user-{userId}" }`.
    Text(Vec<TextPart>),
    /// A claim of the caller, as text: `{auth.sub}`. A caller without it finds nothing, and a write of it is refused.
    Claim(ClaimPath),
    /// In a mutation: a field of an item in scope, which was found or put before. A found item has its alias, a put one
    /// its type.
    Item(String, String),
}

impl Source {
    /// Gives each argument and each item in scope that it names another name.
    pub fn rename(&mut self, argument: &dyn Fn(&mut String), item: &dyn Fn(&mut String)) {
        match self {
            Self::Argument(name) => argument(name),
            Self::Item(name, _) => item(name),
            Self::Text(parts) => parts.iter_mut().for_each(|part| match part {
                TextPart::Value(source) => source.rename(argument, item),
                TextPart::Literal(_) => {}
            }),
            Self::Parent(_) | Self::Claim(_) => {}
        }
    }

    /// The sources that give its value, in order: itself, or those in its text.
    pub fn leaves(&self) -> Vec<&Source> {
        match self {
            Self::Text(parts) => {
                let values = parts
                    .iter()
                    .filter_map(|part| if let TextPart::Value(source) = part { Some(source) } else { None });
                values.flat_map(Self::leaves).collect()
            }
            Self::Argument(_) | Self::Parent(_) | Self::Claim(_) | Self::Item(..) => vec![self],
        }
    }
}

/// The rule by which a field of the target is bound, in the order in which the rules are tried
/// (docs/language/binding.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BindingRule {
    /// `where:` binds it.
    Where,
    /// An argument of its name.
    Argument,
    /// An argument named `<target><Field>`.
    TargetArgument,
    /// A field of the parent named `<field><TargetField>`: for `author`, `authorId` is `User.id`.
    FieldName,
    /// A field of the parent, seen as `<parent><Field>`: in `Group`, `id` is `Membership.groupId`.
    ParentName,
    /// A field of the parent named `<target><Field>`: in `Membership`, `groupId` is `Group.id`.
    TargetName,
    /// A field of the parent of the same name.
    SameName,
    /// It is a claim in the key's template, and no field.
    Template,
}

/// A part of [`Source::Text`].
#[derive(Debug, Clone, PartialEq)]
pub enum TextPart {
    /// As it stands.
    Literal(String),
    /// The value of a source, as text.
    Value(Source),
}
