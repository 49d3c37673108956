//! Branches, and their results.

use tilefit_python::finding::Origin;

use crate::ir::{self, If, Scalar, Type, VarId};

use super::{Selected, Selector, TensorRef};
use crate::codegen::expr::{self, Expression};
use crate::codegen::sequence::{
    BranchResult, Branches, Condition, Declare, Declared, Missing, Operand, Step, UnitTest,
};
use crate::codegen::types;

impl Selector<'_> {
    pub(super) fn branches(&mut self, node: &If) {
        let condition = match self.condition(&node.condition) {
            Ok(condition) => condition,
            Err(reason) => return self.missing(Missing::Branches, node.origin, format!("condition: {reason}").into()),
        };
        let (then, then_values) = self.block(&node.then);
        let (otherwise, otherwise_values) = self.block(&node.otherwise);
        let mut bodies = [then, otherwise];
        let yields = [then_values, otherwise_values];
        let mut results = Vec::new();
        for (index, &var) in node.results.iter().enumerate() {
            let values = [0, 1].map(|branch| {
                yields[branch].as_ref().and_then(|(values, at)| values.get(index).map(|value| (value.clone(), *at)))
            });
            let [Some(then), Some(otherwise)] = values else {
                let message = format!("`{}` has no value from one of the branches", self.kernel.var(var).name);
                self.report(node.origin, message.into());
                continue;
            };
            match self.branch_result(var, [then, otherwise], &mut bodies) {
                Ok(Some(result)) => results.push(result),
                Ok(None) => {}
                Err(refusal) => self.report(node.origin, refusal),
            }
        }
        let [then, otherwise] = bodies;
        let otherwise = (node.has_else || !otherwise.is_empty() || !results.is_empty()).then_some(otherwise);
        self.steps.push(Step::If(Box::new(Branches { condition, results, then, otherwise, origin: node.origin })));
    }

    pub(super) fn condition(&self, condition: &Scalar) -> Result<Condition, String> {
        let Expression { text, enclosed, .. } = expr::expression(condition, self.kernel, &self.context)?;
        Ok(Condition { text, enclosed, unit: self.unit_test(condition) })
    }

    /// `subblock_idx == 0`, with a number as it is written.
    fn unit_test(&self, condition: &Scalar) -> Option<UnitTest> {
        let Scalar::Binary(operator, left, right) = condition else { return None };
        let Scalar::Var(unit) = **left else { return None };
        let number = expr::expression(right, self.kernel, &self.context).ok()?.value?;
        self.program.units.contains(&unit).then(|| UnitTest::new(*operator, number))?
    }

    pub(super) fn branch_result(
        &mut self,
        var: VarId,
        values: [(ir::Operand, Origin); 2],
        bodies: &mut [Vec<Step>; 2],
    ) -> Selected<Option<BranchResult>> {
        let name = &self.kernel.var(var).name;
        match &self.kernel.var(var).ty {
            Type::Tile(_) => self.tile_result(var, values, bodies).map(Some),
            Type::Tensor(_) => {
                let refs = values.map(|(value, _)| value.var().and_then(|var| self.tensors.get(&var)).cloned());
                let [Some(then), Some(otherwise)] = refs else {
                    return Err(format!("`{name}` is not a tensor parameter in one of the branches").into());
                };
                if then == otherwise {
                    self.tensors.insert(var, then);
                    return Ok(None);
                }
                let mut args = then.args.clone();
                args.extend(otherwise.args.iter().copied().filter(|arg| !then.args.contains(arg)));
                let ty = self.pointer_type(name, &args)?;
                let pointer = self.context.fresh_scalar(&format!("{name}_ptr"));
                self.tensors.insert(var, TensorRef { args, pointer: pointer.clone() });
                Ok(Some(BranchResult {
                    name: pointer,
                    declare: Declare::Value(ty),
                    then: Some(then.pointer),
                    otherwise: Some(otherwise.pointer),
                    tiles: None,
                }))
            }
            Type::Scalar(dtype) => {
                let ty = types::dtype(*dtype).ok_or_else(|| format!("{dtype} has no C++ type"))?;
                let mut texts = Vec::new();
                for (value, _) in &values {
                    match self.operand(value)? {
                        Operand::Text(text) => texts.push(text),
                        _ => return Err(format!("`{name}` is a tile in one of the branches").into()),
                    }
                }
                let name = self.context.register_scalar(var, name);
                let otherwise = texts.pop();
                let declare = Declare::Value(ty.to_string());
                Ok(Some(BranchResult { name, declare, then: texts.pop(), otherwise, tiles: None }))
            }
            Type::Array { .. } => {
                let [then, otherwise] = values.map(|(value, _)| self.array_name(Some(&value)));
                match then.filter(|then| otherwise.as_ref() == Some(then)) {
                    Some(array) => self.context.alias(var, array),
                    None => return Err(format!("`{name}` is a different array in each branch").into()),
                }
                Ok(None)
            }
            ty => Err(without_form(name, ty).into()),
        }
    }

    /// The C++ type of a pointer into any of these tensors. Their windows are described once, so they must lie alike.
    pub(super) fn pointer_type(&self, name: &str, args: &[usize]) -> Selected<String> {
        let lies = |arg: usize| {
            let layout = match self.kernel.params.get(arg).map(|param| &self.kernel.var(*param).ty) {
                Some(Type::Tensor(tensor)) => Some(tensor.layout),
                _ => None,
            };
            self.program.args.get(arg).map(|arg| (arg.dtype, &arg.kind, layout))
        };
        let Some((first, rest)) = args.split_first() else {
            return Err(format!("`{name}` is not a tensor parameter").into());
        };
        if let Some(other) = rest.iter().find(|other| lies(**other) != lies(*first)) {
            let (one, other) = (&self.program.args[*first].name, &self.program.args[*other].name);
            let message = format!("`{name}` is `{one}` or `{other}`, which differ in shape, element type or layout");
            return Err(message.into());
        }
        let element = types::dtype(self.program.args[*first].dtype).unwrap_or("void");
        Ok(format!("__gm__ {element}*"))
    }

    pub(super) fn tile_result(
        &mut self,
        var: VarId,
        values: [(ir::Operand, Origin); 2],
        bodies: &mut [Vec<Step>; 2],
    ) -> Selected<BranchResult> {
        let mut sources = Vec::new();
        for (value, at) in &values {
            let source = value.var().ok_or_else(|| "a yielded value is not a tile".to_string())?;
            sources.push((self.tile(source)?, *at));
        }
        if !self.places.contains_key(&var)
            && let Some(place) = values[0].0.var().and_then(|source| self.places.get(&source)).copied()
        {
            self.places.insert(var, place);
        }
        let result = self.declare(var, Declared::BeforeIf)?;
        let (form, home) = (self.program.tile(result).form, self.program.tile(result).address);
        let mut assigned = Vec::new();
        for (branch, (source, at)) in sources.into_iter().enumerate() {
            let value = self.program.tile(source);
            let in_place = value.address == home && !self.moving.contains(&source);
            let source = if in_place {
                source
            } else {
                let outer = std::mem::replace(&mut self.steps, std::mem::take(&mut bodies[branch]));
                let copy = self.copy_tile(source, form, home, at);
                bodies[branch] = std::mem::replace(&mut self.steps, outer);
                copy
            };
            let value = self.program.tile(source);
            assigned.push((source, (value.form == form).then(|| value.name.clone())));
        }
        let (otherwise, otherwise_name) = assigned.pop().ok_or_else(|| "no branch".to_string())?;
        let (then, then_name) = assigned.pop().ok_or_else(|| "no branch".to_string())?;
        Ok(BranchResult {
            name: self.program.tile(result).name.clone(),
            declare: Declare::Tile(result),
            then: then_name,
            otherwise: otherwise_name,
            tiles: Some((result, then, otherwise)),
        })
    }
}

/// Why a variable has no form in C++, whose type is none of tile, tensor and scalar.
pub(super) fn without_form(name: &str, ty: &Type) -> String {
    match ty {
        Type::Unknown(reason) => format!("`{name}` is unknown: {reason}"),
        Type::Tensor(_) => format!("the element type of `{name}` is unknown"),
        _ => format!("`{name}` has no form in C++"),
    }
}
