//! The operations on memory of a kernel as MLIR, after each step of the compiler. Values have the names of the source. What is not
//! about memory is left out.

mod types;

use std::collections::BTreeMap;
use std::fmt::Write;

use tilefit_syntax::ast::ExprId;

use tilefit_python::diagnostics::{Code, Severity};
use tilefit_python::finding::Finding;
use tilefit_python::finding::Reason;

use super::kernel::{
    Backing, Buffer, BufferId, BufferKind, Element, Group, GroupKind, Index, IndexValue, Kernel, Known, Op, SpecId,
};
use super::language::Storage;
use super::plan::Plan;
use types::Encodings;

/// Barriers of one array whose initialisation is printed; the others are counted.
const MOST_BARRIERS: u64 = 16;

/// How far the compiler is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoweringStep {
    FrontEnd,
    Sizes,
    Offsets,
    Allocations,
    LocalAliases,
}

impl LoweringStep {
    const ALL: [LoweringStep; 5] = [
        LoweringStep::FrontEnd,
        LoweringStep::Sizes,
        LoweringStep::Offsets,
        LoweringStep::Allocations,
        LoweringStep::LocalAliases,
    ];

    pub fn title(self) -> &'static str {
        match self {
            LoweringStep::FrontEnd => "the front end",
            LoweringStep::Sizes => "tlx-storage-alias-lowering, step 1: sizes",
            LoweringStep::Offsets => "tlx-storage-alias-lowering, step 2: offsets",
            LoweringStep::Allocations => "tlx-storage-alias-lowering, step 3: allocations and indices",
            LoweringStep::LocalAliases => "tlx-rewrite-local-alias",
        }
    }
}

/// The module after a step, or what ends the compilation there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lowered {
    pub step: LoweringStep,
    pub text: String,
}

/// The kernel after each step that changes it, up to the first that fails. `source` gives the text of an expression.
pub fn lowered(kernel: &Kernel, plan: &Plan, source: &dyn Fn(ExprId) -> Option<String>) -> Vec<Lowered> {
    let has_aliases = kernel.buffers.iter().any(|buffer| matches!(buffer.backing, Backing::Alias(_)));
    let mut all = Vec::new();
    for step in LoweringStep::ALL {
        let changes = match step {
            LoweringStep::FrontEnd => true,
            LoweringStep::Sizes | LoweringStep::Offsets | LoweringStep::Allocations => !kernel.specs.is_empty(),
            LoweringStep::LocalAliases => has_aliases || !kernel.specs.is_empty(),
        };
        if !changes {
            continue;
        }
        let failure = failure(kernel, plan, step);
        let text = match &failure {
            // What the front end has built so far is worth seeing; a pass that fails leaves what the one before it left.
            Some(failure) if step > LoweringStep::FrontEnd => failure.clone(),
            _ => Printer::new(kernel, plan, step, source).module() + failure.as_deref().unwrap_or_default(),
        };
        all.push(Lowered { step, text });
        if failure.is_some() {
            break;
        }
    }
    all
}

/// All steps in one text, as the compiler dumps them.
pub fn text(lowered: &[Lowered]) -> String {
    let dump = |lowered: &Lowered| format!("// -----// IR after {} //----- //\n{}", lowered.step.title(), lowered.text);
    lowered.iter().map(dump).collect::<Vec<_>>().join("\n")
}

/// The comments in place of what a step does not get through.
fn failure(kernel: &Kernel, plan: &Plan, step: LoweringStep) -> Option<String> {
    let errors: Vec<&str> = errors(kernel, plan, step).map(|finding| finding.message.as_str()).collect();
    if !errors.is_empty() {
        return Some(errors.iter().fold(String::new(), |text, error| text + "// error: " + error + "\n"));
    }
    if step == LoweringStep::FrontEnd {
        return None;
    }
    if step < LoweringStep::LocalAliases && plan.arch.is_amd() {
        return Some(format!("// error: the compiler for {} never lowers storage alias specs\n", plan.arch));
    }
    unknown(kernel, plan).map(|reason| format!("// not modelled: {reason}\n"))
}

/// What the compiler says at a step, and goes no further.
fn errors<'a>(kernel: &'a Kernel, plan: &'a Plan, step: LoweringStep) -> Box<dyn Iterator<Item = &'a Finding> + 'a> {
    let of_overlap = |finding: &Finding| kernel.overlaps.iter().any(|overlap| overlap.at == finding.at);
    let of_pass = move |finding: &&Finding| match (finding.code, step) {
        (Code::InvalidOverlap, LoweringStep::FrontEnd) => !of_overlap(finding),
        (Code::InvalidOverlap, LoweringStep::Offsets) => of_overlap(finding),
        (Code::SpecTooSmall, LoweringStep::Sizes) => !of_overlap(finding),
        (Code::SpecTooSmall, LoweringStep::Offsets) => of_overlap(finding),
        (Code::NotDivisible | Code::UnusedSpec, LoweringStep::Allocations) => true,
        (Code::InvalidShape, LoweringStep::FrontEnd) => true,
        _ => false,
    };
    let refused = kernel.findings.iter().filter(move |_| step == LoweringStep::FrontEnd);
    let refused = refused.filter(|finding| finding.severity == Severity::Error);
    Box::new(refused.chain(plan.findings.iter().filter(of_pass)))
}

/// Why the passes cannot be followed.
fn unknown<'a>(kernel: &'a Kernel, plan: &'a Plan) -> Option<&'a Reason> {
    let specs = plan.specs.iter().find_map(|spec| match (&spec.size, &spec.tree) {
        (Err(reason), _) | (_, Some(Err(reason))) => Some(reason),
        _ => None,
    });
    let in_class = |id: &BufferId| match kernel.buffer(*id).backing {
        Backing::Spec(_) | Backing::Alias(_) | Backing::Unknown(_) => true,
        Backing::Own => kernel.buffers.iter().any(|buffer| buffer.backing == Backing::Alias(*id)),
    };
    let buffers = || {
        kernel.buffer_ids().filter(in_class).find_map(|id| {
            match (&kernel.buffer(id).backing, plan.places.get(id.0 as usize)) {
                (Backing::Unknown(reason), _) | (_, Some(Err(reason))) => Some(reason),
                _ => None,
            }
        })
    };
    specs.or_else(buffers)
}

struct Printer<'a> {
    kernel: &'a Kernel,
    plan: &'a Plan,
    step: LoweringStep,
    source: &'a dyn Fn(ExprId) -> Option<String>,
    encodings: Encodings,
    lines: String,
    /// How often each name is taken.
    taken: BTreeMap<String, u32>,
    specs: Vec<String>,
    buffers: Vec<String>,
    groups: Vec<String>,
    constants: Vec<i64>,
    temporaries: u32,
}

impl<'a> Printer<'a> {
    fn new(
        kernel: &'a Kernel,
        plan: &'a Plan,
        step: LoweringStep,
        source: &'a dyn Fn(ExprId) -> Option<String>,
    ) -> Self {
        let mut printer = Printer {
            kernel,
            plan,
            step,
            source,
            encodings: Encodings::default(),
            lines: String::new(),
            taken: BTreeMap::new(),
            specs: Vec::new(),
            buffers: Vec::new(),
            groups: Vec::new(),
            constants: Vec::new(),
            temporaries: 0,
        };
        printer.specs = kernel.specs.iter().map(|spec| printer.value(&spec.name)).collect();
        printer.buffers = kernel.buffers.iter().map(|buffer| printer.value(&buffer.name)).collect();
        printer.groups = kernel.groups.iter().map(|_| printer.value("group")).collect();
        printer
    }

    fn module(mut self) -> String {
        for &op in &self.kernel.ops {
            match op {
                Op::Spec(id) => self.spec(id),
                Op::Buffer(id) => self.buffer(id),
                Op::Group(id) if self.step < LoweringStep::Offsets => {
                    let name = self.groups[id.0 as usize].clone();
                    self.group(&name, self.kernel.group(id));
                }
                Op::Overlap(at) if self.step < LoweringStep::Offsets => self.overlap(at),
                Op::Group(_) | Op::Overlap(_) => {}
                Op::Index(at) => self.index(&self.kernel.indices[at]),
            }
        }
        let (definitions, name, lines) = (self.encodings.definitions(), &self.kernel.name, self.lines);
        format!("{definitions}tt.func public @{name}(…) {{\n{lines}  tt.return\n}}\n")
    }

    /// A name for a value that no other has.
    fn value(&mut self, name: &str) -> String {
        let name: String = name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
        let name = name.trim_matches('_').to_owned();
        let name =
            if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) { format!("v{name}") } else { name };
        let times = self.taken.entry(name.clone()).or_default();
        *times += 1;
        if *times == 1 { format!("%{name}") } else { format!("%{name}_{}", *times - 1) }
    }

    fn temporary(&mut self) -> String {
        self.temporaries += 1;
        format!("%{}", self.temporaries - 1)
    }

    fn line(&mut self, line: &str, certain: bool) {
        let comment = if certain { "" } else { "  // under an unknown condition" };
        let _ = writeln!(self.lines, "  {line}{comment}");
    }

    fn constant(&mut self, value: i64) -> String {
        let name = if value < 0 { format!("%c_{}_i32", value.unsigned_abs()) } else { format!("%c{value}_i32") };
        if !self.constants.contains(&value) {
            self.constants.push(value);
            self.line(&format!("{name} = arith.constant {value} : i32"), true);
        }
        name
    }

    fn is_amd(&self) -> bool {
        self.plan.arch.is_amd()
    }

    /// The type of a buffer at this step.
    fn buffer_type(&mut self, id: BufferId) -> String {
        let (buffer, is_amd) = (self.kernel.buffer(id), self.is_amd());
        match self.plan.place(id) {
            Some(place) if self.step >= LoweringStep::Allocations => self.encodings.expanded(buffer, place, is_amd),
            _ => self.encodings.buffer(buffer, Some(&buffer.num), self.step > LoweringStep::FrontEnd, is_amd),
        }
    }

    fn spec_type(&self, id: SpecId) -> String {
        let spec = self.kernel.spec(id);
        let storage = spec.storage.as_ref().map_or("?", |storage| storage.name());
        match &spec.explicit {
            // LoweringStep 1 changes the attribute and leaves the type.
            Some(Ok(bytes)) => format!("!tlx.storage_alias_spec<{storage}, {bytes}>"),
            Some(Err(_)) => format!("!tlx.storage_alias_spec<{storage}, ?>"),
            None => format!("!tlx.storage_alias_spec<{storage}>"),
        }
    }

    fn spec(&mut self, id: SpecId) {
        if self.step >= LoweringStep::Allocations {
            return self.backing(id);
        }
        let (spec, name) = (self.kernel.spec(id), &self.specs[id.0 as usize]);
        let storage = spec.storage.as_ref().map_or("?", |storage| storage.name());
        let size =
            self.plan.spec(id).and_then(|plan| plan.size.as_ref().ok()).filter(|_| self.step >= LoweringStep::Sizes);
        let attributes = match (size, &spec.explicit) {
            (Some(size), _) => {
                let shape: Vec<_> = size.shape.iter().map(u64::to_string).collect();
                format!(", size = {} {{buffer_shape = array<i64: {}>}}", size.bytes, shape.join(", "))
            }
            (None, Some(Ok(bytes))) => format!(", size = {bytes}"),
            (None, Some(Err(_))) => ", size = ?".to_owned(),
            (None, None) => String::new(),
        };
        let ty = self.spec_type(id);
        self.line(&format!("{name} = tlx.storage_alias_spec storage = {storage}{attributes} : {ty}"), spec.certain);
    }

    /// The allocation that a spec becomes: bytes or words of its own, or its largest member.
    fn backing(&mut self, id: SpecId) {
        let spec = self.kernel.spec(id);
        let owner = if self.step == LoweringStep::LocalAliases { self.owner(Base::Spec(id)) } else { None };
        let ty = match owner {
            Some(largest) => self.buffer_type(largest),
            None => self.backing_type(id),
        };
        let line = format!("{} = {} : () -> {ty}", self.specs[id.0 as usize], allocation(&spec.storage));
        self.line(&line, spec.certain);
    }

    fn backing_type(&mut self, id: SpecId) -> String {
        let storage = self.kernel.spec(id).storage.as_ref().copied().unwrap_or(Storage::Smem);
        match self.plan.spec(id).map(|plan| &plan.size) {
            Some(Ok(size)) => self.encodings.backing(size, storage),
            _ => "?".to_owned(),
        }
    }

    fn buffer(&mut self, id: BufferId) {
        let buffer = self.kernel.buffer(id);
        let name = self.buffers[id.0 as usize].clone();
        let ty = self.buffer_type(id);
        let line = match &buffer.backing {
            Backing::Own => return self.own(id, &name, &ty),
            Backing::Spec(spec) if self.step < LoweringStep::Allocations => {
                let spec_name = &self.specs[spec.0 as usize];
                let map = self.placement(id).filter(|_| self.step == LoweringStep::Offsets).unwrap_or_default();
                format!("{name} = tlx.storage_alias_local_alloc {spec_name} : {} -> {ty}{map}", self.spec_type(*spec))
            }
            Backing::Spec(_) | Backing::Alias(_) if self.step == LoweringStep::LocalAliases => {
                let (allocated, allocated_ty) = self.allocated(id);
                format!("{name} = ttg.memdesc_reinterpret {allocated} : {allocated_ty} -> {ty}")
            }
            Backing::Spec(spec) => {
                let backing = self.backing_type(*spec);
                format!("{name} = tlx.local_alias {} : {backing} -> {ty}", self.specs[spec.0 as usize])
            }
            Backing::Alias(base) => {
                let base_ty = self.buffer_type(*base);
                format!("{name} = tlx.local_alias {} : {base_ty} -> {ty}", self.buffers[base.0 as usize])
            }
            Backing::Unknown(reason) => format!("// {name} : {ty} reuses an unknown buffer: {reason}"),
        };
        self.line(&line, buffer.certain);
    }

    /// Memory of its own; in the end that of its largest alias.
    fn own(&mut self, id: BufferId, name: &str, ty: &str) {
        let buffer = self.kernel.buffer(id);
        let allocates = allocation(&buffer.storage);
        let owner = if self.step == LoweringStep::LocalAliases { self.owner(Base::Buffer(id)) } else { None };
        match owner {
            Some(largest) => {
                let (allocated, allocated_ty) = (format!("{name}_alloc"), self.buffer_type(largest));
                self.line(&format!("{allocated} = {allocates} : () -> {allocated_ty}"), buffer.certain);
                let view = format!("{name} = ttg.memdesc_reinterpret {allocated} : {allocated_ty} -> {ty}");
                self.line(&view, buffer.certain);
            }
            None => self.line(&format!("{name} = {allocates} : () -> {ty}"), buffer.certain),
        }
        if let (BufferKind::Barrier { arrivals }, Ok(num)) = (buffer.kind, &buffer.num) {
            self.initialise(buffer, name, ty, *num, arrivals);
        }
    }

    fn initialise(&mut self, buffer: &Buffer, name: &str, ty: &str, num: u64, arrivals: Option<u64>) {
        let view_ty = self.encodings.buffer(buffer, None, true, self.is_amd());
        let arrivals = arrivals.map_or_else(|| "?".to_owned(), |arrivals| arrivals.to_string());
        for slot in 0..num.min(MOST_BARRIERS) {
            let slot = self.constant(slot as i64);
            let view = self.temporary();
            self.line(&format!("{view} = ttg.memdesc_index {name}[{slot}] : {ty} -> {view_ty}"), buffer.certain);
            self.line(&format!("ttng.init_barrier {view}, {arrivals} : {view_ty}"), buffer.certain);
        }
        if num > MOST_BARRIERS {
            self.line(&format!("// and {} more barriers of {name}", num - MOST_BARRIERS), true);
        }
    }

    /// What step 2 keeps beside the IR.
    fn placement(&self, id: BufferId) -> Option<String> {
        let placement = self.plan.place(id)?.placement?;
        let units = self.kernel.buffer(id).storage.as_ref().map_or("bytes", |&storage| self.plan.units(storage));
        let size = match placement.group_size {
            1 => String::new(),
            size => format!(", group size {size}"),
        };
        Some(format!("  // offset {}, {} {units} between buffer groups{size}", placement.offset, placement.stride))
    }

    fn group(&mut self, name: &str, group: &Group) {
        let mut elements = Vec::new();
        let mut types = Vec::new();
        for element in &group.elements {
            match element {
                Element::Leaf { buffer, .. } => {
                    elements.push(self.buffers[buffer.0 as usize].clone());
                    types.push(self.buffer_type(*buffer));
                }
                Element::Group(id) => {
                    elements.push(self.groups[id.0 as usize].clone());
                    types.push(group_type(self.kernel.group(*id)));
                }
                Element::Unknown(_) => {
                    elements.push("?".to_owned());
                    types.push("?".to_owned());
                }
            }
        }
        let kind = kind_name(group);
        let size = match &group.size {
            Ok(1) => String::new(),
            Ok(size) => format!(", group_size = {size}"),
            Err(_) => ", group_size = ?".to_owned(),
        };
        let (elements, types, ty) = (elements.join(", "), types.join(", "), group_type(group));
        self.line(&format!("{name} = tlx.reuse_group({elements}) group_kind = {kind}{size} : ({types}) -> {ty}"), true);
    }

    fn overlap(&mut self, at: usize) {
        let overlap = &self.kernel.overlaps[at];
        let (spec, spec_ty) = (&self.specs[overlap.spec.0 as usize], self.spec_type(overlap.spec));
        let (group, group_ty) = match overlap.group {
            Ok(id) => (self.groups[id.0 as usize].as_str(), group_type(self.kernel.group(id))),
            Err(_) => ("?", "?".to_owned()),
        };
        self.line(&format!("tlx.set_buffer_overlap({spec}, {group}) : ({spec_ty}, {group_ty}) -> ()"), overlap.certain);
    }

    fn index(&mut self, index: &Index) {
        let buffer = self.kernel.buffer(index.buffer);
        let name = self.buffers[index.buffer.0 as usize].clone();
        let view = match &index.name {
            Some(name) => self.value(name),
            None => self.temporary(),
        };
        let mut comment = String::new();
        let mut slot = match index.index {
            IndexValue::Constant(value) => self.constant(value),
            IndexValue::Runtime(expr) => {
                let text = expr.and_then(|expr| (self.source)(expr));
                match text {
                    Some(text) if text.chars().all(|c| c.is_alphanumeric() || c == '_') => format!("%{text}"),
                    Some(text) => {
                        let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
                        comment = format!("  // [{one_line}]");
                        "%index".to_owned()
                    }
                    None => "%index".to_owned(),
                }
            }
        };
        let placed = self.plan.place(index.buffer).filter(|_| self.step >= LoweringStep::Allocations);
        if let Some(rewriting) = placed.map(|place| place.rewriting).filter(|rewriting| !rewriting.is_identity()) {
            let logical = slot.clone();
            let apply = |printer: &mut Self, op: &str, left: &str, right: u64| {
                let right = printer.constant(right as i64);
                let result = printer.temporary();
                printer.line(&format!("{result} = arith.{op} {left}, {right} : i32"), index.certain);
                result
            };
            if rewriting.scale > 1 {
                slot = apply(self, "muli", &logical, rewriting.scale);
            }
            if rewriting.offset_slots > 0 {
                slot = apply(self, "addi", &slot, rewriting.offset_slots);
            }
            if rewriting.group_size > 1 {
                let inner = apply(self, "remsi", &logical, rewriting.group_size);
                let sum = self.temporary();
                self.line(&format!("{sum} = arith.addi {slot}, {inner} : i32"), index.certain);
                slot = sum;
            }
        }
        let ty = self.buffer_type(index.buffer);
        let view_ty = self.encodings.buffer(buffer, None, self.step > LoweringStep::FrontEnd, self.is_amd());
        self.line(&format!("{view} = ttg.memdesc_index {name}[{slot}] : {ty} -> {view_ty}{comment}"), index.certain);
    }

    /// What an alias is a view of after the last step.
    fn allocated(&mut self, id: BufferId) -> (String, String) {
        let base = self.base(id);
        let owner = self.owner(base);
        match (base, owner) {
            (Base::Spec(spec), Some(largest)) => (self.specs[spec.0 as usize].clone(), self.buffer_type(largest)),
            (Base::Spec(spec), None) => (self.specs[spec.0 as usize].clone(), self.backing_type(spec)),
            (Base::Buffer(base), Some(largest)) => {
                (format!("{}_alloc", self.buffers[base.0 as usize]), self.buffer_type(largest))
            }
            (Base::Buffer(base), None) => (self.buffers[base.0 as usize].clone(), self.buffer_type(base)),
        }
    }

    /// The spec or buffer whose memory a buffer is in.
    fn base(&self, mut id: BufferId) -> Base {
        loop {
            match self.kernel.buffer(id).backing {
                Backing::Spec(spec) => return Base::Spec(spec),
                Backing::Alias(base) if base < id => id = base,
                _ => return Base::Buffer(id),
            }
        }
    }

    /// The first alias of the largest span, where it is larger than the base itself.
    fn owner(&self, base: Base) -> Option<BufferId> {
        let own = match base {
            Base::Spec(spec) => self.plan.spec(spec)?.size.as_ref().ok()?.units(),
            Base::Buffer(id) => self.plan.place(id)?.span(),
        };
        let mut largest = None;
        let mut most = own;
        for id in self.kernel.buffer_ids() {
            if base == Base::Buffer(id) || self.base(id) != base {
                continue;
            }
            let span = self.plan.place(id)?.span();
            if span > most {
                (largest, most) = (Some(id), span);
            }
        }
        largest
    }
}

/// What owns the memory of an alias class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Spec(SpecId),
    Buffer(BufferId),
}

fn allocation(storage: &Known<Storage>) -> &'static str {
    match storage {
        Ok(Storage::Tmem) => "ttng.tmem_alloc",
        _ => "ttg.local_alloc",
    }
}

fn kind_name(group: &Group) -> &'static str {
    group.kind.as_ref().map_or("?", |kind: &GroupKind| kind.name())
}

fn group_type(group: &Group) -> String {
    format!("!tlx.reuse_group<{}>", kind_name(group))
}
