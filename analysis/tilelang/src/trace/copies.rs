//! Copies, fills and atomic operations of tiles: extents, and what they touch.

use std::rc::Rc;

use tilefit_python::finding::{Origin, Reason};
use tilefit_syntax::ast::ExprId;

use super::recording::joined;
use super::value::{Args, FrameId, Part, Size, Touch, Value, View};
use super::{Tracer, What};
use crate::program::{Kind, Region, Scope};

/// A buffer or a part of one, as tile operations take it.
#[derive(Debug, Clone)]
pub(super) struct Operand {
    pub view: View,
    /// `None`: one element, whose extents the other side gives.
    pub sizes: Option<Vec<Size>>,
    /// How many indices the element has.
    pub indices: usize,
    pub touches: Rc<[Touch]>,
    pub is_whole: bool,
}

impl Operand {
    /// Extents; of an element, ones.
    pub(super) fn full(&self) -> Vec<Size> {
        self.sizes.clone().unwrap_or_else(|| vec![Size::number(1); self.indices])
    }
}

impl Tracer<'_> {
    pub(super) fn operand(&self, value: &Value) -> Option<Operand> {
        let of_part = |part: &Rc<Part>, is_region: bool| Operand {
            view: part.view.clone(),
            sizes: is_region.then(|| part.sizes.clone()),
            indices: part.sizes.len(),
            touches: part.touches.clone(),
            is_whole: false,
        };
        Some(match value {
            Value::Buffer(view) => Operand {
                view: view.clone(),
                sizes: Some(view.shape.to_vec()),
                indices: view.shape.len(),
                touches: Rc::from([]),
                is_whole: true,
            },
            Value::Region(part) => of_part(part, true),
            Value::Element(part) => of_part(part, false),
            Value::Expr(expr) => of_part(expr.part.as_ref()?, false),
            _ => return None,
        })
    }

    /// Reasons that what should be a buffer is none.
    pub(super) fn no_operand(&mut self, function: &str, value: Option<&Value>) {
        let reason = match value {
            Some(Value::Unknown(it)) => it.reason.clone(),
            _ => Reason::new("its argument is not a buffer"),
        };
        self.note(reason.of(&format!("`T.{function}`")));
    }

    pub(super) fn copy(&mut self, frame: FrameId, expr: ExprId, name: &str, args: &Args) -> Value {
        let at = self.at(frame, expr);
        let (given_source, given_target) = (args.get(0, "src").cloned(), args.get(1, "dst").cloned());
        let source = given_source.as_ref().and_then(|value| self.operand(value));
        let target = given_target.as_ref().and_then(|value| self.operand(value));
        let (source, target) = match (source, target) {
            (Some(source), Some(target)) => (source, target),
            (source, target) => {
                let bad = if source.is_none() { given_source } else { given_target };
                self.no_operand(name, bad.as_ref());
                // What is known to be touched is touched all the same.
                let region = |operand: &Operand| Region { buffer: operand.view.id, extents: None, is_inside: None };
                let (reads, writes) = (source.iter().map(region).collect(), target.iter().map(region).collect());
                return Self::operation_of(Kind::Copy, reads, writes, at);
            }
        };
        if source.sizes.is_none() && target.sizes.is_none() {
            let Some(value) = given_source.as_ref().and_then(|value| self.expr(value)) else { return Value::None };
            return Value::Operation(Rc::new(self.store_op(&target.view, &target.touches, &value, at)));
        }
        let fits = !(source.is_whole && target.is_whole) || self.has_same_shape(&source, &target, at);
        let kind = match name {
            "async_copy" => Kind::AsyncCopy,
            "tma_copy" => Kind::TmaCopy,
            _ => Kind::Copy,
        };
        let (from, to) = self.paired(&source, &target);
        if fits {
            self.check_room(&source, &from, &target, &to, at);
        }
        let (read, written) = (self.region_of(&source, from), self.region_of(&target, to));
        let indices = joined([&source.touches[..], &target.touches]);
        Self::operation_of(kind, [vec![read], Self::read_of(&indices)].concat(), vec![written], at)
    }

    fn has_same_shape(&mut self, source: &Operand, target: &Operand, at: Origin) -> bool {
        let (one, two) = (source.full(), target.full());
        if one.len() == two.len() && one.iter().zip(&two).all(|(one, two)| one == two) {
            return true;
        }
        let known = |sizes: &[Size]| -> Option<Vec<u64>> {
            sizes.iter().map(|size| size.known().and_then(|size| u64::try_from(size).ok())).collect()
        };
        if let (Some(source), Some(target)) = (known(&one), known(&two)) {
            self.mistake(at, What::CopyShapes { source, target });
            return false;
        }
        true
    }

    /// The extents of both sides: those of one that has none are the other's.
    fn paired(&self, source: &Operand, target: &Operand) -> (Vec<Size>, Vec<Size>) {
        let ones = |count: usize| vec![Size::number(1); count];
        let mut from = source.sizes.clone().unwrap_or_default();
        let mut to = target.sizes.clone().unwrap_or_default();
        if source.sizes.is_none() {
            from = ones(to.len());
        }
        if target.sizes.is_none() {
            to = ones(from.len());
        }
        let wide = |sizes: &[Size]| sizes.iter().filter(|size| size.known() != Some(1)).count();
        if wide(&from) == wide(&to) {
            return (from, to);
        }
        for i in 1..=from.len().min(to.len()) {
            let (one, two) = (from.len() - i, to.len() - i);
            let (x, y) = (from[one].clone(), to[two].clone());
            if x == y {
                continue;
            }
            match (x.known(), y.known()) {
                (Some(1), _) => from[one] = y,
                (_, Some(1)) => to[two] = x,
                _ => {
                    let larger = self.extreme("max", &x, &y);
                    (from[one], to[two]) = (larger.clone(), larger);
                }
            }
        }
        (from, to)
    }

    /// The smaller or the larger of two extents.
    pub(super) fn extreme(&self, name: &str, one: &Size, two: &Size) -> Size {
        if one == two {
            return one.clone();
        }
        if let (Some(x), Some(y)) = (one.known(), two.known()) {
            return Size::number(if name == "min" { x.min(y) } else { x.max(y) });
        }
        let operands = [one, two].map(Self::extent_value).map(|value| self.expr(&value));
        let operands: Vec<_> = operands.into_iter().flatten().collect();
        let made = self.operation(name, format!("T.{name}({}, {})", one.text, two.text), true, &operands);
        Size { sum: made.sum, text: made.text }
    }

    /// What is touched of an operand, for extents that both sides agree on.
    fn region_of(&mut self, operand: &Operand, agreed: Vec<Size>) -> Region {
        let sizes = match &operand.sizes {
            Some(own) if !operand.is_whole => {
                own.iter().zip(&agreed).map(|(own, agreed)| self.extreme("min", own, agreed)).collect()
            }
            Some(_) => agreed,
            None => {
                let missing = operand.indices.saturating_sub(agreed.len());
                let padded = [vec![Size::number(1); missing], agreed].concat();
                if padded.len() > operand.indices {
                    self.note(Reason::new("a copy whose sides have different dimensions"));
                }
                padded
            }
        };
        Region { buffer: operand.view.id, extents: Some(sizes.iter().map(Size::extent).collect()), is_inside: None }
    }

    /// The compiler goes through the extents of the side nearer to the threads, which must not be the smaller one.
    fn check_room(&mut self, source: &Operand, from: &[Size], target: &Operand, to: &[Size], at: Origin) {
        let level = |scope: Scope| match scope {
            Scope::Fragment | Scope::Local => 2,
            Scope::Shared | Scope::StaticShared | Scope::TensorMemory | Scope::OfCore(_) => 1,
            Scope::Global | Scope::Barrier => 0,
        };
        if level(source.view.scope) >= level(target.view.scope) {
            return;
        }
        let wide =
            |sizes: &[Size]| -> Vec<Size> { sizes.iter().filter(|size| size.known() != Some(1)).cloned().collect() };
        for (room, wanted) in wide(to).iter().zip(&wide(from)) {
            let (Some(room), Some(wanted)) = (room.known(), wanted.known()) else { continue };
            if room < wanted {
                let name = |id| self.out.buffer(id).map_or_else(String::new, |buffer| buffer.name.to_string());
                let (source, target) = (name(source.view.id), name(target.view.id));
                let (wanted, room) = (wanted.max(0) as u64, room.max(0) as u64);
                return self.mistake(at, What::CopyExtents { source, target, wanted, room });
            }
        }
    }

    pub(super) fn fill(&mut self, frame: FrameId, expr: ExprId, args: &Args) -> Value {
        let at = self.at(frame, expr);
        let given = args.get(0, "buffer").cloned();
        let Some(operand) = given.as_ref().and_then(|value| self.operand(value)) else {
            self.no_operand("fill", given.as_ref());
            return Value::None;
        };
        let mut touches = operand.touches.to_vec();
        if let Some(value) = args.get(1, "value") {
            touches.extend(self.expr(value).iter().flat_map(|value| value.touches.to_vec()));
        }
        let extents = Some(operand.full().iter().map(Size::extent).collect());
        let writes = vec![Region { buffer: operand.view.id, extents, is_inside: None }];
        Self::operation_of(Kind::Fill, Self::read_of(&joined([&touches[..]])), writes, at)
    }

    /// `T.atomic_add(target, value)`, of elements or of tiles.
    pub(super) fn atomic(&mut self, frame: FrameId, expr: ExprId, name: &str, args: &Args) -> Value {
        let at = self.at(frame, expr);
        let is_load = name == "atomic_load";
        let given_target = args.get(0, if is_load { "src" } else { "dst" }).cloned();
        let given_value =
            args.get(1, if name == "atomic_store" { "src" } else { "value" }).cloned().filter(|_| !is_load);
        let Some(target) = given_target.as_ref().and_then(|value| self.operand(value)) else {
            self.no_operand(name, given_target.as_ref());
            return Value::None;
        };
        let value = given_value.as_ref().and_then(|value| self.operand(value));
        let are_elements = target.sizes.is_none() && value.as_ref().is_none_or(|value| value.sizes.is_none());
        let is_tiled = matches!(name, "atomic_add" | "atomic_max" | "atomic_min") && !are_elements;
        if !is_tiled {
            let touch = Touch { buffer: target.view.id, reads: true, writes: !is_load };
            let mut touches = vec![touch];
            touches.extend_from_slice(&target.touches);
            if let Some(value) = &given_value {
                self.touches_of(value, &mut touches);
            }
            let touches = joined([&touches[..]]);
            let returns = args.keyword("return_prev").and_then(Value::truth) == Some(true);
            let last = if returns { "_ret_elem_op" } else { "_elem_op" };
            let made = self.operation(name, format!("T.{name}(…)"), true, &[]);
            let call = Some(format!("tl.{name}{last}").into());
            return Value::Expr(super::value::Expr { touches: touches.into(), call, ..made });
        }
        let kind = Kind::Other(name.replace('_', "").into());
        match value {
            Some(value) => {
                let (from, to) = self.paired(&value, &target);
                let from = value.sizes.clone().unwrap_or(from);
                let (read, written) = (self.region_of(&value, from), self.region_of(&target, to));
                let indices = joined([&value.touches[..], &target.touches]);
                Self::operation_of(kind, [vec![read], Self::read_of(&indices)].concat(), vec![written], at)
            }
            None => {
                let mut touches = target.touches.to_vec();
                if let Some(value) = &given_value {
                    self.touches_of(value, &mut touches);
                }
                let written = self.region_of(&target, target.full());
                Self::operation_of(kind, Self::read_of(&joined([&touches[..]])), vec![written], at)
            }
        }
    }
}
