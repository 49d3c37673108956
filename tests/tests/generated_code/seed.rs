//! Forms of the seed's listings that do not compile or do not run, beside those that are written instead.

use tilefit_pypto::codegen::{Options, generate_as};

use crate::generated_code::host::{MAIN, Run, planned};
use crate::generated_code::kernels::program;
use crate::generated_code::library::Source;

/// When the seed's form fails.
#[derive(Debug, PartialEq)]
enum Fails {
    Compiling,
    Running,
}

struct Form {
    name: &'static str,
    params: &'static str,
    body: &'static str,
    seed: &'static str,
    written: &'static str,
    fails: Fails,
}

const SQUARE: &str = "a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]";

const ROW_SUM: &str = "x = pl.load(a, [0, 0], [64, 64])\n\
                       t = pl.tile.create([64, 64], dtype=pl.FP32)\n\
                       s = pl.tile.row_sum(x, t)\n\
                       m = pl.tile.muls(s, 0.5)\n\
                       z = pl.tile.row_expand_mul(x, m)\n\
                       out = pl.store(z, [0, 0], out)\n\
                       return out";

const FORMS: [Form; 5] = [
    Form {
        name: "carried_value",
        params: SQUARE,
        body: "init_value = pl.load(a, [0, 0], [64, 64])\n\
               for i, (sum,) in pl.range(0, 5, init_values=(init_value,)):\n\
               \x20   yielded_value = pl.add(sum, sum)\n\
               \x20   total = pl.yield_(yielded_value)\n\
               out = pl.store(total, [0, 0], out)\n\
               return out",
        seed: "sum = init_value;",
        written: "auto sum = init_value;",
        fails: Fails::Compiling,
    },
    Form {
        name: "column",
        params: SQUARE,
        body: ROW_SUM,
        seed: "using sType = Tile<TileType::Vec, float, 64, 1, BLayout::RowMajor, -1, -1>;",
        written: "using sType = Tile<TileType::Vec, float, 64, 1, BLayout::ColMajor, -1, -1>;",
        fails: Fails::Compiling,
    },
    Form {
        name: "row_reduction",
        params: SQUARE,
        body: ROW_SUM,
        seed: "TROWSUM(s, x);",
        written: "TROWSUM(s, x, t);",
        fails: Fails::Compiling,
    },
    Form {
        name: "scalar_on_column",
        params: SQUARE,
        body: ROW_SUM,
        seed: "TMULS(m, s, 0.5f);",
        written: "TMULS(m__row_major_tmp_v1, m__rm_a0_tmp_v0, 0.5f);",
        fails: Fails::Compiling,
    },
    Form {
        name: "window",
        params: "a: pl.Tensor[[256, 64], pl.FP32], out: pl.Out[pl.Tensor[[256, 64], pl.FP32]]",
        body: "for i in pl.range(0, 4):\n\
               \x20   x = pl.load(a, [i * 64, 0], [64, 64])\n\
               \x20   y = pl.exp(x)\n\
               \x20   out = pl.store(y, [i * 64, 0], out)\n\
               return out",
        seed: "using aShapeDim5 = Shape<1, 1, 1, 256, 64>;",
        written: "using aShapeDim5 = Shape<1, 1, 1, 64, 64>;",
        fails: Fails::Running,
    },
];

#[test]
fn forms_of_the_seed_that_fail_are_written_otherwise() {
    let mut source = Source::default();
    for Form { name, params, body, seed, written, .. } in FORMS {
        let (kernel, plan) = planned(&program(params, body)).remove(0);
        let text = generate_as(&kernel, &plan, Options::default()).text;
        assert!(text.contains(written), "{name}: no `{written}` in\n{text}");
        let of_the_seed = text.replace(written, seed);
        for (name, text) in [(name.to_owned(), text), (format!("{name}_of_the_seed"), of_the_seed)] {
            source.add(&name, &[text], Run::new(&name, &kernel, &plan).driver(&[]));
        }
    }
    let ran = source.run("seed", MAIN);
    let printed = String::from_utf8(ran.output).unwrap();
    let outcome = |name: &str| {
        let stopped = printed.lines().any(|line| line.starts_with(&format!("{name} failed: ")));
        let compiled = !ran.refused.contains_key(name);
        (!compiled).then_some(Fails::Compiling).or(stopped.then_some(Fails::Running))
    };
    for Form { name, fails, .. } in FORMS {
        assert_eq!(outcome(name), None, "{name}");
        assert_eq!(outcome(&format!("{name}_of_the_seed")), Some(fails), "{name}, as in the seed");
    }
}
