//! A caller whose requests are explained: a refusal names each rule on the way that may refuse. Nobody else reads a
//! rule.

use super::{Library, caller};
use serde_json::{Value, json};
use std::sync::Arc;

const SCHEMA: &str = r#"
extend schema @table(name: "staff", partitionKey: "pk")
type Employee @item(keys: { pk: "E#{id}" }) @auth(if: "id = auth.sub or auth.root = true") {
  id: ID!
  name: String
  salary: Int @auth(if: "auth.role = 'hr' or auth.root = true")
}
type Query {
  employee(id: ID!): Employee @find
  listed(id: ID!): Employee @find @auth(signedIn: true)
}
type Mutation { hire(id: ID!, name: String, salary: Int): Employee @put }
"#;

#[tokio::test]
async fn a_refusal_names_each_rule_that_may_refuse() {
    let fill = r#"mutation { hire(id: "ann", name: "Ann", salary: 3) { id } }"#;
    let library = Library::of(SCHEMA, json!({ "sub": "root", "root": true }), fill).await;
    let employee = "`Employee` has the rule `if id = :auth.sub OR :auth.root = true`";
    let salary = "`Employee.salary` has the rule `if :auth.role = 'hr' OR :auth.root = true`";
    let sign_in = format!(
        "Sign in first: `Query.listed` has the rule `signed in`, and {employee}. `keyfold token --sub me` prints a token; \
         send it as `Authorization: Bearer <token>`."
    );
    let rows = [
        // The outer rule lets the caller in, and only the row tells that. The field's refuses whatever the row is.
        (json!({ "sub": "ann" }), r#"{ employee(id: "ann") { name salary } }"#, format!("{employee}, and {salary}.")),
        (json!({ "sub": "ben" }), r#"{ employee(id: "ann") { name } }"#, format!("{employee}.")),
        (Value::Null, r#"{ listed(id: "ann") { name } }"#, sign_in),
    ];
    for (claims, query, said) in rows {
        let explained = caller(claims.clone()).explained(Arc::default());
        let (response, _) = library.run(&explained, query, json!({})).await;
        let message = response["errors"][0]["message"].as_str().unwrap_or_default();
        assert!(message.ends_with(&said), "{query}: {message}");
        let (response, _) = library.run(&caller(claims), query, json!({})).await;
        let message = response["errors"][0]["message"].as_str().unwrap_or_default();
        assert!(["Sign in first.", "You are not allowed to do this."].contains(&message), "{query}: {message}");
    }
}
