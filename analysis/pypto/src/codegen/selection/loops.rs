//! Loops, and the values that they carry from one iteration to the next.

use rustc_hash::FxHashMap;
use tilefit_python::finding::Origin;

use crate::ir::{self, For, Scalar, ScalarBinary, ScalarUnary, Stmt, Type, While};

use super::branches::without_form;
use super::{Selected, Selector, TensorRef};
use crate::codegen::expr;
use crate::codegen::sequence::{
    Addressing, Bound, CarriedTile, Carry, Declared, Head, Loop, Missing, Next, Operand, Program, Step, Tile, TileId,
};

impl Selector<'_> {
    pub(super) fn for_loop(&mut self, node: &For) {
        let bounds = [&node.start, &node.stop, &node.step].map(|bound| {
            let text = expr::text(bound, self.kernel, &self.context)?;
            Ok(Bound { text, value: bound.as_int() })
        });
        let [Ok(start), Ok(stop), Ok(step)] = bounds else {
            let reason = bounds.into_iter().find_map(|bound: Result<Bound, String>| bound.err()).unwrap_or_default();
            return self.missing(Missing::Loop("for"), node.origin, format!("bounds of the loop: {reason}").into());
        };
        let var = node.index;
        let name = self.context.register_scalar(var, &self.kernel.var(var).name);
        self.loop_variables.insert(var);
        self.multiples.insert(var, gcd(self.multiple_of(&node.start), self.multiple_of(&node.step)));
        if start.value.is_some_and(|start| start >= 0) && step.value.is_some_and(|step| step > 0) {
            self.context.mark_natural(var);
        }
        let head = Head::For { var, name, start, stop, step };
        self.carrying_loop(head, &node.carries, &node.body, node.origin);
    }

    pub(super) fn while_loop(&mut self, node: &While) {
        let carries = self.carries(&node.carries, node.origin);
        match self.condition(&node.condition) {
            Ok(condition) => self.loop_body(Head::While { condition }, carries, &node.carries, &node.body, node.origin),
            Err(reason) => {
                self.missing(Missing::Loop("while"), node.origin, format!("condition of the loop: {reason}").into());
            }
        }
    }

    pub(super) fn carrying_loop(&mut self, head: Head, carries: &[ir::Carry], body: &[Stmt], origin: Origin) {
        let carried = self.carries(carries, origin);
        self.loop_body(head, carried, carries, body, origin);
    }

    pub(super) fn loop_body(
        &mut self,
        head: Head,
        carried: Vec<Option<Carry>>,
        carries: &[ir::Carry],
        body: &[Stmt],
        origin: Origin,
    ) {
        if self.depth == 0 {
            self.outermost = Some(self.loops);
            self.loops += 1;
        }
        self.depth += 1;
        let outer = std::mem::take(&mut self.steps);
        let (steps, yielded) = self.block(body);
        self.steps = steps;
        let carried = self.yielded(carried, carries, yielded, origin);
        let body = std::mem::replace(&mut self.steps, outer);
        self.depth -= 1;
        if self.depth == 0 {
            self.outermost = None;
        }
        self.steps.push(Step::Loop(Box::new(Loop { head, carries: carried, body, origin })));
    }

    /// Names and first values of what a loop carries; `None` where nothing has to be printed.
    pub(super) fn carries(&mut self, carries: &[ir::Carry], origin: Origin) -> Vec<Option<Carry>> {
        carries.iter().map(|carry| self.carry(carry, origin)).collect()
    }

    pub(super) fn carry(&mut self, carry: &ir::Carry, origin: Origin) -> Option<Carry> {
        let iter = self.kernel.var(carry.iter);
        match &iter.ty {
            Type::Tile(_) => match self.carry_tile(carry, origin) {
                Ok(carry) => Some(carry),
                Err(refusal) => {
                    self.report(origin, refusal);
                    None
                }
            },
            Type::Tensor(_) => {
                let Some(tensor) = carry.init.var().and_then(|var| self.tensors.get(&var)).cloned() else {
                    let message = format!("the first value of `{}` is not a tensor parameter", iter.name);
                    self.report(origin, message.into());
                    return None;
                };
                match self.carry_tensor(carry, tensor, origin) {
                    Ok(carry) => carry,
                    Err(refusal) => {
                        self.report(origin, refusal);
                        None
                    }
                }
            }
            Type::Scalar(dtype) => {
                let init = match self.operand(&carry.init) {
                    Ok(Operand::Text(text)) => text,
                    Ok(_) => return None,
                    Err(refusal) => {
                        self.report(origin, refusal);
                        return None;
                    }
                };
                let ty = expr::local_type(*dtype).to_string();
                let name = self.context.register_scalar(carry.iter, &iter.name);
                self.context.alias(carry.result, name.clone());
                Some(Carry { name, ty, init, next: None, tile: None, yielded: origin })
            }
            // There is one array, whatever its versions.
            Type::Array { .. } => {
                if let Some(name) = self.array_name(Some(&carry.init)) {
                    self.context.alias(carry.iter, name.clone());
                    self.context.alias(carry.result, name);
                }
                None
            }
            ty => {
                self.report(origin, without_form(&iter.name, ty).into());
                None
            }
        }
    }

    /// A tensor that stays what it is needs nothing in C++; of one that changes the pointer is carried.
    fn carry_tensor(&mut self, carry: &ir::Carry, tensor: TensorRef, origin: Origin) -> Selected<Option<Carry>> {
        let Some(args) = self.changing.get(&carry.iter).cloned() else {
            self.tensors.insert(carry.iter, tensor.clone());
            self.tensors.insert(carry.result, tensor);
            return Ok(None);
        };
        let name = &self.kernel.var(carry.iter).name;
        let ty = self.pointer_type(name, &args)?;
        let name = self.context.fresh_scalar(&format!("{name}_ptr"));
        let carried = TensorRef { args, pointer: name.clone() };
        self.tensors.insert(carry.iter, carried.clone());
        self.tensors.insert(carry.result, carried);
        Ok(Some(Carry { name, ty, init: tensor.pointer, next: None, tile: None, yielded: origin }))
    }

    pub(super) fn carry_tile(&mut self, carry: &ir::Carry, origin: Origin) -> Selected<Carry> {
        let iter = self.kernel.var(carry.iter);
        let init = carry.init.var().ok_or_else(|| format!("the first value of `{}` is not a tile", iter.name))?;
        let mut init = self.tile(init)?;
        let first = self.program.tile(init).clone();
        let home = self.places.get(&carry.iter).and_then(|place| place.address).or(first.address);
        if home != first.address || self.moving.contains(&init) {
            init = self.copy_tile(init, first.form, home, origin);
        }
        let name = self.context.register_tile(carry.iter, &iter.name);
        let handle =
            Tile { name: name.clone(), place: Addressing::Planned, declared: Declared::ByLoop, address: home, ..first };
        let handle = self.add_tile(handle);
        self.tiles.insert(carry.iter, handle);
        self.tiles.insert(carry.result, handle);
        Ok(Carry {
            name,
            ty: "auto".to_string(),
            init: self.program.tile(init).name.clone(),
            next: None,
            tile: Some(CarriedTile { iter: handle, init, next: handle }),
            yielded: origin,
        })
    }

    /// The values for the next iteration. A tile that is not in the carried value's buffer is copied there; carried tiles
    /// that only change places swap their handles.
    pub(super) fn yielded(
        &mut self,
        carried: Vec<Option<Carry>>,
        carries: &[ir::Carry],
        yielded: Option<(Vec<ir::Operand>, Origin)>,
        origin: Origin,
    ) -> Vec<Carry> {
        let (values, at) = yielded.unwrap_or((Vec::new(), origin));
        if values.len() != carries.len() {
            let message = format!("the loop carries {} values and yields {}", carries.len(), values.len());
            self.report(at, message.into());
            return carried.into_iter().flatten().collect();
        }
        let mut carried = carried;
        self.check_arrays(carries, &values, at);
        let mut tiles: Vec<(usize, TileId)> = Vec::new();
        for (index, value) in values.iter().enumerate() {
            let Some(carry) = &mut carried[index] else { continue };
            carry.yielded = at;
            if carry.tile.is_some() {
                match value
                    .var()
                    .ok_or_else(|| "a yielded value is not a tile".to_string().into())
                    .and_then(|v| self.tile(v))
                {
                    Ok(tile) => tiles.push((index, tile)),
                    Err(refusal) => self.report(at, refusal),
                }
                continue;
            }
            if self.kernel.tensor(carries[index].iter).is_some() {
                let next = value.var().and_then(|var| self.tensors.get(&var)).map(|next| next.pointer.clone());
                carry.next = next.filter(|next| *next != carry.name).map(Next::named);
                continue;
            }
            match self.operand(value) {
                Ok(Operand::Text(text)) if text != carry.name => {
                    carry.next = Some(Next { text, names: self.names(value) });
                }
                Ok(_) => {}
                Err(refusal) => self.report(at, refusal),
            }
        }
        self.yielded_tiles(&mut carried, &tiles, at);
        carried.into_iter().flatten().collect()
    }

    /// What an operand that is a scalar reads, by the names in C++.
    fn names(&self, operand: &ir::Operand) -> Vec<String> {
        match operand {
            ir::Operand::Var(var) => expr::names(&Scalar::Var(*var), &self.context),
            ir::Operand::Scalar(scalar) => expr::names(scalar, &self.context),
            ir::Operand::List(_) | ir::Operand::Unknown(_) => Vec::new(),
        }
    }

    fn check_arrays(&mut self, carries: &[ir::Carry], values: &[ir::Operand], at: Origin) {
        for (carry, value) in carries.iter().zip(values) {
            let var = self.kernel.var(carry.iter);
            let is_array = matches!(var.ty, Type::Array { .. });
            if is_array && self.array_name(Some(value)).as_deref() != self.context.name(carry.iter) {
                let message = format!("`{}` becomes another array from one iteration to the next", var.name);
                self.report(at, message.into());
            }
        }
    }

    pub(super) fn yielded_tiles(&mut self, carried: &mut [Option<Carry>], tiles: &[(usize, TileId)], at: Origin) {
        let iter_of = |carried: &[Option<Carry>], index: usize| {
            carried[index].as_ref().and_then(|carry| carry.tile).map(|tile| tile.iter)
        };
        // Position of the carried value that is yielded to each position.
        let from: FxHashMap<usize, usize> = tiles
            .iter()
            .filter_map(|(index, tile)| {
                let source = tiles.iter().find(|(other, _)| iter_of(carried, *other) == Some(*tile))?.0;
                Some((*index, source))
            })
            .collect();
        let mut copies: Vec<(usize, TileId)> = Vec::new();
        for &(index, tile) in tiles {
            let Some(iter) = iter_of(carried, index) else { continue };
            if tile == iter {
                continue;
            }
            if in_cycle(&from, index) {
                self.moving.insert(iter);
                set_next(&mut carried[index], tile, &self.program);
                continue;
            }
            let home = self.program.tile(iter).address;
            let value = self.program.tile(tile);
            if self.moving.contains(&tile) || value.address != home {
                copies.push((index, tile));
            } else if value.form == self.program.tile(iter).form {
                set_next(&mut carried[index], tile, &self.program);
            }
        }
        while !copies.is_empty() {
            let free = copies.iter().position(|(index, _)| {
                let Some(home) = iter_of(carried, *index) else { return true };
                copies.iter().all(|(other, source)| other == index || !self.overlap(home, *source))
            });
            let Some(free) = free else {
                let message = "the carried tiles would overwrite each other while they are exchanged".to_string();
                self.report(at, message.into());
                return;
            };
            let (index, source) = copies.remove(free);
            let Some(iter) = iter_of(carried, index) else { continue };
            let (form, home) = (self.program.tile(iter).form, self.program.tile(iter).address);
            let copy = self.copy_tile(source, form, home, at);
            set_next(&mut carried[index], copy, &self.program);
        }
    }
}

impl Selector<'_> {
    /// A number that divides the value of an expression, whatever that is; 0 of what is always 0.
    pub(super) fn multiple_of(&self, scalar: &Scalar) -> u64 {
        let [left, right] = match scalar {
            Scalar::Int(value) => return value.unsigned_abs(),
            Scalar::Var(var) => {
                let constant = self.constants.get(var).map(|value| value.unsigned_abs());
                return constant.or_else(|| self.multiples.get(var).copied()).unwrap_or(1);
            }
            Scalar::Unary(ScalarUnary::Neg, operand) => return self.multiple_of(operand),
            Scalar::Cast(dtype, operand) if !dtype.is_float() => return self.multiple_of(operand),
            Scalar::Binary(_, left, right) => [left, right].map(|side| self.multiple_of(side)),
            _ => return 1,
        };
        match scalar {
            Scalar::Binary(ScalarBinary::Add | ScalarBinary::Sub, ..) => gcd(left, right),
            Scalar::Binary(ScalarBinary::Min | ScalarBinary::Max, ..) => gcd(left, right),
            Scalar::Binary(ScalarBinary::Mul, ..) => left.checked_mul(right).unwrap_or(left),
            _ => 1,
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

pub(super) fn set_next(carry: &mut Option<Carry>, tile: TileId, program: &Program) {
    if let Some(carry) = carry {
        carry.next = Some(Next::named(program.tile(tile).name.clone()));
        if let Some(carried) = &mut carry.tile {
            carried.next = tile;
        }
    }
}

/// Whether following the yielded positions from `start` comes back to it.
pub(super) fn in_cycle(from: &FxHashMap<usize, usize>, start: usize) -> bool {
    let mut at = start;
    for _ in 0..from.len() {
        match from.get(&at) {
            Some(next) if *next == start => return true,
            Some(next) => at = *next,
            None => return false,
        }
    }
    false
}
