//! Questions in, the answers of a person at a terminal, or of a file, out.

use crate::cli::output::counted;
use crate::infer::questions::{AnswerChoice, Answers, Question};
use crate::infer::write::document::one_line;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io::{BufRead, Write as _};
use std::path::Path;

/// The file of answers.
pub const FILE: &str = "answers.toml";
/// The most questions that a person is asked.
pub const MOST_ASKED: usize = 5;

/// The answers in a file.
pub fn read(path: &Path) -> Result<Answers> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let answers: BTreeMap<String, String> = toml::from_str(&text)
        .map_err(|error| anyhow::anyhow!("{}: {}", path.display(), error.to_string().trim_end()))?;
    Ok(answers.into_iter().collect())
}

/// Fails if a question has no such answer as the file says. Names the questions that are none of these.
pub fn check(answers: &Answers, questions: &[Question], path: &Path) -> Result<Vec<String>> {
    let mut unknown = Vec::new();
    for (id, word) in answers.iter() {
        match questions.iter().find(|question| question.id == id) {
            Some(question) if !question.choices.iter().any(|choice| choice.word == word) => {
                let words: Vec<String> = question.choices.iter().map(|choice| format!("{:?}", choice.word)).collect();
                bail!("{}: {word:?} is no answer to {id:?}: it is {}", path.display(), words.join(" or "));
            }
            Some(_) => {}
            None => unknown.push(id.to_owned()),
        }
    }
    Ok(unknown)
}

/// Asks for one answer: a letter, or nothing for the guess. `None`: the input has ended.
pub fn ask(question: &Question, number: (usize, usize), input: &mut dyn BufRead) -> Result<Option<&'static str>> {
    let items = match question.items {
        0 => String::new(),
        items => format!(" ({})", counted(items as u64, "item")),
    };
    let mut text = format!("\n{} of {}: {}{items}\n", number.0, number.1, question.text);
    for (letter, choice) in letters(question) {
        let guess = if letter == 'a' { " (the guess)" } else { "" };
        let _ = writeln!(text, "  {letter}) {}{guess}", choice.meaning);
    }
    eprint!("{text}");
    loop {
        eprint!("Letter, or Enter for the guess: ");
        std::io::stderr().flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim().to_lowercase();
        let found = letters(question).find(|(letter, choice)| line == letter.to_string() || line == choice.word);
        match (found, question.choices.first()) {
            (Some((_, choice)), _) => return Ok(Some(choice.word)),
            (None, Some(guess)) if line.is_empty() => return Ok(Some(guess.word)),
            _ => {}
        }
    }
}

fn letters(question: &Question) -> impl Iterator<Item = (char, &AnswerChoice)> {
    ('a'..='z').zip(&question.choices)
}

/// The file of answers: each question with its choices, as it is answered now.
pub fn text(questions: &[Question], answers: &Answers) -> String {
    let mut text =
        "# What the items leave open, and what `keyfold init` took for granted. Change an answer, and run it again:\n\
                    #   keyfold init … --answers answers.toml --force\n"
            .to_owned();
    for question in questions {
        let _ = writeln!(text, "\n# {}", comment(&question.text));
        for choice in &question.choices {
            let _ = writeln!(text, "#   {:?}: {}", choice.word, comment(&choice.meaning));
        }
        let _ = writeln!(text, "{} = {:?}", quoted(&question.id), answers.word(question));
    }
    text
}

/// A text in one line of a comment, which cannot have control characters (TOML spec, "Comment").
fn comment(text: &str) -> String {
    let plain = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
    one_line(text).chars().map(plain).collect()
}

/// A text as a key of TOML: as in JSON, but for one character that JSON leaves as it is (TOML spec, "String").
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    fn question(id: &str) -> Question {
        let choices = vec![AnswerChoice::new("text", "no"), AnswerChoice::new("enum", "yes")];
        Question { id: id.to_owned(), text: "Is it\nso\u{1}?".to_owned(), items: 3, choices }
    }

    #[test]
    fn a_letter_a_word_or_nothing_is_an_answer() {
        for (input, answer) in [
            ("a\n", Some("text")),
            ("B\r\n", Some("enum")),
            ("  enum \n", Some("enum")),
            ("\n", Some("text")),
            ("c\nyes\nb\n", Some("enum")),
            ("", None),
            ("z\n", None),
        ] {
            assert_eq!(ask(&question("x"), (1, 2), &mut input.as_bytes()).unwrap(), answer, "{input:?}");
        }
    }

    #[test]
    fn the_file_has_each_answer_whatever_its_question_is_called() {
        let odd = "t.pk A\"B\\#\n\u{7f}é#x = y";
        let questions = [question("mutations"), question(odd)];
        let mut answers = Answers::default();
        answers.insert(odd, "enum");
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE);
        fs::write(&path, text(&questions, &answers)).unwrap();
        let read = read(&path).unwrap();
        assert_eq!(read.iter().collect::<Vec<_>>(), [("mutations", "text"), (odd, "enum")]);
        assert_eq!(check(&read, &questions, &path).unwrap(), Vec::<String>::new());
        assert_eq!(check(&read, &questions[..1], &path).unwrap(), [odd]);
        let wrong = Answers::from_iter([("mutations".to_owned(), "no".to_owned())]);
        let said = check(&wrong, &questions, Path::new("a.toml")).unwrap_err().to_string();
        assert_eq!(said, "a.toml: \"no\" is no answer to \"mutations\": it is \"text\" or \"enum\"");
        fs::write(&path, "mutations = 1").unwrap();
        assert!(super::read(&path).unwrap_err().to_string().contains("invalid type: integer"), "a number");
    }
}
