//! FlattenTileNdTo2D: tiles of more than two axes become two-dimensional ones of the same bytes, and a transposition gets
//! the scratch tile that its instruction needs.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::{Note, Origin, Reason};

use super::batches::{self, Batches};
use super::pages;
use crate::ir::{
    Attr, AttrName, BLayout, Call, Kernel, Operand, Rejection, Role, SLayout, Scalar, ScalarBinary, Stmt, TileType,
    TileView, Type, Value, Var, VarId, Why, fold, rewrite, visit,
};
use crate::ops::{OpId, Shape};
use crate::target::{Space, Target};

pub(super) fn run(kernel: &mut Kernel, target: Target) {
    let body = std::mem::take(&mut kernel.body);
    let shapes: Vec<Option<Vec<u64>>> =
        (0..kernel.vars.len()).map(|var| shape_of_many_axes(kernel, VarId(var as u32))).collect();
    let reshaped = reshaped_to_many_axes(&body, &shapes);
    let mut batches = Batches::of(kernel, &body, target);
    let body = rewrite::expand_leaves(body, &mut |stmt, out| {
        if let Some(stmt) = batches::product(kernel, &mut batches, stmt, out) {
            flatten_stmt(kernel, &shapes, &reshaped, stmt, out);
        }
    });
    for var in &mut kernel.vars {
        if let Type::Tile(tile) = &mut var.ty {
            flatten_tile(tile);
        }
    }
    kernel.body = body;
    transposed_views(kernel, &shapes);
}

/// The view of a flattened tile has its batches side by side.
fn transposed_views(kernel: &mut Kernel, shapes: &[Option<Vec<u64>>]) {
    let mut views: FxHashMap<VarId, VarId> = FxHashMap::default();
    visit::statements(&kernel.body, &mut |stmt| {
        if let Stmt::Let { var, value: Value::Call(call), .. } = stmt
            && call.op == OpId::TRANSPOSE_VIEW
            && shapes.get(var.0 as usize).is_some_and(Option::is_some)
            && let Some(source) = call.args.first().and_then(Operand::var)
        {
            views.insert(*var, source);
        }
    });
    for (view, source) in views {
        let turned = kernel.tile(source).map(|tile| tile.shape.iter().rev().copied().collect::<Vec<u64>>());
        if let (Some(turned), Type::Tile(tile)) = (turned, &mut kernel.var_mut(view).ty) {
            tile.shape = turned;
            tile.view.valid_shape = None;
        }
    }
}

fn shape_of_many_axes(kernel: &Kernel, var: VarId) -> Option<Vec<u64>> {
    kernel.tile(var).filter(|tile| tile.shape.len() > 2).map(|tile| tile.shape.clone())
}

/// All axes but the last become one.
fn flatten_tile(tile: &mut TileType) {
    if tile.shape.len() <= 2 {
        return;
    }
    tile.shape = merge(&tile.shape);
    tile.view.valid_shape = tile.view.valid_shape.take().and_then(|extents| {
        let (last, leading) = extents.split_last()?;
        let product =
            leading.iter().cloned().reduce(|product, extent| fold::binary(ScalarBinary::Mul, product, extent))?;
        Some(vec![product, last.clone()])
    });
}

fn merge(shape: &[u64]) -> Vec<u64> {
    let Some((last, leading)) = shape.split_last() else { return Vec::new() };
    vec![leading.iter().fold(1, |product: u64, extent| product.saturating_mul(*extent)), *last]
}

/// The compiler leaves the shape of what is reshaped to more than two axes, until something needs two.
fn reshaped_to_many_axes(body: &[Stmt], shapes: &[Option<Vec<u64>>]) -> FxHashSet<VarId> {
    let mut reshaped = FxHashSet::default();
    visit::statements(body, &mut |stmt| {
        if let Stmt::Let { var, value: Value::Call(call), .. } = stmt
            && call.op == OpId::RESHAPE
            && shapes.get(var.0 as usize).is_some_and(Option::is_some)
        {
            reshaped.insert(*var);
        }
    });
    reshaped
}

fn flatten_stmt(
    kernel: &mut Kernel,
    shapes: &[Option<Vec<u64>>],
    reshaped: &FxHashSet<VarId>,
    stmt: Stmt,
    out: &mut Vec<Stmt>,
) {
    let (var, mut call, origin) = match stmt {
        Stmt::Let { var, value: Value::Call(call), origin } => (Some(var), call, origin),
        Stmt::Eval { call, origin } => (None, call, origin),
        other => return out.push(other),
    };
    let shape_of = |var: VarId| shapes.get(var.0 as usize).and_then(Option::as_ref);
    let operand = call.args.first().and_then(Operand::var);
    let operand_shape = operand.and_then(shape_of);
    let result_shape = var.and_then(shape_of);

    if let (OpId::TRANSPOSE, Some(var), Some(shape)) = (call.op, var, operand_shape)
        && pages::transpose(kernel, var, &call, shape, operand.is_some_and(|of| reshaped.contains(&of)), origin, out)
    {
        return;
    }
    if let Some(what) = unsupported(&call, operand_shape, result_shape) {
        kernel.notes.push(Note { at: call.origin, reason: Reason::new(what) });
    }
    match (call.op, operand_shape, result_shape) {
        (OpId::TRANSPOSE, None, _) if call.args.len() == 3 => {
            if let Some(scratch) = operand.and_then(|source| transpose_scratch(kernel, source, &call, origin, out)) {
                call.args.push(Operand::Var(scratch));
            }
        }
        (OpId::CREATE | OpId::FULL, _, Some(shape)) => {
            if let Some(literal) = call.args.first_mut() {
                *literal = Operand::List(merge(shape).into_iter().map(int).collect());
            }
        }
        (OpId::RESHAPE, _, Some(shape)) => {
            if let Some(literal) = call.args.get_mut(1) {
                *literal = Operand::List(merge(shape).into_iter().map(int).collect());
            }
        }
        (OpId::ASSEMBLE, Some(shape), _) => fold_offset(&mut call, shape),
        (OpId::LOAD, _, Some(_)) => {
            if let Some(view) = var.and_then(|var| window_of_two_axes(kernel, var, &call, origin, out)) {
                call.args[0] = Operand::Var(view);
            }
        }
        _ => {}
    }
    out.push(match var {
        Some(var) => Stmt::Let { var, value: Value::Call(call), origin },
        None => Stmt::Eval { call, origin },
    });
}

/// The transfer into boxes reads tensors of two axes, so that the compiler makes a view of the tensor first. It is a statement of
/// its own, and no load: in a pipeline it comes after the loads that are ready, and its own load waits for it.
fn window_of_two_axes(
    kernel: &mut Kernel,
    tile: VarId,
    load: &Call,
    origin: Origin,
    out: &mut Vec<Stmt>,
) -> Option<VarId> {
    let loaded = kernel.tile(tile).filter(|tile| tile.space == Some(Space::Mat))?.layout();
    if (loaded.blayout, loaded.slayout) != (BLayout::ColMajor, SLayout::RowMajor) {
        return None;
    }
    let tensor = load.args.first().and_then(Operand::var)?;
    if !batches::is_one_run(kernel, load) {
        refuse_gaps(kernel, load);
    }
    let var = Var {
        name: format!("{}_view2d", kernel.var(tile).name),
        ty: kernel.var(tensor).ty.clone(),
        role: Role::Def,
        inserted: Some(Why::Intermediate),
        origin: load.origin,
    };
    let view = kernel.add_var(var);
    let call = Call { op: OpId::TENSOR_VIEW, args: vec![Operand::Var(tensor)], attrs: Vec::new(), origin: load.origin };
    out.push(Stmt::Let { var: view, value: Value::Call(call), origin });
    Some(view)
}

/// The rows of a window with gaps are not those of a tensor of two axes.
fn refuse_gaps(kernel: &mut Kernel, load: &Call) {
    let window = match load.args.get(3) {
        Some(Operand::List(window)) => window.iter().map(Scalar::as_int).collect::<Option<Vec<i64>>>(),
        _ => None,
    };
    let tensor = load.args.first().and_then(Operand::var).and_then(|var| kernel.tensor(var));
    let tensor = tensor.and_then(|tensor| tensor.shape.iter().map(Scalar::as_int).collect::<Option<Vec<i64>>>());
    let (Some(window), Some(tensor)) = (window, tensor) else {
        let reason = Reason::new("a window loaded into L1 that may have gaps");
        return kernel.notes.push(Note { at: load.origin, reason });
    };
    let message = format!(
        "a window {window:?} of a tensor {tensor:?} has gaps between its rows, but a load into L1 reads them as the rows of one matrix: the compiler requires \"the valid sub-box of the leading dims to be contiguous in row-major order\"; load one batch at a time, \
         or whole axes after the first"
    );
    kernel.rejections.push(Rejection::new(load.origin, Code::InvalidOperand, message));
}

/// What the compiler does with more axes and this pass does not.
fn unsupported(call: &Call, operand_shape: Option<&Vec<u64>>, result_shape: Option<&Vec<u64>>) -> Option<&'static str> {
    if operand_shape.is_none() && result_shape.is_none() {
        return None;
    }
    match call.op {
        OpId::TRANSPOSE => Some("a transposition of more than two axes"),
        _ if call.op.op().shape == Shape::ColReduced => Some("a reduction of the first of more than two axes"),
        _ => None,
    }
}

/// The instruction keeps its intermediate state in a tile like the source.
fn transpose_scratch(
    kernel: &mut Kernel,
    source: VarId,
    call: &Call,
    origin: Origin,
    out: &mut Vec<Stmt>,
) -> Option<VarId> {
    let source = kernel.tile(source)?;
    let space = source.space.unwrap_or(Space::Vec);
    let shape = source.shape.clone();
    let create = Call {
        op: OpId::CREATE,
        args: vec![Operand::List(shape.iter().copied().map(int).collect())],
        attrs: vec![(AttrName::Dtype, Attr::Dtype(source.dtype)), (AttrName::TargetMemory, Attr::Space(space))],
        origin: call.origin,
    };
    let ty = TileType { shape, dtype: source.dtype, space: Some(space), view: TileView::default(), binding: None };
    let var = Var {
        name: "transpose_tmp".into(),
        ty: Type::Tile(ty),
        role: Role::Def,
        inserted: Some(Why::TransposeScratch),
        origin: call.origin,
    };
    let scratch = kernel.add_var(var);
    out.push(Stmt::Let { var: scratch, value: Value::Call(create), origin });
    Some(scratch)
}

/// The offset of an assembled part, in the flattened target.
fn fold_offset(call: &mut Call, shape: &[u64]) {
    let Some(Operand::List(offset)) = call.args.get_mut(2) else { return };
    if offset.len() != shape.len() {
        return;
    }
    let Some((last, leading)) = offset.split_last() else { return };
    let mut row = Scalar::Int(0);
    for (index, extent) in leading.iter().zip(shape) {
        row = fold::binary(ScalarBinary::Mul, row, int(*extent));
        row = fold::binary(ScalarBinary::Add, row, index.clone());
    }
    *offset = vec![row, last.clone()];
}

fn int(extent: u64) -> Scalar {
    Scalar::Int(i64::try_from(extent).unwrap_or(i64::MAX))
}
