//! What the parser of an operation cannot read, and the text at its place, in; what was probably meant out, as a
//! sentence. Tells nothing of the schema.

use crate::schema::diagnostics::suggestion::near;

/// The words by which a document's parts begin.
const BEGINNINGS: [&str; 4] = ["query", "mutation", "subscription", "fragment"];

/// The most fragments whose names are compared.
const MAX_FRAGMENTS: usize = 1_000;

/// What to write instead, if the mistake is a usual one. `place` is a line and a column, each from 1.
pub fn slip(document: &str, said: &str, place: (usize, usize)) -> Option<String> {
    let rest = text_at(document, place).unwrap_or_default();
    let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let sentence = match said.strip_prefix("syntax error: ").unwrap_or(said) {
        _ if rest.starts_with(['\'', '“', '”', '‘', '’', '`']) => "Write a text in double quotes.".to_owned(),
        _ if rest.starts_with(';') => "Leave it out: nothing ends a field or an argument.".to_owned(),
        said if rest.starts_with('=') && said.starts_with("expected ") => {
            "Write `:` between the name of an argument and its value.".to_owned()
        }
        said if said.starts_with("expected a Variable Definition") && !word.is_empty() => {
            format!("The name of a variable begins with `$`: `${word}`.")
        }
        said if rest.starts_with('"') && said.starts_with("expected at least one Selection") => {
            "An operation is no JSON: write the names of fields without quotes.".to_owned()
        }
        said if said.starts_with("Unterminated spread") => {
            "Write the fields of a field in braces behind it, as in `{ user(id: \"1\") { name } }`.".to_owned()
        }
        said if said.starts_with("expected definition") && !word.is_empty() => match near(&word, &BEGINNINGS) {
            Some(meant) => format!("Did you mean `{meant}`?"),
            None => "A document begins with `{`, `query`, `mutation`, `subscription` or `fragment`.".to_owned(),
        },
        _ => return None,
    };
    Some(sentence)
}

/// What to write instead of what does not fit together within a document.
pub fn within(document: &str, said: &str) -> Option<String> {
    if let Some(field) = said.strip_prefix("operation must not provide conflicting field arguments for the same name `")
    {
        let field = field.trim_end_matches('`');
        return Some(format!("Name one of them: `other: {field}(…)`."));
    }
    let (name, _) = said.strip_prefix("cannot find fragment `")?.split_once('`')?;
    let behind = document.match_indices("fragment ").map(|(at, word)| &document[at + word.len()..]);
    let names: Vec<&str> = behind.filter_map(|rest| rest.split_whitespace().next()).take(MAX_FRAGMENTS).collect();
    near(name, &names).map(|meant| format!("Did you mean `{meant}`?"))
}

/// The text from a place on.
fn text_at(document: &str, (line, column): (usize, usize)) -> Option<&str> {
    let line = document.split('\n').nth(line.checked_sub(1)?)?;
    let (at, _) = line.char_indices().nth(column.checked_sub(1)?)?;
    line.get(at..)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::slip;
    use crate::plan::operation::budget::OperationBudgets;
    use crate::plan::operation::document::Document;
    use apollo_compiler::Schema;

    fn said(document: &str) -> Vec<String> {
        let text = "type Query { team(id: ID!): Team } type Team { name: String }";
        let api = Schema::parse_and_validate(text, "s").unwrap();
        let mistakes = Document::parse(&api, document, &OperationBudgets::default()).unwrap_err();
        mistakes.into_iter().map(|mistake| mistake.message).collect()
    }

    #[test]
    fn a_usual_slip_is_one_mistake_with_its_remedy() {
        for (document, remedy) in [
            ("{ team(id: 'x') { name } }", "Write a text in double quotes."),
            ("{ team(id: “x”) { name } }", "Write a text in double quotes."),
            ("{ team(id: \"x\";) { name } }", "Leave it out: nothing ends"),
            ("{ team(id=\"x\") { name } }", "Write `:` between"),
            ("query(id: ID!) { team(id: $id) { name } }", "begins with `$`: `$id`."),
            ("{ \"team\": { \"id\": 1 } }", "without quotes."),
            ("{ team(id: \"x\").name }", "in braces behind it"),
            ("qury { team(id: \"x\") { name } }", "Did you mean `query`?"),
            ("select name from team", "A document begins with `{`"),
        ] {
            let said = said(document);
            assert!(said.len() == 1 && said[0].contains(remedy), "{document}: {said:#?}");
        }
    }

    #[test]
    fn a_fragment_of_nearly_the_name_is_meant() {
        let document = "{ team(id: 1) { ...Part } } fragment Parts on Team { name }";
        assert!(said(document)[0].ends_with("Did you mean `Parts`?"), "{:?}", said(document));
        let document = "{ team(id: 1) { name } team(id: 2) { name } }";
        assert!(said(document)[0].ends_with("Name one of them: `other: team(…)`."), "{:?}", said(document));
    }

    #[test]
    fn what_is_no_slip_stays_as_it_is() {
        assert_eq!(slip("{ a", "syntax error: expected R_CURLY, got EOF", (1, 4)), None);
        assert_eq!(slip("", "syntax error: Unexpected <EOF>", (1, 1)), None);
        assert_eq!(slip("{ a }", "syntax error: expected definition", (9, 9)), None);
    }
}
