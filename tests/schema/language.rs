//! The pages of docs/language/ are true, short and whole: each example loads inside the schema
//! `tests/language/<heading>.graphql` (the second of a heading: `<heading>-2.graphql`), each argument of each directive
//! stands on the directive's own page, each code is a mistake of one page, and the contents name every page.

use super::book::{Example, Page, cells, pages, root};
use apollo_compiler::ast::{Definition, Document};
use keyfold::schema;
use keyfold::schema::diagnostics::rules::rules;
use keyfold::schema::syntax::definitions::DIRECTIVES;
use std::collections::{BTreeMap, BTreeSet};

/// The place of the example in its frame.
const PLACE: &str = "# example";
/// The words of a page.
const MOST_WORDS: usize = 1500;
/// The words of a cell of a table: more are paragraphs.
const MOST_WORDS_OF_A_CELL: usize = 30;
/// The lines of the contents, which a screen shows at once.
const MOST_LINES_OF_CONTENTS: usize = 45;

fn examples() -> Vec<Example> {
    pages().iter().flat_map(Page::examples).map(|(_, example)| example).collect()
}

/// Fails with all of what was found.
#[track_caller]
fn none(found: &[String]) {
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn every_example_loads_in_its_frame() {
    let mut found = Vec::new();
    let mut frames = BTreeSet::new();
    for Example { frame: name, text } in examples() {
        let file = root().join("tests/language").join(format!("{name}.graphql"));
        if !frames.insert(name.clone()) {
            found.push(format!("two pages have examples under the heading of {name}"));
        }
        let Ok(frame) = std::fs::read_to_string(&file) else {
            found.push(format!("{} is missing for this example:\n{text}", file.display()));
            continue;
        };
        assert_eq!(frame.matches(PLACE).count(), 1, "{}", file.display());
        if let Err(mistakes) = schema::load(&name, &frame.replace(PLACE, &text), &|_| None) {
            found.push(mistakes.render(false));
        }
    }
    for file in std::fs::read_dir(root().join("tests/language")).unwrap().map(|entry| entry.unwrap().path()) {
        let name = file.file_name().unwrap().to_str().unwrap().split('.').next().unwrap();
        if !frames.contains(name) {
            found.push(format!("{} is the frame of no example", file.display()));
        }
    }
    none(&found);
}

/// The directives, each with its arguments and their defaults, and the arguments of an index.
fn definitions() -> BTreeMap<String, BTreeMap<String, Option<String>>> {
    let document = Document::parse(DIRECTIVES, "directives.graphql").unwrap();
    let mut found = BTreeMap::new();
    for definition in &document.definitions {
        let (name, arguments) = match definition {
            Definition::DirectiveDefinition(directive) => (directive.name.as_str(), &directive.arguments),
            Definition::InputObjectTypeDefinition(input) => (input.name.as_str(), &input.fields),
            _ => continue,
        };
        let with_default = arguments.iter().map(|argument| {
            (argument.name.to_string(), argument.default_value.as_ref().map(|value| value.to_string()))
        });
        found.insert(name.to_owned(), with_default.collect());
    }
    assert!(found.len() > 20, "{} definitions", found.len());
    found
}

/// The arguments of a section, each with the last cell of its row, which has the default.
fn arguments(page: &Page, heading: &str) -> BTreeMap<String, String> {
    let rows = page.section(heading).unwrap_or_default().into_iter().map(cells);
    let rows = rows.filter(|cells| cells.first().is_some_and(|cell| cell.starts_with('`')));
    rows.map(|cells| (cells[0].trim_matches('`').to_owned(), cells[cells.len() - 1].to_owned())).collect()
}

#[test]
fn every_argument_stands_on_the_page_of_its_directive() {
    let mut found = Vec::new();
    let pages = pages();
    for (name, defined) in definitions() {
        let (page, heading) = match name.strip_prefix("keyfold__") {
            Some(_) => ("directives/table".to_owned(), "Arguments of an index"),
            None => (format!("directives/{}", name.to_lowercase()), "Arguments"),
        };
        let Some(page) = pages.iter().find(|other| other.name == page) else {
            found.push(format!("@{name} has no page"));
            continue;
        };
        let listed = arguments(page, heading);
        if !listed.keys().eq(defined.keys()) {
            found.push(format!("@{name} has {:?}, and its page {:?}", defined.keys(), listed.keys()));
        }
        for (argument, default) in defined.into_iter().filter_map(|(name, default)| Some((name, default?))) {
            let says = listed.get(&argument).map_or("", String::as_str).trim_matches('`');
            if !says.starts_with(&default) {
                found.push(format!("@{name}({argument}:) is {default} by default, and its page says {says}"));
            }
        }
    }
    none(&found);
}

#[test]
fn arguments_stand_on_no_other_page() {
    let directives = definitions();
    let is_directive = |name: &str| directives.keys().any(|directive| directive.to_lowercase() == name);
    let has_directive = |page: &Page| page.name.strip_prefix("directives/").is_some_and(is_directive);
    let is_list = |heading: &str| heading.starts_with("Arguments of") || heading == "Arguments";
    let others = pages().into_iter().filter(|page| !has_directive(page));
    let with_list = others.filter(|page| page.headings().iter().any(|(_, heading)| is_list(heading)));
    assert_eq!(with_list.map(|page| page.name).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn every_directive_has_an_example_on_its_page() {
    let mut found = Vec::new();
    for page in pages().iter().filter(|page| page.name.starts_with("directives/")) {
        let directive = page.headings()[0].1.clone();
        if !page.examples().iter().any(|(_, example)| has_word(&example.text, &directive)) {
            found.push(format!("{} has no example of {directive}", page.name));
        }
    }
    none(&found);
}

/// Whether a text has a word that ends there.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| !text[at + word.len()..].starts_with(|next: char| next.is_alphanumeric()))
}

#[test]
fn every_code_is_a_mistake_of_one_page() {
    let mut places = BTreeMap::<String, Vec<String>>::new();
    for page in pages() {
        let lines = page.section("Mistakes").unwrap_or_default().join("\n").replace("\n  ", " ");
        for mistake in lines.lines().filter_map(|line| line.strip_prefix("- [")) {
            let (code, rest) = mistake.split_once("](").expect("a link");
            let title = rest.split_once("): ").expect("a title").1;
            places.entry(format!("{code}: {title}")).or_default().push(page.name.clone());
        }
    }
    let mut found: Vec<String> = Vec::new();
    for rule in rules() {
        let key = format!("{}: {}", rule.code, rule.title);
        match places.remove(&key).unwrap_or_default().as_slice() {
            [_] => {}
            pages => found.push(format!("{key} is a mistake of these pages: {pages:?}")),
        }
    }
    found.extend(places.keys().map(|key| format!("{key} is no rule")));
    none(&found);
}

#[test]
fn the_contents_name_every_page_and_fit_a_screen() {
    let pages = pages();
    let contents = pages.iter().find(|page| page.name == "README").expect("the contents");
    let is_missing = |page: &&Page| page.name != "README" && !contents.text.contains(&format!("({}.md)", page.name));
    none(&pages.iter().filter(is_missing).map(|page| format!("the contents lack {}", page.name)).collect::<Vec<_>>());
    let lines = contents.text.lines().count();
    assert!(lines <= MOST_LINES_OF_CONTENTS, "the contents have {lines} lines");
}

#[test]
fn pages_are_short_and_cells_are_no_paragraphs() {
    let mut found = Vec::new();
    for page in pages() {
        let words = page.text.split_whitespace().count();
        if words > MOST_WORDS {
            found.push(format!("{} has {words} words", page.name));
        }
        for cell in page.text.lines().flat_map(cells) {
            if cell.split_whitespace().count() > MOST_WORDS_OF_A_CELL && page.name != "README" {
                found.push(format!("{}: this cell is a paragraph: {cell}", page.name));
            }
        }
    }
    none(&found);
}

#[test]
fn every_page_says_what_it_costs_and_where_to_go_on() {
    let lacks = |page: &Page, heading: &str| page.section(heading).is_none_or(|lines| lines.join("").trim().is_empty());
    let mut found = Vec::new();
    for page in pages().iter().filter(|page| page.name != "README" && page.name != "tutorial") {
        if lacks(page, "What it costs") {
            found.push(format!("{} does not say what it costs", page.name));
        }
        if lacks(page, "See also") {
            found.push(format!("{} leads nowhere", page.name));
        }
    }
    none(&found);
}
