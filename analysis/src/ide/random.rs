//! Every feature at random places of randomly edited text: no panic, and the answers of a fresh analysis of that text.

use proptest::prelude::*;
use tilefit_syntax::{Document, TextRange};

use super::inlay_hint::InlayHint;
use super::{CodeLens, HintDetails, LensText};
use crate::Analysis;
use crate::AnalysisHost;
use crate::FileId;

const PYPTO: &str = "\
import pypto.language as pl

ROWS = 64
BUF = pl.MemRef(slots=2)

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[ROWS, 64], pl.FP32], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]):
        x = pl.load(a, [0, 0], [ROWS, 64], target_memory=pl.Mem.Vec)
        y = pl.cast(x, pl.FP16)
        for i in pl.range(0, 4):
            t: pl.Tile[[ROWS, 64], pl.FP32, BUF[i % 2], pl.Mem.Vec] = pl.load(a, [i, 0], [ROWS, 64])
            y = pl.exp(t)
        z = x + y
        out = pl.store(z, [0, 0], out)
        return out

    @pl.function
    def main(self, a: pl.Tensor[[ROWS, 64], pl.FP32], o: pl.Tensor[[ROWS, 64], pl.FP32]):
        o = self.k(a, 3, out=o)
        return o
";

const TLX: &str = "\
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx

@triton.jit
def helper(x):
    return tlx.local_view(x, 0)

# tilefit: scenario B=64
@triton.jit
def k(p, B: tl.constexpr):
    s = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)
    a = tlx.local_alloc((B, 64), tl.float16, 2, reuse=s)
    b = tlx.local_alloc((B, 64), tl.float32, 1, reuse=s)
    s.set_buffer_overlap(tlx.reuse_group(a, b, group_type=tlx.reuse_group_type.shared))
    helper(a)
";

/// What is typed and pasted.
const SNIPPETS: [&str; 20] = [
    "",
    "(",
    ")",
    "[",
    "]",
    "'",
    "\"\"\"",
    ".",
    ",",
    "=",
    "\n",
    "    ",
    "#",
    "pl.",
    "x",
    "lambda x: ",
    "{",
    "値",
    "\r\n",
    "import ",
];

/// Every lens and what it says.
fn lenses(analysis: &Analysis, file: FileId) -> Vec<(CodeLens, Option<LensText>)> {
    let lenses = analysis.code_lenses(file).expect("no edit").into_iter();
    lenses.map(|lens| (lens.clone(), analysis.code_lens(file, lens).expect("no edit"))).collect()
}

/// The hints of a range and all there is to them.
fn hints(analysis: &Analysis, file: FileId, range: TextRange) -> Vec<(InlayHint, Option<HintDetails>)> {
    let hints = analysis.inlay_hints(file, range).expect("no edit").into_iter();
    let details = |hint: &InlayHint| analysis.hint_details(file, hint.offset, hint.key?).expect("no edit");
    hints.map(|hint| (hint.clone(), details(&hint))).collect()
}

/// The answers of every feature at a place, as text.
fn answers(analysis: &Analysis, file: FileId, offset: usize, len: usize) -> Vec<String> {
    let (around, all) = (TextRange::new(offset.saturating_sub(40), offset + 40), TextRange::new(0, len));
    let mention = |mention: &crate::ide::Mention| (mention.range, mention.writes);
    let calls =
        |all: Vec<crate::ide::Calls>| all.iter().map(|it| (it.item.range, it.ranges.clone())).collect::<Vec<_>>();
    vec![
        format!("{:?}", analysis.completions(file, offset)),
        format!("{:?}", analysis.signature_help(file, offset)),
        format!("{:?}", analysis.hover(file, offset)),
        format!("{:?}", analysis.definition(file, offset).map(|it| it.as_ref().map(mention))),
        format!(
            "{:?}",
            analysis.references(file, offset).map(|it| it.map(|it| it.iter().map(mention).collect::<Vec<_>>()))
        ),
        format!("{:?}", analysis.highlights(file, offset).map(|it| it.iter().map(mention).collect::<Vec<_>>())),
        format!("{:?}", analysis.prepare_rename(file, offset)),
        format!("{:?}", analysis.rename(file, offset, "new".to_owned()).map(|it| it.map(|it| it.len()))),
        format!("{:?}", analysis.call_item(file, offset).map(|it| it.map(|it| (it.name, it.range)))),
        format!("{:?}", analysis.incoming_calls(file, offset).map(calls)),
        format!("{:?}", analysis.outgoing_calls(file, offset).map(calls)),
        format!("{:?}", analysis.selection_ranges(file, offset)),
        format!("{:?}", analysis.folding_ranges(file)),
        format!("{:?}", analysis.document_symbols(file)),
        format!("{:?}", analysis.code_actions(file, around)),
        format!("{:?}", analysis.fix_all(file)),
        format!("{:?}", hints(analysis, file, around)),
        format!("{:?}", lenses(analysis, file)),
        format!("{:?}", analysis.diagnostics(file)),
        format!("{:?}", analysis.inlay_hints(file, all).map(|hints| hints.len())),
    ]
}

fn open(document: Document) -> (AnalysisHost, FileId) {
    let mut host = AnalysisHost::new();
    let file = host.file_id("/w/k.py");
    host.set_document(file, document);
    (host, file)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn edited_text_is_answered_like_fresh_text(
        is_tlx: bool,
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..6, 0..SNIPPETS.len(), any::<prop::sample::Index>()), 1..6),
    ) {
        let mut document = Document::new(if is_tlx { TLX } else { PYPTO });
        let (mut host, file) = open(document.clone());
        for (at, removed, snippet, ask) in edits {
            let start = at.index(document.len() + 1);
            document.edit(start..start + removed, SNIPPETS[snippet]);
            document.settle();
            host.set_document(file, document.clone());
            let mut offset = ask.index(document.len() + 1);
            let text = document.text();
            while !text.is_char_boundary(offset) {
                offset -= 1;
            }
            let edited = answers(&host.snapshot(), file, offset, text.len());
            let (fresh, other) = open(Document::new(&text));
            let expected = answers(&fresh.snapshot(), other, offset, text.len());
            prop_assert_eq!(edited, expected, "at {} of:\n{}", offset, text);
        }
    }
}
