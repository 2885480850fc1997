//! `where:` of a find in, equalities and ranges of the target's fields out, with the claims in its keys. Must not know
//! which key uses them.

use super::wanted::{Binding, Bindings, Bounds, FindContext, Need};
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::{At, Span};
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::expression::claim::ClaimPath;
use crate::schema::model::source::{BindingRule, Source, TextPart};
use crate::schema::scalar::spread::{Spread, SpreadKind};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::syntax::directives::string;
use crate::schema::types::bare_text::warn_of_name;
use crate::schema::types::draft::{Declared, Kind};
use crate::schema::types::inputs::Input;
use crate::schema::types::{computed, inputs, values};
use apollo_compiler::Node;
use apollo_compiler::ast::{OperationType, Value};

/// The operators of a range.
const RANGE: [&str; 6] = ["lt", "le", "ge", "gt", "between", "beginsWith"];

/// Reads every entry; `None` if one has a mistake.
pub fn read_where(wanted: &FindContext, findings: &mut Findings) -> Option<Bindings> {
    let mut bindings = Bindings::default();
    let mut sound = true;
    if let Some(place) = &wanted.directive.malformed_where {
        let help = "write `{ userId: \"{id}\" }`";
        findings.error(rules::KF0404, place, "`where:` is an object that binds fields", Some(help.into()));
        sound = false;
    }
    for (field, value) in &wanted.directive.bindings {
        if let Some(spread) = wanted.spread(&field.value) {
            if value.is_null() {
                bindings.hidden.insert(spread.placeholder());
                continue;
            }
            let entry = Entry { wanted, field, value: &ValueType::Spread(spread) };
            // A list of replicas would read the same items again.
            match entry.operand(value, spread.kind == SpreadKind::Shard, findings) {
                Some(bound) => _ = bindings.equal.insert(spread.placeholder(), bound),
                None => sound = false,
            }
            continue;
        }
        let Some(declared) = wanted.record.get(&field.value).filter(|declared| !declared.ty.is_list()) else {
            let message = format!("`{}` is not a field of `{}` that can be bound", field.value, wanted.target.item);
            let choices =
                wanted.record.iter().filter(|(_, declared)| !declared.ty.is_list()).map(|(name, _)| name.as_str());
            let help = computed::help_beside(wanted.draft, wanted.record, &field.value);
            let help = help.or_else(|| suggest(&field.value, choices));
            findings.error(rules::KF0405, &field.span, message, help);
            sound = false;
            continue;
        };
        if value.is_null() {
            bindings.hidden.insert(field.value.clone());
            continue;
        }
        let entry = Entry { wanted, field, value: &declared.value };
        match value.as_object() {
            Some(operators) => match entry.range(operators, findings) {
                Some(bounds) => _ = bindings.ranges.insert(field.value.clone(), bounds),
                None => sound = false,
            },
            None => match entry.operand(value, true, findings) {
                Some(bound) => _ = bindings.equal.insert(field.value.clone(), bound),
                None => sound = false,
            },
        }
    }
    bindings.equal.extend(wanted.claims());
    sound.then_some(bindings)
}

struct Entry<'a> {
    wanted: &'a FindContext<'a>,
    field: &'a At<String>,
    value: &'a ValueType,
}

impl Entry<'_> {
    fn range(&self, operators: &[(apollo_compiler::Name, Node<Value>)], findings: &mut Findings) -> Option<Bounds> {
        let mut bounds = Bounds { span: self.field.span.clone(), ..Bounds::default() };
        for (operator, operand) in operators {
            let place = span::from_location(operator.location());
            let taken = match operator.as_str() {
                "ge" | "gt" => self.side(&mut bounds.lower, operand, operator == "ge", findings)?,
                "le" | "lt" => self.side(&mut bounds.upper, operand, operator == "le", findings)?,
                "between" => {
                    let [lower, upper] = operand.as_list().unwrap_or_default() else {
                        let help = "write `between: [\"{from}\", \"{to}\"]`";
                        findings.error(rules::KF0406, &place, "`between` has two bounds", Some(help.into()));
                        return None;
                    };
                    self.side(&mut bounds.lower, lower, true, findings)?
                        | self.side(&mut bounds.upper, upper, true, findings)?
                }
                "beginsWith" if matches!(self.value.plain(), ValueType::Id | ValueType::String) => {
                    bounds.begins_with.replace(self.operand(operand, false, findings)?).is_some()
                }
                "beginsWith" => {
                    let message = format!(
                        "`beginsWith` needs a text, but `{}` is of type {}",
                        self.field.value,
                        self.value.name()
                    );
                    findings.error(rules::KF0406, &place, message, None);
                    return None;
                }
                other => {
                    findings.error(
                        rules::KF0406,
                        &place,
                        format!("`{other}` is not a range operator"),
                        suggest(other, RANGE),
                    );
                    return None;
                }
            };
            if taken || (bounds.begins_with.is_some() && operators.len() > 1) {
                let message = format!("`{operator}` contradicts another bound of `{}`", self.field.value);
                findings.error(
                    rules::KF0406,
                    &place,
                    message,
                    Some("a range has one lower and one upper bound, or one `beginsWith`".into()),
                );
                return None;
            }
        }
        if operators.is_empty() {
            findings.error(
                rules::KF0406,
                &self.field.span,
                format!("the range of `{}` has no bound", self.field.value),
                suggest("", RANGE),
            );
            return None;
        }
        Some(bounds)
    }

    /// Sets a bound. Returns whether there was one already.
    fn side(
        &self,
        side: &mut Option<(Binding, bool)>,
        operand: &Node<Value>,
        inclusive: bool,
        findings: &mut Findings,
    ) -> Option<bool> {
        Some(side.replace((self.operand(operand, false, findings)?, inclusive)).is_some())
    }

    /// A template over the arguments and the parent's fields.
    fn operand(&self, written: &Node<Value>, list_allowed: bool, findings: &mut Findings) -> Option<Binding> {
        let place = span::from_location(written.location());
        let literal = written.as_enum().map(|name| At { value: name.to_string(), span: place.clone() });
        let Some(text) = literal.or_else(|| string(written)) else {
            let help = "write a template: `\"{argument}\"`, `\"{parentField}\"` or a text; write null to leave the field unbound";
            findings.error(
                rules::KF0404,
                &place,
                format!("the value of `{}` must be a text", self.field.value),
                Some(help.into()),
            );
            return None;
        };
        if written.as_str().is_some() {
            self.warn_of_name(&text, findings);
        }
        let parts = self.parts(&text, findings)?;
        let arguments: Vec<String> = parts.iter().filter_map(argument_of).collect();
        let source = match <[TextPart; 1]>::try_from(parts) {
            Ok([TextPart::Value(source)]) => {
                self.check_single(&source, &text.span, list_allowed, findings)?;
                source
            }
            Ok([part]) => self.checked_text(vec![part], &text, findings)?,
            Err(parts) => self.checked_text(parts, &text, findings)?,
        };
        Some(Binding { source, arguments, rule: BindingRule::Where, fallback: false, need: Need::Always })
    }

    /// Warns of a text that is the name of an argument or of the parent's field. A value of an enum is meant as it is.
    fn warn_of_name(&self, text: &At<String>, findings: &mut Findings) {
        if matches!(self.value, ValueType::Enum(_)) {
            return;
        }
        let known = |name: &str| {
            let argument = self.wanted.argument(name).is_some() || self.input(name).is_some();
            let field = || self.wanted.parent_record.is_some_and(|record| record.contains_key(name));
            if argument {
                Some("the argument".to_owned())
            } else {
                field().then(|| format!("the field of `{}`", self.wanted.parent))
            }
        };
        warn_of_name(text, known, findings);
    }

    /// Literals and `{names}` in their order.
    fn parts(&self, text: &At<String>, findings: &mut Findings) -> Option<Vec<TextPart>> {
        let mut parts = Vec::new();
        let mut at = 0;
        let value = &text.value;
        while let Some(open) = value[at..].find('{').map(|found| at + found) {
            if open > at {
                parts.push(TextPart::Literal(value[at..open].to_owned()));
            }
            let Some(close) = value[open..].find('}').map(|found| open + found) else {
                let place = span::within(self.wanted.draft.text, &text.span, &(open..value.len()));
                findings.error(
                    rules::KF0404,
                    &place,
                    "this brace is not closed",
                    Some("a placeholder is `{name}`".into()),
                );
                return None;
            };
            let place = span::within(self.wanted.draft.text, &text.span, &(open..close + 1));
            parts.push(TextPart::Value(self.name(&value[open + 1..close], &place, findings)?));
            at = close + 1;
        }
        if at < value.len() || parts.is_empty() {
            parts.push(TextPart::Literal(value[at..].to_owned()));
        }
        Some(parts)
    }

    /// The source that a name stands for: a claim, an argument, or a stored field of the parent.
    fn name(&self, name: &str, place: &Span, findings: &mut Findings) -> Option<Source> {
        if let Some(claim) = ClaimPath::parse(name) {
            return Some(Source::Claim(claim));
        }
        if self.wanted.argument(name).is_some() || self.input(name).is_some() {
            return Some(Source::Argument(name.to_owned()));
        }
        let stored = self.wanted.parent_record.and_then(|record| record.get(name));
        if stored.is_some() {
            return Some(Source::Parent(name.to_owned()));
        }
        if let Some((item, field)) = name.split_once('.').filter(|(item, field)| self.found(item, field).is_some()) {
            return Some(Source::Item(item.to_owned(), field.to_owned()));
        }
        let arguments = self.wanted.field.arguments.iter().map(|argument| argument.name.as_str());
        let fields = self.wanted.parent_record.into_iter().flat_map(|record| record.keys().map(String::as_str));
        let of_found = self.wanted.found.iter();
        let of_found = of_found.flat_map(|(item, record)| record.keys().map(move |field| format!("{item}.{field}")));
        let of_found: Vec<String> = of_found.collect();
        let message = format!(
            "`{name}` is neither an argument of `{}` nor a stored field of `{}`",
            self.wanted.coordinate(),
            self.wanted.parent
        );
        let choices = arguments.chain(fields).chain(of_found.iter().map(String::as_str));
        let parent = self.wanted.parent_record;
        let help = parent.and_then(|record| computed::help_beside(self.wanted.draft, record, name));
        findings.error(rules::KF0407, place, message, help.or_else(|| suggest(name, choices)));
        None
    }

    /// A field of an item that is found before.
    fn found(&self, item: &str, field: &str) -> Option<&Declared> {
        self.wanted.found.iter().find(|(name, _)| name == item)?.1.get(field)
    }

    /// A field of an input object, `input.id`, which the `@find` of a mutation may use.
    fn input(&self, name: &str) -> Option<Input<'_>> {
        let FindContext { draft, parent, field, .. } = self.wanted;
        let writes = matches!(draft.kind(parent), Some(Kind::Root(OperationType::Mutation)));
        inputs::input(draft.schema, field, name).filter(|_| writes)
    }

    /// A placeholder that stands alone keeps its type, which must fit the field. Where lists are allowed, an argument
    /// may be a list of such values.
    fn check_single(&self, source: &Source, place: &Span, list_allowed: bool, findings: &mut Findings) -> Option<()> {
        let (ty, list) = self.type_of(source)?;
        let fits = ty.as_ref().is_some_and(|ty| values::fits(ty, self.value));
        let list_fits = !list || (list_allowed && matches!(source, Source::Argument(_)));
        if fits && list_fits {
            return Some(());
        }
        let message = match fits {
            false => format!("`{}` is of type {}, but this value is not", self.field.value, self.value.name()),
            true => format!("a list cannot bind `{}` here", self.field.value),
        };
        let help = match (fits, source) {
            (true, _) => Some("only an argument may be a list, and only for equality".into()),
            (false, Source::Argument(name)) => self.wanted.argument(name).map(|argument| {
                let (right, place) = (self.value.name(), span::from_type(&argument.ty));
                Help::edit(format!("make the argument `{name}` of type {right}"), place, right)
            }),
            (false, _) => Some(format!("bind it by a value of type {}", self.value.name()).into()),
        };
        findings.error(rules::KF0408, place, message, help);
        None
    }

    /// A composed text binds texts and replicas. A constant text also binds enums, instants and dates, if it is one of
    /// their values.
    fn checked_text(&self, parts: Vec<TextPart>, text: &At<String>, findings: &mut Findings) -> Option<Source> {
        use ValueType as V;
        let constant = parts.iter().all(|part| matches!(part, TextPart::Literal(_)));
        let lists = parts.iter().any(|part| match part {
            TextPart::Value(source) => self.type_of(source).is_none_or(|(ty, list)| {
                list || !ty.is_some_and(|ty| values::stored_key_type(&ty).is_some() || matches!(ty, V::Boolean))
            }),
            TextPart::Literal(_) => false,
        });
        let fits = match self.value {
            V::Id | V::String | V::Spread(Spread { kind: SpreadKind::Replica, .. }) => true,
            V::Enum(values) if constant => values.stored.contains_key(&text.value),
            value if constant && value.is_time() => value.coerce(&text.value.clone().into()).is_ok(),
            _ => false,
        };
        if fits && !lists {
            return Some(Source::Text(parts));
        }
        let message = format!("`{}` is of type {}, but \"{}\" is not", self.field.value, self.value.name(), text.value);
        let help = match self.value {
            V::Enum(values) => suggest(&text.value, values.stored.keys().map(String::as_str)),
            _ => None,
        };
        findings.error(rules::KF0408, &text.span, message, help);
        None
    }

    /// The type of a source and whether it is a list.
    fn type_of(&self, source: &Source) -> Option<(Option<ValueType>, bool)> {
        match source {
            Source::Argument(name) => {
                let ty = self
                    .wanted
                    .argument(name)
                    .map(|argument| &*argument.ty)
                    .or_else(|| self.input(name).map(|input| input.ty))?;
                let nested = ty.is_list() && ty.item_type().is_list();
                let value = values::value_type(self.wanted.draft.schema, ty.inner_named_type()).filter(|_| !nested);
                Some((value, ty.is_list()))
            }
            Source::Parent(name) => {
                let declared = self.wanted.parent_record?.get(name)?;
                Some((Some(declared.value.clone()), declared.ty.is_list()))
            }
            Source::Claim(_) => Some((Some(ValueType::String), false)),
            Source::Item(item, field) => {
                let declared = self.found(item, field)?;
                Some((Some(declared.value.clone()), declared.ty.is_list()))
            }
            Source::Text(_) => None,
        }
    }
}

fn argument_of(part: &TextPart) -> Option<String> {
    match part {
        TextPart::Value(Source::Argument(name)) => Some(name.clone()),
        _ => None,
    }
}
