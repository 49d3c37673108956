//! Expressions.

use std::mem;

use tree_sitter::Node;

use super::super::*;
use super::{DEEPEST, FieldId, Lowering, children_by_field, fields};

impl Lowering<'_> {
    pub(super) fn field_expr(&mut self, node: Node<'_>, field: FieldId) -> ExprId {
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

    pub(super) fn expr(&mut self, node: Node<'_>) -> ExprId {
        if self.depth >= DEEPEST {
            self.hide_whole(node);
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
            "ellipsis" if self.is_unread(node) => Expr::Other("text that is too long to be read"),
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
            "set" => Expr::Set(self.exprs(node)),
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
            "dictionary_comprehension" => self.dictionary_comprehension(node),
            "list_splat" | "list_splat_pattern" | "splat_type" => match self.exprs(node).first() {
                Some(&inner) => Expr::Starred(inner),
                None => Expr::Error,
            },
            "dictionary_splat" => match self.exprs(node).first() {
                Some(&inner) => Expr::Unpacked(inner),
                None => Expr::Error,
            },
            "lambda" => {
                self.hide_whole(node);
                match *self.children(node).as_slice() {
                    [body] => Expr::Thunk(self.expr(body)),
                    [params, body] => self.lambda(params, body),
                    _ => Expr::Other("lambda"),
                }
            }
            "ERROR" => {
                self.hide_whole(node);
                self.seen_errors.insert(range(node));
                Expr::Error
            }
            kind => {
                self.hide_whole(node);
                Expr::Other(other_expr(kind))
            }
        }
    }

    fn lambda(&mut self, params: Node<'_>, body: Node<'_>) -> Expr {
        let params = self.children(params);
        if params.iter().any(|param| param.kind() != "identifier") {
            return Expr::Other("lambda");
        }
        let params = params.iter().map(|&param| self.text(param).to_owned()).collect();
        let around = (mem::take(&mut self.ast), mem::take(&mut self.spans));
        let body = self.expr(body);
        let (ast, _) = (mem::replace(&mut self.ast, around.0), mem::replace(&mut self.spans, around.1));
        Expr::Lambda(Arc::new(Lambda { params, body, ast }))
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
        let mut pairs = Vec::new();
        for child in self.children(node) {
            match child.kind() {
                "pair" => pairs.push((self.field_expr(child, fields().key), self.field_expr(child, fields().value))),
                // The key says it all.
                "dictionary_splat" => {
                    pairs.push((self.expr(child), self.add_expr(Expr::Ellipsis, range(child))));
                }
                _ => {}
            }
        }
        Expr::Dict(pairs)
    }

    fn comprehension(&mut self, node: Node<'_>) -> Expr {
        let element = self.field_expr(node, fields().body);
        self.clauses(node).map_or(Expr::Error, |clauses| Expr::Comprehension { element, clauses })
    }

    fn dictionary_comprehension(&mut self, node: Node<'_>) -> Expr {
        let Some(pair) = self.field(node, fields().body).filter(|body| body.kind() == "pair") else {
            return Expr::Error;
        };
        let (key, value) = (self.field_expr(pair, fields().key), self.field_expr(pair, fields().value));
        self.clauses(node).map_or(Expr::Error, |clauses| Expr::DictComprehension { key, value, clauses })
    }

    fn clauses(&mut self, node: Node<'_>) -> Option<Vec<Clause>> {
        let mut clauses = Vec::new();
        for child in self.children(node) {
            match child.kind() {
                "for_in_clause" => clauses.push(Clause::For {
                    target: self.field_expr(child, fields().left),
                    iter: self.field_expr(child, fields().right),
                }),
                "if_clause" => match self.exprs(child).as_slice() {
                    &[condition] => clauses.push(Clause::If(condition)),
                    _ => return None,
                },
                _ => {}
            }
        }
        Some(clauses)
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

    pub(super) fn args(&mut self, node: Node<'_>) -> Vec<Arg> {
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
        let children = self.children(node);
        if children.iter().any(|child| child.kind() == "interpolation") {
            return self.joined(&children);
        }
        let content = children.iter().filter(|child| child.kind() == "string_content");
        Expr::Str(content.map(|child| self.text(*child)).collect())
    }

    /// An f-string. What formats a value is not looked into.
    fn joined(&mut self, children: &[Node<'_>]) -> Expr {
        let mut parts = Vec::new();
        for &child in children {
            match child.kind() {
                "string_content" => {
                    let text = Expr::Str(self.text(child).to_owned());
                    parts.push(self.add_expr(text, range(child)));
                }
                "interpolation" => match self.exprs(child).as_slice() {
                    &[value] => parts.push(value),
                    _ => parts.push(self.add_expr(Expr::Other("formatted value"), range(child))),
                },
                _ => {}
            }
        }
        Expr::Joined(parts)
    }

    fn concatenated(&mut self, node: Node<'_>) -> Expr {
        let parts: Vec<_> = self.children(node).into_iter().map(|part| (self.string(part), range(part))).collect();
        if parts.iter().all(|(part, _)| matches!(part, Expr::Str(_))) {
            let texts = parts.iter().map(|(part, _)| if let Expr::Str(text) = part { text.as_str() } else { "" });
            return Expr::Str(texts.collect());
        }
        Expr::Joined(parts.into_iter().map(|(part, range)| self.add_expr(part, range)).collect())
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

pub(super) fn binary_op(operator: &str) -> Option<BinaryOp> {
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

fn other_expr(kind: &str) -> &'static str {
    match kind {
        "set_comprehension" => "comprehension",
        "named_expression" => "assignment expression",
        "await" => "await",
        "yield" => "yield",
        "dictionary_splat" => "dictionary splat",
        _ => "expression",
    }
}
