//! The statements that compute a product in parts.

use tilefit_python::element::Dtype;
use tilefit_python::finding::Origin;

use super::io_order::Drain;
use super::l0_tile::{Choice, Extents};
use super::layout;
use crate::ir::{
    Attr, AttrName, Call, Carry, For, If, Kernel, LoopKind, Operand, Role, Scalar, ScalarBinary, Stmt, TileType,
    TileView, Type, Value, Var, VarId, Why, fold,
};
use crate::ops::OpId;
use crate::target::Space;

/// Copies of the body of a loop that loads ahead.
const STAGES: u32 = 2;

/// One product, and where the statements for it go.
pub(super) struct Parts<'a> {
    kernel: &'a mut Kernel,
    product: VarId,
    lhs: VarId,
    rhs: VarId,
    /// The accumulator that the product adds to.
    accumulator: Option<Operand>,
    /// What the first block of K begins with, as the author gave it, and where the cube adds it from.
    bias: Option<VarId>,
    bias_in_table: Option<VarId>,
    /// Of a bias that tiles load in parts.
    bias_load: Option<Call>,
    problem: Extents,
    choice: Choice,
    dtype: Dtype,
    at: Origin,
    origin: Origin,
    out: &'a mut Vec<Stmt>,
}

/// What a grid leaves.
pub(super) struct Grid {
    /// The tensor after the last store.
    pub(super) last: Operand,
    /// Where the stores of its loops go, by their index.
    pub(super) drains: Vec<(VarId, Drain)>,
}

/// Part of the result: where it starts and how large it is.
#[derive(Debug, Clone)]
struct Window {
    row: Scalar,
    col: Scalar,
    rows: i64,
    cols: i64,
}

impl<'a> Parts<'a> {
    pub(super) fn new(
        kernel: &'a mut Kernel,
        product: VarId,
        call: &Call,
        origin: Origin,
        problem: Extents,
        choice: Choice,
        out: &'a mut Vec<Stmt>,
    ) -> Parts<'a> {
        let adds = call.op == OpId::MATMUL_ACC;
        let operand = |index: usize| call.args.get(index).and_then(Operand::var).unwrap_or(product);
        let (lhs, rhs) = (operand(usize::from(adds)), operand(usize::from(adds) + 1));
        let dtype = kernel.tile(product).map_or(Dtype::Fp32, |tile| tile.dtype);
        let accumulator = if adds { call.args.first().cloned() } else { None };
        let bias = if call.op == OpId::MATMUL_BIAS { call.args.get(2).and_then(Operand::var) } else { None };
        let (bias_in_table, bias_load) = (None, None);
        let at = call.origin;
        Parts {
            kernel,
            product,
            lhs,
            rhs,
            accumulator,
            bias,
            bias_in_table,
            bias_load,
            problem,
            choice,
            dtype,
            at,
            origin,
            out,
        }
    }

    pub(super) fn with_bias_load(self, bias_load: Option<Call>) -> Self {
        Parts { bias_load, ..self }
    }

    /// A loop over blocks of K for the whole product.
    pub(super) fn blocks(&mut self) {
        let base = self.kernel.var(self.product).name.clone();
        let Extents { m, n, .. } = self.problem;
        let whole = Window { row: Scalar::Int(0), col: Scalar::Int(0), rows: m, cols: n };
        self.in_blocks(&base, &whole, Some(self.product));
    }

    /// Tiles of the result one after the other, each stored as the author's store would.
    pub(super) fn grid(mut self, store: &Call) -> Grid {
        let base = self.kernel.var(self.product).name.clone();
        let start = store.args.get(2).cloned().unwrap_or(Operand::List(Vec::new()));
        if self.choice.tile.k == self.problem.k {
            self.grid_of_whole_depth(&base, store, start)
        } else {
            self.grid_of_blocks(&base, store, start)
        }
    }

    fn grid_of_blocks(&mut self, base: &str, store: &Call, start: Operand) -> Grid {
        let (Extents { m, n, .. }, tile) = (self.problem, self.choice.tile);
        let mut last = start;
        let mut step = 0;
        for col in (0..n).step_by(tile.n as usize) {
            for row in (0..m).step_by(tile.m as usize) {
                let (rows, cols) = (tile.m.min(m - row), tile.n.min(n - col));
                let window = Window { row: Scalar::Int(row), col: Scalar::Int(col), rows, cols };
                let part = self.in_blocks(&format!("{base}_t{step}"), &window, None);
                let mut out = Vec::new();
                last = self.store(store, part, &window, last, step, &mut out);
                self.out.extend(out);
                step += 1;
            }
        }
        Grid { last, drains: Vec::new() }
    }

    /// Nested loops over the tiles of full size, then the rest along the lower and right edge.
    fn grid_of_whole_depth(&mut self, base: &str, store: &Call, start: Operand) -> Grid {
        let (Extents { m, n, .. }, tile) = (self.problem, self.choice.tile);
        let (full_m, full_n) = (m / tile.m * tile.m, n / tile.n * tile.n);
        let (mut last, drains) = self.full_tiles(base, store, start, full_m, full_n);
        let mut step = 1;
        let bottom = (0..n).step_by(tile.n as usize).filter(|_| full_m < m);
        for col in bottom {
            let window =
                Window { row: Scalar::Int(full_m), col: Scalar::Int(col), rows: m - full_m, cols: tile.n.min(n - col) };
            last = self.edge_tile(base, store, &window, last, step);
            step += 1;
        }
        let right = (0..full_m).step_by(tile.m as usize).filter(|_| full_n < n);
        for row in right {
            let window = Window { row: Scalar::Int(row), col: Scalar::Int(full_n), rows: tile.m, cols: n - full_n };
            last = self.edge_tile(base, store, &window, last, step);
            step += 1;
        }
        Grid { last, drains }
    }

    fn full_tiles(
        &mut self,
        base: &str,
        store: &Call,
        start: Operand,
        full_m: i64,
        full_n: i64,
    ) -> (Operand, Vec<(VarId, Drain)>) {
        let (tile, rows_outer) = (self.choice.tile, self.choice.rows_outer);
        let index = |parts: &mut Self, name: &str| {
            parts.add(format!("{base}{name}"), Why::Intermediate, Type::Scalar(Dtype::Index), Role::LoopIndex)
        };
        let (outer, inner) = (index(self, "_o"), index(self, "_i"));
        let tensor = start.var().map_or(Type::Tuple(Vec::new()), |var| self.kernel.var(var).ty.clone());
        let outer_iter = self.add(format!("{base}_oc"), Why::Intermediate, tensor.clone(), Role::IterArg);
        let inner_iter = self.add(format!("{base}_ic"), Why::Intermediate, tensor.clone(), Role::IterArg);
        let (row, col) = if rows_outer { (outer, inner) } else { (inner, outer) };
        let window = Window { row: Scalar::Var(row), col: Scalar::Var(col), rows: tile.m, cols: tile.n };

        let (mut outer_body, mut inner_body) = (Vec::new(), Vec::new());
        let (left_body, right_body) =
            if rows_outer { (&mut outer_body, &mut inner_body) } else { (&mut inner_body, &mut outer_body) };
        let left = self.left(&format!("{base}_a"), &window, Scalar::Int(0), tile.k, left_body);
        let right = self.right(&format!("{base}_b"), &window, Scalar::Int(0), tile.k, right_body);
        // A bias belongs to columns.
        self.bias_goes_to_its_table(format!("{base}_bias"), &window, right_body);
        let part = self.multiply(format!("{base}_c"), &window, None, left, right, &mut inner_body);
        let stored = self.store(store, part, &window, Operand::Var(inner_iter), 0, &mut inner_body);
        inner_body.push(Stmt::Yield { values: vec![stored], origin: self.origin });

        let (outer_stop, outer_step) = if rows_outer { (full_m, tile.m) } else { (full_n, tile.n) };
        let (inner_stop, inner_step) = if rows_outer { (full_n, tile.n) } else { (full_m, tile.m) };
        let inner_result = self.add(format!("{base}_irv"), Why::Intermediate, tensor.clone(), Role::LoopResult);
        let outer_result = self.add(format!("{base}_orv"), Why::Intermediate, tensor, Role::LoopResult);
        let pipeline = LoopKind::Pipeline { stages: STAGES, asked: None };
        let init = Operand::Var(outer_iter);
        outer_body.push(self.counted(
            pipeline,
            inner,
            inner_stop,
            inner_step,
            (init, inner_iter, inner_result),
            inner_body,
        ));
        outer_body.push(Stmt::Yield { values: vec![Operand::Var(inner_result)], origin: self.origin });
        let kind = if self.choice.held_alone { LoopKind::Range } else { pipeline };
        let outer_loop =
            self.counted(kind, outer, outer_stop, outer_step, (start, outer_iter, outer_result), outer_body);
        self.out.push(outer_loop);
        let drain = if self.choice.two_accumulators { Drain::InPairs } else { Drain::InPlace };
        (Operand::Var(outer_result), vec![(outer, Drain::InPlace), (inner, drain)])
    }

    fn edge_tile(&mut self, base: &str, store: &Call, window: &Window, last: Operand, step: u32) -> Operand {
        let mut out = Vec::new();
        let depth = self.problem.k;
        let left = self.left(&format!("{base}_ta{step}"), window, Scalar::Int(0), depth, &mut out);
        let right = self.right(&format!("{base}_tb{step}"), window, Scalar::Int(0), depth, &mut out);
        self.bias_goes_to_its_table(format!("{base}_tbias{step}"), window, &mut out);
        let part = self.multiply(format!("{base}_tc{step}"), window, None, left, right, &mut out);
        let last = self.store(store, part, window, last, step, &mut out);
        self.out.extend(out);
        last
    }

    fn counted(
        &self,
        kind: LoopKind,
        index: VarId,
        stop: i64,
        step: i64,
        (init, iter, result): (Operand, VarId, VarId),
        body: Vec<Stmt>,
    ) -> Stmt {
        let carries = vec![Carry { init, iter, result, explicit: true }];
        let (start, stop, step) = (Scalar::Int(0), Scalar::Int(stop), Scalar::Int(step));
        Stmt::For(For { kind, index, start, stop, step, carries, body, origin: self.origin })
    }

    /// Whole blocks of K in a loop that loads ahead, and the rest after it. The result is `product`, or a tile of its own.
    fn in_blocks(&mut self, base: &str, window: &Window, product: Option<VarId>) -> VarId {
        let (depth, block) = (self.problem.k, self.choice.tile.k);
        let (blocks, rest) = (depth / block, depth % block);
        let whole = if blocks >= 2 {
            self.block_loop(base, window, block, blocks, product.filter(|_| rest == 0))
        } else {
            let accumulator = self.accumulator.clone();
            self.block_loads_left_of_vec(base);
            self.bias_of_blocks(base, window);
            self.one_block(base, "0", window, 0, block, accumulator, None)
        };
        match rest {
            0 => whole,
            _ => self.one_block(base, "t", window, blocks * block, rest, Some(Operand::Var(whole)), product),
        }
    }

    /// A left operand in Vec goes to L1 first: the cube reads nothing else.
    fn block_loads_left_of_vec(&mut self, base: &str) {
        let Some(tile) = self.kernel.tile(self.lhs).filter(|tile| tile.space == Some(Space::Vec)).cloned() else {
            return;
        };
        let attrs = vec![(AttrName::TargetMemory, Attr::Space(Space::Mat))];
        let call = Call { op: OpId::MOVE, args: vec![Operand::Var(self.lhs)], attrs, origin: self.at };
        let ty = Type::Tile(TileType { space: Some(Space::Mat), view: TileView::default(), binding: None, ..tile });
        let moved = self.add(format!("{base}_l0_lmat"), Why::StagedLeft, ty, Role::Def);
        layout::refresh(self.kernel, moved, &call);
        self.out.push(Stmt::Let { var: moved, value: Value::Call(call), origin: self.origin });
        self.lhs = moved;
    }

    /// Once for all blocks.
    fn bias_of_blocks(&mut self, base: &str, window: &Window) {
        let mut out = Vec::new();
        self.bias_goes_to_its_table(format!("{base}_l0_bias"), window, &mut out);
        self.out.extend(out);
    }

    /// A bias in L1 goes where the cube adds it from; one for some of the columns is loaded by itself.
    fn bias_goes_to_its_table(&mut self, name: String, window: &Window, out: &mut Vec<Stmt>) {
        self.bias_in_table = self.bias;
        let Some(bias) = self.bias else { return };
        let Some(tile) = self.kernel.tile(bias).filter(|tile| tile.space == Some(Space::Mat)).cloned() else { return };
        let (source, tile) = match self.part_of_bias(&name, &tile, window) {
            Some((part, tile, load)) => {
                out.push(Stmt::Let { var: part, value: Value::Call(load), origin: self.origin });
                (part, tile)
            }
            None => (bias, tile),
        };
        let attrs = vec![(AttrName::TargetMemory, Attr::Space(Space::Bias))];
        let call = Call { op: OpId::MOVE, args: vec![Operand::Var(source)], attrs, origin: self.at };
        let ty = Type::Tile(TileType { space: Some(Space::Bias), view: TileView::default(), binding: None, ..tile });
        let moved = self.add(name, Why::Bias, ty, Role::Def);
        layout::refresh(self.kernel, moved, &call);
        out.push(Stmt::Let { var: moved, value: Value::Call(call), origin: self.origin });
        self.bias_in_table = Some(moved);
    }

    fn part_of_bias(&mut self, name: &str, whole: &TileType, window: &Window) -> Option<(VarId, TileType, Call)> {
        let mut load = self.bias_load.clone().filter(|_| window.cols != self.problem.n)?;
        load.attrs.retain(|(name, _)| *name != AttrName::OperandLoad);
        load.origin = self.at;
        if let [_, Operand::List(offsets), shapes @ ..] = load.args.as_mut_slice() {
            let offset = offsets.last_mut()?;
            *offset = fold::binary(ScalarBinary::Add, offset.clone(), window.col.clone());
            shapes.fill(Operand::List([1, window.cols].map(Scalar::Int).to_vec()));
        }
        let mut tile = TileType { shape: vec![1, window.cols.max(0) as u64], binding: None, ..whole.clone() };
        tile.view.valid_shape = None;
        let part = self.add(format!("{name}_mat"), Why::Bias, Type::Tile(tile.clone()), Role::Def);
        Some((part, tile, load))
    }

    fn block_loop(&mut self, base: &str, window: &Window, block: i64, blocks: i64, product: Option<VarId>) -> VarId {
        let init = match &self.accumulator {
            Some(given) => given.clone(),
            None => Operand::Var(self.create_accumulator(base, window)),
        };
        self.block_loads_left_of_vec(base);
        self.bias_of_blocks(base, window);
        let index = self.add(format!("{base}_l0_ko"), Why::Intermediate, Type::Scalar(Dtype::Index), Role::LoopIndex);
        let iter = self.accumulator_var(format!("{base}_l0_c"), window, Role::IterArg);
        let mut body = Vec::new();
        let left = self.left(&format!("{base}_l0_a"), window, Scalar::Var(index), block, &mut body);
        let right = self.right(&format!("{base}_l0_b"), window, Scalar::Var(index), block, &mut body);
        let value = if self.accumulator.is_some() {
            self.multiply(format!("{base}_l0_c_acc"), window, Some(Operand::Var(iter)), left, right, &mut body)
        } else {
            self.first_or_next(base, window, index, iter, (left, right), &mut body)
        };
        body.push(Stmt::Yield { values: vec![Operand::Var(value)], origin: self.origin });
        let has_rest = self.problem.k % block != 0;
        let result = match product {
            Some(product) => {
                self.kernel.var_mut(product).role = Role::LoopResult;
                product
            }
            None => {
                let name = if has_rest { format!("{base}_l0_kmain") } else { base.to_owned() };
                self.accumulator_var(name, window, Role::LoopResult)
            }
        };
        let kind = LoopKind::Pipeline { stages: STAGES, asked: None };
        let looped = self.counted(kind, index, blocks * block, block, (init, iter, result), body);
        self.out.push(looped);
        result
    }

    /// The first block starts the accumulator, the others add to it.
    fn first_or_next(
        &mut self,
        base: &str,
        window: &Window,
        index: VarId,
        iter: VarId,
        (left, right): (VarId, VarId),
        body: &mut Vec<Stmt>,
    ) -> VarId {
        let origin = self.origin;
        let ends_with = |value: VarId| Stmt::Yield { values: vec![Operand::Var(value)], origin };
        let mut then = Vec::new();
        let first = self.multiply(format!("{base}_l0_c_first"), window, None, left, right, &mut then);
        then.push(ends_with(first));
        let mut otherwise = Vec::new();
        let before = Some(Operand::Var(iter));
        let next = self.multiply(format!("{base}_l0_c_acc"), window, before, left, right, &mut otherwise);
        otherwise.push(ends_with(next));
        let result = self.accumulator_var(format!("{base}_l0_c_phi"), window, Role::IfResult);
        let condition = fold::binary(ScalarBinary::Eq, Scalar::Var(index), Scalar::Int(0));
        body.push(Stmt::If(If { condition, then, otherwise, has_else: true, results: vec![result], origin }));
        result
    }

    #[allow(clippy::too_many_arguments)]
    fn one_block(
        &mut self,
        base: &str,
        tag: &str,
        window: &Window,
        offset: i64,
        depth: i64,
        accumulator: Option<Operand>,
        product: Option<VarId>,
    ) -> VarId {
        let mut out = Vec::new();
        let left = self.left(&format!("{base}_l0_a{tag}"), window, Scalar::Int(offset), depth, &mut out);
        let right = self.right(&format!("{base}_l0_b{tag}"), window, Scalar::Int(offset), depth, &mut out);
        let value = self.multiply(format!("{base}_l0_c{tag}"), window, accumulator, left, right, &mut out);
        // The author's name takes the place of the last block's own.
        if let (Some(product), Some(Stmt::Let { var, .. })) = (product, out.last_mut()) {
            *var = product;
            // No tile is the whole product as the author wrote it.
            self.kernel.var_mut(product).inserted = Some(Why::BlockAccumulator);
        }
        self.out.extend(out);
        product.unwrap_or(value)
    }

    fn left(&mut self, name: &str, window: &Window, offset: Scalar, depth: i64, out: &mut Vec<Stmt>) -> VarId {
        let at = (window.row.clone(), offset);
        self.extract(name, self.lhs, Space::Left, [window.rows, depth], at, out)
    }

    fn right(&mut self, name: &str, window: &Window, offset: Scalar, depth: i64, out: &mut Vec<Stmt>) -> VarId {
        let at = (offset, window.col.clone());
        self.extract(name, self.rhs, Space::Right, [depth, window.cols], at, out)
    }

    fn extract(
        &mut self,
        name: &str,
        source: VarId,
        space: Space,
        shape: [i64; 2],
        (row, col): (Scalar, Scalar),
        out: &mut Vec<Stmt>,
    ) -> VarId {
        let call = Call {
            op: OpId::EXTRACT,
            args: vec![
                Operand::Var(source),
                Operand::Scalar(row),
                Operand::Scalar(col),
                Operand::List(shape.map(Scalar::Int).to_vec()),
            ],
            attrs: vec![(AttrName::TargetMemory, Attr::Space(space))],
            origin: self.at,
        };
        let dtype = self.kernel.tile(source).map_or(Dtype::Fp32, |tile| tile.dtype);
        let var = self.tile(name.to_owned(), shape, dtype, space, Role::Def);
        layout::refresh(self.kernel, var, &call);
        out.push(Stmt::Let { var, value: Value::Call(call), origin: self.origin });
        var
    }

    fn multiply(
        &mut self,
        name: String,
        window: &Window,
        accumulator: Option<Operand>,
        left: VarId,
        right: VarId,
        out: &mut Vec<Stmt>,
    ) -> VarId {
        let bias = self.bias_in_table.filter(|_| accumulator.is_none()).map(Operand::Var);
        let op = match (&accumulator, &bias) {
            (Some(_), _) => OpId::MATMUL_ACC,
            (None, Some(_)) => OpId::MATMUL_BIAS,
            (None, None) => OpId::MATMUL,
        };
        let args = accumulator.into_iter().chain([Operand::Var(left), Operand::Var(right)]).chain(bias).collect();
        let call = Call { op, args, attrs: Vec::new(), origin: self.at };
        let var = self.accumulator_var(name, window, Role::Def);
        out.push(Stmt::Let { var, value: Value::Call(call), origin: self.origin });
        var
    }

    /// `<out>_t<step> = tile.store(part, …)` where the author's store would put it.
    fn store(
        &mut self,
        store: &Call,
        part: VarId,
        window: &Window,
        into: Operand,
        step: u32,
        out: &mut Vec<Stmt>,
    ) -> Operand {
        let Some(tensor) = store.args.get(2).and_then(Operand::var) else { return into };
        let mut call = store.clone();
        if let [source, offsets, target, ..] = call.args.as_mut_slice() {
            *source = Operand::Var(part);
            if let Operand::List(offsets) = offsets {
                for (offset, by) in offsets.iter_mut().zip([&window.row, &window.col]) {
                    *offset = fold::binary(ScalarBinary::Add, offset.clone(), by.clone());
                }
            }
            *target = into;
        }
        let tensor = self.kernel.var(tensor);
        let (name, ty) = (format!("{}_t{step}", tensor.name), tensor.ty.clone());
        let var = self.add(name, Why::Intermediate, ty, Role::Def);
        out.push(Stmt::Let { var, value: Value::Call(call), origin: self.origin });
        Operand::Var(var)
    }

    /// What the loop over blocks of K starts with, as narrow as the product is in the window.
    fn create_accumulator(&mut self, base: &str, window: &Window) -> VarId {
        let name = format!("{base}_l0_init");
        let Some(valid) = self.valid_part(window) else { return self.create(name, window) };
        let storage = self.create(format!("{name}_storage"), window);
        let var = self.accumulator_var(name, window, Role::Def);
        if let Type::Tile(tile) = &mut self.kernel.var_mut(var).ty {
            tile.view.valid_shape = Some(valid.to_vec());
        }
        let args = [Operand::Var(storage)].into_iter().chain(valid.map(Operand::Scalar)).collect();
        let call = Call { op: OpId::SET_VALIDSHAPE, args, attrs: Vec::new(), origin: self.at };
        self.out.push(Stmt::Let { var, value: Value::Call(call), origin: self.origin });
        var
    }

    fn create(&mut self, name: String, window: &Window) -> VarId {
        let var = self.accumulator_var(name, window, Role::Def);
        let shape = [window.rows, window.cols].map(Scalar::Int).to_vec();
        let attrs = vec![(AttrName::Dtype, Attr::Dtype(self.dtype)), (AttrName::TargetMemory, Attr::Space(Space::Acc))];
        let call = Call { op: OpId::CREATE, args: vec![Operand::List(shape)], attrs, origin: self.at };
        self.out.push(Stmt::Let { var, value: Value::Call(call), origin: self.origin });
        var
    }

    /// The part of a window that the product fills, where that is not all of it.
    fn valid_part(&self, window: &Window) -> Option<[Scalar; 2]> {
        let [rows, cols] = self.kernel.tile(self.product)?.view.valid_shape.as_deref()? else { return None };
        let part = |valid: &Scalar, offset: &Scalar, extent: i64| {
            let (behind, extent) =
                (fold::binary(ScalarBinary::Max, valid.clone(), offset.clone()), Scalar::Int(extent));
            let rest = fold::binary(ScalarBinary::Sub, behind, offset.clone());
            fold::binary(ScalarBinary::Min, rest, extent)
        };
        let valid = [part(rows, &window.row, window.rows), part(cols, &window.col, window.cols)];
        (valid != [window.rows, window.cols].map(Scalar::Int)).then_some(valid)
    }

    fn accumulator_var(&mut self, name: String, window: &Window, role: Role) -> VarId {
        self.tile(name, [window.rows, window.cols], self.dtype, Space::Acc, role)
    }

    fn tile(&mut self, name: String, shape: [i64; 2], dtype: Dtype, space: Space, role: Role) -> VarId {
        let shape = shape.into_iter().map(|extent| extent.max(0) as u64).collect();
        let ty = TileType { shape, dtype, space: Some(space), view: TileView::default(), binding: None };
        let why = match space {
            Space::Left => Why::LeftBlock,
            Space::Right => Why::RightBlock,
            _ => Why::BlockAccumulator,
        };
        self.add(name, why, Type::Tile(ty), role)
    }

    fn add(&mut self, name: String, why: Why, ty: Type, role: Role) -> VarId {
        self.kernel.add_var(Var { name, ty, role, inserted: Some(why), origin: self.at })
    }
}
