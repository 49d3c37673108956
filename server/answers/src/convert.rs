//! Positions, ranges, paths and Markdown of the analysis, to and from LSP types.

use std::path::Path;

use ls_types as lsp;
use tilefit_syntax::{Document, PositionEncoding, TextRange};

use crate::markdown::{Dialect, cells, without_links};

pub fn position(document: &Document, offset: usize, encoding: PositionEncoding) -> lsp::Position {
    let at = document.position(offset, encoding);
    lsp::Position::new(at.line, at.col)
}

pub fn range(document: &Document, range: TextRange, encoding: PositionEncoding) -> lsp::Range {
    let range = document.within_part(range);
    lsp::Range::new(position(document, range.start, encoding), position(document, range.end, encoding))
}

/// A browser has no paths: `file` is a scheme like any other there.
const HAS_PATHS: bool = cfg!(not(target_family = "wasm"));

/// The name under which the analysis knows a document: its path, or its URI where it has no file.
pub fn path_of(uri: &lsp::Uri) -> String {
    let is_file = HAS_PATHS && uri.as_str().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let path = uri.to_file_path().filter(|_| is_file);
    path.map_or_else(|| uri.as_str().to_owned(), |path| path.to_string_lossy().into_owned())
}

/// The URI of a file by the path that the analysis knows; of a document without a file the path is the URI.
pub fn uri_of(path: &str) -> Option<lsp::Uri> {
    match HAS_PATHS && Path::new(path).is_absolute() {
        true => lsp::Uri::from_file_path(path),
        false => path.parse().ok(),
    }
}

/// How a client shows what is written as Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    AsText,
    /// As the parser does that the client names.
    AsMarkdown,
    /// In some way: without what only some parsers know.
    AsSimpleMarkdown,
}

/// Markdown for clients that show it, else the same as plain text.
pub fn markup(markdown: String, shown: Shown) -> lsp::MarkupContent {
    let dialect = match shown {
        Shown::AsText => None,
        Shown::AsMarkdown => Some(Dialect::Named),
        Shown::AsSimpleMarkdown => Some(Dialect::Unnamed),
    };
    if let Some(dialect) = dialect {
        return lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value: without_links(&markdown, dialect) };
    }
    lsp::MarkupContent { kind: lsp::MarkupKind::PlainText, value: plain(&markdown) }
}

/// Of Markdown what features write: fences, code, tables of two columns, rulers.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    for line in markdown.lines() {
        let cells = cells(line).unwrap_or_default();
        let is_frame = !cells.is_empty() && cells.iter().all(|cell| cell.chars().all(|c| c == '-'));
        if is_frame || line.starts_with("```") {
            continue;
        }
        let line = if cells.is_empty() { line.to_owned() } else { cells.join(": ") };
        let line = line.replace('`', "").replace("**", "");
        if !(line.is_empty() && (text.is_empty() || text.ends_with("\n\n"))) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_as_plain_text() {
        let markdown =
            "```python\nx: pl.Tile[[4], pl.FP32]\n```\n\n| | |\n|---|---|\n| size | 16 bytes (`16 B`) |\n\nNote.\n";
        assert_eq!(plain(markdown), "x: pl.Tile[[4], pl.FP32]\n\nsize: 16 bytes (16 B)\n\nNote.");
    }
}
