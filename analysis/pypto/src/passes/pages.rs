//! Operations on tiles of three axes, which the compiler does page by page on flattened ones.

use tilefit_python::finding::Origin;

use crate::ir::{
    Attr, AttrName, Call, Kernel, Operand, Role, Scalar, Stmt, TileType, TileView, Type, Value, Var, VarId, Why,
};
use crate::ops::OpId;
use crate::target::Space;

/// Where the statements of one operation go.
pub(super) struct Pages<'a> {
    pub kernel: &'a mut Kernel,
    pub at: Origin,
    pub origin: Origin,
    pub(super) out: &'a mut Vec<Stmt>,
}

/// The last two axes exchanged: the result is made first, and every page is transposed and written into it. A source that is
/// `reshaped` is flattened first. False where this is another transposition.
pub(super) fn transpose(
    kernel: &mut Kernel,
    result: VarId,
    call: &Call,
    shape: &[u64],
    reshaped: bool,
    origin: Origin,
    out: &mut Vec<Stmt>,
) -> bool {
    let axis = |index: usize| match call.args.get(index) {
        Some(Operand::Scalar(axis)) => axis.as_literal().map(|axis| if axis < 0 { axis + 3 } else { axis }),
        _ => None,
    };
    let ([count, rows, columns], Some(axes)) = (shape, axis(1).zip(axis(2))) else { return false };
    let Some(source) = call.args.first().and_then(Operand::var) else { return false };
    if !matches!(axes, (1, 2) | (2, 1)) || call.args.len() != 3 {
        return false;
    }
    let Some(tile) = kernel.tile(source).cloned() else { return false };
    let (count, rows, columns) = (*count, *rows, *columns);
    let mut pages = Pages { kernel, at: call.origin, origin, out };
    let [tall, pool] = [[count.saturating_mul(columns), rows], [count.saturating_mul(rows), columns]];
    let source = if reshaped { pages.flat("trans_in_2d", source, pool, &tile) } else { source };
    let mut whole = pages.own(result, tall, &tile);
    pages.create_as(whole, tall);
    let pool_tile = pages.like("trans_tmp_pool", pool, &tile);
    pages.create_as(pool_tile, pool);
    for page in 0..count {
        let top = page.saturating_mul(rows);
        let from = pages.slice(&format!("trans_page_{page}"), source, [rows, columns], top, &tile);
        let scratch = pages.slice(&format!("trans_tmp_{page}"), pool_tile, [rows, columns], top, &tile);
        let turned = pages.like(&format!("trans_{page}"), [columns, rows], &tile);
        let axes = [0, 1].map(|axis| Operand::Scalar(Scalar::Int(axis)));
        let [one, other] = axes;
        pages.bind(turned, OpId::TRANSPOSE, vec![Operand::Var(from), one, other, Operand::Var(scratch)], Vec::new());
        let next = if page + 1 == count { result } else { pages.own(result, tall, &tile) };
        let place = Operand::List(vec![int(page.saturating_mul(columns)), int(0)]);
        pages.bind(next, OpId::ASSEMBLE, vec![Operand::Var(whole), Operand::Var(turned), place], Vec::new());
        whole = next;
    }
    true
}

impl Pages<'_> {
    /// A step of the author's value, under the author's name.
    pub(super) fn own(&mut self, value: VarId, shape: [u64; 2], model: &TileType) -> VarId {
        let var = self.kernel.var(value).clone();
        let ty = tile_type(shape, model);
        self.kernel.add_var(Var { ty, ..var })
    }

    fn like(&mut self, name: &str, shape: [u64; 2], model: &TileType) -> VarId {
        let ty = tile_type(shape, model);
        self.kernel.add_var(Var {
            name: name.to_owned(),
            ty,
            role: Role::Def,
            inserted: Some(Why::TransposeScratch),
            origin: self.at,
        })
    }

    pub(super) fn create_as(&mut self, var: VarId, shape: [u64; 2]) {
        let Some(tile) = self.kernel.tile(var) else { return };
        let space = tile.space.unwrap_or(Space::Vec);
        let attrs = vec![(AttrName::Dtype, Attr::Dtype(tile.dtype)), (AttrName::TargetMemory, Attr::Space(space))];
        self.bind(var, OpId::CREATE, vec![extents(shape)], attrs);
    }

    fn flat(&mut self, name: &str, source: VarId, shape: [u64; 2], model: &TileType) -> VarId {
        let var = self.like(name, shape, model);
        self.bind(var, OpId::RESHAPE, vec![Operand::Var(source), extents(shape)], Vec::new());
        var
    }

    fn slice(&mut self, name: &str, source: VarId, shape: [u64; 2], row: u64, model: &TileType) -> VarId {
        let var = self.like(name, shape, model);
        let args = vec![Operand::Var(source), extents(shape), Operand::List(vec![int(row), int(0)])];
        self.bind(var, OpId::SLICE, args, Vec::new());
        var
    }

    pub(super) fn bind(&mut self, var: VarId, op: OpId, args: Vec<Operand>, attrs: Vec<(AttrName, Attr)>) {
        let call = Call { op, args, attrs, origin: self.at };
        self.out.push(Stmt::Let { var, value: Value::Call(call), origin: self.origin });
    }
}

pub(super) fn tile_type(shape: [u64; 2], model: &TileType) -> Type {
    Type::Tile(TileType {
        shape: shape.to_vec(),
        dtype: model.dtype,
        space: Some(model.space.unwrap_or(Space::Vec)),
        view: TileView::default(),
        binding: None,
    })
}

pub(super) fn extents(shape: [u64; 2]) -> Operand {
    Operand::List(shape.map(int).to_vec())
}

pub(super) fn int(value: u64) -> Scalar {
    Scalar::Int(i64::try_from(value).unwrap_or(i64::MAX))
}
