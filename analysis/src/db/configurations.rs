//! What every configuration of a kernel comes to, on each device that the author asks about.

use std::collections::BTreeSet;
use std::sync::Arc;

use tilefit_syntax::ast::ExprId;

use crate::triton::device::Arch;
use crate::triton::scenario::{self, Scenario};

use super::jit::{jit_came_to, jit_kernel};
use super::scenario_tables::{CameTo, came_to_each};
use super::scenarios::{imports, scenarios};
use super::tlx::{relevant_params, tlx_came_to, tlx_kernel};
use super::{Unit, UnitScope, config, syntax};

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
    /// By device; `None`: too many others came before.
    pub(crate) cells: Vec<Option<CameTo>>,
}

/// `None` for what is no kernel of a GPU.
#[salsa::tracked(returns(ref))]
pub(crate) fn configurations_of<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Arc<Configurations>> {
    if let Some(kernel) = tlx_kernel(db, unit) {
        let relevant = relevant_params(db, unit);
        let came_to = |scenario: &Scenario| tlx_came_to(db, unit, scenario);
        return Some(on_devices(db, unit, kernel.plan.arch, kernel.selected, Some(&relevant), &came_to));
    }
    let kernel = jit_kernel(db, unit).as_ref()?;
    let came_to = |scenario: &Scenario| jit_came_to(db, unit, kernel.dialect, scenario);
    Some(on_devices(db, unit, kernel.traced.arch, 0, None, &came_to))
}

/// The configurations that stand one by one at a kernel, each with the rows that it leads to.
pub(crate) fn written_configurations<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Vec<(ExprId, Vec<usize>)> {
    let (ast, imports) = (syntax(db, unit), imports(db, unit.file(db)));
    let written = scenario::written_configurations(ast, imports);
    if written.is_empty() {
        return Vec::new();
    }
    let known =
        scenario::configurations(ast, imports, &UnitScope::new(db, unit)).and_then(Result::ok).unwrap_or_default();
    let Some(table) = configurations_of(db, unit).as_ref().filter(|_| known.len() == written.len()) else {
        return Vec::new();
    };
    let rows_of = |config: &Scenario| {
        let rows = table.rows.iter().enumerate().filter(|(_, row)| config.is_part_of(&row.scenario));
        rows.map(|(nth, _)| nth).collect()
    };
    written.into_iter().zip(&known).map(|(at, config)| (at, rows_of(config))).collect()
}

fn on_devices<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    own: Arch,
    selected: usize,
    relevant: Option<&BTreeSet<String>>,
    came_to: &dyn Fn(&Scenario) -> Option<CameTo>,
) -> Arc<Configurations> {
    let mut devices = vec![own];
    devices.extend(config(db).devices.iter().copied().filter(|&device| device != own));
    let mut scenarios: Vec<Scenario> = scenarios(db, unit).to_vec();
    if scenarios.is_empty() {
        scenarios.push(Scenario::default());
    }
    let on = |device: Arch| {
        let there = scenarios.iter().map(|scenario| Scenario { arch: Some(device), ..scenario.clone() });
        let there: Vec<Scenario> = there.collect();
        came_to_each(db, &there, relevant, came_to)
    };
    let columns: Vec<Vec<CameTo>> = devices.iter().map(|&device| on(device)).collect();
    let rows = scenarios.into_iter().enumerate().map(|(nth, scenario)| {
        let cells = columns.iter().map(|column| column.get(nth).copied()).collect();
        Configuration { scenario, cells }
    });
    Arc::new(Configurations { devices, rows: rows.collect(), selected })
}
