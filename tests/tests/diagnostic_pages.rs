//! The examples of `docs/diagnostics/*.md` say what they claim to say: every diagnostic of an example stands in it as a comment
//! `# severity: [code]` at the end of its line, and every page shows its own code.

use std::collections::BTreeMap;

use expect_test::expect;
use tilefit_analysis::Fixture;
use tilefit_analysis::confirm::{Answer, Answered};
use tilefit_analysis::ide::{Diagnostic, Effect};
use tilefit_analysis::project::Config;
use tilefit_python::diagnostics::{Code, Severity};

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

/// An example in an editor. The code of its page is on, even if by default it is off, and its dumps
/// and what a compiler answered are there.
fn open(example: &str, code: Code) -> Fixture {
    let severity = (!code.is_on_by_default()).then(|| (code, Some(code.severity()))).into_iter().collect();
    let mut fixture = Fixture::new(example).with(Config { severity, ..Config::default() });
    for dump in fenced(code.page(), "```python dump\n") {
        let file = fixture.host.file_id("/w/passes_dump/32_after_AllocateMemoryAddr.py");
        fixture.host.set_text(file, &dump);
        fixture.host.set_dumps(fixture.file, &[file]);
    }
    for answer in fenced(code.page(), "```json answer\n") {
        let answer: Answer = serde_json::from_str(&answer).expect("an answer of a compiler");
        let asked = fixture.questions().into_iter().filter_map(|asked| asked.question.ok());
        let answers = asked.map(|question| Answered { question, answer: answer.clone() }).collect();
        fixture.host.set_answers(fixture.file, answers);
    }
    fixture
}

/// The same as [`annotations`] for what tilefit finds.
fn findings(example: &str, code: Code) -> Vec<(usize, String)> {
    let line = |offset: usize| example[..offset].matches('\n').count() + 1;
    let mut found: Vec<_> = open(example, code)
        .diagnostics()
        .iter()
        .map(|diagnostic| {
            (line(diagnostic.range.start), format!("{}: [{}]", diagnostic.severity.name(), diagnostic.code))
        })
        .collect();
    found.sort();
    found
}

/// What a test compares before and after a fix.
struct Said {
    of_code: usize,
    errors: usize,
    kernels: usize,
}

fn said(fixture: &Fixture, code: Code) -> Said {
    let diagnostics = fixture.diagnostics();
    let count = |is_meant: &dyn Fn(&Diagnostic) -> bool| diagnostics.iter().filter(|it| is_meant(it)).count();
    Said {
        of_code: count(&|it| it.code == code),
        errors: count(&|it| it.severity == Severity::Error || it.code == Code::Internal),
        kernels: fixture.document_symbols().len(),
    }
}

#[test]
fn every_example_is_annotated_with_what_tilefit_says() {
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

/// Every quick fix, applied to the example that offers it, takes its diagnostic away and leaves a file that is analysed as before.
#[test]
fn every_fix_of_an_example_fixes_it() {
    let mut fixes: BTreeMap<&str, usize> = BTreeMap::new();
    for code in Code::ALL {
        for example in examples(code.page()) {
            let fixture = open(&example, *code);
            let all = fixture.diagnostics();
            for action in fixture.code_actions(fixture.whole()) {
                let (title, Effect::Fix(fix)) = (action.title, action.effect) else { continue };
                assert!(all.contains(&fix.fixes), "{title} fixes what is not said:\n{:?}", fix.fixes);
                let before = said(&fixture, fix.fixes.code);
                let fixed = fixture.edited(&fix.edits);
                let after = said(&open(&fixed, *code), fix.fixes.code);
                assert!(after.of_code < before.of_code, "{title} leaves {}:\n{fixed}", fix.fixes.code);
                assert!(after.errors <= before.errors, "{title} makes another error:\n{fixed}");
                assert_eq!(after.kernels, before.kernels, "{title} loses a kernel:\n{fixed}");
                *fixes.entry(fix.fixes.code.name()).or_default() += 1;
            }
        }
    }
    let list: Vec<_> = fixes.iter().map(|(code, count)| format!("{code} {count}\n")).collect();
    expect![[r#"
        backing-shape 1
        capacity-exceeded 3
        events-exhausted 1
        legacy-reuse 4
        missing-leaf 1
        missing-sync 1
        not-divisible 1
        rejected 1
        spec-too-small 1
        storage-mismatch 1
        unknown-dtype 1
        unknown-name 6
        unpaired-flag 1
        wrong-pipe 1
    "#]]
    .assert_eq(&list.concat());
}
