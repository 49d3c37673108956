//! An owned view of a block's tree without positions, so that moving text or editing a comment changes nothing in it.
//! [`Spans`] holds the positions beside it, relative to the start of the block.

use std::sync::Arc;

use tree_sitter::Node;

use crate::{BlockSource, TextRange};

mod lower;
mod nodes;

use nodes::Nodes;

/// An expression of an [`Ast`]. Ids grow in the order of the text's tree, and those of a `with` or a loop do not depend on how many there are
/// before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(u32);

/// A statement of an [`Ast`], numbered as expressions are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StmtId(u32);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ast {
    exprs: Nodes<Expr>,
    stmts: Nodes<Stmt>,
    pub body: Vec<StmtId>,
    /// Names in what the view does not look into (lambdas, handlers, patterns, places that do not parse), where they may be bound.
    pub hidden: Vec<String>,
}

/// Byte ranges of an [`Ast`]'s nodes and the comments, relative to the start of the block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spans {
    exprs: Nodes<TextRange>,
    stmts: Nodes<TextRange>,
    pub comments: Vec<TextRange>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    Name(String),
    Int(i128),
    Float(FloatBits),
    Str(String),
    Bool(bool),
    None,
    Ellipsis,
    Attribute {
        value: ExprId,
        name: String,
    },
    Call {
        func: ExprId,
        args: Vec<Arg>,
    },
    Subscript {
        value: ExprId,
        index: ExprId,
    },
    Slice {
        lower: Option<ExprId>,
        upper: Option<ExprId>,
        step: Option<ExprId>,
    },
    Tuple(Vec<ExprId>),
    List(Vec<ExprId>),
    /// `{a, b}`
    Set(Vec<ExprId>),
    Dict(Vec<(ExprId, ExprId)>),
    Unary {
        op: UnaryOp,
        operand: ExprId,
    },
    Binary {
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
    },
    /// `a < b <= c`: the first operand, then each operator with its right operand.
    Compare {
        left: ExprId,
        rest: Vec<(CompareOp, ExprId)>,
    },
    Bool2 {
        op: BoolOp,
        left: ExprId,
        right: ExprId,
    },
    Ternary {
        then: ExprId,
        condition: ExprId,
        otherwise: ExprId,
    },
    Starred(ExprId),
    /// `**mapping`, as an argument or as the key of an entry of a dictionary.
    Unpacked(ExprId),
    /// `[element for … in … if …]`, or the same as a generator.
    Comprehension {
        element: ExprId,
        clauses: Vec<Clause>,
    },
    /// `{key: value for … in … if …}`
    DictComprehension {
        key: ExprId,
        value: ExprId,
        clauses: Vec<Clause>,
    },
    /// An f-string: its texts and values in order.
    Joined(Vec<ExprId>),
    /// `lambda: body`
    Thunk(ExprId),
    /// `lambda a, b: body`
    Lambda(Arc<Lambda>),
    /// Python that tilefit does not look into, by its tree-sitter name: `await`, a `lambda` with defaults, …
    Other(&'static str),
    /// A place where the text does not parse.
    Error,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arg {
    pub keyword: Option<String>,
    pub value: ExprId,
}

/// A part of a comprehension, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clause {
    For { target: ExprId, iter: ExprId },
    If(ExprId),
}

/// A float compared by its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FloatBits(u64);

impl FloatBits {
    pub fn new(value: f64) -> Self {
        FloatBits(value.to_bits())
    }

    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Neg,
    Pos,
    Not,
    Invert,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    MatMul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Is,
    IsNot,
    In,
    NotIn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoolOp {
    And,
    Or,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stmt {
    Function(Function),
    Class {
        decorators: Vec<ExprId>,
        name: ExprId,
        bases: Vec<Arg>,
        body: Vec<StmtId>,
    },
    /// `a = b = value`, or `a: annotation = value`, or a bare `a: annotation`.
    Assign {
        targets: Vec<ExprId>,
        annotation: Option<ExprId>,
        value: Option<ExprId>,
    },
    AugAssign {
        target: ExprId,
        op: BinaryOp,
        value: ExprId,
    },
    Expr(ExprId),
    For {
        target: ExprId,
        iter: ExprId,
        body: Vec<StmtId>,
        or_else: Vec<StmtId>,
    },
    While {
        condition: ExprId,
        body: Vec<StmtId>,
        or_else: Vec<StmtId>,
    },
    /// `elif` nests in `or_else`.
    If {
        condition: ExprId,
        body: Vec<StmtId>,
        or_else: Vec<StmtId>,
    },
    With {
        items: Vec<WithItem>,
        body: Vec<StmtId>,
    },
    Return(Option<ExprId>),
    Break,
    Continue,
    Pass,
    Import(Vec<ImportedModule>),
    ImportFrom {
        level: u32,
        module: String,
        names: Vec<ImportedName>,
    },
    /// `assert condition, message`; the message is left out.
    Assert(ExprId),
    /// Python that tilefit does not look into, by its keyword: `try`, `del`, `global`, `match`, …
    Other {
        keyword: &'static str,
        body: Vec<StmtId>,
    },
    /// A place where the text does not parse.
    Error,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    pub decorators: Vec<ExprId>,
    /// Always an [`Expr::Name`].
    pub name: ExprId,
    pub params: Vec<Param>,
    pub returns: Option<ExprId>,
    pub body: Vec<StmtId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Always an [`Expr::Name`].
    pub name: ExprId,
    pub annotation: Option<ExprId>,
    pub default: Option<ExprId>,
    pub kind: ParamKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParamKind {
    Plain,
    /// After `*` or `*args`.
    KeywordOnly,
    /// `*args`
    Args,
    /// `**kwargs`
    Kwargs,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithItem {
    pub context: ExprId,
    pub target: Option<ExprId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedModule {
    pub module: String,
    pub alias: Option<String>,
}

/// `name as alias` of a from-import; the name `*` imports everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedName {
    pub name: String,
    pub alias: Option<String>,
}

/// A lambda whose parameters have no defaults. Its names are its own, so that its body is no part of the tree around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lambda {
    pub params: Vec<String>,
    /// An expression of `ast`.
    pub body: ExprId,
    pub ast: Ast,
}

impl Expr {
    /// The expressions that this one is made of.
    pub fn parts(&self) -> Vec<ExprId> {
        let of_clauses = |clauses: &[Clause]| {
            let parts = clauses.iter().flat_map(|clause| match *clause {
                Clause::For { target, iter } => vec![target, iter],
                Clause::If(condition) => vec![condition],
            });
            parts.collect::<Vec<_>>()
        };
        match self {
            Expr::Attribute { value, .. } => vec![*value],
            Expr::Call { func, args } => [*func].into_iter().chain(args.iter().map(|arg| arg.value)).collect(),
            Expr::Subscript { value, index } => vec![*value, *index],
            Expr::Slice { lower, upper, step } => [lower, upper, step].into_iter().flatten().copied().collect(),
            Expr::Tuple(parts) | Expr::List(parts) | Expr::Set(parts) | Expr::Joined(parts) => parts.clone(),
            Expr::Dict(pairs) => pairs.iter().flat_map(|&(key, value)| [key, value]).collect(),
            Expr::Unary { operand, .. } => vec![*operand],
            Expr::Binary { left, right, .. } | Expr::Bool2 { left, right, .. } => vec![*left, *right],
            Expr::Compare { left, rest } => [*left].into_iter().chain(rest.iter().map(|(_, right)| *right)).collect(),
            Expr::Ternary { then, condition, otherwise } => vec![*then, *condition, *otherwise],
            Expr::Starred(inner) | Expr::Unpacked(inner) | Expr::Thunk(inner) => vec![*inner],
            Expr::Comprehension { element, clauses } => [vec![*element], of_clauses(clauses)].concat(),
            Expr::DictComprehension { key, value, clauses } => [vec![*key, *value], of_clauses(clauses)].concat(),
            Expr::Name(_) | Expr::Int(_) | Expr::Float(_) | Expr::Str(_) | Expr::Bool(_) => Vec::new(),
            Expr::None | Expr::Ellipsis | Expr::Lambda(_) | Expr::Other(_) | Expr::Error => Vec::new(),
        }
    }
}

impl Stmt {
    /// The expressions of the statement itself, without those of the statements in it.
    pub fn exprs(&self) -> Vec<ExprId> {
        match self {
            Stmt::Assign { targets, annotation, value } => {
                targets.iter().chain(annotation).chain(value).copied().collect()
            }
            Stmt::AugAssign { target, value, .. } => vec![*target, *value],
            Stmt::Expr(expr) | Stmt::Assert(expr) => vec![*expr],
            Stmt::For { target, iter, .. } => vec![*target, *iter],
            Stmt::While { condition, .. } | Stmt::If { condition, .. } => vec![*condition],
            Stmt::With { items, .. } => {
                items.iter().flat_map(|item| [Some(item.context), item.target]).flatten().collect()
            }
            Stmt::Return(value) => value.iter().copied().collect(),
            _ => Vec::new(),
        }
    }

    /// The statements in it, list by list; those of inner functions and classes are their own.
    pub fn bodies(&self) -> impl Iterator<Item = &[StmtId]> {
        let [first, second] = match self {
            Stmt::For { body, or_else, .. } | Stmt::While { body, or_else, .. } | Stmt::If { body, or_else, .. } => {
                [Some(body), Some(or_else)]
            }
            Stmt::With { body, .. } | Stmt::Other { body, .. } => [Some(body), None],
            _ => [None, None],
        };
        first.into_iter().chain(second).map(Vec::as_slice)
    }
}

/// The last of names that dots join: `load` of `pl.tile.load`.
pub fn last_name(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

impl ImportedName {
    /// The name that the importing module sees.
    pub fn bound(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.name)
    }
}

impl Ast {
    pub fn expr(&self, id: ExprId) -> &Expr {
        self.exprs.get(id.0).unwrap_or(&Expr::Error)
    }

    pub fn stmt(&self, id: StmtId) -> &Stmt {
        self.stmts.get(id.0).unwrap_or(&Stmt::Error)
    }

    /// The identifier, if the expression is one.
    pub fn name(&self, id: ExprId) -> Option<&str> {
        match self.expr(id) {
            Expr::Name(name) => Some(name),
            _ => None,
        }
    }

    /// `a.b.c` as its parts, if the expression is a plain dotted name.
    pub fn dotted(&self, id: ExprId) -> Option<Vec<&str>> {
        match self.expr(id) {
            Expr::Name(name) => Some(vec![name]),
            Expr::Attribute { value, name } => {
                let mut parts = self.dotted(*value)?;
                parts.push(name);
                Some(parts)
            }
            _ => None,
        }
    }

    /// Elements of a tuple or list literal.
    pub fn elements(&self, id: ExprId) -> Option<&[ExprId]> {
        match self.expr(id) {
            Expr::Tuple(elements) | Expr::List(elements) => Some(elements),
            _ => None,
        }
    }

    /// The expressions in statements, however deep.
    pub fn exprs_in(&self, body: &[StmtId]) -> Vec<ExprId> {
        let mut statements = body.to_vec();
        let mut found = Vec::new();
        while let Some(stmt) = statements.pop().map(|stmt| self.stmt(stmt)) {
            statements.extend(stmt.bodies().flatten());
            let mut exprs = stmt.exprs();
            while let Some(expr) = exprs.pop() {
                exprs.extend(self.expr(expr).parts());
                found.push(expr);
            }
        }
        found
    }

    /// All expressions with their ids, in the order of the text's tree.
    pub fn exprs(&self) -> impl Iterator<Item = (ExprId, &Expr)> {
        self.exprs.iter().map(|(id, expr)| (ExprId(id), expr))
    }

    pub fn stmts(&self) -> impl Iterator<Item = (StmtId, &Stmt)> {
        self.stmts.iter().map(|(id, stmt)| (StmtId(id), stmt))
    }
}

impl Spans {
    pub fn expr(&self, id: ExprId) -> TextRange {
        self.exprs.get(id.0).copied().unwrap_or_default()
    }

    pub fn stmt(&self, id: StmtId) -> TextRange {
        self.stmts.get(id.0).copied().unwrap_or_default()
    }
}

/// The view of a block. Never fails: what does not parse becomes `Error` nodes.
pub fn parse(source: &BlockSource) -> (Ast, Spans) {
    match source.tree() {
        Some(tree) => lower::lower(tree.root_node(), source),
        None => Default::default(),
    }
}

fn range(node: Node<'_>) -> TextRange {
    TextRange::new(node.start_byte(), node.end_byte())
}
