//! Settings in keyfold.toml, below options and variables, and `keyfold config`, which shows where each comes from.

use super::option_name;
use crate::process::{Ended, Process, keyfold, repository, run};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A directory with this keyfold.toml.
fn with_file(text: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("keyfold.toml"), text).unwrap();
    directory
}

/// A command without the variable that lets the tests sign in.
fn plain(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = keyfold(directory, arguments);
    command.env_remove("KEYFOLD_API_KEYS_FILE");
    command
}

/// What a wrong keyfold.toml makes `keyfold serve` say.
fn mistake(text: &str) -> String {
    Ended::from(plain(with_file(text).path(), &["serve"]).output().unwrap()).badly(2)
}

/// The value and the source of each setting, by its name.
fn shown(command: &mut Command) -> impl Fn(&str) -> (Value, String) + use<> {
    let text = Ended::from(command.output().unwrap()).well();
    let all: Vec<Value> = serde_json::from_str(&text).unwrap();
    move |name| {
        let found = all.iter().find(|setting| setting["name"] == name).unwrap_or_else(|| panic!("{name}: {text}"));
        (found["value"].clone(), found["source"].as_str().unwrap().to_owned())
    }
}

#[test]
fn an_option_comes_before_a_variable_and_the_file_before_the_default() {
    let text = "max-depth = 11\nmax-fields = 12\nmax-aliases = 13\nallow-origin = [\"https://a.example\", \"https://b.example\"]\n\n[dev]\nmax-aliases = 14\nmax-nodes = 15\n";
    let directory = with_file(text);
    let arguments =
        ["config", "--format", "json", "serve", "--", "--max-depth", "21", "--allow-host", "a", "--allow-host", "b"];
    let of = shown(plain(directory.path(), &arguments).env("KEYFOLD_MAX_DEPTH", "31").env("KEYFOLD_MAX_FIELDS", "32"));
    for (name, value, source) in [
        ("max-depth", "21", "--max-depth"),
        ("max-fields", "32", "KEYFOLD_MAX_FIELDS"),
        ("max-aliases", "13", "keyfold.toml, line 3"),
        ("max-nodes", "100000", "default"),
        ("reload", "true", "default"),
    ] {
        assert_eq!(of(name), (value.into(), source.into()), "{name}");
    }
    assert_eq!(
        of("allow-origin"),
        (["https://a.example", "https://b.example"].into_iter().collect(), "keyfold.toml, line 4".into())
    );
    assert_eq!(of("allow-host"), (["a", "b"].into_iter().collect(), "--allow-host".into()));
    assert_eq!(of("listen"), (Value::Null, "default".into()));

    // The table of a command comes before what is for every command.
    let of = shown(&mut plain(directory.path(), &["config", "dev", "--format", "json"]));
    assert_eq!(of("max-aliases"), ("14".into(), "keyfold.toml, line 7".into()));
    assert_eq!(of("max-nodes"), ("15".into(), "keyfold.toml, line 8".into()));
    assert_eq!(of("max-depth"), ("11".into(), "keyfold.toml, line 1".into()));
}

#[test]
fn variables_that_commands_read_themselves_are_settings_too() {
    let directory = with_file("endpoint-url = \"http://localhost:1\"\nregion = \"eu-west-1\"\ndata = \"items\"\n");
    let of = shown(plain(directory.path(), &["config", "--format", "json"]).env("KEYFOLD_REGION", "eu-west-2"));
    assert_eq!(of("endpoint-url"), ("http://localhost:1".into(), "keyfold.toml, line 1".into()));
    assert_eq!(of("region"), ("eu-west-2".into(), "KEYFOLD_REGION".into()));
    let of = shown(&mut plain(directory.path(), &["config", "dev", "--format", "json"]));
    assert_eq!(of("data"), ("items".into(), "keyfold.toml, line 3".into()));

    // They are used: no server is at this address. Options that exclude them still do.
    fs::copy(repository("schema.graphql"), directory.path().join("schema.graphql")).unwrap();
    let said = run(directory.path(), &["serve"]).badly(1);
    assert!(said.contains("cannot reach DynamoDB"), "{said}");
    run(directory.path(), &["tables"]).well();
    let mut dev =
        Process::start(keyfold(directory.path(), &["dev", "--listen", "127.0.0.1:0", "--no-sample", "--memory"]));
    dev.wait_for("in memory, until this process ends");
    assert!(!directory.path().join("items").exists());
    let mut dev = Process::start(keyfold(directory.path(), &["dev", "--listen", "127.0.0.1:0", "--no-sample"]));
    dev.wait_for("Store");
    assert!(directory.path().join("items").is_dir());
}

#[test]
fn the_settings_of_the_file_are_those_of_the_server() {
    let directory = with_file(
        "listen = \"127.0.0.1:0\"\nschema = \"api.graphql\"\nlog-format = \"json\"\n\n[dev]\nexplain = false\n",
    );
    fs::copy(repository("schema.graphql"), directory.path().join("api.graphql")).unwrap();
    let mut dev = Process::start(keyfold(directory.path(), &["dev", "--no-sample"]));
    let line = dev.wait_for("Schema");
    assert!(line.contains("api.graphql"), "{line}");
    fs::write(directory.path().join("api.graphql"), "type Query {").unwrap();
    let line: Value = serde_json::from_str(&dev.wait_for("the schema was not reloaded")).unwrap();
    assert_eq!(line["level"], "WARN");
    // The file is for the commands that have the setting.
    let said = run(directory.path(), &["check"]).badly(1);
    assert!(said.contains("api.graphql"), "{said}");
}

#[test]
fn another_file_is_named_and_must_be_there() {
    let directory = with_file("max-depth = 1\n");
    fs::write(directory.path().join("other.toml"), "\nmax-depth = 2\n").unwrap();
    let config = ["config", "--format", "json"];
    let of = |more: &[&str], variable: Option<&str>| {
        let mut command = plain(directory.path(), &[more, &config[..]].concat());
        command.envs(variable.map(|file| ("KEYFOLD_CONFIG", file)));
        shown(&mut command)("max-depth")
    };
    assert_eq!(of(&[], None), ("1".into(), "keyfold.toml, line 1".into()));
    assert_eq!(of(&["--config", "other.toml"], None), ("2".into(), "other.toml, line 2".into()));
    assert_eq!(of(&[], Some("other.toml")), ("2".into(), "other.toml, line 2".into()));
    assert_eq!(of(&["--config", "keyfold.toml"], Some("none.toml")), ("1".into(), "keyfold.toml, line 1".into()));
    assert_eq!(of(&["--config=/dev/null"], None), ("20".into(), "default".into()));
    let said = run(directory.path(), &["check", "--config", "none.toml"]).badly(2);
    assert!(said.contains("cannot read none.toml"), "{said}");
}

#[test]
fn a_mistake_names_the_file_the_line_and_the_key() {
    for (text, says) in [
        ("\nmax_depth = 3", "keyfold.toml, line 2: `max_depth` is no setting; did you mean `max-depth`?"),
        ("max-dept = 3", "keyfold.toml, line 1: `max-dept` is no setting; did you mean `max-depth`?"),
        ("memory = true", "keyfold.toml, line 1: `memory` is no setting; there are "),
        ("[serve]\ndata = \"a\"", "keyfold.toml, line 2: `data` is no setting of `keyfold serve`"),
        ("[server]\na = 1", "keyfold.toml, line 1: `[server]` is no command; did you mean `[serve]`?"),
        ("max-depth = \"deep\"", "keyfold.toml, line 1: `max-depth`: "),
        (
            "# a\n\nrequest-timeout = \"never\"",
            "keyfold.toml, line 3: `request-timeout`: write a number and a unit: 500ms, 30s, 2m",
        ),
        ("log-format = \"xml\"", "keyfold.toml, line 1: `log-format`: write text or json"),
        ("max-depth = [1, 2]", "keyfold.toml, line 1: `max-depth` has one value, not a list"),
        ("only-documents = \"yes\"", "keyfold.toml, line 1: `only-documents` is true or false"),
        (
            "listen = 2026-01-01",
            "keyfold.toml, line 1: `listen` is a text, a number, true or false, or a list of these",
        ),
        ("only-documents = true", "keyfold.toml: what it sets needs `documents`, too"),
        ("max-depth = 1\nmax-depth = 2", "keyfold.toml, line 2: duplicate key"),
        ("max-depth =", "keyfold.toml, line 1: "),
        (
            "issuer = \"https://a.example\"\naudience = \"b\"\njwks = \"keys\"\njwt-secret-file = \"secret\"",
            "keyfold.toml, line 3: `jwks`: excludes `jwt-secret-file`",
        ),
    ] {
        let said = mistake(text);
        assert!(said.contains(says), "{text}: {said}");
    }
    let both = mistake("max_depth = 3\n[dev]\nmemori = true");
    assert!(both.contains("line 1") && both.contains("line 3"), "all mistakes are reported at once: {both}");
    // A file with mistakes keeps nobody from the help.
    run(with_file("a").path(), &["serve", "--help"]).well();
}

#[test]
fn a_secret_is_never_shown() {
    let directory = with_file("cursor-key = \"a secret of the file\"\nbus = \"nats://user:word@host:4222\"\n");
    for format in ["text", "json"] {
        let arguments = ["config", "--format", format];
        for command in [
            &mut plain(directory.path(), &arguments),
            plain(directory.path(), &arguments).env("KEYFOLD_CURSOR_KEY", "a secret of the environment"),
        ] {
            let shown = Ended::from(command.output().unwrap()).well();
            assert!(!shown.contains("a secret") && !shown.contains("word@"), "{shown}");
            assert_eq!(shown.matches("(set)").count(), 2, "{shown}");
        }
    }
    assert!(!mistake("cursor-key = \"too short\"").contains("too short\""));
}

#[test]
fn what_a_higher_level_excludes_does_not_count() {
    let directory = with_file("issuer = \"https://a.example\"\naudience = [\"b\", \"c\"]\njwks = \"keys\"\n");
    let of =
        shown(plain(directory.path(), &["config", "--format", "json"]).env("KEYFOLD_ISSUERS_FILE", "issuers.json"));
    assert_eq!(of("issuers-file"), ("issuers.json".into(), "KEYFOLD_ISSUERS_FILE".into()));
    for name in ["issuer", "audience", "jwks"] {
        assert_eq!(of(name), (Value::Null, "default".into()), "{name}");
    }
    // An option may need what the file has.
    let of = shown(&mut plain(directory.path(), &["config", "--format", "json", "serve", "--", "--jwks", "others"]));
    assert_eq!((of("jwks"), of("issuer").1), (("others".into(), "--jwks".into()), "keyfold.toml, line 1".into()));
    // Wrong options are reported as without a file, in the words of the options.
    let said = run(directory.path(), &["serve", "--max-depth", "x"]).badly(2);
    assert!(said.contains("--max-depth") && !said.contains("keyfold.toml"), "{said}");
}

#[test]
fn every_setting_of_a_server_is_shown_as_text() {
    let directory = with_file("hedge = 2.5\n");
    let text = Ended::from(plain(directory.path(), &["config"]).output().unwrap()).well();
    let help = run(directory.path(), &["serve", "--help"]).well();
    let options = help.lines().filter_map(|line| line.strip_prefix("      --")).map(option_name);
    let expected: Vec<String> = options.filter(|name| name != "config").collect();
    let names: Vec<&str> = text.lines().map(|line| line.split(' ').next().unwrap()).collect();
    let (mut names, mut expected): (Vec<String>, _) = (names.into_iter().map(str::to_owned).collect(), expected);
    names.sort();
    expected.sort();
    assert_eq!(names, expected);
    let line = |name: &str| {
        text.lines()
            .find(|line| line.starts_with(&format!("{name} ")))
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(line("hedge"), "hedge 2.5 keyfold.toml, line 1");
    assert_eq!(line("max-calls"), "max-calls (no limit) default");
    assert_eq!(line("documents"), "documents (none) default");
}
