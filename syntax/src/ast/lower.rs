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
use crate::tokens::{TokenKind, tokens};

/// Deeper nesting than this is not looked into; it keeps the stack bounded for any text.
const DEEPEST: usize = 150;

pub(super) fn lower(root: Node<'_>, source: &BlockSource) -> (Ast, Spans) {
    let mut lowering = Lowering {
        text: &source.text,
        broken: source.broken(),
        ast: Ast::default(),
        spans: Spans::default(),
        depth: 0,
        in_scope: false,
        seen_errors: HashSet::new(),
    };
    lowering.ast.body = lowering.statements(root);
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
        self.spans.exprs.push(span);
        ExprId(self.ast.exprs.push(expr))
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

    /// Takes note of the names in a part of the tree that the view leaves out; what it does look into is no such part.
    fn hide(&mut self, node: Node<'_>, is_seen: fn(&Node<'_>) -> bool) {
        let mut cursor = node.walk();
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            if node.kind() == "identifier" {
                let name = self.text(node).to_owned();
                self.ast.hidden.push(name);
            }
            waiting.extend(node.named_children(&mut cursor).filter(|child| !is_seen(child)));
        }
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
