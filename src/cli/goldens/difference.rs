//! Two goldens in; the sections in which they differ, with their lines, out.

use super::golden_file::{GoldenFile, Section};
use similar::{ChangeTag, TextDiff};
use std::fmt::Write;
use std::time::Duration;

/// Equal lines before and after a difference.
const CONTEXT: usize = 3;
/// The most lines that are shown of a section.
const MAX_LINES: usize = 100;
/// After this time, the difference is no longer the smallest one.
const LIMIT: Duration = Duration::from_millis(500);

/// The sections of results in which two goldens differ.
pub fn differing_sections(was: &GoldenFile, is: &GoldenFile) -> Vec<Section> {
    Section::RESULTS.into_iter().filter(|section| was.get(*section) != is.get(*section)).collect()
}

/// What differs, section by section, each under its line in the file.
pub fn differences(was: &GoldenFile, is: &GoldenFile) -> String {
    let shown = |section: Section| {
        let [was, is] = [was, is].map(|golden| golden.get(section).unwrap_or_default());
        format!("==== {}\n{}", section.name(), changed_lines(was, is))
    };
    differing_sections(was, is).into_iter().map(shown).collect()
}

/// The lines of the first text that the second lacks, with `-`, and those in their place, with `+`; equal lines around
/// them, with a space.
pub fn changed_lines(was: &str, is: &str) -> String {
    let diff = TextDiff::configure().timeout(LIMIT).diff_lines(was, is);
    let (mut text, mut lines) = (String::new(), 0);
    for group in diff.grouped_ops(CONTEXT) {
        let first = group.first().map_or(0, |op| op.old_range().start);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "@@ line {} @@", first + 1);
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            lines += 1;
            if lines <= MAX_LINES {
                let _ = writeln!(text, "{sign}{}", change.value().trim_end_matches('\n'));
            }
        }
    }
    if lines > MAX_LINES {
        let _ = writeln!(text, "… {} lines more", lines - MAX_LINES);
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn lines_around_a_difference_are_shown() {
        let (was, is) = ("a\nb\nc\nd\ne\nf\ng\nh\ni\n", "a\nb\nc\nd\nx\ny\nf\ng\nh\ni\n");
        assert_eq!(changed_lines(was, is), "@@ line 2 @@\n b\n c\n d\n-e\n+x\n+y\n f\n g\n h\n");
        assert_eq!(changed_lines("a\n", "a\na\n"), "@@ line 1 @@\n a\n+a\n");
        assert_eq!(changed_lines("a\n", "a\n"), "");
    }

    #[test]
    fn a_long_difference_is_cut() {
        let is: String = (0..1_000).map(|number| format!("{number}\n")).collect();
        let shown = changed_lines("", &is);
        assert_eq!((shown.lines().count(), shown.lines().last()), (102, Some("… 900 lines more")));
    }

    #[test]
    fn only_sections_that_differ_are_shown() {
        let was = GoldenFile::parse("==== plan\np\n==== calls\n[]\n==== response\nr\n").unwrap();
        let is = GoldenFile::parse("==== plan\np\n==== calls\n[]\n==== response\ns\n").unwrap();
        assert_eq!(differing_sections(&was, &is), [Section::Response]);
        assert_eq!(differences(&was, &is), "==== response\n@@ line 1 @@\n-r\n+s\n");
    }
}
