//! `keyfold` as a separate process: arguments in, its output and its end out. It is killed when the test drops it.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Longer than anything that a test waits for, on a machine that does other things too.
const BOUND: Duration = Duration::from_secs(60);

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A key that signs in as the first caller of the pantry's samples; `tests/support/keys.json` has its hash.
pub const KEY: &str = "a key of the tests, 32 bytes long.";

/// `keyfold` with these arguments, in a directory, without the settings of the user who runs the tests. It accepts
/// `KEY`.
pub fn keyfold(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyfold"));
    for (name, _) in std::env::vars_os() {
        let is_setting = |name: &str| {
            name.starts_with("KEYFOLD_") || name.starts_with("AWS_") || name.to_lowercase().ends_with("_proxy")
        };
        if name.to_str().is_some_and(is_setting) {
            command.env_remove(name);
        }
    }
    command
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .env("XDG_STATE_HOME", directory)
        .env("KEYFOLD_API_KEYS_FILE", repository("tests/support/keys.json"))
        .current_dir(directory)
        .args(arguments)
        .stdin(Stdio::null());
    command
}

/// Runs a command that ends by itself.
pub fn run(directory: &Path, arguments: &[&str]) -> Ended {
    Ended::from(keyfold(directory, arguments).output().unwrap())
}

/// A command that ended: its exit code and its output.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ended {
    /// Its output, if it succeeded.
    pub fn well(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.out
    }

    /// Its errors, if it ended with this code.
    pub fn badly(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{self:?}");
        self.err
    }
}

/// A command that runs until it is stopped.
pub struct Process {
    child: Child,
    lines: Receiver<String>,
    /// Its output so far, on both streams.
    pub said: Vec<String>,
}

impl Process {
    /// Starts it.
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        forward(child.stdout.take().unwrap(), sender.clone());
        forward(child.stderr.take().unwrap(), sender);
        Self { child, lines, said: Vec::new() }
    }

    /// Waits for a new line with this text.
    pub fn wait_for(&mut self, text: &str) -> String {
        let end = Instant::now() + BOUND;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.said.push(line.clone());
                    if line.contains(text) {
                        return line;
                    }
                }
                Err(trouble) => panic!("\"{text}\" was not said ({trouble}):\n{}", self.said.join("\n")),
            }
        }
    }

    /// Its output so far, on both streams.
    pub fn said_so_far(&mut self) -> &[String] {
        self.said.extend(self.lines.try_iter());
        &self.said
    }

    /// Kills it, as the system does.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to stop, as a supervisor does.
    pub fn terminate(&self) {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(asked.success());
    }

    /// Waits until it has ended.
    pub fn ended(&mut self) -> ExitStatus {
        self.ended_within(BOUND)
    }

    /// Waits until it has ended, for so long.
    pub fn ended_within(&mut self, bound: Duration) -> ExitStatus {
        let end = Instant::now() + bound;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => self.said.push(line),
                Err(RecvTimeoutError::Disconnected) => return self.child.wait().unwrap(),
                Err(RecvTimeoutError::Timeout) => panic!("it did not end:\n{}", self.said.join("\n")),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn forward(output: impl Read + Send + 'static, sender: Sender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
}
