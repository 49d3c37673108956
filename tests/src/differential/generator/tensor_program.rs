//! Functions on tensors, with scopes that the compiler makes kernels of, and host code around them.

use tilefit_python::element::Dtype::Index;

use super::author::{Author, Taste};
use super::operations::Level;
use super::values::{ScalarName, Tensor, list, spelled};
use super::{finish, names, parameters_that_are_scalars, result_type, sizes, taste};
use crate::random::Random;

/// How the function is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `@pl.jit`
    Jit,
    /// A method of a `@pl.program`.
    Program,
}

pub(super) fn text(random: &mut Random) -> String {
    let taste = taste(random, Level::Tensor);
    let style = random.of(&[Style::Jit, Style::Program]);
    let scopes = random.of(&[1, 1, 1, 2, 3]);
    let is_named = random.percent(12);
    let helper = random.percent(20).then(|| helper(random, &taste, style));
    let mut author = Author::new(random, Level::Tensor, taste);
    author.scalars = parameters_that_are_scalars();
    author.depth = if style == Style::Jit { 1 } else { 2 };
    author.named = is_named;
    author.dynamic = if author.random.percent(10) { 50 } else { 0 };
    let calls_at = if helper.is_some() { author.random.below(scopes) } else { usize::MAX };
    for at in 0..scopes {
        if author.random.percent(30) {
            local(&mut author);
        }
        if let Some(helper) = helper.as_ref().filter(|_| at == calls_at) {
            call(&mut author, helper, style);
        }
        author.budget = author.random.of(&[3, 6, 10, 16]);
        scope(&mut author);
        // What one scope has written, the next one may read.
        author.tensors.iter_mut().filter(|tensor| tensor.is_local).for_each(|tensor| tensor.is_output = false);
    }
    // All scopes may have written to tensors of the host only.
    if author.signature().1.is_empty() {
        author.budget = 3;
        scope(&mut author);
    }
    let (parameters, outputs) = author.signature();
    let (parameters, result, body) = (parameters.join(", "), result_type(&outputs), author.lines.join("\n"));
    let returned = names(&outputs);
    let imported = sizes::import(&body);
    let before = helper.map(|helper| helper.text).unwrap_or_default();
    match style {
        Style::Jit => format!(
            "import pypto.language as pl\n{imported}{before}\n\n@pl.jit\ndef entry({parameters}):\n{body}\n    return {returned}\n"
        ),
        Style::Program => format!(
            "import pypto.language as pl\n{imported}\n\n@pl.program\nclass Random:\n{before}    @pl.function\n    def main(self, {parameters}) -> {result}:\n{body}\n        return {returned}\n"
        ),
    }
}

/// A tensor that the host's code makes.
fn local(author: &mut Author<'_>) {
    let (shape, dtype) = (author.extents(), author.dtype(&author.taste.dtypes.clone()));
    let name = author.fresh("w");
    author.line(format!("{name} = pl.create_tensor({}, dtype={})", list(&shape), spelled(dtype)));
    author.tensors.push(Tensor { name, shape: shape.to_vec(), dtype, is_output: true, is_local: true });
}

/// A function that the entry calls.
struct Helper {
    text: String,
    tensors: Vec<Tensor>,
    scalars: Vec<String>,
}

fn helper(random: &mut Random, taste: &Taste, style: Style) -> Helper {
    let is_inline = style == Style::Jit && random.percent(60);
    let is_bare = style == Style::Jit && random.percent(60);
    let mut author = Author::new(random, Level::Tensor, taste.clone());
    author.scalars = parameters_that_are_scalars();
    author.depth = if style == Style::Jit { 1 } else { 2 };
    author.budget = 6;
    if is_inline {
        scope(&mut author);
    } else {
        author.statements(6);
        finish(&mut author);
    }
    let (parameters, outputs) = author.signature();
    let scalars: Vec<String> = parameters
        .iter()
        .filter(|parameter| parameter.contains("pl.Scalar"))
        .filter_map(|parameter| parameter.split(':').next())
        .map(str::to_owned)
        .collect();
    let bare = |parameter: &String| match parameter.split_once(": ") {
        Some((name, kind)) if kind.starts_with("pl.Out") => format!("{name}: pl.Out[pl.Tensor]"),
        Some((name, kind)) if kind.starts_with("pl.Tensor") => format!("{name}: pl.Tensor"),
        _ => parameter.clone(),
    };
    let parameters: Vec<String> = if is_bare { parameters.iter().map(bare).collect() } else { parameters };
    let (parameters, result, returned) = (parameters.join(", "), result_type(&outputs), names(&outputs));
    let body = author.lines.join("\n");
    let text = match style {
        Style::Jit => {
            let kind = if is_inline { "inline" } else { "incore" };
            format!("\n\n@pl.jit.{kind}\ndef part({parameters}):\n{body}\n    return {returned}\n")
        }
        Style::Program => format!(
            "    @pl.function(type=pl.FunctionType.InCore)\n    def part(self, {parameters}) -> {result}:\n{body}\n        return {returned}\n\n"
        ),
    };
    let mut tensors: Vec<Tensor> = author.tensors.iter().filter(|tensor| !tensor.is_output).cloned().collect();
    tensors.extend(outputs.into_iter().cloned());
    Helper { text, tensors, scalars }
}

/// Calls the helper with tensors of the entry.
fn call(author: &mut Author<'_>, helper: &Helper, style: Style) {
    let mut handed: Vec<String> = Vec::new();
    let mut results: Vec<String> = Vec::new();
    let mut scalars = helper.scalars.clone();
    for tensor in &helper.tensors {
        if tensor.is_output {
            handed.append(&mut scalars);
        }
        let name = author.declare(&tensor.shape, tensor.dtype, tensor.is_output);
        if tensor.is_output {
            results.push(name.clone());
        }
        handed.push(name);
    }
    let function = if style == Style::Jit { "part" } else { "self.part" };
    author.line(format!("{} = {function}({})", results.join(", "), handed.join(", ")));
}

/// One scope that the compiler makes a kernel of, with host code around it.
fn scope(author: &mut Author<'_>) {
    let around = author.random.below(10);
    let (before, products) = (author.scalars.len(), author.taste.products);
    match around {
        0 => {
            let index = author.fresh("b");
            let rounds = author.random.of(&[2, 4]);
            author.line(format!("for {index} in pl.range({rounds}):"));
            author.scalars.push(ScalarName { name: index, dtype: Index, end: Some(rounds) });
            author.depth += 1;
        }
        1 => {
            author.line("if n > 1:");
            author.depth += 1;
        }
        _ => {}
    }
    let name = author.fresh("scope");
    if author.random.percent(20) {
        let index = author.fresh("b");
        let blocks = author.random.of(&[2, 4, 8]);
        author.line(format!("for {index} in pl.spmd({blocks}, name_hint=\"{name}\"):"));
        author.scalars.push(ScalarName { name: index, dtype: Index, end: Some(blocks) });
    } else {
        let split = match author.random.below(20) {
            0 => ", optimizations=[pl.split(pl.SplitMode.UP_DOWN)]",
            1 => ", optimizations=[pl.split(pl.SplitMode.LEFT_RIGHT)]",
            2 => ", optimizations=[pl.cross_core_slot(slot_num=4)]",
            _ => "",
        };
        author.line(format!("with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"{name}\"{split}):"));
        // Without one, nothing is split.
        author.taste.products = author.taste.products.max(if split.is_empty() { 0 } else { 15 });
    }
    author.block(|author| {
        let budget = author.budget;
        author.statements(budget);
        finish(author);
    });
    author.taste.products = products;
    if around < 2 {
        author.depth -= 1;
    }
    author.scalars.truncate(before);
}
