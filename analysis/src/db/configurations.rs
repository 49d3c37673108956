//! The memory of a kernel in every configuration, on each device that the author asks about.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Expr, ExprId, Stmt};

use tilefit_gpu::device::Arch;
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_python::eval::{self, Constant};

use super::memory_usage::{Estimate, MemoryUsage};
use super::possible::Surveying;
use super::scenario_tables::usage_of_each;
use super::scenarios::{scenarios_on, tuner, tuning};
use super::scope::UnitScope;
use super::statements::{defined, statements_of};
use super::triton::{relevant_params, triton_kernel};
use super::{Unit, config, syntax};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Configurations {
    /// The kernel's own first.
    pub(crate) devices: Vec<Arch>,
    pub(crate) rows: Vec<Configuration>,
    /// The row that the plan and its errors are of.
    pub(crate) selected: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Configuration {
    pub(crate) scenario: Scenario,
    /// By device; `None`: it is not launched there, or too many others came before.
    pub(crate) cells: Vec<Option<MemoryUsage>>,
    /// By device: whether host code that runs there launches it.
    pub(crate) is_launched: Vec<bool>,
    /// Each way to give what the configuration leaves open, where that makes a difference; none is written in the file.
    pub(crate) ways: Vec<Configuration>,
}

/// `None` for what is no kernel of a GPU.
#[salsa::tracked(returns(ref))]
pub(crate) fn configurations_of<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Arc<Configurations>> {
    let kernel = triton_kernel(db, unit).as_ref()?;
    let surveying = Surveying::new(db, unit, kernel.dialect);
    let usage = |scenario: &Scenario| surveying.estimate(scenario);
    let relevant = relevant_params(db, unit, kernel.dialect);
    let own = kernel.traced.arch;
    Some(on_devices(db, unit, own, kernel.selected, &|scenarios| {
        surveying.starts_again();
        usage_of_each(db, scenarios, relevant.as_ref(), &usage)
    }))
}

/// The configurations that stand one by one at a kernel, each with the rows that it leads to.
pub(crate) fn written_configurations<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Vec<(ExprId, Vec<usize>)> {
    let list = configuration_list(db, unit).filter(|list| list.unit == unit && !list.is_comprehension);
    list.map_or_else(Vec::new, |list| rows_of_list(db, unit, &list))
}

/// The list of the configurations of a kernel, where it is written in the file of the kernel.
pub(crate) struct ConfigurationList<'db> {
    pub(crate) unit: Unit<'db>,
    /// The expressions that make configurations: each one, or in a comprehension all.
    pub(crate) made: Vec<ExprId>,
    is_comprehension: bool,
}

/// The list at the decorator, under the name that it is given there, or that the function returns which is called there.
pub(crate) fn configuration_list<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<ConfigurationList<'db>> {
    let (at, tuner) = tuner(db, unit)?;
    let (kernel, mut unit, mut list) = (unit, at, tuner.configs()?);
    // A name may be another one's, and no chain of them is longer.
    for _ in 0..4 {
        let ast = syntax(db, unit);
        let made = match ast.expr(list) {
            Expr::List(made) | Expr::Tuple(made) => made.clone(),
            Expr::Comprehension { element, .. } => vec![*element],
            _ => {
                let chosen = || Some((unit, scenario::chosen_from(ast, list, &UnitScope::new(db, unit))?.0));
                (unit, list) = leads_to(db, (kernel, unit), list).or_else(chosen)?;
                continue;
            }
        };
        let is_comprehension = matches!(ast.expr(list), Expr::Comprehension { .. });
        return Some(ConfigurationList { unit, made, is_comprehension });
    }
    None
}

/// The expression that a name is given, or that a call returns. A decorator of the kernel sees no names of the kernel.
fn leads_to<'db>(
    db: &'db dyn salsa::Database,
    (kernel, unit): (Unit<'db>, Unit<'db>),
    expr: ExprId,
) -> Option<(Unit<'db>, ExprId)> {
    let ast = syntax(db, unit);
    match ast.expr(expr) {
        Expr::Name(name) => {
            let is_inside = unit != kernel && unit.key(db).kind == BlockKind::Function;
            let own = is_inside.then_some(unit).into_iter();
            let all = own.chain(statements_of(db, unit.file(db), None).iter().copied());
            let assigned = all.flat_map(|unit| syntax(db, unit).stmts().map(move |(_, stmt)| (unit, stmt)));
            let mut assigned = assigned.filter_map(|(unit, stmt)| match stmt {
                Stmt::Assign { targets, value: Some(value), .. } => {
                    let is_it = |target: &ExprId| syntax(db, unit).name(*target) == Some(name);
                    targets.iter().any(is_it).then_some((unit, *value))
                }
                _ => None,
            });
            let only = assigned.next()?;
            assigned.next().is_none().then_some(only)
        }
        Expr::Call { func, .. } => {
            let name = ast.name(*func)?;
            let function = defined(db, unit.file(db), name, BlockKind::Function)?;
            let of_function = syntax(db, function);
            let returned = of_function.stmts().filter_map(|(_, stmt)| match stmt {
                Stmt::Return(value) => *value,
                _ => None,
            });
            let returned: Vec<ExprId> = returned.collect();
            let only = match returned.as_slice() {
                [only] => *only,
                // Of several the one that it returns here.
                several => {
                    let (here, there) = (UnitScope::new(db, unit), UnitScope::new(db, function));
                    let value = eval::evaluate(ast, expr, &here);
                    let is_it = |&&it: &&ExprId| eval::evaluate(of_function, it, &there) == value;
                    *several.iter().find(is_it).filter(|_| !matches!(value, Constant::Unknown(_)))?
                }
            };
            Some((function, only))
        }
        _ => None,
    }
}

/// Each expression of a list with the rows that it leads to.
pub(crate) fn rows_of_list<'db>(
    db: &'db dyn salsa::Database,
    kernel: Unit<'db>,
    list: &ConfigurationList<'db>,
) -> Vec<(ExprId, Vec<usize>)> {
    let known = tuning(db, kernel).as_ref().and_then(|tuning| tuning.configurations.as_ref().ok());
    let known = known.map_or(&[][..], Vec::as_slice);
    let Some(table) = configurations_of(db, kernel) else { return Vec::new() };
    let rows_of = |configs: &[Scenario]| {
        let rows = table.rows.iter().enumerate();
        let rows = rows.filter(|(_, row)| configs.iter().any(|config| config.is_part_of(&row.scenario)));
        rows.map(|(nth, _)| nth).collect()
    };
    match list.made.as_slice() {
        [all] if list.is_comprehension => vec![(*all, rows_of(known))],
        made if made.len() == known.len() => {
            made.iter().zip(known).map(|(at, config)| (*at, rows_of(std::slice::from_ref(config)))).collect()
        }
        _ => Vec::new(),
    }
}

/// Ways to give what configurations leave open that a table has rows for, over all of its configurations.
const MOST_WAYS: usize = 128;

/// `each`: the kernel's memory under each of some scenarios of one device.
fn on_devices<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    own: Arch,
    selected: usize,
    each: &dyn Fn(&[Scenario]) -> Vec<Estimate>,
) -> Arc<Configurations> {
    let mut devices = vec![own];
    // A kernel for NPUs is for no GPU.
    let others = config(db).devices.iter().copied().filter(|device| device.is_npu() == own.is_npu());
    devices.extend(others.filter(|&device| device != own));
    let of_device = |device: Arch| match scenarios_on(db, unit, device).as_slice() {
        [] => vec![Scenario::default()],
        scenarios => scenarios.to_vec(),
    };
    // Host code may launch something else on each device.
    let mut rows: Vec<Scenario> = of_device(own);
    let columns = devices.iter().map(|&device| {
        let there = of_device(device);
        let estimates = each(&there.iter().map(|it| Scenario { arch: Some(device), ..it.clone() }).collect::<Vec<_>>());
        let mut column: FxHashMap<usize, Option<Estimate>> = FxHashMap::default();
        let estimates = estimates.into_iter().map(Some).chain(std::iter::repeat(None));
        for (scenario, estimate) in there.into_iter().zip(estimates) {
            let at = rows.iter().position(|row| *row == scenario).unwrap_or_else(|| {
                rows.push(scenario);
                rows.len() - 1
            });
            column.insert(at, estimate);
        }
        column
    });
    let columns: Vec<FxHashMap<usize, Option<Estimate>>> = columns.collect();
    let mut more = MOST_WAYS;
    let rows = rows.into_iter().enumerate().map(|(nth, scenario)| {
        let of_row: Vec<Option<&Estimate>> = columns.iter().map(|column| column.get(&nth)?.as_ref()).collect();
        let is_launched: Vec<bool> = columns.iter().map(|column| column.contains_key(&nth)).collect();
        let cells = of_row.iter().map(|estimate| Some(estimate.as_ref()?.usage.clone())).collect();
        // On another device there may have been time for others.
        let mut tried: Vec<&Scenario> = Vec::new();
        for (way, _) in of_row.iter().flatten().flat_map(|estimate| &estimate.ways) {
            if tried.len() < more && !tried.iter().any(|other| is_same_way(other, way)) {
                tried.push(way);
            }
        }
        more -= tried.len();
        let ways = tried.into_iter().map(|way| {
            let cell = |estimate: &Option<&Estimate>| {
                let mut ways = estimate.as_ref()?.ways.iter();
                Some(ways.find(|(other, _)| is_same_way(other, way))?.1.clone())
            };
            let scenario = Scenario { arch: scenario.arch, ..way.clone() };
            let cells = of_row.iter().map(cell).collect();
            Configuration { scenario, cells, is_launched: is_launched.clone(), ways: Vec::new() }
        });
        let ways = ways.collect();
        Configuration { scenario, cells, is_launched, ways }
    });
    Arc::new(Configurations { devices, rows: rows.collect(), selected })
}

fn is_same_way(one: &Scenario, other: &Scenario) -> bool {
    one.values == other.values && one.num_warps == other.num_warps
}
