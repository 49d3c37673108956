//! Work of several devices: windows of global memory on the others, transfers between them, and signals.
//!
//! Where the windows lie says a context that the kernel is given after its parameters, one for each tensor that has such
//! windows and in their order (`pto_ops_distributed.cpp`, MaterializeDistTensorCtx). What goes through staging tiles, and every
//! signal, has barriers of all pipes around it, as the compiler puts them.

use tilefit_python::element::Dtype;
use tilefit_python::finding::Origin;

use crate::ir::{self, Attr, AttrName, Call, Scalar, VarId};
use crate::ops::{NotifyOp, OpId, WaitCmp};

use super::transfers::{Use, adds};
use super::{Selected, Selector, TensorRef, constant_extent, list};
use crate::codegen::expr;
use crate::codegen::kernel::pointer;
use crate::codegen::sequence::{Access, Arg, ArgKind, By, Instr, Operand, Pipe, Step, Sync, TileId, pipe_of_store};

impl Selector<'_> {
    /// The context of a tensor's windows under another name.
    pub(super) fn comm_context(&mut self, result: Option<VarId>, call: &Call) -> Selected<()> {
        let context = self.context_of(call.args.first())?;
        if let Some(var) = result {
            self.context.alias(var, context);
        }
        Ok(())
    }

    /// `int32_t me = comm_rank(x_ctx);`
    pub(super) fn comm_number(
        &mut self,
        function: &str,
        result: Option<VarId>,
        call: &Call,
        origin: Origin,
    ) -> Selected<()> {
        let context = match call.args.first() {
            Some(operand) => self.operand(operand)?,
            None => return Err(format!("`{}` of nothing", call.op.op().name).into()),
        };
        let (Some(var), Operand::Text(context)) = (result, context) else { return Ok(()) };
        let name = self.context.register_scalar(var, &self.kernel.var(var).name);
        self.context.mark_natural(var);
        let value = format!("{function}({context})");
        self.steps.push(Step::Local { name, ty: expr::local_type(Dtype::Int32).to_string(), value, origin });
        Ok(())
    }

    fn context_of(&mut self, tensor: Option<&ir::Operand>) -> Selected<String> {
        let tensor = self.tensor_operand(tensor)?;
        let [arg] = tensor.args.as_slice() else {
            return Err("a tensor that a branch chooses has no windows on other devices here".to_string().into());
        };
        if let Some((_, name)) = self.contexts.iter().find(|(of, _)| of == arg) {
            return Ok(name.clone());
        }
        let name = self.context.fresh_scalar(&format!("{}_ctx", self.program.args[*arg].name));
        self.contexts.push((*arg, name.clone()));
        Ok(name)
    }

    /// The arguments for the contexts that the kernel has asked for.
    pub(super) fn declare_contexts(&mut self) {
        let mut contexts = std::mem::take(&mut self.contexts);
        contexts.sort();
        let behind = self.kernel.params.len();
        let args = contexts.into_iter().map(|(tensor, name)| {
            let origin = self.program.args[tensor].origin;
            Arg { name, dtype: Dtype::Int64, kind: ArgKind::Context, origin }
        });
        let args: Vec<Arg> = args.collect();
        self.program.args.splice(behind..behind, args);
    }

    /// The tensor's window on another device.
    fn on_device(&mut self, tensor: Option<&ir::Operand>, peer: Option<&ir::Operand>) -> Selected<TensorRef> {
        let context = self.context_of(tensor)?;
        let tensor = self.tensor_operand(tensor)?;
        let peer = match peer {
            Some(peer) => self.operand(peer)?,
            None => return Err("the argument for the other device is missing".to_string().into()),
        };
        let Operand::Text(peer) = peer else { return Err("the other device is not a scalar".to_string().into()) };
        Ok(TensorRef { pointer: format!("comm_window({context}, {}, {peer})", tensor.pointer), ..tensor })
    }

    pub(super) fn remote_load(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let var = result.ok_or_else(|| "a load whose result has no name".to_string())?;
        let tile = self.tile(var)?;
        let tensor = self.on_device(call.args.first(), call.args.get(1))?;
        let offsets = list(call.args.get(2)).ok_or_else(|| "the offsets are not a list".to_string())?;
        let window = [4, 3].into_iter().find_map(|arg| list(call.args.get(arg)).filter(|extents| !extents.is_empty()));
        let window = window.ok_or_else(|| "the shape is not a list".to_string())?;
        let limits = self.tile_extents(var, offsets.len());
        let access = self.moved(&tensor, offsets, window, &limits, Use::Load)?;
        let inserted = self.kernel.var(var).inserted.is_some();
        self.load_window(tile, access, false, inserted, origin);
        Ok(())
    }

    pub(super) fn remote_store(&mut self, call: &Call, origin: Origin) -> Selected<()> {
        let source = call.args.first().and_then(ir::Operand::var);
        let source = source.ok_or_else(|| "the stored value is not a tile".to_string())?;
        let tile = self.tile(source)?;
        let tensor = self.on_device(call.args.get(1), call.args.get(2))?;
        let offsets = list(call.args.get(3)).ok_or_else(|| "the offsets are not a list".to_string())?;
        let window = self.stored_window(source, tile, offsets.len());
        let limits = self.tile_extents(source, offsets.len());
        let access = self.moved(&tensor, offsets, &window, &limits, Use::Store)?;
        let wrapper = access.wrapper;
        let template = if adds(call)? { self.atomic(tile, wrapper) } else { Vec::new() };
        let pipe = pipe_of_store(self.program.tile(tile).form.space);
        let operands = vec![Operand::Wrapper(wrapper), Operand::Tile(tile)];
        let (reads, access) = (vec![tile], Some(access));
        let id = self.push(Instr { template, reads, access, ..Instr::new("TSTORE", operands, pipe, origin) });
        self.site(id, wrapper, false);
        Ok(())
    }

    /// `comm::TNOTIFY(signalGlobal, (int32_t)1, comm::NotifyOp::AtomicAdd);`
    pub(super) fn notify(&mut self, call: &Call, origin: Origin) -> Selected<()> {
        let tensor = self.on_device(call.args.first(), call.args.get(1))?;
        let access = self.signal(&tensor, call.args.get(2), Use::Store)?;
        let value = self.signalled(call.args.get(3))?;
        let how = match call.attr(AttrName::Op) {
            Some(Attr::NotifyOp(NotifyOp::AtomicAdd)) => "AtomicAdd",
            Some(Attr::NotifyOp(NotifyOp::Set)) => "Set",
            _ => return Err("the kind of notification is unknown".to_string().into()),
        };
        let how = format!("comm::NotifyOp::{how}");
        // All that was done before is seen by who gets the signal.
        self.barrier_of_all(origin);
        self.on_signal("comm::TNOTIFY", access, [value, how], origin);
        Ok(())
    }

    /// `comm::TWAIT(signalGlobal, (int32_t)1, comm::WaitCmp::GE);`
    pub(super) fn wait_for(&mut self, call: &Call, origin: Origin) -> Selected<()> {
        let tensor = self.tensor_operand(call.args.first())?;
        let access = self.signal(&tensor, call.args.get(1), Use::Load)?;
        let expected = self.signalled(call.args.get(2))?;
        let how = match call.attr(AttrName::Cmp) {
            Some(Attr::WaitCmp(WaitCmp::Eq)) => "EQ",
            Some(Attr::WaitCmp(WaitCmp::Ge)) => "GE",
            _ => return Err("the comparison is unknown".to_string().into()),
        };
        self.on_signal("comm::TWAIT", access, [expected, format!("comm::WaitCmp::{how}")], origin);
        Ok(())
    }

    fn signal(&mut self, tensor: &TensorRef, offsets: Option<&ir::Operand>, purpose: Use) -> Selected<Access> {
        let offsets = list(offsets).ok_or_else(|| "the offsets are not a list".to_string())?;
        let (window, limits) = (vec![Scalar::Int(1); offsets.len()], vec![1; offsets.len()]);
        self.moved(tensor, offsets, &window, &limits, purpose)
    }

    /// Signals have 32 bits.
    fn signalled(&mut self, operand: Option<&ir::Operand>) -> Selected<String> {
        match operand.map(|operand| self.operand(operand)) {
            Some(Ok(Operand::Text(value))) => Ok(format!("((int32_t){value})")),
            Some(Err(refusal)) => Err(refusal),
            _ => Err("the value of the signal is not a scalar".to_string().into()),
        }
    }

    fn on_signal(&mut self, name: &'static str, access: Access, [value, how]: [String; 2], origin: Origin) {
        let wrapper = access.wrapper;
        let operands = vec![Operand::Wrapper(wrapper), Operand::Text(value), Operand::Text(how)];
        let id = self.push(Instr { access: Some(access), ..Instr::new(name, operands, Pipe::S, origin) });
        self.site(id, wrapper, false);
    }

    /// `comm::TPUT(dstGlobal, srcGlobal, stage);`, `comm::TGET(…)`
    pub(super) fn staged(&mut self, call: &Call, origin: Origin) -> Selected<()> {
        let puts = call.op == OpId::TILE_PUT;
        let (target, source) = (call.args.first(), call.args.get(2));
        let (target, source) = match puts {
            true => (self.on_device(target, call.args.get(1))?, self.tensor_operand(source)?),
            false => (self.tensor_operand(target)?, self.on_device(source, call.args.get(1))?),
        };
        let window = self.transferred(call, &target)?;
        let start = vec![Scalar::Int(0); window.len()];
        let offsets = |arg: usize| list(call.args.get(arg)).filter(|offsets| !offsets.is_empty()).unwrap_or(&start);
        let extents: Vec<Scalar> = window.iter().map(|extent| Scalar::Int(*extent as i64)).collect();
        let from = self.moved(&source, offsets(6), &extents, &window, Use::Load)?;
        let mut to = self.moved(&target, offsets(5), &extents, &window, Use::Store)?;
        if to.wrapper == from.wrapper {
            to.wrapper = self.second_wrapper(to.wrapper);
        }
        let mut stages: Vec<TileId> = Vec::new();
        for stage in [3, 4].iter().filter_map(|arg| call.args.get(*arg)?.var()) {
            stages.push(self.tile(stage)?);
        }
        if stages.is_empty() {
            return Err(format!("`{}` without a staging tile", call.op.op().name).into());
        }
        let template = if adds(call)? { vec!["AtomicType::AtomicAdd".to_string()] } else { Vec::new() };
        self.barrier_of_all(origin);
        let (sources, targets) = (from.wrapper, to.wrapper);
        let text = format!(
            "TASSIGN({}, {});",
            self.program.wrappers[sources].name,
            pointer(&from, &self.program.wrappers[sources])
        );
        let id = self.push(Instr { text: Some(text), inserted: true, ..Instr::new("", Vec::new(), Pipe::S, origin) });
        self.site(id, sources, false);
        let mut operands = vec![Operand::Wrapper(targets), Operand::Wrapper(sources)];
        operands.extend(stages.iter().copied().map(Operand::Tile));
        let name = if puts { "comm::TPUT" } else { "comm::TGET" };
        let (writes, access) = (stages, Some(to));
        let instr = Instr::new(name, operands, Pipe::Mte3, origin);
        let id = self.push(Instr { template, writes, access, ..instr });
        self.site(id, targets, false);
        self.barrier_of_all(origin);
        Ok(())
    }

    /// The extents of what is transferred: those that are given, or all of the tensor.
    fn transferred(&self, call: &Call, target: &TensorRef) -> Selected<Vec<u64>> {
        let given = list(call.args.get(7)).filter(|shape| !shape.is_empty());
        let of_tensor = || {
            let param = self.kernel.params.get(target.args[0])?;
            Some(self.kernel.tensor(*param)?.shape.as_slice())
        };
        let extents = given.or_else(of_tensor).unwrap_or_default();
        let extents: Option<Vec<u64>> = extents.iter().map(constant_extent).collect();
        extents.filter(|extents| !extents.is_empty()).ok_or_else(|| {
            format!("the extents of the data that `{}` transfers are known at run time only", call.op.op().name).into()
        })
    }

    /// An access whose wrapper does not stay where it is.
    fn moved(
        &mut self,
        tensor: &TensorRef,
        offsets: &[Scalar],
        window: &[Scalar],
        limits: &[u64],
        purpose: Use,
    ) -> Selected<Access> {
        Ok(Access { assign: true, ..self.access(tensor, offsets, window, limits, purpose)? })
    }

    fn barrier_of_all(&mut self, origin: Origin) {
        self.steps.push(Step::Sync(Sync::Barrier(None), By::Stage(origin)));
    }
}
