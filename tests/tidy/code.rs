//! Just enough of a reader for Rust: text in, the places of words, paths and test items out. Must not know the rules.

use std::ops::Range;

/// How many names the path of the file's module has: 1 for `schema/mod.rs`, 2 for `schema/model.rs`.
pub fn module_depth(path: &str) -> usize {
    let names = path.trim_start_matches("src/").split('/').count();
    if path.ends_with("/mod.rs") { names - 1 } else { names }
}

pub fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The text with comments, strings and character literals blanked out, byte for byte, so that places stay the same.
fn code_only(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => find(bytes, at, b"\n"),
            b'/' if bytes[at..].starts_with(b"/*") => comment_end(bytes, at),
            b'"' => quoted_end(bytes, at, b'"'),
            b'r' if !follows_word(bytes, at) || bytes[at - 1] == b'b' => raw_string_end(bytes, at),
            // `'a` is a lifetime unless a quote closes it.
            b'\'' if bytes.get(at + 1) == Some(&b'\\') => quoted_end(bytes, at, b'\''),
            b'\'' => text[at + 1..]
                .chars()
                .next()
                .map(|c| at + 1 + c.len_utf8())
                .filter(|close| bytes.get(*close) == Some(&b'\''))
                .map_or(at, |close| close + 1),
            _ => at,
        };
        for byte in &mut code[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end.max(at + 1);
    }
    String::from_utf8(code).expect("only whole characters are blanked")
}

fn follows_word(bytes: &[u8], at: usize) -> bool {
    at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_')
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> usize {
    bytes[from..].windows(what.len()).position(|window| window == what).map_or(bytes.len(), |at| from + at)
}

fn comment_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at.min(bytes.len())
}

fn quoted_end(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// The end of `r"…"` or `r#"…"#`; `at` itself where none begins.
fn raw_string_end(bytes: &[u8], at: usize) -> usize {
    let hashes = bytes[at + 1..].iter().take_while(|byte| **byte == b'#').count();
    let open = at + 1 + hashes;
    if bytes.get(open) != Some(&b'"') {
        return at;
    }
    let close = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
    (find(bytes, open + 1, &close) + close.len()).min(bytes.len())
}

/// The places of the items under `#[cfg(test)]`.
pub fn test_items(text: &str) -> Vec<Range<usize>> {
    const MARK: &str = "#[cfg(test)]";
    let code = code_only(text);
    let (mut items, mut from) = (Vec::new(), 0);
    while let Some(start) = code[from..].find(MARK).map(|at| from + at) {
        let mut depth = 0_usize;
        let end = code.bytes().enumerate().skip(start + MARK.len()).find(|(_, byte)| {
            match byte {
                b'{' | b'(' | b'[' => depth += 1,
                b'}' | b')' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && matches!(byte, b'}' | b';')
        });
        from = end.map_or(text.len(), |(at, _)| at + 1);
        items.push(start..from);
    }
    items
}

/// The code that is built into the product: comments, texts and test items are blanked out, every line keeps its number.
pub fn product(text: &str) -> String {
    let mut code = code_only(text).into_bytes();
    for byte in test_items(text).into_iter().flatten() {
        if code[byte] != b'\n' {
            code[byte] = b' ';
        }
    }
    String::from_utf8(code).expect("whole characters are blanked")
}

/// The words of code with their places.
pub fn words(code: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in code.char_indices().chain([(code.len(), ' ')]) {
        match (c.is_alphanumeric() || c == '_', start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push((from, &code[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// Every path from the crate's root that the code of a module at `depth` names, groups spread: `crate::{a::b, c}` is `a::b` and `c`.
pub fn crate_paths(code: &str, depth: usize) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    for (at, word) in words(code) {
        if matches!(word, "crate" | "super") && code[at..].starts_with(&format!("{word}::")) && !code[..at].ends_with("::") {
            spread(code, at, &[], &mut found);
        }
    }
    let from_root = |(at, path): (usize, Vec<String>)| {
        let supers = path.iter().take_while(|name| *name == "super").count();
        let rest = path[if path[0] == "crate" { 1 } else { supers }..].to_vec();
        ((path[0] == "crate" || supers == depth) && !rest.is_empty()).then_some((at, rest))
    };
    found.into_iter().filter_map(from_root).collect()
}

/// Reads one path or group, adds the paths it names, and tells where it ends.
fn spread(code: &str, at: usize, prefix: &[String], found: &mut Vec<(usize, Vec<String>)>) -> usize {
    let mut at = at + code[at..].len() - code[at..].trim_start().len();
    if code[at..].starts_with('{') {
        at += 1;
        while at < code.len() && !code[at..].starts_with('}') {
            let end = spread(code, at, prefix, found);
            at = code[end..].find([',', '}']).map_or(code.len(), |gap| end + gap);
            at += usize::from(code[at..].starts_with(','));
            at += code[at..].len() - code[at..].trim_start().len();
        }
        return (at + 1).min(code.len());
    }
    let name: String = code[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if name.is_empty() {
        // A glob or a turbofish: what stands before it is the path.
        found.push((at, prefix.to_vec()));
        return at;
    }
    let (end, path) = (at + name.len(), [prefix, &[name]].concat());
    if code[end..].starts_with("::") {
        return spread(code, end + 2, &path, found);
    }
    found.push((at, path));
    end
}
