//! The files of `src/` as modules: which file a path leads to, and the circles that files and folders make. Must not
//! know the rules.

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

/// The children of the deepest common folder of two files that hold them.
fn siblings<'a>(from: &'a str, to: &'a str) -> (&'a str, &'a str) {
    let differs = from.bytes().zip(to.bytes()).take_while(|(a, b)| a == b).count();
    let folder = from[..differs].rfind('/').map_or(0, |slash| slash + 1);
    let child = |path: &'a str| path[folder..].find('/').map_or(path, |end| &path[..folder + end]);
    (child(from), child(to))
}

/// Which files each file names, or which siblings each sibling. A `mod` declaration names nothing.
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
                let full =
                    from_root(&module, named).or_else(|| child().then(|| [&module[..], &named.names[..]].concat()))?;
                (1..=full.len()).rev().find_map(|length| modules.get(&full[..length]).copied())
            });
            uses.insert(path, named.filter(|file| *file != path).collect());
        }
        Self { uses }
    }

    /// The arrows between siblings: each file stands for the child that holds it, of the deepest folder that both files
    /// share. The children of a folder are its files, `mod.rs` among them, and its folders.
    pub fn between_siblings(&self) -> Self {
        let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (from, to) in self.arrows().map(|(from, to)| siblings(from, to)) {
            uses.entry(from).or_default().insert(to);
            uses.entry(to).or_default();
        }
        Self { uses }
    }

    /// The first arrow that is one between these siblings.
    pub fn first_between(&self, from: &str, to: &str) -> Option<(&'a str, &'a str)> {
        self.arrows().find(|(a, b)| siblings(a, b) == (from, to))
    }

    fn arrows(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.uses.iter().flat_map(|(from, all)| all.iter().map(|to| (*from, *to)))
    }

    /// The shortest circle through each file or sibling that is on one; each circle is reported once.
    pub fn circles(&self) -> Vec<Vec<&'a str>> {
        let mut reported: BTreeSet<&str> = BTreeSet::new();
        let mut circles = Vec::new();
        for &file in self.uses.keys() {
            if !reported.contains(file)
                && let Some(circle) = self.circle_through(file)
            {
                reported.extend(&circle);
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
