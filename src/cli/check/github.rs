//! Findings in, workflow commands of GitHub Actions out, which show them at their lines
//! (<https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>).

use super::listing::{PlacedFinding, placed};
use crate::schema::diagnostics::diagnostic::Diagnostics;

/// A command for each finding.
pub fn commands(found: &[Diagnostics]) -> String {
    placed(found).map(|finding| command(&finding)).collect()
}

fn command(finding: &PlacedFinding<'_>) -> String {
    let [(line, column), _] = finding.range();
    let file = property(&finding.source.file);
    let help = finding.diagnostic.help.as_ref().map_or_else(String::new, |help| format!("\nhelp: {help}"));
    let message = data(&format!("{}{help}", finding.diagnostic.message));
    let title = property(finding.diagnostic.code);
    format!("::{} file={file},line={line},col={column},title={title}::{message}\n", finding.severity())
}

/// A message, as commands have it.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A value of a property, as commands have it.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::diagnostics::diagnostic::{Diagnostic, Severity};

    #[test]
    fn what_a_command_would_end_at_is_escaped() {
        let finding = Diagnostic {
            code: "KF0433",
            severity: Severity::Warning,
            message: "100% of `a: b, c`".into(),
            span: 2..3,
            help: Some("write\r\nthis".into()),
            fix: Vec::new(),
        };
        let found = [Diagnostics { file: "C:\\a,b%.graphql".into(), text: "a\nb".into(), list: vec![finding] }];
        assert_eq!(
            commands(&found),
            "::warning file=C%3A\\a%2Cb%25.graphql,line=2,col=1,title=KF0433::100%25 of `a: b, c`%0Ahelp: write%0D%0Athis\n"
        );
    }
}
