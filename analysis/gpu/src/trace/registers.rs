//! Layouts of tensors in registers, and the shared memory that operations need because of them.

use std::sync::Arc;

use tilefit_python::finding::Reason;
use tilefit_syntax::ast::ExprId;

use super::super::language::Dtype;
use super::super::layouts::{self, Layout, inference};
use super::super::program::{Bytes, Scratch, ValueId, bytes_of, elements};
use super::value::{Registers, Tensor, Value};
use super::{Dialect, Frame, Tracer, identity};

/// What scratch is needed for. Its size is found when the kernel is followed to its end, when automatic layouts are known.
#[derive(Debug, Clone)]
pub(super) enum Asked {
    Conversion {
        shape: Vec<u64>,
        bits: u32,
        from: Registers,
        to: Registers,
    },
    Reduction {
        shape: Vec<u64>,
        axis: usize,
        bits: Vec<u32>,
        layout: Registers,
    },
    Scan {
        shape: Vec<u64>,
        axis: usize,
        bits: Vec<u32>,
        layout: Registers,
    },
    Gather {
        source: (Vec<u64>, Registers),
        index: (Vec<u64>, Registers),
        axis: usize,
        bits: u32,
    },
    Atomic {
        shape: Vec<u64>,
        bits: u32,
        layout: Registers,
    },
    ScalarAtomic {
        bits: u32,
        warps: u64,
    },
    Fixed(u64),
    /// At most so many bytes.
    UpTo(u64, Reason),
}

impl Tracer<'_> {
    /// What an automatic layout turned out to be.
    pub(super) fn resolved(&self, layout: &Registers) -> Registers {
        let mut layout = layout.clone();
        for _ in 0..=self.autos.len() {
            match layout {
                Registers::Auto(auto) => match &self.autos[auto as usize] {
                    Some(found) => layout = found.clone(),
                    None => return layout,
                },
                _ => return layout,
            }
        }
        Registers::Unknown(Reason::new("an automatic layout follows from itself"))
    }

    /// Whether two layouts are surely one.
    pub(super) fn is_same(&self, one: &Registers, two: &Registers) -> bool {
        match (self.resolved(one), self.resolved(two)) {
            (Registers::Unknown(_), _) | (_, Registers::Unknown(_)) => false,
            (one, two) => one == two,
        }
    }

    pub(super) fn new_auto(&mut self) -> Registers {
        self.autos.push(None);
        Registers::Auto(self.autos.len() as u32 - 1)
    }

    /// Two tensors that one operation takes have one layout. Returns it.
    pub(super) fn unify(&mut self, one: &Registers, two: &Registers) -> Registers {
        match (self.resolved(one), self.resolved(two)) {
            (Registers::Auto(one), Registers::Auto(two)) if one == two => Registers::Auto(one),
            (Registers::Flexible, other) | (other, Registers::Flexible) => other,
            (one, two) if self.carried_by_while(&one).or(self.carried_by_while(&two)).is_some() => {
                if self.carried_by_while(&one).is_some() && !matches!(two, Registers::Auto(_)) { two } else { one }
            }
            (Registers::Auto(auto), other) | (other, Registers::Auto(auto)) => {
                self.settle(auto, other.clone());
                other
            }
            (Registers::Unknown(reason), _) | (_, Registers::Unknown(reason)) => Registers::Unknown(reason),
            (one, _) => one,
        }
    }

    fn settle(&mut self, auto: u32, layout: Registers) {
        self.autos[auto as usize] = Some(layout);
    }

    /// The layout of a tensor whose slice along `axis` has this one.
    pub(super) fn expanded(&mut self, layout: &Registers, axis: u32) -> Registers {
        match self.anchored(layout) {
            Registers::Auto(auto) => {
                let parent = self.new_auto();
                let Registers::Auto(number) = parent else { return parent };
                self.slices.push((auto, axis, number));
                parent
            }
            Registers::Loaded(key) | Registers::Chosen(key) => match self.parents.get(&key) {
                Some((dim, parent)) if *dim == axis => parent.clone(),
                _ => Registers::Chosen(identity(("expand_dims", key, axis))),
            },
            Registers::Known(layout) => match inference::expand_dims(&layout, axis as usize) {
                Ok(parent) => Registers::Known(Arc::new(parent)),
                Err(reason) => Registers::Unknown(reason),
            },
            unknown => unknown,
        }
    }

    /// Whether a layout of the compiler's is known to be the slice of another one.
    pub(super) fn is_slice(&self, key: u64, axis: usize) -> bool {
        self.parents.get(&key).is_some_and(|(dim, _)| *dim as usize == axis)
    }

    /// The layout of what is left when one dimension is gone.
    pub(super) fn sliced(&mut self, layout: &Registers, axis: u32) -> Registers {
        match self.anchored(layout) {
            Registers::Known(parent) => Registers::Known(Arc::new(Layout::Slice { dim: axis, parent })),
            Registers::Auto(parent) => {
                let slice = self.new_auto();
                if let Registers::Auto(number) = slice {
                    self.slices.push((number, axis, parent));
                }
                slice
            }
            Registers::Flexible => self.new_choice(),
            Registers::Loaded(key) | Registers::Chosen(key) => {
                let slice = identity(("slice", key, axis));
                let parent = self.resolved(layout);
                self.parents.insert(slice, (axis, parent));
                Registers::Chosen(slice)
            }
            unknown => unknown,
        }
    }

    /// A layout that follows from another one, where that is known. `what`: how it does.
    pub(super) fn inferred(
        &mut self,
        layout: &Registers,
        what: u64,
        infer: impl Fn(&Layout) -> Result<Layout, Reason>,
    ) -> Registers {
        let layout = self.anchored(layout);
        if let (Some(given), Registers::Chosen(key)) = (self.uncontested(&layout), &layout) {
            match infer(&given) {
                Ok(layout) if are_rows_of_threads(&given) => return self.given_by_instruction(layout),
                // Another instruction may give it another layout then.
                _ => _ = self.contested.insert(*key),
            }
        }
        if let (Some(given), Registers::Loaded(_)) = (self.uncontested(&layout), &layout)
            && let Ok(layout) = infer(&given)
        {
            return self.given_by_instruction(layout);
        }
        match layout {
            Registers::Known(layout) => match infer(&layout) {
                Ok(layout) => Registers::Known(Arc::new(layout)),
                Err(reason) => Registers::Unknown(reason),
            },
            Registers::Auto(_) => {
                Registers::Unknown(Reason::new("the layout of a view of a tensor with an automatic layout"))
            }
            Registers::Loaded(key) | Registers::Chosen(key) => Registers::Chosen(identity((what, key))),
            other => other,
        }
    }

    /// Some layout that the compiler chooses.
    pub(super) fn new_choice(&mut self) -> Registers {
        self.autos.push(None);
        Registers::Chosen(identity(("choice", self.autos.len())))
    }

    /// A loop-carried tensor in TLX without a fixed layout gets one from the compiler.
    pub(super) fn anchored(&mut self, layout: &Registers) -> Registers {
        match self.resolved(layout) {
            Registers::Auto(auto) if self.whiles.contains_key(&auto) => {
                Registers::Chosen(identity(("carried by a while", auto)))
            }
            Registers::Auto(auto) if self.launch.dialect.leaves_layouts() => {
                let choice = self.new_choice();
                self.settle(auto, choice.clone());
                choice
            }
            layout => layout,
        }
    }

    /// One operation takes tensors in one layout. Where the compiler chooses layouts and these may have several, each of them may be converted.
    pub(super) fn in_one_layout(&mut self, frame: &Frame, at: ExprId, values: &[Value]) -> Vec<Value> {
        let mut values = values.to_vec();
        if !self.launch.dialect.leaves_layouts() {
            return values;
        }
        let of = |tracer: &Self, value: &Value| match value {
            Value::Tensor(tensor) => Some(tracer.resolved(&tensor.layout)),
            _ => None,
        };
        self.as_the_largest(&mut values);
        let layouts: Vec<Registers> = values.iter().filter_map(|value| of(self, value)).collect();
        let mut chosen: Vec<&Registers> = Vec::new();
        for layout in &layouts {
            let is_free = matches!(layout, Registers::Flexible | Registers::Auto(_));
            if !is_free && (!chosen.contains(&layout) || matches!(layout, Registers::Unknown(_))) {
                chosen.push(layout);
            }
        }
        match chosen.as_slice() {
            [] => {
                // Of several tensors that are carried, the others are brought to where the first one is.
                let first = values.iter().find_map(|value| match value {
                    Value::Tensor(tensor) => self.carried_by_while(&tensor.layout).map(|_| tensor.layout.clone()),
                    _ => None,
                });
                if let Some(first) = first {
                    self.carried_in(frame, at, &mut values, &first);
                }
            }
            [one] => {
                let one = (*one).clone();
                self.carried_in(frame, at, &mut values, &one);
                layouts.iter().for_each(|layout| _ = self.unify(layout, &one));
            }
            several => {
                let key = identity(("one of", format!("{several:?}")));
                for layout in several {
                    if let Registers::Chosen(key) = layout {
                        self.contested.insert(*key);
                    }
                }
                for value in &mut values {
                    match (of(self, value), &*value) {
                        (None | Some(Registers::Flexible), _) => {}
                        (_, Value::Tensor(tensor)) => {
                            *value = Value::Tensor(self.in_layout(frame, at, &tensor.clone(), key));
                        }
                        _ => {}
                    }
                }
            }
        }
        values
    }

    /// Tensors that a `while` carries, in the layout that an operation takes.
    fn carried_in(&mut self, frame: &Frame, at: ExprId, values: &mut [Value], layout: &Registers) {
        for value in values {
            if let Value::Tensor(tensor) = value
                && self.carried_by_while(&tensor.layout).is_some()
                && self.resolved(&tensor.layout) != self.resolved(layout)
            {
                *value = Value::Tensor(self.between(frame, at, &tensor.clone(), layout));
            }
        }
    }

    /// Tensors that are broadcast to a larger one, and lie in registers as that does, have its layout.
    fn as_the_largest(&self, values: &mut [Value]) {
        let size = |value: &Value| match value {
            Value::Tensor(tensor) => elements(&tensor.shape),
            _ => 0,
        };
        let Some(Value::Tensor(largest)) = values.iter().max_by_key(|value| size(value)).cloned() else { return };
        for value in values {
            if let Value::Tensor(tensor) = value
                && tensor.shape != largest.shape
                && tensor.shape.len() == largest.shape.len()
                && self.is_free(tensor, &largest.layout)
            {
                tensor.layout = largest.layout.clone();
            }
        }
    }

    pub(super) fn tensors_in_one_layout(&mut self, frame: &Frame, at: ExprId, tensors: Vec<Tensor>) -> Vec<Tensor> {
        let values: Vec<Value> = tensors.into_iter().map(Value::Tensor).collect();
        let tensors = self.in_one_layout(frame, at, &values).into_iter().filter_map(|value| match value {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        });
        tensors.collect()
    }

    /// The operands of an access through pointers, all in the layout in which it goes through memory.
    pub(super) fn accessed(&mut self, frame: &Frame, at: ExprId, pointers: &Tensor, values: &[Value]) -> Vec<ValueId> {
        self.note_access(pointers);
        let own = Registers::Loaded(self.coalesced(pointers));
        let is_tlx = self.launch.dialect.leaves_layouts();
        let values: Vec<Value> = values
            .iter()
            .map(|value| match value {
                Value::Tensor(tensor) if is_tlx => Value::Tensor(self.as_chosen(frame, at, tensor, &own)),
                _ => value.clone(),
            })
            .collect();
        self.operands(frame, at, &values)
    }

    /// The layout that an instruction gives its result.
    pub(super) fn given_by_instruction(&mut self, layout: Layout) -> Registers {
        let key = identity(("instruction", format!("{layout:?}")));
        self.given.insert(key, Arc::new(layout));
        Registers::Chosen(key)
    }

    /// The layout of a tensor that is as an instruction gave it.
    pub(super) fn as_given(&self, layout: &Registers) -> Option<Arc<Layout>> {
        let (Registers::Chosen(key) | Registers::Loaded(key)) = self.resolved(layout) else { return None };
        if let Some(layout) = self.given.get(&key) {
            return Some(layout.clone());
        }
        let (dim, parent) = self.parents.get(&key)?;
        Some(Arc::new(Layout::Slice { dim: *dim, parent: self.as_given(parent)? }))
    }

    /// Whether a tensor is in a layout without any scratch.
    pub(super) fn is_free(&self, tensor: &Tensor, needed: &Registers) -> bool {
        let (Some(from), Some(to)) = (self.uncontested(&tensor.layout), self.as_given(needed)) else { return false };
        let bytes =
            |shape: Vec<u32>| layouts::conversion_bytes(&shape, tensor.dtype.bits, &from, &to, &self.launch.hardware);
        narrow(&tensor.shape).and_then(bytes) == Ok(0)
    }

    /// Whether each thread is known to have both elements of a pair.
    pub(super) fn has_pairs(&self, tensor: &Tensor) -> bool {
        let split = |layout: &Layout| inference::split(&narrow(&tensor.shape)?, layout, &self.launch.hardware);
        self.uncontested(&tensor.layout).is_some_and(|layout| split(&layout).is_ok())
    }

    /// The same where no operation could make the compiler choose another one.
    pub(super) fn uncontested(&self, layout: &Registers) -> Option<Arc<Layout>> {
        let mut of = self.resolved(layout);
        while let Registers::Chosen(key) | Registers::Loaded(key) = of {
            if self.contested.contains(&key) {
                return None;
            }
            match self.parents.get(&key) {
                Some((_, parent)) => of = self.resolved(parent),
                None => break,
            }
        }
        self.as_given(layout)
    }

    /// The layout that the compiler chooses for the result of an operation.
    pub(super) fn choice_for(&self, id: ValueId) -> Registers {
        Registers::Chosen(identity(("of", self.numbered(id))))
    }

    /// A tensor in another layout of the compiler's, which may take a conversion.
    pub(super) fn in_layout(&mut self, frame: &Frame, at: ExprId, tensor: &Tensor, key: u64) -> Tensor {
        let id = self.converted(frame, at, tensor, key);
        Tensor { id, layout: Registers::Chosen(key), ..tensor.clone() }
    }

    /// A tensor in a layout that the compiler chose for another one: as it is, where it may be in that one from the start.
    pub(super) fn as_chosen(&mut self, frame: &Frame, at: ExprId, tensor: &Tensor, layout: &Registers) -> Tensor {
        match (self.resolved(&tensor.layout), self.resolved(layout)) {
            (Registers::Flexible, _) => tensor.clone(),
            (one, two) if one == two && !matches!(one, Registers::Unknown(_)) => tensor.clone(),
            (one, two) if self.carried_by_while(&one).or(self.carried_by_while(&two)).is_some() => {
                self.between(frame, at, tensor, layout)
            }
            (Registers::Auto(_), other) | (other, Registers::Auto(_)) => {
                self.unify(&tensor.layout, layout);
                Tensor { layout: other, ..tensor.clone() }
            }
            (_, other) if self.launch.dialect == Dialect::Triton && self.is_free(tensor, &other) => {
                Tensor { layout: other, ..tensor.clone() }
            }
            (one, Registers::Chosen(key)) if !matches!(one, Registers::Unknown(_)) => {
                self.in_layout(frame, at, tensor, key)
            }
            (one, two) => self.in_layout(frame, at, tensor, identity(format!("{one:?} {two:?}"))),
        }
    }

    /// Slices of layouts that became known since are known too.
    pub(super) fn settle_slices(&mut self) {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (slice, dim, parent) in self.slices.clone() {
                let parent = self.resolved(&Registers::Auto(parent));
                let slice = self.resolved(&Registers::Auto(slice));
                match (slice, parent) {
                    (Registers::Auto(slice), Registers::Known(parent)) => {
                        self.settle(slice, Registers::Known(Arc::new(Layout::Slice { dim, parent })));
                        changed = true;
                    }
                    (Registers::Known(slice), Registers::Auto(parent)) => {
                        if let Layout::Slice { dim: of, parent: known } = &*slice
                            && *of == dim
                        {
                            self.settle(parent, Registers::Known(known.clone()));
                            changed = true;
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    fn known(&self, layout: &Registers) -> Result<Arc<Layout>, Reason> {
        if self.launch.ctas > 1 {
            return Err(Reason::new("the scratch of operations on several CTAs is not modelled"));
        }
        match self.resolved(layout) {
            Registers::Known(layout) => Ok(layout),
            Registers::Auto(_) if self.launch.dialect == Dialect::Gluon => {
                Err(Reason::new("an automatic layout that nothing settles"))
            }
            Registers::Auto(_) | Registers::Flexible | Registers::Loaded(_) | Registers::Chosen(_) => {
                let given = self.uncontested(layout).filter(|_| self.launch.dialect == Dialect::Triton);
                if let Some(layout) = given {
                    return Ok(layout);
                }
                Err(Reason::new("the compiler chooses the layouts of registers"))
            }
            Registers::Unknown(reason) => Err(reason),
        }
    }

    /// The scratch with a number that was given out.
    pub(super) fn scratch_size(&self, number: usize) -> Scratch {
        let hardware = &self.launch.hardware;
        let asked = &self.asked[number];
        // Of elements that may be of any type no more is known than that none is wider.
        let told = |bits: u32, size: Result<u64, Reason>| match self.has_any && bits == Dtype::ANY.bits {
            true => size.and_then(|_| Err(Reason::new("the element types of pointers are not known"))),
            false => size,
        };
        let widest = |bits: &[u32]| bits.iter().copied().max().unwrap_or_default();
        let only_if_used = matches!(asked, Asked::Atomic { .. } | Asked::ScalarAtomic { .. });
        let size = match asked {
            Asked::Conversion { shape, bits, from, to } => {
                let same = self.is_same(from, to);
                let size = || {
                    let (from, to) = (self.known(from)?, self.known(to)?);
                    layouts::conversion_bytes(&narrow(shape)?, *bits, &from, &to, hardware)
                };
                if same { Bytes::Exactly(0) } else { Bytes::of(told(*bits, size()), bytes_of(shape, *bits)) }
            }
            Asked::Reduction { shape, axis, bits, layout } => {
                let size = || {
                    let layout = self.uncontested(layout).map_or_else(|| self.known(layout), Ok)?;
                    layouts::reduction_bytes(&narrow(shape)?, *axis, bits, &layout, hardware)
                };
                // Each warp has one partial result of what is left.
                let rest = shape.iter().enumerate().filter(|(i, _)| i != axis).map(|(_, &extent)| extent);
                let warps = self.launch.warps.min(shape.get(*axis).copied().unwrap_or(1)).max(1);
                let most: u64 = bits.iter().map(|&bits| bytes_of(&rest.clone().collect::<Vec<_>>(), bits)).sum();
                Bytes::of(told(widest(bits), size()), most.saturating_mul(warps))
            }
            Asked::Scan { shape, axis, bits, layout } => {
                let size = || {
                    let layout = self.known(layout)?;
                    layouts::scan_bytes(&narrow(shape)?, *axis, bits, &layout, hardware)
                };
                // Each warp has one partial result of what is beside the axis, also where several have the same elements.
                let along = shape.get(*axis).copied().unwrap_or(1).max(self.launch.warps);
                let spread: Vec<u64> =
                    shape.iter().enumerate().map(|(i, &extent)| if i == *axis { along } else { extent }).collect();
                Bytes::of(told(widest(bits), size()), bits.iter().map(|&bits| bytes_of(&spread, bits)).sum())
            }
            Asked::Gather { source, index, axis, bits } => {
                let size = || {
                    let (of_source, of_index) = (self.known(&source.1)?, self.known(&index.1)?);
                    let (source_shape, index_shape) = (narrow(&source.0)?, narrow(&index.0)?);
                    let (source, index) =
                        ((source_shape.as_slice(), &*of_source), (index_shape.as_slice(), &*of_index));
                    layouts::gather_between_bytes(source, index, *axis, *bits, hardware)
                };
                Bytes::of(told(*bits, size()), bytes_of(&source.0, *bits))
            }
            Asked::Atomic { shape, bits, layout } => {
                let size = || {
                    let layout = self.known(layout)?;
                    layouts::atomic_bytes(&narrow(shape)?, *bits, &layout, hardware)
                };
                Bytes::of(told(*bits, size()), bytes_of(shape, *bits))
            }
            Asked::ScalarAtomic { bits, warps } => {
                let (warps, ctas) = (*warps as u32, self.launch.ctas as u32);
                Bytes::of(told(*bits, layouts::scalar_atomic_bytes(*bits, warps, ctas, hardware)), 8)
            }
            Asked::Fixed(bytes) => Bytes::Exactly(*bytes),
            Asked::UpTo(most, reason) => Bytes::of(Err(reason.clone()), *most),
        };
        let moves = matches!(asked, Asked::UpTo(..));
        Scratch { size, only_if_used, moves }
    }
}

/// Whether each thread has one row, or several.
fn are_rows_of_threads(layout: &Layout) -> bool {
    match layout {
        Layout::Linear { lane, .. } => lane.iter().all(|basis| basis[1..].iter().all(|&along| along == 0)),
        _ => false,
    }
}

pub(super) fn narrow(shape: &[u64]) -> Result<Vec<u32>, Reason> {
    let too_large = || Reason::new("a tensor is too large");
    if elements(shape) > u64::from(u32::MAX) {
        return Err(too_large());
    }
    shape.iter().map(|&extent| u32::try_from(extent).map_err(|_| too_large())).collect()
}
