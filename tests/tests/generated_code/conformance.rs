//! `tests/conformance/codegen`: the cases that say what they compute.

use std::path::Path;

use serde_json::Value as Json;

use crate::generated_code::array::Array;
use crate::generated_code::host::{Batch, Inputs, Run, files, planned, root};

type Reference = fn(Inputs) -> Vec<(&'static str, Array)>;

fn out(array: Array) -> Vec<(&'static str, Array)> {
    vec![("out", array)]
}

/// What the cases compute; the expressions of their `semantics` by hand.
const REFERENCES: &[(&str, Reference)] = &[
    ("001", |i| out(i["a"].add(&i["b"]))),
    ("002", |i| out(i["a"].sub(&i["b"]).mul(&i["b"]).div(&i["a"]).add(&i["b"]))),
    ("003", |i| out(i["a"].map(|a| -a.abs().sqrt().exp()))),
    ("004", |i| out(i["a"].map(|a| 1.0 / a.sqrt() + 1.0 / a + a.ln().max(0.0)))),
    ("005", |i| out(i["a"].map(|a| ((a + 1.5) * 2.0 - 0.25) / 4.0))),
    ("006", |i| out(i["a"].zip(&i["lo"], f64::max).zip(&i["hi"], f64::min))),
    ("007", |i| vec![("out1", i["a"].add(&i["b"])), ("out2", i["a"].add(&i["b"]).mul(&i["c"]))]),
    ("008", |i| vec![("out1", i["a"].exp().scale(2.0)), ("out2", i["b"].map(|b| b.abs() + 1.0))]),
    ("009", |i| out(i["a"].map(|a| 2.0 * a * a))),
    ("010", |i| out(i["a"].add(&i["b"]).map(|x| (x * 0.5).exp()))),
    ("011", |i| {
        let quarter = |row, col| i["a"].part(row, 64, col, 64);
        out(quarter(0, 0).add(&quarter(0, 64)).sub(&quarter(64, 0).add(&quarter(64, 64))))
    }),
    ("012", |i| {
        let a = &i["a"];
        out(Array::from(64, 128, |r, c| match (r < 32, c < 64) {
            (true, false) => 3.0 * a.at(r, c - 64),
            (false, true) => 4.0 * a.at(r - 32, c),
            _ => 0.0,
        }))
    }),
    ("013", |i| out(i["a"].add(&i["b"]).mul(&i["b"]))),
    ("014", |i| out(i["a"].sub(&i["b"]).mul(&i["b"]).zip(&i["a"], f64::max))),
    ("015", |i| out(i["a"].add(&i["b"]))),
    ("016", |i| out(i["a"].clone())),
    ("017", |i| vec![("out1", i["a"].clone()), ("out2", i["a"].exp())]),
    ("018", |i| out(i["a"].row_sum())),
    ("019", |i| vec![("out1", i["a"].row_sum()), ("out2", i["a"].row_max()), ("out3", i["a"].rows(f64::min))]),
    ("020", |i| out(Array::from(1, 64, |_, c| (0..32).map(|r| i["a"].at(r, c)).sum()))),
    ("021", |i| {
        let e = i["a"].sub(&i["a"].row_max()).exp();
        out(e.div(&e.row_sum()))
    }),
    ("022", |i| {
        let a = &i["a"];
        let norm = a.mul(a).row_sum().map(|s| (s / a.cols as f64 + 1e-5).sqrt());
        out(a.div(&norm).mul(&i["w"]))
    }),
    ("023", |i| out(i["a"].add(&i["v"]).mul(&i["v"]).sub(&i["v"]).div(&i["v"]))),
    ("024", |i| out(i["a"].mul(&i["v"]).sub(&i["v"]).div(&i["v"]))),
    ("025", |i| out(i["a"].zip(&i["v"], |_, v| v * 2.0))),
    ("026", |i| out(i["a"].map(|a| a + 2.5))),
    ("027", |i| out(i["a"].map(|_| 5.0))),
    ("028", |i| {
        let a = &i["a"];
        vec![
            ("o1", a.map(f64::round_ties_even)),
            ("o2", a.map(f64::round)),
            ("o3", a.map(f64::floor)),
            ("o4", a.map(f64::ceil)),
            ("o5", a.map(f64::trunc)),
        ]
    }),
    ("029", |i| out(i["a"].exp())),
    ("031", |i| out(i["a"].add(&i["b"]))),
    ("032", |i| out(i["a"].map(|a| (a + 1.0) * 2.0).reshape(64, 32))),
    ("033", |i| out(i["a"].part(16, 32, 32, 32).map(|a| (a + 1.0) * 2.0))),
    ("034", |i| {
        let (a, b) = (i["a"].exp(), &i["b"]);
        out(Array::from(a.rows, a.cols + b.cols, |r, c| if c < a.cols { a.at(r, c) } else { b.at(r, c - a.cols) }))
    }),
    ("035", |i| out(i["a"].map(|a| a.max(0.0)).below(&Array::zeros(16, 64)))),
    ("036", |i| out(i["a"].times(&i["b"]))),
    ("037", |i| out(i["a"].times(&i["b"]))),
    ("038", |i| out(i["a"].times(&i["b"]))),
    ("039", |i| out(i["a"].times(&i["b"]))),
    ("040", |i| out(i["a"].times(&i["b"]))),
    ("041", |i| {
        let b = &i["b"];
        out(i["a"].times(&Array::from(b.cols, b.rows, |r, c| b.at(c, r))))
    }),
    ("042", |i| {
        let b = |col| i["b"].part(0, i["b"].rows, col, 64);
        vec![("o1", i["a"].times(&b(0))), ("o2", i["a"].times(&b(64)))]
    }),
    ("043", |i| out(i["a"].times(&i["b"]))),
    ("044", |i| out(i["a"].exp())),
    ("045", |i| out(i["a"].blocks(64, |a, b| a + b))),
    ("046", |i| vec![("o1", i["a"].blocks(64, |a, b| a + b)), ("o2", i["a"].blocks(64, f64::max))]),
    ("047", |i| {
        let (a, b) = (&i["a"], &i["b"]);
        vec![("o1", a.zip(b, |a, b| a + 2.0 * b)), ("o2", a.zip(b, |a, b| 2.0 * a + 3.0 * b))]
    }),
    ("048", |i| out(Array::from(256, 64, |r, c| i["a"].at(r, c) * i["w"].at(r % 64, c)))),
    ("049", |i| {
        let v = &i["v"];
        out(Array::from(i["a"].rows, i["a"].cols, |r, c| i["a"].at(r, c) + v.at(r, c % v.cols).exp()))
    }),
    ("050", |i| out(Array::from(128, 64, |r, c| (0..4).map(|n| i["a"].values[(r * 4 + n) * 64 + c]).sum()))),
    ("051", |i| vec![("out", i["a"].map(|a| a * 2.0 + 1.0)), ("mid", i["a"].scale(2.0))]),
    ("052", |i| out(Array::from(256, 64, |r, c| if r < 192 { -i["a"].at(r, c) } else { 0.0 }))),
    ("053", |i| vec![("o1", i["a"].exp()), ("o2", i["b"].map(f64::abs))]),
    ("054", |i| out(i["a"].exp())),
    ("055", |i| out(i["a"].part(64, 128, 0, 64).map(|a| a + 1.0).below(&Array::zeros(128, 64)))),
    ("056", |i| out(i["a"].map(|a| a / 8.0 + 1.75))),
    ("057", |i| out(i["a"].scale(-1.0))),
    ("058", |i| out(i["a"].map(|a| (a * 2.0).exp() + a))),
    ("059", |i| out(i["a"].map(|a| a + 1.0))),
    ("060", |i| out(i["b"].exp())),
    ("061", |i| out(i["a"].blocks(64, |a, b| a + b))),
    ("062", |i| out(i["a"].part(0, 192, 0, 64).blocks(64, |a, b| a + b))),
    ("063", |i| out(i["a"].map(f64::abs))),
    ("064", |i| out(i["a"].times(&i["b"]))),
    ("065", |i| vec![("o1", i["a"].exp()), ("o2", i["c"].sub(&i["b"]))]),
    ("066", |i| vec![("o1", i["a"].exp()), ("o2", i["a"].scale(-1.0)), ("o3", i["a"].map(f64::abs))]),
    ("067", |i| vec![("out", i["a"].map(|a| a * 2.0 + 1.0)), ("mid", i["a"].scale(2.0))]),
    ("068", |i| vec![("a", i["a"].exp())]),
    ("069", |i| out(i["b"].exp())),
    ("070", |i| out(i["a"].blocks(32, |a, b| a + b))),
    ("071", |i| out(i["a"].blocks(32, |a, b| a + b))),
    ("073", |i| out(i["a"].exp())),
    ("074", |i| out(i["a"].exp().add(&i["b"].exp()))),
    ("075", |i| out(i["a"].map(|a| a * (a + a.exp())))),
    ("076", |i| out(i["a"].map(|a| a * 1.5 - 0.25))),
    ("077", |i| out(i["a"].part(128, 64, 0, 64).sub(&i["a"].part(64, 64, 64, 64)))),
    ("078", |i| out(i["a"].part(0, 64, 0, 64).add(&i["a"].part(192, 64, 0, 64)))),
    ("079", |i| {
        let s = &i["s"];
        vec![("om", s.row_max()), ("ol", s.sub(&s.row_max()).exp().row_sum())]
    }),
    ("080", |i| out(i["a"].row_sum().map(|s| s * 0.5 + 1.0))),
    ("081", |i| out(i["a"].times(&i["b"]))),
    ("082", |i| out(i["a"].exp())),
    ("083", |i| {
        let sum = i["a"].add(&i["b"]);
        vec![("o1", sum.clone()), ("o2", sum.mul(&i["a"])), ("o3", sum.mul(&i["a"]).sub(&sum))]
    }),
    ("084", |i| out(i["a"].exp())),
    ("087", |i| out(i["a"].exp())),
    ("088", |i| out(i["a"].add(&i["b"]).mul(&i["c"]))),
];

#[test]
fn recorded_kernels_compute_what_they_say() {
    let mut batch = Batch::default();
    for file in files("conformance/codegen") {
        let name = file.file_name().unwrap().to_string_lossy()[..3].to_string();
        let Some((_, reference)) = REFERENCES.iter().find(|(of, _)| *of == name) else { continue };
        let json: Json = read(&file.with_extension("json"));
        let tolerance = json["semantics"]["tolerance"].as_f64().unwrap();
        let (kernel, plan) = planned(&std::fs::read_to_string(&file).unwrap()).remove(0);
        let run = Run::new(&name, &kernel, &plan).with(&json["semantics"]["inputs"]).tolerance(tolerance);
        batch.add(run, reference);
    }
    assert_eq!(batch.cases, REFERENCES.len());
    batch.check("conformance");
}

/// Every case with `semantics` has a reference here.
#[test]
fn every_case_that_says_what_it_computes_has_a_reference() {
    for file in files("conformance/codegen") {
        let name = file.file_name().unwrap().to_string_lossy()[..3].to_string();
        let has_semantics = read(&file.with_extension("json"))["semantics"].is_object();
        let known = REFERENCES.iter().any(|(of, _)| *of == name);
        assert_eq!(has_semantics, known, "{name}");
    }
}

/// The recorded generator refuses it; here the instruction gets scratch after the planned tiles.
#[test]
fn a_row_sum_without_scratch_gets_some() {
    let source = std::fs::read_to_string(root().join("conformance/codegen/085_sum_without_scratch.py")).unwrap();
    let (kernel, plan) = planned(&source).remove(0);
    let mut batch = Batch::default();
    batch.add(Run::new("085", &kernel, &plan), &|i: Inputs| out(i["a"].row_sum()));
    batch.check("sum_without_scratch");
}

/// Two tiles that live together at one address spoil the result.
#[test]
fn a_plan_with_overlapping_tiles_fails() {
    let source = std::fs::read_to_string(root().join("conformance/codegen/001_add_two_tiles.py")).unwrap();
    let (kernel, mut plan) = planned(&source).remove(0);
    plan.tiles[1].address = plan.tiles[0].address;
    let mut batch = Batch::default();
    batch.add(Run::new("clash", &kernel, &plan), &|i: Inputs| vec![("out", i["a"].add(&i["b"]))]);
    let wrong = batch.run("clash");
    assert!(wrong.len() == 1 && wrong[0].starts_with("clash out: off by"), "{wrong:?}");
}

fn read(file: &Path) -> Json {
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}
