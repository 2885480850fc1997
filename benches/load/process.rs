//! A server as a process of its own: a command in; its address, the CPU time that it used, and its memory out. It ends
//! when it is dropped.

use std::io::{BufRead, BufReader, PipeReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running server.
pub struct Process {
    child: Child,
    /// What it says; it would fail if nobody listened.
    _said: BufReader<PipeReader>,
    /// Where it listens.
    pub address: String,
}

impl Process {
    /// Starts a server that says its address.
    pub fn start(command: &mut Command) -> Self {
        let (said, speaks) = std::io::pipe().unwrap();
        command
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .stdin(Stdio::null())
            .stdout(speaks.try_clone().unwrap())
            .stderr(speaks);
        let child = command.spawn().unwrap();
        // The pipe ends with the server.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut said = BufReader::new(said);
        let address = loop {
            let mut line = String::new();
            assert!(said.read_line(&mut line).unwrap() > 0, "the server ended before it said its address");
            if let Some((_, port)) = line.split_once("127.0.0.1:") {
                break format!("127.0.0.1:{}", port.chars().take_while(char::is_ascii_digit).collect::<String>());
            }
        };
        Self { child, _said: said, address }
    }

    /// Asks it to end, and waits until it has ended.
    pub fn stop(mut self) {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(asked.success());
        self.child.wait().unwrap();
    }

    /// The CPU time that it has used (Linux, `/proc/<pid>/task/*/schedstat`: nanoseconds of each thread).
    pub fn cpu(&self) -> Duration {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let told = threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok());
        told.map(|told| Duration::from_nanos(told.split(' ').next().unwrap().parse().unwrap())).sum()
    }

    /// Its resident memory in megabytes.
    pub fn resident(&self) -> f64 {
        self.status("VmRSS:")
    }

    /// The most resident memory that it has had, in megabytes.
    pub fn peak(&self) -> f64 {
        self.status("VmHWM:")
    }

    fn status(&self, name: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
    }
}

/// A command under callgrind, which writes its profile when the command ends.
pub fn under_callgrind(command: &Command, profile: &Path) -> Command {
    let mut counted = Command::new("valgrind");
    counted.args(["--tool=callgrind", "--quiet"]).arg(format!("--callgrind-out-file={}", profile.display()));
    counted.arg(command.get_program()).args(command.get_args());
    counted
}

/// All instructions of a profile.
pub fn instructions(profile: &Path) -> u64 {
    let profile = std::fs::read_to_string(profile).unwrap();
    let total =
        profile.lines().find_map(|line| line.strip_prefix("totals: ").or(line.strip_prefix("summary: "))).unwrap();
    total.trim().parse().unwrap()
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
