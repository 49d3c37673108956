//! tree-sitter with the Python grammar.

use std::cell::RefCell;
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use crate::interrupt;

thread_local! {
    // A parser owns buffers worth keeping; it holds no state between parses.
    static PARSER: RefCell<Option<Parser>> = RefCell::new(python());
}

fn python() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).ok()?;
    Some(parser)
}

/// Parses a text; with `old`, a tree that has been told of the edits, only what changed is parsed again.
///
/// Error recovery depends on what was there before, so a text with errors is always parsed whole: the tree of an edited
/// text equals that of a fresh one.
pub(crate) fn parse(text: &str, old: Option<&Tree>) -> Option<Tree> {
    PARSER.with_borrow_mut(|parser| {
        let parser = parser.as_mut()?;
        if let Some(old) = old.filter(|old| !old.root_node().has_error()) {
            let tree = parse_whole(parser, text, Some(old))?;
            if !tree.root_node().has_error() {
                return Some(tree);
            }
        }
        parse_whole(parser, text, None)
    })
}

/// Unwinds where nobody waits for the tree any more.
fn parse_whole(parser: &mut Parser, text: &str, old: Option<&Tree>) -> Option<Tree> {
    let bytes = text.as_bytes();
    loop {
        let mut is_interrupted = false;
        let mut progress = |_: &ParseState| {
            is_interrupted = interrupt::is_due();
            if is_interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let tree = parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), old, Some(options));
        if !is_interrupted {
            return tree;
        }
        parser.reset();
        interrupt::look();
    }
}
