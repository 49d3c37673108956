//! An edited document equals a fresh one of its text, and so does what is said of it.

use tilefit_analysis::{AnalysisHost, FileId};
use tilefit_syntax::Document;

use super::answers;
use crate::choices::Choices;
use crate::kernels::{self, Layout};
use crate::{tensor_kernels, tlx_kernels, typing};

/// More than an input of ordinary length decides.
const MOST_EDITS: usize = 24;

pub fn text_edits(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let sources: [fn() -> String; 5] = [
        || kernels::source(1, Layout::ClassPerKernel),
        || kernels::source(2, Layout::OneClass),
        || tensor_kernels::source(2),
        || tlx_kernels::source(1),
        String::new,
    ];
    let mut text = choices.of(&sources)();
    let pasted = choices.of(&sources)();
    let mut document = Document::new(&text);
    let (mut host, file) = opened(document.clone());
    let mut undo = Vec::new();
    for edit in 0..MOST_EDITS {
        if choices.are_over() {
            break;
        }
        let changes = match choices.percent(25) {
            true => undo.pop().unwrap_or_default(),
            false => typing::next(&text, &pasted, &mut choices).1,
        };
        for change in &changes {
            document.edit(change.range.clone(), &change.text);
        }
        undo.push(typing::apply(&mut text, &changes));
        // Several edits may come before anybody looks.
        if choices.percent(35) {
            document.settle();
            host.set_document(file, document.clone());
            let place = choices.below(text.len() + 1);
            compare(&document, &host, file, &text, place, edit);
        }
    }
    document.settle();
    host.set_document(file, document.clone());
    compare(&document, &host, file, &text, text.len() / 2, MOST_EDITS);
}

fn opened(document: Document) -> (AnalysisHost, FileId) {
    let mut host = AnalysisHost::new();
    let file = host.file_id("/w/kernel.py");
    host.set_document(file, document);
    (host, file)
}

fn compare(document: &Document, host: &AnalysisHost, file: FileId, text: &str, place: usize, edit: usize) {
    assert_eq!(document.text(), text, "after edit {edit}");
    let fresh = Document::new(text);
    assert_eq!(blocks(document), blocks(&fresh), "the blocks after edit {edit}, of:\n{text}");
    let (other, other_file) = opened(fresh);
    let (edited, expected) =
        (answers(&host.snapshot(), file, &[place]), answers(&other.snapshot(), other_file, &[place]));
    for (edited, expected) in edited.iter().zip(&expected) {
        assert_eq!(edited, expected, "after edit {edit}, at {place} of:\n{text}");
    }
}

fn blocks(document: &Document) -> Vec<String> {
    let blocks = document.blocks().iter();
    let tree = |source: &tilefit_syntax::BlockSource| source.tree().map(|tree| tree.root_node().to_sexp());
    blocks.map(|block| format!("{:?} {} {:?}", block.key, block.start, tree(&block.source))).collect()
}
