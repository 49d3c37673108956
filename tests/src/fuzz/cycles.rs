//! Modules in which anything may be defined in terms of anything: names, classes, functions, factories, modules, decorators, defaults and comprehensions,
//! around kernels of each language. Whatever follows a definition comes to an end, and says something.

use tilefit_analysis::confirm::KernelsAsked;
use tilefit_analysis::{Analysis, AnalysisHost, FileId};

use super::answers;
use crate::choices::Choices;
use crate::random::Random;

/// Each kind of definition has so many names, so that most lead back to themselves.
const NAMES: usize = 3;

/// Modules that import each other.
const MODULES: usize = 3;

/// Statements of a module besides its kernel.
const MOST_STATEMENTS: usize = 14;

/// Bytes that three modules take.
const MOST_DECISIONS: usize = 6000;

pub fn cycles(bytes: &[u8]) {
    // What the bytes do not decide, chance does, the same each time.
    let seed = bytes.iter().fold(0, |seed: u64, &byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let bytes = [bytes, &Random::new(seed, 0).bytes(MOST_DECISIONS)].concat();
    let mut choices = Choices::new(&bytes);
    let mut host = AnalysisHost::new();
    let mut files: Vec<(FileId, String)> = Vec::new();
    for module in 0..MODULES {
        let text = Text { choices: &mut choices, text: String::new() }.module();
        let file = host.file_id(&format!("/w/m{module}.py"));
        host.set_text(file, &text);
        files.push((file, text));
    }
    let analysis = host.snapshot();
    for (file, text) in &files {
        ask(&analysis, *file, text);
    }
}

/// Asks every feature of a file.
fn ask(analysis: &Analysis, file: FileId, text: &str) {
    let kernel = text.find("def kernel").unwrap_or_default();
    let places = [0, kernel, text.len() / 3, text.len() * 2 / 3, text.len()];
    answers(analysis, file, &places);
    analysis.configurations(file, &|_| true).expect("nothing is edited");
    analysis.all_questions(file, KernelsAsked::EveryConfiguration).expect("nothing is edited");
    analysis.lowered_ir(file).expect("nothing is edited");
    analysis.unknown_imports(file).expect("nothing is edited");
    analysis.imported_paths(file).expect("nothing is edited");
    for place in places.into_iter().filter(|&place| text.is_char_boundary(place)) {
        analysis.definition(file, place).expect("nothing is edited");
        analysis.references(file, place).expect("nothing is edited");
        analysis.incoming_calls(file, place).expect("nothing is edited");
        analysis.outgoing_calls(file, place).expect("nothing is edited");
    }
}

/// A language with a kernel of one parameter `B`, which `{decorator}` and `{default}` say more of, and the call that launches it with `{value}`.
struct Language {
    imports: &'static str,
    kernel: &'static str,
    launch: &'static str,
}

const LANGUAGES: [Language; 4] = [
    Language {
        imports: "import triton\nimport triton.language as tl\nimport torch\n",
        kernel: "
{decorator}@triton.jit
def kernel(p, B: tl.constexpr{default}):
    x = {inside}
    o = tl.arange(0, B)
    a = tl.load(p + o[:, None] * B + o[None, :])
    for i in range({inside}):
        a = tl.dot(a, a)
    tl.store(p + o[:, None] + o[None, :], helper(a, x))

@triton.jit
def helper(a, x={inside}):
    return helper(a, x) if x else a
",
        launch: "kernel[({value},)](torch.empty({value}), B={value})",
    },
    Language {
        imports: "import triton\nfrom triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n",
        kernel: "
{decorator}@gluon.jit
def kernel(p, B: gl.constexpr{default}):
    x = {inside}
    s = gl.SwizzledSharedLayout(1, 1, {inside}, order=[1, 0])
    a = gl.allocate_shared_memory(gl.float16, [B, {inside}], s)
    helper(a, x)

@gluon.jit
def helper(a, x={inside}):
    return helper(a.index(x), x) if x else a
",
        launch: "kernel[({value},)](1, B={value})",
    },
    Language {
        imports: "import triton\nimport triton.language as tl\nimport triton.language.extra.tlx as tlx\n",
        kernel: "
{decorator}@triton.jit
def kernel(p, B: tl.constexpr{default}):
    x = {inside}
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)
    a = tlx.local_alloc((B, {inside}), tl.float16, tl.constexpr({inside}), reuse=spec)
    b = [tlx.local_view(a, i) for i in range({inside})]
    with tlx.async_tasks():
        with tlx.async_task(num_warps={inside}):
            helper(a, x)

@triton.jit
def helper(a, x={inside}):
    v = tlx.local_view(a, x)
    return helper(a, x)
",
        launch: "kernel[({value},)](1, B={value})",
    },
    Language {
        imports: "import pypto.language as pl\nimport torch\n",
        kernel: "
{decorator}@pl.function(type=pl.FunctionType.InCore)
def kernel(a: pl.Tensor[[64, 64], pl.FP32], B: pl.Scalar[pl.INT64]{default}):
    t = pl.load(a, [0, 0], [{inside}, {inside}])
    for i in pl.range({inside}):
        t = pl.add(t, helper(t, {inside}))

@pl.inline
def helper(t, x={inside}):
    return helper(t, x)
",
        launch: "kernel(torch.zeros({value}, 64), {value})",
    },
];

const CONFIGURATION: &str = "triton.Config({\"B\": {value}}, num_warps={value})";

/// A module that is being written.
struct Text<'c, 'b> {
    choices: &'c mut Choices<'b>,
    text: String,
}

impl Text<'_, '_> {
    fn module(mut self) -> String {
        let language = &LANGUAGES[self.choices.below(LANGUAGES.len())];
        self.text = language.imports.to_owned() + "from dataclasses import dataclass, replace\nimport pytest\n";
        for module in 0..MODULES {
            self.import(module);
        }
        let statements = 4 + self.choices.below(MOST_STATEMENTS - 3);
        for _ in 0..statements {
            self.statement();
        }
        let decorator = self.decorator();
        let default = if self.choices.percent(50) { format!(" = {}", self.expression(2)) } else { String::new() };
        let kernel = language.kernel.replace("{decorator}", &decorator).replace("{default}", &default);
        let kernel = self.filled(&kernel);
        let launch = self.filled(language.launch);
        let test =
            self.filled("\n@pytest.mark.parametrize(\"v\", {value})\ndef test(v, w={value}):\n    x = {value}\n    ");
        self.text += &format!("{kernel}{test}{launch}\n\n{launch}\n");
        self.text
    }

    fn filled(&mut self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('{') {
            filled += before;
            match behind.split_once('}') {
                Some(("value", after)) => (filled, rest) = (filled + &self.expression(3), after),
                Some(("inside", after)) => (filled, rest) = (filled + &self.expression(1), after),
                _ => (filled, rest) = (filled + "{", behind),
            }
        }
        filled + rest
    }

    fn import(&mut self, module: usize) {
        let (name, other) = (self.name(), self.name());
        let line = match self.choices.below(5) {
            0 => format!("from m{module} import *"),
            1 => format!("from m{module} import {name} as {other}"),
            2 => format!("from m{module} import {name}, {other}"),
            _ => format!("import m{module}"),
        };
        self.text += &(line + "\n");
    }

    /// Of a name, a class or a function.
    fn name(&mut self) -> String {
        let kind = self.choices.of(&["N", "N", "C", "f", "g"]);
        format!("{kind}{}", self.choices.below(NAMES))
    }

    fn numbered(&mut self, kind: &str) -> String {
        format!("{kind}{}", self.choices.below(NAMES))
    }

    fn statement(&mut self) {
        let value = self.expression(3);
        let (n, c, f) = (self.numbered("N"), self.numbered("C"), self.numbered("f"));
        let text = match self.choices.below(9) {
            0 | 1 => format!("{n} = {value}\n"),
            2 => format!("{n}, {} = {value}, {}\n", self.numbered("N"), self.expression(2)),
            3 => format!("m{}.{n} = {value}\n", self.choices.below(MODULES)),
            4 => format!("class {c}({}):\n    {n} = {value}\n    N0 = {}\n", self.name(), self.expression(2)),
            5 => format!(
                "@dataclass\nclass {c}:\n    {n}: int = {value}\n    N1: int = {}\n    @property\n    def N2(self):\n        return {}\n",
                self.expression(2),
                self.expression(2)
            ),
            6 => format!("def {f}(a={value}):\n    b = {}\n    return {}\n", self.expression(2), self.expression(2)),
            7 => format!("def {f}(a=1):\n    if {value}:\n        return {f}(a)\n    return {}\n", self.expression(2)),
            _ => self.factory(&value),
        };
        self.text += &text;
    }

    /// A function that makes one, by what it makes.
    fn factory(&mut self, condition: &str) -> String {
        let (made, value) = (self.numbered("g"), self.expression(2));
        let inner = self.choices.of(&["@triton.jit\n        ", ""]);
        format!(
            "def make_{made}():\n    if {condition}:\n        {inner}def part():\n            return {value}\n        return part\n    {inner}def part():\n        return 1\n    return part\n{made} = make_{made}()\n"
        )
    }

    fn decorator(&mut self) -> String {
        let configuration = self.filled(CONFIGURATION);
        let n = self.numbered("N");
        match self.choices.below(5) {
            0 => format!("@triton.autotune(configs=[{configuration}, {configuration}], key=[])\n"),
            1 => {
                let list = self.expression(2);
                format!("@triton.autotune(configs=[{configuration} for {n} in {list}], key=[])\n")
            }
            2 => format!("@triton.autotune(configs={n}, key=[])\n"),
            3 => {
                let value = self.expression(2);
                format!("@triton.heuristics({{\"B\": lambda a: {value}}})\n")
            }
            _ => String::new(),
        }
    }

    fn expression(&mut self, deepest: usize) -> String {
        if deepest == 0 || self.choices.percent(15) {
            return self.choices.of(&["64", "N0", "N1", "N2", "v"]).to_owned();
        }
        let (n, c, f) = (self.numbered("N"), self.numbered("C"), self.numbered("f"));
        let m = format!("m{}", self.choices.below(MODULES));
        let mut inner = || self.expression(deepest - 1);
        let (one, other) = (inner(), inner());
        match self.choices.below(20) {
            0 | 1 => n,
            2 | 3 => format!("{c}.{n}"),
            4 => format!("{m}.{n}"),
            5 => format!("{m}.{c}.{n}"),
            6 => format!("{f}()"),
            7 => format!("{f}({one})"),
            8 => format!("{}()", self.numbered("g")),
            9 => format!("{m}.{f}({one})"),
            10 => format!("[{one} for v in {other}]"),
            11 => format!("{{v: {one} for v in {other}}}"),
            12 => format!("({one}, {other})[{n}]"),
            13 => format!("{one} + {other}"),
            14 => format!("({one} if {n} else {other})"),
            15 => format!("(lambda: {one})()"),
            16 => format!("{c}({one}).{n}"),
            17 => format!("replace({c}(), {n}={one}).{n}"),
            18 => format!("f\"{{{n}}}\""),
            _ => format!("[{one}, *{n}]"),
        }
    }
}
