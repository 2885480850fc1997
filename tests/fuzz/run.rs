//! A target and its corpus in; a failed test out if an input breaks it, with the input.

use crate::change::{MAX_LENGTH, changed};
use fastrand::Rng;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The longest time of an input, in an unoptimised build, on a machine that does other things, too.
const LONGEST_TIME: Duration = Duration::from_secs(20);
/// Most inputs to keep for more changes.
const MAX_KEPT: usize = 4_000;

/// What a target does with an input. It returns the outcome in a word or two; a broken law is a panic.
pub type Target = fn(&[u8]) -> String;

/// Runs a target on its corpus, on more inputs and on changes of them.
pub fn run(name: &'static str, target: Target, more: Vec<Vec<u8>>) {
    let number = |variable: &str, default: u64| {
        std::env::var(variable).ok().map_or(default, |text| text.parse().expect(variable))
    };
    let time = Duration::from_secs(number("KEYFOLD_FUZZ_SECONDS", 2));
    let seed = number("KEYFOLD_FUZZ_SEED", 0);
    let (sender, begun) = channel();
    let under_way = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}"));
    let file = under_way.clone();
    // A separate thread with the stack of a server's thread, so that an endless input is found.
    let worker = std::thread::spawn(move || {
        let mut tried = 0;
        let mut attempt = |input: &[u8]| {
            tried += 1;
            std::fs::write(&file, input).unwrap();
            sender.send(()).unwrap();
            catch_unwind(AssertUnwindSafe(|| target(input))).unwrap_or_else(|_| {
                let shown = String::from_utf8_lossy(&input[..input.len().min(2_000)]).into_owned();
                panic!("{name}, seed {seed}, input {tried}, in {}:\n{shown}", file.display());
            })
        };
        let mut kept = corpus(name);
        kept.extend(more);
        kept.iter_mut().for_each(|input| input.truncate(MAX_LENGTH));
        let mut outcomes: HashSet<String> = kept.iter().map(|input| attempt(input)).collect();
        let (mut random, end) = (Rng::with_seed(seed), Instant::now() + time);
        while Instant::now() < end {
            let input = changed(random.choice(&kept).unwrap(), &kept, &mut random);
            if outcomes.insert(attempt(&input)) && kept.len() < MAX_KEPT {
                kept.push(input);
            }
        }
        (tried, outcomes.len())
    });
    loop {
        match begun.recv_timeout(LONGEST_TIME) {
            Ok(()) => {}
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("{name}: the input in {} takes too long", under_way.display()),
        }
    }
    match worker.join() {
        Ok((tried, outcomes)) => println!("{name}: {tried} inputs, {outcomes} outcomes"),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The inputs of a target's corpus.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let inputs = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(name), "");
    assert!(!inputs.is_empty(), "{name} has a corpus");
    inputs.into_iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// The files of a folder and of its subfolders whose names end like this, in order.
pub fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, end));
        } else if path.to_str().unwrap().ends_with(end) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The texts of the files of a folder of the repository.
pub fn texts(folder: &str, end: &str) -> Vec<Vec<u8>> {
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), end)
        .into_iter()
        .map(|file| std::fs::read(file).unwrap())
        .collect()
}
