//! Notebooks as files: the cells of nbformat 4, which is JSON.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use tilefit_syntax::Document;
use tilefit_syntax::magics::python_of;

const PYTHON: &str = "python";

/// A notebook as its file has it.
pub(crate) struct Notebook {
    /// With a part for each cell; of those that hold no Python the part is empty.
    pub(crate) document: Document,
    pub(crate) lines: LinesOfCells,
}

/// In which line of the file each line of each cell is, from 1; nothing of a cell that is not written as Jupyter does, each line in one of its own.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LinesOfCells(Vec<Vec<u32>>);

#[derive(Deserialize)]
struct File<'j> {
    nbformat: u32,
    #[serde(default)]
    metadata: Metadata,
    #[serde(default, borrow)]
    cells: Vec<Cell<'j>>,
}

#[derive(Deserialize, Default)]
struct Metadata {
    language_info: Option<LanguageInfo>,
    kernelspec: Option<KernelSpec>,
}

#[derive(Deserialize)]
struct LanguageInfo {
    name: Option<String>,
}

#[derive(Deserialize)]
struct KernelSpec {
    language: Option<String>,
}

#[derive(Deserialize)]
struct Cell<'j> {
    cell_type: String,
    /// As it is written, to know where; a [`Source`].
    #[serde(borrow)]
    source: &'j RawValue,
    #[serde(default)]
    metadata: CellMetadata,
}

/// Lines with their ends, or all in one.
#[derive(Deserialize)]
#[serde(untagged)]
enum Source {
    Text(String),
    Lines(Vec<String>),
}

#[derive(Deserialize, Default)]
struct CellMetadata {
    vscode: Option<Vscode>,
}

/// Where VS Code keeps the language of a cell that is not the notebook's.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Vscode {
    language_id: Option<String>,
}

pub(crate) fn is_notebook(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "ipynb")
}

/// The error is in words that follow the path.
pub(crate) fn read(json: &str) -> Result<Notebook, String> {
    let no_notebook = |error| format!("not a Jupyter notebook: {error}");
    let File { nbformat, metadata, cells } = serde_json::from_str(json).map_err(no_notebook)?;
    if nbformat != 4 {
        return Err(format!(
            "a notebook in nbformat {nbformat}, and tilefit reads nbformat 4; save it again in Jupyter"
        ));
    }
    let language = metadata.language();
    let mut parts = Vec::new();
    for cell in &cells {
        let source: Source = serde_json::from_str(cell.source.get()).map_err(no_notebook)?;
        parts.push(if cell.is_of(PYTHON, &language) { python_of(&source.text()) } else { String::new() });
    }
    let lines = LinesOfCells::of(json, &cells);
    Ok(Notebook { document: Document::of_parts(&parts), lines })
}

impl LinesOfCells {
    fn of(json: &str, cells: &[Cell<'_>]) -> LinesOfCells {
        let ends: Vec<usize> = json.match_indices('\n').map(|(end, _)| end).collect();
        let line_of = |part: &str| {
            let offset = part.as_ptr() as usize - json.as_ptr() as usize;
            ends.partition_point(|&end| end < offset) as u32 + 1
        };
        let lines = |cell: &Cell<'_>| {
            let written: Vec<&RawValue> = serde_json::from_str(cell.source.get()).unwrap_or_default();
            let is_a_line = |line: &&RawValue| {
                serde_json::from_str(line.get())
                    .is_ok_and(|text: String| text.lines().count() == 1 && !text.contains('\r'))
            };
            let lines: Vec<u32> = written.iter().map(|line| line_of(line.get())).collect();
            let is_as_jupyter_writes = written.iter().all(is_a_line) && lines.windows(2).all(|two| two[0] < two[1]);
            if is_as_jupyter_writes { lines } else { Vec::new() }
        };
        LinesOfCells(cells.iter().map(lines).collect())
    }

    /// The line of the file for a line of a cell, all from 1.
    pub(crate) fn in_file(&self, cell: usize, line: u32) -> Option<u32> {
        self.0.get(cell.checked_sub(1)?)?.get(line.checked_sub(1)? as usize).copied()
    }
}

impl Metadata {
    /// Of the notebook, as its kernel names it; one without a kernel is taken to be Python.
    fn language(self) -> String {
        let named = self.language_info.and_then(|info| info.name);
        named.or(self.kernelspec.and_then(|spec| spec.language)).unwrap_or_else(|| PYTHON.to_owned())
    }
}

impl Cell<'_> {
    fn is_of(&self, language: &str, of_notebook: &str) -> bool {
        let own = self.metadata.vscode.as_ref().and_then(|vscode| vscode.language_id.as_deref());
        self.cell_type == "code" && own.unwrap_or(of_notebook).eq_ignore_ascii_case(language)
    }
}

impl Source {
    fn text(self) -> String {
        match self {
            Source::Text(text) => text,
            Source::Lines(lines) => lines.concat(),
        }
    }
}

/// A file as people name it, with the cell where it is a notebook: `tour.ipynb:cell 3`.
pub(crate) fn in_cell(path: &str, cell: Option<usize>) -> String {
    cell.map_or_else(|| path.to_owned(), |cell| format!("{path}:cell {cell}"))
}

/// Why the compiler is not asked about a notebook, for the user.
pub(crate) fn not_confirmed(path: &Path) -> String {
    let path = path.display();
    format!("{path}: kernels of a notebook are not confirmed, because the compiler imports Python files only")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Result<&str, &str>) {
        let read = read(json).map(|notebook| notebook.document.text());
        assert_eq!(read.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn cells_with_python_are_the_parts() {
        check(
            r##"{ "nbformat": 4, "nbformat_minor": 5, "metadata": { "language_info": { "name": "python" } }, "cells": [
                { "cell_type": "markdown", "source": "# Tour" },
                { "cell_type": "code", "source": ["%pip list\n", "x = 1"], "outputs": [{ "a": 1 }], "execution_count": null },
                { "cell_type": "raw", "source": [] },
                { "cell_type": "code", "source": "SELECT 1", "metadata": { "vscode": { "languageId": "sql" } } },
                { "cell_type": "code", "source": "y = 2\n", "metadata": {} } ] }"##,
            Ok("\n0\nx = 1\n\n\ny = 2\n"),
        );
        check(
            r#"{ "nbformat": 4, "metadata": { "kernelspec": { "language": "julia" } }, "cells": [{ "cell_type": "code", "source": "x" }] }"#,
            Ok(""),
        );
        check(r#"{ "nbformat": 4 }"#, Ok(""));
    }

    #[test]
    fn lines_of_cells_are_lines_of_the_file() {
        let lines = |json: &str| read(json).expect("a notebook").lines.0;
        let jupyter = r##"{
 "nbformat": 4,
 "cells": [
  {
   "cell_type": "markdown",
   "source": [
    "# Tour"
   ]
  },
  {
   "cell_type": "code",
   "source": [
    "x = \"\\n\"\n",
    "\n",
    "y = 2"
   ]
  }
 ]
}"##;
        assert_eq!(lines(jupyter), [vec![7], vec![13, 14, 15]]);
        let compact: String = jupyter.lines().map(str::trim).collect();
        assert_eq!(lines(&compact), [vec![1], vec![]]);
        let in_one = r#"{ "nbformat": 4, "cells": [
            { "cell_type": "code", "source": "x = 1\ny = 2" },
            { "cell_type": "code", "source": ["x = 1\ny = 2\n",
                "z = 3"] } ] }"#;
        assert_eq!(lines(in_one), [Vec::<u32>::new(), vec![]]);
    }

    #[test]
    fn what_is_no_notebook_is_told() {
        check("{", Err("not a Jupyter notebook: EOF while parsing an object at line 1 column 1"));
        check(
            "[]",
            Err("not a Jupyter notebook: invalid length 0, expected struct File with 3 elements at line 1 column 2"),
        );
        check(
            r#"{ "nbformat": 3, "worksheets": [] }"#,
            Err("a notebook in nbformat 3, and tilefit reads nbformat 4; save it again in Jupyter"),
        );
    }
}
