//! The files of GraphiQL that `npm ci --prefix console` has put into `console/embedded` in; a list of them, for the
//! binary, out. They are there in gzip. Without them the list is empty, and the page loads them from a CDN.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs, io};

const FILES: [&str; 4] =
    ["graphiql.min.css", "graphiql.min.js", "react-dom.production.min.js", "react.production.min.js"];

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=console/embedded");
    let variable = |name: &str| env::var(name).map_err(io::Error::other);
    if variable("CARGO_CFG_TARGET_OS")? == "linux" && variable("CARGO_CFG_TARGET_ENV")? == "gnu" {
        // A simulated world plays this function, which crates look for by its name.
        println!("cargo:rustc-link-arg-tests=-Wl,--export-dynamic-symbol=getrandom");
    }
    let directory = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("console/embedded");
    let file = |name: &str| directory.join(format!("{name}.gz"));
    let mut list = String::from("&[\n");
    if FILES.iter().all(|name| file(name).is_file()) {
        for name in FILES {
            writeln!(list, "    ({name:?}, include_bytes!({:?})),", file(name)).map_err(io::Error::other)?;
        }
    }
    list.push(']');
    fs::write(Path::new(&variable("OUT_DIR")?).join("embedded.rs"), list)
}
