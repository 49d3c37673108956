//! Products of matrices, and where the compiler has their operands and results.

use std::rc::Rc;
use std::sync::Arc;

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Reason;
use tilefit_syntax::ast::ExprId;

use super::super::language::Dtype;
use super::super::layouts::{self, Layout, mma_v2_layout, mma_v2_layouts, mma_v3_layout};
use super::super::products::{Machine, Unit};
use super::super::program::{Effect, Kind, Product, Tile, Type, ValueId, bytes_of};
use super::calls::Args;
use super::operators::ids;
use super::registers::Asked;
use super::value::{Registers, Tensor, Value, unknown};
use super::{Dialect, Emitted, Frame, Tracer, identity};

impl Tracer<'_> {
    /// `tl.dot_scaled`: at most what it takes where its operands are unpacked and scaled to 16 bits first, as devices without an instruction for it do.
    pub(super) fn dot_scaled(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let side = |places: [usize; 4], names: [&str; 4]| {
            let at = |nth: usize| args.get(places[nth], names[nth]).cloned();
            let is_packed = matches!(at(2), Some(Value::Str(format)) if &*format == "e2m1");
            let along_k = at(3).and_then(|it| it.truth()) != Some(false);
            (at(0), at(1), is_packed, along_k)
        };
        let left = side([0, 1, 2, 8], ["lhs", "lhs_scale", "lhs_format", "lhs_k_pack"]);
        let right = side([3, 4, 5, 9], ["rhs", "rhs_scale", "rhs_format", "rhs_k_pack"]);
        let (Some(Value::Tensor(one)), Some(Value::Tensor(two))) = (&left.0, &right.0) else {
            let reason = super::operators::first_unknown(&args.all());
            let reason = reason.unwrap_or_else(|| Reason::new("a scaled product of something else than tensors"));
            return self.unknown_call(frame, expr, reason, args);
        };
        let doubled = |shape: &[u64], (is_packed, axis): (bool, usize)| {
            let mut shape = shape.to_vec();
            if let Some(extent) = shape.len().checked_sub(axis).and_then(|axis| shape.get_mut(axis)) {
                *extent *= 1 + u64::from(is_packed);
            }
            shape
        };
        let shapes = [
            doubled(&one.shape, (left.2, if left.3 { 1 } else { 2 })),
            doubled(&two.shape, (right.2, if right.3 { 2 } else { 1 })),
        ];
        let mut operands = Vec::new();
        for ((tensor, scale), shape) in [(one, &left.1), (two, &right.1)].into_iter().zip(shapes) {
            let mut made_of = vec![tensor.id];
            made_of.extend(scale.iter().flat_map(|scale| ids(std::slice::from_ref(scale))));
            let reason = Reason::new("how the operands of `tl.dot_scaled` are unpacked and scaled is not modelled");
            let kind = self.asks(Asked::UpTo(bytes_of(&shape, 32), reason));
            let identity = identity(("scaled", &shape));
            let op =
                Emitted { name: "scaled", effect: Effect::None, operands: &made_of, of: Type::Tensor, identity, kind };
            let id = self.emit(frame, expr, op);
            let layout = self.choice_for(id);
            operands.push(Value::Tensor(Tensor { id, dtype: Dtype::named("bfloat16"), shape: Rc::new(shape), layout }));
        }
        operands.extend(args.get(6, "acc").cloned().filter(|acc| !matches!(acc, Value::None)));
        let mut of_dot = Args::of(operands);
        of_dot.named.extend(args.named("out_dtype").map(|dtype| ("out_dtype".into(), dtype.clone())));
        self.program.is_guessed = true;
        match self.dot(frame, expr, &of_dot) {
            Value::Tensor(tensor) => Value::Tensor(Tensor { layout: self.choice_for(tensor.id), ..tensor }),
            other => other,
        }
    }

    /// `tl.dot`: what it takes of shared memory is found when all is followed.
    pub(super) fn dot(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        self.program.multiplies = true;
        let (Some(Value::Tensor(one)), Some(Value::Tensor(two))) =
            (args.get(0, "input").cloned(), args.get(1, "other").cloned())
        else {
            let reason = super::operators::first_unknown(&args.all());
            let reason = reason.unwrap_or_else(|| Reason::new("a product of something else than tensors"));
            return self.unknown_call(frame, expr, reason, args);
        };
        if self.check_product(frame, expr, [&one, &two], args) {
            return unknown("a product that the compiler refuses");
        }
        if let Some(reason) = self.open_type([&one, &two]) {
            return self.unknown_call(frame, expr, reason, args);
        }
        self.product(frame, expr, [&one, &two], args)
    }

    pub(super) fn product(&mut self, frame: &Frame, expr: ExprId, [one, two]: [&Tensor; 2], args: &Args) -> Value {
        let (mut shape, columns) = ((*one.shape).clone(), two.shape.last().copied());
        if let (Some(last), Some(columns)) = (shape.last_mut(), columns) {
            *last = columns;
        }
        let out = args.named("out_dtype").or_else(|| args.positional.get(6));
        let dtype = match (args.get(2, "acc"), out) {
            (Some(Value::Tensor(acc)), _) => acc.dtype,
            (_, Some(Value::Dtype(dtype))) => *dtype,
            _ if !one.dtype.is_floating() => Dtype::named("int32"),
            _ if one.dtype.bits == 64 => one.dtype,
            _ => Dtype::named("float32"),
        };
        let is_single = one.dtype.is_floating() && one.dtype.bits == 32;
        let (is_exact, parts) = match (args.get(3, "input_precision"), args.get(4, "allow_tf32")) {
            (Some(Value::Str(precision)), _) => match &**precision {
                "tf32" => (false, 1),
                "tf32x3" if is_single && !self.is_amd() => (false, 2),
                "bf16x3" | "bf16x6" if is_single && !self.is_amd() => (false, 3),
                _ => (true, 1),
            },
            (_, Some(allowed)) => (allowed.truth() != Some(true), 1),
            _ => (self.is_amd(), 1),
        };
        // The rest of the call is no value that it takes.
        let mut taken = vec![Value::Tensor(one.clone()), Value::Tensor(two.clone())];
        taken.extend(args.get(2, "acc").cloned());
        let operands = self.operands(frame, expr, &taken);
        let op = Emitted {
            name: "dot",
            effect: Effect::None,
            operands: &operands,
            of: Type::Tensor,
            identity: identity((&shape, dtype, is_exact, parts)),
            kind: Kind::Plain,
        };
        let id = self.emit(frame, expr, op);
        let tile = |shape: &[u64], dtype: Dtype| Tile { shape: shape.to_vec(), bits: dtype.bits, dtype: dtype.name };
        let product = Product {
            operands: [tile(&one.shape, one.dtype), tile(&two.shape, two.dtype)],
            result: tile(&shape, dtype),
            is_left_at_hand: false,
            is_exact,
            parts,
            needs: [None, None],
            stays: [false; 2],
            warps: None,
        };
        // What becomes of a tensor that is multiplied with itself is not modelled, nor what is done where the author says how often sums of few bits are
        // added up exactly.
        let is_told = args.get(5, "max_num_imprecise_acc").is_some_and(|most| !matches!(most, Value::None));
        let is_guessed = one.id == two.id || is_told && one.dtype.is_float8();
        self.program.is_guessed |= is_guessed;
        let of_instruction = self.layout_of_product(id, &product);
        let is_elsewhere = match args.get(2, "acc") {
            Some(Value::Tensor(acc)) if self.machine().is_in_tensor_memory(&product) => {
                self.is_summed_elsewhere(acc, &of_instruction)
            }
            _ => false,
        };
        let is_other = is_guessed || is_elsewhere || parts > 1;
        let layout = if is_other { self.choice_for(id) } else { of_instruction };
        let is_left_at_hand = one.dtype.bits == 16 && self.feeds(&one.layout, &layout);
        let needs = [(0, one), (1, two)].map(|(nth, operand)| self.is_exchanged(nth, operand, &layout));
        let warps = match self.uncontested(&layout).as_deref() {
            Some(Layout::Mma { warps_per_cta, .. }) => Some(warps_per_cta.clone()),
            _ => None,
        };
        let ways: Vec<Arc<Layout>> = match self.uncontested(&layout) {
            Some(layout) => vec![layout],
            // The warps may lie in any of the ways that there are.
            None if self.machine().unit(&product) == Unit::TensorCores => match super::registers::narrow(&shape) {
                Ok(shape) => mma_v2_layouts(&shape, self.warps as u32).map(Arc::new).collect(),
                Err(_) => Vec::new(),
            },
            None => Vec::new(),
        };
        let stays = [(0, one), (1, two)]
            .map(|(nth, operand)| ways.iter().any(|way| self.may_stay_within_warps(nth, operand, way)));
        let product = Product { is_left_at_hand, needs, stays, warps, ..product };
        self.program.products.insert(id, product);
        Value::Tensor(Tensor { id, dtype, shape: Rc::new(shape), layout })
    }

    /// Whether threads have to exchange an operand before it is multiplied.
    pub(super) fn is_exchanged(&self, nth: u32, operand: &Tensor, product: &Registers) -> Option<bool> {
        let (from, parent) = (self.uncontested(&operand.layout)?, self.uncontested(product)?);
        // Where warps have the same elements, the compiler finds ways within a warp that are not modelled.
        let is_spread = |layout: &Layout| match (layout, operand.shape.as_slice()) {
            (Layout::Mma { warps_per_cta, .. }, &[rows, columns]) => {
                rows >= 16 * u64::from(warps_per_cta[0]) && columns >= 8 * u64::from(warps_per_cta[1])
            }
            _ => false,
        };
        let across = |layout: &Layout| match (layout, operand.shape.as_slice()) {
            (Layout::Mma { warps_per_cta, .. }, &[rows, columns]) => match nth {
                0 => rows >= 16 * u64::from(warps_per_cta[0]),
                _ => columns >= 8 * u64::from(warps_per_cta[1]),
            },
            _ => false,
        };
        if !is_spread(&from) || !across(&parent) {
            return None;
        }
        self.exchanged_bytes(nth, operand, &from, parent).map(|bytes| bytes > 0)
    }

    /// Whether warps may have what they need of an operand that is loaded.
    fn may_stay_within_warps(&self, nth: u32, operand: &Tensor, parent: &Arc<Layout>) -> bool {
        let from = match self.uncontested(&operand.layout) {
            Some(from) => vec![from],
            None if matches!(operand.layout, Registers::Loaded(_)) => {
                self.possible_layouts(&operand.shape, operand.dtype.bits)
            }
            None => Vec::new(),
        };
        from.iter().any(|from| self.exchanged_bytes(nth, operand, from, parent.clone()) == Some(0))
    }

    /// Bytes of shared memory through which threads exchange an operand before it is multiplied.
    fn exchanged_bytes(&self, nth: u32, operand: &Tensor, from: &Layout, parent: Arc<Layout>) -> Option<u64> {
        let k_width = 32 / operand.dtype.bits.clamp(1, 32);
        let to = Layout::DotOperand { operand: nth, parent, k_width };
        let shape = super::registers::narrow(&operand.shape).ok()?;
        layouts::conversion_bytes(&shape, operand.dtype.bits, from, &to, &self.launch.hardware).ok()
    }

    /// Whether the result of a product, in its own layout, may go into another one from the left as it is: all warps are along the rows.
    pub(super) fn feeds(&self, result: &Registers, product: &Registers) -> bool {
        let rows = |layout: &Registers| match self.uncontested(layout).as_deref() {
            Some(Layout::Mma { version, warps_per_cta, .. }) if warps_per_cta[1] == 1 => {
                Some((*version, warps_per_cta[0]))
            }
            _ => None,
        };
        rows(result).is_some() && rows(result) == rows(product)
    }

    /// The layout that tensor cores give a product, where that is known.
    /// Whether what a product adds to has another layout than that which its instruction gives. In which of them a loop carries it is not modelled.
    pub(super) fn is_summed_elsewhere(&mut self, acc: &Tensor, of_instruction: &Registers) -> bool {
        let is_elsewhere = match self.uncontested(&acc.layout) {
            Some(layout) => self.uncontested(of_instruction) != Some(layout),
            None => false,
        };
        if is_elsewhere {
            let (carried, choice) = (self.resolved(&acc.layout), self.new_choice());
            self.autos.iter_mut().flatten().filter(|auto| **auto == carried).for_each(|auto| *auto = choice.clone());
        }
        is_elsewhere
    }

    pub(super) fn machine(&self) -> Machine {
        Machine { hardware: self.launch.hardware, warps: self.warps, stages: 1, flattens: false }
    }

    pub(super) fn layout_of_product(&mut self, id: ValueId, product: &Product) -> Registers {
        let shape = product.result.shape.clone();
        let region = self.regions.last().copied().unwrap_or_default();
        self.products.entry(region).or_default().push((id, shape.clone()));
        let here = self.learnt.products.get(&region).map_or(&[][..], Vec::as_slice);
        let is_tall = |shape: &Vec<u64>| shape.first() >= shape.last();
        // Which of several the compiler looks at first is not known.
        let agree = here.iter().all(|(_, other)| is_tall(other) == is_tall(&shape) && other.len() == shape.len());
        let machine = self.machine();
        let Ok(shape) = super::registers::narrow(&shape) else { return self.choice_for(id) };
        // Chained products get another layout.
        let (is_alone, is_chained) = (here.len() <= 1, self.learnt.chained.contains(&id));
        let is_leading = self.learnt.leading.contains(&id);
        let either_way = |layout: &dyn Fn(bool) -> Option<Layout>, is_other: bool| {
            layout(is_other).filter(|it| is_alone || is_chained || layout(true).as_ref() == Some(it))
        };
        let (warps, bits) = (self.warps as u32, product.operands[0].bits);
        let layout = match machine.unit(product) {
            Unit::TensorCores if self.learnt.related.to_none.contains(&id) => mma_v2_layout(&shape, warps, false),
            Unit::TensorCores if agree && self.learnt.related.to_others.contains(&id) => {
                mma_v2_layout(&shape, warps, true)
            }
            Unit::TensorCores if self.launch.dialect == Dialect::Triton && here.len() > 1 => {
                mma_v2_layout(&shape, warps, false)
                    .filter(|it| agree && mma_v2_layout(&shape, warps, true).as_ref() == Some(it))
            }
            Unit::TensorCores if agree => either_way(&|chained| mma_v2_layout(&shape, warps, chained), is_chained),
            Unit::Wgmma => either_way(&|leading| mma_v3_layout(&shape, bits, warps, leading), is_leading),
            Unit::Tcgen05 if self.launch.dialect == Dialect::Triton => {
                return self
                    .rows_of_threads(&product.result.shape, Dtype::named("float32"))
                    .unwrap_or_else(|| self.choice_for(id));
            }
            _ => None,
        };
        match layout {
            Some(layout) => self.given_by_instruction(layout),
            None => self.choice_for(id),
        }
    }

    /// The compiler makes a product of `sum(a[:, :, None] * b[None, :, :], axis=1)` (`CombineBroadcastMulReducePattern` in `Combine.cpp`).
    pub(super) fn summed_product(&mut self, frame: &Frame, expr: ExprId, input: &Tensor, axis: usize) -> Option<Value> {
        const LEAST: u64 = 16;
        let &[rows, _, columns] = input.shape.as_slice() else { return None };
        let is_short = input.dtype.is_floating() && input.dtype.bits <= 32;
        if self.launch.dialect != Dialect::Triton || axis != 1 || !is_short || rows < LEAST || columns < LEAST {
            return None;
        }
        let factors = self.multiplied.get(&input.id)?.map(|factor| self.expanded_from.get(&factor).cloned());
        let [Some((one, 2)), Some((two, 0))] = factors else { return None };
        if one.dtype != two.dtype {
            return None;
        }
        if input.dtype.bits < 32 && input.dtype != Dtype::ANY {
            let message = format!(
                "the compiler makes a product of this sum, which it does for `float32` only and not for `{}`: sum `float32`, or write `tl.dot`",
                input.dtype.name
            );
            self.refuse(frame, expr, Code::InvalidOperand, message);
            return Some(unknown("a product that the compiler refuses"));
        }
        self.program.multiplies = true;
        // It may be narrower than any that an author writes.
        self.program.is_guessed = true;
        let args = Args::of([Value::Tensor(one.clone()), Value::Tensor(two.clone())]);
        Some(match self.product(frame, expr, [&one, &two], &args) {
            Value::Tensor(tensor) => Value::Tensor(Tensor { layout: self.choice_for(tensor.id), ..tensor }),
            other => other,
        })
    }

    /// `tl.dot` (`TritonSemantic.dot`): what is wrong with the operands, with what they are added to, or with the type of the result.
    pub(super) fn check_product(
        &mut self,
        frame: &Frame,
        at: ExprId,
        [left, right]: [&Tensor; 2],
        args: &Args,
    ) -> bool {
        if self.launch.dialect != Dialect::Triton {
            return false;
        }
        let asked = match args.named("out_dtype").or_else(|| args.positional.get(6)) {
            Some(Value::Dtype(dtype)) => Some(*dtype),
            _ => None,
        };
        let acc = match args.get(2, "acc") {
            Some(Value::Tensor(acc)) => Some(acc),
            _ => None,
        };
        let of_result = || not_added(left, right, acc, asked);
        let Some(message) = not_multiplied(left, right, self.is_amd()).or_else(of_result) else { return false };
        self.refuse(frame, at, Code::InvalidOperand, message);
        true
    }
}

/// Why the result of a product has no such type, or what it is added to has another shape or type.
fn not_added(left: &Tensor, right: &Tensor, acc: Option<&Tensor>, asked: Option<Dtype>) -> Option<String> {
    let is_known = |dtype: &Dtype| ![Dtype::ANY, Dtype::UNTYPED].contains(dtype);
    let is_brief = |dtype: Dtype| dtype.name == "bfloat16";
    let of_result = asked.or(acc.map(|acc| acc.dtype));
    if left.dtype.is_floating() && is_known(&left.dtype) && of_result.is_some_and(is_brief) {
        return Some(
            "`tl.dot` gives no `bfloat16`; let it give `float32`, and cast that with `.to(tl.bfloat16)`".to_owned(),
        );
    }
    let acc = acc?;
    let mut shape = (*left.shape).clone();
    if let (Some(last), Some(columns)) = (shape.last_mut(), right.shape.last()) {
        *last = *columns;
    }
    if *acc.shape != shape {
        return Some(format!(
            "the result of `tl.dot` has shape {shape:?}, and is added to a tensor of shape {:?}",
            acc.shape
        ));
    }
    asked.filter(|asked| is_known(&acc.dtype) && acc.dtype != *asked).map(|asked| {
        format!("`out_dtype` is `{asked}`, and the result of `tl.dot` is added to a tensor of `{}`", acc.dtype)
    })
}

/// Why `tl.dot` refuses two tensors (`TritonSemantic.dot`), as far as their element types are known. `is_amd`: its compiler computes what is
/// too small for an instruction otherwise.
fn not_multiplied(left: &Tensor, right: &Tensor, is_amd: bool) -> Option<String> {
    const MULTIPLIED: [&str; 6] = ["int8", "uint8", "float16", "bfloat16", "float32", "float64"];
    let is_known = |dtype: &Dtype| ![Dtype::ANY, Dtype::UNTYPED].contains(dtype);
    let is_multiplied = |dtype: &Dtype| dtype.is_float8() || MULTIPLIED.contains(&dtype.name);
    let (one, two) = (left.dtype, right.dtype);
    if let Some(other) = [one, two].iter().filter(|it| is_known(it)).find(|it| !is_multiplied(it)) {
        return Some(format!("`tl.dot` cannot multiply elements of type `{other}`"));
    }
    let are_float8 = one.is_float8() && two.is_float8();
    if is_known(&one) && is_known(&two) && one != two && !are_float8 {
        return Some(format!(
            "both operands of `tl.dot` must have the same element type, but got `{one}` and `{two}`; cast one of them with `.to(…)`"
        ));
    }
    let (ranks, are_ranks) = ((left.shape.len(), right.shape.len()), [(2, 2), (3, 3)]);
    if !are_ranks.contains(&ranks) {
        return Some(format!(
            "the operands of `tl.dot` must both have 2 dimensions, or both 3, but have {} and {}",
            ranks.0, ranks.1
        ));
    }
    let (columns, rows) = (left.shape.last()?, right.shape.iter().rev().nth(1)?);
    if columns != rows {
        return Some(format!(
            "the left operand of `tl.dot` has {columns} columns and the right one {rows} rows, which must be equal"
        ));
    }
    if one.name == "uint8" {
        return Some("`tl.dot` multiplies no `uint8`, only `int8`".to_owned());
    }
    let least = least_sum(one.bits);
    (is_known(&one) && !is_amd && *columns < least)
        .then(|| format!("`tl.dot` sums over at least {least} elements of type `{one}`, but K is {columns} here"))
}

/// Elements that a product sums over at least on NVIDIA's devices (`min_dot_size` in `third_party/nvidia/backend/compiler.py`). Rows and columns may
/// be as few as one likes.
fn least_sum(bits: u32) -> u64 {
    match bits {
        8 => 32,
        64 => 4,
        32 => 8,
        _ => 16,
    }
}
