//! tree-sitter nodes to [`Ast`].

use std::num::NonZeroU16;
use std::sync::LazyLock;

use tree_sitter::{Language, Node, TreeCursor};

use super::*;

/// Deeper nesting than this is not looked into; it keeps the stack bounded for any text.
const DEEPEST: usize = 150;

pub(super) fn lower(root: Node<'_>, source: &BlockSource) -> (Ast, Spans) {
    let mut lowering = Lowering {
        text: &source.text,
        broken: source.broken(),
        ast: Ast::default(),
        spans: Spans::default(),
        depth: 0,
    };
    lowering.ast.body = lowering.statements(root);
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
}

impl<'t> Lowering<'t> {
    fn text(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.start_byte()..node.end_byte()).unwrap_or("")
    }

    fn add_expr(&mut self, expr: Expr, span: TextRange) -> ExprId {
        self.ast.exprs.push(expr);
        self.spans.exprs.push(span);
        ExprId(self.ast.exprs.len() as u32 - 1)
    }

    fn add_stmt(&mut self, stmt: Stmt, span: TextRange) -> StmtId {
        self.ast.stmts.push(stmt);
        self.spans.stmts.push(span);
        StmtId(self.ast.stmts.len() as u32 - 1)
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

    // Statements

    fn statements(&mut self, node: Node<'_>) -> Vec<StmtId> {
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

    fn field<'n>(&self, node: Node<'n>, field: FieldId) -> Option<Node<'n>> {
        node.child_by_field_id(field?.get())
    }

    fn statement(&mut self, node: Node<'_>, into: &mut Vec<StmtId>) {
        let stmt = match node.kind() {
            "expression_statement" => return self.expression_statement(node, into),
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
            "pass_statement" => Stmt::Pass,
            "import_statement" => self.import(node),
            "import_from_statement" | "future_import_statement" => self.import_from(node),
            "ERROR" => return self.error(node, into),
            kind => Stmt::Other { keyword: keyword(kind), body: self.nested_statements(node) },
        };
        let id = self.add_stmt(stmt, range(node));
        into.push(id);
    }

    /// What a broken place still holds: its whole statements, so that one bad line hides no other.
    fn error(&mut self, node: Node<'_>, into: &mut Vec<StmtId>) {
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

    fn expression_statement(&mut self, node: Node<'_>, into: &mut Vec<StmtId>) {
        let children = self.children(node);
        let stmt = match children.as_slice() {
            _ if self.broken.iter().any(|broken| broken.start == node.start_byte()) => Stmt::Error,
            [child] if child.kind() == "assignment" => self.assignment(*child),
            [child] if child.kind() == "augmented_assignment" => self.augmented(*child),
            [child] => Stmt::Expr(self.expr(*child)),
            many => {
                let elements = many.iter().map(|&child| self.expr(child)).collect();
                Stmt::Expr(self.add_expr(Expr::Tuple(elements), range(node)))
            }
        };
        let id = self.add_stmt(stmt, range(node));
        into.push(id);
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
        let alternatives: Vec<_> =
            self.children(node).into_iter().filter(|c| matches!(c.kind(), "elif_clause" | "else_clause")).collect();
        let mut or_else = Vec::new();
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

    fn field_expr(&mut self, node: Node<'_>, field: FieldId) -> ExprId {
        match self.field(node, field) {
            Some(child) => self.expr(child),
            None => self.add_expr(Expr::Error, TextRange::empty(node.end_byte())),
        }
    }

    fn field_exprs(&mut self, node: Node<'_>, field: FieldId) -> Vec<ExprId> {
        let mut cursor = node.walk();
        let children: Vec<_> = children_by_field(node, field, &mut cursor).collect();
        children.into_iter().map(|child| self.expr(child)).collect()
    }

    fn exprs(&mut self, node: Node<'_>) -> Vec<ExprId> {
        self.children(node).into_iter().map(|child| self.expr(child)).collect()
    }

    fn expr(&mut self, node: Node<'_>) -> ExprId {
        if self.depth >= DEEPEST {
            return self.add_expr(Expr::Other("too deeply nested expression"), range(node));
        }
        self.depth += 1;
        let id = match node.kind() {
            // Wrappers: the expression inside, with its own range.
            "parenthesized_expression" | "type" | "as_pattern_target" => match self.children(node).as_slice() {
                &[inner] => self.expr(inner),
                _ => {
                    let expr = self.expr_kind(node);
                    self.add_expr(expr, range(node))
                }
            },
            _ => {
                let expr = self.expr_kind(node);
                self.add_expr(expr, range(node))
            }
        };
        self.depth -= 1;
        id
    }

    fn expr_kind(&mut self, node: Node<'_>) -> Expr {
        match node.kind() {
            "identifier" | "keyword_identifier" | "dotted_name" => Expr::Name(self.text(node).to_owned()),
            "integer" => integer(self.text(node)).map_or(Expr::Other("integer"), Expr::Int),
            "float" => float(self.text(node)).map_or(Expr::Other("float"), |value| Expr::Float(FloatBits::new(value))),
            "string" => self.string(node),
            "concatenated_string" => self.concatenated(node),
            "true" => Expr::Bool(true),
            "false" => Expr::Bool(false),
            "none" => Expr::None,
            "ellipsis" => Expr::Ellipsis,
            "attribute" | "member_type" => {
                match (self.field(node, fields().object), self.field(node, fields().attribute)) {
                    (Some(object), Some(name)) => {
                        let name = self.text(name).to_owned();
                        Expr::Attribute { value: self.expr(object), name }
                    }
                    _ => Expr::Error,
                }
            }
            "call" => {
                let func = self.field_expr(node, fields().function);
                Expr::Call {
                    func,
                    args: self.field(node, fields().arguments).map_or_else(Vec::new, |args| self.args(args)),
                }
            }
            "subscript" => {
                let value = self.field_expr(node, fields().value);
                let indices = self.field_exprs(node, fields().subscript);
                Expr::Subscript { value, index: self.one_or_tuple(indices, node) }
            }
            "generic_type" => self.generic_type(node),
            "slice" => self.slice(node),
            "tuple" | "expression_list" | "pattern_list" | "tuple_pattern" => Expr::Tuple(self.exprs(node)),
            "list" | "list_pattern" => Expr::List(self.exprs(node)),
            "dictionary" => self.dictionary(node),
            "unary_operator" | "not_operator" => {
                let op = match self.field(node, fields().operator).map_or("not", |operator| self.text(operator)) {
                    "-" => UnaryOp::Neg,
                    "+" => UnaryOp::Pos,
                    "~" => UnaryOp::Invert,
                    _ => UnaryOp::Not,
                };
                Expr::Unary { op, operand: self.field_expr(node, fields().argument) }
            }
            "binary_operator" | "union_type" => self.binary(node),
            "boolean_operator" => {
                let operator = self.field(node, fields().operator).map_or("", |operator| self.text(operator));
                let op = if operator == "or" { BoolOp::Or } else { BoolOp::And };
                Expr::Bool2 {
                    op,
                    left: self.field_expr(node, fields().left),
                    right: self.field_expr(node, fields().right),
                }
            }
            "comparison_operator" => self.comparison(node),
            "conditional_expression" => match self.exprs(node).as_slice() {
                &[then, condition, otherwise] => Expr::Ternary { then, condition, otherwise },
                _ => Expr::Error,
            },
            "list_comprehension" | "generator_expression" => self.comprehension(node),
            "list_splat" | "list_splat_pattern" | "splat_type" => match self.exprs(node).first() {
                Some(&inner) => Expr::Starred(inner),
                None => Expr::Error,
            },
            "ERROR" => Expr::Error,
            kind => Expr::Other(other_expr(kind)),
        }
    }

    fn one_or_tuple(&mut self, mut exprs: Vec<ExprId>, node: Node<'_>) -> ExprId {
        match exprs.len() {
            1 => exprs.remove(0),
            _ => self.add_expr(Expr::Tuple(exprs), range(node)),
        }
    }

    /// In annotations `tuple[X, Y]` has a node kind of its own.
    fn generic_type(&mut self, node: Node<'_>) -> Expr {
        match self.children(node).as_slice() {
            &[value, parameters] => {
                let value = self.expr(value);
                let indices = self.exprs(parameters);
                Expr::Subscript { value, index: self.one_or_tuple(indices, parameters) }
            }
            _ => Expr::Error,
        }
    }

    fn slice(&mut self, node: Node<'_>) -> Expr {
        let mut parts = [None, None, None];
        let mut part = 0;
        let mut cursor = node.walk();
        let children: Vec<_> = node.children(&mut cursor).collect();
        for child in children {
            match child.kind() {
                ":" => part += 1,
                _ if child.is_named() && part < 3 => parts[part] = Some(self.expr(child)),
                _ => {}
            }
        }
        let [lower, upper, step] = parts;
        Expr::Slice { lower, upper, step }
    }

    fn dictionary(&mut self, node: Node<'_>) -> Expr {
        let pairs: Vec<_> = self.children(node).into_iter().filter(|child| child.kind() == "pair").collect();
        Expr::Dict(
            pairs.into_iter().map(|p| (self.field_expr(p, fields().key), self.field_expr(p, fields().value))).collect(),
        )
    }

    fn comprehension(&mut self, node: Node<'_>) -> Expr {
        let element = self.field_expr(node, fields().body);
        let mut clauses = Vec::new();
        for child in self.children(node) {
            match child.kind() {
                "for_in_clause" => clauses.push(Clause::For {
                    target: self.field_expr(child, fields().left),
                    iter: self.field_expr(child, fields().right),
                }),
                "if_clause" => match self.exprs(child).as_slice() {
                    &[condition] => clauses.push(Clause::If(condition)),
                    _ => return Expr::Error,
                },
                _ => {}
            }
        }
        Expr::Comprehension { element, clauses }
    }

    fn binary(&mut self, node: Node<'_>) -> Expr {
        match self.field(node, fields().operator).and_then(|operator| binary_op(self.text(operator))) {
            Some(op) => Expr::Binary {
                op,
                left: self.field_expr(node, fields().left),
                right: self.field_expr(node, fields().right),
            },
            None => Expr::Other("union_type"),
        }
    }

    fn comparison(&mut self, node: Node<'_>) -> Expr {
        let mut cursor = node.walk();
        let operators: Vec<_> = children_by_field(node, fields().operators, &mut cursor)
            .map(|operator| compare_op(operator.kind()))
            .collect();
        let operands = self.exprs(node);
        match operands.split_first() {
            Some((&left, rest)) if rest.len() == operators.len() && operators.iter().all(Option::is_some) => {
                Expr::Compare { left, rest: operators.into_iter().flatten().zip(rest.iter().copied()).collect() }
            }
            _ => Expr::Error,
        }
    }

    fn args(&mut self, node: Node<'_>) -> Vec<Arg> {
        if node.kind() != "argument_list" {
            return vec![Arg { keyword: None, value: self.expr(node) }];
        }
        let mut args = Vec::new();
        for child in self.children(node) {
            args.push(match child.kind() {
                "keyword_argument" => Arg {
                    keyword: self.field(child, fields().name).map(|name| self.text(name).to_owned()),
                    value: self.field_expr(child, fields().value),
                },
                _ => Arg { keyword: None, value: self.expr(child) },
            });
        }
        args
    }

    fn string(&mut self, node: Node<'_>) -> Expr {
        let mut content = String::new();
        for child in self.children(node) {
            match child.kind() {
                "string_content" => content.push_str(self.text(child)),
                "interpolation" => return Expr::Other("f-string"),
                _ => {}
            }
        }
        Expr::Str(content)
    }

    fn concatenated(&mut self, node: Node<'_>) -> Expr {
        let mut content = String::new();
        for part in self.children(node) {
            match self.string(part) {
                Expr::Str(text) => content += &text,
                other => return other,
            }
        }
        Expr::Str(content)
    }
}

fn integer(text: &str) -> Option<i128> {
    let digits = text.replace('_', "").to_ascii_lowercase();
    let (digits, radix) = match digits.get(..2) {
        Some("0x") => (&digits[2..], 16),
        Some("0o") => (&digits[2..], 8),
        Some("0b") => (&digits[2..], 2),
        _ => (digits.as_str(), 10),
    };
    i128::from_str_radix(digits, radix).ok()
}

fn float(text: &str) -> Option<f64> {
    text.replace('_', "").parse().ok()
}

fn binary_op(operator: &str) -> Option<BinaryOp> {
    Some(match operator {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "@" => BinaryOp::MatMul,
        "/" => BinaryOp::Div,
        "//" => BinaryOp::FloorDiv,
        "%" => BinaryOp::Mod,
        "**" => BinaryOp::Pow,
        "<<" => BinaryOp::Shl,
        ">>" => BinaryOp::Shr,
        "&" => BinaryOp::BitAnd,
        "|" => BinaryOp::BitOr,
        "^" => BinaryOp::BitXor,
        _ => return None,
    })
}

fn compare_op(operator: &str) -> Option<CompareOp> {
    Some(match operator {
        "==" => CompareOp::Eq,
        "!=" | "<>" => CompareOp::Ne,
        "<" => CompareOp::Lt,
        "<=" => CompareOp::Le,
        ">" => CompareOp::Gt,
        ">=" => CompareOp::Ge,
        "is" => CompareOp::Is,
        "is not" => CompareOp::IsNot,
        "in" => CompareOp::In,
        "not in" => CompareOp::NotIn,
        _ => return None,
    })
}

/// The keyword of a statement that is not looked into.
fn keyword(kind: &str) -> &'static str {
    match kind {
        "try_statement" => "try",
        "assert_statement" => "assert",
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

fn other_expr(kind: &str) -> &'static str {
    match kind {
        "lambda" => "lambda",
        "set_comprehension" | "dictionary_comprehension" => "comprehension",
        "named_expression" => "assignment expression",
        "await" => "await",
        "yield" => "yield",
        "set" => "set",
        "dictionary_splat" => "dictionary splat",
        _ => "expression",
    }
}

#[cfg(test)]
mod tests {
    use crate::{Document, ast};
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        let document = Document::new(text);
        let mut shown = String::new();
        for block in document.blocks() {
            let (ast, _) = ast::parse(&block.source);
            for (_, stmt) in ast.stmts() {
                shown += &format!("{stmt:?}\n");
            }
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn assignments_and_annotations() {
        check(
            "x: pl.Tile[[64, N], pl.FP32] = y\na = b = 0x10\nc, d = e\nf[0:2, 1] = g\n",
            expect![[r#"
                Assign { targets: [ExprId(0)], annotation: Some(ExprId(9)), value: Some(ExprId(10)) }
                Assign { targets: [ExprId(11), ExprId(12)], annotation: None, value: Some(ExprId(13)) }
                Assign { targets: [ExprId(16)], annotation: None, value: Some(ExprId(17)) }
                Assign { targets: [ExprId(24)], annotation: None, value: Some(ExprId(25)) }
            "#]],
        );
    }

    #[test]
    fn deep_nesting_is_cut_off() {
        let deep = format!("x = {}1{}\n", "(-".repeat(20_000), ")".repeat(20_000));
        let document = Document::new(&deep);
        let (ast, _) = ast::parse(&document.blocks()[0].source);
        assert_eq!(ast.body.len(), 1);
        let deep: String = (0..2_000).map(|n| format!("{}if x:\n", " ".repeat(n))).collect();
        ast::parse(&Document::new(&deep).blocks()[0].source);
    }

    #[test]
    fn an_indented_method_parses_like_a_function() {
        check(
            "class P:\n    @pl.function(type=pl.FunctionType.InCore)\n    def k(self, *, a: pl.Tensor[[64], pl.FP32], n=1) -> tuple[A, B]:\n        with pl.at(level=1) as t:\n            return a\n",
            expect![[r#"
                Class { decorators: [], name: ExprId(0), bases: [], body: [] }
                Return(Some(ExprId(29)))
                With { items: [WithItem { context: ExprId(27), target: Some(ExprId(28)) }], body: [StmtId(0)] }
                Function(Function { decorators: [ExprId(5)], name: ExprId(6), params: [Param { name: ExprId(7), annotation: None, default: None, kind: Plain }, Param { name: ExprId(8), annotation: Some(ExprId(16)), default: None, kind: KeywordOnly }, Param { name: ExprId(17), annotation: None, default: Some(ExprId(18)), kind: KeywordOnly }], returns: Some(ExprId(23)), body: [StmtId(1)] })
            "#]],
        );
    }

    #[test]
    fn a_broken_line_hides_no_other() {
        let document = Document::new("def k(a):\n    x = pl.load(a, [0, 0], [64,\n    y = pl.exp(x)\n    return y\n");
        let (ast, _) = ast::parse(&document.blocks()[0].source);
        assert!(ast.stmts().any(|(_, stmt)| matches!(stmt, ast::Stmt::Return(_))), "{ast:#?}");
    }
}
