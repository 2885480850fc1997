//! Errors of writes → messages for the caller. Where it is known whether something was written, the message says so.

use crate::execute::error::{ErrorCode, Failure, FieldError};
use crate::execute::page::result::is_list_too_long;
use crate::execute::values::invalid_value::InvalidValue;
use crate::schema::expression::condition::Condition;
use crate::schema::model::ObjectType;
use crate::schema::model::write::Action;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::write::{Unfit, WriteError};
use serde_json::Value;

/// Errors of a field: why nothing was written, or why the outcome is unknown.
pub type FieldErrors = Vec<FieldError>;

/// The error of a write that needs one item, if its arguments match several.
pub fn several(item: &str) -> FieldErrors {
    bad_input(format!("The arguments match more than one {item}. Give more of its key."))
}

/// The errors of a read of one item: that it found too many says that there are several.
pub fn one_of_several(errors: FieldErrors, item: &str) -> FieldErrors {
    let is_too_long = errors.first().is_some_and(|error| is_list_too_long(error.code, &error.message));
    if is_too_long { several(item) } else { errors }
}

/// The error of a write that was not applied, or whose outcome is unknown.
pub fn field_error(error: WriteError) -> FieldError {
    match error {
        WriteError::Failed(error) => match error.kind {
            TableErrorKind::Condition => contention(),
            TableErrorKind::Denied => {
                FieldError::new(table_error(&error).code, "The gateway may not write to the table.")
            }
            _ => table_error(&error),
        },
        WriteError::TooLarge(why) => FieldError::new(ErrorCode::LimitExceeded, why),
        WriteError::Unfit(_, why) => unfit_item("item", why),
        WriteError::Conditions(_) => FieldError::new(ErrorCode::Conflict, "A condition did not hold."),
        WriteError::Uncertain(error) => open_end(&error),
    }
}

/// The error of a new item whose key another item has.
pub fn already_exists(item: &str, action: &Action) -> FieldError {
    let message = action.message.clone().unwrap_or_else(|| format!("This {item} already exists."));
    FieldError::new(ErrorCode::Conflict, message)
}

/// The error of an item that cannot move, because no condition can hold all that it has.
pub fn too_many_attributes(item: &str) -> FieldError {
    let message = format!("This {item} has too many attributes to move: a condition of DynamoDB cannot hold them all.");
    FieldError::new(ErrorCode::LimitExceeded, message)
}

/// The error of a change that the item does not allow.
pub fn unfit_item(item: &str, why: Unfit) -> FieldError {
    let (code, message) = match why {
        Unfit::NoPath => {
            (ErrorCode::Conflict, format!("The update changes part of a value that this {item} does not have."))
        }
        Unfit::NoOperand => {
            (ErrorCode::Conflict, format!("The update calculates with a value that this {item} does not have."))
        }
        Unfit::Number => (
            ErrorCode::BadUserInput,
            format!("A number of this {item} would have more than 38 digits, or be out of range."),
        ),
        Unfit::Depth => {
            (ErrorCode::BadUserInput, format!("A value of this {item} would be nested deeper than 32 levels."))
        }
        Unfit::Key => (ErrorCode::BadUserInput, format!("A key of this {item} would be empty or too long.")),
        Unfit::Twice => (ErrorCode::BadUserInput, format!("This would write the same {item} twice.")),
    };
    FieldError::new(code, message)
}

/// The error of values that cannot be used.
pub fn bad_input(sentence: String) -> FieldErrors {
    vec![FieldError::new(ErrorCode::BadUserInput, sentence)]
}

/// The error of a value that does not fit its field.
pub fn invalid(value: InvalidValue) -> FieldErrors {
    bad_input(format!("\"{}\" is not acceptable: {}", value.field, value.message))
}

/// The error of a write that would make something of a stored value that its field cannot read. A read of the field
/// says the same.
pub fn unreadable(ty: &ObjectType, field: &str) -> FieldErrors {
    let declared = ty.fields.get(field).map(|field| field.ty.to_string()).unwrap_or_default();
    let message = format!("The stored value of {}.{field} does not fit the type {declared}.", ty.name);
    vec![FieldError::new(ErrorCode::Internal, message)]
}

/// The error of an update that would put an item into an index under the number of a shard, if another program assigns
/// the numbers and has given the item none.
pub fn unnumbered(item: &str) -> FieldErrors {
    let message = format!("The program that assigns shards has given this {item} none, so it cannot be in this index.");
    vec![FieldError::new(ErrorCode::Conflict, message)]
}

/// The path of a list argument, or of an element in it, as an error reports it.
pub fn path_of(list: &str, element: Option<usize>) -> Value {
    list.split('.').map(Value::from).chain(element.map(Value::from)).collect()
}

/// An error of these elements of a list, whose positions it reports.
pub fn name_elements(mut error: FieldError, list: &str, elements: &[usize]) -> FieldError {
    let only = if let [only] = elements { Some(*only) } else { None };
    error.details.push(("argument", path_of(list, only)));
    error.details.push(("elements", elements.iter().copied().map(Value::from).collect()));
    error
}

/// Errors at the place of an element of a list, unless they name an argument already.
pub fn at_element(at: Option<(&str, usize)>, errors: FieldErrors) -> FieldErrors {
    let Some((list, element)) = at else { return errors };
    let is_named = |error: &FieldError| error.details.iter().any(|(name, _)| *name == "argument");
    let place = |error: FieldError| if is_named(&error) { error } else { name_elements(error, list, &[element]) };
    errors.into_iter().map(place).collect()
}

/// The error of a missing item. The author's message is about the condition: it is used only if the condition asks
/// whether the item exists, or if there is no condition.
pub fn absent(item: &str, action: &Action) -> FieldError {
    let message = action.message.as_ref().filter(|_| action.condition.as_ref().is_none_or(asks_for_existence));
    FieldError::new(ErrorCode::NotFound, message.map_or_else(|| format!("This {item} does not exist."), Clone::clone))
}

/// Whether a condition asks that an attribute exists.
fn asks_for_existence(condition: &Condition) -> bool {
    match condition {
        Condition::Exists(_) => true,
        Condition::And(all) => all.iter().any(asks_for_existence),
        Condition::Or(any) => any.iter().all(asks_for_existence),
        _ => false,
    }
}

/// The error after too many lost races.
pub fn contention() -> FieldError {
    FieldError::new(ErrorCode::Conflict, "Other writers keep changing the same items. Try again.")
}

/// The code of a failure after something was, or may have been, written. Every other code says that nothing was
/// (docs/language/certainty.md, "What a caller may rely on").
fn after_writes(code: ErrorCode) -> ErrorCode {
    match code {
        ErrorCode::Timeout | ErrorCode::Internal => code,
        _ => ErrorCode::Unavailable,
    }
}

/// The error of a write that may have been applied.
pub fn open_end(error: &TableError) -> FieldError {
    FieldError::new(
        after_writes(table_error(error).code),
        "The table did not answer, so the change may or may not have been made. Check before you repeat it.",
    )
}

/// The error of a write with `@idempotent` that may have been applied.
pub fn repeatable(error: &TableError) -> FieldError {
    FieldError::new(
        after_writes(table_error(error).code),
        "The table did not answer, so the change may or may not have been made. Repeat it with the same key.",
    )
}

/// The error of a delete that stopped half way.
pub fn half_way(code: ErrorCode) -> FieldError {
    FieldError::new(after_writes(code), "Not everything is deleted yet. Repeat the delete to continue.")
}

/// The error if the item is deleted, but its late dependents could not be read.
pub fn unswept(field_errors: FieldErrors) -> FieldErrors {
    let message = "The item is deleted, but items that were added to it at the same time may remain.";
    let unswept = |field_error: FieldError| FieldError::new(after_writes(field_error.code), message);
    field_errors.into_iter().map(unswept).collect()
}

/// The error if a write is applied, but perhaps not yet to all replicas.
pub fn replicas_behind(error: &TableError) -> FieldError {
    FieldError::new(
        after_writes(table_error(error).code),
        "The change was made, but not yet to all replicas of the item. The next change of the item updates them.",
    )
}

/// The error if a write is applied, but its result could not be read.
pub fn made(field_errors: FieldErrors) -> FieldErrors {
    field_errors.into_iter().map(|field_error| unseen(field_error.code)).collect()
}

/// The error of a change whose result could not be read.
pub fn unseen(code: ErrorCode) -> FieldError {
    FieldError::new(after_writes(code), "The change was made, but its result could not be read.")
}

/// The error of a failed request to the table.
pub fn table_error(error: &TableError) -> FieldError {
    let failure = Failure::from_table(error);
    FieldError::new(failure.code, failure.message.clone())
}
