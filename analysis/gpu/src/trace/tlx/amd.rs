//! Operations that TLX has for AMD, and those that ask for a layout of registers.
//!
//! A layout that the author asks for holds where it is asked for; between it and what the compiler chooses stands a conversion, which takes between
//! nothing and the size of the tensor.

use tilefit_python::finding::Reason;
use tilefit_syntax::ast::ExprId;

use super::super::super::language::Dtype;
use super::super::super::program::{Effect, Kind, Type};
use super::super::calls::Args;
use super::super::value::{Descriptor, Registers, Tensor, Value, unknown};
use super::super::{Emitted, Frame, Tracer, identity};

/// Operations that do something to memory, or to the order of things, and give nothing but a token.
const EFFECTS: [&str; 12] = [
    "async_amd_descriptor_load",
    "async_amd_descriptor_load_fused",
    "async_amd_descriptor_store",
    "async_amd_descriptor_wait",
    "amd_descriptor_prefetch_tensor",
    "buffer_load_to_local",
    "async_remote_shmem_copy",
    "dump_layout",
    "assert_same_layout",
    "amd_sched_barrier",
    "amd_iglp_opt",
    // A `with` statement around a stage of a loop, which orders instructions.
    "warp_pipeline_stage",
];

impl Tracer<'_> {
    /// `None` where it is none of them.
    pub(in crate::trace) fn tlx_amd_call(
        &mut self,
        frame: &mut Frame,
        expr: ExprId,
        name: &str,
        args: &Args,
    ) -> Option<Value> {
        if let Some(&effect) = EFFECTS.iter().find(|&&known| known == name) {
            self.takes_descriptor(args);
            let operands = self.operands(frame, expr, &args.all());
            self.effect(frame, expr, effect, operands);
            return Some(Value::None);
        }
        let first = args.positional.first().or_else(|| args.named.first().map(|(_, value)| value)).cloned();
        Some(match (name, first) {
            (
                "require_layout"
                | "release_layout"
                | "require_amd_wmma_layout"
                | "extract_slice"
                | "update_tensor_descriptor"
                | "amd_scheduled_mfma"
                | "amd_mfma_commit"
                | "amd_register_resident"
                | "amd_register_handoff"
                | "amd_register_class_anchor",
                Some(Value::Unknown(reason)),
            ) => self.unknown_call(frame, expr, reason, args),
            ("assume_uniform", Some(value)) => value,
            ("require_layout" | "require_amd_wmma_layout", Some(Value::Tensor(tensor))) => {
                let asked = identity(format!("{:?}", args.get(1, "layout")));
                Value::Tensor(self.in_layout(frame, expr, &tensor, asked))
            }
            ("release_layout", Some(Value::Tensor(tensor))) => {
                let choice = self.new_choice();
                Value::Tensor(self.as_chosen(frame, expr, &tensor, &choice))
            }
            ("extract_slice", Some(Value::Tensor(tensor))) => match args.get(1, "shape").and_then(Value::extents) {
                Some(shape) => {
                    let layout = self.kept(&tensor.layout);
                    Value::Tensor(self.viewed(frame, expr, "extract_slice", &tensor, shape, layout))
                }
                None => unknown("a shape that is not known"),
            },
            ("amd_scheduled_mfma", _) => match args.get(2, "acc").cloned() {
                Some(Value::Tensor(acc)) => {
                    let operands = self.operands(frame, expr, &args.all());
                    let layout = self.kept(&acc.layout);
                    Value::Tensor(Tensor { id: self.reads(frame, expr, "dot", &operands), layout, ..acc })
                }
                _ => self.unknown_call(frame, expr, Reason::new("a product without an accumulator"), args),
            },
            ("amd_mfma_commit", Some(value)) => self.committed(frame, expr, &value, args.get(1, "preserve")),
            ("amd_register_resident" | "amd_register_handoff" | "amd_register_class_anchor", Some(value)) => {
                self.passed_on(frame, expr, "register_anchor", &value)
            }
            ("rematerialized_range", _) => self.rematerialized_range(frame, expr, args),
            ("vote_ballot_sync", _) => match args.get(1, "pred").cloned() {
                Some(pred) => self.elementwise(frame, expr, "vote_ballot_sync", &[pred], Some(Dtype::named("int32"))),
                None => unknown("a vote about nothing"),
            },
            ("update_tensor_descriptor", Some(Value::Descriptor(descriptor))) => {
                let operands = self.operands(frame, expr, &args.all());
                let op = Emitted {
                    name: "update_tensor_descriptor",
                    effect: Effect::None,
                    operands: &operands,
                    of: Type::Descriptor,
                    identity: identity((args.named.iter().map(|(name, _)| name).collect::<Vec<_>>(), operands.len())),
                    kind: Kind::Plain,
                };
                Value::Descriptor(Descriptor { id: self.emit(frame, expr, op), ..descriptor })
            }
            _ => return None,
        })
    }

    /// What is left of the layout of a tensor where each thread keeps what it has.
    fn kept(&mut self, layout: &Registers) -> Registers {
        match self.resolved(layout) {
            Registers::Chosen(key) => Registers::Chosen(key),
            _ => self.new_choice(),
        }
    }

    fn committed(&mut self, frame: &Frame, expr: ExprId, value: &Value, preserve: Option<&Value>) -> Value {
        let preserve = preserve.filter(|it| !matches!(it, Value::None)).cloned();
        match (preserve, value.elements()) {
            (None, _) => self.passed_on(frame, expr, "amd_mfma_commit", value),
            (Some(preserve), values) => {
                let mut all = values.map_or_else(|| vec![value.clone()], <[Value]>::to_vec);
                all.push(preserve);
                self.passed_on(frame, expr, "amd_mfma_commit", &Value::tuple(all))
            }
        }
    }

    fn rematerialized_range(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let bound = |position, name| args.get(position, name).and_then(Value::int);
        let (Some(start), Some(end)) = (bound(0, "start"), bound(1, "end")) else {
            return unknown("the bounds of `rematerialized_range` are not known");
        };
        let shape = vec![end.saturating_sub(start).max(0) as u64];
        let what = identity((start, bound(2, "identity")));
        let layout = Registers::Chosen(identity(("range", format!("{:?}", args.get(3, "layout")))));
        self.filled(frame, expr, "rematerialized_range", &[], (Dtype::named("int32"), shape, layout), what)
    }
}

/// What a buffer may come to on AMD where its layout is the compiler's: one that a product or a descriptor needs may pad.
pub(in crate::trace) mod padding {
    use std::collections::BTreeMap;

    use tilefit_python::finding::Reason;

    use super::super::super::super::program::{Block, BufferId, Bytes, Kind, Memory, Op, Program, ValueId};

    /// What goes into a buffer and out of it.
    #[derive(Debug, Clone, Copy, Default)]
    struct Found {
        loads: bool,
        stores: bool,
    }

    /// Sizes of buffers without a layout of the author's, each with the bits of an element (`InsertRequireLayout.cpp` and the `Utility.cpp` of the
    /// fork's transformations for AMD; Triton 3.8 pads none of them).
    pub(in crate::trace) fn pad(program: &mut Program, unpinned: &BTreeMap<BufferId, u64>, target: Option<u32>) {
        let mut seen = Seen::default();
        program.body.each(&mut |op| seen.look(op));
        for (&id, &bits) in unpinned {
            let buffer = &mut program.buffers[id.0 as usize];
            let found = if seen.is_blurred { Found { loads: true, stores: true } } else { seen.found(id) };
            let Some(padded) = padded(&buffer.shape, bits, target, found, &seen) else { continue };
            let Memory::Shared { size, alignment, fork } = &mut buffer.memory else { continue };
            match size {
                Bytes::Between(_, most, _) => *most = (*most).max(padded.high()),
                // Only the fork has these descriptors, and only for what has no swizzles.
                Bytes::Exactly(_) if found.loads || found.stores => (*size, *alignment) = (padded.clone(), 16),
                Bytes::Exactly(_) => {}
            }
            // What is laid over it may be larger.
            if padded.high() >= fork.high() {
                *fork = padded;
            }
        }
    }

    /// `target`: the number of one of AMD.
    fn padded(shape: &[u64], bits: u64, target: Option<u32>, found: Found, seen: &Seen) -> Option<Bytes> {
        let elements = shape.iter().try_fold(1u64, |all, &extent| all.checked_mul(extent))?;
        let pads = |interval: u64| elements.saturating_sub(1) / interval.max(1);
        let bytes = |pad: u64, interval: u64| elements.saturating_add(pad * pads(interval)).saturating_mul(bits) / 8;
        let plain = bytes(0, 1);
        let up_to = |most, reason: &str| Some(Bytes::Between(plain, most, Reason::new(reason)));
        let chosen = "the compiler may pad a buffer whose layout it chooses";
        let inner = *shape.last()?;
        // As far apart as a descriptor can say.
        let most = 256 * 32 / bits;
        // At most two rows of what one instruction reads.
        let by_product = bytes(256 / bits, inner.min(most));
        match target {
            // From 16 elements after 1024 bytes to 32.
            Some(950) if seen.products && seen.direct && matches!(bits, 8 | 16) => {
                up_to(bytes(32, 8192 / bits), chosen)
            }
            Some(1250) if seen.products && (seen.direct || found.loads) => up_to(by_product, chosen),
            Some(1250) if found.loads && found.stores => up_to(bytes(128 / bits, inner.min(most)), chosen),
            Some(1250) if found.loads && inner <= most => Some(Bytes::Exactly(bytes(128 / bits, inner))),
            Some(1250) => None,
            _ if found.loads || found.stores => {
                up_to(by_product, "descriptors of AMD are for gfx1250: `# tilefit: arch=gfx1250` makes it the target")
            }
            _ => None,
        }
    }

    #[derive(Default)]
    struct Seen {
        roots: BTreeMap<ValueId, BufferId>,
        by: BTreeMap<BufferId, Found>,
        products: bool,
        /// Memory is loaded right into shared memory.
        direct: bool,
        /// A buffer that a descriptor fills or empties is not known.
        is_blurred: bool,
    }

    impl Seen {
        fn found(&self, id: BufferId) -> Found {
            self.by.get(&id).copied().unwrap_or_default()
        }

        fn look(&mut self, op: &Op) {
            match (&op.kind, op.name) {
                (Kind::Allocation(id), _) => self.roots.extend(op.results.first().map(|&result| (result, *id))),
                // What is laid over another buffer has a layout of its own.
                (Kind::View, "index" | "view") => {
                    let root = op.operands.first().and_then(|base| self.roots.get(base).copied());
                    self.roots.extend(op.results.first().copied().zip(root));
                }
                (Kind::Specialize { default, tasks }, _) => {
                    let params = |block: &Block| block.params.clone();
                    for params in std::iter::once(params(default)).chain(tasks.iter().map(|task| params(&task.body))) {
                        let pairs = params.into_iter().zip(&op.operands);
                        let known = pairs.filter_map(|(param, operand)| Some((param, *self.roots.get(operand)?)));
                        let known: Vec<_> = known.collect();
                        self.roots.extend(known);
                    }
                }
                (_, "dot") => self.products = true,
                (_, "async_load" | "buffer_load_to_local") => self.direct = true,
                (_, "async_amd_descriptor_load" | "async_amd_descriptor_load_fused" | "async_amd_descriptor_store") => {
                    let roots: Vec<BufferId> =
                        op.operands.iter().filter_map(|it| self.roots.get(it).copied()).collect();
                    // Each fills one buffer at least.
                    self.is_blurred |= roots.is_empty() || (op.name.ends_with("_fused") && roots.len() < 2);
                    for root in roots {
                        let found = self.by.entry(root).or_default();
                        match op.name {
                            "async_amd_descriptor_store" => found.stores = true,
                            _ => found.loads = true,
                        }
                    }
                }
                _ => {}
            }
        }
    }
}
