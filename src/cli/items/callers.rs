//! The callers of the samples: `callers.json` beside the sample items in, their names and claims out.

use crate::execute::caller::Caller;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The name of the file.
pub const FILE: &str = "callers.json";
/// Most callers: more than anybody chooses from.
const MAX_CALLERS: usize = 1_000;

/// Somebody whose items are among the samples.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleCaller {
    /// The name, for people.
    pub name: String,
    /// The claims; `sub` is who acts.
    pub claims: Map<String, Value>,
}

impl SampleCaller {
    /// The caller.
    pub fn caller(&self) -> Caller {
        Caller::signed_in(self.claims.clone())
    }
}

/// The callers in a directory of samples, in their order; none if it has no such file.
pub fn read(directory: &Path) -> Result<Vec<SampleCaller>> {
    let path = directory.join(FILE);
    let text = match fs::read(&path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        read => read.with_context(|| format!("cannot read {}", path.display()))?,
    };
    parse(&text, &path.display().to_string())
}

/// The callers of a text, which is that of this file.
pub fn parse(text: &[u8], file: &str) -> Result<Vec<SampleCaller>> {
    let callers: Vec<SampleCaller> = serde_json::from_slice(text).with_context(|| {
        format!("{file} is no list of callers: [{{ \"name\": \"Ann\", \"claims\": {{ \"sub\": \"u1\" }} }}]")
    })?;
    ensure!(callers.len() <= MAX_CALLERS, "{file} has more than {MAX_CALLERS} callers");
    for (position, caller) in callers.iter().enumerate() {
        let name = &caller.name;
        ensure!(
            !callers[..position].iter().any(|other| other.name == *name),
            "{file} has two callers of the name \"{name}\""
        );
        ensure!(
            caller.claims.get("sub").is_some_and(Value::is_string),
            "{file}: the claims of \"{name}\" have no \"sub\" that is a text"
        );
    }
    Ok(callers)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn callers_have_a_name_and_claims() {
        let directory = tempfile::tempdir().unwrap();
        assert!(read(directory.path()).unwrap().is_empty());
        assert!(read(&directory.path().join("none")).unwrap().is_empty());
        let write = |text: &str| fs::write(directory.path().join(FILE), text).unwrap();
        write(r#"[{ "name": "Ann", "claims": { "sub": "u1", "roles": ["admin"] } }]"#);
        let callers = read(directory.path()).unwrap();
        assert_eq!((callers[0].name.as_str(), callers[0].caller().sub()), ("Ann", Some("u1")));
        let sub = r#"{ "name": "Ann", "claims": { "sub": "u1" } }"#;
        let twice = format!("[{sub}, {sub}]");
        let number = r#"[{ "name": "Ann", "claims": { "sub": 1 } }]"#;
        for wrong in
            ["", "{}", r#"[{ "name": "Ann" }]"#, r#"[{ "name": "Ann", "claims": {}, "secret": "x" }]"#, number, &twice]
        {
            write(wrong);
            assert!(format!("{:#}", read(directory.path()).unwrap_err()).contains("callers.json"), "{wrong}");
        }
    }
}
