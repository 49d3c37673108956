//! The one door for Markdown. Names and strings of a repository stand in it, and an editor fetches the pictures of a page that it shows: so
//! pictures, links and HTML are taken for what they are spelt as. Features write none.

/// What a client makes of Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// As the parser does that the client names: tables, and escapes that are not seen.
    Named,
    /// It names none: Neovim shows the pipes of tables and the backslashes of escapes, and hides the brackets of what may be a link.
    Unnamed,
}

/// The fences that features write, and that tables become, as whole lines.
const FENCE: &str = "```";
const OPENINGS: [&str; 2] = ["```python", TABLE];
const TABLE: &str = "```text";

/// The same page without pictures, links and HTML, as a client shows it.
pub fn without_links(markdown: &str, dialect: Dialect) -> String {
    let laid_out = match dialect {
        Dialect::Named => None,
        Dialect::Unnamed => Some(without_tables(markdown)),
    };
    let markdown = laid_out.as_deref().unwrap_or(markdown);
    let mut page = String::with_capacity(markdown.len());
    let mut is_code = false;
    for line in markdown.split_inclusive(['\n', '\r']) {
        let text = line.trim_end_matches(['\n', '\r']);
        if is_code && is_end(text) {
            is_code = false;
            page.push_str(FENCE);
        } else if is_code {
            page.push_str(text);
        } else if OPENINGS.contains(&text) {
            is_code = true;
            page.push_str(text);
        } else {
            escape_line(text, dialect, &mut page);
        }
        page.push_str(if text.len() < line.len() { "\n" } else { "" });
    }
    page
}

/// The same page with its tables as text in columns.
fn without_tables(markdown: &str) -> String {
    let mut page = String::with_capacity(markdown.len());
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut is_code = false;
    for line in markdown.lines() {
        is_code = if is_code { !is_end(line) } else { OPENINGS.contains(&line) };
        match cells(line).filter(|_| !is_code) {
            Some(cells) if cells.iter().all(|cell| cell.chars().all(|c| c == '-')) => {}
            Some(cells) => rows.push(cells.iter().map(|cell| cell.replace(['`', '*'], "")).collect()),
            None => {
                columns(&std::mem::take(&mut rows), &mut page);
                page.push_str(line);
                page.push('\n');
            }
        }
    }
    columns(&rows, &mut page);
    page
}

/// The cells of a line of a table.
pub(crate) fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(row.split('|').map(str::trim).collect())
}

fn columns(rows: &[Vec<String>], page: &mut String) {
    if rows.is_empty() {
        return;
    }
    let width = |column: usize| rows.iter().filter_map(|row| Some(row.get(column)?.chars().count())).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows.iter().map(Vec::len).max().unwrap_or(0)).map(width).collect();
    let shown = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let lines: Vec<String> = rows.iter().map(shown).filter(|line| !line.is_empty()).collect();
    page.push_str(&format!("{TABLE}\n{}\n{FENCE}\n", lines.join("\n")));
}

/// Whatever an editor may take for the end of a fence.
fn is_end(line: &str) -> bool {
    let line = line.trim();
    line.starts_with(FENCE) && line.trim_start_matches('`').is_empty()
}

/// A cell of a table ends a code span, so that each is looked at by itself.
fn escape_line(line: &str, dialect: Dialect, page: &mut String) {
    for (index, cell) in line.split('|').enumerate() {
        page.push_str(if index == 0 { "" } else { "|" });
        escape_cell(cell, dialect, page);
    }
}

fn escape_cell(mut text: &str, dialect: Dialect, page: &mut String) {
    while let Some(c) = text.chars().next() {
        let run = text.len() - text.trim_start_matches('`').len();
        let code = (run > 0).then(|| code_span(text, run)).flatten();
        let is_free = |code: &&str| !page.ends_with('`') && !text[code.len()..].starts_with('`');
        let brackets = (dialect == Dialect::Unnamed).then(|| bracketed(text)).flatten().filter(is_free);
        let taken = match (run, code) {
            (0, None) if let Some(brackets) = brackets => {
                page.push_str(&format!("`{brackets}`"));
                brackets.len()
            }
            (_, Some(code)) => {
                page.push_str(code);
                code.len()
            }
            (0, None) => {
                if matches!(c, '\\' | '[' | '<' | '~' | '$') {
                    page.push('\\');
                }
                page.push(c);
                c.len_utf8()
            }
            (run, None) => {
                page.push_str(&"\\`".repeat(run));
                run
            }
        };
        text = &text[taken..];
    }
}

/// What brackets enclose at the start of a text, with them, if no code is in it.
fn bracketed(text: &str) -> Option<&str> {
    let mut open = 0;
    for (at, c) in text.char_indices() {
        match c {
            '[' => open += 1,
            ']' => open -= 1,
            '`' => return None,
            _ => {}
        }
        if open == 0 {
            return (c == ']').then(|| &text[..=at]);
        }
    }
    None
}

/// The code span at the start of a text, which begins with `run` backticks and ends with as many.
fn code_span(text: &str, run: usize) -> Option<&str> {
    let mut at = run;
    while let Some(next) = text[at..].find('`') {
        let start = at + next;
        let length = text[start..].len() - text[start..].trim_start_matches('`').len();
        at = start + length;
        if length == run {
            return Some(&text[..at]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;

    fn is_harmless(markdown: &str) -> bool {
        let harms = |event: &Event| {
            matches!(event, Event::Start(Tag::Image { .. } | Tag::Link { .. } | Tag::HtmlBlock))
                || matches!(event, Event::Html(_) | Event::InlineHtml(_) | Event::FootnoteReference(_))
        };
        !Parser::new_ext(markdown, Options::all()).any(|event| harms(&event))
    }

    #[test]
    fn what_features_write_stays() {
        let page = "```python\nx: pl.Tile[[4], pl.FP32]\n```\n\n| | |\n|---|---|\n| reuse group | `a` and ``b`c`` |\n\n* **bold**\n";
        assert_eq!(without_links(page, Dialect::Named), page);
    }

    #[test]
    fn what_a_client_shows_that_names_no_parser() {
        let page = "```python\nx: pl.Tile[[4], pl.FP32]\n```\n\n| | |\n|---|---|\n| address | `0x0` – `0x10` |\n| size | 16 bytes |\n\nOf [2, 8] FP32 and [[4]], [a.\n";
        let shown = "```python\nx: pl.Tile[[4], pl.FP32]\n```\n\n```text\naddress  0x0 – 0x10\nsize     16 bytes\n```\n\nOf `[2, 8]` FP32 and `[[4]]`, \\[a.\n";
        assert_eq!(without_links(page, Dialect::Unnamed), shown);
    }

    #[test]
    fn what_a_name_brings_is_text() {
        let name = "a` ![i](https://e.example/i.png) [x](command:y) <img src=z>";
        assert_eq!(
            without_links(&format!("The kernel `{name}` is"), Dialect::Named),
            "The kernel `a` !\\[i](https://e.example/i.png) \\[x](command:y) \\<img src=z>\\` is"
        );
        assert_eq!(without_links("a\n```\n![i](u)\n~~~\n", Dialect::Named), "a\n\\`\\`\\`\n!\\[i](u)\n\\~\\~\\~\n");
    }

    proptest! {
        #[test]
        fn no_page_shows_a_picture(
            pieces in proptest::collection::vec(proptest::sample::select(vec![
                "`", "``", "```", "```python\n", "```\n", "~~~\n", "~~~", "\n", "\r", "\n\n", "|", "|---|\n", "| a | b |\n|---|---|\n", "\\", " ", "    ", "\t", "![i](u)", "[a]: u\n",
                "[a]", "[a][a]", "<img src=u>", "<http://u>", "<!--", "-->", "<b>", "> ", "* ", "1. ", "# ", "a", "!", "[", "](u)", "[^1]", "$", "{", "&lt;",
            ]), 0..24),
        ) {
            for dialect in [Dialect::Named, Dialect::Unnamed] {
                let page = without_links(&pieces.concat(), dialect);
                prop_assert!(is_harmless(&page), "{dialect:?}: {page:?}");
            }
        }
    }
}
