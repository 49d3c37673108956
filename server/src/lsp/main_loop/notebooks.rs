//! A notebook that is open: its cells and their texts as the client has them. What the analysis sees is one text with a part for each cell.

use std::collections::HashMap;
use std::ops::Range;

use tilefit_answers::capabilities::PYTHON;
use tilefit_answers::{self as answers, Cell, Cells};
use tilefit_syntax::magics::python_of;
use tilefit_syntax::{Document, PositionEncoding};
use tower_lsp::ls_types::{
    Diagnostic, NotebookCell, NotebookCellArrayChange, NotebookCellKind, NotebookDocumentCellChange,
    NotebookDocumentCellChangeStructure, NotebookDocumentChangeTextContent, TextDocumentItem, Uri,
};

pub(crate) struct Notebook {
    cells: Vec<NotebookCell>,
    texts: HashMap<Uri, CellText>,
    /// What the client was told last of each cell, and of which version.
    told: HashMap<Uri, (i32, Vec<Diagnostic>)>,
}

struct CellText {
    version: i32,
    language: String,
    /// With all that is not Python.
    document: Document,
}

impl Notebook {
    /// Clients name the cells and send their texts in separate lists; one without a text is taken to be empty.
    pub(crate) fn new(cells: Vec<NotebookCell>, texts: Vec<TextDocumentItem>) -> Notebook {
        let mut notebook = Notebook { cells, texts: HashMap::new(), told: HashMap::new() };
        notebook.open_texts(texts);
        notebook
    }

    /// Its text for the analysis.
    pub(crate) fn document(&self) -> Document {
        Document::of_parts(&self.parts())
    }

    /// The documents of the cells, in the order of the parts.
    pub(crate) fn cells(&self) -> Cells {
        let version = |uri| self.texts.get(uri).map_or(0, |text| text.version);
        self.cells.iter().map(|cell| Cell { version: version(&cell.document), uri: cell.document.clone() }).collect()
    }

    /// Applies a change, and edits the text for the analysis where that makes it another. `edited` hears of each edit: the bytes that it
    /// replaces, and how many it puts there. The error is a sentence about what cannot be applied; the rest is.
    pub(crate) fn change(
        &mut self,
        document: &mut Document,
        change: NotebookDocumentCellChange,
        encoding: PositionEncoding,
        mut edited: impl FnMut(&Range<usize>, usize),
    ) -> Result<(), String> {
        let NotebookDocumentCellChange { structure, data, text_content } = change;
        let mut is_rearranged = structure.is_some();
        if let Some(structure) = structure {
            self.rearrange(structure);
        }
        for new in data.unwrap_or_default() {
            for cell in self.cells.iter_mut().filter(|cell| cell.document == new.document) {
                is_rearranged |= cell.kind != new.kind;
                cell.kind.clone_from(&new.kind);
            }
        }
        let mut changed = Vec::new();
        let mut unknown = None;
        for NotebookDocumentChangeTextContent { document, changes } in text_content.unwrap_or_default() {
            match self.texts.get_mut(&document.uri) {
                Some(text) => {
                    answers::apply_changes(&mut text.document, changes, encoding, |_, _| {});
                    text.version = document.version;
                    changed.push(document.uri);
                }
                None => unknown = Some(document.uri),
            }
        }
        if is_rearranged {
            let (replaced, inserted) = document.set_parts(&self.parts());
            edited(&replaced, inserted);
        } else {
            for (index, cell) in self.cells.iter().enumerate().filter(|(_, cell)| changed.contains(&cell.document)) {
                let (replaced, inserted) = document.set_part(index, &self.part(cell));
                edited(&replaced, inserted);
            }
        }
        unknown.map_or(Ok(()), |uri| Err(format!("an edit of a cell that is not open: {}", uri.as_str())))
    }

    fn rearrange(&mut self, structure: NotebookDocumentCellChangeStructure) {
        let NotebookDocumentCellChangeStructure { array, did_open, did_close } = structure;
        let NotebookCellArrayChange { start, delete_count, cells } = array;
        let start = (start as usize).min(self.cells.len());
        let end = start.saturating_add(delete_count as usize).min(self.cells.len());
        self.cells.splice(start..end, cells.unwrap_or_default());
        for closed in did_close.unwrap_or_default() {
            self.texts.remove(&closed.uri);
        }
        self.open_texts(did_open.unwrap_or_default());
        self.told.retain(|uri, _| self.cells.iter().any(|cell| cell.document == *uri));
    }

    fn open_texts(&mut self, texts: Vec<TextDocumentItem>) {
        self.texts.extend(texts.into_iter().map(|TextDocumentItem { uri, language_id, version, text }| {
            (uri, CellText { version, language: language_id, document: Document::new(&text) })
        }));
    }

    fn parts(&self) -> Vec<String> {
        self.cells.iter().map(|cell| self.part(cell)).collect()
    }

    fn part(&self, cell: &NotebookCell) -> String {
        let text = self.texts.get(&cell.document).filter(|text| text.language == PYTHON);
        let code = text.filter(|_| cell.kind == NotebookCellKind::CODE);
        code.map_or_else(String::new, |text| python_of(&text.document.text()))
    }

    /// Leaves what is news to the client, which is told of it now. Returns whether that is so of a cell that the client has not edited.
    pub(crate) fn retain_news(&mut self, found: &mut Vec<(Cell, Vec<Diagnostic>)>) -> bool {
        let mut elsewhere = false;
        found.retain(|(cell, diagnostics)| {
            let before = self.told.insert(cell.uri.clone(), (cell.version, diagnostics.clone()));
            let Some((version, before)) = before else { return true };
            let is_other = before != *diagnostics;
            elsewhere |= is_other && version == cell.version;
            is_other || version != cell.version
        });
        elsewhere
    }
}
