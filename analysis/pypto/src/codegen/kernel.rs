//! The text of a kernel: prologue, body, epilogue (`docs/reference/codegen.md`, "File and function", "Control flow").

use std::borrow::Cow;

use tilefit_python::finding::Origin;

use crate::ir::TensorLayout;

use super::Options;
use super::emitter::Emitter;
use super::sequence::{
    Access, Addressing, Arg, ArgKind, BranchResult, Branches, By, Carry, Condition, Declare, Declared, Direction,
    Elements, Head, Instr, Loop, Operand, Program, Queue, Step, Sync, Tile, Wrapper,
};
use super::types;
use super::windows;

/// A queue that goes both ways signals data and free slots for each of them.
const FLAGS_OF_A_QUEUE: u8 = 4;

pub(super) const PRELUDE: &str = include_str!("prelude.hpp");

pub(super) fn print(program: &Program, options: Options, origin: Origin) -> (String, Vec<(u32, Origin)>) {
    let mut printer = Printer { program, options, out: Emitter::default() };
    if options.prelude {
        printer.out.block(PRELUDE);
        printer.out.line("");
    }
    printer.signature(origin);
    printer.arguments();
    printer.tensors();
    printer.queues();
    printer.tiles();
    printer.out.line("// Function body");
    printer.steps(&program.body);
    printer.epilogue();
    printer.out.finish()
}

struct Printer<'a> {
    program: &'a Program,
    options: Options,
    out: Emitter,
}

impl Printer<'_> {
    fn signature(&mut self, origin: Origin) {
        let linkage = if self.options.extern_c { "extern \"C\" " } else { "" };
        let function = &self.program.function;
        self.out.line_from(
            origin,
            &format!("{linkage}__aicore__ __attribute__((always_inline)) void {function}(__gm__ int64_t* args)"),
        );
        self.out.line("{");
        self.out.indent();
    }

    fn epilogue(&mut self) {
        if self.options.drain {
            let cube = self.program.tiles.iter().any(|tile| tile.form.space != crate::target::Space::Vec);
            let pipe = if cube { "PIPE_FIX" } else { "PIPE_MTE3" };
            self.out.line(&format!("set_flag({pipe}, PIPE_S, EVENT_ID7);"));
            self.out.line(&format!("wait_flag({pipe}, PIPE_S, EVENT_ID7);"));
        }
        self.out.dedent();
        self.out.line("}");
    }

    fn arguments(&mut self) {
        self.out.line("// Unpack arguments");
        for (slot, arg) in self.program.args.iter().enumerate() {
            let Arg { name, dtype, kind, origin } = arg;
            let ty = types::dtype(*dtype).unwrap_or("void");
            let line = match kind {
                ArgKind::Tensor(_) | ArgKind::Context => {
                    format!("__gm__ {ty}* {name} = reinterpret_cast<__gm__ {ty}*>(args[{slot}]);")
                }
                ArgKind::Scalar => format!("{ty} {name} = *reinterpret_cast<__gm__ {ty}*>(&args[{slot}]);"),
            };
            self.out.line_from(*origin, &line);
        }
        self.out.line("");
    }

    fn tensors(&mut self) {
        let is_tensor = |arg: &Arg| matches!(arg.kind, ArgKind::Tensor(_));
        if !self.program.args.iter().any(is_tensor) {
            return;
        }
        self.out.line("// Global tensor declarations");
        for (index, arg) in self.program.args.iter().enumerate() {
            let ArgKind::Tensor(extents) = &arg.kind else { continue };
            let mut accessed = false;
            for wrapper in self.program.wrappers.iter().filter(|wrapper| wrapper.arg == index && !wrapper.element) {
                self.tensor(arg, wrapper);
                accessed = true;
            }
            if !accessed && let Some(wrapper) = whole(index, &arg.name, extents) {
                self.tensor(arg, &wrapper);
            }
        }
    }

    fn tensor(&mut self, arg: &Arg, wrapper: &Wrapper) {
        let Arg { name, dtype, origin, .. } = arg;
        let number = suffix(wrapper);
        let element = types::dtype(*dtype).unwrap_or("void");
        let (shape, stride) = (format!("{name}ShapeDim5{number}"), format!("{name}StrideDim5{number}"));
        let ty = format!("{name}GlobalType{number}");
        let layout = match wrapper.layout {
            TensorLayout::Nd => String::new(),
            layout => format!(", Layout::{}", layout.name()),
        };
        let extents = (0..).zip(&wrapper.window).map(|(axis, extent)| {
            let run_time = wrapper.run_time.iter().any(|(of, _)| *of == axis);
            if run_time { -1 } else { *extent as i64 }
        });
        let (extents, strides) = match windows::in_boxes(wrapper, *dtype) {
            Some((extents, strides)) => (windows::shape(&extents), windows::stride(&strides)),
            None => (windows::shape(&extents.collect::<Vec<i64>>()), windows::stride(&wrapper.strides)),
        };
        self.out.line_from(*origin, &format!("using {shape} = {extents};"));
        self.out.line_from(*origin, &format!("using {stride} = {strides};"));
        self.out.line_from(*origin, &format!("using {ty} = GlobalTensor<{element}, {shape}, {stride}{layout}>;"));
        if wrapper.run_time.is_empty() {
            let strides = run_time_strides(wrapper);
            let layout = if strides.is_empty() { String::new() } else { format!(", {shape}(), {stride}({strides})") };
            self.out.line_from(*origin, &format!("{ty} {}({name}{layout});", wrapper.name));
        }
        self.out.line("");
    }

    /// `pipeType pipe(buffer, 0x0, 0x4000);`
    fn queues(&mut self) {
        if self.program.queues.is_empty() {
            return;
        }
        self.out.line("// Queues between the cores");
        for queue in &self.program.queues {
            let Queue { name, id, direction, slot_bytes, slots, local_slots, buffer, arrival, origin } = queue;
            let direction = match direction {
                Direction::ToVector => "DIR_C2V",
                Direction::ToCube => "DIR_V2C",
                Direction::Both => "DIR_BOTH",
            };
            let flag = id * FLAGS_OF_A_QUEUE;
            let ty = format!("TPipe<{flag}, Direction::{direction}, {slot_bytes}, {slots}, {local_slots}>");
            let [to_vector, to_cube] = arrival;
            self.out.line_from(*origin, &format!("using {name}Type = {ty};"));
            self.out.line_from(*origin, &format!("{name}Type {name}({buffer}, {to_vector:#x}, {to_cube:#x});"));
            self.out.line("");
        }
    }

    fn tiles(&mut self) {
        let mut tiles = self.program.tiles.iter().filter(|tile| tile.declared == Declared::Prologue).peekable();
        if tiles.peek().is_none() {
            return;
        }
        self.out.line("// Tile type definitions and allocations");
        for tile in tiles {
            self.tile(tile);
            self.out.line("");
        }
    }

    fn tile(&mut self, tile: &Tile) {
        let Tile { name, form, valid: (rows, cols), address, place, origin, .. } = tile;
        self.out.line_from(*origin, &format!("using {name}Type = {};", form.spelling()));
        self.out.line_from(*origin, &format!("{name}Type {name}({rows}, {cols});"));
        let address = match (place, address) {
            (Addressing::Planned, Some(address)) => format!("{address:#x}"),
            (Addressing::Computed(address), _) => address.clone(),
            (Addressing::Planned, None) | (Addressing::View, _) => return,
        };
        self.out.line_from(*origin, &format!("TASSIGN({name}, {address});"));
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Instr(instr) => self.instr(instr),
                Step::Local { name, ty, value, origin } => {
                    self.out.line_from(*origin, &format!("{ty} {name} = {value};"));
                }
                Step::Declare(tile) => self.tile(self.program.tile(*tile)),
                Step::Loop(node) => self.repeat(node),
                Step::If(node) => self.branches(node),
                Step::Sync(sync, By::Author(origin) | By::Stage(origin)) => {
                    self.out.line_from(*origin, &sync_line(*sync));
                }
                Step::Missing { what, origin } => self.out.line_from(*origin, &format!("// Not generated: {what}")),
            }
        }
    }

    fn instr(&mut self, instr: &Instr) {
        if let Some(access) = &instr.access {
            let wrapper = &self.program.wrappers[access.wrapper];
            if wrapper.element {
                // The text of the instruction says where.
            } else if !wrapper.run_time.is_empty() {
                self.out.line_from(instr.origin, &self.construct_wrapper(access, wrapper));
            } else if access.assign || self.options.always_assign {
                let line = format!("TASSIGN({}, {});", wrapper.name, pointer(access, wrapper));
                self.out.line_from(instr.origin, &line);
            }
        }
        if let Some(text) = &instr.text {
            return self.out.line_from(instr.origin, text);
        }
        let operands: Vec<&str> = instr.operands.iter().map(|operand| self.operand(operand)).collect();
        let template =
            if instr.template.is_empty() { String::new() } else { format!("<{}>", instr.template.join(", ")) };
        self.out.line_from(instr.origin, &format!("{}{template}({});", instr.name, operands.join(", ")));
    }

    fn operand<'b>(&'b self, operand: &'b Operand) -> &'b str {
        match operand {
            Operand::Tile(tile) => &self.program.tile(*tile).name,
            Operand::Wrapper(wrapper) => &self.program.wrappers[*wrapper].name,
            Operand::Text(text) => text,
        }
    }

    /// `xGlobalType_1 xGlobal_1(x + 0 * 128 + 0, xShapeDim5_1(rows));`
    fn construct_wrapper(&self, access: &Access, wrapper: &Wrapper) -> String {
        let tensor = &self.program.args[wrapper.arg].name;
        let extents: Vec<&str> = wrapper.run_time.iter().map(|(_, extent)| extent.as_str()).collect();
        let (pointer, extents, number) = (pointer(access, wrapper), extents.join(", "), suffix(wrapper));
        let strides = match run_time_strides(wrapper) {
            strides if strides.is_empty() => strides,
            strides => format!(", {tensor}StrideDim5{number}({strides})"),
        };
        format!(
            "{tensor}GlobalType{number} {}({pointer}, {tensor}ShapeDim5{number}({extents}){strides});",
            wrapper.name
        )
    }

    fn repeat(&mut self, node: &Loop) {
        let origin = node.origin;
        for Carry { name, ty, init, .. } in &node.carries {
            self.out.line_from(origin, &format!("{ty} {name} = {init};"));
        }
        let head = match &node.head {
            Head::For { name, start, stop, step, .. } => {
                format!("for (int64_t {name} = {}; {name} < {}; {name} += {}) {{", start.text, stop.text, step.text)
            }
            Head::While { condition } => format!("while {} {{", in_parentheses(condition)),
        };
        self.out.line_from(origin, &head);
        self.out.indent();
        self.steps(&node.body);
        self.next_values(&node.carries);
        self.out.dedent();
        self.out.line("}");
    }

    /// The assignments run one after the other: a value that is read after its carried variable was assigned is kept
    /// in a temporary.
    fn next_values(&mut self, carries: &[Carry]) {
        let mut values: Vec<(&Carry, String)> = Vec::new();
        let mut assigned: Vec<&str> = Vec::new();
        for carry in carries {
            let Some(next) = &carry.next else { continue };
            if next.names.iter().any(|name| assigned.contains(&name.as_str())) {
                let temporary = format!("{}_next", carry.name);
                self.out.line_from(carry.yielded, &format!("auto {temporary} = {};", next.text));
                values.push((carry, temporary));
            } else {
                values.push((carry, next.text.clone()));
            }
            assigned.push(&carry.name);
        }
        for (carry, value) in values {
            self.out.line_from(carry.yielded, &format!("{} = {value};", carry.name));
        }
    }

    fn branches(&mut self, node: &Branches) {
        for result in &node.results {
            match &result.declare {
                Declare::Tile(tile) => self.tile(self.program.tile(*tile)),
                Declare::Value(ty) => self.out.line_from(node.origin, &format!("{ty} {};", result.name)),
            }
        }
        if !node.results.is_empty() {
            self.out.line("");
        }
        self.out.line_from(node.origin, &format!("if {} {{", in_parentheses(&node.condition)));
        self.branch(&node.then, &node.results, |result| result.then.as_deref(), node.origin);
        if let Some(otherwise) = &node.otherwise {
            self.out.line("} else {");
            self.branch(otherwise, &node.results, |result| result.otherwise.as_deref(), node.origin);
        }
        self.out.line("}");
    }

    fn branch(
        &mut self,
        steps: &[Step],
        results: &[BranchResult],
        value: fn(&BranchResult) -> Option<&str>,
        origin: Origin,
    ) {
        self.out.indent();
        self.steps(steps);
        for result in results {
            if let Some(value) = value(result) {
                self.out.line_from(origin, &format!("{} = {value};", result.name));
            }
        }
        self.out.dedent();
    }
}

/// A tensor that is never accessed is declared as a whole.
fn whole(arg: usize, name: &str, extents: &[Option<Elements>]) -> Option<Wrapper> {
    let known = extents.iter().map(|extent| match extent {
        Some(Elements::Known(extent)) => Some(*extent),
        _ => None,
    });
    let window = known.collect::<Option<Vec<u64>>>()?;
    let extents: Vec<Elements> = window.iter().copied().map(Elements::Known).collect();
    let valid = (1..=5).contains(&window.len());
    valid.then(|| Wrapper {
        arg,
        name: format!("{name}Global"),
        number: 0,
        strides: windows::row_major_strides(&extents),
        window,
        run_time: Vec::new(),
        layout: TensorLayout::Nd,
        element: false,
    })
}

/// The arguments of the constructor of its strides.
fn run_time_strides(wrapper: &Wrapper) -> String {
    let given = wrapper.strides.iter().filter_map(|stride| match stride {
        Elements::RunTime(text) => Some(text.as_str()),
        Elements::Known(_) => None,
    });
    given.collect::<Vec<_>>().join(", ")
}

/// What distinguishes the windows of a tensor in names.
fn suffix(wrapper: &Wrapper) -> String {
    if wrapper.number == 0 { String::new() } else { format!("_{}", wrapper.number) }
}

/// `x + 0 * 128 + 0`
pub(super) fn pointer(access: &Access, wrapper: &Wrapper) -> String {
    let mut pointer = access.pointer.clone();
    for (offset, stride) in access.offsets.iter().zip(&wrapper.strides) {
        pointer.push_str(" + ");
        pointer.push_str(&offset.text);
        match stride {
            Elements::Known(1) => {}
            stride => pointer.push_str(&format!(" * {stride}")),
        }
    }
    pointer
}

fn sync_line(sync: Sync) -> String {
    match sync {
        Sync::Set { src, dst, event } => format!("set_flag({}, {}, EVENT_ID{event});", src.name(), dst.name()),
        Sync::Wait { src, dst, event } => format!("wait_flag({}, {}, EVENT_ID{event});", src.name(), dst.name()),
        Sync::Barrier(Some(pipe)) => format!("pipe_barrier({});", pipe.name()),
        Sync::Barrier(None) => "pipe_barrier(PIPE_ALL);".to_string(),
    }
}

/// A condition as `if` and `while` want it. Operators have their parentheses already.
fn in_parentheses(condition: &Condition) -> Cow<'_, str> {
    match condition.enclosed {
        true => Cow::Borrowed(&condition.text),
        false => Cow::Owned(format!("({})", condition.text)),
    }
}
