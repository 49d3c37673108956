//! Statements: assignments, loops with carried values, branches.

use std::cell::RefCell;
use std::rc::Rc;

use tilefit_pypto::ir::{Call, Carry, For, If, Kernel, Operand, Scalar, Stmt, Type, Value as Bound, VarId, While};

use super::array::Array;
use super::operation::{self, Made};
use super::scalars::converted;
use super::{Conditioning, Number, Result, Shared, Value};

/// Operations that one kernel may take: enough for every kernel that is worth running, and an end to the others.
const OPERATIONS: usize = 200_000;

/// What a kernel leaves.
#[derive(Debug)]
pub struct Outcome {
    /// The parameters after the run, in order; scalars are as they were.
    pub params: Vec<Value>,
    pub returned: Vec<Value>,
}

/// Runs a kernel on the values of its parameters.
pub fn run(kernel: &Kernel, params: Vec<Value>, conditioning: Conditioning) -> Result<Outcome> {
    let mut machine = Machine { kernel, vars: vec![None; kernel.vars.len()], operations: 0, conditioning };
    for (var, value) in kernel.params.iter().zip(&params) {
        machine.vars[var.0 as usize] = Some(value.clone());
    }
    let returned = match machine.block(&kernel.body)? {
        Flow::Return(values) => values,
        Flow::Next => Vec::new(),
        _ => return Err("a jump out of the kernel".to_owned()),
    };
    Ok(Outcome { params, returned })
}

pub(super) struct Machine<'k> {
    pub(super) kernel: &'k Kernel,
    vars: Vec<Option<Value>>,
    operations: usize,
    conditioning: Conditioning,
}

/// How a list of statements ends.
enum Flow {
    Next,
    Yield(Vec<Value>),
    Return(Vec<Value>),
    Break,
    Continue,
}

impl Machine<'_> {
    pub(super) fn name(&self, var: VarId) -> &str {
        &self.kernel.var(var).name
    }

    pub(super) fn value(&self, var: VarId) -> Result<Value> {
        self.vars[var.0 as usize].clone().ok_or_else(|| format!("`{}` has no value", self.name(var)))
    }

    pub(super) fn array(&self, var: VarId) -> Result<Shared> {
        match self.value(var)? {
            Value::Array(array) => Ok(array),
            _ => Err(format!("`{}` is no tile and no tensor", self.name(var))),
        }
    }

    fn bind(&mut self, var: VarId, value: Value) {
        let value = match (&self.kernel.var(var).ty, value) {
            (Type::Scalar(dtype), Value::Number(number)) => Value::Number(converted(*dtype, number)),
            (_, value) => value,
        };
        self.vars[var.0 as usize] = Some(value);
    }

    pub(super) fn operand(&mut self, operand: &Operand) -> Result<Value> {
        match operand {
            Operand::Var(var) | Operand::Scalar(Scalar::Var(var)) => self.value(*var),
            Operand::Scalar(scalar) => Ok(Value::Number(self.scalar(scalar)?)),
            Operand::List(items) => {
                let items: Result<_> = items.iter().map(|item| self.scalar(item).map(Value::Number)).collect();
                Ok(Value::Tuple(items?))
            }
            Operand::Unknown(reason) => Err(format!("not known: {reason}")),
        }
    }

    fn operands(&mut self, operands: &[Operand]) -> Result<Vec<Value>> {
        operands.iter().map(|operand| self.operand(operand)).collect()
    }

    fn block(&mut self, body: &[Stmt]) -> Result<Flow> {
        for stmt in body {
            match self.stmt(stmt)? {
                Flow::Next => {}
                end => return Ok(end),
            }
        }
        Ok(Flow::Next)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Flow> {
        match stmt {
            Stmt::Let { var, value, .. } => {
                let value = match value {
                    Bound::Call(call) => self.call(call, Some(*var))?,
                    Bound::Copy(source) => self.value(*source)?,
                    Bound::Scalar(scalar) => Value::Number(self.scalar(scalar)?),
                    Bound::Element { tuple, index } => match self.value(*tuple)? {
                        Value::Tuple(items) => {
                            items.get(*index as usize).cloned().ok_or("an element that is not there")?
                        }
                        _ => return Err(format!("`{}` is no tuple", self.name(*tuple))),
                    },
                };
                self.bind(*var, value);
            }
            Stmt::Eval { call, .. } => drop(self.call(call, None)?),
            Stmt::For(inner) => return self.for_loop(inner),
            Stmt::While(inner) => return self.while_loop(inner),
            Stmt::If(inner) => return self.branch(inner),
            Stmt::Yield { values, .. } => return Ok(Flow::Yield(self.operands(values)?)),
            Stmt::Return { values, .. } => return Ok(Flow::Return(self.operands(values)?)),
            Stmt::Break(_) => return Ok(Flow::Break),
            Stmt::Continue(_) => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }

    fn for_loop(&mut self, inner: &For) -> Result<Flow> {
        let (mut index, stop, step) = (self.int(&inner.start)?, self.int(&inner.stop)?, self.int(&inner.step)?);
        if step == 0 {
            return Err("a loop with step 0".to_owned());
        }
        self.enter(&inner.carries)?;
        while (step > 0 && index < stop) || (step < 0 && index > stop) {
            self.bind(inner.index, Value::Number(Number::Int(index)));
            match self.iteration(&inner.body, &inner.carries)? {
                Flow::Next => index += step,
                Flow::Break => break,
                end => return Ok(end),
            }
        }
        self.leave(&inner.carries)
    }

    fn while_loop(&mut self, inner: &While) -> Result<Flow> {
        self.enter(&inner.carries)?;
        while self.scalar(&inner.condition)?.is_true() {
            match self.iteration(&inner.body, &inner.carries)? {
                Flow::Next => {}
                Flow::Break => break,
                end => return Ok(end),
            }
        }
        self.leave(&inner.carries)
    }

    /// One round of a loop.
    fn iteration(&mut self, body: &[Stmt], carries: &[Carry]) -> Result<Flow> {
        match self.block(body)? {
            Flow::Yield(values) => {
                for (carry, value) in carries.iter().zip(values) {
                    self.bind(carry.iter, value);
                }
                Ok(Flow::Next)
            }
            Flow::Next | Flow::Continue if carries.is_empty() => Ok(Flow::Next),
            Flow::Break if carries.is_empty() => Ok(Flow::Break),
            end @ Flow::Return(_) => Ok(end),
            _ => Err("a jump out of a loop that carries values".to_owned()),
        }
    }

    fn enter(&mut self, carries: &[Carry]) -> Result<()> {
        let inits: Result<Vec<Value>> = carries.iter().map(|carry| self.operand(&carry.init)).collect();
        for (carry, init) in carries.iter().zip(inits?) {
            self.bind(carry.iter, init);
        }
        Ok(())
    }

    fn leave(&mut self, carries: &[Carry]) -> Result<Flow> {
        for carry in carries {
            let value = self.value(carry.iter)?;
            self.bind(carry.result, value);
        }
        Ok(Flow::Next)
    }

    fn branch(&mut self, inner: &If) -> Result<Flow> {
        let taken = if self.scalar(&inner.condition)?.is_true() { &inner.then } else { &inner.otherwise };
        match self.block(taken)? {
            Flow::Yield(values) => {
                for (result, value) in inner.results.iter().zip(values) {
                    self.bind(*result, value);
                }
                Ok(Flow::Next)
            }
            end => Ok(end),
        }
    }

    /// Carries an operation out. `result` is the variable that it is bound to.
    pub(super) fn call(&mut self, call: &Call, result: Option<VarId>) -> Result<Value> {
        self.operations += 1;
        if self.operations > OPERATIONS {
            return Err(format!("more than {OPERATIONS} operations"));
        }
        let args = self.operands(&call.args)?;
        let made = match result {
            Some(var) => self.made(var)?,
            None => None,
        };
        operation::evaluate(call, args, made, self.conditioning)
            .map_err(|why| format!("`{}`: {why}", call.op.op().name))
    }

    /// What the author's value is, where it is an array.
    fn made(&mut self, var: VarId) -> Result<Option<Made>> {
        Ok(match &self.kernel.var(var).ty {
            Type::Tile(tile) => {
                let shape = tile.shape.iter().map(|extent| *extent as usize).collect();
                Some(Made { dtype: tile.dtype, shape })
            }
            Type::Tensor(tensor) => {
                let dtype = tensor.dtype.ok_or_else(|| format!("the element type of `{}`", self.name(var)))?;
                let extents: Result<Vec<i64>> = tensor.shape.iter().map(|extent| self.int(extent)).collect();
                Some(Made { dtype, shape: extents?.into_iter().map(|extent| extent as usize).collect() })
            }
            Type::Array { dtype, extent } => Some(Made { dtype: *dtype, shape: vec![*extent as usize] }),
            _ => None,
        })
    }
}

/// An array that nothing else shares.
pub(super) fn fresh(array: Array) -> Value {
    Value::Array(Rc::new(RefCell::new(array)))
}
