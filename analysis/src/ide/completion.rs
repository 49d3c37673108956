//! What may be typed at a position inside of a kernel. Reads the text before the position and the names bound above it, so
//! that it works while the statement itself does not parse.

use tilefit_pypto::lower::ROUNDING;
use tilefit_pypto::ops::OpId;
use tilefit_pypto::target::{Machine, Space};
use tilefit_pypto::vocabulary;
use tilefit_python::element::Dtype;
use tilefit_python::vocabulary::{Word, WordKind};
use tilefit_syntax::TextRange;
use tilefit_syntax::ast::{Ast, Expr, Stmt};
use tilefit_syntax::cursor::Open;

use crate::db::{self, Unit};

use super::cursor_context::CursorContext;
use super::language::ValueKind;
use super::level::Level;
use super::signature_help::{self, Signature};
use super::{Context, formatting, languages};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completions {
    /// Bytes that an item replaces: the word up to the position.
    pub replaces: TextRange,
    /// The same with the rest of the word after the position, for editors that overwrite.
    pub overwrites: TextRange,
    /// The most likely first.
    pub items: Vec<Completion>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    pub label: String,
    pub kind: CompletionKind,
    /// One line beside the label.
    pub detail: String,
    /// Instead of the label, for editors with placeholders: `load(${1:tensor}, …)`.
    pub snippet: Option<String>,
    /// What [`documentation`] takes.
    pub key: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionKind {
    Operation,
    Function,
    Module,
    Type,
    Enumeration,
    Member,
    Dtype,
    Space,
    Keyword,
    Variable,
}

pub(crate) fn completions(context: &Context<'_>, offset: usize) -> Option<Completions> {
    if !context.config().completion {
        return None;
    }
    let Some(place) = CursorContext::at(context, offset) else { return decorators(context, offset) };
    if !place.cursor.expects_operand {
        return None;
    }
    let level = Level::at(context, &place);
    let mut items = Items { context, place: &place, level, found: Vec::new() };
    match place.cursor.path.split_last()? {
        (_, []) => items.at_start_of_expression(),
        (_, module) => items.behind(&place.canonical(module)?),
    }
    let Items { found, .. } = items;
    let replaces = place.word();
    let overwrites = TextRange::new(replaces.start, replaces.end + rest_of_word(place.text, place.cursor.word.end));
    Some(Completions { replaces, overwrites, items: found })
}

/// Bytes of the word after an offset.
fn rest_of_word(text: &str, offset: usize) -> usize {
    let rest = &text[offset..];
    rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len())
}

/// What may be typed after `@pl.` before a function or class.
fn decorators(context: &Context<'_>, offset: usize) -> Option<Completions> {
    if context.file.excluded(context.db) {
        return None;
    }
    let mut blocks = context.document().blocks().iter();
    let block = blocks.find(|block| block.start + block.source.text.len() >= offset && block.start <= offset)?;
    let text = block.source.text.as_str();
    let before = text.get(..offset - block.start)?;
    let line = before[before.rfind(['\n', '\r']).map_or(0, |at| at + 1)..].trim_start();
    let typed = line.strip_prefix('@')?;
    let (module, word) = typed.rsplit_once('.')?;
    let is_name = typed.chars().all(|c| c == '.' || c == '_' || c.is_alphanumeric());
    let imports = context.document().blocks().iter().any(|block| block.source.text.contains("pypto.language"));
    if !is_name || !imports {
        return None;
    }
    let prefix = format!("{module}.");
    let named = vocabulary::DECORATORS.iter().filter_map(|word| Some((word.path.strip_prefix(&prefix)?, word)));
    let items = named.filter(|(name, _)| !name.contains('.')).map(|(name, word)| Completion {
        label: name.to_owned(),
        kind: CompletionKind::Function,
        detail: signature_help::of_word(word).label,
        snippet: None,
        key: Some(word.path.to_owned()),
    });
    let replaces = TextRange::new(offset - word.len(), offset);
    let overwrites = TextRange::new(replaces.start, offset + rest_of_word(text, offset - block.start));
    Some(Completions { replaces, overwrites, items: items.collect() })
}

/// Keys of operations that are completed among tensors begin with this.
const AMONG_TENSORS: &str = "tensors:";

/// Documentation of an item by its key, in Markdown.
pub fn documentation(key: &str) -> Option<String> {
    match key.strip_prefix(AMONG_TENSORS) {
        Some(path) => about_word(path, Level::Tensors),
        None => about_word(key, Level::Tiles),
    }
}

/// What there is to say of a word of the language, in Markdown.
pub(super) fn about_word(path: &str, level: Level) -> Option<String> {
    let meanings = match path.split_once('.')? {
        ("pl", name) => signature_help::operations(name, level),
        _ => Vec::new(),
    };
    if !meanings.is_empty() {
        let about = meanings.iter().map(|meaning| about(&signature_help::of_operation(path, *meaning)));
        return Some(about.collect::<Vec<_>>().join("\n\n---\n\n"));
    }
    let word = languages::word(path)?;
    Some(if word.kind == WordKind::Function { about(&signature_help::of_word(word)) } else { word.about.to_owned() })
}

/// A signature and its documentation, in Markdown.
pub(super) fn about(signature: &Signature) -> String {
    format!("```python\n{}\n```\n\n{}", signature.label, signature.markdown)
}

struct Items<'c, 'db> {
    context: &'c Context<'db>,
    place: &'c CursorContext<'db>,
    level: Level,
    found: Vec<Completion>,
}

impl Items<'_, '_> {
    fn add(&mut self, label: &str, kind: CompletionKind, detail: String) -> &mut Completion {
        let item = Completion { label: label.to_owned(), kind, detail, snippet: None, key: None };
        self.found.push(item);
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// A function; with placeholders unless its arguments are there already.
    fn add_function(&mut self, label: &str, kind: CompletionKind, key: &str, signature: &Signature) {
        let end = self.place.cursor.word.end;
        let called = self.place.text[end + rest_of_word(self.place.text, end)..].starts_with('(');
        let snippet = (!called).then(|| call_snippet(label, signature));
        let item = self.add(label, kind, signature.label.clone());
        item.snippet = snippet;
        item.key = Some(key.to_owned());
    }

    fn at_start_of_expression(&mut self) {
        let keywords = self.keywords();
        let is_optional = keywords.first().is_none_or(|keyword| keyword.detail.contains('='));
        if is_optional {
            self.found.extend(keywords.iter().cloned());
        }
        let expected = self.expected();
        match expected {
            Some(Expected::Dtype) => self.dtypes("pl."),
            Some(Expected::Space) => self.spaces("pl.Mem."),
            Some(Expected::Members(path)) => self.members(path),
            Some(Expected::Strings(values)) => {
                for value in values {
                    self.add(&format!("\"{value}\""), CompletionKind::Member, String::new());
                }
            }
            None => {}
        }
        let wanted = self.wanted();
        let root = self.place.dialect.root.filter(|_| !matches!(expected, Some(Expected::Strings(_))));
        let is_header = wanted == Some(Wanted::Header);
        if let Some((name, module)) = root.filter(|_| is_header) {
            self.add(name, CompletionKind::Module, module.to_owned());
        }
        if !matches!(expected, Some(Expected::Dtype | Expected::Space | Expected::Strings(_))) {
            self.names(wanted);
        }
        if let Some((name, module)) = root.filter(|_| !is_header) {
            self.add(name, CompletionKind::Module, module.to_owned());
        }
        if !is_optional {
            self.found.extend(keywords);
        }
    }

    /// What is after `pl.`, `pl.Mem.`, `tlx.storage_kind.`, ….
    fn behind(&mut self, module: &str) {
        match module {
            "pl" => {
                self.operations("pl.", "");
                self.words("pl.");
                self.dtypes("");
            }
            "pl.tile" => {
                self.operations("pl.tile.", "tile.");
                self.words("pl.tile.");
            }
            "pl.tensor" => self.operations("pl.tensor.", "tensor."),
            "pl.system" => self.operations("pl.system.", "system."),
            "pl.Mem" | "pl.MemorySpace" => self.spaces(""),
            _ => self.words(&format!("{module}.")),
        }
        // What the argument takes comes first.
        let expected = self.expected();
        let is_expected = |item: &Completion| match expected {
            Some(Expected::Dtype) => item.kind == CompletionKind::Dtype,
            Some(Expected::Space) => item.label == "Mem" || item.label == "MemorySpace",
            Some(Expected::Members(path)) => {
                path.strip_prefix(module).is_some_and(|it| it.trim_matches('.') == item.label)
            }
            Some(Expected::Strings(_)) | None => false,
        };
        self.found.sort_by_key(|item| !is_expected(item));
    }

    /// Operations that authors write with `prefix`, each once.
    fn operations(&mut self, path: &str, prefix: &str) {
        let names = OpId::all().filter(|op| *op != OpId::ALLOC).flat_map(|op| op.op().names);
        let mut names: Vec<&str> = names.filter_map(|(name, _)| name.strip_prefix(prefix)).collect();
        names.retain(|name| !name.contains('.'));
        names.sort_unstable();
        names.dedup();
        for name in names {
            let key = format!("{path}{name}");
            let meanings = signature_help::operations(&format!("{prefix}{name}"), self.level);
            let Some(meaning) = meanings.first() else { continue };
            let signature = signature_help::of_operation(&key, *meaning);
            let key = if self.level == Level::Tensors { format!("{AMONG_TENSORS}{key}") } else { key };
            self.add_function(name, CompletionKind::Operation, &key, &signature);
        }
    }

    /// Words right after `path`.
    fn words(&mut self, path: &str) {
        let table = self.place.dialect.words;
        for word in table {
            if let Some(name) = word.path.strip_prefix(path).filter(|name| !name.contains('.')) {
                self.word(name, word);
            }
        }
    }

    fn word(&mut self, label: &str, word: &Word) {
        let kind = match word.kind {
            WordKind::Module => CompletionKind::Module,
            WordKind::Type => CompletionKind::Type,
            WordKind::Enumeration => CompletionKind::Enumeration,
            WordKind::Member => CompletionKind::Member,
            WordKind::Function => {
                let signature = signature_help::of_word(word);
                return self.add_function(label, CompletionKind::Function, word.path, &signature);
            }
        };
        self.add(label, kind, word.about.to_owned()).key = Some(word.path.to_owned());
    }

    /// Members of an enumeration, in full, by the name of the module that the call around the position uses.
    fn members(&mut self, enumeration: &str) {
        let place = self.place;
        let Some((_, typed)) = place.cursor.open.last().and_then(|open| open.callee.split_last()) else { return };
        if typed.is_empty() {
            return;
        }
        let table = place.dialect.words;
        for word in table.iter().filter(|word| word.kind == WordKind::Member) {
            if word.path.starts_with(enumeration)
                && let Some((_, path)) = word.path.split_once('.')
            {
                self.word(&format!("{}.{path}", typed.join(".")), word);
            }
        }
    }

    /// Those that the kernel uses most come first.
    fn dtypes(&mut self, prefix: &str) {
        let mut all: Vec<&Dtype> = Dtype::ALL.iter().collect();
        let uses = |dtype: &Dtype| self.place.text.matches(&format!("pl.{dtype}")).count();
        all.sort_by_cached_key(|dtype| std::cmp::Reverse(uses(dtype)));
        for dtype in all {
            self.add(&format!("{prefix}{dtype}"), CompletionKind::Dtype, element(*dtype));
        }
    }

    fn spaces(&mut self, prefix: &str) {
        for space in Space::ON_CHIP.into_iter().chain([Space::Ddr]) {
            let detail = free(self.context, self.place.unit, space);
            self.add(&format!("{prefix}{space}"), CompletionKind::Space, detail);
        }
    }

    /// Keyword arguments that the call around the position still takes; what must be given comes first.
    fn keywords(&self) -> Vec<Completion> {
        let innermost = self.place.cursor.open.last();
        let is_call = |open: &&Open<'_>| open.bracket == b'(' && open.keyword.is_none();
        let Some(call) = innermost.filter(is_call) else { return Vec::new() };
        let positional = call.commas.saturating_sub(call.keywords.len());
        let mut found: Vec<Completion> = Vec::new();
        for signature in self.signatures(&call.callee) {
            for (index, param) in signature.params.iter().enumerate() {
                let is_taken =
                    (index < positional && !param.keyword_only) || call.keywords.contains(&param.name.as_str());
                let label = format!("{}=", param.name);
                if !is_taken && !param.name.starts_with('*') && !found.iter().any(|item| item.label == label) {
                    let detail = signature.label[param.label.start..param.label.end].to_owned();
                    found.push(Completion { label, kind: CompletionKind::Keyword, detail, snippet: None, key: None });
                }
            }
        }
        found.sort_by_key(|item| item.detail.contains('='));
        found
    }

    fn signatures(&self, callee: &[&str]) -> Vec<Signature> {
        let path = self.place.canonical(callee);
        let bracket = self.place.cursor.open.last().map(|open| open.at);
        let level = bracket.map_or(self.level, |bracket| Level::of_call(self.context, self.place, bracket));
        path.map_or_else(Vec::new, |path| signature_help::of_callee(&path, level))
    }

    /// What kind of value the position takes, by the parameter that it is.
    fn expected(&self) -> Option<Expected> {
        let innermost = self.place.cursor.open.last()?;
        if innermost.bracket == b'[' {
            let path = self.place.canonical(&innermost.callee)?;
            return match (path.as_str(), innermost.commas) {
                ("pl.Tile" | "pl.Tensor" | "pl.Array", 1) | ("pl.Scalar", 0) => Some(Expected::Dtype),
                ("pl.Tile", _) => Some(Expected::Space),
                _ => None,
            };
        }
        let signatures = self.signatures(&innermost.callee);
        let active = |signature: &Signature| {
            let param = match innermost.keyword {
                Some(keyword) => signature.params.iter().find(|param| param.name == keyword)?,
                None => signature.params.get(innermost.commas).filter(|param| !param.keyword_only)?,
            };
            Some(param.name.clone())
        };
        match signatures.iter().find_map(active)?.as_str() {
            "dtype" | "target_type" if self.place.dialect.has_tiles => Some(Expected::Dtype),
            "target_memory" | "memory_space" => Some(Expected::Space),
            "storage" => Some(Expected::Members("tlx.storage_kind.")),
            "group_type" => Some(Expected::Members("tlx.reuse_group_type.")),
            "mode" if innermost.callee.last().is_some_and(|name| name.starts_with("split")) => {
                Some(Expected::Members("pl.SplitMode."))
            }
            "pad" | "pad_value" => Some(Expected::Members("pl.PadValue.")),
            "level" => Some(Expected::Members("pl.Level.")),
            "role" => Some(Expected::Members("pl.Role.")),
            "atomic" => Some(Expected::Members("pl.AtomicType.")),
            "mask_pattern" => Some(Expected::Members("pl.tile.MaskPattern.")),
            "mode" if innermost.callee.last() == Some(&"cast") => Some(Expected::Strings(&ROUNDING)),
            "mode" if innermost.callee.last() == Some(&"scope") => Some(Expected::Members("pl.ScopeMode.")),
            _ => None,
        }
    }

    /// What the names at the position are for, as far as that can be told.
    fn wanted(&self) -> Option<Wanted> {
        let Some(innermost) = self.place.cursor.open.last() else {
            let line = self.place.text.get(self.place.cursor.line..)?.trim_start();
            return line
                .starts_with("for ")
                .then_some(Wanted::Header)
                .or(line.starts_with("with ").then_some(Wanted::Header));
        };
        if innermost.bracket == b'[' {
            return Some(Wanted::Scalar);
        }
        let signature = self.signatures(&innermost.callee).into_iter().next()?;
        let param = match innermost.keyword {
            Some(keyword) => signature.params.iter().find(|param| param.name == keyword)?,
            None => signature.params.get(innermost.commas)?,
        };
        match param.name.as_str() {
            name if name.contains("tensor") => Some(Wanted::Tensor),
            "offsets" | "shapes" | "shape" | "valid_shape" | "axis" | "value" | "scalar" | "core_num" | "stage" => {
                Some(Wanted::Scalar)
            }
            _ if self.place.dialect.has_tiles && self.level == Level::Tensors => Some(Wanted::Tensor),
            _ if self.place.dialect.has_tiles => Some(Wanted::Tile),
            _ => None,
        }
    }

    /// Names that the kernel binds above the position: those of the wanted kind first, then the nearest.
    fn names(&mut self, wanted: Option<Wanted>) {
        let ast = db::syntax(self.context.db, self.place.unit);
        let spans = &db::parsed(self.context.db, self.place.unit).spans;
        let offset = self.place.cursor.line;
        let mut bound: Vec<(usize, &str)> = Vec::new();
        for (id, expr) in ast.exprs() {
            let range = spans.expr(id);
            if let Expr::Name(name) = expr
                && range.end <= offset.max(1)
            {
                bound.push((range.start, name));
            }
        }
        let binders = binders(ast);
        bound.retain(|(_, name)| binders.contains(name));
        bound.sort_unstable_by_key(|&(at, _)| std::cmp::Reverse(at));
        let values = languages::of(self.context, self.place.unit).values(self.context, self.place.unit);
        let mut seen: Vec<&str> = Vec::new();
        let mut found: Vec<(bool, &str, String)> = Vec::new();
        for (_, name) in bound {
            if seen.contains(&name) || name == "self" {
                continue;
            }
            seen.push(name);
            let value = values.as_ref().and_then(|of| of(name));
            let is_wanted = wanted.is_none_or(|wanted| value.as_ref().is_some_and(|value| wanted.is(value.kind)));
            // Other names are the business of Python servers, while the kernel can be read.
            if value.is_some() || values.is_none() {
                found.push((is_wanted, name, value.map(|value| value.detail).unwrap_or_default()));
            }
        }
        found.sort_by_key(|(is_wanted, ..)| !is_wanted);
        for (_, name, detail) in found {
            self.add(name, CompletionKind::Variable, detail);
        }
    }
}

/// How many bytes an element takes.
pub(super) fn element(dtype: Dtype) -> String {
    match dtype.storage_bits() {
        bits if bits % 8 == 0 => format!("{} B an element", bits / 8),
        bits => format!("{bits} bits an element"),
    }
}

/// What the plan of a block's kernels leaves free in a memory space.
pub(super) fn free(context: &Context<'_>, unit: Unit<'_>, space: Space) -> String {
    if space == Space::Ddr {
        return "global memory".to_owned();
    }
    let config = context.config();
    let machine = Machine { target: config.target, replaced: &config.capacity };
    let plans = db::plans(context.db, unit).iter();
    let used = plans.filter_map(|outcome| outcome.plan()?.space(space)).map(|space| space.used).max().unwrap_or(0);
    match machine.capacity(space) {
        None => format!("not limited on {}", config.target),
        Some(capacity) if used > capacity => format!("{} B too much for {capacity} B", used - capacity),
        Some(capacity) => format!("{} of {} free", formatting::bytes(capacity - used), formatting::bytes(capacity)),
    }
}

enum Expected {
    Dtype,
    Space,
    /// Of the enumeration with this path.
    Members(&'static str),
    /// String literals.
    Strings(&'static [&'static str]),
}

/// What a name at a position is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Tile,
    Tensor,
    Scalar,
    /// The range of a loop, or a scope.
    Header,
}

impl Wanted {
    fn is(self, kind: ValueKind) -> bool {
        match self {
            Wanted::Tile => kind == ValueKind::Tile,
            Wanted::Tensor => kind == ValueKind::Tensor,
            Wanted::Scalar | Wanted::Header => kind == ValueKind::Scalar,
        }
    }
}

fn call_snippet(label: &str, signature: &Signature) -> String {
    let required = signature.params.iter().filter(|param| param.required && !param.name.starts_with('*'));
    let arguments = required.enumerate().map(|(i, param)| {
        let keyword = if param.keyword_only { format!("{}=", param.name) } else { String::new() };
        format!("{keyword}${{{}:{}}}", i + 1, param.name)
    });
    let arguments: Vec<_> = arguments.collect();
    if arguments.is_empty() { format!("{label}($1)$0") } else { format!("{label}({})$0", arguments.join(", ")) }
}

/// Names that a block binds.
fn binders(ast: &Ast) -> Vec<&str> {
    let mut names = Vec::new();
    for (_, stmt) in ast.stmts() {
        match stmt {
            Stmt::Function(function) => names.extend(function.params.iter().map(|param| param.name)),
            Stmt::Assign { targets, .. } => names.extend(targets),
            Stmt::For { target, .. } => names.push(*target),
            Stmt::With { items, .. } => names.extend(items.iter().filter_map(|item| item.target)),
            _ => {}
        }
    }
    let mut next = 0;
    while let Some(&target) = names.get(next) {
        next += 1;
        names.extend(ast.elements(target).unwrap_or_default());
    }
    names.into_iter().filter_map(|target| ast.name(target)).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::Fixture;

    const HEADER: &str = "\
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        x = pl.load(a, [0, 0], [64, 64])
";

    const FOOTER: &str = "
        out = pl.store(x, [0, 0], out)
        return out

N = 4
";

    /// The completions at `$0`.
    fn at(text: &str) -> Option<Completions> {
        let fixture = Fixture::new(text);
        fixture.completions(fixture.cursor())
    }

    fn in_kernel(line: &str) -> Vec<Completion> {
        at(&format!("{HEADER}        {line}{FOOTER}")).map_or_else(Vec::new, |found| found.items)
    }

    /// Lists the first items at the cursor of a line in a kernel.
    #[track_caller]
    fn check(line: &str, most: usize, expect: Expect) {
        let items = in_kernel(line);
        let shown = items.iter().take(most).map(|item| format!("{} · {}\n", item.label, item.detail));
        expect.assert_eq(&shown.collect::<String>());
    }

    fn labels(line: &str) -> Vec<String> {
        in_kernel(line).into_iter().map(|item| item.label).collect()
    }

    #[test]
    fn operations_while_nothing_is_behind_the_dot() {
        let tile = in_kernel("y = pl.tile.$0");
        let exp = tile.iter().find(|item| item.label == "exp").expect("an operation");
        assert_eq!(exp.detail, "pl.tile.exp(tile) -> Tile");
        assert_eq!(exp.snippet.as_deref(), Some("exp(${1:tile})$0"));
        assert_eq!(exp.key.as_deref(), Some("pl.tile.exp"));
        let short = labels("y = pl.$0");
        for name in ["exp", "load", "FP32", "range", "Mem", "Tile", "MemRef", "tile"] {
            assert!(short.iter().any(|label| label == name), "{name}");
        }
        assert_eq!(short.iter().filter(|label| *label == "add").count(), 1);
        // Arguments that are there stay.
        assert_eq!(
            in_kernel("y = pl.ex$0(x)").iter().find(|item| item.label == "exp").and_then(|i| i.snippet.clone()),
            None
        );
    }

    #[test]
    fn every_key_is_documented() {
        for item in in_kernel("y = pl.$0").into_iter().chain(in_kernel("y = pl.tile.$0")) {
            if let Some(key) = &item.key {
                assert!(documentation(key).is_some_and(|text| !text.is_empty()), "{key}");
            }
        }
        assert_eq!(documentation("no such key"), None);
    }

    #[test]
    fn arguments() {
        check(
            "y = pl.load(a, [0, 0], [64, 64], $0",
            4,
            expect![[r#"
                valid_shape= · valid_shape=None
                target_memory= · target_memory=pl.Mem.Vec
                clamp= · clamp=False
                n · Scalar INT64
            "#]],
        );
        check(
            "y = pl.cast($0",
            5,
            expect![[r#"
                x · Tile [64, 64] FP32, Vec
                a · Tensor FP32
                out · Tensor FP32
                n · Scalar INT64
                pl · pypto.language
            "#]],
        );
        check(
            "y = pl.load(a, [0, 0], [64, 64], target_memory=$0)",
            3,
            expect![[r#"
            pl.Mem.Vec · 168 KiB of 184 KiB free
            pl.Mem.Mat · 512 KiB of 512 KiB free
            pl.Mem.Left · 64 KiB of 64 KiB free
        "#]],
        );
        check(
            "y = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.$0",
            2,
            expect![[r#"
            Vec · 168 KiB of 184 KiB free
            Mat · 512 KiB of 512 KiB free
        "#]],
        );
        check(
            "y: pl.Tile[[64, 64], $0",
            2,
            expect![[r#"
                pl.FP32 · 4 B an element
                pl.INT64 · 8 B an element
            "#]],
        );
        check(
            "y = pl.add(x, pl.exp($0",
            3,
            expect![[r#"
                x · Tile [64, 64] FP32, Vec
                a · Tensor FP32
                out · Tensor FP32
            "#]],
        );
    }

    #[test]
    fn nothing_where_nothing_is_to_be_said() {
        assert_eq!(at(&format!("{HEADER}{FOOTER}M = $0")), None);
        assert_eq!(at(&format!("{HEADER}{FOOTER}M = pl.$0")), None);
        assert_eq!(at("import pypto.language as pl\n\ndef f():\n    x = pl.$0\n"), None);
        assert_eq!(labels("x = 1  # pl.$0"), [""; 0]);
        assert_eq!(labels("x = 'pl.$0'"), [""; 0]);
        assert_eq!(labels("for $0"), [""; 0]);
        assert_eq!(labels("x.$0"), [""; 0]);
        assert_eq!(labels("x $0"), [""; 0]);
    }

    #[test]
    fn tlx_under_any_name() {
        let kernel = |line: &str| {
            format!(
                "import triton\nimport triton.language as tl\nimport triton.language.extra.tlx as fast\n\n@triton.jit\ndef k(a, B: tl.constexpr):\n    s = fast.storage_alias_spec(storage=fast.storage_kind.smem)\n    b = fast.local_alloc((64, 64), tl.float16, 2, reuse=s)\n    {line}\n"
            )
        };
        let shown = |line: &str| {
            let items = at(&kernel(line)).map_or_else(Vec::new, |found| found.items);
            items.into_iter().map(|item| format!("{} · {}\n", item.label, item.detail)).collect::<Vec<_>>()
        };
        assert!(shown("x = fast.$0").iter().any(|item| item.starts_with("local_view · tlx.local_view(")));
        let first = |line: &str| shown(line).into_iter().take(4).collect::<String>();
        expect![[r#"
            fast.storage_kind.smem · Shared memory, counted in bytes.
            fast.storage_kind.tmem · Tensor memory, counted in columns of 32 bits; Blackwell only.
            s · storage alias spec in smem
            b · 2 × [64, 64] float16 in smem
        "#]]
        .assert_eq(&first("c = fast.local_alloc((64, 64), tl.float16, 2, storage=$0"));
        expect![[r#"
            s · storage alias spec in smem
            b · 2 × [64, 64] float16 in smem
        "#]]
        .assert_eq(&first("c = fast.local_alloc((64, 64), tl.float16, 2, reuse=$0"));
        expect![[r#"
            smem · Shared memory, counted in bytes.
            tmem · Tensor memory, counted in columns of 32 bits; Blackwell only.
        "#]]
        .assert_eq(&first("x = fast.storage_kind.$0"));
    }
}
