//! tree-sitter with the Python grammar.

use std::cell::RefCell;

use tree_sitter::{Parser, Tree};

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
            let tree = parser.parse(text, Some(old))?;
            if !tree.root_node().has_error() {
                return Some(tree);
            }
        }
        parser.parse(text, None)
    })
}
