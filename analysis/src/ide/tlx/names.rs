//! What a name in a TLX kernel refers to, and what shares its memory.

use tilefit_gpu::tlx::footprint::Owner;
use tilefit_gpu::tlx::{BufferId, SpecId};
use tilefit_syntax::TextRange;

use crate::db::TlxPart;
use crate::ide::{Context, PlacedUnit};

pub(super) struct Named<'a> {
    pub(super) range: TextRange,
    pub(super) name: &'a str,
    pub(super) what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Buffer(BufferId),
    Spec(SpecId),
    Other,
}

/// The name around a byte offset.
pub(super) fn at<'db>(
    context: &Context<'db>,
    placed: &PlacedUnit<'db>,
    tlx: &TlxPart,
    offset: usize,
) -> Option<Named<'db>> {
    let (range, name) = context.name_at(placed, offset)?;
    let kernel = &tlx.kernel;
    // Of several of one name: the last that is bound before, else the first.
    let latest = |candidates: Vec<(usize, TextRange)>| {
        let before = candidates.iter().rev().find(|(_, at)| at.start <= range.start);
        before.or(candidates.first()).map(|&(index, _)| index as u32)
    };
    let bound = |named: &str, at| (named == name).then(|| placed.range(at));
    let buffers = kernel.buffers.iter().enumerate();
    let buffers = buffers.filter_map(|(i, buffer)| Some((i, bound(&buffer.name, buffer.name_at)?))).collect();
    let specs = kernel.specs.iter().enumerate();
    let specs = specs.filter_map(|(i, spec)| Some((i, bound(&spec.name, spec.name_at)?))).collect();
    let what = match (latest(buffers), latest(specs)) {
        (Some(buffer), _) => What::Buffer(BufferId(buffer)),
        (None, Some(spec)) => What::Spec(SpecId(spec)),
        (None, None) => What::Other,
    };
    Some(Named { range, name, what })
}

/// Where the spec and the buffers are bound that share memory with the one at a byte offset, itself included.
pub(in crate::ide) fn sharing<'db>(
    context: &Context<'db>,
    placed: &PlacedUnit<'db>,
    tlx: &TlxPart,
    offset: usize,
) -> Vec<TextRange> {
    let kernel = &tlx.kernel;
    let owner = match at(context, placed, tlx, offset).map(|named| named.what) {
        Some(What::Buffer(id)) => tlx.plan.owner(kernel, id),
        Some(What::Spec(id)) => Some(Owner::Spec(id)),
        _ => None,
    };
    let Some(owner) = owner else { return Vec::new() };
    let spec = match owner {
        Owner::Spec(id) => Some(kernel.spec(id).name_at),
        Owner::Buffer(_) => None,
    };
    let members = kernel.buffer_ids().filter(|&id| tlx.plan.owner(kernel, id) == Some(owner));
    let mut ranges: Vec<_> =
        spec.into_iter().chain(members.map(|id| kernel.buffer(id).name_at)).map(|at| placed.range(at)).collect();
    ranges.sort_unstable();
    ranges.dedup();
    ranges
}

/// What a name is, beside it in completions.
pub(in crate::ide) fn described(tlx: &TlxPart, name: &str) -> Option<String> {
    if let Some(spec) = tlx.kernel.specs.iter().find(|spec| spec.name == name) {
        let storage = spec.storage.as_ref().map_or("?", |storage| storage.name());
        return Some(format!("storage alias spec in {storage}"));
    }
    let (id, _) = tlx.kernel.buffer_ids().map(|id| (id, tlx.kernel.buffer(id))).find(|(_, it)| it.name == name)?;
    let sized = &tlx.plan.place(id)?.sized;
    Some(format!("{} × {:?} {} in {}", sized.num, sized.shape, sized.dtype, sized.storage))
}
