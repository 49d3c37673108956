//! The one door for Markdown. Names and strings of a repository stand in it, and an editor fetches the pictures of a page that it shows: so
//! pictures, links and HTML are taken for what they are spelt as. Features write none.

/// The fence that features write, as whole lines.
const FENCE: &str = "```";
const OPENING: &str = "```python";

/// The same page without pictures, links and HTML.
pub fn without_links(markdown: &str) -> String {
    let mut page = String::with_capacity(markdown.len());
    let mut is_code = false;
    for line in markdown.split_inclusive(['\n', '\r']) {
        let text = line.trim_end_matches(['\n', '\r']);
        if is_code && is_end(text) {
            is_code = false;
            page.push_str(FENCE);
        } else if is_code {
            page.push_str(text);
        } else if text == OPENING {
            is_code = true;
            page.push_str(text);
        } else {
            escape_line(text, &mut page);
        }
        page.push_str(if text.len() < line.len() { "\n" } else { "" });
    }
    page
}

/// Whatever an editor may take for the end of a fence.
fn is_end(line: &str) -> bool {
    let line = line.trim();
    line.starts_with(FENCE) && line.trim_start_matches('`').is_empty()
}

/// A cell of a table ends a code span, so that each is looked at by itself.
fn escape_line(line: &str, page: &mut String) {
    for (index, cell) in line.split('|').enumerate() {
        page.push_str(if index == 0 { "" } else { "|" });
        escape_cell(cell, page);
    }
}

fn escape_cell(mut text: &str, page: &mut String) {
    while let Some(c) = text.chars().next() {
        let run = text.len() - text.trim_start_matches('`').len();
        let code = (run > 0).then(|| code_span(text, run)).flatten();
        let taken = match (run, code) {
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
        assert_eq!(without_links(page), page);
    }

    #[test]
    fn what_a_name_brings_is_text() {
        let name = "a` ![i](https://e.example/i.png) [x](command:y) <img src=z>";
        assert_eq!(
            without_links(&format!("The kernel `{name}` is")),
            "The kernel `a` !\\[i](https://e.example/i.png) \\[x](command:y) \\<img src=z>\\` is"
        );
        assert_eq!(without_links("a\n```\n![i](u)\n~~~\n"), "a\n\\`\\`\\`\n!\\[i](u)\n\\~\\~\\~\n");
    }

    proptest! {
        #[test]
        fn no_page_shows_a_picture(
            pieces in proptest::collection::vec(proptest::sample::select(vec![
                "`", "``", "```", "```python\n", "```\n", "~~~\n", "~~~", "\n", "\r", "\n\n", "|", "|---|\n", "| a | b |\n|---|---|\n", "\\", " ", "    ", "\t", "![i](u)", "[a]: u\n",
                "[a]", "[a][a]", "<img src=u>", "<http://u>", "<!--", "-->", "<b>", "> ", "* ", "1. ", "# ", "a", "!", "[", "](u)", "[^1]", "$", "{", "&lt;",
            ]), 0..24),
        ) {
            let page = without_links(&pieces.concat());
            prop_assert!(is_harmless(&page), "{page:?}");
        }
    }
}
