//! Gathering, scattering, sorting, random numbers, and products with a first step: what needs more than one row of the
//! instruction table.

use tilefit_python::finding::Origin;

use crate::ir::{self, Attr, AttrName, Call, Scalar, Stmt, Value, VarId};

use super::transfers::Use;
use super::{Selected, Selector, constant_extent, list};
use crate::codegen::expr;
use crate::codegen::modes;
use crate::codegen::sequence::{
    Access, Addressing, ArgKind, Branches, Declared, Elements, Instr, Offset, Operand, Pipe, Step, Tile, TileId,
};
use crate::codegen::types;
use crate::ops::Coalesce;
use crate::ops::selection::Instruction;
use crate::target::Target;

impl Selector<'_> {
    /// The positions that compare, and how many there are in each row: `TGATHER<…, CmpMode::GT>(dst, src, k, count, tmp, 0)`.
    pub(super) fn gather_compare(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let tuple = result.ok_or_else(|| "the result has no name".to_string())?;
        let [Some(found), Some(count)] = [0, 1].map(|index| element_of(&self.kernel.body, tuple, index)) else {
            return Err("both results of `tile.gather_compare` must have a name".to_string().into());
        };
        let mode = call.int(AttrName::CmpMode).and_then(modes::compare_mode);
        let mode = mode.ok_or_else(|| "the kind of comparison is unknown".to_string())?;
        let offset = call.int(AttrName::Offset).unwrap_or(0);
        let [src, tmp] = [self.tile_operand(call, 0)?, self.tile_operand(call, 2)?];
        let k = self.threshold(call, src, origin)?;
        let (found, count) = (self.tile(found)?, self.tile(count)?);
        let mut template: Vec<String> =
            [found, src, k, count, tmp].map(|tile| self.program.tile(tile).type_name()).to_vec();
        template.push(mode.to_string());
        let mut operands: Vec<Operand> = [found, src, k, count, tmp].map(Operand::Tile).to_vec();
        operands.push(Operand::Text(offset.to_string()));
        let (reads, writes) = (vec![src, k, tmp], vec![found, count, tmp]);
        let instr = Instr { template, reads, writes, ..Instr::new("TGATHER", operands, Pipe::V, origin) };
        match self.target {
            // Its scalar unit numbers the positions in the scratch, and writes how many there are.
            Target::Ascend910b => self.on_two_units(instr),
            Target::Ascend950 => {
                self.push(instr);
            }
        }
        Ok(())
    }

    /// What each row is compared with: a tile of one number a row. One number for all is spread over scratch.
    fn threshold(&mut self, call: &Call, src: TileId, origin: Origin) -> Selected<TileId> {
        let operand = call.args.get(1).ok_or_else(|| "the operand to compare with is missing".to_string())?;
        let value = match self.operand(operand)? {
            Operand::Tile(tile) => return Ok(tile),
            value => value,
        };
        let Tile { name, form, valid, .. } = self.program.tile(src).clone();
        let unit = (256 / form.dtype.storage_bits().max(1)).max(1);
        let row =
            types::TileForm { rows: 1, cols: form.rows.checked_next_multiple_of(unit).unwrap_or(form.rows), ..form };
        let address = self.scratch_address(row)?;
        let spread = self.own_tile(&format!("{name}_k"), row, Some(address), origin);
        self.program.tiles[spread.0 as usize].valid = (Elements::Known(1), valid.0);
        let operands = vec![Operand::Tile(spread), value];
        self.push(Instr { writes: vec![spread], inserted: true, ..Instr::new("TEXPANDS", operands, Pipe::V, origin) });
        Ok(spread)
    }

    /// Elements by index: 910B reads indices of 32 bits only.
    pub(super) fn gather(
        &mut self,
        instruction: &'static Instruction,
        result: Option<VarId>,
        call: &Call,
        origin: Origin,
    ) -> Selected<()> {
        let indices = call.args.get(1).and_then(ir::Operand::var);
        if let Some((var, tile)) = indices.and_then(|var| Some((var, self.kernel.tile(var)?)))
            && self.target == Target::Ascend910b
            && tile.dtype.storage_bits() != 32
        {
            let name = &self.kernel.var(var).name;
            return Err(
                format!("the indices `{name}` are {}, but ascend910b gathers by 32-bit indices", tile.dtype).into()
            );
        }
        self.instruction(instruction, result, call, origin)
    }

    /// A row of a tensor into a part of a tile: a view of that part, and a load.
    pub(super) fn gather_row(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let target = self.tile_operand(call, 0)?;
        let tensor = self.tensor_operand(call.args.get(1))?;
        let lists = [2, 3, 4].map(|arg| list(call.args.get(arg)));
        let [Some([row, col]), Some(offsets), Some(shape)] = lists else {
            return Err("the offsets and the shape of `tile.gather_row` are lists of two".to_string().into());
        };
        let valid = list(call.args.get(5)).filter(|valid| !valid.is_empty()).unwrap_or(shape);
        let constants = |extents: &[Scalar]| extents.iter().map(constant_extent).collect::<Option<Vec<u64>>>();
        let Some(limits) = constants(shape).filter(|limits| limits.len() == 2) else {
            return Err("the extents of `tile.gather_row` are known at run time only".to_string().into());
        };
        let extents = valid.iter().map(|extent| expr::elements(extent, self.kernel, &self.context));
        let extents = extents.collect::<Result<Vec<Elements>, String>>()?;
        let [rows, cols] = extents.as_slice() else {
            return Err("the valid part of the rows that `tile.gather_row` loads has two extents".to_string().into());
        };
        let access = self.access(&tensor, offsets, valid, &limits, Use::of_load(call))?;
        let parent = self.program.tile(target).clone();
        // In boxes the distance of the columns depends on the number of rows, and a row within a box has an address of its own.
        let in_boxes = parent.form.box_shape().is_some();
        let form = if in_boxes { parent.form } else { types::TileForm { rows: limits[0], ..parent.form } };
        let place = match in_boxes {
            true if Use::of_load(call) == Use::LoadTransposed => {
                let name = &parent.name;
                return Err(format!(
                    "rows that become columns of `{name}`, which is stored in boxes, have no C++ form"
                )
                .into());
            }
            true => Addressing::Computed(self.line_address(target, [row, col])?),
            false => Addressing::View,
        };
        let view = self.own_tile(&format!("{}_part", parent.name), form, parent.address, origin);
        let in_prologue = !in_boxes && valid.iter().all(|extent| self.is_fixed(extent));
        let tile = &mut self.program.tiles[view.0 as usize];
        (tile.place, tile.valid, tile.bytes) = (place, (rows.clone(), cols.clone()), parent.bytes);
        if !in_prologue {
            tile.declared = Declared::Body;
            self.steps.push(Step::Declare(view));
        }
        if !in_boxes {
            let [row, col] = [row, col].map(|offset| expr::text(offset, self.kernel, &self.context));
            let operands = vec![Operand::Tile(view), Operand::Tile(target), Operand::Text(row?), Operand::Text(col?)];
            self.point("TSUBVIEW", operands, origin);
        }
        self.load_window(view, access, false, false, origin);
        if let Some(var) = result {
            self.tiles.insert(var, target);
        }
        Ok(())
    }

    /// Rows or elements of a tensor by index: `MGATHER<Coalesce::Row>(dst, table, indices)`.
    pub(super) fn mgather(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let by_element =
            matches!(call.attr(AttrName::Coalesce), Some(Attr::Int(1) | Attr::Coalesce(Coalesce::Element)));
        let out_of_bounds = match call.int(AttrName::GatherOob).unwrap_or(0) {
            0 => None,
            1 => Some("Clamp"),
            2 => Some("Wrap"),
            3 => Some("Zero"),
            other => return Err(format!("unknown mode {other} for indices out of bounds").into()),
        };
        let indices = self.tile_operand(call, 1)?;
        let access = self.whole(call.args.first(), false)?;
        let result = result.ok_or_else(|| "the result has no name".to_string())?;
        let result = self.tile(result)?;
        let mut template = vec![coalesce(by_element)];
        template.extend(out_of_bounds.map(|mode| format!("GatherOOB::{mode}")));
        let operands = vec![Operand::Tile(result), Operand::Wrapper(access.wrapper), Operand::Tile(indices)];
        let (reads, writes, access) = (vec![indices], vec![result], Some(access));
        self.push(Instr { template, reads, writes, access, ..Instr::new("MGATHER", operands, Pipe::Mte2, origin) });
        Ok(())
    }

    pub(super) fn mscatter(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let [source, indices] = [self.tile_operand(call, 0)?, self.tile_operand(call, 1)?];
        let access = self.whole(call.args.get(2), true)?;
        if let Some(var) = result {
            let tensor = self.tensor_operand(call.args.get(2))?;
            self.tensors.insert(var, tensor);
        }
        let template = vec![coalesce(true)];
        let operands = vec![Operand::Wrapper(access.wrapper), Operand::Tile(source), Operand::Tile(indices)];
        let (reads, access) = (vec![source, indices], Some(access));
        self.push(Instr { template, reads, access, ..Instr::new("MSCATTER", operands, Pipe::Mte3, origin) });
        Ok(())
    }

    /// An access to all of a tensor.
    pub(super) fn whole(&mut self, operand: Option<&ir::Operand>, store: bool) -> Selected<Access> {
        let tensor = self.tensor_operand(operand)?;
        let [arg] = tensor.args.as_slice() else {
            return Err("a tensor that a branch chooses cannot be indexed".to_string().into());
        };
        let arg = &self.program.args[*arg];
        let ArgKind::Tensor(extents) = &arg.kind else { return Err("not a tensor".to_string().into()) };
        let Some(extents) = extents.iter().map(known).collect::<Option<Vec<u64>>>() else {
            return Err(format!("the extents of `{}` are known at run time only", arg.name).into());
        };
        let window: Vec<Scalar> = extents.iter().map(|extent| Scalar::Int(*extent as i64)).collect();
        let start = vec![Scalar::Int(0); extents.len()];
        let access = self.access(&tensor, &start, &window, &extents, if store { Use::Store } else { Use::Load })?;
        // Where in the tensor it reads and writes is in the indices.
        let offsets = access.offsets.into_iter().map(|offset| Offset { affine: None, ..offset }).collect();
        Ok(Access { offsets, ..access })
    }

    /// `MrgSortExecutedNumList m_executed; TMRGSORT<…, false>(m, m_executed, tmp, a, b);`
    pub(super) fn merge_sorted(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let var = result.ok_or_else(|| "the result has no name".to_string())?;
        let given = call.args.iter().filter_map(ir::Operand::var).filter(|var| self.kernel.tile(*var).is_some());
        let given: Vec<VarId> = given.collect();
        let mut tiles = given.into_iter().map(|var| self.tile(var)).collect::<Selected<Vec<_>>>()?;
        let tmp = tiles.pop().filter(|_| (2..=4).contains(&tiles.len()));
        let tmp = tmp.ok_or_else(|| "`tile.mrgsort` merges two to four lists, with scratch".to_string())?;
        let exhausted = call.flag(AttrName::Exhausted);
        let result = self.tile(var)?;
        let types = [result, tmp].into_iter().chain(tiles.iter().copied());
        let mut template: Vec<String> = types.map(|tile| self.program.tile(tile).type_name()).collect();
        template.push(exhausted.to_string());
        let executed = self.context.fresh_scalar(&format!("{}_executed", self.program.tile(result).name));
        self.local("MrgSortExecutedNumList", &executed, "{}".to_string(), origin);
        let mut operands = vec![Operand::Tile(result), Operand::Text(executed), Operand::Tile(tmp)];
        operands.extend(tiles.iter().copied().map(Operand::Tile));
        tiles.push(tmp);
        let (reads, writes) = (tiles, vec![result, tmp]);
        self.push(Instr { template, reads, writes, ..Instr::new("TMRGSORT", operands, Pipe::V, origin) });
        Ok(())
    }

    /// `TRandomKey r_key = {…}; TRandomCounter r_counter = {…}; TRANDOM<10>(r, r_key, r_counter);`
    pub(super) fn random(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let var = result.ok_or_else(|| "the result has no name".to_string())?;
        let mut seeds = Vec::new();
        for arg in call.args.iter().take(6) {
            match self.operand(arg)? {
                Operand::Text(text) => seeds.push(format!("(uint32_t){text}")),
                _ => return Err("a seed is a scalar".to_string().into()),
            }
        }
        let (Some(keys), Some(counters)) = (seeds.get(..2), seeds.get(2..6)) else {
            return Err("two keys and four counters".to_string().into());
        };
        let result = self.tile(var)?;
        let name = self.program.tile(result).name.clone();
        let key = self.context.fresh_scalar(&format!("{name}_key"));
        let counter = self.context.fresh_scalar(&format!("{name}_counter"));
        let locals = [("TRandomKey", &key, keys), ("TRandomCounter", &counter, counters)];
        for (ty, name, values) in locals {
            self.local(ty, name, format!("{{{}}}", values.join(", ")), origin);
        }
        let template = vec![call.int(AttrName::Rounds).unwrap_or(10).to_string()];
        let operands = vec![Operand::Tile(result), Operand::Text(key), Operand::Text(counter)];
        self.push(Instr { template, writes: vec![result], ..Instr::new("TRANDOM", operands, Pipe::V, origin) });
        Ok(())
    }

    /// An accumulation whose first step starts anew: a branch of a product and an accumulation.
    pub(super) fn matmul_from_first_step(
        &mut self,
        result: Option<VarId>,
        call: &Call,
        origin: Origin,
    ) -> Selected<()> {
        let var = result.ok_or_else(|| "the result has no name".to_string())?;
        let condition = match &call.args[3] {
            ir::Operand::Scalar(condition) => self.condition(condition)?,
            ir::Operand::Var(var) if self.kernel.tile(*var).is_none() => self.condition(&Scalar::Var(*var))?,
            other => {
                self.operand(other)?;
                return Err("the condition of the first step is not a scalar".to_string().into());
            }
        };
        let [acc, left, right] =
            [self.tile_operand(call, 0)?, self.tile_operand(call, 1)?, self.tile_operand(call, 2)?];
        let result = self.tile(var)?;
        let product = self.unplaced(Instr {
            reads: vec![left, right],
            writes: vec![result],
            ..Instr::new("TMATMUL", [result, left, right].map(Operand::Tile).to_vec(), Pipe::M, origin)
        });
        let accumulation = self.unplaced(Instr {
            reads: vec![acc, left, right],
            writes: vec![result],
            ..Instr::new("TMATMUL_ACC", [result, acc, left, right].map(Operand::Tile).to_vec(), Pipe::M, origin)
        });
        let (then, otherwise) = (vec![product], Some(vec![accumulation]));
        self.steps.push(Step::If(Box::new(Branches { condition, results: Vec::new(), then, otherwise, origin })));
        Ok(())
    }

    fn local(&mut self, ty: &str, name: &str, value: String, origin: Origin) {
        self.steps.push(Step::Local { name: name.to_string(), ty: ty.to_string(), value, origin });
    }

    fn unplaced(&mut self, instr: Instr) -> Step {
        let outer = std::mem::take(&mut self.steps);
        self.push(instr);
        std::mem::replace(&mut self.steps, outer).remove(0)
    }
}

fn known(extent: &Option<Elements>) -> Option<u64> {
    match extent {
        Some(Elements::Known(extent)) => Some(*extent),
        _ => None,
    }
}

fn coalesce(by_element: bool) -> String {
    format!("Coalesce::{}", if by_element { "Elem" } else { "Row" })
}

/// The variable that an element of a tuple is bound to.
fn element_of(body: &[Stmt], tuple: VarId, index: u32) -> Option<VarId> {
    body.iter().find_map(|stmt| match stmt {
        Stmt::Let { var, value: Value::Element { tuple: of, index: at }, .. } if *of == tuple && *at == index => {
            Some(*var)
        }
        _ => stmt.blocks().find_map(|block| element_of(block, tuple, index)),
    })
}
