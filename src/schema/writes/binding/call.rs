//! The `@call`s of a mutation's field in; out: the services that are called before its write, and what the actions get
//! of them. Must not know how a call is made.

use super::entry::{ClausePart, split};
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::{self, At, Span};
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::expression::condition::Condition;
use crate::schema::model::service::{CallInput, MutationCall};
use crate::schema::model::source::{Source, TextPart};
use crate::schema::model::write::{Action, WriteFind, WriteTarget};
use crate::schema::services::resolve::service_of;
use crate::schema::syntax::definitions::RESERVED;
use crate::schema::syntax::directives::{argument, fields, name, named, place, text};
use crate::schema::types::draft::{SchemaDraft, StoredFields};
use crate::schema::types::names::ItemNames;
use crate::schema::writes::acting::{InScope, WORDS, Writing};
use apollo_compiler::ast::{Directive, FieldDefinition, InputValueDefinition, Type};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Node};
use indexmap::IndexMap;

/// A field as its actions see it: its arguments, and the results of its calls, which have these names.
pub fn with_results(draft: &SchemaDraft, field: &FieldDefinition) -> (FieldDefinition, Vec<Name>) {
    let (mut seen, mut names) = (field.clone(), Vec::new());
    for directive in field.directives.get_all("call") {
        let (Some(at), Some(of)) = (result_name(directive), input_type(draft, directive)) else { continue };
        let Ok(result) = Name::new(&at.value) else { continue };
        if field.argument_by_name(&result).is_some() || names.contains(&result) {
            continue;
        }
        let ty = match argument(directive, "if") {
            Some(_) => Type::Named(of),
            None => Type::NonNullNamed(of),
        };
        let (description, default_value, directives) = (None, None, Default::default());
        let definition =
            InputValueDefinition { description, name: result.clone(), ty: ty.into(), default_value, directives };
        seen.arguments.push(Node::new(definition));
        names.push(result);
    }
    (seen, names)
}

/// The name of a call's result, with its place.
fn result_name(directive: &Node<Directive>) -> Option<At<String>> {
    name(directive, "as").or_else(|| text(directive, "service"))
}

/// The input type of a call's result.
fn input_type(draft: &SchemaDraft, directive: &Node<Directive>) -> Option<Name> {
    let of = name(directive, "returns")?;
    let is_input = matches!(draft.schema.types.get(of.value.as_str()), Some(ExtendedType::InputObject(_)));
    Name::new(&of.value).ok().filter(|_| is_input)
}

/// Reads every call; `None` if one has a mistake. `declared` is the field without results.
pub fn read_calls(
    writing: &Writing,
    (declared, scope): (&FieldDefinition, &[InScope]),
    findings: &mut Findings,
) -> Option<Vec<MutationCall>> {
    let mut calls: Vec<MutationCall> = Vec::new();
    for directive in declared.directives.get_all("call") {
        let reading = CallReading { writing, declared, scope, directive };
        let call = reading.call(&calls, findings)?;
        calls.push(call);
    }
    Some(calls)
}

/// A `@call` while it is read.
struct CallReading<'a> {
    writing: &'a Writing<'a>,
    /// The field without results.
    declared: &'a FieldDefinition,
    /// The items that the field's finds find.
    scope: &'a [InScope<'a>],
    directive: &'a Node<Directive>,
}

impl CallReading<'_> {
    fn call(&self, before: &[MutationCall], findings: &mut Findings) -> Option<MutationCall> {
        let Self { writing, directive, .. } = self;
        let service = service_of(writing.draft, directive, rules::KF1105, findings)?;
        let name = self.name(before, findings)?;
        let returns = self.returns(findings)?;
        let key = self.key(findings)?;
        let undo = text(directive, "undo");
        if let Some(undo) = undo.as_ref().filter(|_| key.is_some()) {
            let message =
                format!("`undo:` needs `@idempotent` on `{}`, whose record says so first", writing.coordinate());
            let help = "add `@idempotent(key: \"{key}\")` and an argument `key: ID!`";
            findings.error(rules::KF1105, &undo.span, message, Some(help.into()));
            return None;
        }
        let inputs = self.inputs(before, findings)?;
        let condition = self.condition(before, findings)?;
        Some(MutationCall { service, name, inputs, returns, key, undo: undo.map(|undo| undo.value), condition })
    }

    fn refuse<T>(&self, place: &Span, message: String, help: Option<Help>, findings: &mut Findings) -> Option<T> {
        findings.error(rules::KF1105, place, message, help);
        None
    }

    /// The name of its result, which means nothing else.
    fn name(&self, before: &[MutationCall], findings: &mut Findings) -> Option<String> {
        let At { value: name, span } = result_name(self.directive)?;
        let what = match () {
            () if Name::new(&name).is_err() => "no name",
            () if before.iter().any(|call| call.name == name) => "the result of another call",
            () if self.declared.argument_by_name(&name).is_some() => "an argument",
            () if self.writing.draft.schema.types.contains_key(name.as_str()) => "a type",
            () if self.scope.iter().any(|item| item.name == name) => "another item",
            () if WORDS.contains(&name.as_str()) => "a word of texts",
            () => return Some(name),
        };
        let message = format!("`{name}` is {what}, so it cannot name the result of this call");
        self.refuse(&span, message, Some("give it another name: `as: charge`".into()), findings)
    }

    /// The type of its result; the outer `None` is a mistake.
    fn returns(&self, findings: &mut Findings) -> Option<Option<Type>> {
        let Some(of) = name(self.directive, "returns") else { return Some(None) };
        if let Some(name) = input_type(self.writing.draft, self.directive) {
            return Some(Some(Type::NonNullNamed(name)));
        }
        let inputs = self.writing.draft.schema.types.values();
        let inputs = inputs.filter(|ty| ty.is_input_object() && !ty.name().starts_with(RESERVED));
        let help = suggest(&of.value, inputs.map(|ty| ty.name().as_str()));
        let help = help.unwrap_or_else(|| format!("declare it: `input {} {{ id: ID! }}`", of.value).into());
        self.refuse(&of.span, format!("`{}` is no input type", of.value), Some(help), findings)
    }

    /// What makes its key, if `@idempotent` does not; the outer `None` is a mistake.
    fn key(&self, findings: &mut Findings) -> Option<Option<Source>> {
        let is_known = self.declared.directives.has("idempotent");
        let Some(written) = text(self.directive, "key") else {
            if is_known {
                return Some(None);
            }
            let message = format!(
                "nothing tells a repeated call from a new one: `{}` has no `@idempotent`, and this has no `key:`",
                self.writing.coordinate()
            );
            let help = "add `@idempotent(key: \"{key}\")` and an argument `key: ID!`";
            return self.refuse(&named(self.directive), message, Some(help.into()), findings);
        };
        if is_known {
            let message = "the key of the call follows from that of `@idempotent`".to_owned();
            return self.refuse(&written.span, message, Some("leave `key:` out".into()), findings);
        }
        let source = self.source(&written, &[], findings)?;
        let is_never_null = |leaf: &&Source| match leaf {
            Source::Argument(name) => {
                let input = crate::schema::types::inputs::input(self.writing.draft.schema, self.declared, name);
                input.is_some_and(|input| !input.nullable && input.ty.is_named())
            }
            _ => false,
        };
        if source.leaves().is_empty() || !source.leaves().iter().all(is_never_null) {
            let message = format!("the key `{}` must be made of arguments that are never null", written.value);
            return self.refuse(&written.span, message, Some("write `key: \"{orderId}\"`".into()), findings);
        }
        Some(Some(source))
    }

    /// What the service gets.
    fn inputs(&self, before: &[MutationCall], findings: &mut Findings) -> Option<IndexMap<String, CallInput>> {
        let (entries, malformed) = fields(self.directive, "set");
        if let Some(place) = malformed {
            let help = "write `set: { amount: \"{Order.amount}\" }`";
            return self.refuse(
                &place,
                "`set:` is an object of what the service gets".to_owned(),
                Some(help.into()),
                findings,
            );
        }
        let mut inputs = IndexMap::new();
        for (name, written) in entries {
            let input = match written.as_str() {
                Some(value) => {
                    let text = At { value: value.to_owned(), span: span::from_location(written.location()) };
                    CallInput::Source(self.source(&text, before, findings)?)
                }
                None => match literal(&written) {
                    Some(literal) => CallInput::Literal(literal),
                    None => {
                        let message = format!("the value of `{}` must be a single value or a text", name.value);
                        let place = span::from_location(written.location());
                        return self.refuse(&place, message, Some("write `\"{argument}\"`".into()), findings);
                    }
                },
            };
            inputs.insert(name.value, input);
        }
        Some(inputs)
    }

    /// What a text says. Of results, it may hold those of the calls before.
    fn source(&self, text: &At<String>, before: &[MutationCall], findings: &mut Findings) -> Option<Source> {
        let writing = self.writing;
        let part = |name: &str, place: &Span, findings: &mut Findings| {
            let source = writing.source(name, self.scope).filter(|source| match source {
                Source::Argument(argument) => self.is_there(argument, before),
                _ => true,
            });
            if source.is_none() {
                let message = format!(
                    "`{name}` is neither an argument of `{}`, nor a field of a found item, nor of the result of a call before this one",
                    writing.coordinate()
                );
                let choices = writing.choices(self.scope, &|name| self.is_there(name, before));
                let help = suggest(name, choices.iter().map(String::as_str));
                findings.error(rules::KF1105, place, message, help);
            }
            source.map(ClausePart::Source)
        };
        let parts = split(writing.draft.text, text, &part, findings)?;
        let parts = parts.into_iter().filter_map(|part| match part {
            ClausePart::Literal(text) => Some(TextPart::Literal(text)),
            ClausePart::Source(source) => Some(TextPart::Value(source)),
            ClausePart::Word(_) => None,
        });
        Some(match <[TextPart; 1]>::try_from(parts.collect::<Vec<_>>()) {
            Ok([TextPart::Value(source)]) => source,
            Ok(only) => Source::Text(only.into()),
            Err(parts) => Source::Text(parts),
        })
    }

    /// Whether an argument is there when the call is made: it is none of a result of this call or a later one.
    fn is_there(&self, argument: &str, before: &[MutationCall]) -> bool {
        let first = argument.split('.').next().unwrap_or_default();
        !self.writing.is_result(argument) || before.iter().any(|call| call.name == first)
    }

    /// `if:`; the outer `None` is a mistake.
    fn condition(&self, before: &[MutationCall], findings: &mut Findings) -> Option<Option<Condition>> {
        let Some(written) = text(self.directive, "if") else { return Some(None) };
        let Writing { draft, field, .. } = *self.writing;
        // It is about no item, so that nothing but arguments has a name.
        let record = StoredFields::default();
        let keys = draft.items.values().next()?;
        let found = self.scope.iter().filter(|item| item.found && item.each.is_none());
        let found = found.map(|item| (item.name.as_str(), item.record)).collect();
        let names = ItemNames {
            draft,
            field,
            record: &record,
            keys,
            table: draft.tables.get(keys.table)?,
            keys_tell: false,
            found,
        };
        match Condition::parse(&written.value, &names) {
            Ok(condition) => match condition.arguments().into_iter().find(|name| !self.is_there(name, before)) {
                None => Some(Some(condition)),
                Some(name) => {
                    let message = format!("`{name}` is not known before the call");
                    self.refuse(&written.span, message, None, findings)
                }
            },
            Err(mistakes) => {
                for mistake in mistakes {
                    let place = span::within(draft.text, &written.span, &mistake.span);
                    findings.error(rules::KF1105, &place, mistake.message, mistake.help);
                }
                None
            }
        }
    }
}

/// A literal without quotes: a number, a Boolean or a name.
fn literal(written: &Node<apollo_compiler::ast::Value>) -> Option<serde_json::Value> {
    use apollo_compiler::ast::Value;
    match written.as_ref() {
        Value::Enum(name) => Some(name.as_str().into()),
        Value::Boolean(value) => Some((*value).into()),
        Value::Int(number) => serde_json::from_str(number.as_str()).ok(),
        Value::Float(number) => serde_json::from_str(number.as_str()).ok(),
        _ => None,
    }
}

/// Reports finds and actions that would find an item by a result: items are found before the calls are made.
pub fn check_targets(writing: &Writing, (finds, actions): (&[WriteFind], &[Action]), findings: &mut Findings) -> bool {
    let of_find = |found: &WriteFind| {
        let filter = found.find.filter.iter().flat_map(Condition::arguments).map(str::to_owned);
        names(found.find.sources()).into_iter().chain(filter).collect::<Vec<_>>()
    };
    let of_action = |action: &Action| match &action.target {
        WriteTarget::Key(sources) => {
            let by = action.at.as_ref().and_then(|at| at.by.as_ref()).map(|(_, _, source)| source);
            names(sources.values().chain(by).collect())
        }
        WriteTarget::Found(_) => Vec::new(),
        WriteTarget::Read { find, .. } => names(find.sources()),
    };
    let mut all = finds.iter().flat_map(of_find).chain(actions.iter().flat_map(of_action));
    let Some(by_result) = all.find(|name| writing.is_result(name)) else { return true };
    let message = format!("`{by_result}` would find an item, but items are found before the calls are made");
    let calls = writing.field.directives.get("call").map(|directive| place(directive, "as")).unwrap_or_default();
    let help = "use results in `set:`, in `if:` and in expressions of actions".to_owned();
    findings.error(rules::KF1105, &calls, message, Some(help.into()));
    false
}

/// The arguments that sources name.
fn names(sources: Vec<&Source>) -> Vec<String> {
    let leaves = sources.into_iter().flat_map(Source::leaves);
    leaves.filter_map(|leaf| if let Source::Argument(name) = leaf { Some(name.clone()) } else { None }).collect()
}
