//! Single elements of tiles, tensors and arrays, read and written by the scalar unit.

use tilefit_python::finding::Origin;

use crate::ir::{self, Call, Scalar, Type, VarId};

use super::tiles::no_tile;
use super::transfers::Use;
use super::{Selected, Selector, list};
use crate::codegen::expr;
use crate::codegen::kernel::pointer;
use crate::codegen::sequence::{Access, Instr, Operand, Pipe, Step, TileId};
use crate::codegen::types;

impl Selector<'_> {
    /// Offset of an element in a row-major tile.
    pub(super) fn element(&mut self, call: &Call) -> Selected<(TileId, String)> {
        let var = call.args.first().and_then(ir::Operand::var).ok_or_else(|| "no tile".to_string())?;
        if self.kernel.tile(var).is_none() {
            return Err(no_tile(self.kernel.var(var)).into());
        }
        let tile = self.tile(var)?;
        let cols = self.program.tile(tile).form.cols;
        let indices = list(call.args.get(1)).ok_or_else(|| "the indices are not a list".to_string())?;
        let texts =
            indices.iter().map(|index| expr::text(index, self.kernel, &self.context)).collect::<Result<Vec<_>, _>>()?;
        match texts.as_slice() {
            [col] => Ok((tile, col.clone())),
            [row, col] => Ok((tile, format!("{row} * {cols} + {col}"))),
            _ => Err("an element of a tile has one or two indices".to_string().into()),
        }
    }

    pub(super) fn read_element(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let (tile, offset) = self.element(call)?;
        let Some(var) = result else { return Ok(()) };
        let name = self.context.register_scalar(var, &self.kernel.var(var).name);
        let text = format!("auto {name} = {}.GetValue({offset});", self.program.tile(tile).name);
        self.element_access(text, vec![tile], Vec::new(), origin);
        Ok(())
    }

    pub(super) fn write_element(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let (tile, offset) = self.element(call)?;
        let value = call.args.get(2).ok_or_else(|| "no value".to_string())?;
        let Operand::Text(value) = self.operand(value)? else { return Err("the value is a tile".to_string().into()) };
        let text = format!("{}.SetValue({offset}, {value});", self.program.tile(tile).name);
        self.element_access(text, Vec::new(), vec![tile], origin);
        if let Some(var) = result {
            self.tiles.insert(var, tile);
        }
        Ok(())
    }

    pub(super) fn element_access(&mut self, text: String, reads: Vec<TileId>, writes: Vec<TileId>, origin: Origin) {
        self.push(Instr { reads, writes, text: Some(text), ..Instr::new("", Vec::new(), Pipe::S, origin) });
    }

    /// `int32_t k = *(index + 0 * 4 + 1);`
    pub(super) fn read_tensor(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let access = self.tensor_element(call, Use::Read)?;
        let Some(var) = result else { return Ok(()) };
        let ty = match &self.kernel.var(var).ty {
            Type::Scalar(dtype) => expr::local_type(*dtype),
            _ => "auto",
        };
        let name = self.context.register_scalar(var, &self.kernel.var(var).name);
        let at = pointer(&access, &self.program.wrappers[access.wrapper]);
        self.tensor_access(format!("{ty} {name} = *({at});"), access, origin);
        Ok(())
    }

    /// `*(out + 0 * 4 + 1) = value;`
    pub(super) fn write_tensor(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let access = self.tensor_element(call, Use::Write)?;
        let value = call.args.get(2).ok_or_else(|| "no value".to_string())?;
        let Operand::Text(value) = self.operand(value)? else { return Err("the value is a tile".to_string().into()) };
        let at = pointer(&access, &self.program.wrappers[access.wrapper]);
        self.tensor_access(format!("*({at}) = {value};"), access, origin);
        if let Some(var) = result {
            let tensor = self.tensor_operand(call.args.first())?;
            self.tensors.insert(var, tensor);
        }
        Ok(())
    }

    fn tensor_element(&mut self, call: &Call, purpose: Use) -> Selected<Access> {
        let tensor = self.tensor_operand(call.args.first())?;
        let indices = list(call.args.get(1)).ok_or_else(|| "the indices are not a list".to_string())?;
        let window = vec![Scalar::Int(1); indices.len()];
        self.access(&tensor, indices, &window, &vec![1; indices.len()], purpose)
    }

    fn tensor_access(&mut self, text: String, access: Access, origin: Origin) {
        let instr = Instr::new("", Vec::new(), Pipe::S, origin);
        self.push(Instr { access: Some(access), text: Some(text), ..instr });
    }

    /// `int32_t count[8] = {};`
    pub(super) fn make_array(&mut self, result: Option<VarId>, origin: Origin) -> Selected<()> {
        let Some(var) = result else { return Ok(()) };
        let Type::Array { dtype, extent } = self.kernel.var(var).ty else {
            return Err("the length of the array is unknown".to_string().into());
        };
        let ty = types::dtype(dtype).ok_or_else(|| format!("{dtype} has no C++ type"))?.to_string();
        let name = self.context.register_scalar(var, &self.kernel.var(var).name);
        self.steps.push(Step::Local { name: format!("{name}[{extent}]"), ty, value: "{}".to_string(), origin });
        Ok(())
    }

    /// `int32_t n = count[i];`
    pub(super) fn read_array(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let value = self.array_element(call)?;
        let Some(var) = result else { return Ok(()) };
        let ty = match self.kernel.var(var).ty {
            Type::Scalar(dtype) => expr::local_type(dtype).to_string(),
            _ => "auto".to_string(),
        };
        let name = self.context.register_scalar(var, &self.kernel.var(var).name);
        self.steps.push(Step::Local { name, ty, value, origin });
        Ok(())
    }

    /// `count[i] = n;`: the array with the new element is the same one.
    pub(super) fn write_array(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let element = self.array_element(call)?;
        let value = call.args.get(2).ok_or_else(|| "no value".to_string())?;
        let Operand::Text(value) = self.operand(value)? else { return Err("the value is a tile".to_string().into()) };
        self.element_access(format!("{element} = {value};"), Vec::new(), Vec::new(), origin);
        if let (Some(var), Some(name)) = (result, self.array_name(call.args.first())) {
            self.context.alias(var, name);
        }
        Ok(())
    }

    fn array_element(&mut self, call: &Call) -> Selected<String> {
        let name = self.array_name(call.args.first()).ok_or_else(|| "the array is unknown".to_string())?;
        let index = call.args.get(1).ok_or_else(|| "no index".to_string())?;
        match self.operand(index)? {
            Operand::Text(index) => Ok(format!("{name}[{index}]")),
            _ => Err("the index is a tile".to_string().into()),
        }
    }

    pub(super) fn array_name(&self, operand: Option<&ir::Operand>) -> Option<String> {
        self.context.name(operand?.var()?).map(str::to_string)
    }
}
