//! Every kind of write with every kind of trouble, compared with the same write without trouble.

use super::backend::{Backend, CONTAINER, Call, GROUP, USER, by, changes, error, is_write, troubled};
use crate::scripted::{LOST, REFUSED, Reply, Trouble};
use keyfold::plan::tree::SingleWrites;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// What is known of a write whose answer is lost.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    /// It is a transaction: its token makes it certain.
    Known,
    /// If it was made, the item shows it by a value that was generated for the request.
    Shown,
    /// Nothing says so.
    Open,
}

#[derive(Clone)]
struct Case {
    system: &'static str,
    prepare: Vec<(&'static str, Value)>,
    operation: &'static str,
    variables: Value,
    fate: Fate,
    /// The subject of the caller.
    user: &'static str,
    single_writes: SingleWrites,
}

fn case(system: &'static str, fate: Fate, operation: &'static str, variables: Value) -> Case {
    Case { system, prepare: Vec::new(), operation, variables, fate, user: USER, single_writes: SingleWrites::Call }
}

impl Case {
    fn after(mut self, operation: &'static str, variables: Value) -> Self {
        self.prepare.push((operation, variables));
        self
    }

    fn by(mut self, user: &'static str) -> Self {
        self.user = user;
        self
    }
}

/// Every kind of write, in each form that writes of one item may have.
fn cases() -> Vec<Case> {
    let calls = kinds();
    let as_transaction =
        |case: &Case| Case { fate: Fate::Known, single_writes: SingleWrites::Transaction, ..case.clone() };
    let transactions: Vec<Case> = calls.iter().map(as_transaction).collect();
    calls.into_iter().chain(transactions).collect()
}

fn kinds() -> Vec<Case> {
    use Fate::{Known, Open, Shown};
    let (pantry, ledger) = ("pantry", "ledger");
    let open = "mutation { open(id: \"a\", coins: 10) { coins } }";
    let enter =
        "mutation ($n: String!) { enter(owner: \"a\", no: $n, text: \"t\", shelf: \"s\", state: \"new\") { no } }";
    let page = "mutation { createPage(id: \"p\", title: \"one\") { version } }";
    let note = "mutation { writeNote(id: \"n\", amount: \"1.50\", ratio: 2.5e0, total: \"7\", marks: [3, 1, 2], tags: [\"b\", \"a\"]) \
                { amount ratio total marks tags } }";
    vec![
        // Transactions: with guards, with checks, with a found item, with dependents.
        case(
            pantry,
            Known,
            "mutation { createUser(name: \"U\", email: \"u@example.com\") { id name email } }",
            json!({}),
        )
        .by("u"),
        case(pantry, Known, "mutation { changeEmail(email: \"new@example.com\") { id email name } }", json!({})),
        case(pantry, Known, "mutation { createGroup(name: \"G\") { id name } }", json!({})),
        case(
            pantry,
            Known,
            "mutation ($g: ID!) { createContainer(groupId: $g, name: \"C\") { id name } }",
            json!({ "g": GROUP }),
        ),
        case(pantry, Known, "mutation ($g: ID!) { deleteGroup(id: $g) }", json!({ "g": GROUP })),
        case(ledger, Known, "mutation { transfer(from: \"a\", to: \"b\", amount: 3) { coins } }", json!({}))
            .after(open, json!({}))
            .after("mutation { open(id: \"b\", coins: 1) { coins } }", json!({})),
        // Plain updates, also of index keys.
        case(
            pantry,
            Open,
            "mutation ($g: ID!) { renameGroup(id: $g, name: \"N\") { id name } }",
            json!({ "g": GROUP }),
        ),
        case(
            ledger,
            Open,
            "mutation { restate(owner: \"a\", no: \"1\", state: \"old\") { no shelf state } }",
            json!({}),
        )
        .after(enter, json!({ "n": "1" })),
        // Elements of lists.
        case(
            pantry,
            Known,
            "mutation ($g: ID!, $c: ID!) { addFood(groupId: $g, containerId: $c, input: { name: \"F\", category: \"c\", quantity: 1.50 }) { foods { id name } } }",
            json!({ "g": GROUP, "c": CONTAINER }),
        ),
        case(
            pantry,
            Known,
            "mutation ($g: ID!, $c: ID!, $f: ID!) { updateFood(groupId: $g, containerId: $c, foodId: $f, input: { quantity: 9 }) { foods { id name quantity } } }",
            json!({ "g": GROUP, "c": CONTAINER, "f": "food" }),
        ),
        case(
            pantry,
            Known,
            "mutation ($g: ID!, $c: ID!, $f: ID!) { removeFood(groupId: $g, containerId: $c, foodId: $f) { foods { id name } } }",
            json!({ "g": GROUP, "c": CONTAINER, "f": "food" }),
        ),
        case(ledger, Open, "mutation { addLine(id: \"n\", weight: \"2.50\") { lines { weight } } }", json!({}))
            .after(note, json!({})),
        case(
            ledger,
            Open,
            "mutation { changeLine(id: \"n\", no: \"2.50\", text: \"x\") { lines { weight text } } }",
            json!({}),
        )
        .after(note, json!({}))
        .after("mutation { addLine(id: \"n\", weight: \"2.50\") { id } }", json!({})),
        // Single puts.
        case(ledger, Open, note, json!({})),
        case(ledger, Open, page, json!({})),
        case(ledger, Shown, "mutation { book(text: \"t\") { id text stubs { id } } }", json!({})),
        // Many items at once.
        case(ledger, Known, "mutation { mark(owner: \"a\", text: \"m\") { no text } }", json!({}))
            .after(enter, json!({ "n": "1" }))
            .after(enter, json!({ "n": "2" })),
        case(ledger, Known, "mutation { clear(owner: \"a\") { no } }", json!({}))
            .after(enter, json!({ "n": "1" }))
            .after(enter, json!({ "n": "2" })),
        // Single deletes, with a condition and without.
        case(pantry, Open, "mutation ($g: ID!) { leaveGroup(groupId: $g) { userId } }", json!({ "g": GROUP })),
        case(ledger, Open, "mutation { settle(id: \"a\") { id coins } }", json!({}))
            .after("mutation { open(id: \"a\", coins: 0) { coins } }", json!({})),
        case(ledger, Open, "mutation { dropPage(id: \"p\", version: 1) { title } }", json!({})).after(page, json!({})),
        // Updates under a condition that does not hold after them.
        case(ledger, Open, "mutation { editPage(id: \"p\", version: 1, title: \"two\") { title version } }", json!({}))
            .after(page, json!({})),
        case(ledger, Open, "mutation { lock(id: \"a\") { open } }", json!({})).after(open, json!({})),
        // Updates that count.
        case(ledger, Open, "mutation { buy(id: \"a\", cost: 4) { coins } }", json!({})).after(open, json!({})),
        case(ledger, Open, "mutation { retitle(id: \"p\", title: \"two\") { title version } }", json!({}))
            .after(page, json!({})),
    ]
}

/// A system prepared for the case, and the case's variables. If they need the id of a food, it is filled in.
async fn prepared(case: &Case) -> (Backend, Value) {
    let mut backend = Backend::with(case.system, case.single_writes).await;
    backend.caller = by(case.user);
    for (operation, variables) in &case.prepare {
        backend.ok(operation, variables.clone()).await;
    }
    let mut variables = case.variables.clone();
    if variables["f"].is_string() {
        let foods = backend
            .ok(
                "query ($g: ID!, $c: ID!) { group(id: $g) { container(containerId: $c) { foods { id } } } }",
                json!({ "g": GROUP, "c": CONTAINER }),
            )
            .await;
        variables["f"] = foods["group"]["container"]["foods"][1]["id"].clone();
    }
    (backend, variables)
}

/// The outcome of a case: the answer and the changes of items, with names for generated values.
struct Outcome {
    answer: Value,
    changes: Vec<String>,
    writes: usize,
}

async fn outcome(case: &Case, script: impl Fn(&Call<'_>) -> Option<Reply> + Send + Sync + 'static) -> Outcome {
    let (backend, variables) = prepared(case).await;
    let before = backend.items();
    backend.script(script);
    let answer = backend.run(case.operation, variables).await;
    let mut names = crate::support::names(case.system, case.operation);
    let answer = serde_json::from_str(&names.replace(&answer.to_string())).unwrap();
    // Foods and the items of the case's preparation have new ids in every run.
    let mut changes: Vec<String> =
        changes(&before, &backend.items()).iter().map(|change| names.replace(change)).collect();
    changes.sort();
    Outcome { answer, changes, writes: backend.writes() }
}

/// Collects the failures of all cases, so that one does not hide the others.
#[derive(Default)]
struct Verdicts(Vec<String>);

impl Verdicts {
    fn same<T: std::fmt::Debug + PartialEq>(&mut self, case: &Case, trouble: &str, what: &str, (is, should): (T, T)) {
        if is != should {
            self.0.push(format!("{}\n  {trouble}: {what}\n    is     {is:?}\n    should {should:?}", case.operation));
        }
    }

    /// Requires that the error says that the outcome of the write is unknown.
    fn open(&mut self, case: &Case, trouble: &str, answer: &Value) {
        let (_, message, at) = error(answer);
        let is_open = message.contains("may or may not have been made");
        self.same(case, trouble, &format!("an open end: {answer}"), ((is_open, at), (true, path(case))));
    }
}

impl Drop for Verdicts {
    fn drop(&mut self) {
        assert!(self.0.is_empty() || std::thread::panicking(), "{}", self.0.join("\n"));
    }
}

/// The case's mutation field as an error path.
fn path(case: &Case) -> String {
    let field = case.operation.split('{').nth(1).unwrap().trim().split('(').next().unwrap();
    json!([field]).to_string()
}

#[tokio::test(start_paused = true)]
async fn a_write_that_was_refused_some_times_is_made_once() {
    let canceled: Trouble = ("canceled by a conflict", || {
        let code = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException";
        let reasons = json!([{ "Code": "TransactionConflict", "Message": "ongoing" }]);
        Reply::Body(400, json!({ "__type": code, "Message": "canceled", "CancellationReasons": reasons }).to_string())
    });
    let mut verdicts = Verdicts::default();
    for case in cases() {
        let calm = outcome(&case, |_| None).await;
        verdicts.same(&case, "calm", "answer", (&calm.answer["errors"], &Value::Null));
        verdicts.same(&case, "calm", "changes something", (calm.changes.is_empty(), false));
        let refusal = || Some(Reply::error(400, "ValidationException"));
        let refused =
            outcome(&case, move |call| (call.operation == "TransactWriteItems").then(refusal).flatten()).await;
        let is_transaction = !refused.answer["errors"].is_null();
        for (trouble, reply) in REFUSED.into_iter().chain(is_transaction.then_some(canceled)) {
            let tried = outcome(&case, troubled(4, false, reply)).await;
            verdicts.same(&case, trouble, "answer", (&tried.answer, &calm.answer));
            verdicts.same(&case, trouble, "items", (&tried.changes, &calm.changes));
            verdicts.same(&case, trouble, "attempts", (tried.writes, calm.writes + 4));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_was_made_without_an_answer_is_made_once() {
    let mut verdicts = Verdicts::default();
    for case in cases() {
        let calm = outcome(&case, |_| None).await;
        for (trouble, reply) in LOST {
            let tried = outcome(&case, troubled(2, true, reply)).await;
            verdicts.same(&case, trouble, "items", (&tried.changes, &calm.changes));
            match case.fate {
                Fate::Known | Fate::Shown => verdicts.same(&case, trouble, "answer", (&tried.answer, &calm.answer)),
                Fate::Open => verdicts.open(&case, trouble, &tried.answer),
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_was_lost_on_its_way_is_made_or_left_open() {
    let mut verdicts = Verdicts::default();
    for case in cases() {
        let calm = outcome(&case, |_| None).await;
        for (trouble, reply) in LOST {
            let tried = outcome(&case, troubled(2, false, reply)).await;
            if case.fate != Fate::Known {
                verdicts.open(&case, trouble, &tried.answer);
                let code = if trouble == "no answer" { "TIMEOUT" } else { "UNAVAILABLE" };
                verdicts.same(&case, trouble, "code", (error(&tried.answer).0, code));
                verdicts.same(&case, trouble, "items, attempts", ((tried.changes, tried.writes), (Vec::new(), 1)));
            } else {
                verdicts.same(&case, trouble, "answer", (&tried.answer, &calm.answer));
                verdicts.same(&case, trouble, "items", (&tried.changes, &calm.changes));
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_never_answered_is_left_open_at_the_deadline() {
    let mut verdicts = Verdicts::default();
    for (applied, case) in
        [true, false].into_iter().flat_map(|applied| cases().into_iter().map(move |case| (applied, case)))
    {
        let calm = outcome(&case, |_| None).await;
        let tried = outcome(&case, troubled(usize::MAX, applied, || Reply::Reset)).await;
        let expected = if applied { calm.changes.clone() } else { Vec::new() };
        verdicts.same(&case, "never", &format!("items, applied: {applied}"), (tried.changes, expected));
        // What a read shows needs no other write.
        if !applied || tried.answer != calm.answer {
            verdicts.open(&case, "never", &tried.answer);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_after_an_answer_was_lost_is_left_open() {
    let refusals: [Trouble; 4] = [
        ("throttled", || Reply::error(400, "ThrottlingException")),
        ("conflict", || Reply::error(400, "TransactionConflictException")),
        ("denied", || Reply::error(400, "AccessDeniedException")),
        ("nobody", || Reply::Refused),
    ];
    let mut verdicts = Verdicts::default();
    for (case, (trouble, refused)) in
        cases().into_iter().flat_map(|case| refusals.map(|refusal| (case.clone(), refusal)))
    {
        let calm = outcome(&case, |_| None).await;
        let tried = outcome(&case, move |call| match (is_write(call.operation), call.before) {
            (false, _) => None,
            (true, 0) => {
                call.table.apply(call.operation, call.body.clone());
                Some(Reply::Reset)
            }
            (true, _) => Some(refused()),
        })
        .await;
        verdicts.same(&case, trouble, "items", (&tried.changes, &calm.changes));
        // What a read shows needs no other write.
        if tried.answer != calm.answer {
            verdicts.open(&case, trouble, &tried.answer);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_for_good_is_reported_and_nothing_is_written() {
    let refusals: [(Trouble, &str); 4] = [
        (("throttled", || Reply::error(400, "ThrottlingException")), "THROTTLED"),
        (("conflict", || Reply::error(400, "TransactionConflictException")), "CONFLICT"),
        (("nobody", || Reply::Refused), "UNAVAILABLE"),
        (("denied", || Reply::error(400, "AccessDeniedException")), "UNAVAILABLE"),
    ];
    let mut verdicts = Verdicts::default();
    for case in cases() {
        for ((trouble, reply), expected) in refusals {
            let tried = outcome(&case, troubled(usize::MAX, false, reply)).await;
            verdicts.same(&case, trouble, "items", (tried.changes, Vec::new()));
            let (code, message, at) = error(&tried.answer);
            let conflict = message == "Other writers keep changing the same items. Try again.";
            let is = (code, at, conflict);
            verdicts.same(&case, trouble, message, (is, (expected, path(&case), expected == "CONFLICT")));
        }
    }
}

/// The limit of races does not apply to lost answers: a transaction is tried until the deadline, at growing intervals.
#[tokio::test(start_paused = true)]
async fn a_write_whose_answers_are_lost_is_tried_until_the_deadline() {
    let backend = Backend::with("ledger", SingleWrites::Transaction).await;
    backend.script(troubled(usize::MAX, false, || Reply::Reset));
    let begun = Instant::now();
    let answer = backend
        .run_within(Duration::from_secs(40), "mutation { createPage(id: \"p\", title: \"t\") { id } }", json!({}))
        .await;
    assert_eq!(error(&answer).0, "UNAVAILABLE");
    assert!(begun.elapsed() >= Duration::from_secs(36), "given up after {:?}", begun.elapsed());
    assert!((20..=80).contains(&backend.writes()), "{} attempts", backend.writes());
}
