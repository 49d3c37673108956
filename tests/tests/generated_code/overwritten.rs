//! First values that loops overwrite: kernels that are warned of compute something else than they say, and do not after the fix that the
//! warning names. Recorded kernels in which nothing shows it get a store of what they read too late.

use tilefit_python::diagnostics::Code;

use crate::generated_code::host::{compiled, files, written};
use crate::generated_code::kernels::program;
use crate::generated_code::numerics::Program;

const PARAMS: &str =
    "a: pl.Tensor[[256, 64], pl.FP32], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[256, 64], pl.FP32]]";

/// Name, body, and the text that a copy takes the place of, with the copy.
const WRITTEN: &[(&str, &str, [&str; 2])] = &[
    (
        "behind_the_loop",
        "x = pl.load(a, [0, 0], [64, 64])\n\
         for i, (c,) in pl.range(3, init_values=(x,)):\n\
         \x20   y = pl.add(c, c)\n\
         \x20   r = pl.yield_(y)\n\
         out = pl.store(r, [0, 0], out)\n\
         out = pl.store(x, [64, 0], out)\n\
         return out",
        ["(x,)", "(pl.move(x, target_memory=pl.Mem.Vec),)"],
    ),
    (
        "a_view_of_it_behind_the_loop",
        "x = pl.load(a, [0, 0], [64, 64])\n\
         v = pl.slice(x, [16, 64], [16, 0])\n\
         for i, (c,) in pl.range(n + 2, init_values=(x,)):\n\
         \x20   y = pl.recip(c)\n\
         \x20   z = pl.add(y, c)\n\
         \x20   r = pl.yield_(z)\n\
         out = pl.store(r, [0, 0], out)\n\
         out = pl.store(v, [64, 0], out)\n\
         return out",
        ["(x,)", "(pl.move(x, target_memory=pl.Mem.Vec),)"],
    ),
    (
        "in_each_iteration",
        "x = pl.load(a, [0, 0], [64, 64])\n\
         for i, (c,) in pl.range(3, init_values=(x,)):\n\
         \x20   y = pl.add(c, x)\n\
         \x20   r = pl.yield_(y)\n\
         out = pl.store(r, [0, 0], out)\n\
         return out",
        ["(x,)", "(pl.move(x, target_memory=pl.Mem.Vec),)"],
    ),
    (
        "by_the_loop_around",
        "x = pl.load(a, [0, 0], [64, 64])\n\
         for i in pl.range(3):\n\
         \x20   for j, (c,) in pl.range(2, init_values=(x,)):\n\
         \x20       y = pl.add(c, c)\n\
         \x20       r = pl.yield_(y)\n\
         \x20   out = pl.store(r, [i * 64, 0], out)\n\
         return out",
        ["(x,)", "(pl.move(x, target_memory=pl.Mem.Vec),)"],
    ),
    (
        "by_the_next_loop",
        "x = pl.load(a, [0, 0], [64, 64])\n\
         for i, (c,) in pl.range(3, init_values=(x,)):\n\
         \x20   y = pl.add(c, c)\n\
         \x20   r = pl.yield_(y)\n\
         out = pl.store(r, [0, 0], out)\n\
         for i, (d,) in pl.range(2, init_values=(x,)):\n\
         \x20   z = pl.mul(d, 3.0)\n\
         \x20   s = pl.yield_(z)\n\
         out = pl.store(s, [64, 0], out)\n\
         return out",
        ["pl.range(3, init_values=(x,))", "pl.range(3, init_values=(pl.move(x, target_memory=pl.Mem.Vec),))"],
    ),
    (
        "carried_by_its_name",
        "x = pl.load(a, [0, 0], [64, 64])\n\
         c = x\n\
         for i in pl.range(3):\n\
         \x20   c = pl.add(c, c)\n\
         out = pl.store(c, [0, 0], out)\n\
         out = pl.store(x, [64, 0], out)\n\
         return out",
        ["c = x", "c = pl.move(x, target_memory=pl.Mem.Vec)"],
    ),
];

/// Recorded kernels, a line of them, and what is written after it. Three do not fit; gen_065 and one loop of gen_100 take the reciprocal an even number
/// of times, and so overwrite a value with itself.
const RECORDED: &[(&str, &str, &str)] = &[
    ("gen_009", "t1 = ", ""),
    ("gen_055", "t16 = ", "            out_fp32 = pl.store(t16, [i * 32 + 2048, 0], out_fp32)"),
    ("gen_055", "t28 = ", "        out_fp32 = pl.store(r26, [2048, 0], out_fp32)"),
    ("gen_092", "t12 = ", "        out_int32 = pl.store(t1, [2048, 0], out_int32)"),
    ("gen_092", "t12 = ", "        out_int32 = pl.store(t2, [2048, 0], out_int32)"),
    ("gen_094", "t14 = ", "            out_fp32 = pl.store(t14, [2048, 0], out_fp32)"),
    ("gen_100", "t24 = ", "            out_fp32 = pl.store(t24, [i * 64 + 2048, 0], out_fp32)"),
    ("gen_125", "t1 = ", ""),
];

/// Adds the kernel of a text, and says whether it is warned of.
fn add(programs: &mut Program, name: &str, text: &str) -> bool {
    let author = written(text).remove(0);
    let kernels = compiled(author.clone());
    programs.add(name, &author, &kernels).unwrap_or_else(|why| panic!("{name}: {why}"));
    kernels[0].1.findings.iter().any(|finding| finding.code == Code::InitOverwritten)
}

#[test]
fn kernels_whose_first_values_are_overwritten_compute_something_else() {
    let mut programs = Program::default();
    let mut expected = Vec::new();
    for (name, body, [from, to]) in WRITTEN {
        assert!(add(&mut programs, name, &program(PARAMS, body)), "{name}");
        expected.push((*name).to_owned());
        let fixed = body.replace(from, to);
        assert!(!add(&mut programs, &format!("{name}_fixed"), &program(PARAMS, &fixed)), "{name}\n{fixed}");
    }
    for (number, (recorded, line, behind)) in RECORDED.iter().enumerate() {
        let file = files("conformance/pypto").into_iter().find(|file| file.to_string_lossy().contains(recorded));
        let text = std::fs::read_to_string(file.unwrap()).unwrap();
        let is_line = |text: &&str| text.trim_start().starts_with(line);
        let at = text.lines().find(is_line).unwrap();
        let name = format!("{recorded}_{number}");
        assert!(add(&mut programs, &name, &text.replace(at, &format!("{at}\n{behind}"))), "{name}");
        expected.push(name);
    }
    let mut wrong: Vec<String> =
        programs.run("overwritten").into_iter().filter_map(|it| Some(it.split_once(':')?.0.to_owned())).collect();
    wrong.sort();
    expected.sort();
    assert_eq!(wrong, expected);
}
