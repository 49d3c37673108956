//! Kernels of TileLang in the database: their memory as that of any kernel of a GPU.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tilefit_gpu::assumed::Assumed;
use tilefit_gpu::device::Arch;
use tilefit_gpu::language::Dtype;
use tilefit_gpu::live_ranges::{Hidden, Scratched};
use tilefit_gpu::liveness::LiveRange;
use tilefit_gpu::plan::{self as gpu_plan, MemoryPlan, Planned};
use tilefit_gpu::program::{self as gpu_program, Bytes, Memory, Program, Scratch, ScratchId, Site, Use};
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_python::eval::Constant;
use tilefit_python::finding::{Example, Finding, Node, Note, Origin, Reason, Remedy};
use tilefit_python::torch::{Known, Tensor};
use tilefit_python::work::{self, Failure, Limits, within};
use tilefit_syntax::ast::{Ast, ExprId, Function, Stmt};
use tilefit_tilelang::plan::{LiveRange as Lived, Occupant, Plan, plan};
use tilefit_tilelang::program::{BufferId, Extent, Launch, Scope as Memories};
use tilefit_tilelang::target::Target;
use tilefit_tilelang::trace::{self, Environment, Home, Traced};
use tilefit_tilelang::{dtypes, words};

use super::devices::device_of_others;
use super::gpu::TracedKernel;
use super::reexports::has_unknown_star;
use super::surroundings::{Meant, Surroundings};
use super::tilelang_names::full_path;
use super::{Unit, syntax};

/// The kernel that a unit is under a scenario.
pub(super) fn traced<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    scenario: &Scenario,
    arch: Arch,
    limits: Limits,
) -> Option<TracedKernel> {
    let ast = syntax(db, unit);
    let function = scenario::function(ast)?;
    let arguments = arguments(ast, function, scenario);
    let around = Surroundings::new(db, unit, arch);
    let mut large = Vec::new();
    let followed = within(limits, || {
        let mut kernel = Followed::for_gpus(ast, &around, &arguments, arch);
        if let Some((names, mut sized)) = kernel.with_large_sizes(ast, &around, &arguments, arch) {
            // No error rests on them.
            sized.traced.mistakes = kernel.traced.mistakes;
            let is_said = |finding: &_| kernel.plans.iter().any(|plan| plan.findings.contains(finding));
            for plan in &mut sized.plans {
                plan.findings.retain(|finding| !finding.is_refusal() || is_said(finding));
            }
            kernel = sized;
            large = names;
        }
        (kernel, work::taken())
    });
    let device = if scenario.arch.is_some() { None } else { device_of_others(db, unit.file(db)).1 };
    let device = device.filter(|it| matches!(it, Assumed::Device(taken, _) if *taken == arch));
    let assumed = device.into_iter().chain(large.into_iter().map(Assumed::Large)).collect();
    let kernel = match followed {
        Ok((Followed { traced, plans }, steps)) => {
            let kernel = Converted { ast, traced, plans, name: function.name };
            let planned =
                kernel.largest().map(|nth| kernel.of_launch(&kernel.traced.launches[nth], &kernel.plans[nth]));
            let of_plans = kernel.findings_of_plans();
            kernel.kernel(planned, of_plans, arch, steps)
        }
        Err(failure) => too_large(&failure, ast, function.name, arch, limits),
    };
    Some(TracedKernel { assumed, planner: Some(tilefit_tilelang::COMPILER), ..kernel })
}

/// What the function is given under a scenario.
pub(super) fn arguments(ast: &Ast, function: &Function, scenario: &Scenario) -> BTreeMap<String, Constant> {
    let open = scenario.possible.keys().map(|name| (name.clone(), given_something(ast, function, name)));
    let known = scenario.values.iter().map(|(name, (value, _))| (name.clone(), as_argument(value)));
    open.chain(known).collect()
}

pub(super) fn too_large(failure: &Failure, ast: &Ast, name: ExprId, arch: Arch, limits: Limits) -> TracedKernel {
    let finding = failure.finding(ast.name(name).unwrap_or_default(), Origin::Expr(name));
    let plan = MemoryPlan::unknown(arch, &[Reason::new("the kernel is too large to be analysed")]);
    let planned = Planned { plan, hidden: Vec::new(), sites: Vec::new() };
    let kernel = TracedKernel::of(Origin::Expr(name), Program::default(), planned, arch);
    TracedKernel { findings: vec![finding], is_planned: false, steps: limits.steps, ..kernel }
}

/// A kernel under some arguments, and the plans of its launches.
pub(super) struct Followed<P> {
    pub(super) traced: Traced,
    pub(super) plans: Vec<P>,
}

impl<P> Followed<P> {
    pub(super) fn with(
        ast: &Arc<Ast>,
        around: &Surroundings<'_>,
        arguments: &BTreeMap<String, Constant>,
        plan: impl Fn(&Launch) -> P,
    ) -> Followed<P> {
        let traced = trace::follow(ast, around, arguments);
        let plans = traced.launches.iter().map(plan).collect();
        Followed { traced, plans }
    }
}

/// Values of sizes that nothing gives; what is the same under both depends on neither.
const LARGE: [i64; 2] = [4096, 12288];
/// Sizes that are found to be missing once others have values.
const MOST_LARGE: usize = 8;

impl Followed<Plan> {
    fn for_gpus(ast: &Arc<Ast>, around: &Surroundings<'_>, arguments: &BTreeMap<String, Constant>, arch: Arch) -> Self {
        Followed::with(ast, around, arguments, |launch| plan(launch, target(arch)))
    }

    /// The same with large sizes of tensors in place of those that are missing, and their names; `None` where none is, or they matter.
    fn with_large_sizes(
        &self,
        ast: &Arc<Ast>,
        around: &Surroundings<'_>,
        arguments: &BTreeMap<String, Constant>,
        arch: Arch,
    ) -> Option<(Vec<String>, Followed<Plan>)> {
        let mut names: Vec<String> = Vec::new();
        let mut sized: Option<Followed<Plan>> = None;
        loop {
            let needed = &sized.as_ref().unwrap_or(self).traced.needed;
            if needed.is_empty() {
                break;
            }
            let are_sizes = needed.iter().all(|(name, example)| *example == Example::Number && !names.contains(name));
            if !are_sizes || names.len() >= MOST_LARGE {
                return None;
            }
            names.extend(needed.keys().cloned());
            let [one, other] = LARGE.map(|size| {
                let given = names.iter().map(|name| (name.clone(), Constant::Int(size)));
                let all = arguments.clone().into_iter().chain(given).collect();
                Followed::for_gpus(ast, around, &all, arch)
            });
            if one.traced.needed.is_empty() && !are_alike(&one.plans, &other.plans) {
                return None;
            }
            sized = Some(one);
        }
        sized.filter(|it| it.plans.iter().any(|plan| plan.total.exactly().is_some())).map(|it| (names, it))
    }
}

/// Whether plans say the same of memory.
fn are_alike(plans: &[Plan], others: &[Plan]) -> bool {
    let placed = |plan: &Plan| plan.placed.iter().map(|it| (it.what, it.bytes, it.offset)).collect::<Vec<_>>();
    plans.len() == others.len()
        && plans.iter().zip(others).all(|(one, other)| one.total == other.total && placed(one) == placed(other))
}

/// The argument of a call that is not known: it may not be the default.
fn given_something(ast: &Ast, function: &Function, param: &str) -> Constant {
    let declared = function.params.iter().find(|it| ast.name(it.name) == Some(param));
    let example = declared.map_or(Some(Example::Number), |declared| trace::example(ast, declared));
    let remedy = example.map(|example| Remedy::Value {
        param: param.to_owned(),
        example,
        is_number: example == Example::Number,
    });
    let reason = Reason::new(format!("`{param}` is given a value that is not known"));
    Constant::Unknown(reason.with_remedy(remedy))
}

/// A value of the host as the front end takes it: tensors by their shapes, element types by the names that TileLang has for them.
fn as_argument(value: &Constant) -> Constant {
    if let Some(tensor) = value.get::<Tensor<Dtype>>() {
        return tensor.shape.clone().map_or_else(|| value.clone(), Constant::Tuple);
    }
    match value {
        Constant::List(parts) => Constant::List(parts.iter().map(as_argument).collect()),
        Constant::Tuple(parts) => Constant::Tuple(parts.iter().map(as_argument).collect()),
        value => match Dtype::from_constant(value) {
            Some(dtype) => Constant::Member(format!("T.{}", in_tvm(dtype.name))),
            None => value.clone(),
        },
    }
}

/// A value of the host as Python; `None` for what has no text. Tensors are made by a function of the driver's.
pub(super) fn python(value: &Constant) -> Option<String> {
    if value.get::<Tensor<Dtype>>().is_some() {
        let known = Known::<Dtype>::of_constant(value)?;
        return Some(format!("tensor({:?}, {:?})", known.shape, in_tvm(known.dtype.name)));
    }
    let all = |values: &[Constant]| Some(values.iter().map(python).collect::<Option<Vec<_>>>()?.join(", "));
    Some(match as_argument(value) {
        Constant::Int(number) => number.to_string(),
        Constant::Float(number) => format!("{:?}", number.get()),
        Constant::Bool(value) => if value { "True" } else { "False" }.to_owned(),
        Constant::None => "None".to_owned(),
        // A type, as a comment writes it.
        Constant::Str(text) if text.starts_with("T.") => text,
        Constant::Str(text) => format!("{text:?}"),
        Constant::Member(name) => name,
        Constant::List(values) => format!("[{}]", all(&values)?),
        Constant::Tuple(values) if values.is_empty() => "()".to_owned(),
        Constant::Tuple(values) => format!("({},)", all(&values)?),
        _ => return None,
    })
}

/// The name of an element type of Triton's in TVM.
fn in_tvm(name: &str) -> &str {
    const FLOATS: [(&str, &str); 5] = [
        ("float8e4nv", "float8_e4m3fn"),
        ("float8e5", "float8_e5m2"),
        ("float8e4b8", "float8_e4m3fnuz"),
        ("float8e5b16", "float8_e5m2fnuz"),
        ("int1", "bool"),
    ];
    FLOATS.iter().find(|(triton, _)| *triton == name).map_or(name, |(_, tvm)| tvm)
}

fn target(arch: Arch) -> Target {
    let number = arch.capability();
    if arch.is_amd() { Target::Amd { gfx: number } } else { Target::Nvidia { capability: number } }
}

fn not_known(reasons: Vec<Reason>) -> gpu_plan::Total {
    gpu_plan::Total { low: 0, high: None, reasons }
}

/// Of tensor memory, one for each thread of a warp group.
const TENSOR_ROWS: u64 = 128;

/// What following a kernel came to, on its way to what features know of kernels of GPUs.
pub(super) struct Converted<'a, P> {
    pub(super) ast: &'a Ast,
    pub(super) traced: Traced,
    pub(super) plans: Vec<P>,
    /// Of the function.
    pub(super) name: ExprId,
}

impl<P> Converted<'_, P> {
    /// `planned`: the launch that is shown, if there is one.
    pub(super) fn kernel(
        self,
        planned: Option<(Program, Planned)>,
        of_plans: Vec<Finding>,
        arch: Arch,
        steps: u64,
    ) -> TracedKernel {
        let (program, planned) = match planned {
            Some(planned) => planned,
            None => {
                let reasons = match self.traced.unknown.is_empty() {
                    true => vec![Reason::new("no launch is found in it")],
                    false => self.traced.unknown.clone(),
                };
                let plan = MemoryPlan::unknown(arch, &reasons);
                (Program::default(), Planned { plan, hidden: Vec::new(), sites: Vec::new() })
            }
        };
        let findings = self.findings(of_plans);
        let unknown = self.traced.launches.iter().flat_map(|launch| &launch.unknown).chain(&self.traced.unknown);
        let mut notes: Vec<Note> = Vec::new();
        for reason in unknown {
            let note = Note { at: Origin::Expr(self.name), reason: reason.clone() };
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        let kernel = TracedKernel::of(Origin::Expr(self.name), program, planned, arch);
        TracedKernel { findings, notes, functions: self.traced.functions, steps, ..kernel }
    }

    /// The name that is given what an expression makes, by that expression.
    pub(super) fn names(&self) -> FxHashMap<ExprId, ExprId> {
        let assigned = self.ast.stmts().filter_map(|(_, stmt)| match stmt {
            Stmt::Assign { targets, value: Some(value), .. } => match targets.as_slice() {
                [target] => Some((*value, *target)),
                _ => None,
            },
            _ => None,
        });
        assigned.filter(|(_, target)| self.ast.name(*target).is_some()).collect()
    }

    pub(super) fn added(
        &self,
        buffer: &tilefit_tilelang::program::Buffer,
        names: &FxHashMap<ExprId, ExprId>,
        memory: Memory,
        copies: u64,
    ) -> gpu_program::Buffer {
        let name_at = match buffer.at {
            Origin::Expr(expr) => names.get(&expr).map(|&name| Origin::Expr(name)),
            _ => None,
        };
        gpu_program::Buffer {
            name: buffer.name.clone(),
            at: site(buffer.at, self.name),
            name_at,
            shape: buffer.shape.iter().map(|extent| extent.known().unwrap_or(0)).collect(),
            dtype: dtypes::name(&buffer.dtype),
            memory,
            use_: if buffer.scope == Memories::Barrier { Use::Barrier } else { Use::Data },
            copies: copies.max(1),
        }
    }

    /// What a reader is shown of a statement: of a loop what it goes through, without its body.
    fn head(&self, at: Origin) -> Origin {
        let Origin::Stmt(stmt) = at else { return at };
        match self.ast.stmt(stmt) {
            Stmt::For { iter, .. } => Origin::Expr(*iter),
            Stmt::If { condition, .. } | Stmt::While { condition, .. } => Origin::Expr(*condition),
            _ => at,
        }
    }

    fn findings(&self, of_plans: Vec<Finding>) -> Vec<Finding> {
        let mistakes = self.traced.mistakes.iter().map(words::of_mistake);
        let mut all: Vec<Finding> = Vec::new();
        for finding in mistakes.chain(of_plans) {
            let finding = Finding { at: self.head(finding.at), ..finding };
            if !all.contains(&finding) {
                all.push(finding);
            }
        }
        all
    }
}

impl Converted<'_, Plan> {
    /// Of several launches the one that takes most.
    fn largest(&self) -> Option<usize> {
        let total = |plan: &Plan| (plan.total.low, plan.total.high.unwrap_or(u64::MAX));
        (0..self.plans.len()).max_by_key(|&nth| (total(&self.plans[nth]), std::cmp::Reverse(nth)))
    }

    fn findings_of_plans(&self) -> Vec<Finding> {
        let of_plans = self.traced.launches.iter().zip(&self.plans).flat_map(|(launch, plan)| {
            plan.findings.iter().filter_map(|finding| words::of_finding(finding, launch, Origin::Expr(self.name)))
        });
        of_plans.collect()
    }

    fn of_launch(&self, launch: &Launch, plan: &Plan) -> (Program, Planned) {
        let mut program = Program { multiplies: true, ..Program::default() };
        let names = self.names();
        let mut ids: FxHashMap<BufferId, gpu_program::BufferId> = FxHashMap::default();
        let mut placed = Vec::new();
        let mut hidden = Vec::new();
        let mut sites = Sites::default();
        for one in &plan.placed {
            // Of one whose size is not known the total says why.
            let Some(bytes) = one.bytes else { continue };
            let live = sites.add(&one.live);
            let what = match one.what {
                Occupant::Buffer(id) => {
                    let buffer = launch.buffer(id);
                    let memory = shared(bytes, one.alignment);
                    let added = self.added(buffer, &names, memory, one.versions);
                    ids.insert(id, gpu_program::BufferId(program.buffers.len() as u32));
                    program.buffers.push(added);
                    gpu_plan::Occupant::Buffer(ids[&id])
                }
                Occupant::Workspace(at) => {
                    let size = Bytes::Exactly(bytes);
                    program.scratch.push(Scratch { size, only_if_used: false, moves: false });
                    let scratch = ScratchId(program.scratch.len() as u32 - 1);
                    let what = Hidden::Scratch(scratch);
                    hidden.push(Scratched { what, op: "T.reduce", at: site(at, self.name), elsewhere: Vec::new() });
                    gpu_plan::Occupant::Hidden(hidden.len() - 1)
                }
            };
            placed.push(gpu_plan::Placed { what, low: bytes, high: bytes, offset: one.offset, row: 0, live });
        }
        let tensor = self.tensor(launch, plan, &names, (&mut program, &mut placed), sites.end());
        let reasons = plan.reasons.clone();
        let shared = gpu_plan::Total { low: plan.total.low, high: plan.total.high, reasons };
        (program, Planned { plan: MemoryPlan::of_gpu(shared, tensor, placed), hidden, sites: sites.sites(self.name) })
    }

    /// Tensor memory is given for as long as the kernel runs.
    fn tensor(
        &self,
        launch: &Launch,
        plan: &Plan,
        names: &FxHashMap<ExprId, ExprId>,
        (program, placed): (&mut Program, &mut Vec<gpu_plan::Placed>),
        end: u32,
    ) -> gpu_plan::Total {
        let Some(arenas) = &plan.tensor_memory else {
            return not_known(vec![Reason::new("the width of a buffer of tensor memory is not known")]);
        };
        // A tile of 64 rows takes half of the columns, or all.
        let is_whole = |id: BufferId| launch.buffer(id).shape.first().and_then(Extent::known) == Some(TENSOR_ROWS);
        let are_whole = arenas.iter().flat_map(|arena| &arena.buffers).all(|&(id, _)| is_whole(id));
        let mut base = 0_u64;
        for arena in arenas {
            for &(id, column) in arena.buffers.iter().filter(|_| are_whole) {
                let columns = arena.columns.saturating_sub(column);
                let memory = Memory::Tensor { columns, rows: TENSOR_ROWS as u32 };
                program.buffers.push(self.added(launch.buffer(id), names, memory, 1));
                let what = gpu_plan::Occupant::Buffer(gpu_program::BufferId(program.buffers.len() as u32 - 1));
                let offset = Some(base.saturating_add(column));
                let live = LiveRange { start: 0, end };
                placed.push(gpu_plan::Placed { what, low: columns, high: columns, offset, row: 0, live });
            }
            base = base.saturating_add(arena.columns);
        }
        if !are_whole {
            let reason = Reason::new("how tiles that do not have 128 rows lie in tensor memory is not modelled");
            return gpu_plan::Total { low: gpu_plan::LEAST_COLUMNS, high: Some(base), reasons: vec![reason] };
        }
        gpu_plan::Total { low: base, high: Some(base), reasons: Vec::new() }
    }
}

fn shared(bytes: u64, alignment: u64) -> Memory {
    let size = Bytes::Exactly(bytes).clamped();
    Memory::Shared { fork: size.clone(), size, alignment }
}

/// Where something stands. `name`: that of the kernel, for statements, which have no expression; they are told by the call that leads there.
fn site(at: Origin, name: ExprId) -> Site {
    let (function, expr) = match at {
        Origin::Inlined { function, node: Node::Expr(expr), .. } => (function, expr),
        Origin::Inlined { call: expr, .. } | Origin::Expr(expr) => (0, expr),
        Origin::Stmt(_) => (0, name),
    };
    Site { function, expr, call: at }
}

/// The statements of events, by their numbers.
#[derive(Default)]
pub(super) struct Sites(BTreeMap<u32, Origin>);

impl Sites {
    pub(super) fn add(&mut self, live: &Lived) -> LiveRange {
        let (start, end) = (live.start as u32, live.end as u32);
        self.0.entry(start).or_insert(live.first);
        self.0.entry(end.saturating_sub(1)).or_insert(live.last);
        LiveRange { start, end }
    }

    fn end(&self) -> u32 {
        self.0.last_key_value().map_or(1, |(&last, _)| last + 1)
    }

    /// One for each event; those of which no buffer speaks are at the one before.
    pub(super) fn sites(&self, name: ExprId) -> Vec<Site> {
        let at = |event: u32| self.0.range(..=event).next_back().map_or(Origin::Expr(name), |(_, &at)| at);
        (0..self.end()).map(|event| site(at(event), name)).collect()
    }
}

impl Surroundings<'_> {
    /// What is imported of a library is known by its path; TileLang also where its own repository is the workspace.
    fn is_of_library(&self, home: Home, name: &str, is_followed: bool) -> bool {
        let path = self.imports(home.0).and_then(|imports| imports.module_of(name));
        path.is_some_and(|path| !is_followed || path == "tilelang" || path.starts_with("tilelang."))
    }
}

impl Environment for Surroundings<'_> {
    fn definition(&self, home: Home, name: &str) -> Option<trace::Definition> {
        let meant = self.meaning(home.0, name)?;
        let is_followed = !matches!(meant, Meant::Constant(Constant::Unknown(_)));
        if self.is_of_library(home, name, is_followed) { None } else { definition(meant) }
    }

    fn constant(&self, home: Home, name: &str) -> Option<Constant> {
        let value = self.value(home.0, name)?;
        let is_followed = !matches!(value, Constant::Unknown(_));
        (!self.is_of_library(home, name, is_followed)).then_some(value)
    }

    fn member(&self, home: Home, module: &str, name: &str) -> Option<trace::Definition> {
        self.of_module(home.0, module, name).and_then(definition)
    }

    fn canonical(&self, home: Home, path: &[&str]) -> Option<String> {
        full_path(self.imports(home.0)?, path)
    }

    fn is_for_npus(&self) -> bool {
        self.device().is_npu()
    }

    fn is_open(&self, home: Home) -> bool {
        self.file(home.0).is_some_and(|(db, file)| has_unknown_star(db, file))
    }
}

fn definition(meant: Meant) -> Option<trace::Definition> {
    let unknown = |what: &str| trace::Definition::Constant(Constant::Unknown(Reason::new(what)));
    Some(match meant {
        Meant::Function { ast, key, home } => trace::Definition::Function { ast, key: Some(key), home: Home(home) },
        Meant::Class { .. } => unknown("a class of Python is not followed"),
        Meant::Expression { ast, expr, element, home } => {
            trace::Definition::Expression { ast, expr, element, home: Home(home) }
        }
        Meant::Constant(constant) => trace::Definition::Constant(constant),
        Meant::Module => trace::Definition::Module,
    })
}
