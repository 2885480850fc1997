//! The files of GraphiQL that `npm ci --prefix console` has put into `console/embedded` in; a list of them, for the
//! binary, out. They are there in gzip. Without them the list is empty, and the page loads them from a CDN.
//!
//! And the goldens with their schemas and items in; the bundle that `keyfold selftest` runs, in gzip, out. And the pages
//! of docs/ in; what `/docs` of `keyfold dev` shows, in gzip, out.

#[path = "src/cli/goldens/golden_file.rs"]
#[allow(dead_code)]
mod golden_file;

use flate2::Compression;
use flate2::write::GzEncoder;
use golden_file::{GoldenFile, Section};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const FILES: [&str; 4] =
    ["graphiql.min.css", "graphiql.min.js", "react-dom.production.min.js", "react.production.min.js"];

/// What the bundle has: files, and folders with all that is below them.
const BUNDLED: [&str; 6] =
    ["schema.graphql", "samples", "examples", "tests/golden", "tests/systems", "tests/schemas/copies/cells.graphql"];
/// The endings of files that a system is made of.
const ENDINGS: [&str; 4] = ["graphql", "jsonl", "json", "golden"];

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=console/embedded");
    let variable = |name: &str| env::var(name).map_err(io::Error::other);
    if variable("CARGO_CFG_TARGET_OS")? == "linux" && variable("CARGO_CFG_TARGET_ENV")? == "gnu" {
        // A simulated world plays this function, which crates look for by its name.
        println!("cargo:rustc-link-arg-tests=-Wl,--export-dynamic-symbol=getrandom");
    }
    let (root, out) = (PathBuf::from(variable("CARGO_MANIFEST_DIR")?), PathBuf::from(variable("OUT_DIR")?));
    fs::write(out.join("embedded.rs"), console(&root.join("console/embedded"))?)?;
    fs::write(out.join("docs.gz"), documents(&root)?)?;
    fs::write(out.join("selftest.gz"), bundle(&root)?)
}

/// The list of the files for browsers.
fn console(directory: &Path) -> io::Result<String> {
    let file = |name: &str| directory.join(format!("{name}.gz"));
    let mut list = String::from("&[\n");
    if FILES.iter().all(|name| file(name).is_file()) {
        for name in FILES {
            writeln!(list, "    ({name:?}, include_bytes!({:?})),", file(name)).map_err(io::Error::other)?;
        }
    }
    list.push(']');
    Ok(list)
}

/// The bundle: of each file a line with its path and its length in bytes, and its text. Plans are left out, because a
/// plan does not depend on where the tables are.
fn bundle(root: &Path) -> io::Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    for place in BUNDLED {
        println!("cargo:rerun-if-changed={place}");
        for path in files(root, place, &ENDINGS)? {
            let mut text = fs::read_to_string(root.join(&path))?;
            if path.ends_with(".golden") {
                let golden = GoldenFile::parse(&text);
                let golden = golden.map_err(|mistake| io::Error::other(format!("{path}:{mistake}")))?;
                text = golden.without(Section::Plan).to_text();
            }
            write!(packed, "{path}\t{}\n{text}", text.len())?;
        }
    }
    packed.finish()
}

/// The documentation in the form of a bundle.
fn documents(root: &Path) -> io::Result<Vec<u8>> {
    println!("cargo:rerun-if-changed=docs");
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    for path in files(root, "docs", &["md"])? {
        let text = fs::read_to_string(root.join(&path))?;
        write!(packed, "{path}\t{}\n{text}", text.len())?;
    }
    packed.finish()
}

/// The files with these endings at a place and below it, sorted, by their paths from the root with `/`.
fn files(root: &Path, place: &str, endings: &[&str]) -> io::Result<Vec<String>> {
    let full = root.join(place);
    if full.is_file() {
        let ending = full.extension().unwrap_or_default();
        return Ok(if endings.iter().any(|one| ending == *one) { vec![place.to_owned()] } else { Vec::new() });
    }
    let mut names = fs::read_dir(&full)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort();
    let mut found = Vec::new();
    for name in names {
        found.extend(files(root, &format!("{place}/{}", name.to_string_lossy()), endings)?);
    }
    Ok(found)
}
