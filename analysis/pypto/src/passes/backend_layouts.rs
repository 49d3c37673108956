//! ResolveBackendOpLayouts: operations that take row-major tiles only get their other operands reshaped, where that costs
//! nothing (`[N, 1]` is `[1, N]`), or copied; results go back the same way.

use rustc_hash::FxHashMap;
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Origin;

use super::layout;
use crate::ir::{
    Attr, AttrName, BLayout, Call, Kernel, Layout, Operand, Rejection, Role, Scalar, Stmt, TileType, TileView, Type,
    Value, Var, VarId, Why, rewrite,
};
use crate::ops::{LayoutNeed, OpId, OutputSpace};
use crate::target::Space;
use crate::typing::deduce;

pub(super) fn run(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    let mut repair = Repair { kernel, next: 0 };
    kernel.body = rewrite::expand_leaves(body, &mut |stmt, out| repair.stmt(stmt, out));
}

struct Repair<'a> {
    kernel: &'a mut Kernel,
    /// Number of the next inserted variable.
    next: u32,
}

impl Repair<'_> {
    fn stmt(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) {
        match stmt {
            Stmt::Let { var, value: Value::Call(call), origin } => self.definition(var, call, origin, out),
            Stmt::Eval { mut call, origin } => {
                self.operands(&mut call, "layout_fix", out);
                out.push(Stmt::Eval { call, origin });
            }
            other => out.push(other),
        }
    }

    fn definition(&mut self, var: VarId, mut call: Call, origin: Origin, out: &mut Vec<Stmt>) {
        let name = base_name(&self.kernel.var(var).name).to_owned();
        let Some(result) = self.kernel.tile(var).cloned() else {
            return out.push(Stmt::Let { var, value: Value::Call(call), origin });
        };
        self.operands(&mut call, &name, out);
        let needs_result = call.op.op().layout != LayoutNeed::Any && !is_row_major(&result);
        if !needs_result {
            return out.push(Stmt::Let { var, value: Value::Call(call), origin });
        }
        let (at, wanted) = (call.origin, result.layout());
        let ty = self.row_major_result(&call, &result);
        if let [_, 1] = result.shape.as_slice() {
            self.check_restored(&call, &ty, &result);
        }
        let row_major = self.add(format!("{name}__row_major_tmp_v{}", self.next), Why::RowResult, ty, at);
        out.push(Stmt::Let { var: row_major, value: Value::Call(call), origin });
        let restore = match result.shape.as_slice() {
            [_, 1] => reshape(row_major, &result.shape, at),
            _ => layout_move(row_major, result.space, wanted, at),
        };
        out.push(Stmt::Let { var, value: Value::Call(restore), origin });
    }

    /// The result is reshaped back to a column, which must have as many elements: of a column and a row of operands it has more.
    fn check_restored(&mut self, call: &Call, repaired: &TileType, result: &TileType) {
        let elements = |tile: &TileType| tile.shape.iter().product::<u64>();
        if elements(repaired) == elements(result) {
            return;
        }
        let message = format!(
            "tile.reshape: cannot reshape tile of size {} into shape with size {}: `{}` takes rows, so the compiler makes the column {:?} a row, but another operand is already stored as rows; make both the same with `pl.reshape` to a row",
            elements(repaired),
            elements(result),
            call.op.op().name,
            result.shape
        );
        let rejection = Rejection::new(call.origin, Code::InvalidOperand, message);
        if !self.kernel.rejections.contains(&rejection) {
            self.kernel.rejections.push(rejection);
        }
    }

    /// What the repaired call gives by its operands, which need not be the result of the original call the other way round: the
    /// mask of a column's comparison is one row of bits.
    fn row_major_result(&self, call: &Call, result: &TileType) -> TileType {
        let mut ty = match deduce(call, &self.kernel.vars, &FxHashMap::default()) {
            Ok(Type::Tile(tile)) => TileType { space: result.space, ..tile },
            _ => TileType {
                shape: self.result_shape(call, result),
                binding: None,
                view: TileView { valid_shape: None, ..result.view.clone() },
                ..result.clone()
            },
        };
        if let OutputSpace::Fixed(space) = call.op.op().output {
            ty.space = Some(space);
        }
        let layout = layout::of_result(self.kernel, call, &ty);
        layout::set(&mut ty, layout);
        ty
    }

    /// Shape of the repaired call's result: that of its first repaired tile operand.
    fn result_shape(&self, call: &Call, result: &TileType) -> Vec<u64> {
        match result.shape.as_slice() {
            [rows, 1] if self.reads_a_row(call) => vec![1, *rows],
            shape => shape.to_vec(),
        }
    }

    fn reads_a_row(&self, call: &Call) -> bool {
        call.args
            .iter()
            .filter_map(|arg| self.kernel.tile(arg.var()?))
            .any(|tile| matches!(tile.shape.as_slice(), [1, _]))
    }

    /// Replaces the operands that the operation cannot take as they lie.
    fn operands(&mut self, call: &mut Call, name: &str, out: &mut Vec<Stmt>) {
        let constrained = match call.op.op().layout {
            LayoutNeed::AllRowMajor => call.args.len(),
            LayoutNeed::Arg0AndResultRowMajor => 1,
            LayoutNeed::ResultRowMajor | LayoutNeed::Any => 0,
        };
        for index in 0..constrained.min(call.args.len()) {
            let Some(source) = call.args[index].var() else { continue };
            let Some(tile) = self.kernel.tile(source).cloned() else { continue };
            if is_row_major(&tile) {
                continue;
            }
            let repair = match tile.shape.as_slice() {
                [rows, 1] => reshape(source, &[1, *rows], call.origin),
                _ => layout_move(source, tile.space, layout::ROW_MAJOR, call.origin),
            };
            let mut ty = match deduce(&repair, &self.kernel.vars, &FxHashMap::default()) {
                Ok(Type::Tile(row)) if repair.op == OpId::RESHAPE => TileType { space: tile.space, ..row },
                _ => TileType { binding: None, ..tile },
            };
            let layout = layout::of_result(self.kernel, &repair, &ty);
            layout::set(&mut ty, layout);
            let origin = call.origin;
            let repaired = self.add(format!("{name}__rm_a{index}_tmp_v{}", self.next), Why::RowOperand, ty, origin);
            out.push(Stmt::Let { var: repaired, value: Value::Call(repair), origin });
            call.args[index] = Operand::Var(repaired);
        }
    }

    fn add(&mut self, name: String, why: Why, ty: TileType, origin: Origin) -> VarId {
        self.next += 1;
        self.kernel.add_var(Var { name, ty: Type::Tile(ty), role: Role::Def, inserted: Some(why), origin })
    }
}

fn is_row_major(tile: &TileType) -> bool {
    tile.layout().blayout == BLayout::RowMajor
}

fn reshape(source: VarId, shape: &[u64], origin: Origin) -> Call {
    let shape = shape.iter().map(|extent| Scalar::Int(i64::try_from(*extent).unwrap_or(i64::MAX))).collect();
    Call { op: OpId::RESHAPE, args: vec![Operand::Var(source), Operand::List(shape)], attrs: Vec::new(), origin }
}

fn layout_move(source: VarId, space: Option<Space>, layout: Layout, origin: Origin) -> Call {
    let attrs = vec![
        (AttrName::TargetMemory, Attr::Space(space.unwrap_or(Space::Vec))),
        (AttrName::BLayout, Attr::BLayout(layout.blayout)),
        (AttrName::SLayout, Attr::SLayout(layout.slayout)),
    ];
    Call { op: OpId::MOVE, args: vec![Operand::Var(source)], attrs, origin }
}

/// The author's part of a name that the compiler has extended.
pub(super) fn base_name(name: &str) -> &str {
    name.split_once("__").map_or(name, |(base, _)| base)
}
