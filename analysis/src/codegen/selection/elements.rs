//! Single elements of tiles, read and written by the scalar unit.

use crate::ir::{self, Call, Origin, VarId};

use super::{Selected, Selector, list};
use crate::codegen::expr;
use crate::codegen::sequence::{Instr, Operand, Pipe, TileId};

impl Selector<'_> {
    /// Offset of an element in a row-major tile.
    pub(super) fn element(&mut self, call: &Call) -> Selected<(TileId, String)> {
        let var = call.args.first().and_then(ir::Operand::var).ok_or_else(|| "no tile".to_string())?;
        if self.kernel.tile(var).is_none() {
            return Err("elements of tensors are not read or written in generated code".to_string().into());
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
}
