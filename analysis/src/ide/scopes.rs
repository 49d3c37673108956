//! Which names mean the same thing: Python's scopes over the blocks of a file, for names of kernels, of what is in them, and of the
//! constants that they use. Other names are the business of Python servers.

use std::cell::RefCell;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use tilefit_python::eval::{self, Binding};
use tilefit_syntax::ast::{Ast, Clause, Expr, ExprId, Stmt, StmtId};
use tilefit_syntax::names::{self, Usage};
use tilefit_syntax::tokens;
use tilefit_syntax::{BlockKind, TextRange};

use crate::db::imports;
use crate::db::{self, SourceFile, Unit, Workspace};

use super::Context;
use super::cursor_context;

/// A name in the scope that binds it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Symbol<'db> {
    pub(super) file: SourceFile,
    /// The function or class; `None` for the module.
    pub(super) scope: Option<Unit<'db>>,
    pub(super) name: String,
    pub(super) kind: SymbolKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SymbolKind {
    /// Bound inside of a kernel: a tile, a scalar, a buffer, a parameter.
    Local,
    Kernel,
    /// A constant or declared allocation that a kernel uses.
    Constant,
}

/// A place where a symbol is mentioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Occurrence {
    /// Bytes of the file.
    pub(super) range: TextRange,
    /// Binds the name.
    pub(super) writes: bool,
}

/// A file's blocks, as scopes.
pub(super) struct Scopes<'c, 'db> {
    context: &'c Context<'db>,
    file: SourceFile,
    /// Which scopes bind a name: asked again for each mention of it.
    bound: RefCell<FxHashMap<(Option<Unit<'db>>, String), bool>>,
}

/// A unit at its place.
#[derive(Clone, Copy)]
pub(super) struct Block<'db> {
    pub(super) unit: Unit<'db>,
    pub(super) start: usize,
    pub(super) text: &'db str,
}

impl Block<'_> {
    pub(super) fn holds(&self, range: TextRange) -> bool {
        self.start <= range.start && range.end <= self.start + self.text.len()
    }
}

/// Where a name is bound, and from where on that is seen.
struct Site {
    range: TextRange,
    visible_from: usize,
}

impl<'c, 'db> Scopes<'c, 'db> {
    pub(super) fn new(context: &'c Context<'db>) -> Self {
        Scopes::of(context, context.file)
    }

    pub(super) fn of(context: &'c Context<'db>, file: SourceFile) -> Self {
        Scopes { context, file, bound: RefCell::default() }
    }

    fn db(&self) -> &'db dyn salsa::Database {
        self.context.db
    }

    pub(super) fn blocks(&self) -> impl Iterator<Item = Block<'db>> + '_ {
        let blocks = self.file.document(self.db()).blocks().iter();
        let units = db::units(self.db(), self.file).iter();
        units.zip(blocks).map(|(&unit, block)| Block { unit, start: block.start, text: &block.source.text })
    }

    fn block_of(&self, unit: Unit<'db>) -> Option<Block<'db>> {
        self.blocks().find(|block| block.unit == unit)
    }

    /// The symbol at a byte offset, and the bytes of its name; `None` where the name is not ours.
    pub(super) fn symbol_at(&self, offset: usize) -> Option<(TextRange, Symbol<'db>)> {
        let touched = self.blocks().filter(|block| block.start <= offset && offset <= block.start + block.text.len());
        touched.into_iter().find_map(|block| {
            let name = names::name_at(block.text, offset - block.start)?;
            let mut mentions = names::mentions(block.text, name).into_iter();
            let mention = mentions.find(|mention| mention.range.touches(offset - block.start))?;
            let scope = self.resolve(block, name, mention.range, &mention.usage)?;
            let symbol = self.symbol(scope, name)?;
            Some((mention.range.shifted(block.start), symbol))
        })
    }

    /// The scope that a mention of a name in a block leads to.
    fn resolve(&self, block: Block<'db>, name: &str, range: TextRange, usage: &Usage<'_>) -> Option<Option<Unit<'db>>> {
        match usage {
            Usage::Name | Usage::Imported => self.scope_of(block, name, range),
            Usage::Attribute(base) => self.method(block, base, name).map(|method| method.unit.parent(self.db())),
            Usage::Keyword(callee) => {
                let kernel = self.callee(block, callee)?;
                let ast = db::syntax(self.db(), kernel.unit);
                let mut params = parameters(ast).into_iter();
                params.any(|param| ast.name(param) == Some(name)).then_some(Some(kernel.unit))
            }
            Usage::Foreign | Usage::Lambda | Usage::Text => None,
        }
    }

    /// The scope in which a name that stands in a block is bound.
    fn scope_of(&self, block: Block<'db>, name: &str, range: TextRange) -> Option<Option<Unit<'db>>> {
        let db = self.db();
        let mut scope = match block.unit.key(db).kind {
            BlockKind::Statements => block.unit.parent(db),
            BlockKind::ClassHeader if self.is_own_name(block, range) => block.unit.parent(db),
            BlockKind::Function | BlockKind::FunctionHeader if self.is_outside_of_body(block, range) => {
                block.unit.parent(db)
            }
            _ => Some(block.unit),
        };
        let mut is_first = true;
        loop {
            // The names of a class are not seen from its functions.
            let is_hidden = !is_first && scope.is_some_and(|unit| unit.key(db).kind == BlockKind::ClassHeader);
            if !is_hidden && self.binds(scope, name) {
                return Some(scope);
            }
            let unit = scope?;
            scope = unit.parent(db);
            // A class body sees its own names; so do the decorators and headers of its methods.
            is_first = false;
        }
    }

    /// True in decorators, defaults and annotations, and for the name of the function; not for its parameters.
    fn is_outside_of_body(&self, block: Block<'db>, range: TextRange) -> bool {
        let parsed = db::parsed(self.db(), block.unit);
        let Some(body) = body_start(&parsed.ast, &parsed.spans) else { return false };
        range.start < body && !parameters(&parsed.ast).iter().any(|&param| parsed.spans.expr(param) == range)
    }

    fn is_own_name(&self, block: Block<'db>, range: TextRange) -> bool {
        let parsed = db::parsed(self.db(), block.unit);
        parsed.ast.body.iter().any(|&stmt| match parsed.ast.stmt(stmt) {
            Stmt::Class { name, .. } => parsed.spans.expr(*name) == range,
            _ => false,
        })
    }

    fn binds(&self, scope: Option<Unit<'db>>, name: &str) -> bool {
        let asked = (scope, name.to_owned());
        if let Some(&answer) = self.bound.borrow().get(&asked) {
            return answer;
        }
        let mut with_name = self.blocks().filter(|block| block.text.contains(name));
        let answer = with_name.any(|block| !self.sites(block, scope, name).is_empty());
        self.bound.borrow_mut().insert(asked, answer);
        answer
    }

    /// Where a block binds a name of a scope.
    fn sites(&self, block: Block<'db>, scope: Option<Unit<'db>>, name: &str) -> Vec<Site> {
        let db = self.db();
        let key = block.unit.key(db);
        let (is_own, is_inner) = (scope == Some(block.unit), block.unit.parent(db) == scope);
        // Of a function or class inside of the scope only its name is in it.
        let is_named = key.kind == BlockKind::Statements || key.name() == name;
        let can_bind = is_own || (is_inner && is_named);
        if !can_bind {
            return Vec::new();
        }
        let parsed = db::parsed(db, block.unit);
        let mut collector = Collector { ast: &parsed.ast, spans: &parsed.spans, name, sites: Vec::new() };
        match key.kind {
            BlockKind::Statements if is_inner => {
                collector.block(&parsed.ast.body);
                let imported = names::mentions(block.text, name).into_iter();
                let imported = imported.filter(|mention| mention.usage == Usage::Imported);
                collector.sites.extend(imported.map(|it| Site { range: it.range, visible_from: it.range.end }));
            }
            BlockKind::Statements => {}
            _ => {
                for &stmt in &parsed.ast.body {
                    match parsed.ast.stmt(stmt) {
                        Stmt::Function(function) => {
                            if is_inner {
                                collector.target(function.name, None);
                            }
                            if scope == Some(block.unit) {
                                parameters(&parsed.ast).iter().for_each(|&param| collector.target(param, None));
                                collector.block(&function.body);
                            }
                        }
                        Stmt::Class { name, body, .. } => {
                            if is_inner {
                                collector.target(*name, None);
                            }
                            if scope == Some(block.unit) {
                                collector.block(body);
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
        collector.sites
    }

    /// The symbol of a bound name, if it is ours.
    fn symbol(&self, scope: Option<Unit<'db>>, name: &str) -> Option<Symbol<'db>> {
        let db = self.db();
        let block = scope.and_then(|unit| self.block_of(unit));
        let kind = if block.is_some_and(|block| self.may_be_kernel(block)) {
            SymbolKind::Local
        } else if self.kernel_named(scope, name).is_some() {
            SymbolKind::Kernel
        } else if self.is_used_by_kernels(scope, name) || scope.is_none() && self.is_imported_by_kernels(name) {
            SymbolKind::Constant
        } else {
            return None;
        };
        let is_definition = kind == SymbolKind::Constant
            && self.blocks().any(|block| {
                let key = block.unit.key(db);
                let own = key.name() == name;
                own && key.kind != BlockKind::Statements && block.unit.parent(db) == scope
            });
        // A plain function, class or module is Python's, also where a kernel uses it.
        (!is_definition && !self.is_module(scope, name)).then(|| Symbol {
            file: self.file,
            scope,
            name: name.to_owned(),
            kind,
        })
    }

    fn is_module(&self, scope: Option<Unit<'db>>, name: &str) -> bool {
        let db = self.db();
        let inner = self.blocks().filter(|block| block.unit.parent(db) == scope && block.text.contains(name));
        inner.into_iter().any(|block| match eval::binding(db::syntax(db, block.unit), name) {
            Binding::ImportModule(_) => true,
            Binding::Import { module, .. } => {
                ["pypto", "triton"].contains(&module.split('.').next().unwrap_or_default())
            }
            _ => false,
        })
    }

    /// The kernel, or function that is put into kernels, of this name in a scope.
    pub(super) fn kernel_named(&self, scope: Option<Unit<'db>>, name: &str) -> Option<Block<'db>> {
        let db = self.db();
        self.blocks().find(|block| {
            let key = block.unit.key(db);
            key.kind == BlockKind::Function
                && key.name() == name
                && block.unit.parent(db) == scope
                && self.may_be_kernel(*block)
        })
    }

    fn is_used_by_kernels(&self, scope: Option<Unit<'db>>, name: &str) -> bool {
        let kernels = self.blocks().filter(|block| block.text.contains(name) && self.may_be_kernel(*block));
        kernels.into_iter().any(|block| {
            let mentions = names::mentions(block.text, name).into_iter();
            let mut names = mentions.filter(|mention| mention.usage == Usage::Name);
            names.any(|mention| self.scope_of(block, name, mention.range) == Some(scope))
        })
    }

    /// Whether a known file imports a name of this module for its kernels.
    fn is_imported_by_kernels(&self, name: &str) -> bool {
        let db = self.db();
        let known = Workspace::try_get(db).map(|workspace| workspace.files(db));
        known.into_iter().flat_map(|files| files.values()).filter(|&&other| other != self.file).any(|&other| {
            let there = Scopes::of(self.context, other);
            let through_module = || {
                let kernels: Vec<_> = there.blocks().filter(|block| there.may_be_kernel(*block)).collect();
                let mut mentions = there.through_module(self.file, name).into_iter();
                mentions.any(|mention| kernels.iter().any(|block| block.holds(mention.range)))
            };
            // By the name that it has there.
            there.is_import_of(self.file, name) && there.is_used_by_kernels(None, name) || through_module()
        })
    }

    /// Whether `name` is imported at the top from a file where it has the same name.
    fn is_import_of(&self, home: SourceFile, name: &str) -> bool {
        let symbol = Symbol { file: self.file, scope: None, name: name.to_owned(), kind: SymbolKind::Constant };
        self.binds(None, name)
            && self.imported_from(&symbol).is_some_and(|(file, original)| file == home && original == name)
    }

    /// The name of the module at a byte offset that a plain assignment binds, wherever it is used.
    pub(super) fn module_constant_at(&self, offset: usize) -> Option<&'db str> {
        let db = self.db();
        let mut touched =
            self.blocks().filter(|block| block.start <= offset && offset <= block.start + block.text.len());
        touched.find_map(|block| {
            let is_at_top = block.unit.key(db).kind == BlockKind::Statements && block.unit.parent(db).is_none();
            let name = names::name_at(block.text, offset - block.start).filter(|_| is_at_top)?;
            let binding = eval::binding(db::syntax(db, block.unit), name);
            matches!(binding, Binding::Once(_) | Binding::Element(..)).then_some(name)
        })
    }

    /// Whether a block is a function with the decorator of a kernel of some language.
    pub(super) fn may_be_kernel(&self, block: Block<'db>) -> bool {
        block.unit.key(self.db()).kind == BlockKind::Function
            && cursor_context::dialect(self.context.db, self.file, block.text).is_some()
    }

    /// `self.kernel` inside of a program, or `Program.kernel`.
    fn method(&self, block: Block<'db>, base: &[&str], name: &str) -> Option<Block<'db>> {
        let db = self.db();
        let [base] = base else { return None };
        let class = if *base == "self" {
            block.unit.parent(db).filter(|parent| parent.key(db).kind == BlockKind::ClassHeader)?
        } else {
            let mut classes = self.blocks().filter(|it| it.unit.key(db).kind == BlockKind::ClassHeader);
            classes.find(|it| it.unit.key(db).name() == *base)?.unit
        };
        self.kernel_named(Some(class), name)
    }

    /// The kernel that a call in a block is of.
    pub(super) fn callee(&self, block: Block<'db>, callee: &[&str]) -> Option<Block<'db>> {
        match callee.split_last()? {
            (name, []) => {
                let in_body = TextRange::new(usize::MAX, usize::MAX);
                self.kernel_named(self.scope_of(block, name, in_body)?, name)
            }
            (name, base) => self.method(block, base, name),
        }
    }

    /// The name of the function that a block is: where it stands, and with the names of what is around it.
    pub(super) fn function_name(&self, block: Block<'db>) -> Option<(TextRange, String)> {
        let db = self.db();
        if block.unit.key(db).kind != BlockKind::Function {
            return None;
        }
        let parsed = db::parsed(db, block.unit);
        let name = parsed.ast.body.iter().find_map(|&stmt| match parsed.ast.stmt(stmt) {
            Stmt::Function(function) => Some(function.name),
            _ => None,
        })?;
        Some((parsed.spans.expr(name).shifted(block.start), block.unit.key(db).path.to_string()))
    }

    /// Every mention of a symbol in its file, in order.
    pub(super) fn occurrences(&self, symbol: &Symbol<'db>) -> Vec<Occurrence> {
        let mut found = Vec::new();
        let db = self.db();
        let function = symbol.scope.filter(|_| symbol.kind == SymbolKind::Local);
        let function_name = function.map_or("", |unit| unit.key(db).name());
        for block in self.blocks() {
            // From elsewhere, what a function binds is mentioned as a keyword of its calls only.
            let is_elsewhere = function.is_some_and(|unit| unit != block.unit);
            if is_elsewhere && !block.text.contains(function_name) {
                continue;
            }
            let mentions = names::mentions(block.text, &symbol.name);
            let can_be_meant = |usage: &Usage<'_>| !is_elsewhere || matches!(usage, Usage::Keyword(_));
            if !mentions.iter().any(|mention| can_be_meant(&mention.usage)) {
                continue;
            }
            let sites = self.sites(block, symbol.scope, &symbol.name).into_iter();
            let sites: BTreeSet<TextRange> = sites.map(|site| site.range).collect();
            for mention in mentions.into_iter().filter(|mention| can_be_meant(&mention.usage)) {
                let resolved = self.resolve(block, &symbol.name, mention.range, &mention.usage);
                if resolved == Some(symbol.scope) {
                    let writes = sites.contains(&mention.range);
                    found.push(Occurrence { range: mention.range.shifted(block.start), writes });
                }
            }
        }
        found
    }

    /// Where the value that a mention at `range` sees was bound: the last place above it, else the first of all.
    pub(super) fn definition(&self, symbol: &Symbol<'db>, range: TextRange) -> Option<TextRange> {
        let related =
            |block: &Block<'db>| symbol.scope == Some(block.unit) || block.unit.parent(self.db()) == symbol.scope;
        let sites = self.blocks().filter(related).flat_map(|block| {
            let sites = self.sites(block, symbol.scope, &symbol.name).into_iter();
            sites.map(move |site| Site {
                range: site.range.shifted(block.start),
                visible_from: site.visible_from + block.start,
            })
        });
        let mut sites: Vec<Site> = sites.collect();
        sites.sort_by_key(|site| site.range);
        if sites.iter().any(|site| site.range == range) {
            return Some(range);
        }
        let is_local = symbol.kind == SymbolKind::Local;
        let is_inside =
            !is_local || symbol.scope.and_then(|unit| self.block_of(unit)).is_some_and(|it| it.holds(range));
        // The keyword of a call means the parameter.
        let above = sites.iter().rev().find(|site| is_inside && site.visible_from <= range.start);
        above.or(sites.first()).map(|site| site.range)
    }

    /// The file, and the name there, that an imported symbol refers to.
    pub(super) fn imported_from(&self, symbol: &Symbol<'db>) -> Option<(SourceFile, String)> {
        let db = self.db();
        let statements = self
            .blocks()
            .filter(|block| block.unit.key(db).kind == BlockKind::Statements && block.unit.parent(db) == symbol.scope);
        statements.into_iter().find_map(|block| match eval::binding(db::syntax(db, block.unit), &symbol.name) {
            Binding::Import { level, module, original } => {
                let candidates = imports::candidates(self.file.path(db), level, &module);
                Some((imports::known(db, &candidates)?, original))
            }
            _ => None,
        })
    }

    /// Mentions of a name of another file after the name of its module: `sizes.ROWS`.
    pub(super) fn through_module(&self, home: SourceFile, name: &str) -> Vec<Occurrence> {
        let mut found = Vec::new();
        for block in self.blocks().filter(|block| block.text.contains(name)) {
            for mention in names::mentions(block.text, name) {
                let Usage::Attribute(base) = &mention.usage else { continue };
                let [module] = base.as_slice() else { continue };
                if self.scope_of(block, module, mention.range) == Some(None) && self.module(module) == Some(home) {
                    found.push(Occurrence { range: mention.range.shifted(block.start), writes: false });
                }
            }
        }
        found
    }

    /// The file that a name of the module refers to.
    fn module(&self, name: &str) -> Option<SourceFile> {
        let db = self.db();
        let path = self.file.path(db);
        let statements = self.blocks().filter(|block| {
            block.unit.key(db).kind == BlockKind::Statements
                && block.unit.parent(db).is_none()
                && block.text.contains(name)
        });
        statements.into_iter().find_map(|block| match eval::binding(db::syntax(db, block.unit), name) {
            Binding::ImportModule(module) => imports::known(db, &imports::candidates(path, 0, &module)),
            Binding::Import { level, module, original } => {
                let module = if module.is_empty() { original } else { format!("{module}.{original}") };
                imports::known(db, &imports::candidates(path, level, &module))
            }
            _ => None,
        })
    }

    /// The symbol of a name of the module, whether a kernel of this file uses it or not.
    pub(super) fn exported(&self, name: &str) -> Option<Symbol<'db>> {
        let kind = if self.kernel_named(None, name).is_some() { SymbolKind::Kernel } else { SymbolKind::Constant };
        self.binds(None, name).then(|| Symbol { file: self.file, scope: None, name: name.to_owned(), kind })
    }

    /// Why a symbol cannot take another name without changing what the text means.
    pub(super) fn obstacle(&self, symbol: &Symbol<'db>, new: &str) -> Option<String> {
        let name = &symbol.name;
        if !tokens::is_identifier(new) {
            return Some(format!("`{new}` is not a valid name"));
        }
        if self.imported_from(symbol).is_some() || self.is_import(symbol) {
            return Some(format!("`{name}` is imported; rename it where it is defined"));
        }
        self.collision(symbol, new)
    }

    /// What `new` means already where a symbol is mentioned, or where the name of the symbol may mean something else.
    pub(super) fn collision(&self, symbol: &Symbol<'db>, new: &str) -> Option<String> {
        let name = &symbol.name;
        for block in self.blocks().filter(|block| block.text.contains(name.as_str()) || block.text.contains(new)) {
            for mention in names::mentions(block.text, name) {
                match mention.usage {
                    Usage::Text => return Some(format!("a string contains `{name}` and may refer to it")),
                    Usage::Lambda => return Some(format!("`{name}` is also a parameter of a lambda")),
                    _ => {}
                }
            }
            let ast = db::syntax(self.db(), block.unit);
            if rebinds_inside(ast, name) {
                return Some(format!("`{name}` is also bound in a comprehension or an inner function"));
            }
            let sees = |mention: &names::Mention<'_>| mention.usage == Usage::Name;
            if names::mentions(block.text, new).iter().any(sees) && self.mentions(block, symbol) {
                return Some(format!("`{new}` is already defined where `{name}` is used"));
            }
        }
        self.binds(symbol.scope, new).then(|| format!("`{new}` already exists"))
    }

    fn mentions(&self, block: Block<'db>, symbol: &Symbol<'db>) -> bool {
        names::mentions(block.text, &symbol.name)
            .iter()
            .any(|mention| self.resolve(block, &symbol.name, mention.range, &mention.usage) == Some(symbol.scope))
    }

    fn is_import(&self, symbol: &Symbol<'db>) -> bool {
        self.blocks().filter(|block| block.unit.parent(self.db()) == symbol.scope).any(|block| {
            let mentions = names::mentions(block.text, &symbol.name);
            mentions.iter().any(|mention| mention.usage == Usage::Imported)
        })
    }
}

/// The parameters of the function that a block is.
fn parameters(ast: &Ast) -> Vec<ExprId> {
    let params = ast.body.iter().filter_map(|&stmt| match ast.stmt(stmt) {
        Stmt::Function(function) => Some(function.params.iter().map(|param| param.name)),
        _ => None,
    });
    params.flatten().collect()
}

/// Where the body of the function that a block is starts, within the block.
fn body_start(ast: &Ast, spans: &tilefit_syntax::ast::Spans) -> Option<usize> {
    ast.body.iter().find_map(|&stmt| match ast.stmt(stmt) {
        Stmt::Function(function) => function.body.first().map(|&first| spans.stmt(first).start),
        _ => None,
    })
}

/// Whether a comprehension, or a function inside of the function, binds a name of its own.
fn rebinds_inside(ast: &Ast, name: &str) -> bool {
    let in_comprehension = ast.exprs().any(|(_, expr)| match expr {
        Expr::Comprehension { clauses, .. } => clauses.iter().any(|clause| match clause {
            Clause::For { target, .. } => targets(ast, *target).iter().any(|&target| ast.name(target) == Some(name)),
            Clause::If(_) => false,
        }),
        _ => false,
    });
    let inner = ast.stmts().filter(|(id, stmt)| matches!(stmt, Stmt::Function(_)) && !ast.body.contains(id));
    in_comprehension
        || inner.into_iter().any(|(_, stmt)| match stmt {
            Stmt::Function(function) => function.params.iter().any(|param| ast.name(param.name) == Some(name)),
            _ => false,
        })
}

/// A target and, of a tuple, its elements.
fn targets(ast: &Ast, target: ExprId) -> Vec<ExprId> {
    let mut all = vec![target];
    let mut next = 0;
    while let Some(&target) = all.get(next) {
        next += 1;
        match ast.expr(target) {
            Expr::Starred(inner) | Expr::Unpacked(inner) => all.push(*inner),
            _ => all.extend(ast.elements(target).unwrap_or_default()),
        }
    }
    all
}

/// Collects where statements bind a name; functions inside are not entered.
struct Collector<'a> {
    ast: &'a Ast,
    spans: &'a tilefit_syntax::ast::Spans,
    name: &'a str,
    sites: Vec<Site>,
}

impl Collector<'_> {
    /// `statement` is what gives the value; before its end the name still means the old one.
    fn target(&mut self, target: ExprId, statement: Option<StmtId>) {
        for target in targets(self.ast, target) {
            if self.ast.name(target) == Some(self.name) {
                let range = self.spans.expr(target);
                let visible_from = statement.map_or(range.end, |stmt| self.spans.stmt(stmt).end);
                self.sites.push(Site { range, visible_from });
            }
        }
    }

    fn block(&mut self, body: &[StmtId]) {
        let ast = self.ast;
        for &id in body {
            match ast.stmt(id) {
                Stmt::Assign { targets, .. } => targets.iter().for_each(|&target| self.target(target, Some(id))),
                Stmt::AugAssign { target, .. } => self.target(*target, Some(id)),
                Stmt::For { target, .. } => self.target(*target, None),
                Stmt::With { items, .. } => {
                    items.iter().filter_map(|item| item.target).for_each(|target| self.target(target, None));
                }
                Stmt::Function(function) => self.target(function.name, None),
                Stmt::Class { name, .. } => self.target(*name, None),
                _ => {}
            }
            ast.stmt(id).bodies().for_each(|body| self.block(body));
        }
    }
}
