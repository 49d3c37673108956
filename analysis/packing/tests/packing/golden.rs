//! `tests/conformance/packing/cases.json`: what is known of each case, found by enumerating every offset.

use expect_test::expect;
use serde_json::Value;
use tilefit_packing::*;

const CASES: &str = include_str!("../../../../tests/conformance/packing/cases.json");

struct Case {
    name: String,
    problem: Problem,
    expect: Value,
}

impl Case {
    fn all() -> Vec<Case> {
        let file: Value = serde_json::from_str(CASES).unwrap();
        file["cases"].as_array().unwrap().iter().map(Case::read).collect()
    }

    fn read(case: &Value) -> Case {
        let number = |value: &Value| value.as_u64().unwrap();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let mut spec = Spec { capacity: number(&case["capacity"]), ..Spec::default() };
        for buffer in list(&case["buffers"]) {
            let id = buffer["id"].as_str().unwrap();
            let mut read = Buffer::new(id, number(&buffer["size"]), number(&buffer["lower"]), number(&buffer["upper"]));
            read.align = buffer["align"].as_u64().unwrap_or(1);
            read.fixed = buffer["offset"].as_u64();
            spec.buffers.push(read);
        }
        spec.reserved = list(&case["reserved"]).iter().map(|range| number(&range[0])..number(&range[1])).collect();
        let index = |id: &Value| {
            let at = spec.buffers.iter().position(|buffer| buffer.id == id.as_str().unwrap());
            BufferIx(at.unwrap() as u32)
        };
        spec.no_alias = list(&case["separations"]).iter().map(|pair| (index(&pair[0]), index(&pair[1]))).collect();
        Case {
            name: case["name"].as_str().unwrap().to_owned(),
            problem: Problem::new(spec).unwrap(),
            expect: case["expect"].clone(),
        }
    }

    fn expected(&self, key: &str) -> Option<u64> {
        self.expect[key].as_u64()
    }

    fn ids(&self, buffers: &[BufferIx]) -> Vec<&str> {
        buffers.iter().map(|&ix| self.problem.buffer(ix).id.as_str()).collect()
    }
}

#[test]
fn there_are_twelve_cases() {
    assert_eq!(Case::all().len(), 12);
}

#[test]
fn bounds_and_witnesses() {
    for case in Case::all() {
        let bound = liveness::bound(&case.problem);
        assert_eq!(Some(bound.bytes), case.expected("liveness_bound"), "{}", case.name);
        let witness = &bound.peaks[0];
        assert_eq!(Some(witness.plateau.start), case.expected("peak_at"), "{}", case.name);
        let live: Vec<&str> = case.expect["peak_live"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(case.ids(&witness.live), live, "{}", case.name);
        assert_eq!(witness.bytes, witness.live.iter().map(|&ix| case.problem.buffer(ix).size).sum::<u64>());
    }
}

#[test]
fn first_fit_in_every_order() {
    for case in Case::all() {
        for order in Order::ALL {
            let placement = first_fit(&case.problem, order);
            let expected = case.expect["first_fit"][order.name()].as_u64();
            assert_eq!(Some(placement.height), expected, "{} in order {}", case.name, order.name());
            validate(&case.problem.with_capacity(placement.height), &placement.offsets).unwrap();
        }
    }
}

#[test]
fn baselines() {
    for case in Case::all() {
        let conflicts = Conflicts::of(&case.problem, MOST_PAIRS).unwrap();
        if let Some(expected) = case.expected("bump_no_reuse") {
            assert_eq!(bump(&case.problem).height, expected, "{}", case.name);
        }
        if let Some(expected) = case.expected("group_reuse_then_bump") {
            assert_eq!(share_then_bump(&case.problem, &conflicts).height, expected, "{}", case.name);
        }
    }
}

#[test]
fn the_known_optimum_passes_the_validator() {
    for case in Case::all() {
        let offsets: Vec<u64> =
            case.problem.buffers().iter().map(|buffer| case.expect["offsets"][&buffer.id].as_u64().unwrap()).collect();
        let optimum = case.expected("optimum").unwrap();
        assert_eq!(validate(&case.problem.with_capacity(optimum), &offsets), Ok(()), "{}", case.name);
        let lower = case.problem.with_capacity(optimum - 1);
        assert!(matches!(validate(&lower, &offsets), Err(Violation::OverCapacity { .. })), "{}", case.name);
    }
}

#[test]
fn the_optimum_is_found_and_proved() {
    for case in Case::all() {
        let outcome = pack(&case.problem, &Budget::new(Goal::Lowest, 100_000));
        let optimum = case.expected("optimum").unwrap();
        assert_eq!((outcome.placement.height, outcome.lower_bound), (optimum, optimum), "{}", case.name);
        assert_eq!(validate(&case.problem.with_capacity(optimum), &outcome.placement.offsets), Ok(()));
    }
}

#[test]
fn verdicts() {
    let text: String = Case::all()
        .iter()
        .map(|case| {
            let outcome = pack(&case.problem, &Budget::new(Goal::Fit, 100_000));
            let fits = matches!(outcome.verdict, Verdict::Fits { .. });
            assert_eq!(Some(fits), case.expect["fits"].as_bool(), "{}", case.name);
            let core = match outcome.verdict {
                Verdict::Fits { .. } => Vec::new(),
                _ => explain::irreducible(&case.problem, 100_000, None).unwrap().buffers,
            };
            format!("{}: {:?} {:?}\n", case.name, outcome.verdict, case.ids(&core))
        })
        .collect();
    expect![[r#"
        seed-chained-matmul-l0a: Fits { optimal: true } []
        seed-mirror-consumer-stationary: Fits { optimal: true } []
        minimalloc-readme: Fits { optimal: true } []
        minimalloc-readme-11: OverCapacity { overshoot: 1 } ["b2", "b3", "b5"]
        order-trap-4: Fits { optimal: true } []
        order-trap-5: Fits { optimal: true } []
        gap-above-bound-7: Fragmented ["a", "b", "c", "d", "e", "f", "g"]
        touching-lifetimes: Fits { optimal: true } []
        alignment-gap: Fits { optimal: true } []
        pin-fragments: Fragmented ["pin", "x"]
        reserved-floor: Fits { optimal: true } []
        no-alias-pair: Fragmented ["src", "dst"]
    "#]]
    .assert_eq(&text);
}

#[test]
fn fixes_of_the_readme_example() {
    let all = Case::all();
    let case = all.iter().find(|case| case.name == "minimalloc-readme-11").unwrap();
    let fixes = explain::fixes(&case.problem, &Budget::new(Goal::Fit, 10_000));
    let text: String = fixes
        .iter()
        .map(|fix| format!("{} {:?} {}\n", case.problem.buffer(fix.buffer).id, fix.change, fix.height))
        .collect();
    expect![[r#"
        b3 Remove 8
        b3 Halve 10
        b5 Remove 8
        b5 Halve 10
    "#]]
    .assert_eq(&text);
}
