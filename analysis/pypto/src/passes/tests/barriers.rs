use super::kernels;
use crate::ir::{Blocks, KernelKind, Launch};
use crate::passes::barriers;
use crate::target::Target;

/// A kernel that waits for all cores, in a launch that fills them.
fn is_refused(kind: KernelKind, core_type: &str) -> bool {
    let body = format!("pl.system.syncall(core_type=\"{core_type}\")");
    let mut kernel = kernels(&body, Target::Ascend910b).remove(0);
    kernel.kind = kind;
    kernel.cross_core.launch = Some(Launch { blocks: Blocks::EveryCube, at_once: true });
    barriers::check(&mut [&mut kernel], Target::Ascend910b);
    !kernel.rejections.is_empty()
}

#[test]
fn a_cube_kernel_waits_for_cubes_only() {
    assert!(!is_refused(KernelKind::Aic, "aic_only"));
    assert!(is_refused(KernelKind::Aic, "mix"));
}

#[test]
fn nothing_is_said_of_a_kernel_that_could_not_be_divided() {
    assert!(!is_refused(KernelKind::InCore, "mix"));
}
