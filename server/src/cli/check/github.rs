//! Workflow commands of GitHub Actions: a line each, which annotates the lines of a pull request.

use std::fmt::Write as _;

use tilefit_python::diagnostics::Severity;

use super::Run;
use super::finding::Finding;

pub(super) fn report(run: &Run) -> String {
    run.findings().map(command).collect()
}

fn command(finding: &Finding) -> String {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "notice",
    };
    let place = &finding.place;
    let mut line = format!("::{level} file={}", property(&place.path));
    if let Some([start, end]) = place.lines {
        let _ = write!(line, ",line={start}");
        // Columns of a notebook would count in its JSON, and are only understood on one line.
        let _ = match place.cell {
            Some(_) if start == end => Ok(()),
            None if start == end => write!(line, ",col={},endColumn={}", place.start.col, place.end.col),
            None => write!(line, ",col={},endLine={end}", place.start.col),
            Some(_) => write!(line, ",endLine={end}"),
        };
    }
    let (title, message) = (property(finding.code.name()), data(&finding.named_message()));
    let _ = writeln!(line, ",title={title}::{message}");
    line
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_in_a_command_is_escaped() {
        assert_eq!(data("50 %\nof: it"), "50 %25%0Aof: it");
        assert_eq!(property("a,b:c"), "a%2Cb%3Ac");
    }
}
