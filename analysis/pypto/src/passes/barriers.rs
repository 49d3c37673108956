//! Whether a hard `pl.system.syncall` can complete (`verify_hard_syncall_occupancy.cpp`): it waits for every core of its kind, so that the
//! launch has to fill them all, at once.

use tilefit_python::diagnostics::Code;

use crate::ir::{Attr, AttrName, Blocks, Call, Kernel, KernelKind, Launch, Rejection, visit};
use crate::ops::{BarrierMode, CoreType, OpId};
use crate::target::Target;

/// The parts of one kernel: a cube and a vector kernel are launched together.
pub(super) fn check(parts: &mut [&mut Kernel], target: Target) {
    let is_mixed = parts.len() > 1;
    // Of a mixed kernel that could not be divided it is not known which cores it runs on.
    for part in parts.iter_mut().filter(|part| part.kind != KernelKind::InCore) {
        let Some(launch) = part.cross_core.launch else { continue };
        let mut found = Vec::new();
        visit::statements(&part.body, &mut |stmt| {
            let barrier = visit::call_of(stmt).filter(|call| {
                let is_soft = call.attr(AttrName::Mode) == Some(&Attr::BarrierMode(BarrierMode::Soft));
                call.op == OpId::SYNCALL && !is_soft
            });
            found.extend(
                barrier.and_then(|call| Some((call.origin, refused(call, part.kind, is_mixed, launch, target)?))),
            );
        });
        if is_mixed {
            found.truncate(1);
        }
        let is_found = !found.is_empty();
        part.rejections.extend(found.into_iter().map(|(at, message)| Rejection::new(at, Code::Rejected, message)));
        if is_found {
            return;
        }
    }
}

fn refused(call: &Call, kind: KernelKind, is_mixed: bool, launch: Launch, target: Target) -> Option<String> {
    let core_type = match call.attr(AttrName::CoreType) {
        Some(Attr::Str(unknown)) => unknown,
        _ => call.core_type().unwrap_or(CoreType::Mix).name(),
    };
    let (needed, all, who) = match kind {
        KernelKind::Aiv if !is_mixed => (target.vector_units(), Blocks::EveryVectorUnit, "vector units"),
        _ => (target.cubes(), Blocks::EveryCube, "cubes"),
    };
    let own = match kind {
        KernelKind::Aiv => CoreType::AivOnly,
        _ => CoreType::AicOnly,
    };
    if !is_mixed && call.core_type() != Some(own) {
        let own = own.name();
        return Some(format!(
            "`pl.system.syncall(core_type=\"{core_type}\")` waits for cores that this kernel does not launch (it runs on {who} only), so it never completes; use `core_type=\"{own}\"`"
        ));
    }
    if launch.blocks != all && launch.blocks != Blocks::Known(needed) {
        let launched = match launch.blocks {
            Blocks::Known(blocks) => format!("{blocks} blocks"),
            Blocks::EveryCube => "one for each cube".to_owned(),
            Blocks::EveryVectorUnit => "one for each vector unit".to_owned(),
        };
        return Some(format!(
            "a hard `pl.system.syncall` waits for all {needed} {who} of the chip, but `pl.spmd` launches {launched}, so it never completes; launch {needed}, or use `mode=\"soft\"`"
        ));
    }
    (!launch.at_once).then(|| {
        "a hard `pl.system.syncall` needs all blocks to run at the same time, otherwise the first ones wait for blocks that have not started; add `sync_start=True` to `pl.spmd`, or use `mode=\"soft\"`".to_owned()
    })
}
