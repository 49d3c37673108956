//! Notebooks as files: the cells of nbformat 4, which is JSON.

use std::path::Path;

use serde::Deserialize;
use tilefit_syntax::Document;
use tilefit_syntax::magics::python_of;

const PYTHON: &str = "python";

#[derive(Deserialize)]
struct File {
    nbformat: u32,
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    cells: Vec<Cell>,
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
struct Cell {
    cell_type: String,
    source: Source,
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

/// The text of a notebook, with a part for each cell; of those that hold no Python the part is empty. The error is in words that follow
/// the path.
pub(crate) fn read(json: &str) -> Result<Document, String> {
    let File { nbformat, metadata, cells } =
        serde_json::from_str(json).map_err(|error| format!("not a Jupyter notebook: {error}"))?;
    if nbformat != 4 {
        return Err(format!(
            "a notebook in nbformat {nbformat}, and tilefit reads nbformat 4; save it again in Jupyter"
        ));
    }
    let language = metadata.language();
    let parts = cells.into_iter().map(|cell| match cell.is_of(PYTHON, &language) {
        true => python_of(&cell.source.text()),
        false => String::new(),
    });
    Ok(Document::of_parts(&parts.collect::<Vec<_>>()))
}

impl Metadata {
    /// Of the notebook, as its kernel names it; one without a kernel is taken to be Python.
    fn language(self) -> String {
        let named = self.language_info.and_then(|info| info.name);
        named.or(self.kernelspec.and_then(|spec| spec.language)).unwrap_or_else(|| PYTHON.to_owned())
    }
}

impl Cell {
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
        let read = read(json).map(|document| document.text());
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
