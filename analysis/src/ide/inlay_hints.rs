//! Space, address and size after the name of each tile where it is defined: `Vec 0x4000 16 KiB`; `→ Vec 0x4000 16 KiB` after
//! an expression whose value goes to memory without a name. When asked for, also the
//! synchronisation of generated C++.

use std::ops::Range;

use tilefit_syntax::TextRange;

use super::language::{KernelView, Placement};
use super::{Context, PlacedUnit, formatting, sync_hints};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlayHint {
    pub offset: usize,
    pub label: String,
    pub tooltip: String,
    /// Belongs to what follows the offset, not to what stands before it.
    pub in_front: bool,
}

/// What there is to a hint for a reader who looks at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HintDetails {
    pub markdown: String,
    pub link: Option<HintLink>,
}

/// The address in a hint leads to the tile that had the memory before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HintLink {
    /// Bytes of the label.
    pub part: Range<usize>,
    /// Bytes of the file.
    pub target: TextRange,
}

pub(crate) fn inlay_hints(context: &Context<'_>, range: TextRange) -> Vec<InlayHint> {
    let mut hints: Vec<InlayHint> = Vec::new();
    let config = context.config();
    for placed in context.units_in(range) {
        if config.sync_hints {
            hints.extend(sync_hints::sync_hints(context, &placed, range));
        }
        if !config.inlay_hints {
            continue;
        }
        for kernel in context.kernels(placed.unit) {
            add_kernel(&mut hints, &placed, &*kernel, range);
        }
    }
    hints.sort_by_key(|hint| hint.offset);
    hints
}

fn add_kernel(hints: &mut Vec<InlayHint>, placed: &PlacedUnit<'_>, kernel: &dyn KernelView, range: TextRange) {
    let by = kernel.laid_out_by();
    for hinted in kernel.hinted() {
        let Placement { at, extent: Some(extent), .. } = hinted.placement else { continue };
        let offset = placed.range(at).end;
        if offset < range.start || offset > range.end {
            continue;
        }
        // Copies made by unrolling stand on the same name; the first speaks for all.
        if hints.iter().rev().take(64).any(|hint| hint.offset == offset && !hint.in_front) {
            continue;
        }
        let arrow = if hinted.is_unnamed { "→ " } else { "" };
        let label = format!("{arrow}{}", formatting::extent(&extent));
        hints.push(InlayHint { offset, label, tooltip: by.clone(), in_front: false });
    }
}

/// The details of the hint of a tile or buffer at a byte offset; those of synchronisation have none.
pub(crate) fn hint_details(context: &Context<'_>, offset: usize, label: &str) -> Option<HintDetails> {
    let placed = context.units_in(TextRange::empty(offset)).find(|p| p.start <= offset && offset <= p.start + p.len)?;
    context.language(placed.unit).hint_details(context, &placed, offset, label)
}

#[cfg(test)]
mod tests {
    use tilefit_syntax::Document;

    use super::*;
    use crate::AnalysisHost;

    #[test]
    fn an_address_leads_to_who_had_it_before() {
        let text = "import pypto.language as pl\n\n@pl.function(type=pl.FunctionType.InCore)\ndef k(a: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):\n    x = pl.load(a, [0, 0], [64, 64])\n    y = pl.exp(x)\n    o = pl.store(y, [0, 0], o)\n    return o\n";
        let mut host = AnalysisHost::new();
        let file = host.file_id("k.py");
        host.set_document(file, Document::new(text));
        let analysis = host.snapshot();
        let hints = analysis.inlay_hints(file, TextRange::new(0, text.len())).expect("no edit");
        let [x, y] = hints.as_slice() else { panic!("{hints:?}") };
        let details = |hint: &InlayHint| analysis.hint_details(file, hint.offset, &hint.label).expect("no edit");
        assert_eq!(details(x).expect("a tile").link, None);
        let of_y = details(y).expect("a tile");
        assert!(of_y.markdown.contains("| memory space | Vec |"), "{}", of_y.markdown);
        let link = of_y.link.expect("`y` lies where `x` lay");
        assert_eq!((&y.label[link.part], &text[link.target.start..link.target.end]), ("0x0", "x"));
        assert_eq!(analysis.hint_details(file, y.offset, "Vec 0x8 16 KiB"), Ok(None), "another plan");
        assert_eq!(analysis.hint_details(file, 3, &y.label), Ok(None));
    }
}
