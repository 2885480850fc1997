//! What comes of a case in, words for a person out.

use crate::cli::goldens::difference::{differences, differing_sections};
use crate::cli::goldens::golden_file::{GoldenFile, Section};

/// What a case shows.
#[derive(Debug, PartialEq, Eq)]
pub enum CaseVerdict {
    /// All is as its file says.
    Same,
    /// Its file was written.
    Blessed,
    /// Its file does not say yet what must come of it.
    Open,
    /// Something else came of it: which sections differ, and their lines.
    Different {
        /// The names of the sections, in words.
        sections: String,
        /// The lines.
        lines: String,
    },
    /// It could not be run.
    Broken(String),
}

impl CaseVerdict {
    /// That of a file, and of the same file with what came of it, which differ.
    pub fn difference(was: &GoldenFile, is: &GoldenFile) -> Self {
        if Section::RESULTS.iter().any(|section| was.get(*section).is_none()) {
            return Self::Open;
        }
        let names: Vec<&str> = differing_sections(was, is).into_iter().map(Section::name).collect();
        let sections = match names.as_slice() {
            [names @ .., last] if !names.is_empty() => format!("{} and {last}", names.join(", ")),
            _ => names.concat(),
        };
        Self::Different { sections, lines: differences(was, is) }
    }

    /// What is said of the case of a file; nothing if all is as it says.
    pub fn said(&self, file: &str) -> Option<String> {
        match self {
            Self::Same => None,
            Self::Blessed => Some(format!("{file}: written\n")),
            Self::Open => Some(format!("{file}: it does not say yet what comes of it; --bless writes it\n")),
            Self::Different { sections, lines } => Some(format!("{file}: {sections} changed\n{lines}\n")),
            Self::Broken(why) => Some(format!("{file}: {why}\n")),
        }
    }
}

/// How many cases have each verdict.
#[derive(Debug, Default)]
pub struct Tally {
    same: u64,
    blessed: u64,
    open: u64,
    different: u64,
    broken: u64,
}

impl Tally {
    /// Counts a case.
    pub fn count(&mut self, verdict: &CaseVerdict) {
        *match verdict {
            CaseVerdict::Same => &mut self.same,
            CaseVerdict::Blessed => &mut self.blessed,
            CaseVerdict::Open => &mut self.open,
            CaseVerdict::Different { .. } => &mut self.different,
            CaseVerdict::Broken(_) => &mut self.broken,
        } += 1;
    }

    /// Whether nothing differs, and everything could be run.
    pub fn is_good(&self) -> bool {
        self.open + self.different + self.broken == 0
    }

    /// The numbers in words, without those that are zero.
    pub fn in_words(&self) -> String {
        let Self { same, blessed, open, different, broken } = *self;
        let all = [
            (same, "as their files say"),
            (blessed, "written"),
            (open, "without results yet"),
            (different, "changed"),
            (broken, "that cannot be run"),
        ];
        let said = all.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}"));
        said.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_named() {
        let file = |text: &str| GoldenFile::parse(text).unwrap();
        let was = file("==== plan\np\n==== calls\n[]\n==== response\nr\n");
        let is = file("==== plan\nq\n==== calls\n[1]\n==== response\ns\n");
        let said = CaseVerdict::difference(&was, &is).said("a.golden").unwrap();
        assert!(said.starts_with("a.golden: plan, calls and response changed\n==== plan\n@@ line 1 @@\n-p\n+q\n"));
        let said =
            CaseVerdict::difference(&was, &file("==== plan\np\n==== calls\n[]\n==== response\ns\n")).said("a").unwrap();
        assert_eq!(said, "a: response changed\n==== response\n@@ line 1 @@\n-r\n+s\n\n");
        assert_eq!(CaseVerdict::difference(&file("==== operation\n{ a }\n"), &is), CaseVerdict::Open);
    }

    #[test]
    fn only_sameness_and_blessing_are_good() {
        let tally = |verdicts: &[CaseVerdict]| {
            let mut tally = Tally::default();
            verdicts.iter().for_each(|verdict| tally.count(verdict));
            tally
        };
        let good = tally(&[CaseVerdict::Same, CaseVerdict::Same, CaseVerdict::Blessed]);
        assert_eq!((good.is_good(), good.in_words().as_str()), (true, "2 as their files say, 1 written"));
        let different = CaseVerdict::Different { sections: "plan".into(), lines: String::new() };
        for bad in [CaseVerdict::Open, different, CaseVerdict::Broken("no".into())] {
            assert!(!tally(&[CaseVerdict::Same, bad]).is_good());
        }
    }
}
