//! What stays in the database after edits, and after files are gone.

use std::collections::BTreeMap;

use tilefit_pypto::target::Planner;
use tilefit_syntax::{Document, TextRange};

use super::{AnalysisHost, FileId};
use crate::project::Config;

/// A file under edit, with everything asked of it that an editor asks after each edit.
struct Session {
    host: AnalysisHost,
    file: FileId,
    document: Document,
}

impl Session {
    fn open(text: &str) -> Session {
        let mut host = AnalysisHost::new();
        let file = host.file_id("/w/kernels.py");
        let document = Document::new(text);
        host.set_document(file, document.clone());
        let session = Session { host, file, document };
        session.ask();
        session
    }

    fn replace(&mut self, from: &str, to: &str) {
        let at = self.document.text().find(from).unwrap_or_else(|| panic!("the text has `{from}`"));
        self.document.edit(at..at + from.len(), to);
        self.document.settle();
        self.host.set_document(self.file, self.document.clone());
        self.ask();
    }

    fn ask(&self) {
        let text = self.document.text();
        ask(&self.host, self.file, &text);
    }

    fn renew(&mut self) {
        self.host.renew();
        self.file = self.host.file_id("/w/kernels.py");
        self.ask();
    }

    fn census(&mut self) -> BTreeMap<&'static str, usize> {
        self.host.database().census()
    }
}

fn ask(host: &AnalysisHost, file: FileId, text: &str) {
    let analysis = host.snapshot();
    let no_edit = "no edit comes in between";
    analysis.diagnosis(file).expect(no_edit);
    analysis.unknown_imports(file).expect(no_edit);
    analysis.imported_paths(file).expect(no_edit);
    analysis.inlay_hints(file, TextRange::new(0, text.len())).expect(no_edit);
    analysis.document_symbols(file).expect(no_edit);
    for lens in analysis.code_lenses(file).expect(no_edit) {
        analysis.code_lens(file, lens).expect(no_edit);
    }
    if let Some(kernel) = text.find("def ") {
        analysis.generated_code(file, kernel).expect(no_edit);
    }
}

fn kernels(count: usize) -> String {
    let mut text =
        "import pypto.language as pl\nfrom config import ROWS\n\nN = 64\n\n@pl.program\nclass P:\n".to_owned();
    for i in 0..count {
        text += &format!(
            "    @pl.function(type=pl.FunctionType.InCore)\n    def k{i}_(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:\n        x{i}_ = pl.load(a, [0, 0], [N, 64])\n        out = pl.store(x{i}_, [0, 0], out)\n        return out\n\n"
        );
    }
    text
}

/// What there is more of than before, by more than a few.
fn grown(before: &BTreeMap<&'static str, usize>, after: &BTreeMap<&'static str, usize>) -> Vec<String> {
    const FEW: usize = 8;
    let was = |what: &str| before.get(what).copied().unwrap_or_default();
    let grown = after.iter().filter(|(what, count)| **count > was(what) + FEW);
    grown.map(|(what, count)| format!("{what}: {} and then {count}", was(what))).collect()
}

const NOTHING: [String; 0] = [];

#[test]
fn kernels_that_were_edited_or_renamed_leave_nothing() {
    let mut session = Session::open(&kernels(4));
    let before = session.census();
    let (mut kernel, mut tile, mut size) =
        ("def k1_(".to_owned(), "        x2_ = ".to_owned(), "[N, 64])\n".to_owned());
    for i in 0..60 {
        for (old, new) in [
            (&mut kernel, format!("def k{i}__(")),
            (&mut tile, format!("        x{i}__ = ")),
            (&mut size, format!("[{i}, 64])\n")),
        ] {
            session.replace(old, &new);
            *old = new;
        }
    }
    assert_eq!(grown(&before, &session.census()), NOTHING);
    assert!(session.host.database().kernels_with_plans() < 160, "of 180 versions of three kernels");
}

#[test]
fn a_new_database_knows_no_name_that_is_gone_and_plans_nothing_again() {
    let text = kernels(4);
    let mut session = Session::open(&text);
    let before = session.census();
    let mut size = "[N, 64])\n".to_owned();
    for i in 0..100 {
        let new = format!("[N{i}, 64])\n");
        session.replace(&size, &new);
        size = new;
    }
    session.replace(&size, "[N, 64])\n");
    assert!(session.census()["Name"] > before["Name"] + 8, "names that nobody writes any more stay for a while");
    let planned = session.host.database().planned();
    session.renew();
    assert_eq!(session.census(), before);
    assert_eq!(session.host.database().planned(), planned, "plans are no part of the database");
}

#[test]
fn many_edits_wear_a_database() {
    let mut host = AnalysisHost::new();
    let file = host.file_id("/w/constants.py");
    let document = Document::new("N = 64\n");
    for _ in 0..super::MOST_EDITS {
        assert!(!host.is_worn());
        host.set_document(file, document.clone());
    }
    assert!(host.is_worn());
    host.renew();
    assert!(!host.is_worn());
}

#[test]
fn files_that_are_gone_leave_little_and_a_new_database_nothing() {
    let mut host = AnalysisHost::new();
    let text = kernels(3);
    let open = |host: &mut AnalysisHost, path: &str| {
        let file = host.file_id(path);
        host.set_document(file, Document::new(&text));
        ask(host, file, &text);
        file
    };
    open(&mut host, "/w/stays.py");
    let before = host.database().census();
    let mut renewed = 0;
    for i in 0..100 {
        let file = open(&mut host, &format!("/w/k{i}.py"));
        host.remove_file(file);
        let there = host.database().census();
        for of_units in ["lowering", "plan_of", "plans", "generated", "triton_kernel", "unknown_names", "Lowered"] {
            assert_eq!(there.get(of_units), before.get(of_units), "{of_units} of a file that is gone");
        }
        assert!(there["SourceFile"] <= before["SourceFile"] + super::MOST_GONE);
        if host.is_worn() {
            renewed += 1;
            host.renew();
            let stays = host.file_id("/w/stays.py");
            ask(&host, stays, &text);
            assert_eq!(host.database().census(), before);
        }
    }
    assert_eq!((renewed, host.ids.len()), (100 / super::MOST_GONE, 1 + 100 % super::MOST_GONE));
    let last = host.file_id("/w/stays.py");
    host.remove_file(last);
    assert!(host.is_worn(), "nothing is there that would have to be computed again");
    host.renew();
    assert!(host.ids.is_empty() && !host.is_worn());
}

#[test]
fn plans_of_a_database_that_is_gone_are_kept_once() {
    let mut host = AnalysisHost::new();
    let text = kernels(30);
    let file = host.file_id("/w/kernels.py");
    host.set_document(file, Document::new(&text));
    ask(&host, file, &text);
    host.renew();
    host.renew();
    let planned = host.database().planned();
    let file = host.file_id("/w/kernels.py");
    ask(&host, file, &text);
    assert!(host.database().planned() > planned, "nobody asked for them in between");
}

#[test]
fn a_new_database_has_all_that_was_known() {
    let mut host = AnalysisHost::new();
    host.set_config(Config { planner: Planner::Packed, ..Config::default() });
    let [kernels_file, constants, missing, hidden, dump] =
        ["/w/kernels.py", "/w/config.py", "/w/missing.py", "/w/hidden.py", "/w/dump.py"].map(|path| host.file_id(path));
    host.set_document(kernels_file, Document::new(&kernels(2).replace("[N, 64]", "[ROWS, 64]")));
    host.set_document(constants, Document::new("from missing import COLS\nROWS = 32\n"));
    host.set_unreadable(missing, "it is too large".to_owned());
    host.set_document(hidden, Document::new(&kernels(1)));
    host.set_excluded(hidden, true);
    host.set_text(dump, "x = 1\n");
    host.set_dumps(kernels_file, &[dump]);
    let known = |host: &mut AnalysisHost| {
        let [kernels, constants, hidden, dump] =
            ["/w/kernels.py", "/w/config.py", "/w/hidden.py", "/w/dump.py"].map(|path| host.file_id(path));
        let news = host.set_dumps(kernels, &[dump]);
        let analysis = host.snapshot();
        let plans = analysis.plans(kernels).expect("no edit");
        let text = |file| analysis.document(file).text();
        let texts = [kernels, constants, hidden, dump].map(text);
        let unknown = analysis.unknown_imports(kernels).expect("no edit");
        (news, format!("{plans:?}"), texts, unknown, analysis.plans(hidden).expect("no edit").len())
    };
    let before = known(&mut host);
    assert!(!before.0 && before.1.contains("[32, 64]") && before.4 == 0, "{before:?}");
    host.renew();
    assert_eq!(known(&mut host), before);
}
