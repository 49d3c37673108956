//! tree-sitter nodes to [`Ast`].

mod expressions;
mod statements;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::num::NonZeroU16;
use std::sync::LazyLock;

use tree_sitter::{Language, Node, TreeCursor};

use super::*;
use crate::interrupt;
use crate::tokens::{TokenKind, tokens};

/// Deeper nesting than this is not looked into; it keeps the stack bounded for any text.
const DEEPEST: usize = 150;

/// Nodes between two looks at whether anybody waits still.
const BETWEEN_LOOKS: u32 = 1024;

pub(super) fn lower(root: Node<'_>, source: &BlockSource) -> (Ast, Spans) {
    let mut lowering = Lowering {
        text: &source.text,
        broken: source.broken(),
        ast: Ast::default(),
        spans: Spans::default(),
        depth: 0,
        nodes: 0,
        hidden: TextRange::default(),
        in_scope: false,
        seen_errors: HashSet::new(),
    };
    lowering.ast.body = lowering.statements(root);
    // What is not read may bind names all the same.
    for range in source.broken() {
        let is_read = lowering.text.get(range.start..range.end).is_none_or(|text| !text.contains(":="));
        if !is_read {
            lowering.hide_text(*range);
        }
    }
    lowering.ast.hidden.sort_unstable();
    lowering.ast.hidden.dedup();
    (lowering.ast, lowering.spans)
}

type FieldId = Option<NonZeroU16>;

macro_rules! fields {
    ($($field:ident $name:literal;)*) => {
        /// Ids of the grammar's fields; looking a field up by its name costs as much as the rest of the lowering.
        struct Fields { $($field: FieldId),* }

        fn fields() -> &'static Fields {
            static FIELDS: LazyLock<Fields> = LazyLock::new(|| {
                let language = Language::from(tree_sitter_python::LANGUAGE);
                Fields { $($field: language.field_id_for_name($name)),* }
            });
            &FIELDS
        }
    };
}

fields! {
    alias "alias";
    alternative "alternative";
    argument "argument";
    arguments "arguments";
    attribute "attribute";
    body "body";
    condition "condition";
    consequence "consequence";
    function "function";
    key "key";
    left "left";
    module_name "module_name";
    name "name";
    object "object";
    operator "operator";
    operators "operators";
    parameters "parameters";
    return_type "return_type";
    right "right";
    subscript "subscript";
    superclasses "superclasses";
    annotation "type";
    value "value";
}

fn children_by_field<'t>(
    node: Node<'t>,
    field: FieldId,
    cursor: &mut TreeCursor<'t>,
) -> impl Iterator<Item = Node<'t>> {
    field.into_iter().flat_map(move |field| node.children_by_field_id(field, cursor).collect::<Vec<_>>())
}

struct Lowering<'t> {
    text: &'t str,
    broken: &'t [TextRange],
    ast: Ast,
    spans: Spans,
    depth: usize,
    /// That were looked at so far.
    nodes: u32,
    /// The last part of the text of which all names are noted.
    hidden: TextRange,
    /// In a statement whose nodes are numbered by themselves.
    in_scope: bool,
    /// Where an expression or a statement of the view says that something does not parse.
    seen_errors: HashSet<TextRange>,
}

impl<'t> Lowering<'t> {
    fn text(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.start_byte()..node.end_byte()).unwrap_or("")
    }

    fn add_expr(&mut self, expr: Expr, span: TextRange) -> ExprId {
        self.count();
        self.spans.exprs.push(span);
        ExprId(self.ast.exprs.push(expr))
    }

    /// Now and then looks whether anybody waits still.
    fn count(&mut self) {
        self.nodes += 1;
        if self.nodes.is_multiple_of(BETWEEN_LOOKS) {
            interrupt::look();
        }
    }

    fn add_stmt(&mut self, stmt: Stmt, span: TextRange) -> StmtId {
        self.spans.stmts.push(span);
        StmtId(self.ast.stmts.push(stmt))
    }

    fn turn_page(&mut self) {
        self.ast.exprs.turn();
        self.ast.stmts.turn();
        self.spans.exprs.turn();
        self.spans.stmts.turn();
    }

    /// Named children but comments, which are noted.
    fn children<'n>(&mut self, node: Node<'n>) -> Vec<Node<'n>> {
        let mut cursor: TreeCursor<'n> = node.walk();
        let mut children = Vec::with_capacity(node.named_child_count());
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "comment" => self.spans.comments.push(range(child)),
                "line_continuation" => {}
                _ => children.push(child),
            }
        }
        children
    }

    /// Takes note of all names in a part of the tree, unless that lies in one of which all are noted.
    fn hide_whole(&mut self, node: Node<'_>) {
        let whole = range(node);
        if self.hidden.start <= whole.start && whole.end <= self.hidden.end {
            return;
        }
        self.hide(node, |_| false);
        self.hidden = whole;
    }

    /// Takes note of the names in a part of the tree that the view leaves out; what it does look into is no such part.
    fn hide(&mut self, node: Node<'_>, is_seen: fn(&Node<'_>) -> bool) {
        // By way of one cursor: to ask each node for its children takes long where trees are deep.
        let mut cursor = node.walk();
        loop {
            let here = cursor.node();
            self.count();
            let is_left_out = here.id() == node.id() || here.is_named() && !is_seen(&here);
            if is_left_out && here.kind() == "identifier" {
                let name = self.text(here).to_owned();
                self.ast.hidden.push(name);
            }
            if is_left_out && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    /// Whether a node is for a part of the text that is too long to be read.
    fn is_unread(&self, node: Node<'_>) -> bool {
        self.broken.iter().any(|range| range.start <= node.start_byte() && node.start_byte() < range.end)
    }

    /// Takes note of the names in a text that the tree has nothing of.
    fn hide_text(&mut self, range: TextRange) {
        let text = self.text.get(range.start..range.end).unwrap_or("");
        let names = tokens(text).into_iter().filter(|token| token.kind == TokenKind::Name);
        self.ast.hidden.extend(names.map(|token| text[token.range.start..token.range.end].to_owned()));
    }

    fn field<'n>(&self, node: Node<'n>, field: FieldId) -> Option<Node<'n>> {
        node.child_by_field_id(field?.get())
    }
}
