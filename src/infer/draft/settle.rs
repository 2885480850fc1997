//! Guesses in, and what a person answered; fields without the guesses that are answered, and the questions, out.

use super::guess::Guess;
use super::{ApiDraft, EnumDraft, names};
use crate::infer::questions::Answers;

/// Settles the guesses of all fields of item types that are answered, and asks for all.
pub fn settle(draft: &mut ApiDraft, answers: &Answers) {
    for ty in 0..draft.types.len() {
        for field in 0..draft.types[ty].fields.len() {
            let of = &draft.types[ty];
            let (coordinate, items) = (format!("{}.{}", of.name, of.fields[field].name), of.count);
            let Some(guess) = of.fields[field].guess.clone() else { continue };
            let Some(question) = guess.question(coordinate, items) else { continue };
            let enum_name = match (answers.get(&question.id), &guess) {
                (Some("enum"), Guess::Enum(texts)) => Some(declared(draft, (ty, field), texts)),
                _ => None,
            };
            let field = &mut draft.types[ty].fields[field];
            match answers.get(&question.id) {
                Some("number") => (field.scalar, field.stored, field.guess) = ("Long".to_owned(), None, None),
                Some("text" | "time" | "enum") => field.guess = None,
                _ => {}
            }
            field.scalar = enum_name.unwrap_or_else(|| std::mem::take(&mut field.scalar));
            draft.questions.push(question);
        }
    }
}

/// The name of an enum for a field with these texts, which is declared if no field before has the same.
fn declared(draft: &mut ApiDraft, (ty, field): (usize, usize), texts: &[String]) -> String {
    let mut values: Vec<(String, String)> = Vec::new();
    for text in texts {
        let name = names::free(&names::enum_value(text), |name| values.iter().any(|(known, _)| known == name));
        values.push((name, text.clone()));
    }
    if let Some(known) = draft.enums.iter().find(|known| known.values == values) {
        return known.name.clone();
    }
    let of = &draft.types[ty];
    let field = names::capitalised(&of.fields[field].name);
    let is_taken = |name: &str| {
        names::RESERVED.contains(&name)
            || draft.types.iter().any(|ty| ty.name == name)
            || draft.objects.iter().any(|object| object.name == name)
            || draft.enums.iter().any(|known| known.name == name)
    };
    let name = if is_taken(&field) { names::free(&format!("{}{field}", of.name), is_taken) } else { field };
    draft.enums.push(EnumDraft { name: name.clone(), values });
    name
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::infer::draft::{FieldDraft, TypeDraft};

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
        Guess::Enum(texts.iter().map(|text| (*text).to_owned()).collect())
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
        let guesses =
            [("a", Guess::EpochSeconds), ("b", Guess::EpochMillis), ("c", texts(&["x"])), ("d", Guess::AlwaysNull)];
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
