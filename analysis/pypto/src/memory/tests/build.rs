//! Writes small kernels of the IR.

use std::sync::OnceLock;

use tilefit_python::element::Dtype;
use tilefit_python::finding::Origin;
use tilefit_syntax::{Document, ast};

use crate::ir::{
    Attr, AttrName, Call, Carry, For, If, Kernel, KernelKind, LoopKind, Operand, PipelineStage, Role, Scalar, Stmt,
    TensorLayout, TensorType, TileType, TileView, Type, Value, Var, VarId,
};
use crate::ops::OpId;
use crate::target::Space;

pub(super) type Tile = (Space, [u64; 2], Dtype);

pub(super) struct Build {
    kernel: Kernel,
    /// The blocks that are being written, the innermost last.
    blocks: Vec<Vec<Stmt>>,
    /// Loops and branches that are not yet closed.
    open: Vec<Open>,
    /// Nodes for statements to stem from.
    origins: std::iter::Copied<std::slice::Iter<'static, Origin>>,
}

enum Open {
    For { carries: Vec<Carry> },
    Then,
    Else { then: Vec<Stmt> },
}

/// The statements of a text with many of them.
fn origins() -> &'static [Origin] {
    static ORIGINS: OnceLock<Vec<Origin>> = OnceLock::new();
    ORIGINS.get_or_init(|| {
        let text = format!("def f():\n{}", "    pass\n".repeat(2000));
        let document = Document::new(&text);
        let (ast, _) = ast::parse(&document.blocks()[0].source);
        ast.stmts().map(|(id, _)| Origin::Stmt(id)).collect()
    })
}

impl Build {
    pub(super) fn new() -> Build {
        let mut origins = origins().iter().copied();
        let origin = origins.next().unwrap();
        Build {
            kernel: Kernel::new("kernel", KernelKind::InCore, origin),
            blocks: vec![Vec::new()],
            open: Vec::new(),
            origins,
        }
    }

    pub(super) fn kernel(mut self) -> Kernel {
        self.kernel.body = self.blocks.pop().unwrap();
        assert!(self.blocks.is_empty());
        self.kernel
    }

    fn origin(&mut self) -> Origin {
        self.origins.next().unwrap()
    }

    fn push(&mut self, stmt: Stmt) {
        self.blocks.last_mut().unwrap().push(stmt);
    }

    fn var(&mut self, name: &str, ty: Type, role: Role) -> VarId {
        let origin = self.origin();
        self.kernel.add_var(Var { name: name.to_owned(), ty, role, inserted: None, origin })
    }

    fn tensor() -> Type {
        let shape = vec![Scalar::Int(1024), Scalar::Int(1024)];
        Type::Tensor(TensorType {
            shape,
            dtype: Some(Dtype::Fp32),
            layout: TensorLayout::Nd,
            is_output: false,
            rank_known: true,
        })
    }

    pub(super) fn param(&mut self, name: &str) -> VarId {
        let var = self.var(name, Build::tensor(), Role::Param);
        self.kernel.params.push(var);
        var
    }

    fn tile((space, shape, dtype): Tile) -> Type {
        Type::Tile(TileType {
            shape: shape.to_vec(),
            dtype,
            space: Some(space),
            view: TileView::default(),
            binding: None,
        })
    }

    pub(super) fn tile_of(&self, var: VarId) -> Tile {
        let tile = self.kernel.tile(var).unwrap();
        let [rows, columns] = tile.shape[..] else { panic!("not two axes") };
        (tile.space.unwrap(), [rows, columns], tile.dtype)
    }

    fn call_of(&mut self, op: &str, args: Vec<Operand>) -> Call {
        let op = OpId::from_name(op).unwrap_or_else(|| panic!("no operation {op}"));
        Call { op, args, attrs: Vec::new(), origin: self.origin() }
    }

    pub(super) fn call(&mut self, name: &str, op: &str, args: &[VarId], tile: Tile) -> VarId {
        let args = args.iter().map(|arg| Operand::Var(*arg)).collect();
        self.call_with(name, op, args, tile)
    }

    pub(super) fn call_with(&mut self, name: &str, op: &str, args: Vec<Operand>, tile: Tile) -> VarId {
        let var = self.var(name, Build::tile(tile), Role::Def);
        let call = self.call_of(op, args);
        let origin = self.origin();
        self.push(Stmt::Let { var, value: Value::Call(call), origin });
        var
    }

    /// A load in one stage of the only pipeline.
    pub(super) fn staged_load(&mut self, name: &str, from: VarId, tile: Tile, stage: u32) -> VarId {
        let var = self.var(name, Build::tile(tile), Role::Def);
        let mut call = self.call_of("tile.load", vec![Operand::Var(from)]);
        call.attrs.push((AttrName::PipelineStages, Attr::Stages(vec![PipelineStage { group: 0, stage }])));
        let origin = self.origin();
        self.push(Stmt::Let { var, value: Value::Call(call), origin });
        var
    }

    pub(super) fn store(&mut self, tile: VarId, to: VarId) {
        let offsets = Operand::List(vec![Scalar::Int(0), Scalar::Int(0)]);
        let call = self.call_of("tile.store", vec![Operand::Var(tile), offsets, Operand::Var(to)]);
        let origin = self.origin();
        self.push(Stmt::Eval { call, origin });
    }

    /// Opens a loop that carries one tile; gives the carried name and the result.
    pub(super) fn begin_for(&mut self, name: &str, init: VarId) -> (VarId, VarId) {
        let ty = self.kernel.var(init).ty.clone();
        let iter = self.var(name, ty.clone(), Role::IterArg);
        let result = self.var(name, ty, Role::LoopResult);
        let carry = Carry { init: Operand::Var(init), iter, result, explicit: false };
        self.open.push(Open::For { carries: vec![carry] });
        self.blocks.push(Vec::new());
        (iter, result)
    }

    pub(super) fn end_for(&mut self, values: &[VarId]) {
        self.end_block(values);
        let Some(Open::For { carries }) = self.open.pop() else { panic!("no loop is open") };
        let body = self.blocks.pop().unwrap();
        let index = self.var("i", Type::Scalar(Dtype::Index), Role::LoopIndex);
        let (start, stop, step) = (Scalar::Int(0), Scalar::Int(8), Scalar::Int(1));
        let origin = self.origin();
        self.push(Stmt::For(For { kind: LoopKind::Range, index, start, stop, step, carries, body, origin }));
    }

    fn end_block(&mut self, values: &[VarId]) {
        let values = values.iter().map(|value| Operand::Var(*value)).collect();
        let origin = self.origin();
        self.push(Stmt::Yield { values, origin });
    }

    pub(super) fn begin_if(&mut self) {
        self.open.push(Open::Then);
        self.blocks.push(Vec::new());
    }

    pub(super) fn begin_else(&mut self, values: &[VarId]) {
        self.end_block(values);
        let Some(Open::Then) = self.open.pop() else { panic!("no branch is open") };
        let then = self.blocks.pop().unwrap();
        self.open.push(Open::Else { then });
        self.blocks.push(Vec::new());
    }

    /// Closes a branch with one result.
    pub(super) fn end_if(&mut self, name: &str, values: &[VarId], tile: Tile) -> VarId {
        self.end_block(values);
        let Some(Open::Else { then }) = self.open.pop() else { panic!("no branch is open") };
        let otherwise = self.blocks.pop().unwrap();
        let result = self.var(name, Build::tile(tile), Role::IfResult);
        let origin = self.origin();
        let condition = Scalar::Bool(true);
        self.push(Stmt::If(If { condition, then, otherwise, has_else: true, results: vec![result], origin }));
        result
    }
}
