//! An `id` is the id of its own type: every directive of a mutation, with every type that the field may return.

use keyfold::schema::load;
use keyfold::schema::model::find::Find;
use keyfold::schema::model::source::Source;
use keyfold::schema::model::write::{Action, WriteTarget};
use keyfold::schema::model::{FieldKind, Model};

const TYPES: &str = r#"
extend schema @table(name: "bank", partitionKey: "PK", sortKey: "SK")
type Customer @item(keys: { PK: "CUSTOMER#{id}", SK: "CUSTOMER" }) { id: ID! owner: String! }
type Account @item(keys: { PK: "ACCOUNT#{id}", SK: "ACCOUNT" }) { id: ID! owner: String }
type Card @item(keys: { PK: "ACCOUNT#{accountId}", SK: "CARD#{id}" }) { accountId: ID! id: ID! }
input Ids { id: ID! }
type Query { account(id: ID!): Account @find }
"#;

/// Each directive on a customer; `CLAUSE` is its `where:` or `set:`.
const DIRECTIVES: [&str; 5] = [
    "@put(item: Customer, set: { owner: \"me\" CLAUSE })",
    "@update(item: Customer, expression: \"SET owner = 'me'\", where: { CLAUSE })",
    "@delete(item: Customer, where: { CLAUSE })",
    "@check(item: Customer, if: \"attribute_exists(id)\", where: { CLAUSE })",
    "@find(item: Customer, where: { CLAUSE })",
];

/// What a field returns, what it does beside, and whether an `id` is the customer's.
const RETURNS: [(&str, &str, bool); 7] = [
    ("Customer", "@put(item: Customer, set: { id: \"{to}\", owner: \"you\" }, as: other)", true),
    ("[Customer!]!", "@delete(item: Customer, many: true, where: { id: \"{to}\" })", true),
    ("Boolean!", "@delete(item: Customer, where: { id: \"{to}\" })", true),
    ("Account", "@delete(where: { id: \"{to}\" })", false),
    ("[Account!]!", "@delete(many: true, where: { id: \"{to}\" })", false),
    ("[Card!]!", "@delete(many: true, where: { accountId: \"{to}\" })", false),
    ("Boolean!", "@delete(item: Account, where: { id: \"{to}\" })", false),
];

fn mutation(arguments: &str, returns: &str, directives: &str) -> Result<Model, Vec<&'static str>> {
    let text = format!("{TYPES}\ntype Mutation {{ f({arguments}, to: ID!): {returns} {directives} }}\n");
    let found = load("ids.graphql", &text, &|_| None);
    found.map(|(model, _)| model).map_err(|mistakes| mistakes.list.iter().map(|mistake| mistake.code).collect())
}

/// What binds the id of the customer that the tried directive is about. The other one is bound to `to`.
fn bound(model: &Model) -> Option<Source> {
    let FieldKind::Write(write) = &model.types["Mutation"].fields["f"].kind else { panic!("a write") };
    let of_find = |find: &Find| find.path(&|_| true, None)?.bindings.get("id").cloned();
    if let Some(found) = write.finds.iter().find(|found| found.find.item == "Customer") {
        return of_find(&found.find);
    }
    let of_action = |action: &Action| match &action.target {
        WriteTarget::Key(sources) if sources.is_empty() => action.values["id"].source().cloned(),
        WriteTarget::Key(sources) => sources.get("id").cloned(),
        WriteTarget::Read { find, .. } => of_find(find),
        WriteTarget::Found(_) => None,
    };
    let customers = write.actions.iter().filter(|action| action.item == "Customer");
    customers.filter_map(of_action).find(|source| *source != Source::Argument("to".to_owned()))
}

#[test]
fn a_bare_id_binds_only_the_id_of_the_fields_own_type() {
    for directive in DIRECTIVES {
        for (returns, beside, own) in RETURNS {
            // The directive that gives the list stands first.
            let with = |clause: &str| format!("{beside} {}", directive.replace("CLAUSE", clause));
            let argument = |name: &str| Some(Source::Argument(name.to_owned()));
            for (arguments, name) in [("id: ID!", "id"), ("input: Ids!", "input.id")] {
                let said = format!("{arguments} {returns} {}", with(""));
                match (mutation(arguments, returns, &with("")), own) {
                    (Ok(model), true) => assert_eq!(bound(&model), argument(name), "{said}"),
                    (Err(codes), false) => assert_eq!(codes, ["KF0721"], "{said}"),
                    (found, _) => panic!("{said}: {:?}", found.err()),
                }
                // The remedy says which id is meant.
                let model = mutation(arguments, returns, &with(&format!("id: \"{{{name}}}\"")));
                assert_eq!(model.as_ref().map(bound), Ok(argument(name)), "{said}");
            }
            // So does an argument with the type's name, also beside an id.
            let model = mutation("customerId: ID!", returns, &with(""));
            assert_eq!(model.as_ref().map(bound), Ok(argument("customerId")), "{returns} {}", with(""));
        }
    }
}

#[test]
fn an_argument_with_the_types_name_goes_before_the_id_of_another_type() {
    let model = mutation(
        "customerId: ID!, id: ID!",
        "Account",
        "@check(item: Customer, if: \"owner = 'me'\") @put @check(item: Card, where: { accountId: \"{to}\", id: \"{to}\" }, if: \"attribute_exists(id)\")",
    );
    assert_eq!(model.as_ref().map(bound), Ok(Some(Source::Argument("customerId".to_owned()))));
}
