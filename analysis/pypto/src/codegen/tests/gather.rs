//! Elements by index.

use tilefit_python::element::Dtype;

use super::fixture::{Fixture, tile_type};
use crate::codegen::generate;
use crate::ir::{Operand, Role};
use crate::target::{Space, Target};

/// What is said of a gather by such indices.
fn said(target: Target, indices: Dtype) -> Vec<String> {
    let mut f = Fixture::new("gather");
    f.plan.target = target;
    let tile = |f: &mut Fixture, name: &str, dtype, at| {
        f.tile(name, tile_type(Space::Vec, &[16, 64], dtype), Some(at), Role::Def)
    };
    let (src, index) = (tile(&mut f, "src", Dtype::Fp16, 0), tile(&mut f, "index", indices, 0x1000));
    let (tmp, out) = (tile(&mut f, "tmp", indices, 0x2000), tile(&mut f, "out", Dtype::Fp16, 0x3000));
    f.kernel.body = vec![f.set(out, "tile.gather", [src, index, tmp].map(Operand::Var).to_vec())];
    let generated = generate(&f.kernel, &f.plan);
    assert_eq!(generated.text.contains("TGATHER(out, src, index, tmp);"), generated.findings.is_empty());
    generated.findings.into_iter().map(|finding| finding.message).collect()
}

#[test]
fn narrow_indices_need_950() {
    let refused = "the indices `index` are INT16, but ascend910b gathers by 32-bit indices";
    assert_eq!(said(Target::Ascend910b, Dtype::Int32), [""; 0]);
    assert_eq!(said(Target::Ascend910b, Dtype::Int16), [refused]);
    assert_eq!(said(Target::Ascend950, Dtype::Int16), [""; 0]);
}
