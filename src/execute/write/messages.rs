//! Trouble with a write in, what the caller is told of it out: whether something was written is never left in the dark where it is known.

use crate::execute::error::{ErrorCode, Failure, Refusal};
use crate::execute::write::item::invalid_value::InvalidValue;
use crate::schema::expression::condition::Condition;
use crate::table::error::{TableError, TableErrorKind};
use crate::table::write::{Unfit, WriteError};

/// Why nothing was written, or why that is not known: an error of the field each.
pub type Refusals = Vec<Refusal>;

/// What a caller is told of a write that did not happen, or of which that is not known.
pub fn refusal(error: WriteError) -> Refusal {
    match error {
        WriteError::Failed(error) => match error.kind {
            TableErrorKind::Condition => contention(),
            TableErrorKind::Denied => Refusal::new(of_table(&error).code, "The gateway may not write to the table."),
            _ => of_table(&error),
        },
        WriteError::TooLarge(why) => Refusal::new(ErrorCode::LimitExceeded, why),
        WriteError::Unfit(_, why) => misfit("item", why),
        WriteError::Conditions(_) => Refusal::new(ErrorCode::Conflict, "A condition did not hold."),
        WriteError::Uncertain(error) => open_end(&error),
    }
}

/// What a caller is told of a change that its item does not admit.
pub fn misfit(item: &str, why: Unfit) -> Refusal {
    let (code, message) = match why {
        Unfit::NoPath => (ErrorCode::Conflict, format!("The update changes a part of a value that this {item} does not have.")),
        Unfit::NoOperand => (ErrorCode::Conflict, format!("The update calculates with a value that this {item} does not have.")),
        Unfit::Number => (ErrorCode::BadUserInput, format!("A number of this {item} would have more than 38 digits, or be out of range.")),
        Unfit::Depth => (ErrorCode::BadUserInput, format!("A value of this {item} would be nested deeper than 32 levels.")),
        Unfit::Key => (ErrorCode::BadUserInput, format!("A key of this {item} would be empty or too long.")),
        Unfit::Twice => (ErrorCode::BadUserInput, format!("This would write the same {item} twice.")),
    };
    Refusal::new(code, message)
}

/// What a caller is told of values that cannot be used.
pub fn bad_input(sentence: String) -> Refusals {
    vec![Refusal::new(ErrorCode::BadUserInput, sentence)]
}

/// What a caller is told of a value that does not fit its field.
pub fn invalid(misfit: InvalidValue) -> Refusals {
    bad_input(format!("\"{}\" is not acceptable: {}", misfit.field, misfit.message))
}

/// What a caller is told where an item that must be there is not. An author's message is about the condition: it is told only where the
/// condition itself asks whether the item is there, or where there is no other.
pub fn absent(item: &str, condition: Option<&Condition>, message: Option<&str>) -> Refusal {
    let message = message.filter(|_| condition.is_none_or(asks_for_existence));
    Refusal::new(ErrorCode::NotFound, message.map_or_else(|| format!("There is no such {item}."), str::to_owned))
}

/// Whether a condition names an attribute that must be there.
fn asks_for_existence(condition: &Condition) -> bool {
    match condition {
        Condition::Exists(_) => true,
        Condition::And(all) => all.iter().any(asks_for_existence),
        Condition::Or(any) => any.iter().all(asks_for_existence),
        _ => false,
    }
}

/// What a caller is told where others were faster all the time.
pub fn contention() -> Refusal {
    Refusal::new(ErrorCode::Conflict, "Others keep changing the same items; try again.")
}

/// What a caller is told of a write that may have been made.
pub fn open_end(error: &TableError) -> Refusal {
    let code = match of_table(error).code {
        ErrorCode::Timeout => ErrorCode::Timeout,
        _ => ErrorCode::Unavailable,
    };
    Refusal::new(code, "No answer came, and it is not known whether the change was made; look before you repeat it.")
}

/// What a caller is told of a delete of more than a transaction takes that stopped on its way.
pub fn half_way(code: ErrorCode) -> Refusal {
    Refusal::new(code, "Not everything is deleted yet; the same delete again goes on from here.")
}

/// What a caller is told where an item is deleted, and trouble kept the gateway from looking for what came in at the same time.
pub fn unswept(refusals: Refusals) -> Refusals {
    let told = |code| Refusal::new(code, "The item is deleted, but what was added to it at the same moment may be left.");
    refusals.into_iter().map(|refusal| told(refusal.code)).collect()
}

/// What a caller is told where a write is made, but perhaps not yet of all copies of an item.
pub fn copies_behind(error: &TableError) -> Refusal {
    Refusal::new(of_table(error).code, "The change was made, but not yet to all copies of the item; the next change of it completes them.")
}

/// What a caller is told where a write is made, and only its result is missing.
pub fn made(refusals: Refusals) -> Refusals {
    refusals.into_iter().map(|refusal| unseen(refusal.code)).collect()
}

/// What a caller is told of a change whose result nobody has seen.
pub fn unseen(code: ErrorCode) -> Refusal {
    Refusal::new(code, "The change was made, but what came of it could not be read.")
}

/// Refusals after an attempt that may have been made: trouble with the table does not tell what became of it.
pub fn in_doubt(doubt: Option<&TableError>, refusals: Refusals) -> Refusals {
    let tells = |refusal: &Refusal| matches!(refusal.code, ErrorCode::NotFound | ErrorCode::Conflict | ErrorCode::BadUserInput);
    match doubt {
        Some(error) if !refusals.iter().all(tells) => vec![open_end(error)],
        _ => refusals,
    }
}

/// What a caller is told of trouble with the table.
pub fn of_table(error: &TableError) -> Refusal {
    let failure = Failure::of_table(error);
    Refusal::new(failure.code, failure.message.clone())
}
