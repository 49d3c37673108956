//! The examples of `docs/diagnostics/*.md` say what they claim to say: every diagnostic of an example stands in it as a comment
//! `# severity: [code]` at the end of its line, and every page shows its own code.

use tilelens_analysis::AnalysisHost;
use tilelens_analysis::diagnostics::Code;
use tilelens_analysis::project::Config;
use tilelens_syntax::Document;

/// Codes that no kernel text can show, and one that follows from others.
const WITHOUT_EXAMPLE: [Code; 3] = [Code::Internal, Code::FileTooLarge, Code::NoAddress];

/// The Python examples of a page.
fn examples(page: &str) -> Vec<String> {
    fenced(page, "```python\n")
}

/// What stands in fences that open with `opening`.
fn fenced(page: &str, opening: &str) -> Vec<String> {
    let parts = page.split(opening).skip(1);
    parts.filter_map(|part| part.split("```").next()).map(str::to_owned).collect()
}

/// `(line, "error: [code]")` of every annotation, in order.
fn annotations(example: &str) -> Vec<(usize, String)> {
    let lines = example.lines().enumerate();
    let comments = lines.filter_map(|(i, line)| Some((i + 1, line.rsplit_once("# ")?.1)));
    let is_annotation = |comment: &str| comment.contains(": [") && comment.ends_with(']');
    comments.filter(|(_, comment)| is_annotation(comment)).map(|(line, comment)| (line, comment.to_owned())).collect()
}

/// The same for what tilelens finds. The code of the page is on, even if by default it is off, and its dumps are beside the example.
fn findings(example: &str, code: Code) -> Vec<(usize, String)> {
    let mut host = AnalysisHost::new();
    if !code.is_on_by_default() {
        host.set_config(Config { severity: [(code, Some(code.severity()))].into(), ..Config::default() });
    }
    let file = host.file_id("example.py");
    let document = Document::new(example);
    host.set_document(file, document.clone());
    for dump in fenced(code.page(), "```python dump\n") {
        let path = host.file_id("passes_dump/32_after_AllocateMemoryAddr.py");
        host.set_document(path, Document::new(&dump));
        host.set_dumps(file, &[path]);
    }
    let diagnostics = host.snapshot().diagnostics(file).expect("nothing is edited");
    let line = |offset| document.rope().byte_to_line(offset) + 1;
    let mut found: Vec<_> = diagnostics
        .iter()
        .map(|diagnostic| {
            (line(diagnostic.range.start), format!("{}: [{}]", diagnostic.severity.name(), diagnostic.code))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn every_example_is_annotated_with_what_tilelens_says() {
    for code in Code::ALL {
        for example in examples(code.page()) {
            assert_eq!(findings(&example, *code), annotations(&example), "an example of {code}.md:\n{example}");
        }
    }
}

#[test]
fn every_page_shows_its_code() {
    for code in Code::ALL.iter().filter(|code| !WITHOUT_EXAMPLE.contains(code)) {
        let shown = examples(code.page())
            .iter()
            .any(|example| annotations(example).iter().any(|(_, comment)| comment.ends_with(&format!("[{code}]"))));
        assert!(shown, "{code}.md has no example of `{code}`");
        assert!(code.page().starts_with(&format!("# {code}\n")), "{code}.md does not start with its name");
    }
}
