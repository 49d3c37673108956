//! How an operation or a function of the language is called, and what it does; and which argument the cursor is at.

use std::fmt::Write;

use tilefit_syntax::TextRange;

use tilefit_pypto::ops::{self, OpId, OutputSpace, Preset, Shape, When};
use tilefit_pypto::target::Target;
use tilefit_python::vocabulary::{Word, WordKind};

use super::cursor_context::CursorContext;
use super::level::Level;
use super::{Context, languages};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// `pl.exp(tile) -> Tile`
    pub label: String,
    pub params: Vec<Parameter>,
    pub markdown: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    /// Bytes within the label.
    pub label: TextRange,
    pub keyword_only: bool,
    pub required: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureHelp {
    /// The most likely one first.
    pub signatures: Vec<Signature>,
    /// The parameter at the cursor, by signature.
    pub active: Vec<Option<usize>>,
}

pub(crate) fn signature_help(context: &Context<'_>, offset: usize) -> Option<SignatureHelp> {
    let place = CursorContext::at(context, offset)?;
    let call = place.cursor.call()?;
    let level = Level::of_call(context, &place, call.at);
    let signatures = of_callee(&place.canonical(&call.callee)?, level);
    if signatures.is_empty() {
        return None;
    }
    let active = signatures.iter().map(|signature| signature.active(call.keyword, call.commas)).collect();
    Some(SignatureHelp { signatures, active })
}

/// The signatures of a function under the usual names of its modules (`pl.add`); several where the operands decide.
pub(super) fn of_callee(callee: &str, level: Level) -> Vec<Signature> {
    let operations = callee.strip_prefix("pl.").map_or_else(Vec::new, |name| operations(name, level));
    if !operations.is_empty() {
        return operations.iter().map(|meaning| of_operation(callee, *meaning)).collect();
    }
    languages::word(callee).filter(|word| word.kind == WordKind::Function).map(of_word).into_iter().collect()
}

/// An operation that a name can mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meaning {
    when: When,
    op: OpId,
    level: Level,
}

/// What a name after `pl.` can mean at a level, the plain form first; what it means at the other one only where it means nothing at this.
pub(super) fn operations(name: &str, level: Level) -> Vec<Meaning> {
    let is_of_tensors = |when: &When| matches!(when, When::TensorOperand | When::TensorScalar);
    let mut all = ops::candidates(name).to_vec();
    // A name without a form of its own for tensors means its operation on tiles for them, too.
    let has_tensors = all.iter().any(|(when, _)| is_of_tensors(when));
    let has_tiles = all.iter().any(|(when, _)| !is_of_tensors(when));
    match level {
        Level::Tensors if has_tensors => all.retain(|(when, _)| is_of_tensors(when)),
        Level::Tiles if has_tiles => all.retain(|(when, _)| !is_of_tensors(when)),
        _ => {}
    }
    all.sort_by_key(|(when, _)| !matches!(when, When::Always | When::TileOperand | When::TensorOperand));
    all.into_iter().map(|(when, op)| Meaning { when, op, level }).collect()
}

impl Meaning {
    /// Whether operands and result are tensors.
    fn is_on_tensors(self) -> bool {
        let by_operand = matches!(self.when, When::TileOperand | When::ScalarRhs);
        self.op.op().is_on_tensors() || by_operand && self.level == Level::Tensors
    }
}

impl Signature {
    fn active(&self, keyword: Option<&str>, commas: usize) -> Option<usize> {
        match keyword {
            Some(keyword) => self.params.iter().position(|param| param.name == keyword),
            None => {
                let variadic = self.params.iter().position(|param| param.name.starts_with('*'));
                let at = commas.min(variadic.unwrap_or(commas));
                self.params.get(at).filter(|param| !param.keyword_only).map(|_| at)
            }
        }
    }
}

struct Builder {
    label: String,
    params: Vec<Parameter>,
    keyword_only: bool,
}

impl Builder {
    fn new(callee: &str) -> Builder {
        Builder { label: format!("{callee}("), params: Vec::new(), keyword_only: false }
    }

    fn comma(&mut self) {
        if !self.label.ends_with('(') {
            self.label.push_str(", ");
        }
    }

    fn star(&mut self) {
        self.comma();
        self.label.push('*');
        self.keyword_only = true;
    }

    fn param(&mut self, shown: &str) {
        self.comma();
        let start = self.label.len();
        self.label.push_str(shown);
        let (name, required) = match shown.split_once('=') {
            Some((name, _)) => (name, false),
            None => (shown, true),
        };
        let label = TextRange::new(start, self.label.len());
        let keyword_only = self.keyword_only;
        self.params.push(Parameter { name: name.to_owned(), label, keyword_only, required });
        self.keyword_only |= name.starts_with('*');
    }

    fn finish(mut self, result: &str, markdown: String) -> Signature {
        self.label.push(')');
        if !result.is_empty() {
            let _ = write!(self.label, " -> {result}");
        }
        Signature { label: self.label, params: self.params, markdown }
    }
}

pub(super) fn of_word(word: &Word) -> Signature {
    let mut builder = Builder::new(word.path);
    for &param in word.params {
        match param {
            "*" => builder.star(),
            param => builder.param(param),
        }
    }
    builder.finish("", word.about.to_owned())
}

pub(super) fn of_operation(callee: &str, meaning: Meaning) -> Signature {
    let op = meaning.op.op();
    let mut builder = Builder::new(callee);
    let common = callee.strip_prefix("pl.").and_then(ops::signature);
    // Scratch is the compiler's business where it makes the tiles.
    let left_out = common.filter(|_| meaning.is_on_tensors()).map_or(&[] as &[&str], |common| common.tiles_only);
    for (index, param) in op.params.iter().enumerate().filter(|(_, param)| !left_out.contains(&param.name)) {
        if param.keyword_only && !builder.keyword_only {
            builder.star();
        }
        // A function for both has names of its own.
        let named = common.and_then(|common| common.positional.get(index)).filter(|_| !param.keyword_only);
        let name = named.unwrap_or(&param.name);
        match preset(param.preset) {
            Some(preset) => builder.param(&format!("{name}={preset}")),
            None => builder.param(name),
        }
    }
    let result = match op.shape {
        Shape::Nothing => "None",
        Shape::Scalar | Shape::ArrayElement => "Scalar",
        Shape::Array | Shape::ArrayWritten => "Array",
        Shape::GatherCompare => "Tuple",
        Shape::Tensor(_) => "Tensor",
        _ if meaning.is_on_tensors() => "Tensor",
        _ => "Tile",
    };
    builder.finish(result, describe(meaning))
}

/// What a parameter is without an argument, as authors write it.
fn preset(preset: Preset) -> Option<String> {
    Some(match preset {
        Preset::Required => return None,
        Preset::Absent => "None".to_owned(),
        Preset::Bool(true) => "True".to_owned(),
        Preset::Bool(false) => "False".to_owned(),
        Preset::Int(value) => value.to_string(),
        Preset::Str(value) => format!("'{value}'"),
        Preset::Space(space) => format!("pl.Mem.{space}"),
        Preset::Dtype(dtype) => format!("pl.{}", dtype.name()),
        Preset::Pad(pad) => format!("pl.PadValue.{}", format!("{pad:?}").to_lowercase()),
    })
}

/// What the operation table says of an operation, in Markdown.
fn describe(meaning: Meaning) -> String {
    let op = meaning.op.op();
    let mut text = format!("{}\n", op.about());
    let mut row = |what: &str, value: String| {
        if !value.is_empty() {
            let _ = write!(text, "\n* {what}: {value}");
        }
    };
    let operand =
        |index: u8| op.args.get(index as usize).map_or_else(|| format!("operand {index}"), |it| format!("`{it}`"));
    let operands = |indices: &[u8]| indices.iter().map(|&index| operand(index)).collect::<Vec<_>>().join(" and ");
    row("shape", shape(op.shape, &operand, &operands));
    row(
        "form",
        match meaning.when {
            When::Always | When::TileOperand | When::TensorOperand => String::new(),
            When::TensorScalar | When::ScalarRhs => "the second operand is a scalar".to_owned(),
            When::Keyword(keyword) => format!("with `{keyword}=`"),
            When::WithoutKeyword(keyword) => format!("without `{keyword}=`"),
        },
    );
    if meaning.is_on_tensors() {
        row("requires", op.constraints.to_owned());
        return text;
    }
    for (index, spaces) in op.inputs {
        let names: Vec<_> = spaces.iter().map(|space| space.name()).collect();
        row(&operand(*index), format!("in {}", names.join(" or ")));
    }
    row(
        "result",
        match op.output {
            OutputSpace::Fixed(space) => format!("in {space}"),
            OutputSpace::InheritFirstTile => "in the space of the first tile".to_owned(),
            OutputSpace::TargetMemory => "in `target_memory`".to_owned(),
            OutputSpace::TargetMemoryOrDemand => "in `target_memory`, else where it is needed".to_owned(),
            OutputSpace::None => String::new(),
        },
    );
    if let Some(index) = op.view_of {
        row("memory", format!("a view of {}; no bytes of its own", operand(index)));
    }
    if let Some(index) = op.reuses {
        row("memory", format!("that of {}, written in place", operand(index)));
    }
    row("scratch", operands(op.scratch));
    row("instruction", if op.pto.is_empty() { String::new() } else { format!("`{}`", op.pto) });
    row("requires", op.constraints.to_owned());
    if !op.on_910b {
        row("targets", format!("not {}", Target::Ascend910b));
    }
    text
}

fn shape(shape: Shape, operand: &dyn Fn(u8) -> String, operands: &dyn Fn(&[u8]) -> String) -> String {
    match shape {
        Shape::Same(index) => format!("that of {}", operand(index)),
        Shape::Equal(indices) => format!("that of {}, which are equal", operands(indices)),
        Shape::Broadcast(indices) => format!("{}, each extent equal or 1", operands(indices)),
        Shape::Literal(index) => format!("{}, constant", operand(index)),
        Shape::RowReduced => "`[.., 1]`".to_owned(),
        Shape::ColReduced => "`[1, ..]`".to_owned(),
        Shape::Matmul { lhs, rhs } => format!("rows of {}, columns of {}", operand(lhs), operand(rhs)),
        Shape::Gemv { lhs, rhs } => format!("`[16, N]` from {} and {}", operand(lhs), operand(rhs)),
        Shape::Transpose => "two axes exchanged".to_owned(),
        Shape::LastTwoSwapped => "the last two axes exchanged".to_owned(),
        Shape::CompareBits(_) => "one bit an element, rows padded to 32 bytes".to_owned(),
        Shape::Slice => "the given one, without dropped axes".to_owned(),
        Shape::LastDoubled => "the last extent doubled".to_owned(),
        Shape::SplitHalved => "half of the split axis".to_owned(),
        Shape::SplitDoubled => "the split axis doubled".to_owned(),
        Shape::Annotation => "as annotated".to_owned(),
        Shape::Last
        | Shape::Concat
        | Shape::BatchMatmul
        | Shape::Reinterpret
        | Shape::GatherMask
        | Shape::GatherBlocks
        | Shape::GatherRows
        | Shape::GatherCompare
        | Shape::Tensor(_)
        | Shape::Scalar
        | Shape::Array
        | Shape::ArrayElement
        | Shape::ArrayWritten
        | Shape::Nothing => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::Fixture;
    use crate::ide::tests::kernel_with;

    /// The signatures at `$0` in a kernel, the active parameter in brackets.
    #[track_caller]
    fn check(line: &str, expect: Expect) {
        let fixture = Fixture::new(&kernel_with(line));
        let help = fixture.signature_help(fixture.cursor());
        let mut shown = String::new();
        for (signature, active) in help.iter().flat_map(|help| help.signatures.iter().zip(&help.active)) {
            let mut label = signature.label.clone();
            if let Some(param) = active.and_then(|at| signature.params.get(at)) {
                label.insert(param.label.end, ']');
                label.insert(param.label.start, '[');
            }
            shown.push_str(&label);
            shown.push('\n');
        }
        expect.assert_eq(&shown);
    }

    #[test]
    fn the_argument_at_the_cursor() {
        check(
            "y = pl.load(a, [0, $0",
            expect![[r#"
            pl.load(tensor, [offsets], shapes, valid_shape=None, target_memory=pl.Mem.Vec, clamp=False) -> Tile
        "#]],
        );
        check(
            "y = pl.load(a, target_memory=$0)",
            expect![[r#"
            pl.load(tensor, offsets, shapes, valid_shape=None, [target_memory=pl.Mem.Vec], clamp=False) -> Tile
        "#]],
        );
        check(
            "y = pl.tile.add(x, $0",
            expect![[r#"
            pl.tile.add(lhs, [rhs]) -> Tile
            pl.tile.add(lhs, [rhs]) -> Tile
        "#]],
        );
        check(
            "y = pl.exp(x, $0)",
            expect![[r#"
                pl.exp(input) -> Tile
            "#]],
        );
        check(
            "for i in pl.range(0, 4, $0",
            expect![[r#"
            pl.range([*bounds], init_values=None)
        "#]],
        );
        check("y = pl.no_such($0)", expect![[""]]);
        check("y = pl.load(a)$0", expect![[""]]);
    }

    #[test]
    fn every_operation_has_a_signature() {
        for op in &ops::OPS {
            let meaning =
                Meaning { when: When::Always, op: OpId::from_name(op.name).expect("a row"), level: Level::Tiles };
            let signature = of_operation("pl.op", meaning);
            assert!(signature.label.is_ascii());
            for param in &signature.params {
                assert!(signature.label[param.label.start..param.label.end].starts_with(&param.name));
            }
        }
    }
}
