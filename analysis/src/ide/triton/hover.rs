//! What is known of a name in a kernel of Triton, Gluon or TLX.

use tilefit_gpu::assumed;
use tilefit_gpu::plan::Occupant;
use tilefit_python::finding::Origin;
use tilefit_syntax::TextRange;

use crate::db::{self, Dialect, TracedKernel, TritonKernel};
use crate::ide::gpu::hover::{assumptions, occupancy, place, sharers};
use crate::ide::gpu::{placed_at, scenarios, title};
use crate::ide::language::{Hover, KernelView};
use crate::ide::{Context, PlacedUnit, formatting, tlx};

/// What is known of the kernel or the buffer whose name is at `offset`.
pub(super) fn hover(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    jit: &TritonKernel,
    offset: usize,
) -> Option<Hover> {
    let of_kernel = placed.range(jit.traced.name_origin);
    if of_kernel.touches(offset) {
        return Some(Hover { range: of_kernel, markdown: describe_kernel(context, placed, jit) });
    }
    if let Some(tlx) = &jit.traced.tlx {
        return tlx::hover(context, placed, &jit.traced, tlx, offset);
    }
    let (range, name) = context.name_at(placed, offset)?;
    let at = bound(&jit.traced, name)?;
    Some(Hover { range, markdown: describe(context, placed, jit, at)? })
}

/// Where a buffer of that name is bound first. One that may not be there has the name, and no place.
fn bound(jit: &TracedKernel, name: &str) -> Option<Origin> {
    jit.program.buffers.iter().filter(|buffer| &*buffer.name == name).find_map(|buffer| buffer.name_at)
}

fn describe_kernel(context: &Context<'_>, placed: &PlacedUnit<'_>, jit: &TritonKernel) -> String {
    let traced = &jit.traced;
    // Where a value is missing, what all possible ones come to says more than what is known without it.
    let leading = traced.leading();
    let of_all = match traced.planned.plan.total(leading).high {
        Some(_) => String::new(),
        None => super::View(jit).fill(context, placed),
    };
    let said = match of_all.is_empty() {
        true => format!("{}\n\n{}", title(traced), occupancy(context, placed, traced)),
        false => of_all + "\n\n",
    };
    let mut text = format!("`{}` on {}: {said}", jit.name, traced.arch);
    text.push_str(&assumptions(db::triton_assumed(context.db, placed.unit)));
    text.push_str(&scenarios::markdown(context, placed, super::table(context, placed), jit.selected));
    text.push_str(&super::possible::markdown(context, placed.unit));
    text
}

/// What is known of the buffer that is bound at a place.
pub(super) fn describe(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    jit: &TritonKernel,
    at: Origin,
) -> Option<String> {
    if let Some(tlx) = &jit.traced.tlx {
        return tlx::hover(context, placed, &jit.traced, tlx, placed.range(at).end).map(|hover| hover.markdown);
    }
    let module = match jit.dialect {
        Dialect::Gluon => "gl",
        Dialect::TileLang => "T",
        Dialect::Triton | Dialect::Tlx => "tl",
    };
    let jit = &jit.traced;
    let buffer = jit.program.buffers.iter().find(|buffer| buffer.name_at == Some(at))?;
    let shape = formatting::shape(&buffer.shape);
    let rows = place(context, placed, jit, at)?;
    Some(format!(
        "```python\n{}: {shape} {}.{}\n```\n\n| | |\n|---|---|\n{rows}| of the kernel | {}{} |\n",
        buffer.name,
        module,
        buffer.dtype,
        title(jit),
        assumed::mark(&jit.assumed)
    ))
}

/// Where what shares memory with a name is bound, itself included.
pub(super) fn sharing(placed: &PlacedUnit<'_>, jit: &TracedKernel, name: &str) -> Vec<TextRange> {
    let Some(at) = bound(jit, name) else { return Vec::new() };
    let mut found = vec![placed.range(at)];
    for (_, place) in placed_at(jit, at) {
        for other in sharers(jit, place) {
            if let Occupant::Buffer(id) = other.what
                && let Some(at) = jit.program.buffers[id.0 as usize].name_at
            {
                found.push(placed.range(at));
            }
        }
    }
    found
}
