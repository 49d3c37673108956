//! Scopes of host code as kernels of their own, as the compiler's OutlineIncoreScopes makes them: what a scope reads from
//! around it becomes its parameters, in the order of first use.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::finding::{Origin, Reason};

use crate::ir::{
    Call, Carry, For, If, Operand, Role, Scalar, Stmt, TensorType, TileType, Type, Value, Var, VarId, While, Why, visit,
};
use crate::ops::OpId;

pub(super) struct Outlined {
    /// The variables around the scope that its parameters are given.
    pub(super) taken: Vec<VarId>,
    pub(super) params: Vec<VarId>,
    pub(super) vars: Vec<Var>,
    pub(super) body: Vec<Stmt>,
}

/// The body of a scope, whose variables are `outer`, with variables of its own.
pub(super) fn outline(body: &[Stmt], outer: &[Var]) -> Outlined {
    let mut live_in = LiveIn::default();
    live_in.block(body);
    let mut renaming = Renaming { outer, vars: Vec::new(), names: FxHashMap::default(), extents: Vec::new() };
    let (mut taken, mut params) = (Vec::new(), Vec::new());
    for &param in &live_in.ordered {
        let Some(var) = outer.get(param.0 as usize) else { continue };
        // A value of the function around the scope is a parameter that the author did not write; one of its own parameters, also
        // with what an earlier scope wrote into it, is.
        let mut own = outer.iter().take_while(|other| other.role == Role::Param);
        let inserted = Some(Why::Intermediate).filter(|_| !own.any(|own| own.name == var.name));
        let mut var = Var { role: Role::Param, inserted, ..var.clone() };
        if let Type::Tensor(tensor) = &mut var.ty {
            tensor.is_output = live_in.stored.contains(&param);
        }
        taken.push(param);
        params.push(renaming.add(param, var));
    }
    // Only now every parameter has its number.
    for &param in &params {
        let at = param.0 as usize;
        renaming.vars[at].ty = renaming.ty(&renaming.vars[at].ty.clone());
    }
    let body = renaming.block(body);
    Outlined { taken, params, vars: renaming.vars, body }
}

/// The values of each scope that the code around it reads, in the order of their definition.
pub(super) fn leaving(host: &[Stmt], regions: &[Vec<Stmt>], vars: &[Var]) -> Vec<Vec<Operand>> {
    let mut made_in: FxHashMap<VarId, usize> = FxHashMap::default();
    let mut made: Vec<Vec<VarId>> = vec![Vec::new(); regions.len()];
    for (region, body) in regions.iter().enumerate() {
        for var in body.iter().flat_map(Stmt::results) {
            made_in.insert(var, region);
            made[region].push(var);
        }
    }
    let mut read: FxHashSet<VarId> = FxHashSet::default();
    let bodies = regions.iter().enumerate().map(|(region, body)| (Some(region), body.as_slice()));
    for (here, body) in bodies.chain([(None, host)]) {
        body.iter().for_each(|stmt| {
            visit::uses(stmt, &mut |var| {
                if made_in.get(&var).is_some_and(|region| Some(*region) != here) {
                    read.insert(var);
                }
            })
        });
    }
    let is_shaped = |var: &VarId| !matches!(vars.get(var.0 as usize).map(|var| &var.ty), Some(Type::Scalar(_)) | None);
    let leaves = |made: Vec<VarId>| {
        made.into_iter().filter(|var| read.contains(var) && is_shaped(var)).map(Operand::Var).collect()
    };
    made.into_iter().map(leaves).collect()
}

/// The branches whose values something reads.
pub(super) fn merging(host: &[Stmt]) -> FxHashSet<Origin> {
    let mut merging = FxHashSet::default();
    visit::statements(host, &mut |stmt| {
        if let Stmt::If(branch) = stmt
            && !branch.results.is_empty()
        {
            merging.insert(branch.origin);
        }
    });
    merging
}

/// All values of a scope after which nothing stands: for want of a reader, the compiler hands out every one.
pub(super) fn everything(body: &[Stmt], vars: &[Var]) -> Result<Vec<Operand>, Reason> {
    let is_plain = |stmt: &Stmt| match stmt {
        Stmt::Let { var, .. } => matches!(vars.get(var.0 as usize).map(|var| &var.ty), Some(Type::Tensor(_))),
        Stmt::Eval { .. } => true,
        _ => false,
    };
    match body.iter().all(is_plain) {
        true => Ok(body.iter().flat_map(Stmt::results).map(Operand::Var).collect()),
        false => {
            let reason = "nothing reads the results of this scope at the end of its function, so the compiler returns all of them";
            Err(Reason::new(reason))
        }
    }
}

/// Variables that are read before they are defined, in the order of the first read.
#[derive(Default)]
struct LiveIn {
    ordered: Vec<VarId>,
    /// Those that a store writes.
    stored: FxHashSet<VarId>,
    defined: FxHashSet<VarId>,
    /// The same in order of definition, to forget those of a branch.
    journal: Vec<VarId>,
    /// The tensor behind a carry or the result of a store.
    aliases: FxHashMap<VarId, VarId>,
}

impl LiveIn {
    fn read(&mut self, var: VarId) {
        if !self.defined.contains(&var) && !self.ordered.contains(&var) {
            self.ordered.push(var);
        }
    }

    fn define(&mut self, var: VarId) {
        if self.defined.insert(var) {
            self.journal.push(var);
        }
    }

    fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Let { var, value, .. } => {
                    match value {
                        Value::Call(call) => {
                            self.call(call);
                            if let Some(target) = stored_by(call) {
                                self.aliases.insert(*var, self.original(target));
                            }
                        }
                        Value::Copy(source) | Value::Element { tuple: source, .. } => self.read(*source),
                        Value::Scalar(scalar) => self.scalar(scalar),
                    }
                    self.define(*var);
                }
                Stmt::Eval { call, .. } => self.call(call),
                Stmt::For(looped) => {
                    self.carries(&looped.carries, Some(looped.index));
                    [&looped.start, &looped.stop, &looped.step].into_iter().for_each(|bound| self.scalar(bound));
                    self.block(&looped.body);
                }
                Stmt::While(looped) => {
                    self.carries(&looped.carries, None);
                    self.scalar(&looped.condition);
                    self.block(&looped.body);
                }
                Stmt::If(branch) => {
                    self.scalar(&branch.condition);
                    branch.results.iter().for_each(|&result| self.define(result));
                    let then = self.isolated(&branch.then);
                    let otherwise = self.isolated(&branch.otherwise);
                    then.into_iter().filter(|var| otherwise.contains(var)).for_each(|var| self.define(var));
                }
                Stmt::Yield { values, .. } | Stmt::Return { values, .. } => self.operands(values),
                Stmt::Break(_) | Stmt::Continue(_) => {}
            }
        }
    }

    fn carries(&mut self, carries: &[Carry], index: Option<VarId>) {
        for carry in carries {
            self.operand(&carry.init);
            if let Some(init) = carry.init.var() {
                let original = self.original(init);
                self.aliases.extend([(carry.iter, original), (carry.result, original)]);
            }
        }
        index.into_iter().for_each(|index| self.define(index));
        carries.iter().for_each(|carry| self.define(carry.result));
        carries.iter().for_each(|carry| self.define(carry.iter));
    }

    fn isolated(&mut self, body: &[Stmt]) -> Vec<VarId> {
        let mark = self.journal.len();
        self.block(body);
        let introduced = self.journal.split_off(mark);
        introduced.iter().for_each(|var| {
            self.defined.remove(var);
        });
        introduced
    }

    fn call(&mut self, call: &Call) {
        self.operands(&call.args);
        if let Some(target) = stored_by(call) {
            self.stored.insert(self.original(target));
        }
    }

    fn original(&self, tensor: VarId) -> VarId {
        self.aliases.get(&tensor).copied().unwrap_or(tensor)
    }

    fn operands(&mut self, operands: &[Operand]) {
        operands.iter().for_each(|operand| self.operand(operand));
    }

    fn operand(&mut self, operand: &Operand) {
        match operand {
            Operand::Var(var) => self.read(*var),
            Operand::Scalar(scalar) => self.scalar(scalar),
            Operand::List(list) => list.iter().for_each(|scalar| self.scalar(scalar)),
            Operand::Unknown(_) => {}
        }
    }

    fn scalar(&mut self, scalar: &Scalar) {
        match scalar {
            Scalar::Var(var) | Scalar::Dim { tensor: var, .. } => self.read(*var),
            Scalar::Unary(_, operand) | Scalar::Cast(_, operand) | Scalar::Const(_, operand) => self.scalar(operand),
            Scalar::Binary(_, left, right) => {
                self.scalar(left);
                self.scalar(right);
            }
            Scalar::Call(call) => self.call(call),
            Scalar::Int(_) | Scalar::Float(_) | Scalar::Bool(_) | Scalar::Dynamic(_) | Scalar::Unknown(_) => {}
        }
    }
}

/// The tensor that a call stores to.
fn stored_by(call: &Call) -> Option<VarId> {
    let target = if call.op == OpId::STORE { call.args.get(2) } else { None };
    target.and_then(Operand::var)
}

/// Gives the variables of a scope their places in a kernel of its own.
struct Renaming<'o> {
    outer: &'o [Var],
    vars: Vec<Var>,
    names: FxHashMap<VarId, VarId>,
    /// What extents of tensors depend on and the scope does not read: `n`, or the extent of an axis, under a name of its own.
    extents: Vec<(Scalar, String)>,
}

impl Renaming<'_> {
    fn add(&mut self, outer: VarId, var: Var) -> VarId {
        let id = VarId(self.vars.len() as u32);
        self.vars.push(var);
        self.names.insert(outer, id);
        id
    }

    fn define(&mut self, outer: VarId) -> VarId {
        let Some(var) = self.outer.get(outer.0 as usize) else { return VarId(0) };
        let ty = self.ty(&var.ty);
        self.add(outer, Var { ty, ..var.clone() })
    }

    fn block(&mut self, body: &[Stmt]) -> Vec<Stmt> {
        body.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        match stmt {
            Stmt::Let { var, value, origin } => {
                let value = self.value(value);
                Stmt::Let { var: self.define(*var), value, origin: *origin }
            }
            Stmt::Eval { call, origin } => Stmt::Eval { call: self.call(call), origin: *origin },
            Stmt::For(looped) => {
                let [start, stop, step] = [&looped.start, &looped.stop, &looped.step].map(|bound| self.scalar(bound));
                let carries = self.carries(&looped.carries);
                let index = self.define(looped.index);
                let body = self.block(&looped.body);
                Stmt::For(For { kind: looped.kind, index, start, stop, step, carries, body, origin: looped.origin })
            }
            Stmt::While(looped) => {
                let carries = self.carries(&looped.carries);
                let condition = self.scalar(&looped.condition);
                let body = self.block(&looped.body);
                Stmt::While(While { condition, carries, body, origin: looped.origin })
            }
            Stmt::If(branch) => {
                let condition = self.scalar(&branch.condition);
                let (then, otherwise) = (self.block(&branch.then), self.block(&branch.otherwise));
                let results = branch.results.iter().map(|&result| self.define(result)).collect();
                Stmt::If(If { condition, then, otherwise, has_else: branch.has_else, results, origin: branch.origin })
            }
            Stmt::Yield { values, origin } => Stmt::Yield { values: self.operands(values), origin: *origin },
            Stmt::Return { values, origin } => Stmt::Return { values: self.operands(values), origin: *origin },
            Stmt::Break(origin) => Stmt::Break(*origin),
            Stmt::Continue(origin) => Stmt::Continue(*origin),
        }
    }

    fn carries(&mut self, carries: &[Carry]) -> Vec<Carry> {
        let inits: Vec<Operand> = carries.iter().map(|carry| self.operand(&carry.init)).collect();
        let renamed = carries.iter().zip(inits).map(|(carry, init)| {
            let (iter, result) = (self.define(carry.iter), self.define(carry.result));
            Carry { init, iter, result, explicit: carry.explicit }
        });
        renamed.collect()
    }

    fn value(&self, value: &Value) -> Value {
        match value {
            Value::Call(call) => Value::Call(self.call(call)),
            Value::Copy(var) => self.names.get(var).map_or_else(of_host, |&var| Value::Copy(var)),
            Value::Scalar(scalar) => Value::Scalar(self.scalar(scalar)),
            Value::Element { tuple, index } => {
                self.names.get(tuple).map_or_else(of_host, |&tuple| Value::Element { tuple, index: *index })
            }
        }
    }

    fn call(&self, call: &Call) -> Call {
        Call { args: self.operands(&call.args), ..call.clone() }
    }

    fn operands(&self, operands: &[Operand]) -> Vec<Operand> {
        operands.iter().map(|operand| self.operand(operand)).collect()
    }

    fn operand(&self, operand: &Operand) -> Operand {
        match operand {
            Operand::Var(var) => self.names.get(var).map_or_else(|| Operand::Unknown(host()), |&var| Operand::Var(var)),
            Operand::Scalar(scalar) => Operand::Scalar(self.scalar(scalar)),
            Operand::List(list) => Operand::List(list.iter().map(|scalar| self.scalar(scalar)).collect()),
            Operand::Unknown(reason) => Operand::Unknown(reason.clone()),
        }
    }

    fn scalar(&self, scalar: &Scalar) -> Scalar {
        let renamed = |var: &VarId| self.names.get(var).copied();
        match scalar {
            Scalar::Var(var) => renamed(var).map_or_else(|| Scalar::Unknown(host()), Scalar::Var),
            Scalar::Dim { tensor, axis } => match renamed(tensor) {
                Some(tensor) => Scalar::Dim { tensor, axis: *axis },
                None => Scalar::Unknown(host()),
            },
            Scalar::Unary(op, operand) => Scalar::Unary(*op, Box::new(self.scalar(operand))),
            Scalar::Binary(op, left, right) => {
                Scalar::Binary(*op, Box::new(self.scalar(left)), Box::new(self.scalar(right)))
            }
            Scalar::Cast(dtype, operand) => Scalar::Cast(*dtype, Box::new(self.scalar(operand))),
            Scalar::Const(dtype, operand) => Scalar::Const(*dtype, Box::new(self.scalar(operand))),
            Scalar::Call(call) => Scalar::Call(Box::new(self.call(call))),
            Scalar::Int(_) | Scalar::Float(_) | Scalar::Bool(_) | Scalar::Dynamic(_) | Scalar::Unknown(_) => {
                scalar.clone()
            }
        }
    }

    fn ty(&mut self, ty: &Type) -> Type {
        match ty {
            Type::Tile(tile) => Type::Tile(self.tile(tile)),
            Type::Tuple(types) => Type::Tuple(types.iter().map(|ty| self.ty(ty)).collect()),
            Type::Tensor(tensor) => {
                let shape = tensor.shape.iter().map(|extent| self.extent(extent)).collect();
                Type::Tensor(TensorType { shape, ..tensor.clone() })
            }
            Type::Scalar(_) | Type::Array { .. } | Type::Unknown(_) => ty.clone(),
        }
    }

    /// The extent of a tensor. A value of the host that the scope does not read is known at run time only: the compiler hands
    /// it over after the parameters, as it does with those that `pl.dynamic` names.
    fn extent(&mut self, extent: &Scalar) -> Scalar {
        let is_read = |var: &VarId| self.names.contains_key(var);
        match extent {
            Scalar::Var(var) if !is_read(var) => self.handed_over(extent, *var, None),
            Scalar::Dim { tensor, axis } if !is_read(tensor) => self.handed_over(extent, *tensor, Some(*axis)),
            Scalar::Unary(op, operand) => Scalar::Unary(*op, Box::new(self.extent(operand))),
            Scalar::Cast(dtype, operand) => Scalar::Cast(*dtype, Box::new(self.extent(operand))),
            Scalar::Binary(op, left, right) => {
                Scalar::Binary(*op, Box::new(self.extent(left)), Box::new(self.extent(right)))
            }
            _ => self.scalar(extent),
        }
    }

    fn handed_over(&mut self, extent: &Scalar, var: VarId, axis: Option<u32>) -> Scalar {
        if let Some((_, name)) = self.extents.iter().find(|(known, _)| known == extent) {
            return Scalar::Dynamic(name.clone());
        }
        let Some(var) = self.outer.get(var.0 as usize) else { return Scalar::Unknown(host()) };
        let base = axis.map_or_else(|| var.name.clone(), |axis| format!("{}_dim{axis}", var.name));
        let is_taken = |name: &String| self.extents.iter().any(|(_, taken)| taken == name);
        let numbered = (1..).map(|number| format!("{base}_{number}"));
        let Some(name) = std::iter::once(base.clone()).chain(numbered).find(|name| !is_taken(name)) else {
            return Scalar::Unknown(host());
        };
        self.extents.push((extent.clone(), name.clone()));
        Scalar::Dynamic(name)
    }

    fn tile(&self, tile: &TileType) -> TileType {
        let mut tile = tile.clone();
        if let Some(valid) = &mut tile.view.valid_shape {
            *valid = valid.iter().map(|extent| self.scalar(extent)).collect();
        }
        if let Some(binding) = &mut tile.binding {
            binding.slot = self.scalar(&binding.slot);
        }
        tile
    }
}

fn host() -> Reason {
    Reason::new("a value of the host code")
}

fn of_host() -> Value {
    Value::Scalar(Scalar::Unknown(host()))
}
