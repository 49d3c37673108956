//! A stretch of a kernel in two halves, one after the other. Only where it makes no difference: from loads to stores every
//! operation works row by row, or element by element; what is in between is used nowhere else; and no tensor is both read and
//! written, or written twice.

use tilefit_pypto::ir::{Attr, AttrName, Call, Kernel, Operand, Scalar, Stmt, TileType, Type, VarId, visit};
use tilefit_pypto::ops::{Category, OpId, Shape, Slot, Spread};
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Finding;
use tilefit_python::finding::Origin;
use tilefit_syntax::TextRange;
use tilefit_syntax::ast::{Ast, BinaryOp, Expr, ExprId};

use crate::db;

use super::speculative::{self, Concerned, Edit, Said};
use super::statements::Statements;
use super::{Context, PlacedUnit};

/// The axis that is halved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Rows,
    Columns,
}

impl Axis {
    fn index(self) -> usize {
        self as usize
    }

    fn name(self) -> &'static str {
        match self {
            Axis::Rows => "rows",
            Axis::Columns => "columns",
        }
    }
}

/// What to write so that the stretch around a finding is done in halves, and a title; `None` where that does not help or changes
/// what the kernel does.
pub(super) fn in_two(context: &Context<'_>, placed: &PlacedUnit<'_>, finding: &Finding) -> Option<(String, Vec<Edit>)> {
    let (ast, text) = (db::syntax(context.db, placed.unit), context.text_of(placed));
    let statements = Statements { ast, placed, text };
    let at = statements.around(finding.at)?;
    let concerned = Concerned::Block(placed.start);
    let before = Said::of(context, &concerned, Code::CapacityExceeded);
    for kernel in db::source_kernels(context.db, placed.unit) {
        let Some(list) = list_around(&kernel.body, &|stmt| statements.around(stmt.origin()) == Some(at)) else {
            continue;
        };
        for axis in [Axis::Rows, Axis::Columns] {
            let Some(stretch) = Stretch::around(kernel, &statements, list, at, axis) else { continue };
            let Some(edits) = stretch.edits() else { continue };
            let after =
                speculative::after(context, &edits, |context| Said::of(context, &concerned, Code::CapacityExceeded));
            if before.is_fixed_by(&after) {
                return Some((format!("Split in two: {} {} at a time", stretch.extent / 2, axis.name()), edits));
            }
        }
    }
    None
}

/// The innermost list with such a statement.
fn list_around<'k>(body: &'k [Stmt], is_it: &impl Fn(&Stmt) -> bool) -> Option<&'k [Stmt]> {
    let inside = body.iter().flat_map(Stmt::blocks).find_map(|block| list_around(block, is_it));
    inside.or_else(|| body.iter().any(|stmt| visit::call_of(stmt).is_some() && is_it(stmt)).then_some(body))
}

/// Statements that belong together.
struct Stretch<'a> {
    kernel: &'a Kernel,
    statements: &'a Statements<'a>,
    body: &'a [Stmt],
    axis: Axis,
    /// Of every tile along the axis.
    extent: u64,
}

impl<'a> Stretch<'a> {
    fn around(
        kernel: &'a Kernel,
        statements: &'a Statements<'a>,
        list: &'a [Stmt],
        at: TextRange,
        axis: Axis,
    ) -> Option<Self> {
        let here = list.iter().position(|stmt| statements.around(stmt.origin()) == Some(at))?;
        let extent = tiles_of(kernel, &list[here]).next()?.shape.get(axis.index()).copied()?;
        let mut stretch = Stretch { kernel, statements, body: &[], axis, extent };
        let is_step = |stmt: &&Stmt| stretch.is_step(stmt);
        let first = here - list[..here].iter().rev().take_while(is_step).count();
        let end = here + list[here..].iter().take_while(is_step).count();
        stretch.body = list.get(first..end).filter(|body| !body.is_empty())?;
        (extent % 2 == 0 && stretch.is_closed() && stretch.is_independent()).then_some(stretch)
    }

    /// Whether each half of the result depends on that half of the operands only.
    fn is_step(&self, stmt: &Stmt) -> bool {
        let Some(call) = visit::call_of(stmt) else { return false };
        let op = call.op.op();
        let is_halved = |tile: &TileType| {
            let is_full =
                tile.valid_shape().iter().map(Scalar::as_int).eq(tile.shape.iter().map(|&it| Some(it as i64)));
            tile.shape.len() == 2 && tile.shape.get(self.axis.index()) == Some(&self.extent) && is_full
        };
        let has_windows = |index: usize| matches!(call.args.get(index), Some(Operand::List(list)) if list.len() == 2);
        let is_off = |attr: AttrName| matches!(call.attr(attr), None | Some(Attr::Bool(false) | Attr::Int(0)));
        let by_row = self.axis == Axis::Rows;
        let is_local = match call.op {
            OpId::LOAD => has_windows(1) && has_windows(2) && is_off(AttrName::Clamp),
            OpId::STORE => has_windows(1) && is_off(AttrName::Atomic),
            OpId::CREATE | OpId::FULL => has_windows(0) && is_off(AttrName::Transpose),
            _ => match op.category {
                Category::Elementwise | Category::Unary => true,
                Category::Reduction => by_row && op.shape == Shape::RowReduced,
                Category::Broadcast(spread) => by_row && spread == Spread::Column,
                _ => false,
            },
        };
        is_local && tiles_of(self.kernel, stmt).all(is_halved) && self.is_on_one_line_of_code(stmt)
    }

    fn is_on_one_line_of_code(&self, stmt: &Stmt) -> bool {
        self.statements.lines(stmt.origin()).is_some()
    }

    /// Tiles come from within, and do not leave.
    fn is_closed(&self) -> bool {
        let is_tile = |var: &VarId| matches!(self.kernel.var(*var).ty, Type::Tile(_));
        let made: Vec<VarId> = self.body.iter().filter_map(defined).filter(is_tile).collect();
        let mut closed = true;
        let within = self.body.as_ptr_range();
        visit::statements(&self.kernel.body, &mut |stmt| {
            let is_within = within.contains(&std::ptr::from_ref(stmt));
            let mut see = |var: VarId| closed &= !is_tile(&var) || is_within == made.contains(&var);
            visit::own_uses(stmt, &mut see);
        });
        closed
    }

    /// No tensor is read and written, or written twice, by the names that authors give them.
    fn is_independent(&self) -> bool {
        let tensor = |call: &Call, index: usize| {
            let var = call.args.get(index).and_then(Operand::var)?;
            self.kernel.tensor(var).filter(|tensor| tensor.rank_known && tensor.shape.len() == 2)?;
            Some(self.kernel.var(var).name.as_str())
        };
        let (mut read, mut written) = (Vec::new(), Vec::new());
        for call in self.body.iter().filter_map(visit::call_of) {
            let (index, list) = match call.op {
                OpId::LOAD => (0, &mut read),
                OpId::STORE => (2, &mut written),
                _ => continue,
            };
            let Some(name) = tensor(call, index) else { return false };
            list.push(name);
        }
        let is_once = |name: &&str| written.iter().filter(|other| other == &name).count() == 1 && !read.contains(name);
        !read.is_empty() && !written.is_empty() && written.iter().all(is_once)
    }

    fn edits(&self) -> Option<Vec<Edit>> {
        let Statements { ast, placed, text } = *self.statements;
        let mut edits: Vec<Edit> = Vec::new();
        let mut windows = Vec::new();
        let mut extents = Vec::new();
        for call in self.body.iter().filter_map(visit::call_of) {
            let Origin::Expr(at) = call.origin else { return None };
            let (window, shape) = match call.op {
                OpId::LOAD => (Some(1), Some(2)),
                OpId::STORE => (Some(1), None),
                OpId::CREATE | OpId::FULL => (None, Some(0)),
                _ => continue,
            };
            // The extents that are valid, or stored, are those of the tile unless they are written.
            if window.is_some() && argument(ast, at, call.op, 3).is_some() {
                return None;
            }
            let element = |arg: u8| ast.elements(argument(ast, at, call.op, arg)?)?.get(self.axis.index()).copied();
            if let Some(window) = window {
                windows.push(element(window)?);
            }
            if let Some(shape) = shape {
                extents.push(element(shape)?);
            }
        }
        let slice = |expr: ExprId| {
            let range = placed.spans.expr(expr);
            text.get(range.start..range.end)
        };
        // A name that all of them use stays.
        let name = extents.first().and_then(|&first| ast.name(first));
        let name = name.filter(|name| extents.iter().all(|&extent| ast.name(extent) == Some(name)));
        let half = name.map_or_else(|| (self.extent / 2).to_string(), |name| format!("{name} // 2"));
        let factor = if name.is_some() { format!("({half})") } else { half.clone() };
        let index = ["half", "part", "half_"].into_iter().find(|index| !text.contains(index))?;
        for extent in extents {
            edits.push((placed.range(Origin::Expr(extent)), half.clone()));
        }
        for window in windows {
            let old = match ast.expr(window) {
                Expr::Int(0) => String::new(),
                Expr::Name(_) | Expr::Int(_) | Expr::Call { .. } | Expr::Attribute { .. } | Expr::Subscript { .. } => {
                    format!("{} + ", slice(window)?)
                }
                Expr::Binary { op: BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::FloorDiv, .. } => {
                    format!("{} + ", slice(window)?)
                }
                _ => format!("({}) + ", slice(window)?),
            };
            edits.push((placed.range(Origin::Expr(window)), format!("{old}{index} * {factor}")));
        }
        edits.extend(self.indented(index)?);
        Some(edits)
    }

    /// The loop around the lines.
    fn indented(&self, index: &str) -> Option<Vec<Edit>> {
        let (first, last) = (self.body.first()?, self.body.last()?);
        let (first, last) = (self.statements.lines(first.origin())?, self.statements.lines(last.origin())?);
        if !self.statements.are_in_one_list(first, last) {
            return None;
        }
        let text = self.statements.text.get(first.statement.start..last.end)?;
        if text.contains("\"\"\"") || text.contains("'''") || text.contains('\\') {
            return None;
        }
        let indentation = first.indentation;
        let mut edits = vec![self.statements.before(first, &format!("for {index} in pl.range(2):"))];
        edits[0].1.push_str("    ");
        let start = self.statements.placed.start + first.statement.start;
        for (at, _) in text.match_indices('\n') {
            let line = text[at + 1..].lines().next().unwrap_or_default();
            if line.starts_with(indentation) && !line.trim_start().is_empty() {
                edits.push((TextRange::empty(start + at + 1), "    ".to_owned()));
            }
        }
        Some(edits)
    }
}

fn defined(stmt: &Stmt) -> Option<VarId> {
    match stmt {
        Stmt::Let { var, .. } => Some(*var),
        _ => None,
    }
}

/// The tiles that a statement defines and uses.
fn tiles_of<'k>(kernel: &'k Kernel, stmt: &Stmt) -> impl Iterator<Item = &'k TileType> {
    let mut vars: Vec<VarId> = defined(stmt).into_iter().collect();
    visit::uses(stmt, &mut |var| vars.push(var));
    vars.into_iter().filter_map(|var| kernel.tile(var))
}

/// The expression of an operand of a call.
fn argument(ast: &Ast, call: ExprId, op: OpId, arg: u8) -> Option<ExprId> {
    let Expr::Call { args, .. } = ast.expr(call) else { return None };
    let (position, param) = op.op().params.iter().enumerate().find(|(_, param)| param.slot == Slot::Arg(arg))?;
    let by_keyword = args.iter().find(|arg| arg.keyword.as_deref() == Some(param.name));
    let by_position = args.get(position).filter(|arg| arg.keyword.is_none());
    by_keyword.or(by_position).map(|arg| arg.value)
}
