//! Space, address and size after the name of each tile where it is defined: `Vec 0x4000 16 KiB`; `→ Vec 0x4000 16 KiB` after
//! an expression whose value goes to memory without a name. When asked for, also the
//! synchronisation of generated C++.

use std::ops::Range;

use tilefit_syntax::TextRange;

use super::extent::Extent;
use super::inlay_hint::{HintKey, InlayHint};
use super::language::{Hinted, KernelView, Placement};
use super::{Context, PlacedUnit, configurations, formatting, languages, sync_hints};

/// What there is to a hint for a reader who looks at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HintDetails {
    pub label: String,
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
    if config.inlay_hints {
        hints.extend(configurations::hints(context, range));
    }
    for placed in context.units_in(range) {
        if config.sync_hints {
            hints.extend(sync_hints::sync_hints(context, &placed, range));
        }
        if !config.inlay_hints {
            continue;
        }
        for (nth, kernel) in languages::kernels(context, placed.unit).enumerate() {
            add_kernel(&mut hints, &placed, (nth, &*kernel), range);
        }
    }
    hints.sort_by_key(|hint| hint.offset);
    hints
}

fn add_kernel(
    hints: &mut Vec<InlayHint>,
    placed: &PlacedUnit<'_>,
    (number, kernel): (usize, &dyn KernelView),
    range: TextRange,
) {
    let by = kernel.laid_out_by();
    for (nth, hinted) in kernel.hinted().into_iter().enumerate() {
        let Placement { at, extent: Some(extent), .. } = hinted.placement else { continue };
        let offset = placed.range(at).end;
        if offset < range.start || offset > range.end {
            continue;
        }
        // Copies made by unrolling stand on the same name; the first speaks for all.
        if hints.iter().rev().take(64).any(|hint| hint.offset == offset && !hint.in_front) {
            continue;
        }
        let label = label(&hinted, &extent).concat();
        let key = Some(HintKey { kernel: number, nth });
        hints.push(InlayHint { offset, label, tooltip: by.clone(), in_front: false, key });
    }
}

/// The address by itself, and what is around it.
fn label(hinted: &Hinted<'_>, extent: &Extent) -> [String; 3] {
    let arrow = if hinted.is_unnamed { "→ " } else { "" };
    let [before, address, after] = formatting::parts(extent);
    [format!("{arrow}{before}"), address, after]
}

/// The details of the hint of a tile or buffer at a byte offset. Under other settings there may be another one by now.
pub(crate) fn hint_details(context: &Context<'_>, offset: usize, key: HintKey) -> Option<HintDetails> {
    let placed = context.units_in(TextRange::empty(offset)).find(|p| p.start <= offset && offset <= p.start + p.len)?;
    let kernel = languages::kernels(context, placed.unit).nth(key.kernel)?;
    let hinted = kernel.hinted().into_iter().nth(key.nth)?;
    let extent = hinted.placement.extent.filter(|_| placed.range(hinted.placement.at).end == offset)?;
    let [before, address, after] = label(&hinted, &extent);
    let part = before.len()..before.len() + address.len();
    let described = kernel.described(context, &placed, key.nth)?;
    let link = described.before.filter(|_| !part.is_empty()).map(|target| HintLink { part, target });
    Some(HintDetails { label: [before, address, after].concat(), markdown: described.markdown, link })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fixture;

    #[test]
    fn an_address_leads_to_who_had_it_before() {
        let fixture = Fixture::new(
            "import pypto.language as pl\n\n@pl.function(type=pl.FunctionType.InCore)\ndef k(a: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):\n    x = pl.load(a, [0, 0], [64, 64])\n    y = pl.exp(x)\n    o = pl.store(y, [0, 0], o)\n    return o\n",
        );
        let hints = fixture.inlay_hints(fixture.whole());
        let [x, y] = hints.as_slice() else { panic!("{hints:?}") };
        let details = |hint: &InlayHint| fixture.hint_details(hint.offset, hint.key?);
        assert_eq!(details(x).expect("a tile").link, None);
        let of_y = details(y).expect("a tile");
        assert!(of_y.markdown.contains("| memory space | Vec |"), "{}", of_y.markdown);
        let link = of_y.link.expect("`y` lies where `x` lay");
        assert_eq!((&y.label[link.part], fixture.at(link.target)), ("0x0", "x"));
        let key = |hint: &InlayHint| hint.key.expect("of a tile");
        assert_eq!(fixture.hint_details(y.offset, key(x)), None, "another tile");
        assert_eq!(fixture.hint_details(3, key(y)), None);
    }
}
