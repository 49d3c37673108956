//! Kernels of forms that statements alone do not make: prefetched and scaled operands, arrays of scalars, flags, jumps, tensors whose
//! extents are known at run time, windows of other devices, functions that a factory or another file has.

use tilefit_pypto::target::Space;
use tilefit_python::element::Dtype::{Fp16, Fp32, Index, Int32};

use super::author::Author;
use super::operations::Level;
use super::sizes;
use super::values::{DYNAMIC, ScalarName, Tensor, Value, ValueType, list, spelled};
use super::{finish, names, parameters_that_are_scalars, result_type, taste};
use crate::random::Random;

/// Where the statements of a form stand.
#[derive(Debug, Clone, Copy)]
enum Around {
    /// A function of this type.
    Function(&'static str),
    /// The scope of a `@pl.jit` function.
    Scope,
    /// A `@pl.jit` function that has scopes of its own.
    Host,
}

struct Form {
    /// How often it is taken.
    weight: u32,
    around: Around,
    write: fn(&mut Author<'_>),
}

const FORMS: &[Form] = &[
    Form { weight: 2, around: Around::Function("InCore"), write: prefetched },
    Form { weight: 2, around: Around::Function("InCore"), write: array },
    Form { weight: 2, around: Around::Function("InCore"), write: flags },
    Form { weight: 2, around: Around::Function("AIV"), write: signals },
    Form { weight: 1, around: Around::Function("InCore"), write: scaled_product },
    Form { weight: 3, around: Around::Function("InCore"), write: rows_of_run_time },
    Form { weight: 2, around: Around::Function("InCore"), write: block_indices },
    Form { weight: 3, around: Around::Function("InCore"), write: jumps },
    Form { weight: 2, around: Around::Function("InCore"), write: chosen_scalar },
    Form { weight: 3, around: Around::Function("InCore"), write: distributed },
    Form { weight: 3, around: Around::Scope, write: gathered_rows },
    Form { weight: 3, around: Around::Host, write: tail_of_run_time },
    Form { weight: 2, around: Around::Host, write: vector_units },
    Form { weight: 3, around: Around::Host, write: factory },
    Form { weight: 3, around: Around::Host, write: of_another_file },
];

pub(super) fn text(random: &mut Random) -> String {
    let weights: Vec<u32> = FORMS.iter().map(|form| form.weight).collect();
    let form = &FORMS[random.weighted(&weights)];
    let level = if matches!(form.around, Around::Function(_)) { Level::Tile } else { Level::Tensor };
    let mut taste = taste(random, level);
    taste.products = 0;
    if matches!(form.around, Around::Function("AIV")) {
        (taste.annotate, taste.reassign, taste.nest) = (100, 0, 0);
    }
    let mut author = Author::new(random, level, taste);
    author.scalars = parameters_that_are_scalars();
    author.budget = 8;
    author.depth = if matches!(form.around, Around::Host) { 1 } else { 2 };
    (form.write)(&mut author);
    if !matches!(form.around, Around::Host) {
        finish(&mut author);
    }
    let (parameters, outputs) = author.signature();
    let (parameters, body, returned) = (parameters.join(", "), author.lines.join("\n"), names(&outputs));
    let before = author.declarations();
    match form.around {
        Around::Function(kind) => {
            let distributed = match parameters.contains("pld.") {
                true => "import pypto.language.distributed as pld\n",
                false => "",
            };
            format!(
                "import pypto.language as pl\n{distributed}\n{before}\n@pl.program\nclass Random:\n    @pl.function(type=pl.FunctionType.{kind})\n    def kernel(self, {parameters}) -> {}:\n{body}\n        return {returned}\n",
                result_type(&outputs)
            )
        }
        Around::Scope => format!(
            "import pypto.language as pl\n\n\n@pl.jit\ndef entry({parameters}):\n    with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"scope\"):\n{body}\n    return {returned}\n"
        ),
        Around::Host => {
            format!(
                "import pypto.language as pl\n{before}\n\n@pl.jit\ndef entry({parameters}):\n{body}\n    return {returned}\n"
            )
        }
    }
}

/// The scalar of a loop around the statements.
fn index(author: &mut Author<'_>, name: &str, end: Option<u64>) {
    author.scalars.push(ScalarName { name: name.to_owned(), dtype: Index, end });
}

fn prefetched(author: &mut Author<'_>) {
    let length = author.random.of(&[512, 1024, 2048]);
    let source = author.declare(&[1, length], Fp32, false);
    let (context, event, session) = (author.fresh("p"), author.fresh("p"), author.fresh("p"));
    author.line(format!("{context} = pl.prefetch.make_context()"));
    author.line(format!("{event} = pl.prefetch.async_prefetch({source}, {context})"));
    author.line(format!("{session} = pl.prefetch.session({context})"));
    author.statements(3);
    author.line(format!("pl.prefetch.wait({event}, {session})"));
    let kind = ValueType::vec(&[1, length], Fp32);
    author.bind(format!("pl.load({source}, [0, 0], [1, {length}])"), kind);
    author.statements(3);
}

fn array(author: &mut Author<'_>) {
    let rows = author.random.of(&[8, 16, 32]);
    let source = author.declare(&[1, 8], Int32, false);
    let (indices, array, index_of, element, row) =
        (author.fresh("u"), author.fresh("a"), author.fresh("i"), author.fresh("r"), author.fresh("r"));
    author.line(format!("{indices} = pl.load({source}, [0, 0], [1, 8])"));
    author.line(format!("{array} = pl.array.create(4, pl.INT32)"));
    author.line(format!("for {index_of} in pl.unroll(4):"));
    author.line(format!("    {array}[{index_of}] = pl.tile.read({indices}, [0, {index_of}])"));
    author.line(format!("for {index_of} in pl.range(4):"));
    author.block(|author| {
        author.line(format!("{element} = {array}[{index_of}]"));
        author.line(format!("{row} = pl.cast({element}, pl.INDEX)"));
        index(author, &row, None);
        author.statements(3);
        let columns = author.random.of(&[32, 64]);
        let kind = ValueType::vec(&[rows, columns], Fp32);
        let value = author.operand(&kind);
        let out = author.tensor(Fp32, &[rows, columns], true).name;
        author.line(format!("{out} = pl.store({value}, [{row} * {rows}, 0], {out})"));
    });
}

/// Flags between the pipes of one core, written by the author.
fn flags(author: &mut Author<'_>) {
    for event in 0..author.random.within(1, 3) {
        let kind = ValueType::vec(&author.extents(), Fp32);
        let value = author.load_tile(&kind);
        let pipes = format!("set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id={event}");
        author.line(format!("pl.system.sync_src({pipes})"));
        author.line(format!("pl.system.sync_dst({pipes})"));
        author.bind(format!("pl.exp({})", value.name), kind);
        author.statements(2);
        let barrier = author.random.of(&["bar_v", "bar_m", "bar_all"]);
        author.line(format!("pl.system.{barrier}()"));
    }
}

/// Signals between cores.
fn signals(author: &mut Author<'_>) {
    let workspace = author.parameter("pl.Tensor[[256], pl.INT64]");
    author.line(format!("pl.system.set_ffts({workspace})"));
    author.statements(3);
    let event = author.random.within(0, 7);
    author.line(format!("pl.system.sync_set({event}, pipe=pl.PipeType.MTE3, ffts_mode=1)"));
    author.line(format!("pl.system.sync_wait({event}, pipe=pl.PipeType.MTE2)"));
    if author.random.percent(50) {
        author.line("pl.system.syncall(core_type=\"aiv_only\")");
    }
    author.statements(3);
}

/// A product of operands with a scale for 32 elements each.
fn scaled_product(author: &mut Author<'_>) {
    let (rows, depth, columns) =
        (author.random.of(&[16, 64, 128]), author.random.of(&[64, 128]), author.random.of(&[32, 64, 128]));
    let scales = depth / 32;
    let data = |shape: &[u64]| format!("pl.Tensor[{}, pl.FP8E4M3FN]", list(shape));
    let left = author.parameter(&data(&[rows, depth]));
    let of_left = author.parameter(&format!("pl.Tensor[[{rows}, {scales}], pl.FP8E8M0, pl.MX_A_ZZ]"));
    let right = author.parameter(&data(&[depth, columns]));
    let of_right = author.parameter(&format!("pl.Tensor[[{scales}, {columns}], pl.FP8E8M0, pl.MX_B_NN]"));
    let mut operands = Vec::new();
    for (tensor, shape, space) in [
        (left, [rows, depth], "Left"),
        (of_left, [rows, scales], "LeftScale"),
        (right, [depth, columns], "Right"),
        (of_right, [scales, columns], "RightScale"),
    ] {
        let (loaded, moved) = (author.fresh("m"), author.fresh("m"));
        author.line(format!("{loaded} = pl.load({tensor}, [0, 0], {}, target_memory=pl.Mem.Mat)", list(&shape)));
        author.line(format!("{moved} = pl.move({loaded}, target_memory=pl.Mem.{space})"));
        operands.push(moved);
    }
    let operands = operands.join(", ");
    let kind = ValueType::vec(&[rows, columns], Fp32).at(Space::Acc);
    let mut result = author.fresh("g");
    match author.random.below(3) {
        0 => {
            let bias = author.load_tile(&ValueType::vec(&[1, columns], Fp32).at(Space::Mat)).name;
            let moved = author.fresh("m");
            author.line(format!("{moved} = pl.move({bias}, target_memory=pl.Mem.Bias)"));
            author.line(format!("{result} = pl.matmul_mx_bias({operands}, {moved})"));
        }
        chosen => {
            author.line(format!("{result} = pl.matmul_mx({operands})"));
            if chosen == 1 {
                let first = std::mem::replace(&mut result, author.fresh("g"));
                author.line(format!("{result} = pl.matmul_mx_acc({first}, {operands})"));
            }
        }
    }
    author.store(&Value { name: result, kind });
}

/// A loop over the rows of a tensor that has as many as the caller gives it.
fn rows_of_run_time(author: &mut Author<'_>) {
    let kind = ValueType::vec(&author.extents(), Fp32);
    let (rows, columns) = (kind.shape[0], kind.shape[1]);
    let (source, out) =
        (author.declare(&[DYNAMIC, columns], Fp32, false), author.declare(&[DYNAMIC, columns], Fp32, true));
    let (extent, at) = (author.fresh("d"), author.fresh("i"));
    author.line(format!("{extent} = pl.tensor.dim({source}, 0)"));
    author.line(format!("for {at} in pl.range(0, {extent}, {rows}):"));
    author.block(|author| {
        let partly = author.random.percent(40);
        let valid = match partly {
            true => format!(", valid_shape=[pl.min({rows}, {extent} - {at}), {columns}]"),
            false => String::new(),
        };
        let loaded = author.fresh("t");
        author.line(format!("{loaded} = pl.load({source}, [{at}, 0], {}{valid})", list(&kind.shape)));
        let name = author.fresh("t");
        author.line(format!("{name} = pl.exp({loaded})"));
        if !partly {
            author.values.push(Value { name: name.clone(), kind: kind.clone() });
        }
        author.statements(3);
        author.line(format!("{out} = pl.store({name}, [{at}, 0], {out})"));
    });
}

fn block_indices(author: &mut Author<'_>) {
    let (block, count, unit) = (author.fresh("b"), author.fresh("b"), author.fresh("b"));
    author.line(format!("{block} = pl.tile.get_block_idx()"));
    author.line(format!("{count} = pl.tile.get_block_num()"));
    author.line(format!("{unit} = pl.tile.get_subblock_idx()"));
    let kind = ValueType::vec(&author.extents(), Fp32);
    let (source, out) =
        (author.declare(&[4096, kind.shape[1]], Fp32, false), author.declare(&[4096, kind.shape[1]], Fp32, true));
    let rows = kind.shape[0];
    let value = author.bind(format!("pl.load({source}, [{block} * {rows}, 0], {})", list(&kind.shape)), kind.clone());
    author.statements(4);
    author.line(format!("{out} = pl.store({}, [{count} * {rows} + {unit} * {rows}, 0], {out})", value.name));
}

/// `continue`, and `break` in a loop of another one: of one at the top the compiler refuses the flag that it makes.
fn jumps(author: &mut Author<'_>) {
    let (outer, inner) = (author.fresh("i"), author.fresh("i"));
    author.line(format!("for {outer} in pl.range(4):"));
    author.block(|author| {
        index(author, &outer, Some(4));
        author.statements(2);
        if author.random.percent(50) {
            let limit = author.random.within(0, 3);
            author.line(format!("if {outer} > {limit}:"));
            author.line("    continue");
            author.statements(2);
            finish(author);
            return;
        }
        author.line(format!("for {inner} in pl.range(2):"));
        author.block(|author| {
            index(author, &inner, Some(2));
            author.line(format!("if n > {inner}:"));
            author.line("    break");
            author.statements(2);
            finish(author);
        });
    });
}

/// A number that branches and loops set.
fn chosen_scalar(author: &mut Author<'_>) {
    let (number, at) = (author.fresh("k"), author.fresh("i"));
    author.line(format!("{number} = pl.const(0, pl.INDEX)"));
    author.line(format!("for {at} in pl.range(4):"));
    author.block(|author| {
        author.line("if n > 3:");
        author.line(format!("    {number} = {number} + 1"));
        author.line("else:");
        author.line(format!("    {number} = {number} + 2"));
        index(author, &number, None);
        author.statements(3);
        let kind = ValueType::vec(&[16, 64], Fp32);
        let value = author.operand(&kind);
        let out = author.tensor(Fp32, &[16, 64], true).name;
        author.line(format!("{out} = pl.store({value}, [{number} * 16, 0], {out})"));
    });
}

/// A window of memory that all devices see.
fn distributed(author: &mut Author<'_>) {
    let (rows, columns) = (author.random.of(&[1, 16, 32]), author.random.of(&[32, 64, 128]));
    let window = author.parameter(&format!("pl.InOut[pld.DistributedTensor[[{rows}, {columns}], pl.FP32]]"));
    let signal = author.parameter("pl.InOut[pld.DistributedTensor[[8, 1], pl.INT32]]");
    let (context, rank, ranks) = (author.fresh("q"), author.fresh("q"), author.fresh("q"));
    author.line(format!("{context} = pld.get_comm_ctx({window})"));
    author.line(format!("{rank} = pld.rank({context})"));
    author.line(format!("{ranks} = pld.nranks({context})"));
    let kind = ValueType::vec(&[rows, columns], Fp32);
    let own = author.load_tile(&kind);
    author.statements(2);
    author.line(format!("{window} = pl.store({}, [0, 0], {window})", own.name));
    let peer = author.fresh("i");
    for (call, arguments) in [
        ("notify", format!("target={signal}, peer={peer}, offsets=[{rank}, 0], value=1, op=pld.NotifyOp.AtomicAdd")),
        ("wait", format!("signal={signal}, offsets=[{peer}, 0], expected=1, cmp=pld.WaitCmp.Ge")),
    ] {
        author.line(format!("for {peer} in pl.range({ranks}):"));
        author.line(format!("    if {peer} != {rank}:"));
        author.line(format!("        pld.system.{call}({arguments})"));
    }
    author.line(format!("for {peer} in pl.range({ranks}):"));
    author.block(|author| {
        let loaded =
            format!("pld.tile.remote_load({window}, peer={peer}, offsets=[0, 0], shape={})", list(&kind.shape));
        let name = author.fresh("t");
        author.line(format!("{name} = {loaded}"));
        let sum = author.bind(format!("pl.add({name}, {})", own.name), kind.clone());
        author.statements(2);
        if author.random.percent(40) {
            author.line(format!("pld.tile.remote_store({}, {window}, peer={peer}, offsets=[0, 0])", sum.name));
        }
        author.store(&sum);
    });
}

/// Rows that are gathered into the memory of the cube core, where a product reads them.
fn gathered_rows(author: &mut Author<'_>) {
    let (rows, columns, left) =
        (author.random.of(&[16, 32, 64]), author.random.of(&[64, 128]), author.random.of(&[16, 32]));
    let (pool, factor) = (author.declare(&[256, columns], Fp16, false), author.declare(&[left, rows], Fp16, false));
    let places = author.parameter(&format!("pl.Tensor[[{rows}], pl.INT32]"));
    let gathered = author.fresh("t");
    author.line(format!("{gathered} = pl.create_l1([{rows}, {columns}], pl.FP16)"));
    let (at, place) = (author.fresh("i"), author.fresh("r"));
    if author.random.percent(50) {
        author.line(format!("for {at} in pl.range({rows}):"));
        author.line(format!("    {place} = pl.cast(pl.read({places}, [{at}]), pl.INDEX)"));
        author.line(format!(
            "    {gathered} = pl.gather_row({gathered}, {pool}, [{at}, 0], [{place}, 0], [1, {columns}])"
        ));
    } else {
        author.line(format!("{place} = pl.cast(pl.read({places}, [0]), pl.INDEX)"));
        author.line(format!("{gathered} = pl.gather_row({gathered}, {pool}, [0, 0], [64, 0], [{rows}, {columns}])"));
        author.line(format!(
            "{gathered} = pl.gather_row({gathered}, {pool}, [0, 0], [0, 0], [{rows}, {columns}], valid_shape=[{place}, {columns}])"
        ));
    }
    let product = author.fresh("t");
    author.line(format!("{product} = pl.matmul({factor}, {gathered}, out_dtype=pl.FP32)"));
    author.store(&Value { name: product, kind: ValueType::vec(&[left, columns], Fp32) });
}

/// Scopes over the rows of a tensor that has as many as the caller gives it, the last ones in part.
fn tail_of_run_time(author: &mut Author<'_>) {
    let kind = ValueType::vec(&author.extents(), Fp32);
    let (rows, columns) = (kind.shape[0], kind.shape[1]);
    let (source, out) =
        (author.declare(&[DYNAMIC, columns], Fp32, false), author.declare(&[DYNAMIC, columns], Fp32, true));
    let (extent, at) = (author.fresh("d"), author.fresh("b"));
    author.line(format!("{extent} = pl.tensor.dim({source}, 0)"));
    author.line(format!("for {at} in pl.range(0, {extent}, {rows}):"));
    author.block(|author| {
        author.line("with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"scope\"):");
        author.block(|author| {
            let loaded = author.fresh("t");
            let valid = format!("valid_shape=[pl.min({rows}, {extent} - {at}), {columns}]");
            author.line(format!("{loaded} = pl.slice({source}, {}, [{at}, 0], {valid})", list(&kind.shape)));
            let name = author.fresh("t");
            author.line(format!("{name} = pl.mul({loaded}, 2.0)"));
            author.statements(3);
            author.line(format!("{out} = pl.assemble({out}, {name}, [{at}, 0])"));
        });
    });
}

/// Statements that both vector units run, each for its part.
fn vector_units(author: &mut Author<'_>) {
    let kind = ValueType::vec(&author.extents(), Fp32);
    let (rows, columns) = (kind.shape[0], kind.shape[1]);
    let (source, out) =
        (author.declare(&[8 * rows, columns], Fp32, false), author.declare(&[8 * rows, columns], Fp32, true));
    let (block, unit) = (author.fresh("b"), author.fresh("v"));
    author.line(format!("for {block} in pl.spmd(4, name_hint=\"scope\"):"));
    author.block(|author| {
        author.line(format!("for {unit} in pl.split_aiv(2, mode=pl.SplitMode.NONE):"));
        author.block(|author| {
            let start = format!("{block} * {} + {unit} * {rows}", 2 * rows);
            let window = format!("{start}:{start} + {rows}, 0:{columns}");
            let (loaded, name) = (author.fresh("t"), author.fresh("t"));
            author.line(format!("{loaded} = {source}[{window}]"));
            author.line(format!("{name} = pl.exp({loaded})"));
            author.statements(2);
            author.line(format!("{out}[{window}] = {name}"));
        });
    });
}

/// An inlined function that another function defines and returns.
fn factory(author: &mut Author<'_>) {
    let kind = ValueType::vec(&author.extents(), Fp32);
    let shape = [4 * kind.shape[0], kind.shape[1]];
    let typed = format!("pl.Tensor[{}, {}]", list(&shape), spelled(Fp32));
    let (rows, columns) = (kind.shape[0], kind.shape[1]);
    let mut part = |name: &str, statement: &str| {
        author.module.push(format!(
            "        @pl.jit.inline\n        def part(x: {typed}, o: pl.Out[{typed}]):\n            with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"{name}\"):\n                for i in pl.range(4):\n                    w = x[i * {rows}:i * {rows} + {rows}, 0:{columns}]\n                    w = {statement}\n                    o[i * {rows}:i * {rows} + {rows}, 0:{columns}] = w\n            return o\n"
        ));
    };
    part("plus", "pl.add(w, 1.0)");
    part("times", "pl.mul(pl.exp(w), w)");
    let chosen = author.random.of(&["plus", "times"]);
    let (times, plus) = (author.module.pop().unwrap_or_default(), author.module.pop().unwrap_or_default());
    author.module.push(format!(
        "IMPL = \"{chosen}\"\n\n\ndef make_part():\n    if IMPL == \"plus\":\n{plus}    else:\n{times}    return part\n\n\npart = make_part()\n"
    ));
    let (source, out) = (author.declare(&shape, Fp32, false), author.declare(&shape, Fp32, true));
    author.line(format!("{out} = part({source}, {out})"));
    own_scope(author);
}

/// An inlined function of the file of sizes.
fn of_another_file(author: &mut Author<'_>) {
    author.module.push(format!("from {} import {}\n", sizes::MODULE, sizes::HELPER));
    let shape = sizes::HELPER_SHAPE;
    let (source, out) = (author.declare(&shape, Fp32, false), author.declare(&shape, Fp32, true));
    for _ in 0..author.random.within(1, 2) {
        author.line(format!("{out} = {}({source}, {out})", sizes::HELPER));
    }
    own_scope(author);
}

fn own_scope(author: &mut Author<'_>) {
    author.line("with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"scope\"):");
    author.block(|author| {
        author.statements(4);
        finish(author);
    });
    author.tensors.retain(|tensor: &Tensor| !tensor.is_local);
}
