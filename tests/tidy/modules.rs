//! The files of `src/` as modules: which file a path leads to, and the circles that files make. Must not know the rules.

use crate::code::{Code, NamedPath};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// The names of a file's module below the crate: `schema`, `model` for `src/schema/model.rs`, none for `src/lib.rs`.
pub fn module_of(path: &str) -> Vec<String> {
    let path = path.trim_start_matches("src/").trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if path == "lib" || path == "main" { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

/// A path from the crate's root, for a path that begins with `crate`, `self` or `super`; nothing for any other path.
pub fn from_root(module: &[String], path: &NamedPath) -> Option<Vec<String>> {
    let mut base: Vec<String> = [module, &path.inside].concat();
    let mut names = path.names.as_slice();
    match names.first()?.as_str() {
        "crate" => (base, names) = (Vec::new(), &names[1..]),
        "self" => names = &names[1..],
        "super" => {}
        _ => return None,
    }
    while let Some((first, rest)) = names.split_first()
        && first == "super"
    {
        base.pop()?;
        names = rest;
    }
    Some([base.as_slice(), names].concat())
}

/// Which files each file names. A `mod` declaration names nothing.
pub struct Uses<'a> {
    uses: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Uses<'a> {
    pub fn new(files: impl Iterator<Item = (&'a str, &'a Code)> + Clone) -> Self {
        let modules: HashMap<Vec<String>, &str> =
            files.clone().map(|(path, _)| (module_of(path), path)).filter(|(module, _)| !module.is_empty()).collect();
        let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (path, code) in files {
            let module = module_of(path);
            let named = code.paths.iter().filter_map(|named| {
                let child = || modules.contains_key(&[&module[..], &named.names[..1]].concat());
                let full = from_root(&module, named).or_else(|| child().then(|| [&module[..], &named.names[..]].concat()))?;
                (1..=full.len()).rev().find_map(|length| modules.get(&full[..length]).copied())
            });
            uses.insert(path, named.filter(|file| *file != path).collect());
        }
        Self { uses }
    }

    /// The shortest circle through each file that is on one; each circle is reported once.
    pub fn circles(&self) -> Vec<Vec<&'a str>> {
        let mut told: BTreeSet<&str> = BTreeSet::new();
        let mut circles = Vec::new();
        for &file in self.uses.keys() {
            if !told.contains(file)
                && let Some(circle) = self.circle_through(file)
            {
                told.extend(&circle);
                circles.push(circle);
            }
        }
        circles
    }

    fn circle_through(&self, start: &'a str) -> Option<Vec<&'a str>> {
        let mut came_from: HashMap<&str, &str> = HashMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(file) = queue.pop_front() {
            for &next in self.uses.get(file)? {
                if next == start {
                    let mut circle = vec![file];
                    while let Some(before) = came_from.get(circle[circle.len() - 1]) {
                        circle.push(before);
                    }
                    circle.reverse();
                    return Some(circle);
                }
                if !came_from.contains_key(next) {
                    came_from.insert(next, file);
                    queue.push_back(next);
                }
            }
        }
        None
    }
}
