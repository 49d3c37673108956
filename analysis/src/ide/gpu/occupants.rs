//! What has memory in a kernel of a GPU, in the words of a reader: buffers of the author's, and what the compiler adds.

use tilefit_gpu::device::Space;
use tilefit_gpu::live_ranges::Hidden;
use tilefit_gpu::plan::{Occupant, Placed};
use tilefit_gpu::program::{Site, Use};
use tilefit_python::finding::Origin;
use tilefit_syntax::TextRange;

use crate::db::TracedKernel;
use crate::ide::{Context, PlacedUnit};

pub(in crate::ide) struct Occupied {
    pub(in crate::ide) name: String,
    /// In the kernel's own text.
    pub(in crate::ide) range: TextRange,
    /// From 1: of the helper that it stands in, where that is in the same file.
    pub(in crate::ide) line: usize,
    pub(in crate::ide) shape: Vec<u64>,
    pub(in crate::ide) dtype: &'static str,
    pub(in crate::ide) kind: &'static str,
    /// By the compiler.
    pub(in crate::ide) inserted: bool,
}

/// The memory that it lies in; what the compiler adds is in shared memory.
pub(in crate::ide) fn space(traced: &TracedKernel, placed: &Placed) -> Space {
    match placed.what {
        Occupant::Buffer(id) => traced.program.buffers[id.0 as usize].memory.space(),
        Occupant::Hidden(_) | Occupant::WarpStates => Space::Shared,
    }
}

pub(in crate::ide) fn occupied(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    traced: &TracedKernel,
    of: &Placed,
) -> Occupied {
    match of.what {
        Occupant::Buffer(id) => {
            let buffer = &traced.program.buffers[id.0 as usize];
            Occupied {
                name: buffer.name.to_string(),
                range: placed.range(buffer.name_at.unwrap_or(buffer.at.call)),
                line: line(context, placed, traced, buffer.at),
                shape: buffer.shape.clone(),
                dtype: buffer.dtype,
                kind: match buffer.use_ {
                    Use::Data => "def",
                    Use::Barrier => "barrier",
                    Use::Staging => "staging",
                },
                inserted: buffer.use_ == Use::Staging,
            }
        }
        Occupant::Hidden(nth) => {
            let hidden = &traced.planned.hidden[nth];
            let at = line(context, placed, traced, hidden.at);
            let (name, kind) = match hidden.what {
                Hidden::Scratch(_) => (format!("scratch of `{}` in line {at}", hidden.op), "scratch"),
                Hidden::Captures(_) => (format!("arguments of the tasks in line {at}"), "captures"),
            };
            added(name, placed.range(hidden.at.call), at, of.high, kind)
        }
        Occupant::WarpStates => {
            let range = placed.range(traced.name_origin);
            added("state of the warps of tasks".to_owned(), range, context.line(range.start), of.high, "warp states")
        }
    }
}

fn added(name: String, range: TextRange, line: usize, bytes: u64, kind: &'static str) -> Occupied {
    Occupied { name, range, line, shape: vec![bytes], dtype: "int8", kind, inserted: true }
}

/// The line of an operation: in a helper of the same file, the one there; else that of the call.
pub(in crate::ide) fn line(context: &Context<'_>, placed: &PlacedUnit<'_>, traced: &TracedKernel, site: Site) -> usize {
    let of_call = || context.line(placed.range(site.call).start);
    let Some(Some(key)) = traced.functions.get(site.function as usize) else { return of_call() };
    let helper =
        context.units().find(|unit| unit.unit.key(context.db) == key && unit.unit.file(context.db) == context.file);
    match helper {
        Some(helper) => context.line(helper.range(Origin::Expr(site.expr)).start),
        None => of_call(),
    }
}
