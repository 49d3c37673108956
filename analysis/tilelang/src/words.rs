//! What is wrong with a kernel, in words for its author.

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::{Finding as Said, Origin};

use crate::finding::Finding;
use crate::mistakes::{Mistake, What};
use crate::program::Launch;

/// `; did you mean `x`?`
fn instead(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"))
}

fn times(shape: &[u64]) -> String {
    let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", extents.join(", "))
}

/// What the front end refuses.
pub fn of_mistake(mistake: &Mistake) -> Said {
    let (code, message) = match &mistake.what {
        What::Member { name, nearest } => {
            (Code::Rejected, format!("TileLang has no `T.{name}`{}", instead(*nearest)))
        }
        What::Name { name, nearest } => {
            (Code::UnknownName, format!("`{name}` is not defined{}", instead(nearest.as_deref())))
        }
        What::Dtype { name, nearest } => {
            (Code::UnknownDtype, format!("there is no element type `{name}`{}", instead(*nearest)))
        }
        What::Keyword { function, keyword, nearest } => {
            (Code::Rejected, format!("`{function}` takes no `{keyword}`{}", instead(*nearest)))
        }
        What::Arguments { function, given, most } => {
            (Code::Rejected, format!("`{function}` takes at most {most} arguments by their place, and is given {given}"))
        }
        What::Missing { function, parameter } => {
            (Code::Rejected, format!("`{function}` needs `{parameter}`, and is not given it"))
        }
        What::Product { axis, left, right } => {
            let (one, other) = match axis {
                'K' => ("the left operand", "the right one"),
                _ => ("the operands", "the accumulator"),
            };
            let fix = if *axis == 'K' { ": check `transpose_A`, `transpose_B` and the shapes" } else { "" };
            (Code::InvalidOperand, format!("`{axis}` of the product is {left} in {one} and {right} in {other}{fix}"))
        }
        What::ProductTypes { left, right } => (
            Code::InvalidOperand,
            format!("no instruction multiplies {left} by {right}: make both operands of one type, as with `T.copy` into a buffer of it"),
        ),
        What::CopyShapes { source, target } => (
            Code::InvalidOperand,
            format!("`T.copy` from {} to {}: the shapes are not alike", times(source), times(target)),
        ),
        What::CopyExtents { source, target, wanted, room } => (
            Code::InvalidOperand,
            format!("`T.copy` from `{source}` to `{target}` takes {wanted} elements along one dimension, and there are {room}"),
        ),
        What::ReductionShape { given, expected } => (
            Code::InvalidOperand,
            format!("a reduction gives {}, and is written to a buffer of {}", times(expected), times(given)),
        ),
        What::Indices { buffer, given, dimensions } => (
            Code::InvalidOperand,
            format!("`{buffer}` has {dimensions} dimension{}, and is given {given} {}", plural(*dimensions, "", "s"), plural(*given, "index", "indices")),
        ),
        What::Variables { given, dimensions } => (
            Code::Rejected,
            format!("`T.Kernel` has {dimensions} dimension{}, and {given} {} after `as`", plural(*dimensions, "", "s"), plural(*given, "name is", "names are")),
        ),
        What::NotReturned { kernel } => {
            let kernel = kernel.as_deref().map_or_else(|| "its kernel".to_owned(), |kernel| format!("`{kernel}`"));
            (Code::Rejected, format!("the function defines {kernel} and does not return it"))
        }
        What::Lost => (
            Code::LostStatement,
            "this statement of the kernel is in a plain function, and Python drops it: nothing happens. Put `@T.macro` above the function"
                .to_owned(),
        ),
        What::Assertion => (Code::Rejected, "an `assert` fails with these values".to_owned()),
    };
    Said::new(code, mistake.at, message)
}

fn plural<'a>(count: usize, one: &'a str, many: &'a str) -> &'a str {
    if count == 1 { one } else { many }
}

fn warps_do_not_share(m: u64, n: u64, warps: u64) -> String {
    format!(
        "{warps} warps cannot share a product of {m}×{n}: each takes 16 rows and 8 columns, or multiples of them. Change `threads`, or the tile"
    )
}

/// What the passes refuse; `otherwise` is where that is said which has no place.
pub fn of_finding(finding: &Finding, launch: &Launch, otherwise: Origin) -> Option<Said> {
    let name = |id| launch.buffer(id).name.clone();
    let (code, at, message) = match finding {
        Finding::SquaredVersions { at, buffer, stages, versions } => (
            Code::SquaredCopies,
            *at,
            format!(
                "`{}` has {versions} copies, and {stages} would do: this is not the first pipelined loop of a kernel whose copies have warps of their own. \
                 `num_stages=1` here, or a kernel of its own, saves them",
                name(*buffer)
            ),
        ),
        Finding::FilledByTwoLoops { buffer, second, .. } => (
            Code::Rejected,
            *second,
            format!(
                "two pipelined loops fill `{}`, at which the compiler fails on this device: give this one a buffer of its own",
                name(*buffer)
            ),
        ),
        Finding::WrittenTwice { buffer, second, .. } => (
            Code::Rejected,
            *second,
            format!(
                "`{}` is written twice in the body of one pipelined loop: give the second a buffer of its own, or take `num_stages=0`",
                name(*buffer)
            ),
        ),
        Finding::NoConsumer { at } => (
            Code::Rejected,
            *at,
            "nothing in the body of the pipelined loop uses what its copies fill: take `T.serial`".to_owned(),
        ),
        Finding::NoSuchDepth { at, k, multiple } => (
            Code::InvalidOperand,
            *at,
            format!("`K` of the product is {k}, and has to be a multiple of {multiple} for elements of this type"),
        ),
        Finding::MixedVersions { buffer, versions, fewer, at, is_refused, .. } => (
            if *is_refused { Code::Rejected } else { Code::MixedCopies },
            *at,
            format!(
                "`{}` has {versions} copies in this loop and {fewer} elsewhere, {}: give the loop a buffer of its own",
                name(*buffer),
                if *is_refused {
                    "at which the compiler fails on this device"
                } else {
                    "and the compiler may allocate only the fewer"
                }
            ),
        ),
        Finding::OrderOfOtherStatements { at } => {
            (Code::Rejected, *at, "`order` and `stage` need a number for each statement of the loop's body".to_owned())
        }
        Finding::NoWarpPartition { at, m, n, warps } => (Code::InvalidOperand, *at, warps_do_not_share(*m, *n, *warps)),
        // The sum of columns is compared with what the device has.
        Finding::TooManyColumns { .. } => return None,
        Finding::NoBarriers { buffer } => (
            Code::UnsupportedTarget,
            launch.buffer(*buffer).at,
            format!("`{}`: barriers need sm_90 or later", name(*buffer)),
        ),
        Finding::NoTensorMemory { buffer } => (
            Code::UnsupportedTarget,
            launch.buffer(*buffer).at,
            format!("`{}`: tensor memory needs sm_100", name(*buffer)),
        ),
        Finding::NoBulkCopies { at } => (Code::UnsupportedTarget, *at, "`T.tma_copy` needs sm_90 or later".to_owned()),
        Finding::NoBulkCopiesOfElements { at, buffer } => (
            Code::Rejected,
            *at,
            format!("the Tensor Memory Accelerator cannot copy elements of {}", launch.buffer(*buffer).dtype.name),
        ),
    };
    let at = if matches!(finding, Finding::NoBarriers { .. }) && matches!(at, Origin::Inlined { .. }) {
        otherwise
    } else {
        at
    };
    Some(Said::new(code, at, message))
}
