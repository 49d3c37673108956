//! CanonicalizeTileSlice: windows of tiles that their readers cannot address become copies, `tile.extract` into memory of
//! their own.
//!
//! A vector operand must start at a multiple of 32 bytes; an operation that spreads a row reads whole rows only; and a
//! window of L1 can only be read on the way into the cube's operand memories.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Origin;

use super::layout;
use crate::ir::rewrite::{self, Substitution};
use crate::ir::{
    Attr, AttrName, BLayout, Call, Carry, Kernel, Operand, Rejection, Role, Scalar, ScalarBinary, Stmt, Type, Value,
    Var, VarId, Why, fold, visit,
};
use crate::ops::{Category, OpId, Spread};
use crate::target::Space;

/// Vector operands start at multiples of this many bits.
const ALIGNMENT_BITS: i64 = 32 * 8;
/// Columns of one block of the accumulator.
const ACC_BLOCK_COLS: i64 = 16;
const ACC_FRACTAL: u32 = 1024;

pub(super) fn run(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    let windows = Windows::of(kernel, &body);
    reject_strided_accumulators(kernel, &body, &windows.all);
    if windows.plain.is_empty() {
        kernel.body = body;
        return;
    }
    let body = Rewrite { kernel, windows: &windows }.body(body);
    kernel.body = drop_unread(body, &windows.plain);
}

/// A slice, or a slice of a slice, as a window of the tile that is no slice.
#[derive(Debug, Clone)]
struct Window {
    base: VarId,
    row: Scalar,
    col: Scalar,
    space: Option<Space>,
}

#[derive(Debug, Default)]
struct Windows {
    /// Slices of three operands.
    plain: FxHashMap<VarId, Window>,
    /// Those with a valid shape or dropped axes of their own, too.
    all: FxHashMap<VarId, Window>,
    scalars: FxHashMap<VarId, Scalar>,
}

impl Windows {
    fn of(kernel: &Kernel, body: &[Stmt]) -> Windows {
        let mut windows = Windows::default();
        visit::statements(body, &mut |stmt| {
            let Stmt::Let { var, value, .. } = stmt else { return };
            match value {
                Value::Scalar(scalar) => {
                    windows.scalars.insert(*var, scalar.clone());
                }
                Value::Call(call) if call.op == OpId::SLICE => windows.record(kernel, *var, call),
                _ => {}
            }
        });
        windows
    }

    fn record(&mut self, kernel: &Kernel, var: VarId, call: &Call) {
        if let Some(window) = self.parse(kernel, var, call, &self.all) {
            self.all.insert(var, window);
        }
        if call.args.len() == 3
            && let Some(window) = self.parse(kernel, var, call, &self.plain)
        {
            self.plain.insert(var, window);
        }
    }

    fn parse(&self, kernel: &Kernel, var: VarId, call: &Call, known: &FxHashMap<VarId, Window>) -> Option<Window> {
        let source = call.args.first()?.var()?;
        let Operand::List(offset) = call.args.get(2)? else { return None };
        let [row, col] = offset.as_slice() else { return None };
        let (row, col) = (self.known(row), self.known(col));
        let space = kernel.tile(var)?.space;
        Some(match known.get(&source) {
            None => Window { base: source, row, col, space },
            Some(outer) => Window {
                base: outer.base,
                row: fold::binary(ScalarBinary::Add, outer.row.clone(), row),
                col: fold::binary(ScalarBinary::Add, outer.col.clone(), col),
                space,
            },
        })
    }

    /// The constant that a variable is bound to, else the scalar itself.
    fn known(&self, original: &Scalar) -> Scalar {
        let mut scalar = original;
        let mut steps = 0;
        while let (Scalar::Var(var), true) = (scalar, steps < 32) {
            let Some(definition) = self.scalars.get(var) else { break };
            scalar = definition;
            steps += 1;
        }
        scalar.as_int().map_or_else(|| original.clone(), Scalar::Int)
    }

    /// A number that divides every value the scalar can take, up to the alignment.
    fn multiple(&self, scalar: &Scalar, depth: u32) -> i64 {
        if depth > 64 {
            return 1;
        }
        match scalar {
            Scalar::Int(value) => gcd(value.rem_euclid(ALIGNMENT_BITS), ALIGNMENT_BITS),
            Scalar::Var(var) => self.scalars.get(var).map_or(1, |definition| self.multiple(definition, depth + 1)),
            Scalar::Binary(op @ (ScalarBinary::Add | ScalarBinary::Sub | ScalarBinary::Mul), left, right) => {
                let (left, right) = (self.multiple(left, depth + 1), self.multiple(right, depth + 1));
                if *op == ScalarBinary::Mul { gcd(left * right, ALIGNMENT_BITS) } else { gcd(left, right) }
            }
            _ => 1,
        }
    }

    /// The start of a window past the last aligned address, in bits, where that can be proved.
    fn misalignment(&self, kernel: &Kernel, window: &Window) -> Option<i64> {
        let base = kernel.tile(window.base)?;
        let [_, base_cols] = base.shape.as_slice() else { return None };
        let bits = i64::try_from(base.dtype.storage_bits()).ok()?;
        let past = |value: i64| value.rem_euclid(ALIGNMENT_BITS) * bits % ALIGNMENT_BITS;
        let col_bits = match window.col.as_int() {
            Some(col) => past(col),
            None if self.multiple(&window.col, 0) * bits % ALIGNMENT_BITS == 0 => 0,
            None => return None,
        };
        let row_stride = past(i64::try_from(*base_cols).ok()?);
        let row_bits = match window.row.as_int() {
            Some(row) => row.rem_euclid(ALIGNMENT_BITS) * row_stride % ALIGNMENT_BITS,
            None if self.multiple(&window.row, 0) * row_stride % ALIGNMENT_BITS == 0 => 0,
            None => return None,
        };
        Some((col_bits + row_bits) % ALIGNMENT_BITS)
    }

    /// The window that a variable is, if no vector operation can read it in place.
    fn unaligned(&self, kernel: &Kernel, var: VarId) -> Option<&Window> {
        let window = self.plain.get(&var).filter(|window| is_vec(window))?;
        (self.misalignment(kernel, window) != Some(0)).then_some(window)
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn is_vec(window: &Window) -> bool {
    matches!(window.space, None | Some(Space::Vec))
}

struct Rewrite<'a> {
    kernel: &'a mut Kernel,
    windows: &'a Windows,
}

impl Rewrite<'_> {
    fn body(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        rewrite::expand(body, |stmt, out| self.stmt(stmt, out))
    }

    fn stmt(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) {
        match stmt {
            mut compound if compound.is_compound() => {
                let origin = compound.origin();
                let remapped = self.loop_inits(compound.carries_mut(), origin, out);
                out.push(compound.map_blocks(|block| {
                    let mut block = self.body(block);
                    remapped.apply(&mut block);
                    block
                }));
            }
            Stmt::Yield { mut values, origin } => {
                for value in &mut values {
                    let Some(var) = value.var() else { continue };
                    if let Some(window) = self.windows.unaligned(self.kernel, var) {
                        *value = Operand::Var(self.extract(var, window, Space::Vec, origin, out));
                    }
                }
                out.push(Stmt::Yield { values, origin });
            }
            Stmt::Let { var, value: Value::Copy(source), origin } => {
                let value = match self.windows.unaligned(self.kernel, source) {
                    Some(window) => Value::Call(self.extract_call(source, window, Space::Vec, origin)),
                    None => Value::Copy(source),
                };
                out.push(Stmt::Let { var, value, origin });
            }
            Stmt::Let { var, value: Value::Call(call), origin } => {
                let call = self.call(call, true, out);
                super::layout::refresh(self.kernel, var, &call);
                out.push(Stmt::Let { var, value: Value::Call(call), origin });
            }
            Stmt::Eval { call, origin } => {
                let call = self.call(call, false, out);
                out.push(Stmt::Eval { call, origin });
            }
            other => out.push(other),
        }
    }

    fn loop_inits(&mut self, carries: &mut [Carry], origin: Origin, out: &mut Vec<Stmt>) -> Substitution {
        let mut remapped = Substitution::default();
        for carry in carries {
            let Some(var) = carry.init.var() else { continue };
            if let Some(window) = self.windows.unaligned(self.kernel, var) {
                let copy = self.extract(var, window, Space::Vec, origin, out);
                carry.init = Operand::Var(copy);
                remapped.set(var, Operand::Var(copy));
            }
        }
        remapped
    }

    /// The call with operands that it can read; copies of operands go before it.
    fn call(&mut self, call: Call, has_result: bool, out: &mut Vec<Stmt>) -> Call {
        if has_result && call.op == OpId::EXTRACT {
            return self.folded_extract(call);
        }
        if call.op == OpId::SLICE || call.op == OpId::EXTRACT {
            return call;
        }
        let mut call = call;
        let origin = call.origin;
        if has_result && self.matmul_operands(&mut call, out) {
            return call;
        }
        if has_result && spreads_a_row(&call) && self.spread_operands(&mut call, out) {
            return call;
        }
        for index in 0..call.args.len() {
            let Some(var) = call.args[index].var() else { continue };
            if let Some(window) = self.windows.unaligned(self.kernel, var) {
                call.args[index] = Operand::Var(self.extract(var, window, Space::Vec, origin, out));
            }
        }
        call
    }

    /// An extract from a slice reads the sliced tile itself.
    fn folded_extract(&self, mut call: Call) -> Call {
        let Some(window) = call.args.first().and_then(Operand::var).and_then(|var| self.windows.plain.get(&var)) else {
            return call;
        };
        let [source, row, col, _] = call.args.as_mut_slice() else { return call };
        *source = Operand::Var(window.base);
        for (index, offset) in [(row, &window.row), (col, &window.col)] {
            if let Some(scalar) = as_scalar(index) {
                *index = Operand::Scalar(fold::binary(ScalarBinary::Add, scalar, offset.clone()));
            }
        }
        call
    }

    fn matmul_operands(&mut self, call: &mut Call, out: &mut Vec<Stmt>) -> bool {
        let (lhs, rhs) = match call.op {
            OpId::MATMUL | OpId::MATMUL_BIAS => (0, 1),
            OpId::MATMUL_ACC => (1, 2),
            _ => return false,
        };
        let mut rewrote = false;
        for (index, space) in [(lhs, Space::Left), (rhs, Space::Right)] {
            let Some(var) = call.args.get(index).and_then(Operand::var) else { continue };
            let Some(window) = self.windows.plain.get(&var) else { continue };
            if window.space == Some(Space::Mat) {
                call.args[index] = Operand::Var(self.extract(var, window, space, call.origin, out));
                rewrote = true;
            }
        }
        rewrote
    }

    /// Operations that spread a row pack their operand in place, which destroys a window that is not one run of bytes.
    fn spread_operands(&mut self, call: &mut Call, out: &mut Vec<Stmt>) -> bool {
        let mut rewrote = false;
        for index in 0..call.args.len() {
            let Some(var) = call.args[index].var() else { continue };
            let Some(window) = self.windows.plain.get(&var).filter(|window| is_vec(window)) else { continue };
            let is_constant = window.row.as_int().is_some() && window.col.as_int().is_some();
            if !is_constant || !self.is_contiguous(var, window) {
                call.args[index] = Operand::Var(self.extract(var, window, Space::Vec, call.origin, out));
                rewrote = true;
            }
        }
        rewrote
    }

    fn is_contiguous(&self, var: VarId, window: &Window) -> bool {
        let (Some(slice), Some(base)) = (self.kernel.tile(var), self.kernel.tile(window.base)) else { return false };
        match (slice.shape.as_slice(), base.shape.as_slice()) {
            ([rows, cols], [_, base_cols]) => *rows == 1 || cols == base_cols,
            _ => false,
        }
    }

    /// Appends `<name>_textract = tile.extract(…)`.
    fn extract(&mut self, slice: VarId, window: &Window, space: Space, origin: Origin, out: &mut Vec<Stmt>) -> VarId {
        let call = self.extract_call(slice, window, space, origin);
        let var = self.kernel.var(slice);
        let name = format!("{}_textract", var.name);
        let mut ty = var.ty.clone();
        if let Type::Tile(tile) = &mut ty {
            tile.space = Some(space);
            tile.binding = None;
            let layout = layout::of_result(self.kernel, &call, tile);
            layout::set(tile, layout);
        }
        let copy = self.kernel.add_var(Var { name, ty, role: Role::Def, inserted: Some(Why::SliceCopy), origin });
        out.push(Stmt::Let { var: copy, value: Value::Call(call), origin });
        copy
    }

    fn extract_call(&self, slice: VarId, window: &Window, space: Space, origin: Origin) -> Call {
        let shape = self.kernel.tile(slice).map(|tile| tile.shape.clone()).unwrap_or_default();
        let shape = shape.into_iter().map(|extent| Scalar::Int(i64::try_from(extent).unwrap_or(i64::MAX))).collect();
        Call {
            op: OpId::EXTRACT,
            args: vec![
                Operand::Var(window.base),
                Operand::Scalar(window.row.clone()),
                Operand::Scalar(window.col.clone()),
                Operand::List(shape),
            ],
            attrs: vec![(AttrName::TargetMemory, Attr::Space(space))],
            origin,
        }
    }
}

fn as_scalar(operand: &Operand) -> Option<Scalar> {
    match operand {
        Operand::Scalar(scalar) => Some(scalar.clone()),
        Operand::Var(var) => Some(Scalar::Var(*var)),
        Operand::List(_) | Operand::Unknown(_) => None,
    }
}

fn spreads_a_row(call: &Call) -> bool {
    let spreads = call.op.op().category == Category::Broadcast(Spread::Row);
    spreads && call.op != OpId::COL_EXPAND && call.args.len() == 2
}

/// Removes slices that nothing reads any more, and then those that only these have read, one after the other.
fn drop_unread(mut body: Vec<Stmt>, windows: &FxHashMap<VarId, Window>) -> Vec<Stmt> {
    loop {
        let mut read: FxHashSet<VarId> = FxHashSet::default();
        body.iter().for_each(|stmt| {
            visit::uses(stmt, &mut |var| {
                read.insert(var);
            })
        });
        let is_dead = |var: &VarId| windows.contains_key(var) && !read.contains(var);
        if !drop_from(&mut body, &is_dead) {
            return body;
        }
    }
}

/// Whether there was one to drop.
fn drop_from(body: &mut Vec<Stmt>, is_dead: &impl Fn(&VarId) -> bool) -> bool {
    let before = body.len();
    body.retain(|stmt| !matches!(stmt, Stmt::Let { var, .. } if is_dead(var)));
    let mut dropped = body.len() < before;
    for stmt in body {
        for block in stmt.blocks_mut() {
            dropped |= drop_inside(block, is_dead);
        }
    }
    dropped
}

/// A body of one statement is no list to the compiler: that statement stays.
fn drop_inside(body: &mut Vec<Stmt>, is_dead: &impl Fn(&VarId) -> bool) -> bool {
    !matches!(body.as_slice(), [Stmt::Let { .. }]) && drop_from(body, is_dead)
}

/// The cube writes a product without gaps; a window of the accumulator that has gaps cannot receive it.
fn reject_strided_accumulators(kernel: &mut Kernel, body: &[Stmt], windows: &FxHashMap<VarId, Window>) {
    let mut rejections = Vec::new();
    visit::statements(body, &mut |stmt| {
        let Stmt::Let { value: Value::Call(call), .. } = stmt else { return };
        rejections.extend(strided_accumulator(kernel, call, windows));
    });
    kernel.rejections.extend(rejections);
}

fn strided_accumulator(kernel: &Kernel, call: &Call, windows: &FxHashMap<VarId, Window>) -> Option<Rejection> {
    let destination = call.args.get(usize::from(call.op.op().reuses?))?.var()?;
    let window = windows.get(&destination)?;
    let (view, parent) = (kernel.tile(destination)?, kernel.tile(window.base)?);
    let layout = parent.layout();
    let is_acc = parent.space == Some(Space::Acc) || layout.blayout == BLayout::ColMajor;
    let ([rows, cols], [parent_rows, parent_cols]) = (view.shape.as_slice(), parent.shape.as_slice()) else {
        return None;
    };
    if !is_acc || layout.fractal != ACC_FRACTAL || rows == parent_rows {
        return None;
    }
    let width = i64::try_from(*cols).ok()?;
    let in_one_block = window.col.as_int().is_some_and(|col| {
        width <= ACC_BLOCK_COLS && col >= 0 && col / ACC_BLOCK_COLS == col.saturating_add(width - 1) / ACC_BLOCK_COLS
    });
    if in_one_block {
        return None;
    }
    let wide = (parent_rows / rows.max(&1)).saturating_mul(*cols);
    let message = format!(
        "{}: the accumulator is a {rows}x{cols} row window of a {parent_rows}x{parent_cols} Acc (L0C) tile, which is not \
         contiguous in L0C's block layout and cannot be a matmul destination; slice columns instead, so each window spans every row: create [{rows}, {wide}] and take `pl.slice(acc, [{rows}, {cols}], [0, i * {cols}])`",
        call.op.op().name
    );
    Some(Rejection::new(call.origin, Code::InvalidOperand, message))
}
