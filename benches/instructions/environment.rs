//! What decides, besides the program, how many instructions are counted: the compiler, callgrind, the C library, and
//! the processor. Text out.

use std::process::Command;

/// What there is here, on one line.
pub fn found() -> String {
    let rustc = first_line("rustc");
    // The C library and ring have a faster way where the processor has these instructions.
    #[cfg(target_arch = "x86_64")]
    let processor = if is_x86_feature_detected!("avx2") { "x86_64 with AVX2" } else { "x86_64" };
    #[cfg(not(target_arch = "x86_64"))]
    let processor = std::env::consts::ARCH;
    format!("{rustc}; {}; {}; {processor}", first_line("valgrind"), first_line("ldd"))
}

fn first_line(program: &str) -> String {
    let said = Command::new(program).arg("--version").output().map(|said| said.stdout).unwrap_or_default();
    String::from_utf8_lossy(&said).lines().next().unwrap_or("none").to_owned()
}
