//! An input and others in, a changed input out: by bytes, by characters and by tokens.

use fastrand::Rng;

/// The longest input, in bytes.
pub const MAX_LENGTH: usize = 64 * 1024;

/// Bytes and characters that have a meaning somewhere.
const ODD: [&str; 24] = [
    "\0", "\n", "\r", "\t", " ", "\"", "\"\"\"", "\\", "\\u0000", "{", "}", "(", "[", "]", ":", "!", "@", "$", "#",
    "...", "é", "🥑", "\u{feff}", "-9e999",
];

/// Changes an input once or a few times.
pub fn changed(input: &[u8], others: &[Vec<u8>], random: &mut Rng) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=random.usize(..4) {
        match random.u8(..9) {
            0 => flip(&mut bytes, random),
            1 => insert(&mut bytes, random.choice(ODD).unwrap().as_bytes().to_vec(), random),
            2 => remove(&mut bytes, random),
            3 => repeat(&mut bytes, random),
            4 => splice(&mut bytes, random.choice(others).map_or(&[][..], Vec::as_slice), random),
            kind => by_tokens(&mut bytes, random.choice(others).map_or(&[][..], Vec::as_slice), (kind, random)),
        }
        bytes.truncate(MAX_LENGTH);
    }
    bytes
}

fn place(bytes: &[u8], random: &mut Rng) -> usize {
    random.usize(..=bytes.len())
}

/// A part that is usually short.
fn part(length: usize, random: &mut Rng) -> std::ops::Range<usize> {
    let start = random.usize(..=length);
    let long = (1 << random.u32(..12)).min(length - start);
    start..start + random.usize(..=long)
}

fn flip(bytes: &mut [u8], random: &mut Rng) {
    if let Some(at) = (!bytes.is_empty()).then(|| random.usize(..bytes.len())) {
        bytes[at] ^= 1 << random.u8(..8);
    }
}

fn insert(bytes: &mut Vec<u8>, more: Vec<u8>, random: &mut Rng) {
    let at = place(bytes, random);
    bytes.splice(at..at, more);
}

fn remove(bytes: &mut Vec<u8>, random: &mut Rng) {
    let part = part(bytes.len(), random);
    bytes.drain(part);
}

fn repeat(bytes: &mut Vec<u8>, random: &mut Rng) {
    let part = bytes[part(bytes.len(), random)].to_vec();
    let times = (1 << random.u32(..10)).min(MAX_LENGTH / part.len().max(1));
    insert(bytes, part.repeat(times), random);
}

fn splice(bytes: &mut Vec<u8>, other: &[u8], random: &mut Rng) {
    let more = other[part(other.len(), random)].to_vec();
    insert(bytes, more, random);
}

/// Removes, repeats, moves or replaces tokens.
fn by_tokens(bytes: &mut Vec<u8>, other: &[u8], (kind, random): (u8, &mut Rng)) {
    let mut all: Vec<Vec<u8>> = tokens(bytes);
    if all.is_empty() {
        return;
    }
    let at = random.usize(..all.len());
    match kind {
        5 => drop(all.remove(at)),
        6 => {
            let to = random.usize(..all.len());
            all.swap(at, to);
        }
        7 => {
            let run: Vec<Vec<u8>> = all[part(all.len(), random)].to_vec();
            all.splice(at..at, run);
        }
        _ => {
            if let Some(token) = random.choice(tokens(other)) {
                all[at] = token;
            }
        }
    }
    *bytes = all.concat();
}

/// Words, numbers, gaps and single characters: all bytes, in order.
fn tokens(bytes: &[u8]) -> Vec<Vec<u8>> {
    let class = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => 0,
        b' ' | b'\n' | b'\t' | b'\r' => 1,
        128.. => 2,
        _ => 3,
    };
    bytes.chunk_by(|a, b| class(a) == class(b) && class(a) != 3).map(<[u8]>::to_vec).collect()
}

#[test]
fn changes_stay_in_bounds_and_differ() {
    let (mut random, others) = (Rng::with_seed(1), [b"type A { b: C }".to_vec(), Vec::new()]);
    let mut seen = std::collections::HashSet::new();
    for _ in 0..2_000 {
        let input = changed(b"query { user(id: \"1\") { name } }", &others, &mut random);
        assert!(input.len() <= MAX_LENGTH);
        seen.insert(input);
    }
    assert!(seen.len() > 1_500, "{}", seen.len());
    assert_eq!(tokens(b"{ab  1}").len(), 5);
}
