//! Kernels and plans by hand.

use tilefit_python::element::Dtype;
use tilefit_python::finding::Origin;
use tilefit_syntax::{Document, ast};

use crate::ir::{
    Attr, AttrName, Call, For, Kernel, KernelKind, LoopKind, Operand, Role, Scalar, Stmt, TensorLayout, TensorType,
    TileType, TileView, Type, Value, Var, VarId,
};
use crate::memory::{Plan, PlannedTile};
use crate::ops::OpId;
use crate::target::{Planner, Space, Target};

/// A kernel that is being written, and addresses for its tiles.
pub(super) struct Fixture {
    pub kernel: Kernel,
    pub plan: Plan,
}

/// Everything in a fixture stems from one node.
pub(super) fn origin() -> Origin {
    let document = Document::new("def f():\n    pass\n");
    let (ast, _) = ast::parse(&document.blocks()[0].source);
    Origin::Stmt(ast.body[0])
}

impl Fixture {
    pub(super) fn new(name: &str) -> Fixture {
        let kernel = Kernel::new(name, KernelKind::Aiv, origin());
        let plan = Plan::empty(&kernel, Target::Ascend910b, Planner::Sequential);
        Fixture { kernel, plan }
    }

    pub(super) fn var(&mut self, name: &str, ty: Type, role: Role) -> VarId {
        let inserted = name.ends_with("_mv").then_some(crate::ir::Why::CarriedCopy);
        let origin = self.kernel.origin;
        self.kernel.add_var(Var { name: name.to_string(), ty, role, inserted, origin })
    }

    pub(super) fn tensor(&mut self, name: &str, shape: &[u64], dtype: Dtype) -> VarId {
        let var = self.var(name, tensor_type(shape, dtype), Role::Param);
        self.kernel.params.push(var);
        var
    }

    pub(super) fn scalar(&mut self, name: &str, dtype: Dtype) -> VarId {
        let var = self.var(name, Type::Scalar(dtype), Role::Param);
        self.kernel.params.push(var);
        var
    }

    pub(super) fn tile(&mut self, name: &str, tile: TileType, address: Option<u64>, role: Role) -> VarId {
        let bytes = (tile.shape.iter().product::<u64>() * tile.dtype.storage_bits()).div_ceil(8);
        let (shape, dtype, space, origin) = (tile.shape.clone(), tile.dtype, tile.space, self.kernel.origin);
        let var = self.var(name, Type::Tile(tile), role);
        self.plan.tiles.push(PlannedTile {
            var,
            name: name.to_string(),
            label: name.to_string(),
            op: "",
            role,
            inserted: None,
            origin,
            space,
            shape,
            dtype,
            bytes,
            buffer: None,
            address,
            dynamic_offset: false,
            first: Default::default(),
            last: Default::default(),
        });
        var
    }

    pub(super) fn vec(&mut self, name: &str, shape: &[u64], address: u64) -> VarId {
        self.tile(name, tile_type(Space::Vec, shape, Dtype::Fp32), Some(address), Role::Def)
    }

    pub(super) fn call(&self, op: &str, args: Vec<Operand>, attrs: Vec<(AttrName, Attr)>) -> Call {
        let op = OpId::from_name(op).unwrap_or_else(|| panic!("no operation {op}"));
        Call { op, args, attrs, origin: self.kernel.origin }
    }

    pub(super) fn set(&self, var: VarId, op: &str, args: Vec<Operand>) -> Stmt {
        self.set_with(var, op, args, Vec::new())
    }

    pub(super) fn set_with(&self, var: VarId, op: &str, args: Vec<Operand>, attrs: Vec<(AttrName, Attr)>) -> Stmt {
        Stmt::Let { var, value: Value::Call(self.call(op, args, attrs)), origin: self.kernel.origin }
    }

    pub(super) fn load(&self, var: VarId, tensor: VarId, offsets: Vec<Scalar>, shape: &[u64]) -> Stmt {
        self.set(var, "tile.load", vec![Operand::Var(tensor), Operand::List(offsets), sizes(shape)])
    }

    pub(super) fn store(&self, tile: VarId, offsets: Vec<Scalar>, tensor: VarId) -> Stmt {
        let call =
            self.call("tile.store", vec![Operand::Var(tile), Operand::List(offsets), Operand::Var(tensor)], Vec::new());
        Stmt::Eval { call, origin: self.kernel.origin }
    }

    pub(super) fn repeat(&mut self, index: VarId, [start, stop, step]: [i64; 3], body: Vec<Stmt>) -> For {
        For {
            kind: LoopKind::Range,
            index,
            start: Scalar::Int(start),
            stop: Scalar::Int(stop),
            step: Scalar::Int(step),
            carries: Vec::new(),
            body,
            origin: self.kernel.origin,
        }
    }
}

pub(super) fn tile_type(space: Space, shape: &[u64], dtype: Dtype) -> TileType {
    TileType { shape: shape.to_vec(), dtype, space: Some(space), view: TileView::default(), binding: None }
}

pub(super) fn tensor_type(shape: &[u64], dtype: Dtype) -> Type {
    Type::Tensor(TensorType {
        shape: shape.iter().map(|extent| Scalar::Int(*extent as i64)).collect(),
        dtype: Some(dtype),
        layout: TensorLayout::Nd,
        is_output: false,
        rank_known: true,
    })
}

pub(super) fn sizes(shape: &[u64]) -> Operand {
    Operand::List(shape.iter().map(|extent| Scalar::Int(*extent as i64)).collect())
}

pub(super) fn zero() -> Vec<Scalar> {
    vec![Scalar::Int(0), Scalar::Int(0)]
}
