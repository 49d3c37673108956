//! Memory that the author allocates, with layouts that fit it.

use std::rc::Rc;

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Reason;
use tilefit_syntax::ast::ExprId;

use super::super::device::Compiler;
use super::super::language::Dtype;
use super::super::program::{Bytes, Effect, Memory, Type, Use};
use super::super::shared_layout::{Cga, Nvmma, SharedLayout, shape_of_cta};
use super::calls::Args;
use super::operators::ids;
use super::registers::Asked;
use super::value::{Descriptor, Shared, TensorMemory, Value, unknown};
use super::{Emitted, Frame, Made, Tracer, identity};

impl Tracer<'_> {
    pub(super) fn allocate_shared_memory(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let (Some(dtype), Some(shape), Some(layout)) =
            (args.get(0, "element_ty"), args.get(1, "shape"), args.get(2, "layout"))
        else {
            return unknown("a buffer without a type, a shape or a layout");
        };
        let operands = args.get(3, "value").map(|value| ids(std::slice::from_ref(value))).unwrap_or_default();
        let (dtype, shape, layout) = match (dtype, shape.extents(), layout) {
            (Value::Dtype(dtype), Some(shape), Value::SharedLayout(layout)) => (*dtype, shape, layout.clone()),
            (Value::Unknown(reason), ..) => return self.unsized_(frame, expr, "the element type", reason),
            (_, None, _) => {
                let parts = shape.elements().unwrap_or(std::slice::from_ref(shape));
                let reason = super::operators::first_unknown(parts)
                    .unwrap_or_else(|| Reason::new("it is computed by the kernel"));
                return self.unsized_(frame, expr, "the shape", &reason);
            }
            (_, _, Value::Unknown(reason)) => return self.unsized_(frame, expr, "the layout", reason),
            _ => return self.unsized_(frame, expr, "the layout", &Reason::new("it is not a layout of shared memory")),
        };
        self.check_shape(frame, expr, &shape, &layout, dtype);
        let is_barrier = matches!(*layout, SharedLayout::Barrier { .. });
        let use_ = if is_barrier { Use::Barrier } else { Use::Data };
        self.shared_buffer(frame, expr, "allocate_shared_memory", (dtype, shape, layout), use_, &operands)
    }

    /// Says what the compiler refuses of a shape under a layout.
    pub(super) fn check_shape(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        shape: &[u64],
        layout: &SharedLayout,
        dtype: Dtype,
    ) {
        if !self.check_rank(frame, expr, shape, layout) {
            return;
        }
        let rank = layout.rank();
        // Triton 3.8 has other rules here, which were not compared.
        if self.launch.hardware.compiler < Compiler::V3_9 {
            return;
        }
        let covered = shape_of_cta(&shape[shape.len() - rank..], layout.cga());
        if let Some(extent) = covered.iter().find(|extent| !extent.is_power_of_two()) {
            let message = format!("extent {extent} is not a power of two, and the layout needs one");
            return self.refuse(frame, expr, Code::InvalidShape, message);
        }
        if let SharedLayout::Nvmma(Nvmma { swizzle, element_bits, transposed, fp4_padded, .. }) = layout
            && *swizzle > 0
            && *element_bits > 0
        {
            let contiguous = if *transposed { covered.first() } else { covered.last() };
            let extent = contiguous.copied().unwrap_or(0) * if *fp4_padded { 2 } else { 1 };
            let least = swizzle * 8 / element_bits;
            if extent < least {
                let message = format!(
                    "{extent} elements of {element_bits} bits are too few for a swizzle of {swizzle} bytes, which takes {least}; `NVMMASharedLayout.get_default_for({shape:?}, gl.{dtype})` chooses one that fits"
                );
                self.refuse(frame, expr, Code::InvalidShape, message);
            }
        }
    }

    /// Whether a layout speaks of as many dimensions as it must.
    pub(super) fn check_rank(&mut self, frame: &Frame, expr: ExprId, shape: &[u64], layout: &SharedLayout) -> bool {
        let rank = layout.rank();
        let is_right = rank == shape.len() || rank + 1 == shape.len();
        if !is_right {
            let message = format!(
                "a buffer of {} dimensions has a layout of {rank}: a layout speaks of all dimensions, or of all but the first",
                shape.len()
            );
            self.refuse(frame, expr, Code::InvalidShape, message);
        }
        is_right
    }

    pub(super) fn unsized_(&mut self, frame: &Frame, expr: ExprId, what: &str, reason: &Reason) -> Value {
        let reason = reason.clone().of(&format!("{what} of a buffer is not known"));
        self.note(frame, expr, reason.clone());
        Value::Unknown(reason)
    }

    pub(super) fn shared_buffer(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        function: &'static str,
        (dtype, shape, layout): (Dtype, Vec<u64>, Rc<SharedLayout>),
        use_: Use,
        operands: &[super::ValueId],
    ) -> Value {
        let size = match layout.size(&shape, u64::from(dtype.bits.max(8))) {
            Ok(size) => size,
            Err(reason) => return self.unsized_(frame, expr, "the size", &reason),
        };
        let size = match self.uncertain {
            0 => Bytes::Exactly(size),
            _ => Bytes::Between(0, size, Reason::new("it is not known whether a buffer is made")),
        };
        let covered = layout.rank().max(1).min(shape.len());
        let (counted, rounded) = shape.split_at(if use_ == Use::Barrier { 0 } else { shape.len() - covered });
        let rounded: Vec<u64> = rounded.iter().map(|extent| extent.next_power_of_two()).collect();
        let rounded = layout.size(&[counted, &rounded].concat(), u64::from(dtype.bits.max(8))).unwrap_or(size.high());
        let memory = Memory::Shared { size, alignment: layout.alignment(), fork: Bytes::Exactly(rounded) };
        let made = Made { function, shape: shape.clone(), dtype: dtype.name, memory, use_ };
        let of = Type::Shared { rank: shape.len() as u32 };
        let id = self.allocate(frame, expr, made, of, operands);
        Value::Shared(Shared { id, dtype, shape: Rc::new(shape), layout: Some(layout) })
    }

    pub(super) fn allocate_mbarrier(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let ctas = self.launch.ctas;
        let is_pair = args.get(1, "two_ctas").and_then(Value::truth) == Some(true);
        let count = if is_pair { ctas / 2 } else { ctas }.max(1);
        let shape = match args.get(0, "batch") {
            None | Some(Value::None) => vec![count],
            Some(batch) => match batch.int().and_then(|batch| u64::try_from(batch).ok()) {
                Some(batch) => vec![batch, count],
                None => {
                    let reason = super::operators::first_unknown(std::slice::from_ref(batch));
                    let reason = reason.unwrap_or_else(|| Reason::new("it is computed by the kernel"));
                    return self.unsized_(frame, expr, "the number of barriers", &reason);
                }
            },
        };
        let layout = Rc::new(SharedLayout::Barrier { cga: barrier_cga(ctas, is_pair) });
        self.shared_buffer(frame, expr, "allocate_mbarrier", (Dtype::BARRIER, shape, layout), Use::Barrier, &[])
    }

    pub(super) fn allocate_tensor_memory(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let (dtype, shape, layout) = (args.get(0, "element_ty"), args.get(1, "shape"), args.get(2, "layout"));
        let operands = args.get(3, "value").map(|value| ids(std::slice::from_ref(value))).unwrap_or_default();
        let (Some(Value::Dtype(dtype)), Some(shape), Some(Value::TensorLayout(layout))) =
            (dtype, shape.and_then(Value::extents), layout)
        else {
            let reason = super::operators::first_unknown(&args.all());
            let reason = reason.unwrap_or_else(|| Reason::new("it is computed by the kernel"));
            return self.unsized_(frame, expr, "the shape", &reason);
        };
        let (dtype, layout) = (*dtype, layout.clone());
        let (columns, rows) = match layout.extent(&shape, u64::from(dtype.bits)) {
            Ok(extent) => extent,
            Err(reason) => return self.unsized_(frame, expr, "the size", &reason),
        };
        let made = Made {
            function: "allocate_tensor_memory",
            shape: shape.clone(),
            dtype: dtype.name,
            memory: Memory::Tensor { columns, rows },
            use_: Use::Data,
        };
        let id = self.allocate(frame, expr, made, Type::TensorMemory, &operands);
        Value::TensorMemory(TensorMemory { id, dtype, shape: Rc::new(shape), layout: Some(layout) })
    }

    /// A descriptor that the kernel makes: 128 bytes while it is made.
    pub(super) fn make_tensor_descriptor(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let operands = self.operands(frame, expr, &args.all());
        let (base, block) = (args.get(0, "base"), args.get(3, "block_shape").and_then(Value::extents));
        let (Some(Value::Scalar(base)), Some(block)) = (base, block) else {
            return self.unknown_call(frame, expr, Reason::new("the block of a descriptor is not known"), args);
        };
        let dtype = match self.led_to(base) {
            Ok(dtype) => dtype,
            Err(reason) => return self.unknown_call(frame, expr, reason, args),
        };
        if let Some(Value::SharedLayout(layout)) = args.get(4, "layout")
            && !matches!(**layout, SharedLayout::Nvmma(_))
        {
            let message = format!(
                "a descriptor has an `NVMMASharedLayout`; `gl.NVMMASharedLayout.get_default_for({block:?}, gl.{dtype})` is one that fits"
            );
            self.refuse(frame, expr, Code::InvalidOperand, message);
        }
        let layout = match args.get(4, "layout") {
            Some(Value::SharedLayout(layout)) => Some(layout.clone()),
            None | Some(Value::None) => Some(Rc::new(super::arguments::default_layout(&block, dtype))),
            _ => None,
        };
        let kind = self.asks(Asked::Fixed(128));
        let of = Type::Descriptor;
        // It is made for whoever uses it, and once for all that are equal.
        let op = Emitted {
            name: "make_tensor_descriptor",
            effect: Effect::None,
            operands: &operands,
            of,
            identity: identity((&block, format!("{layout:?}"))),
            kind,
        };
        let id = self.emit(frame, expr, op);
        Value::Descriptor(Descriptor { id, dtype, block: Rc::new(block), layout, is_layout_told: true })
    }
}

/// `MBarrierLayout.multicta`
pub(super) fn barrier_cga(ctas: u64, is_pair: bool) -> Cga {
    let mut bases = Vec::new();
    let mut ctas = ctas;
    if is_pair {
        bases.push(vec![0]);
        ctas /= 2;
    }
    bases.extend((0..ctas.max(1).ilog2()).map(|bit| vec![1 << bit]));
    bases
}
