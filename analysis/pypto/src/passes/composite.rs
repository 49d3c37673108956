//! LowerCompositeOps: `tile.sin` and `tile.cos` become the vector operations that compute them.
//!
//! The argument is reduced to [-π/2, π/2] by subtracting a multiple of π in four parts, the sign follows from whether the
//! multiple is odd, and a polynomial of degree 9 gives the sine of the rest.

use rustc_hash::FxHashMap;
use tilefit_python::element::Dtype;
use tilefit_python::finding::Origin;
use tilefit_syntax::ast::FloatBits;

use super::backend_layouts::base_name;
use super::layout;
use crate::ir::{Attr, AttrName, Call, Kernel, Operand, Role, Scalar, Stmt, Type, Value, Var, VarId, Why, rewrite};
use crate::ops::OpId;

pub(super) fn run(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    let mut next = 0;
    kernel.body = rewrite::expand_leaves(body, &mut |stmt, out| match stmt {
        Stmt::Let { var, value: Value::Call(call), origin } if matches!(call.op, OpId::SIN | OpId::COS) => {
            let mut lowering =
                Lowering { kernel, next: &mut next, name: String::new(), origin, steps: FxHashMap::default(), out };
            lowering.lower(var, &call);
        }
        other => out.push(other),
    });
}

/// One vector operation of the computation, on the results of earlier ones; `x` is the argument.
struct VectorStep {
    name: &'static str,
    of: Function,
    operand: &'static str,
    work: Work,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Function {
    Sin,
    Cos,
    Both,
}

#[derive(Clone, Copy)]
enum Work {
    TimesConstant(f32),
    PlusConstant(f32),
    Plus(&'static str),
    Minus(&'static str),
    Times(&'static str),
    /// Element type and rounding.
    Cast(Dtype, i64),
}

const NONE: i64 = 0;
const RINT: i64 = 1;
const ROUND: i64 = 2;
const FLOOR: i64 = 3;

const fn step(of: Function, name: &'static str, operand: &'static str, work: Work) -> VectorStep {
    VectorStep { name, of, operand, work }
}

const STEPS: &[VectorStep] = {
    use Function::*;
    use Work::*;
    &[
        step(Both, "pi_inv_x", "x", TimesConstant(std::f32::consts::FRAC_1_PI)),
        step(Cos, "k_pre", "pi_inv_x", PlusConstant(0.5)),
        step(Cos, "k_i", "k_pre", Cast(Dtype::Int32, RINT)),
        step(Sin, "k_i", "pi_inv_x", Cast(Dtype::Int32, ROUND)),
        step(Both, "k_f", "k_i", Cast(Dtype::Fp32, NONE)),
        step(Both, "k_pi_v2", "k_f", TimesConstant(3.140_625)),
        step(Both, "t0", "x", Minus("k_pi_v2")),
        step(Both, "k_pi_c1", "k_f", TimesConstant(0.000_967_025_76)),
        step(Both, "t1", "t0", Minus("k_pi_c1")),
        step(Cos, "t1h", "t1", PlusConstant(std::f32::consts::FRAC_PI_2)),
        step(Both, "k_pi_c2", "k_f", TimesConstant(6.277_114e-7)),
        step(Cos, "t2", "t1h", Minus("k_pi_c2")),
        step(Sin, "t2", "t1", Minus("k_pi_c2")),
        step(Both, "k_pi_c3", "k_f", TimesConstant(1.216_449_2e-10)),
        step(Both, "t3", "t2", Minus("k_pi_c3")),
        step(Both, "k_pi_c4", "k_f", TimesConstant(-1.029_062_3e-13)),
        step(Both, "t4", "t3", Minus("k_pi_c4")),
        step(Cos, "t4t", "t4", PlusConstant(-4.371_139e-8)),
        step(Both, "half_k", "k_f", TimesConstant(0.5)),
        step(Both, "floor_hk_i", "half_k", Cast(Dtype::Int32, FLOOR)),
        step(Both, "floor_hk_f", "floor_hk_i", Cast(Dtype::Fp32, NONE)),
        step(Both, "floor_x4", "floor_hk_f", TimesConstant(4.0)),
        step(Both, "neg2_k", "k_f", TimesConstant(-2.0)),
        step(Both, "sign_pre", "floor_x4", Plus("neg2_k")),
        step(Both, "sign", "sign_pre", PlusConstant(1.0)),
        step(Cos, "t2sq", "t4t", Times("t4t")),
        step(Sin, "t2sq", "t4", Times("t4")),
        step(Both, "p_r0", "t2sq", TimesConstant(2.604_926_5e-6)),
        step(Both, "p_r1", "p_r0", PlusConstant(-1.980_894_4e-4)),
        step(Both, "p_t2_r1", "p_r1", Times("t2sq")),
        step(Both, "p_r2", "p_t2_r1", PlusConstant(8.333_05e-3)),
        step(Both, "p_t2_r2", "p_r2", Times("t2sq")),
        step(Both, "p_r3", "p_t2_r2", PlusConstant(-1.666_665_8e-1)),
        step(Both, "p_t2_r3", "p_r3", Times("t2sq")),
        step(Both, "p_one", "p_t2_r3", PlusConstant(1.0)),
        step(Cos, "t_p", "t4t", Times("p_one")),
        step(Sin, "t_p", "t4", Times("p_one")),
    ]
};

struct Lowering<'a> {
    kernel: &'a mut Kernel,
    /// Number of the next temporary of the kernel.
    next: &'a mut u32,
    name: String,
    origin: Origin,
    steps: FxHashMap<&'static str, VarId>,
    out: &'a mut Vec<Stmt>,
}

impl Lowering<'_> {
    fn lower(&mut self, result: VarId, call: &Call) {
        let Some(argument) = call.args.first().and_then(Operand::var) else {
            return self.out.push(Stmt::Let { var: result, value: Value::Call(call.clone()), origin: self.origin });
        };
        self.name = base_name(&self.kernel.var(result).name).to_owned();
        self.steps.insert("x", argument);
        let skipped = if call.op == OpId::COS { Function::Sin } else { Function::Cos };
        for step in STEPS.iter().filter(|step| step.of != skipped) {
            let Some(value) = self.call(step.operand, step.work, call.origin) else { continue };
            let temporary = self.temporary(step, result, call.origin);
            layout::refresh(self.kernel, temporary, &value);
            self.out.push(Stmt::Let { var: temporary, value: Value::Call(value), origin: self.origin });
            self.steps.insert(step.name, temporary);
        }
        if let Some(value) = self.call("sign", Work::Times("t_p"), call.origin) {
            self.out.push(Stmt::Let { var: result, value: Value::Call(value), origin: self.origin });
        }
    }

    fn call(&self, operand: &str, work: Work, origin: Origin) -> Option<Call> {
        let first = Operand::Var(*self.steps.get(operand)?);
        let constant = |value: f32| Operand::Scalar(Scalar::Float(FloatBits::new(f64::from(value))));
        let (op, second, attrs) = match work {
            Work::TimesConstant(value) => (OpId::MULS, Some(constant(value)), Vec::new()),
            Work::PlusConstant(value) => (OpId::ADDS, Some(constant(value)), Vec::new()),
            Work::Plus(other) => (OpId::ADD, Some(Operand::Var(*self.steps.get(other)?)), Vec::new()),
            Work::Minus(other) => (OpId::SUB, Some(Operand::Var(*self.steps.get(other)?)), Vec::new()),
            Work::Times(other) => (OpId::MUL, Some(Operand::Var(*self.steps.get(other)?)), Vec::new()),
            Work::Cast(dtype, mode) => {
                (OpId::CAST, None, vec![(AttrName::TargetType, Attr::Dtype(dtype)), (AttrName::Mode, Attr::Int(mode))])
            }
        };
        Some(Call { op, args: std::iter::once(first).chain(second).collect(), attrs, origin })
    }

    fn temporary(&mut self, step: &VectorStep, result: VarId, origin: Origin) -> VarId {
        let why = if matches!(step.work, Work::Cast(..)) { Why::CastStep } else { Why::Intermediate };
        let mut ty = self.kernel.var(result).ty.clone();
        if let Type::Tile(tile) = &mut ty {
            tile.binding = None;
            tile.dtype = match step.work {
                Work::Cast(dtype, _) => dtype,
                _ => Dtype::Fp32,
            };
        }
        let name = format!("{}__{}_tmp_v{}", self.name, step.name, self.next);
        *self.next += 1;
        self.kernel.add_var(Var { name, ty, role: Role::Def, inserted: Some(why), origin })
    }
}
