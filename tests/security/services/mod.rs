//! Attacks on fields that services compute: by operations, by callers, and by the services themselves; out, what
//! services see and what callers get. docs/security.md has the table.

mod answers;
mod bureau;
mod ear;
mod rules;
mod sent;
mod wire;

#[test]
fn the_page_lists_every_attack_on_services() {
    let page = include_str!("../../../docs/security.md");
    let names =
        rules::attacks().into_iter().map(|attack| attack.0).chain(answers::attacks().into_iter().map(|it| it.0));
    let names: Vec<&str> = names.chain(rules::NAMES).chain(sent::NAMES).collect();
    for name in names {
        assert!(page.contains(name), "docs/security.md does not list: {name}");
    }
}
