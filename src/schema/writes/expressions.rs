//! `if:` and `expression:` of an action in, a checked condition and a checked update out. Also proves that the update
//! leaves no key stale. Must not know how they are sent.

use super::acting::{Acting, MadeBinding};
use super::directive::Verb;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rule::Rule;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::{At, Span};
use crate::schema::diagnostics::suggestion::list;
use crate::schema::expression::condition::Condition;
use crate::schema::expression::names::{ConditionMistake, Named, Names};
use crate::schema::expression::operand::{ArgumentType, Operand, Path, Segment};
use crate::schema::expression::size::ExpressionSize;
use crate::schema::expression::update::reader::{Change, UpdateNames};
use crate::schema::expression::update::{SetValue, Update, parser};
use crate::schema::model::rules::DefaultValue;
use crate::schema::model::write::GivenValue;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::template::Template;
use crate::schema::types::draft::Declared;
use crate::schema::types::fields::is_whole;
use crate::schema::types::inputs;
use crate::schema::types::names::ItemNames;
use crate::schema::writes::checks::unchecked;
use crate::schema::writes::values;
use indexmap::IndexMap;
use serde_json::json;

/// `if:`; the outer `None` is a mistake.
pub fn condition(acting: &Acting, findings: &mut Findings) -> Option<Option<Condition>> {
    let Some(written) = &acting.directive.condition else { return Some(None) };
    match Condition::parse(&written.value, &acting.names()) {
        Ok(condition) => {
            check_size(
                (condition.size() + ExpressionSize::for_item(acting.keys.telling().count())).excess(),
                "condition",
                written,
                findings,
            )?;
            Some(Some(condition))
        }
        Err(mistakes) => {
            report(acting, (rules::KF0711, written), mistakes, findings);
            None
        }
    }
}

/// Whether a check of an item that is read first asks that there is none: a missing one is `NOT_FOUND` before its
/// condition is asked.
pub fn check_missing(acting: &Acting, condition: &Condition, findings: &mut Findings) -> Option<()> {
    let Some(written) = acting.directive.condition.as_ref().filter(|_| acting.directive.verb == Verb::Check) else {
        return Some(());
    };
    let always = acting.record.values().filter(|declared| declared.ty.is_non_null() && !declared.ty.is_list());
    let keys = acting.table.primary_key().map(|key| key.name.as_str());
    let always: Vec<&str> = always.map(|declared| declared.attribute.as_str()).chain(keys).collect();
    if !condition.asks_for_absence(&|attribute| always.contains(&attribute)) {
        return Some(());
    }
    let message =
        format!("this asks that there is no `{}`, but a missing one is NOT_FOUND: it is read first", acting.item);
    let help = format!("name one item type and bind its whole key: {}", list(&acting.primary_fields()));
    findings.error(rules::KF0711, &written.span, message, Some(help.into()));
    None
}

/// `expression:` of an update; the outer `None` is a mistake.
pub fn expression(acting: &Acting, findings: &mut Findings) -> Option<Option<Update>> {
    let update = acting.directive.verb == Verb::Update;
    let whole = acting.directive.at.is_none();
    let Some(written) = acting.directive.expression.as_ref().filter(|_| update && whole) else { return Some(None) };
    let names = ExpressionNames { names: acting.names(), is_new: false };
    match parser::parse(&written.value, &names) {
        Ok(parsed) => {
            check_size(parsed.update.size().excess(), "expression", written, findings)?;
            let mut computed = IndexMap::new();
            let update = &parsed.update;
            let mut check = |change: &Change| {
                let Some(declared) = acting.record.get(&change.field) else { return true };
                let place = span::within(acting.writing.draft.text, &written.span, &change.span);
                let field = change.field.as_str();
                let of_field = FieldChange { acting, names: &names.names, update, field, declared, place };
                computed.extend(of_field.computed().map(|value| (change.field.clone(), value)));
                of_field.check(computed.contains_key(field), findings)
            };
            let sound: Vec<bool> = parsed.changes.iter().map(&mut check).collect();
            unchecked::warn_of_expression(acting, &parsed.update, (written, &parsed.changes), findings);
            sound.iter().all(|sound| *sound).then(|| Some(with_computed(parsed.update, computed, acting)))
        }
        Err(mistakes) => {
            report(acting, (rules::KF0712, written), mistakes, findings);
            None
        }
    }
}

/// An update whose computed fields are in no clause.
fn with_computed(mut update: Update, computed: IndexMap<String, SetValue>, acting: &Acting) -> Update {
    let attribute = |field: &String| acting.record.get(field).map(|declared| declared.attribute.as_str());
    let of_computed: Vec<&str> = computed.keys().filter_map(attribute).collect();
    let is_apart = |path: &Path| !path.attribute().is_some_and(|own| of_computed.contains(&own));
    update.set.retain(|(path, _)| is_apart(path));
    update.add.retain(|(path, _)| is_apart(path));
    update.computed = computed;
    update
}

/// The values that the `expression:` of a put computes, by field; `None` is a mistake. Keyfold evaluates it, because
/// the item is new: each field is set as a whole, and nothing is read from the item.
pub fn computed(acting: &Acting, findings: &mut Findings) -> Option<IndexMap<String, MadeBinding>> {
    let put = acting.directive.verb == Verb::Put;
    let Some(written) = acting.directive.expression.as_ref().filter(|_| put) else { return Some(IndexMap::new()) };
    let names = ExpressionNames { names: acting.names(), is_new: true };
    let parsed = match parser::parse(&written.value, &names) {
        Ok(parsed) => parsed,
        Err(mistakes) => {
            report(acting, (rules::KF0712, written), mistakes, findings);
            return None;
        }
    };
    let Update { set, remove, add, delete, .. } = &parsed.update;
    let place = |change: &Change| span::within(acting.writing.draft.text, &written.span, &change.span);
    if !(remove.is_empty() && add.is_empty() && delete.is_empty()) {
        let message = "the `expression:` of a `@put` only sets fields: its item is new";
        findings.error(rules::KF0712, &written.span, message, Some("use `SET` alone".into()));
        return None;
    }
    let mut all = IndexMap::new();
    let mut sound = true;
    for (change, (path, value)) in parsed.changes.iter().zip(set) {
        let mut reads = path.segments.len() > 1;
        value.paths(&mut |_| reads = true);
        let refusal = match acting.record.get(&change.field) {
            _ if reads => {
                let message = format!(
                    "a new `{}` has no values yet, so an expression sets whole fields to arguments, literals, fields of \
                     found items, sums and differences of them",
                    acting.item
                );
                Some((rules::KF0712, message, "give the value that it begins with".to_owned()))
            }
            Some(declared) => refuse_field(acting, &change.field, declared),
            None => None,
        };
        if let Some((rule, message, help)) = refusal {
            findings.error(rule, &place(change), message, Some(help.into()));
            sound = false;
        }
        let mut nullable = false;
        value.operands(&mut |operand| {
            nullable |= matches!(operand, Operand::Argument(name, _) if names.may_be_null(name));
        });
        let made = MadeBinding { value: GivenValue::Computed(value.clone()), nullable, span: place(change) };
        all.insert(change.field.clone(), made);
    }
    sound.then_some(all)
}

/// Why no expression may give the field a value.
fn refuse_field(acting: &Acting, field: &str, declared: &Declared) -> Option<Refusal> {
    let coordinate = format!("{}.{field}", acting.item);
    if acting.sets.binds(field) {
        let message = format!("both `set:` and `expression:` change `{coordinate}`");
        return Some((rules::KF0712, message, "leave one of them out".to_owned()));
    }
    let message = || format!("`{coordinate}` is a `@version` field, which only Keyfold changes");
    if declared.rules.constant {
        return Some((rules::KF0709, format!("`{coordinate}` is a constant of the type"), LEAVE_OUT.to_owned()));
    }
    declared.rules.version.then(|| (rules::KF0709, message(), LEAVE_OUT.to_owned()))
}

/// DynamoDB refuses longer expressions.
pub fn check_size(excess: Option<String>, what: &str, written: &At<String>, findings: &mut Findings) -> Option<()> {
    let Some(excess) = excess else { return Some(()) };
    findings.error(
        rules::KF0439,
        &written.span,
        format!("this {what} is too long: {excess}"),
        Some("make it shorter".into()),
    );
    None
}

fn report(
    acting: &Acting,
    (rule, written): (&'static Rule, &At<String>),
    mistakes: Vec<ConditionMistake>,
    findings: &mut Findings,
) {
    for mut mistake in mistakes {
        let name = written.value.get(mistake.span.clone()).unwrap_or_default();
        if acting.record.contains_key(name) && acting.names().attribute(name).is_none() {
            mistake.message =
                format!("`{name}` is only part of a key's text, so conditions and expressions cannot use it");
            mistake.help =
                Some(format!("store it in its own attribute as well: `@attribute(name: \"{name}\")`").into());
        }
        findings.error(
            rule,
            &span::within(acting.writing.draft.text, &written.span, &mistake.span),
            mistake.message,
            mistake.help,
        );
    }
}

/// What to do with a field that only Keyfold writes.
const LEAVE_OUT: &str = "leave it out";

/// How Keyfold comes to know the new value of a field.
const SAY_VALUE: &str = "set it to an argument, a literal, `:now` or what whole fields of the item give, or remove it";

/// A field that an expression changes.
struct FieldChange<'a> {
    acting: &'a Acting<'a>,
    names: &'a ItemNames<'a>,
    update: &'a Update,
    field: &'a str,
    declared: &'a Declared,
    /// The place of the change in the schema.
    place: Span,
}

impl FieldChange<'_> {
    /// An expression must not change a field of the table's key or a `@version` field. If an index key, a guard or a
    /// default on every write uses the changed field, Keyfold must know its new value.
    /// It knows one that it computes of the item.
    fn check(&self, is_computed: bool, findings: &mut Findings) -> bool {
        let refusal = self.refuse_field().or_else(|| {
            let is_known = is_computed || self.update.changes.get(self.field).is_some_and(Option::is_some);
            if is_known { None } else { self.refuse_unknown_value() }
        });
        let Some((rule, message, help)) = refusal else { return true };
        findings.error(rule, &self.place, message, Some(help.into()));
        false
    }

    /// What gives the field its value, if Keyfold must know that and can compute it of whole fields of the item.
    fn computed(&self) -> Option<SetValue> {
        self.refuse_unknown_value().filter(|_| self.update.changes.get(self.field).is_some_and(Option::is_none))?;
        let own = self.names.attribute(self.field)?;
        let is_own = |path: &Path| matches!(path.segments.as_slice(), [Segment::Attribute(name)] if *name == own);
        let added = self.update.add.iter().find(|(path, _)| is_own(path)).map(|(path, amount)| {
            let zero = Operand::Literal(json!(0), ArgumentType(ValueType::Decimal));
            let before = SetValue::IfNotExists(path.clone(), Box::new(SetValue::Operand(zero)));
            SetValue::Plus(Box::new(before), Box::new(SetValue::Operand(amount.clone())))
        });
        let set = self.update.set.iter().find(|(path, _)| is_own(path)).map(|(_, value)| value.clone());
        let value = set.or(added).filter(|_| !self.declared.ty.is_list())?;
        let mut is_whole = true;
        value.paths(&mut |path| {
            let attribute = path.attribute().filter(|_| path.segments.len() == 1 && path.in_key().is_none());
            let mut fields = self.acting.record.values();
            is_whole &=
                attribute.is_some_and(|name| fields.any(|field| field.attribute == name && !field.ty.is_list()));
        });
        is_whole.then_some(value)
    }

    fn coordinate(&self) -> String {
        format!("{}.{}", self.acting.item, self.field)
    }

    /// The argument that the expression gives the field as it is, if it gives it one.
    fn argument(&self) -> Option<&str> {
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let text = self.acting.directive.expression.as_ref()?.value.as_str();
        let wanted = format!("{} = :", self.field);
        let (at, _) = text.match_indices(&wanted).find(|(at, _)| !text[..*at].ends_with(is_name))?;
        let rest = &text[at + wanted.len()..];
        let (name, after) = rest.split_at(rest.find(|letter| !is_name(letter)).unwrap_or(rest.len()));
        let after = after.trim_start();
        (!name.is_empty() && (after.is_empty() || after.starts_with(','))).then_some(name)
    }

    /// Why no expression may change the field.
    fn refuse_field(&self) -> Option<Refusal> {
        let coordinate = self.coordinate();
        if self.acting.primary_fields().contains(&self.field) {
            let message = format!("`{coordinate}` is part of the table's key, which an expression cannot change");
            return Some((rules::KF0709, message, values::move_help(self.field, self.argument())));
        }
        refuse_field(self.acting, self.field, self.declared)
    }

    /// Why Keyfold must know the field's new value.
    fn refuse_unknown_value(&self) -> Option<Refusal> {
        let unknown = format!("only DynamoDB knows the new value of `{}`, so Keyfold cannot", self.coordinate());
        if let Some(name) = self.default_on_every_write() {
            let message = format!("{unknown} compute `{name}`, whose default uses it");
            return Some((rules::KF0813, message, SAY_VALUE.to_owned()));
        }
        let stale = self.stale_keys();
        let message = match stale.as_slice() {
            [] if self.declared.rules.unique => format!("{unknown} keep it unique"),
            [] if self.is_time_of_guards() => format!("{unknown} give it to the guards of unique values"),
            [] => return None,
            stale => format!("{unknown} rewrite the key {}, which contains it", list(stale)),
        };
        Some((rules::KF0710, message, SAY_VALUE.to_owned()))
    }

    /// Whether the field is the time at which items expire, and guards with them.
    fn is_time_of_guards(&self) -> bool {
        let time = self.acting.keys.expires.as_ref();
        let has_guards = self.acting.record.values().any(|field| field.rules.unique);
        time == Some(&self.declared.attribute) && has_guards
    }

    /// The first field whose default on every write uses the changed one, unless the expression changes it, too.
    fn default_on_every_write(&self) -> Option<&str> {
        let made_of = |default: &DefaultValue| default.every_write && default.fields().any(|used| used == self.field);
        let renewed = self.acting.record.iter().find(|(name, declared)| {
            declared.rules.default.as_ref().is_some_and(made_of) && !self.update.changes.contains_key(*name)
        });
        renewed.map(|(name, _)| name.as_str())
    }

    /// The key attributes that would keep the field's old value.
    fn stale_keys(&self) -> Vec<&str> {
        let attribute = self.names.place(self.field).and_then(|stored| stored.attribute);
        let keys = self.acting.keys.keys.iter();
        let depends = |template: &Template| template.deciding_fields().any(|field| field == self.field);
        keys.filter(|(_, templates)| templates.iter().any(depends))
            // A key attribute that is the field's own attribute changes with it.
            .filter(|(key, templates)| !(attribute.as_ref() == Some(key) && is_whole(templates, self.field)))
            .map(|(key, _)| key.as_str())
            .collect()
    }
}

/// The rule that a change breaks, a message and its help.
type Refusal = (&'static Rule, String, String);

/// Resolves the names of an expression.
struct ExpressionNames<'a> {
    names: ItemNames<'a>,
    /// Whether the item is new: each of its fields may be set, and none is read.
    is_new: bool,
}

impl Names for ExpressionNames<'_> {
    /// A field that is stored only in keys has no attribute. Its name stands in for the path, and no clause is sent for
    /// it.
    fn path(&self, fields: &[&str]) -> Result<Named, (usize, Vec<String>)> {
        match fields {
            [field] if self.is_new && self.names.record.contains_key(*field) || self.keys_only(field) => {
                let declared = self.names.record.get(*field).ok_or((0, Vec::new()))?;
                Ok((vec![(*field).to_owned()], declared.value.clone(), declared.ty.is_list()))
            }
            _ => self.names.path(fields),
        }
    }

    fn argument(&self, name: &str) -> Result<(ValueType, bool), Vec<String>> {
        self.names.argument(name)
    }

    fn help(&self, fields: &[&str]) -> Option<Help> {
        self.names.help(fields)
    }
}

impl UpdateNames for ExpressionNames<'_> {
    fn is_non_null(&self, fields: &[&str]) -> bool {
        self.names.declared(fields).is_some_and(|declared| declared.ty.is_non_null())
    }

    fn may_be_null(&self, argument: &str) -> bool {
        self.names.may_be_null(argument)
    }

    fn writable(&self, from: &ValueType, to: &ValueType) -> Result<(), String> {
        inputs::writable(self.names.draft, from, to)
    }

    fn keys_only(&self, field: &str) -> bool {
        !self.is_new && self.names.place(field).is_some_and(|stored| stored.attribute.is_none())
    }
}

/// Reports options that exclude each other.
pub fn check_options(acting: &Acting, findings: &mut Findings) -> Option<()> {
    let directive = acting.directive;
    let (at, each) = (directive.at.is_some(), directive.each.is_some());
    let clash = match () {
        () if at && !directive.cascade.is_empty() => {
            Some(("cascade:", "`at:` deletes an element, which has no relations"))
        }
        () if at && directive.upsert => Some(("upsert:", "`at:` changes an element of an item that exists")),
        () if at && directive.many => Some(("many:", "`at:` works on one item")),
        () if each && at => Some(("at:", "`each:` works on whole items")),
        () if each && directive.many => Some(("many:", "`each:` finds one item for each element")),
        () if each && !directive.cascade.is_empty() => {
            Some(("cascade:", "`each:` deletes items in one transaction, which must hold all of them"))
        }
        () if directive.moves && at => Some(("move:", "`at:` changes an element, and the item stays")),
        () if directive.moves && directive.expression.is_some() => {
            Some(("expression:", "`move:` puts the item that was read under its new key, so `set:` gives its values"))
        }
        () if directive.moves && directive.upsert => Some(("upsert:", "`move:` moves an item that exists")),
        () if directive.upsert && directive.many => Some(("upsert:", "`many:` writes only items that it finds")),
        () => None,
    };
    if let Some((option, why)) = clash {
        let message = format!("`{option}` does not go with this `{}`: {why}", directive.name());
        findings.error(rules::KF0720, &directive.span, message, Some(format!("leave `{option}` out").into()));
        return None;
    }
    Some(())
}

/// Whether an action finds an existing item: all do, except a put of a whole item.
pub fn finds(verb: Verb, at: bool) -> bool {
    verb != Verb::Put || at
}
