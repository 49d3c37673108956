//! Parameters that a kernel writes as tiles and element by element: the two ways go through different caches, and the compiler cannot
//! keep their order (ConvertTensorToTileOps, once tensors are tiles).

use rustc_hash::FxHashMap;
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Origin;

use crate::ir::{Call, Carry, For, Kernel, KernelKind, Rejection, Stmt, Type, Value, VarId, While};
use crate::ops::OpId;

pub(super) fn check(kernel: &mut Kernel) {
    if kernel.kind != KernelKind::InCore {
        return;
    }
    let mut writes = Writes::default();
    for param in kernel.params.iter().filter(|param| matches!(kernel.var(**param).ty, Type::Tensor(_))) {
        writes.stands_for.insert(*param, *param);
    }
    writes.body(&kernel.body);
    let Writes { tiles, elements, .. } = writes;
    let mixed = elements.iter().filter_map(|(param, element)| Some((*param, *element, *tiles.get(param)?)));
    let mut mixed: Vec<(VarId, Origin, Origin)> = mixed.collect();
    mixed.sort();
    for (param, element, tile) in mixed {
        let name = &kernel.var(param).name;
        let message = format!(
            "GM tensor `{name}` mixes MTE3 and scalar stores in one InCore function: the compiler cannot keep the stores of tiles and the writes of elements in order; write the elements to a tile that is stored, or to another tensor"
        );
        let related = vec![(tile, format!("a tile is stored to `{name}` here"))];
        kernel.rejections.push(Rejection { at: element, code: Code::InvalidOperand, message, related });
    }
}

#[derive(Default)]
struct Writes {
    /// The parameter that a tensor is, or is a part of.
    stands_for: FxHashMap<VarId, VarId>,
    /// The first store of a tile to each parameter, and the first write of an element.
    tiles: FxHashMap<VarId, Origin>,
    elements: FxHashMap<VarId, Origin>,
}

impl Writes {
    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Let { var, value: Value::Copy(source), .. } => self.follow(*var, Some(*source)),
                Stmt::Let { var, value: Value::Call(call), .. } => {
                    let target = self.call(call);
                    self.follow(*var, target);
                }
                Stmt::Eval { call, .. } => {
                    self.call(call);
                }
                Stmt::For(For { carries, body, .. }) | Stmt::While(While { carries, body, .. }) => {
                    self.looped(carries, body);
                }
                Stmt::If(inner) => {
                    stmt.blocks().for_each(|block| self.body(block));
                    for (slot, result) in inner.results.iter().enumerate() {
                        inner.choices(slot).into_iter().for_each(|choice| self.follow(*result, choice));
                    }
                }
                _ => {}
            }
        }
    }

    fn looped(&mut self, carries: &[Carry], body: &[Stmt]) {
        for carry in carries {
            self.follow(carry.iter, carry.init.var());
        }
        self.body(body);
        for carry in carries {
            self.follow(carry.result, Some(carry.iter));
        }
    }

    fn follow(&mut self, var: VarId, source: Option<VarId>) {
        if let Some(param) = source.and_then(|source| self.stands_for.get(&source)).copied() {
            self.stands_for.insert(var, param);
        }
    }

    /// The tensor behind the result.
    fn call(&mut self, call: &Call) -> Option<VarId> {
        let (index, written) = match call.op {
            OpId::STORE => (2, Some(&mut self.tiles)),
            OpId::TENSOR_ASSEMBLE => (0, Some(&mut self.tiles)),
            OpId::TENSOR_WRITE => (0, Some(&mut self.elements)),
            OpId::TENSOR_SLICE | OpId::TENSOR_VIEW => (0, None),
            _ => return None,
        };
        let target = call.args.get(index)?.var()?;
        if let (Some(written), Some(param)) = (written, self.stands_for.get(&target)) {
            written.entry(*param).or_insert(call.origin);
        }
        Some(target)
    }
}
