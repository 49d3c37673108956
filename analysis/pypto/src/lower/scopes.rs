//! Scopes: `with pl.at(...)` and `pl.spmd`, which the compiler makes kernels of.

use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_python::eval::Constant;
use tilefit_python::finding::Origin;
use tilefit_syntax::ast::{Arg, Ast, Expr, ExprId, Function, Stmt, StmtId, WithItem};

use super::body::{Inlined, Lowering, Rhs, keyword};
use super::pre_ssa::{Region, Statement};
use crate::ir::{Blocks, CrossCore, Launch, Repetition, SplitMode, Type};
use crate::ops::OpId;

/// Attributes that change no tile: how a kernel is launched, and what the compiler notes for itself.
const HARMLESS: [&str; 7] =
    ["arg_directions", "core_num", "sync_start", "windowize", "allow_early_resolve", "predicate", "spmd_unwrapped"];

/// `attrs=` of a function's decorator.
fn attrs(ast: &Ast, function: &Function) -> Option<ExprId> {
    let arguments = function.decorators.iter().filter_map(|&decorator| match ast.expr(decorator) {
        Expr::Call { args, .. } => keyword(args, "attrs"),
        _ => None,
    });
    arguments.into_iter().next()
}

/// Whether a node is one of the attributes that a function of the block has.
pub fn is_of_attributes(ast: &Ast, at: Origin) -> bool {
    let functions = ast.body.iter().filter_map(|&stmt| match ast.stmt(stmt) {
        Stmt::Function(function) => attrs(ast, function),
        _ => None,
    });
    functions.into_iter().any(|attrs| match ast.expr(attrs) {
        Expr::Dict(entries) => {
            entries.iter().any(|(key, value)| at == Origin::Expr(*key) || at == Origin::Expr(*value))
        }
        _ => false,
    })
}

/// Arguments of `pl.at` that make a scope a task of its own.
const TASK_ARGUMENTS: [&str; 3] = ["deps", "allow_early_resolve", "predicate"];

/// How the host launches a scope.
pub(super) struct Launched<'a> {
    pub(super) args: &'a [Arg],
    /// `i` of `for i in pl.spmd(n)`
    pub(super) index: Option<ExprId>,
    /// By a plain call of the host function itself.
    pub(super) is_called: bool,
    /// With `pl.spmd`, which is a function of its own around the kernel.
    pub(super) on_blocks: bool,
}

/// How the function around the kernel of a `pl.spmd` is named (`ast_parser.py`, `_split_spmd_for_loop_name_hints`).
const SPMD_SUFFIX: &str = "_spmd";

/// How many blocks `pl.spmd` launches.
fn core_num(args: &[Arg]) -> Option<ExprId> {
    let first = args.first().filter(|arg| arg.keyword.is_none()).map(|arg| arg.value);
    keyword(args, "core_num").or(first)
}

impl Lowering<'_> {
    /// `attrs=` of a kernel's decorator, which say what `optimizations=` says of a scope.
    pub(super) fn attributes(&mut self, function: &Function) {
        let Some(attrs) = attrs(self.ast, function) else { return };
        let Expr::Dict(entries) = self.ast.expr(attrs) else {
            return self.note(attrs, "`attrs` of a function that are not a literal".to_owned());
        };
        for &(key, value) in entries {
            match self.constant(key) {
                Constant::Str(key) if key == "split" => self.state.cross_core.split = self.split_mode(value),
                Constant::Str(key) if key == "slot_num" => match self.constant(value) {
                    Constant::Int(slots) if slots > 0 => self.state.cross_core.slots = slots as u64,
                    _ => self.note(value, "an unknown `slot_num`".to_owned()),
                },
                Constant::Str(key) if key == "split_aiv" => self.state.cross_core.units_told_apart = true,
                Constant::Str(key) if key == "dual_aiv_dispatch" => match self.constant(value) {
                    Constant::Bool(true) => self.state.cross_core.repetition = Repetition::Second,
                    Constant::Bool(false) => {}
                    _ => self.note(value, "an unknown `dual_aiv_dispatch`".to_owned()),
                },
                Constant::Str(key) if HARMLESS.contains(&key.as_str()) => {}
                Constant::Str(other) => self.note(key, format!("the attribute `{other}` of a function")),
                _ => self.note(key, "an attribute of a function with an unknown name".to_owned()),
            }
        }
    }

    /// `pl.SplitMode.UP_DOWN` and the like; of another value it says that it is not modelled.
    pub(super) fn split_mode(&mut self, mode: ExprId) -> Option<SplitMode> {
        match self.ast.dotted(mode).as_deref().and_then(|path| path.last().copied()) {
            Some("UP_DOWN") => Some(SplitMode::UpDown),
            Some("LEFT_RIGHT") => Some(SplitMode::LeftRight),
            Some("NONE") => None,
            _ => {
                self.note(mode, "an unknown way of dividing work between the vector units".to_owned());
                None
            }
        }
    }

    pub(super) fn with(&mut self, with: StmtId, items: &[WithItem], body: &[StmtId]) {
        let at = self.at_stmt(with);
        for item in items {
            let (path, args): (_, &[Arg]) = match self.ast.expr(item.context) {
                Expr::Call { func, args } => (self.ast.dotted(*func).unwrap_or_default(), args),
                _ => (Vec::new(), &[]),
            };
            if let ["pl", name] = path.as_slice() {
                self.check_keywords(name, args);
            }
            if path == ["pl", "spmd"] {
                self.check_core_num(args);
                self.check_blocks_differ(item.context, body);
            }
            let is_region = match path.as_slice() {
                ["pl", "at"] => self.is_core_group(args),
                ["pl", "spmd"] => self.is_body_of_block(args, body),
                _ => false,
            };
            if self.state.host && is_region {
                let is_called = path == ["pl", "at"]
                    && item.target.is_none()
                    && TASK_ARGUMENTS.iter().all(|name| keyword(args, name).is_none());
                let on_blocks = path == ["pl", "spmd"];
                return self.region(with, Launched { args, index: None, is_called, on_blocks }, body);
            }
            match path.as_slice() {
                ["pl", "scope" | "manual_scope" | "at"] => {}
                ["pl", name] => self.note_at(at, format!("`with pl.{name}` inside a kernel")),
                _ => self.unsupported(at, "a `with` statement on something other than a scope of `pl`"),
            }
        }
        let is_manual = |item: &WithItem| match self.ast.expr(item.context) {
            Expr::Call { func, .. } => self.ast.dotted(*func).as_deref() == Some(&["pl", "manual_scope"]),
            _ => false,
        };
        let outside = self.state.loops_around_manual_scope;
        if items.iter().any(is_manual) {
            self.state.loops_around_manual_scope = Some(self.state.loops.len());
        }
        self.block(body);
        self.state.loops_around_manual_scope = outside;
    }

    /// How many blocks `pl.spmd` launches, where that is known.
    pub(super) fn check_core_num(&mut self, args: &[Arg]) {
        let Some(blocks) = core_num(args).filter(|blocks| self.is_closed(*blocks)) else { return };
        let message = match self.constant(blocks) {
            Constant::Int(blocks @ ..=0) => format!("`pl.spmd` launches {blocks} blocks; it needs at least one"),
            Constant::Float(_) | Constant::Bool(_) => "`core_num` of `pl.spmd` must be an integer".to_owned(),
            _ => return,
        };
        self.reject_anywhere(blocks, Code::Rejected, message);
    }

    /// Blocks of `with pl.spmd(...)` know their index, or launch what knows it.
    fn check_blocks_differ(&mut self, scope: ExprId, body: &[StmtId]) {
        let may_differ = |expr: &ExprId| match self.ast.expr(*expr) {
            Expr::Call { func, .. } => match self.ast.dotted(*func).as_deref() {
                Some(["pl", .., name]) => *name == "get_block_idx",
                _ => true,
            },
            other => *other == Expr::Error,
        };
        if !self.holds_scope_only(body) && !self.ast.exprs_in(body).iter().any(may_differ) {
            let message = "every block of this `pl.spmd` would do the same work; get the index with `i = pl.tile.get_block_idx()`, or write `for i in pl.spmd(…)`";
            self.reject_anywhere(scope, Code::Rejected, message.to_owned());
        }
    }

    fn launch(&self, args: &[Arg]) -> Option<Launch> {
        let blocks = core_num(args)?;
        let query = match self.ast.expr(blocks) {
            Expr::Call { func, .. } => self.ast.dotted(*func).unwrap_or_default(),
            _ => Vec::new(),
        };
        let blocks = match query.as_slice() {
            ["pl", "system", "available_cluster_count"] => Blocks::EveryCube,
            ["pl", "system", "available_aiv_count"] => Blocks::EveryVectorUnit,
            _ if self.is_closed(blocks) => match self.constant(blocks) {
                Constant::Int(blocks) => Blocks::Known(u64::try_from(blocks).ok()?),
                _ => return None,
            },
            _ => return None,
        };
        let at_once = match keyword(args, "sync_start").map(|at_once| self.constant(at_once)) {
            None => false,
            Some(Constant::Bool(at_once)) => at_once,
            Some(_) => return None,
        };
        Some(Launch { blocks, at_once })
    }

    fn is_core_group(&self, args: &[Arg]) -> bool {
        let level = keyword(args, "level").or(args.first().filter(|arg| arg.keyword.is_none()).map(|arg| arg.value));
        level.and_then(|level| self.ast.dotted(level)).is_some_and(|path| path.last() == Some(&"CORE_GROUP"))
    }

    /// Whether the body of `with pl.spmd(...)` does the work of a block itself, which it does where it asks for the block's index anywhere,
    /// or says how it is to be compiled. Otherwise it launches a kernel, or holds the scope that becomes one.
    fn is_body_of_block(&self, args: &[Arg], body: &[StmtId]) -> bool {
        let asks_for_index = |expr: &ExprId| match self.ast.expr(*expr) {
            Expr::Call { func, .. } => self.ast.dotted(*func).is_some_and(|path| path.last() == Some(&"get_block_idx")),
            _ => false,
        };
        let is_optimized = keyword(args, "optimizations")
            .is_some_and(|listed| self.ast.elements(listed).is_none_or(|listed| !listed.is_empty()));
        !self.holds_scope_only(body) && (is_optimized || self.ast.exprs_in(body).iter().any(asks_for_index))
    }

    fn holds_scope_only(&self, body: &[StmtId]) -> bool {
        let [only] = body else { return false };
        let Stmt::With { items, .. } = self.ast.stmt(*only) else { return false };
        let [item] = items.as_slice() else { return false };
        match self.ast.expr(item.context) {
            Expr::Call { func, args } => {
                self.ast.dotted(*func).as_deref() == Some(&["pl", "at"]) && self.is_core_group(args)
            }
            _ => false,
        }
    }

    /// A scope that becomes a kernel. Its names stay visible after it.
    pub(super) fn region(&mut self, scope: StmtId, launched: Launched, body: &[StmtId]) {
        let Launched { args, index, is_called, on_blocks } = launched;
        let inlined_from = match &self.inlined {
            Some(Inlined::Here(function)) => Some(function.clone()),
            Some(Inlined::Elsewhere) | None => None,
        };
        let (site, temporaries) = (self.site, self.state.temporaries);
        // What stands in this file is shown where it stands.
        self.site = site.filter(|_| inlined_from.is_none());
        if self.site.is_some() {
            self.function = self.path.len().checked_sub(1).map(|last| last as u32);
            self.state.functions = self.path.clone();
        }
        self.state.temporaries = 0;
        let at = self.at_stmt(scope);
        let hint = keyword(args, "name_hint");
        let name_origin = hint.map_or(at, |hint| self.at_expr(hint));
        let hint = match hint.map(|hint| self.constant(hint)) {
            Some(Constant::Str(hint)) => {
                let of_kernel = hint.strip_suffix(SPMD_SUFFIX).filter(|_| on_blocks).unwrap_or(&hint).to_owned();
                Some(of_kernel).filter(|name| !name.is_empty())
            }
            _ => None,
        };
        let (notes, rejections) = (std::mem::take(&mut self.state.notes), std::mem::take(&mut self.state.rejections));
        self.state.host = false;
        self.state.targets.clear();
        let is_apart = self.state.loops_around_manual_scope == Some(self.state.loops.len());
        let optimizations = keyword(args, "optimizations").map(|listed| self.optimizations(listed)).unwrap_or_default();
        let outer = std::mem::replace(&mut self.state.cross_core, optimizations);
        let regions = std::mem::take(&mut self.state.vector_regions);
        if let Some(reason) = self.state.around_scopes {
            self.note_at(at, reason.to_owned());
        }
        let body = self.nested(true, |this| {
            if let Some(index) = index {
                this.bind_block_index(index);
            }
            this.block(body);
        });
        self.state.host = true;
        let mut cross_core = std::mem::replace(&mut self.state.cross_core, outer);
        cross_core.launch = if on_blocks { self.launch(args) } else { None };
        let vector_regions = std::mem::replace(&mut self.state.vector_regions, regions);
        let notes = std::mem::replace(&mut self.state.notes, notes);
        let rejections = std::mem::replace(&mut self.state.rejections, rejections);
        (self.site, self.state.temporaries, self.function) = (site, temporaries, None);
        let inlined = std::mem::take(&mut self.state.functions);
        let targets = std::mem::take(&mut self.state.targets);
        self.emit(Statement::Region(Region {
            body,
            hint,
            cross_core,
            vector_regions,
            is_called,
            on_blocks,
            is_apart,
            origin: at,
            name_origin,
            inlined_from,
            inlined,
            targets,
            notes,
            rejections,
        }));
    }

    /// `optimizations=[pl.split(...), pl.cross_core_slot(...)]`
    fn optimizations(&mut self, listed: ExprId) -> CrossCore {
        let mut cross_core = CrossCore::default();
        for &each in self.ast.elements(listed).unwrap_or_default() {
            let (path, args): (_, &[Arg]) = match self.ast.expr(each) {
                Expr::Call { func, args } => (self.ast.dotted(*func).unwrap_or_default(), args),
                _ => (self.ast.dotted(each).unwrap_or_default(), &[]),
            };
            if let Some(name) = path.last() {
                self.check_keywords(name, args);
            }
            let given = |name: &str| keyword(args, name).or(args.first().map(|arg| arg.value));
            let understood = match path.as_slice() {
                ["pl", "split"] => {
                    cross_core.split = given("mode").and_then(|mode| self.split_mode(mode));
                    given("mode").is_some()
                }
                ["pl", "cross_core_slot"] => match given("slot_num").map(|slots| self.constant(slots)) {
                    Some(Constant::Int(slots)) if slots > 0 => {
                        cross_core.slots = slots as u64;
                        true
                    }
                    _ => false,
                },
                _ => false,
            };
            if !understood {
                self.note(each, format!("`{}` of a scope", path.join(".")));
            }
        }
        cross_core
    }

    /// `i` of `for i in pl.spmd(n)`
    fn bind_block_index(&mut self, index: ExprId) {
        let call = self.make_call(OpId::GET_BLOCK_IDX, Vec::new(), Vec::new(), index);
        self.bind_index(index, Rhs::Call(call, Type::Scalar(Dtype::Index)));
    }
}
