//! Questions on what items leave open, and the answers of a person to them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What items leave open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What is open: the same for the same items.
    pub id: String,
    /// The question.
    pub text: String,
    /// How many items it decides.
    pub items: usize,
    /// The answers. The first is the guess.
    pub choices: Vec<AnswerChoice>,
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerChoice {
    /// A word for it.
    pub word: &'static str,
    /// What it means.
    pub meaning: String,
}

/// Answers by the ids of their questions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers(BTreeMap<String, String>);

impl AnswerChoice {
    /// An answer of this word, which means this.
    pub fn new(word: &'static str, meaning: impl Into<String>) -> Self {
        Self { word, meaning: meaning.into() }
    }
}

impl Question {
    /// Whether it is about a type of this name, or an object in one.
    pub fn is_about(&self, name: &str) -> bool {
        self.id.split_once('.').is_some_and(|(of, _)| of == name)
    }
}

impl FromIterator<(String, String)> for Answers {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(answers: T) -> Self {
        Self(answers.into_iter().collect())
    }
}

impl Answers {
    /// Adds an answer, or replaces it.
    pub fn insert(&mut self, id: &str, word: &str) {
        self.0.insert(id.to_owned(), word.to_owned());
    }

    /// The word that answers a question.
    pub fn get(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }

    /// The ids of the questions and the words that answer them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(id, word)| (id.as_str(), word.as_str()))
    }

    /// The word that answers a question: as it was answered, or else the guess.
    pub fn word(&self, question: &Question) -> &'static str {
        let answered = self.get(&question.id).and_then(|word| question.choices.iter().find(|of| of.word == word));
        answered.or(question.choices.first()).map_or("", |choice| choice.word)
    }
}

/// Sorts questions: those that decide most items first. Each comes once.
pub fn sort(questions: &mut Vec<Question>) {
    // The question that names no type is about all items, so it comes before others of as many items.
    let rank = |question: &Question| (Reverse(question.items), question.id.contains('.'));
    questions.sort_by(|one, other| rank(one).cmp(&rank(other)).then_with(|| one.id.cmp(&other.id)));
    let mut known = BTreeSet::new();
    questions.retain(|question| known.insert(question.id.clone()));
}
