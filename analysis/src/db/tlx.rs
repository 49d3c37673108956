//! TLX in the database: which functions are kernels of it, and what such a kernel has more than one of Triton.

use std::collections::BTreeSet;

use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Expr, ExprId, Stmt};

use tilefit_gpu::device::Space;
use tilefit_gpu::plan::{MemoryPlan, Planned, Total};
use tilefit_gpu::scenario::Call;
use tilefit_gpu::tensor_memory::requested_columns;
use tilefit_gpu::tlx::kernel::Pair;
use tilefit_gpu::tlx::language;
use tilefit_gpu::tlx::{self, Rules};
use tilefit_python::eval::{Constant, Scope};
use tilefit_python::finding::{Finding, Reason};

use super::jit::{is_jit, jit_functions};
use super::modules::module_called;
use super::reexports::imports;
use super::scenarios::calls_in;
use super::scope::{UnitScope, imported};
use super::statements::defined;
use super::{Name, SourceFile, Unit, syntax};

/// What a kernel of TLX has more: storage alias specs, the buffers in them, and what the compiler makes of those before it gives out memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TlxPart {
    pub(crate) kernel: tlx::Kernel,
    pub(crate) plan: tlx::Plan,
}

impl TlxPart {
    /// The memory is given out by the rules of the design document, which no compiler follows.
    pub(crate) fn is_by_seed(&self) -> bool {
        self.plan.rules == Rules::Seed
    }

    /// By those rules: allocations lie one after the other.
    pub(super) fn planned(&self) -> Planned {
        let plan = &self.plan;
        let total = |low| Total { low, high: self.is_exact().then_some(low), reasons: plan.unknown.clone() };
        let (shared, tensor) = (total(plan.smem), total(requested_columns(plan.tmem)));
        let plan = MemoryPlan::of_gpu(shared, tensor, Vec::new());
        Planned { plan, hidden: Vec::new(), sites: Vec::new() }
    }

    /// What the allocator gives out, with what is known here alone; buffers that it has the sizes of are no longer unknown.
    pub(super) fn completed(&mut self, mut planned: Planned) -> Planned {
        if planned.plan.total(Space::Shared).high.is_some() {
            self.plan.count_layouts(&self.kernel);
        }
        // A product over two CTAs may halve the columns of its accumulator, and gives the left side twice as many rows.
        if self.kernel.buffers.iter().any(|buffer| buffer.pair != Pair::None) {
            let columns = requested_columns(self.plan.tmem);
            planned.plan.update(Space::Tensor, |tensor| {
                tensor.low = tensor.low.min(columns);
                tensor.high = tensor.high.map(|high| high.max(columns));
                let reason = "where a product over two CTAs has its sides in tensor memory is not modelled";
                tensor.reasons.push(Reason::new(reason));
            });
        }
        planned
    }

    /// All of its specs and buffers are known.
    pub(crate) fn is_exact(&self) -> bool {
        self.plan.is_exact(&self.kernel)
    }

    pub(super) fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.kernel.findings.iter().chain(&self.plan.findings)
    }

    /// Why it is not exact.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = &Reason> {
        self.kernel.notes.iter().map(|note| &note.reason).chain(&self.plan.unknown)
    }
}

/// The parameters on which memory may depend.
pub(super) fn relevant_params<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> BTreeSet<String> {
    let scope = UnitScope::new(db, unit);
    let (ast, imports) = (syntax(db, unit), imports(db, unit.file(db)));
    let helps = |name: &str| scope.function(name).is_some_and(|source| tlx::mentions_tlx(&source.ast, imports));
    tlx::relevant_params(ast, imports, &helps)
}

/// True for jit functions that take memory, themselves or through the functions that they call.
#[salsa::tracked(returns(copy), cycle_initial = does_not_allocate)]
fn allocates<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let file = unit.file(db);
    if !is_jit(db, unit) {
        return false;
    }
    let through = |call: &Call| jit_functions(db, file).get(&call.callee).is_some_and(|&callee| allocates(db, callee));
    tlx::mentions_allocation(syntax(db, unit), imports(db, file))
        || calls_in(db, unit).iter().any(through)
        || calls_elsewhere(db, unit).next().is_some()
}

/// True for functions that have memory of their own to show. One that only calls a kernel is a launcher of it.
pub(super) fn is_kernel<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let imports = imports(db, unit.file(db));
    let works_on_memory = || language::has_tlx(imports) && tlx::mentions_tlx(syntax(db, unit), imports);
    let is_kernel = allocates(db, unit) && (works_on_memory() || keeps_what_is_allocated(db, unit));
    is_kernel || has_tasks_or_scenario(db, unit)
}

/// True for functions of TLX without buffers of their own whose memory is asked for, or who hand arguments to tasks through it.
fn has_tasks_or_scenario<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let asks = || ["async_task", "# tilefit:"].iter().any(|word| unit.source(db).text.contains(word));
    is_jit(db, unit)
        && asks()
        && language::has_tlx(imports(db, unit.file(db)))
        && tlx::mentions_tlx(syntax(db, unit), imports(db, unit.file(db)))
}

/// True where a function takes what another one allocates for it.
fn keeps_what_is_allocated<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let ast = syntax(db, unit);
    let is_dropped = |call: ExprId| ast.stmts().any(|(_, stmt)| matches!(stmt, Stmt::Expr(expr) if *expr == call));
    let here = jit_functions(db, unit.file(db));
    let allocated_here = ast.exprs().filter(|(_, expr)| match expr {
        Expr::Call { func, .. } => {
            let callee = ast.name(*func).and_then(|name| here.get(name));
            callee.is_some_and(|&callee| callee != unit && allocates(db, callee))
        }
        _ => false,
    });
    let mut allocated = allocated_here.map(|(call, _)| call).chain(calls_elsewhere(db, unit));
    allocated.any(|call| !is_dropped(call))
}

/// The calls of functions of other files that take memory.
fn calls_elsewhere<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> impl Iterator<Item = ExprId> {
    let (ast, file) = (syntax(db, unit), unit.file(db));
    let callee = move |func: ExprId| match *ast.dotted(func)? {
        [name] => imported(db, file, Name::new(db, name.to_owned()), Default::default()),
        [module, name] => {
            let source = module_called(db, file, Name::new(db, module.to_owned()))?;
            defined(db, source, name, BlockKind::Function)
        }
        _ => None,
    };
    ast.exprs().filter_map(move |(call, expr)| match expr {
        Expr::Call { func, .. } => callee(*func).filter(|&callee| allocates(db, callee)).map(|_| call),
        _ => None,
    })
}

fn does_not_allocate<'db>(_: &'db dyn salsa::Database, _: salsa::Id, _: Unit<'db>) -> bool {
    false
}

/// The value of a name around a function.
pub(crate) fn module_constant<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, name: &str) -> Option<Constant> {
    UnitScope::new(db, unit).constant(name)
}

/// Whether a decorator makes a kernel of TLX of a function.
pub(crate) fn is_tlx_decorator(db: &dyn salsa::Database, file: SourceFile, path: &[&str]) -> bool {
    let imports = imports(db, file);
    language::has_tlx(imports) && language::canonical(imports, path).as_deref() == Some("triton.jit")
}

/// A dotted name of TLX's or Triton's under the usual names of their modules.
pub(crate) fn tlx_name(db: &dyn salsa::Database, file: SourceFile, path: &[&str]) -> Option<String> {
    language::canonical(imports(db, file), path)
}
