//! What a value depends on beside the text: how the program runs that asks for it.

use rustc_hash::FxHashSet;

use tilefit_gpu::device::Arch;
use tilefit_gpu::tuned_configurations;

use super::imports::imported_by;
use super::{SourceFile, units};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, salsa::SalsaValue)]
pub(super) struct Program {
    /// The file that it starts from, where that makes a difference.
    pub(super) root: Option<SourceFile>,
    /// The device that its kernels are compiled for, where a file asks for it.
    pub(super) device: Option<Arch>,
}

impl Program {
    /// What matters of it to a file: most ask for no device, and mean the same on each.
    pub(super) fn seen_from(self, db: &dyn salsa::Database, file: SourceFile) -> Program {
        Program { device: self.device.filter(|_| depends_on_device(db, file)), ..self }
    }
}

/// Words of code that asks for the device: what `device_queries` answers, and configurations that each device has of its own.
const ASKING: [&str; 7] = [
    "get_current_target",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    tuned_configurations::FUNCTION,
    "version.cuda",
    "version.hip",
];

/// Whether a file, or one that it imports, asks which device there is.
#[salsa::tracked(returns(copy))]
pub(super) fn depends_on_device(db: &dyn salsa::Database, file: SourceFile) -> bool {
    let mut reached = vec![file];
    let mut seen = FxHashSet::from_iter([file]);
    while let Some(file) = reached.pop() {
        if asks_for_device(db, file) {
            return true;
        }
        reached.extend(imported_by(db, file).iter().copied().filter(|&module| seen.insert(module)));
    }
    false
}

#[salsa::tracked(returns(copy))]
fn asks_for_device(db: &dyn salsa::Database, file: SourceFile) -> bool {
    units(db, file).iter().any(|unit| ASKING.iter().any(|word| unit.source(db).text.contains(word)))
}
