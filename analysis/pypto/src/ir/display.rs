//! Kernels as text, close to the compiler's dumps.

use std::fmt::{self, Display, Formatter, Write};

use tilefit_python::finding::Origin;

use super::{
    Attr, Call, Carry, Kernel, KernelKind, Layout, LoopKind, Operand, Scalar, ScalarBinary, ScalarUnary, Stmt,
    TileType, Type, Value, VarId,
};

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            KernelKind::InCore => "InCore",
            KernelKind::Aic => "AIC",
            KernelKind::Aiv => "AIV",
        };
        let names = Names::of(self, &|_| None);
        writeln!(f, "{kind} {}", self.name)?;
        for &param in &self.params {
            writeln!(f, "    param {}: {}", names.var(param), names.ty(&self.var(param).ty))?;
        }
        names.block(f, &self.body, 1)?;
        for note in &self.notes {
            writeln!(f, "    not modelled: {}", note.reason)?;
        }
        for rejection in &self.rejections {
            writeln!(f, "    {}: {}", rejection.code, rejection.message)?;
        }
        Ok(())
    }
}

/// A kernel with the memory of its tiles in their types, as dumps print it.
pub struct Allocated<'k> {
    pub kernel: &'k Kernel,
    /// The memory reference of a tile: `MemRef(mem_vec_3, 0x0, 32768)`.
    pub memref: &'k dyn Fn(VarId) -> Option<String>,
}

impl Allocated<'_> {
    /// What each line of the text stems from.
    pub fn origins(&self) -> Vec<Origin> {
        let mut origins = Vec::new();
        collect_origins(&self.kernel.body, &mut origins);
        origins
    }
}

/// In the order in which [`Names::block`] prints.
fn collect_origins(body: &[Stmt], origins: &mut Vec<Origin>) {
    for stmt in body {
        origins.push(stmt.origin());
        for (nth, block) in stmt.blocks().enumerate() {
            // `else:` has a line of its own.
            if nth > 0 && !block.is_empty() {
                origins.push(stmt.origin());
            }
            collect_origins(block, origins);
        }
    }
}

impl Display for Allocated<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Names::of(self.kernel, self.memref).block(f, &self.kernel.body, 1)
    }
}

/// Names of the variables; versions of one name are told apart by a number.
struct Names<'k> {
    kernel: &'k Kernel,
    names: Vec<String>,
    memref: &'k dyn Fn(VarId) -> Option<String>,
}

impl<'k> Names<'k> {
    fn of(kernel: &'k Kernel, memref: &'k dyn Fn(VarId) -> Option<String>) -> Names<'k> {
        let mut seen = rustc_hash::FxHashMap::<&str, u32>::default();
        let names = kernel.vars.iter().map(|var| {
            let version = seen.entry(&var.name).or_default();
            *version += 1;
            if *version == 1 { var.name.clone() } else { format!("{}.{version}", var.name) }
        });
        Names { kernel, names: names.collect(), memref }
    }

    fn var(&self, var: VarId) -> &str {
        self.names.get(var.0 as usize).map_or("?", String::as_str)
    }

    fn block(&self, f: &mut Formatter<'_>, body: &[Stmt], depth: usize) -> fmt::Result {
        body.iter().try_for_each(|stmt| self.stmt(f, stmt, depth))
    }

    fn stmt(&self, f: &mut Formatter<'_>, stmt: &Stmt, depth: usize) -> fmt::Result {
        let indent = "    ".repeat(depth);
        match stmt {
            Stmt::Let { var, value, .. } => {
                let mut ty = self.ty(&self.kernel.var(*var).ty);
                if let (Some(memref), Type::Tile(tile)) = ((self.memref)(*var), &self.kernel.var(*var).ty) {
                    ty = ty.replacen(tile.dtype.name(), &format!("{}, {memref}", tile.dtype), 1);
                }
                writeln!(f, "{indent}{}: {ty} = {}", self.var(*var), self.value(value))
            }
            Stmt::Eval { call, .. } => writeln!(f, "{indent}{}", self.call(call)),
            Stmt::For(looped) => {
                let kind = match looped.kind {
                    LoopKind::Range => "range".to_owned(),
                    LoopKind::Parallel => "parallel".to_owned(),
                    LoopKind::Unroll => "unroll".to_owned(),
                    LoopKind::Pipeline { stages, .. } => format!("pipeline[{stages}]"),
                    LoopKind::Spmd => "spmd".to_owned(),
                    LoopKind::SplitAiv => "split_aiv".to_owned(),
                };
                let bounds = [&looped.start, &looped.stop, &looped.step].map(|bound| self.scalar(bound)).join(", ");
                let carries = self.carries(&looped.carries);
                writeln!(f, "{indent}for {} in {kind}({bounds}){carries}:", self.var(looped.index))?;
                self.block(f, &looped.body, depth + 1)
            }
            Stmt::While(looped) => {
                let condition = self.scalar(&looped.condition);
                writeln!(f, "{indent}while {condition}{}:", self.carries(&looped.carries))?;
                self.block(f, &looped.body, depth + 1)
            }
            Stmt::If(branch) => {
                let results: Vec<_> = branch.results.iter().map(|&result| self.var(result)).collect();
                let results = if results.is_empty() { String::new() } else { format!(" -> {}", results.join(", ")) };
                writeln!(f, "{indent}if {}{results}:", self.scalar(&branch.condition))?;
                self.block(f, &branch.then, depth + 1)?;
                if !branch.otherwise.is_empty() {
                    writeln!(f, "{indent}else:")?;
                    self.block(f, &branch.otherwise, depth + 1)?;
                }
                Ok(())
            }
            Stmt::Yield { values, .. } => writeln!(f, "{indent}yield {}", self.operands(values)),
            Stmt::Return { values, .. } => writeln!(f, "{indent}return {}", self.operands(values)),
            Stmt::Break(_) => writeln!(f, "{indent}break"),
            Stmt::Continue(_) => writeln!(f, "{indent}continue"),
        }
    }

    /// ` (acc = init -> result)`
    fn carries(&self, carries: &[Carry]) -> String {
        let parts = carries.iter().map(|carry| {
            format!("{} = {} -> {}", self.var(carry.iter), self.operand(&carry.init), self.var(carry.result))
        });
        let parts: Vec<_> = parts.collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }

    fn value(&self, value: &Value) -> String {
        match value {
            Value::Call(call) => self.call(call),
            Value::Copy(var) => self.var(*var).to_owned(),
            Value::Scalar(scalar) => self.scalar(scalar),
            Value::Element { tuple, index } => format!("{}[{index}]", self.var(*tuple)),
        }
    }

    fn call(&self, call: &Call) -> String {
        let mut text = format!("{}({}", call.op.op().name, self.operands(&call.args));
        for (name, value) in &call.attrs {
            let separator = if text.ends_with('(') { "" } else { ", " };
            let _ = write!(text, "{separator}{name}={}", attr(value));
        }
        text + ")"
    }

    fn operands(&self, operands: &[Operand]) -> String {
        operands.iter().map(|operand| self.operand(operand)).collect::<Vec<_>>().join(", ")
    }

    fn operand(&self, operand: &Operand) -> String {
        match operand {
            Operand::Var(var) => self.var(*var).to_owned(),
            Operand::Scalar(scalar) => self.scalar(scalar),
            Operand::List(list) => self.list(list),
            Operand::Unknown(reason) => format!("<{reason}>"),
        }
    }

    fn list(&self, list: &[Scalar]) -> String {
        format!("[{}]", list.iter().map(|scalar| self.scalar(scalar)).collect::<Vec<_>>().join(", "))
    }

    fn scalar(&self, scalar: &Scalar) -> String {
        match scalar {
            Scalar::Int(value) => value.to_string(),
            Scalar::Float(value) => format!("{:?}", value.get()),
            Scalar::Bool(value) => value.to_string(),
            Scalar::Var(var) => self.var(*var).to_owned(),
            Scalar::Unary(op, operand) => {
                let sign = match op {
                    ScalarUnary::Neg => "-",
                    ScalarUnary::Not => "not ",
                    ScalarUnary::BitNot => "~",
                    ScalarUnary::Abs => "abs ",
                };
                format!("{sign}{}", self.scalar(operand))
            }
            Scalar::Binary(op, left, right) => {
                let (left, right) = (self.scalar(left), self.scalar(right));
                match op {
                    ScalarBinary::Min => format!("min({left}, {right})"),
                    ScalarBinary::Max => format!("max({left}, {right})"),
                    _ => format!("({left} {} {right})", op.sign()),
                }
            }
            Scalar::Cast(dtype, operand) | Scalar::Const(dtype, operand) => {
                format!("{dtype}({})", self.scalar(operand))
            }
            Scalar::Dim { tensor, axis } => format!("dim({}, {axis})", self.var(*tensor)),
            Scalar::Dynamic(name) => name.clone(),
            Scalar::Call(call) => self.call(call),
            Scalar::Unknown(reason) => format!("<{reason}>"),
        }
    }

    fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Tile(tile) => self.tile(tile),
            Type::Tensor(tensor) => {
                let dtype = tensor.dtype.map_or("?", |dtype| dtype.name());
                let shape = if tensor.rank_known { self.list(&tensor.shape) } else { "?".to_owned() };
                let out = if tensor.is_output { "Out " } else { "" };
                format!("{out}Tensor[{shape}, {dtype}]")
            }
            Type::Scalar(dtype) => format!("Scalar[{dtype}]"),
            Type::Tuple(types) => format!("({})", types.iter().map(|ty| self.ty(ty)).collect::<Vec<_>>().join(", ")),
            Type::Array { dtype, extent } => format!("Array[{extent}, {dtype}]"),
            Type::Unknown(_) => "?".to_owned(),
        }
    }

    fn tile(&self, tile: &TileType) -> String {
        let mut text = format!("Tile[{:?}, {}", tile.shape, tile.dtype);
        if let Some(binding) = &tile.binding {
            let name = self.kernel.allocations.get(binding.allocation.0 as usize).map_or("?", |known| &known.name);
            let _ = write!(text, ", {name}[{}]", self.scalar(&binding.slot));
        }
        if let Some(space) = tile.space {
            let _ = write!(text, ", {space}");
        }
        if let Some(valid) = &tile.view.valid_shape {
            let _ = write!(text, ", valid={}", self.list(valid));
        }
        let implicit = Layout::implicit(&tile.shape, tile.space);
        let layout = tile.layout();
        if layout.blayout != implicit.blayout {
            let _ = write!(text, ", blayout={}", layout.blayout.name());
        }
        if layout.slayout != implicit.slayout {
            let _ = write!(text, ", slayout={}", layout.slayout.name());
        }
        if layout.fractal != implicit.fractal {
            let _ = write!(text, ", fractal={}", layout.fractal);
        }
        if let Some(value) = tile.view.pad {
            let _ = write!(text, ", pad={}", value.name());
        }
        text + "]"
    }
}

fn attr(attr: &Attr) -> String {
    match attr {
        Attr::Int(value) => value.to_string(),
        Attr::Float(value) => format!("{:?}", value.get()),
        Attr::Bool(value) => value.to_string(),
        Attr::Str(value) => format!("{value:?}"),
        Attr::CoreType(value) => format!("{:?}", value.name()),
        Attr::BarrierMode(value) => format!("{:?}", value.name()),
        Attr::NotifyOp(value) => format!("{:?}", value.name()),
        Attr::WaitCmp(value) => format!("{:?}", value.name()),
        Attr::Pipe(value) => format!("{:?}", value.short_name()),
        Attr::Coalesce(value) => format!("{:?}", value.name()),
        Attr::Dtype(dtype) => dtype.to_string(),
        Attr::Pad(value) => value.name().to_owned(),
        Attr::BLayout(value) => value.name().to_owned(),
        Attr::SLayout(value) => value.name().to_owned(),
        Attr::Space(space) => space.to_string(),
        Attr::Ints(values) => format!("{values:?}"),
        Attr::Stages(stages) => {
            stages.iter().map(|at| format!("{}:{}", at.group, at.stage)).collect::<Vec<_>>().join(";")
        }
        Attr::Unknown(reason) => format!("<{reason}>"),
    }
}
