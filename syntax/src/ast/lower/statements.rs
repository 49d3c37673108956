//! Statements.

use tree_sitter::Node;

use super::super::*;
use super::expressions::binary_op;
use super::{DEEPEST, Lowering, fields};

/// Whether a statement is an outermost `with`, or a loop around no `with`: what an author works on as a whole.
fn is_scope(node: Node<'_>) -> bool {
    match node.kind() {
        "with_statement" => true,
        "for_statement" => !holds_with(node, 0),
        _ => false,
    }
}

fn holds_with(node: Node<'_>, depth: usize) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(|child| match child.kind() {
        "with_statement" => true,
        kind => {
            let is_compound = kind == "block" || kind.ends_with("_clause") || kind.ends_with("_statement");
            is_compound && kind != "expression_statement" && depth < DEEPEST && holds_with(child, depth + 1)
        }
    })
}

impl Lowering<'_> {
    pub(super) fn statements(&mut self, node: Node<'_>) -> Vec<StmtId> {
        if self.depth >= DEEPEST {
            return Vec::new();
        }
        self.depth += 1;
        let mut statements = Vec::new();
        for child in self.children(node) {
            self.statement(child, &mut statements);
        }
        self.depth -= 1;
        statements
    }

    fn body_of(&mut self, node: Node<'_>) -> Vec<StmtId> {
        self.field(node, fields().body).map_or_else(Vec::new, |body| self.statements(body))
    }

    fn statement(&mut self, node: Node<'_>, into: &mut Vec<StmtId>) {
        if self.in_scope || !is_scope(node) {
            return self.numbered(node, into);
        }
        self.turn_page();
        self.in_scope = true;
        self.numbered(node, into);
        self.in_scope = false;
        self.turn_page();
    }

    fn numbered(&mut self, node: Node<'_>, into: &mut Vec<StmtId>) {
        let mut stmt = match node.kind() {
            "expression_statement" => self.expression_statement(node),
            "function_definition" => self.function(node, Vec::new()),
            "class_definition" => self.class(node, Vec::new()),
            "decorated_definition" => self.decorated(node),
            "if_statement" => self.if_statement(node),
            "for_statement" => Stmt::For {
                target: self.field_expr(node, fields().left),
                iter: self.field_expr(node, fields().right),
                body: self.body_of(node),
                or_else: self.else_body(node),
            },
            "while_statement" => Stmt::While {
                condition: self.field_expr(node, fields().condition),
                body: self.body_of(node),
                or_else: self.else_body(node),
            },
            "with_statement" => self.with(node),
            "return_statement" => {
                let value = self.children(node).first().map(|&value| self.expr(value));
                Stmt::Return(value)
            }
            "break_statement" => Stmt::Break,
            "continue_statement" => Stmt::Continue,
            "assert_statement" => {
                let parts = self.children(node);
                parts.iter().skip(1).for_each(|message| self.hide_whole(*message));
                match parts.first() {
                    Some(&condition) => Stmt::Assert(self.expr(condition)),
                    None => Stmt::Error,
                }
            }
            "pass_statement" => Stmt::Pass,
            "import_statement" => self.import(node),
            "import_from_statement" | "future_import_statement" => self.import_from(node),
            "ERROR" => return self.error(node, into),
            kind => {
                self.hide(node, |child| {
                    child.kind() == "block" && child.parent().is_some_and(|it| it.kind() != "except_clause")
                });
                Stmt::Other { keyword: keyword(kind), body: self.nested_statements(node) }
            }
        };
        let unseen = self.unseen_errors(node);
        match &mut stmt {
            Stmt::Error => {}
            // After a header that does not parse, the function does.
            Stmt::Function(function) => drop(function.body.splice(..0, unseen)),
            _ => into.extend(unseen),
        }
        let id = self.add_stmt(stmt, range(node));
        into.push(id);
    }

    /// Statements for what does not parse in a statement, but for those in it, where the view has no expression for it: the `0` of
    /// `a + 0p`.
    fn unseen_errors(&mut self, node: Node<'_>) -> Vec<StmtId> {
        if !node.has_error() {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut cursor = node.walk();
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            for child in node.children(&mut cursor) {
                if child.is_error() || child.is_missing() {
                    found.extend(self.seen_errors.insert(range(child)).then(|| range(child)));
                } else if child.has_error() && child.kind() != "block" {
                    waiting.push(child);
                }
            }
        }
        found.into_iter().map(|range| self.add_stmt(Stmt::Error, range)).collect()
    }

    /// What a broken place still holds: its whole statements, so that one bad line hides no other.
    fn error(&mut self, node: Node<'_>, into: &mut Vec<StmtId>) {
        self.hide_whole(node);
        let id = self.add_stmt(Stmt::Error, range(node));
        into.push(id);
        if self.depth >= DEEPEST {
            return;
        }
        self.depth += 1;
        for child in self.children(node) {
            if child.kind().ends_with("_statement") || child.kind().ends_with("_definition") {
                self.statement(child, into);
            }
        }
        self.depth -= 1;
    }

    fn nested_statements(&mut self, node: Node<'_>) -> Vec<StmtId> {
        let mut statements = Vec::new();
        for child in self.children(node) {
            if child.kind() == "block" {
                statements.extend(self.statements(child));
            }
        }
        statements
    }

    fn expression_statement(&mut self, node: Node<'_>) -> Stmt {
        let children = self.children(node);
        match children.as_slice() {
            _ if let Some(broken) = self.broken.iter().find(|broken| broken.start == node.start_byte()) => {
                self.hide_text(*broken);
                Stmt::Error
            }
            [child] if child.kind() == "assignment" => self.assignment(*child),
            [child] if child.kind() == "augmented_assignment" => self.augmented(*child),
            [child] => Stmt::Expr(self.expr(*child)),
            many => {
                let elements = many.iter().map(|&child| self.expr(child)).collect();
                Stmt::Expr(self.add_expr(Expr::Tuple(elements), range(node)))
            }
        }
    }

    fn assignment(&mut self, node: Node<'_>) -> Stmt {
        let mut targets = vec![self.field_expr(node, fields().left)];
        let annotation = self.field(node, fields().annotation).map(|annotation| self.expr(annotation));
        let mut right = self.field(node, fields().right);
        while let Some(inner) = right.filter(|right| right.kind() == "assignment") {
            targets.push(self.field_expr(inner, fields().left));
            right = self.field(inner, fields().right);
        }
        Stmt::Assign { targets, annotation, value: right.map(|value| self.expr(value)) }
    }

    fn augmented(&mut self, node: Node<'_>) -> Stmt {
        let operator = self.field(node, fields().operator).map_or("", |operator| self.text(operator));
        match binary_op(operator.trim_end_matches('=')) {
            Some(op) => Stmt::AugAssign {
                target: self.field_expr(node, fields().left),
                op,
                value: self.field_expr(node, fields().right),
            },
            None => Stmt::Error,
        }
    }

    fn decorated(&mut self, node: Node<'_>) -> Stmt {
        let mut decorators = Vec::new();
        for child in self.children(node) {
            match child.kind() {
                "decorator" => {
                    let expr = self.children(child).first().map(|&expr| self.expr(expr));
                    decorators.extend(expr);
                }
                "function_definition" => return self.function(child, decorators),
                "class_definition" => return self.class(child, decorators),
                _ => {}
            }
        }
        Stmt::Error
    }

    fn function(&mut self, node: Node<'_>, decorators: Vec<ExprId>) -> Stmt {
        Stmt::Function(Function {
            decorators,
            name: self.field_expr(node, fields().name),
            params: self.field(node, fields().parameters).map_or_else(Vec::new, |params| self.params(params)),
            returns: self.field(node, fields().return_type).map(|returns| self.expr(returns)),
            body: self.body_of(node),
        })
    }

    fn params(&mut self, node: Node<'_>) -> Vec<Param> {
        let mut params = Vec::new();
        let mut kind = ParamKind::Plain;
        for child in self.children(node) {
            let (name, annotation, default) = match child.kind() {
                "keyword_separator" => {
                    kind = ParamKind::KeywordOnly;
                    continue;
                }
                "identifier" | "list_splat_pattern" | "dictionary_splat_pattern" => (Some(child), None, None),
                "default_parameter" | "typed_default_parameter" => (
                    self.field(child, fields().name),
                    self.field(child, fields().annotation),
                    self.field(child, fields().value),
                ),
                "typed_parameter" => (child.named_child(0), self.field(child, fields().annotation), None),
                _ => continue,
            };
            let Some(name) = name else { continue };
            let splat = match name.kind() {
                "list_splat_pattern" => Some(ParamKind::Args),
                "dictionary_splat_pattern" => Some(ParamKind::Kwargs),
                _ => None,
            };
            let name = if splat.is_some() { name.named_child(0).unwrap_or(name) } else { name };
            params.push(Param {
                name: self.expr(name),
                annotation: annotation.map(|annotation| self.expr(annotation)),
                default: default.map(|default| self.expr(default)),
                kind: splat.unwrap_or(kind),
            });
            if splat == Some(ParamKind::Args) {
                kind = ParamKind::KeywordOnly;
            }
        }
        params
    }

    fn class(&mut self, node: Node<'_>, decorators: Vec<ExprId>) -> Stmt {
        Stmt::Class {
            decorators,
            name: self.field_expr(node, fields().name),
            bases: self.field(node, fields().superclasses).map_or_else(Vec::new, |bases| self.args(bases)),
            body: self.body_of(node),
        }
    }

    fn if_statement(&mut self, node: Node<'_>) -> Stmt {
        let condition = self.field_expr(node, fields().condition);
        let body = self.field(node, fields().consequence).map_or_else(Vec::new, |body| self.statements(body));
        let mut alternatives: Vec<_> =
            self.children(node).into_iter().filter(|c| matches!(c.kind(), "elif_clause" | "else_clause")).collect();
        let rest = alternatives.split_off(alternatives.len().min(DEEPEST));
        let mut or_else = self.more_branches(&rest);
        for clause in alternatives.into_iter().rev() {
            or_else = match clause.kind() {
                "else_clause" => self.body_of(clause),
                _ => {
                    let nested = Stmt::If {
                        condition: self.field_expr(clause, fields().condition),
                        body: self
                            .field(clause, fields().consequence)
                            .map_or_else(Vec::new, |body| self.statements(body)),
                        or_else,
                    };
                    vec![self.add_stmt(nested, range(clause))]
                }
            };
        }
        Stmt::If { condition, body, or_else }
    }

    /// The branches of an `if` that has so many that those before hold each other as deep as anything may: nothing is said of when they run.
    fn more_branches(&mut self, clauses: &[Node<'_>]) -> Vec<StmtId> {
        let (Some(first), Some(last)) = (clauses.first(), clauses.last()) else { return Vec::new() };
        if first.kind() == "else_clause" {
            return self.branch(*first);
        }
        let body = clauses.iter().flat_map(|&clause| self.branch(clause)).collect();
        let whole = TextRange::new(range(*first).start, range(*last).end);
        vec![self.add_stmt(Stmt::Other { keyword: "elif", body }, whole)]
    }

    fn branch(&mut self, clause: Node<'_>) -> Vec<StmtId> {
        if let Some(condition) = self.field(clause, fields().condition) {
            self.hide_whole(condition);
        }
        match self.field(clause, fields().consequence) {
            Some(body) => self.statements(body),
            None => self.body_of(clause),
        }
    }

    fn else_body(&mut self, node: Node<'_>) -> Vec<StmtId> {
        self.field(node, fields().alternative).map_or_else(Vec::new, |clause| self.body_of(clause))
    }

    fn with(&mut self, node: Node<'_>) -> Stmt {
        let mut items = Vec::new();
        for clause in self.children(node).into_iter().filter(|child| child.kind() == "with_clause") {
            for item in self.children(clause) {
                items.extend(self.with_item(item));
            }
        }
        Stmt::With { items, body: self.body_of(node) }
    }

    fn with_item(&mut self, node: Node<'_>) -> Option<WithItem> {
        let value = self.field(node, fields().value)?;
        if value.kind() != "as_pattern" {
            return Some(WithItem { context: self.expr(value), target: None });
        }
        let context = self.expr(value.named_child(0)?);
        let alias = self.field(value, fields().alias).and_then(|alias| alias.named_child(0));
        Some(WithItem { context, target: alias.map(|alias| self.expr(alias)) })
    }

    fn import(&mut self, node: Node<'_>) -> Stmt {
        let modules = self.children(node).into_iter().map(|child| {
            let (module, alias) = self.aliased(child);
            ImportedModule { module, alias }
        });
        Stmt::Import(modules.collect())
    }

    fn import_from(&mut self, node: Node<'_>) -> Stmt {
        let module = self.field(node, fields().module_name);
        let path = module.map_or("", |module| self.text(module));
        let name = path.trim_start_matches(['.', ' ']);
        let level = path[..path.len() - name.len()].matches('.').count() as u32;
        let mut names = Vec::new();
        for child in self.children(node) {
            if Some(child.id()) == module.map(|module| module.id()) {
                continue;
            }
            if child.kind() == "wildcard_import" {
                names.push(ImportedName { name: "*".to_owned(), alias: None });
                continue;
            }
            let (name, alias) = self.aliased(child);
            names.push(ImportedName { name, alias });
        }
        Stmt::ImportFrom { level, module: name.to_owned(), names }
    }

    fn aliased(&self, node: Node<'_>) -> (String, Option<String>) {
        let owned = |node: Node<'_>| self.text(node).to_owned();
        match node.kind() {
            "aliased_import" => (
                self.field(node, fields().name).map(owned).unwrap_or_default(),
                self.field(node, fields().alias).map(owned),
            ),
            _ => (owned(node), None),
        }
    }

    // Expressions
}

/// The keyword of a statement that is not looked into.
fn keyword(kind: &str) -> &'static str {
    match kind {
        "try_statement" => "try",
        "raise_statement" => "raise",
        "delete_statement" => "del",
        "global_statement" => "global",
        "nonlocal_statement" => "nonlocal",
        "match_statement" => "match",
        "type_alias_statement" => "type",
        "print_statement" => "print",
        "exec_statement" => "exec",
        _ => "statement",
    }
}
