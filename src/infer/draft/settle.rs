//! Guesses and what a person answered in; fields without the guesses that are answered, and the questions, out.

use super::guess::Guess;
use super::{ApiDraft, EnumDraft, FieldDraft, PartDraft, names};
use crate::infer::questions::Answers;

/// What has fields, by its position.
#[derive(Debug, Clone, Copy)]
enum Holder {
    Type(usize),
    Object(usize),
}

/// Settles the guesses of all fields that are answered, and asks for all.
pub fn settle(draft: &mut ApiDraft, answers: &Answers) {
    let types = (0..draft.types.len()).map(Holder::Type);
    let holders: Vec<Holder> = types.chain((0..draft.objects.len()).map(Holder::Object)).collect();
    for holder in holders {
        for field in 0..fields(draft, holder).len() {
            settle_field(draft, (holder, field), answers);
        }
    }
}

fn settle_field(draft: &mut ApiDraft, (holder, position): (Holder, usize), answers: &Answers) {
    let field = &fields(draft, holder)[position];
    let coordinate = format!("{}.{}", name(draft, holder), field.name);
    let Some(guess) = field.guess.clone() else { return };
    let Some(question) = guess.question(coordinate) else { return };
    let answer = answers.get(&question.id).filter(|word| question.choices.iter().any(|choice| choice.word == *word));
    let scalar = match (answer, &guess) {
        (Some("enum"), Guess::Enum(texts, _)) => declared(draft, (holder, position), texts),
        (Some("number"), _) => {
            has_no_form(draft, (holder, position));
            "Long".to_owned()
        }
        _ => fields(draft, holder)[position].scalar.clone(),
    };
    let field = &mut fields_mut(draft, holder)[position];
    field.scalar = scalar;
    field.guess = field.guess.take().filter(|_| answer.is_none());
    draft.questions.push(question);
}

/// A number in a key is a number, and has no form of a time.
fn has_no_form(draft: &mut ApiDraft, (holder, position): (Holder, usize)) {
    fields_mut(draft, holder)[position].stored = None;
    let Holder::Type(ty) = holder else { return };
    for part in draft.types[ty].keys.iter_mut().flat_map(|key| &mut key.parts) {
        if let PartDraft::Field(field, form) = part
            && *field == position
        {
            *form = None;
        }
    }
}

fn name(draft: &ApiDraft, holder: Holder) -> &str {
    match holder {
        Holder::Type(ty) => &draft.types[ty].name,
        Holder::Object(object) => &draft.objects[object].name,
    }
}

fn fields(draft: &ApiDraft, holder: Holder) -> &[FieldDraft] {
    match holder {
        Holder::Type(ty) => &draft.types[ty].fields,
        Holder::Object(object) => &draft.objects[object].fields,
    }
}

fn fields_mut(draft: &mut ApiDraft, holder: Holder) -> &mut [FieldDraft] {
    match holder {
        Holder::Type(ty) => &mut draft.types[ty].fields,
        Holder::Object(object) => &mut draft.objects[object].fields,
    }
}

/// The name of an enum for a field with these texts, which is declared if no field before has the same.
fn declared(draft: &mut ApiDraft, (holder, position): (Holder, usize), texts: &[String]) -> String {
    let mut values: Vec<(String, String)> = Vec::new();
    for text in texts {
        let name = names::free(&names::enum_value(text), |name| values.iter().any(|(known, _)| known == name));
        values.push((name, text.clone()));
    }
    if let Some(known) = draft.enums.iter().find(|known| known.values == values) {
        return known.name.clone();
    }
    let field = names::capitalised(&fields(draft, holder)[position].name);
    let is_taken = |name: &str| {
        names::RESERVED.contains(&name)
            || draft.types.iter().any(|ty| ty.name == name)
            || draft.objects.iter().any(|object| object.name == name)
            || draft.enums.iter().any(|known| known.name == name)
    };
    let longer = || names::free(&format!("{}{field}", name(draft, holder)), is_taken);
    let name = if is_taken(&field) { longer() } else { field.clone() };
    draft.enums.push(EnumDraft { name: name.clone(), values });
    name
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::infer::draft::TypeDraft;

    fn draft(guesses: &[(&str, Guess)]) -> ApiDraft {
        let field = |(name, guess): &(&str, Guess)| FieldDraft {
            name: (*name).to_owned(),
            scalar: "String".to_owned(),
            stored: Some("stored: EPOCH_SECONDS".to_owned()),
            guess: Some(guess.clone()),
            ..FieldDraft::default()
        };
        let ty =
            TypeDraft { name: "Order".to_owned(), fields: guesses.iter().map(field).collect(), ..TypeDraft::default() };
        ApiDraft { types: vec![ty], ..ApiDraft::default() }
    }

    fn texts(texts: &[&str]) -> Guess {
        Guess::Enum(texts.iter().map(|text| (*text).to_owned()).collect(), 9)
    }

    #[test]
    fn an_enum_has_names_of_graphql_and_one_for_equal_texts() {
        let odd = texts(&["in stock", "true", "in-stock", "2nd", "OK"]);
        let mut draft = draft(&[("state", odd.clone()), ("before", odd), ("order", texts(&["a", "b"]))]);
        let answers = ["state", "before", "order"].map(|field| (format!("Order.{field}"), "enum".to_owned()));
        settle(&mut draft, &answers.into_iter().collect());
        let scalars: Vec<&str> = draft.types[0].fields.iter().map(|field| field.scalar.as_str()).collect();
        assert_eq!(scalars, ["State", "State", "OrderOrder"], "a type has the name Order");
        let names: Vec<&str> = draft.enums[0].values.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["IN_STOCK", "TRUE", "IN_STOCK2", "VALUE2ND", "OK"]);
    }

    #[test]
    fn an_answer_settles_a_guess_and_a_question_stays() {
        let guesses = [
            ("a", Guess::EpochSeconds(9)),
            ("b", Guess::EpochMillis(9)),
            ("c", texts(&["x"])),
            ("d", Guess::AlwaysNull),
        ];
        let mut draft = draft(&guesses);
        let answers = [("Order.a", "number"), ("Order.b", "time"), ("Order.d", "text")];
        settle(&mut draft, &answers.map(|(id, word)| (id.to_owned(), word.to_owned())).into_iter().collect());
        let fields: Vec<_> = draft.types[0]
            .fields
            .iter()
            .map(|field| (field.scalar.as_str(), field.stored.is_some(), field.guess.is_some()))
            .collect();
        assert_eq!(
            fields,
            [("Long", false, false), ("String", true, false), ("String", true, true), ("String", true, true)]
        );
        let asked: Vec<&str> = draft.questions.iter().map(|question| question.id.as_str()).collect();
        assert_eq!(asked, ["Order.a", "Order.b", "Order.c"]);
    }
}
