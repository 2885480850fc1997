//! A text of a client in; out: the text as the log shows it. Must not know log lines.

/// Longest text of a client in a log line, in bytes.
const MAX_LENGTH: usize = 256;

/// The text, cut at `MAX_LENGTH` bytes, without the control characters that could forge a log line.
pub fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_LENGTH);
    text[..end].chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_text_is_short_and_on_one_line() {
        assert_eq!(shortened("a\nb\u{1b}[0m"), "a\u{fffd}b\u{fffd}[0m");
        assert_eq!(shortened(&"é".repeat(300)).len(), MAX_LENGTH);
    }
}
