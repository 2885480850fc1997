//! How long a function takes from the start of its process to its first answer, with the tables near.
//! `KEYFOLD_COLD_STARTS` is how often it starts, and `KEYFOLD_COLD_START_MS` the bound of the median.

use crate::callers::AIKO;
use crate::events::{Asked, Form};
use crate::runtime::Lambda;
use crate::store::Store;
use serde_json::json;
use std::time::{Duration, Instant};

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().map_or(usual, |value| value.parse().unwrap())
}

pub async fn the_first_answer_comes_soon() {
    let store = Store::start();
    let (mut inits, mut answers) = (Vec::new(), Vec::new());
    for _ in 0..setting("KEYFOLD_COLD_STARTS", 15) {
        let lambda = Lambda::start().await;
        let asked =
            Asked::post("{ user(id: \"11111111-1111-4111-8111-111111111111\") { name } }", &json!({}), Some(AIKO));
        let answer = lambda.begin(&asked.event(Form::FunctionUrl), Duration::from_secs(30));
        let began = Instant::now();
        let (_function, _directory) = lambda.function(&store.url(), &[]);
        let got = answer.await.unwrap().got(Form::FunctionUrl);
        answers.push(began.elapsed());
        inits.push(lambda.first_asked().unwrap() - began);
        assert_eq!(got.json(), json!({ "data": { "user": { "name": "Aiko Tanaka" } } }));
    }
    inits.sort();
    answers.sort();
    let (init, answer) = (inits[inits.len() / 2], answers[answers.len() / 2]);
    println!(
        "median of {}: {init:?} until the first invocation is asked for, {answer:?} until it is answered",
        answers.len()
    );
    println!("answered after {answers:?}");
    let bound =
        Duration::from_millis(setting("KEYFOLD_COLD_START_MS", if cfg!(debug_assertions) { 5_000 } else { 60 }));
    assert!(answer < bound, "more than {bound:?}");
}
