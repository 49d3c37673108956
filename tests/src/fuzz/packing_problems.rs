//! Files of `tilefit pack`: what is read is written back the same, and what is packed is valid, drawn and explained.

use tilefit_packing::{Budget, Goal, PackResult, Problem, Verdict, csv, explain, pack, svg, validate};

/// More than a file can ask for.
const NO_LIMIT: u64 = i64::MAX as u64;
const MOST_BUFFERS: usize = 60;
const NODES: u64 = 5_000;

pub fn packing_problems(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let problem = match csv::read(&text, NO_LIMIT) {
        Ok(problem) => problem,
        Err(error) => {
            assert!(error.line >= 1 && error.line <= text.lines().count().max(1), "row {} of:\n{text}", error.line);
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let again = csv::read(&csv::write(&problem, None), NO_LIMIT);
    let again = again.unwrap_or_else(|error| panic!("what is written is not read, {error}:\n{text}"));
    assert_eq!(again.buffers(), problem.buffers(), "written and read again:\n{text}");
    if problem.buffers().len() > MOST_BUFFERS {
        return;
    }
    let lowest = pack(&problem, &Budget::new(Goal::Lowest, NODES));
    check(&problem, &lowest, &text);
    // With no room to spare, and with too little.
    for capacity in [lowest.placement.height, lowest.placement.height / 2, lowest.bound.bytes] {
        if let Ok(problem) = csv::read(&text, capacity) {
            check(&problem, &pack(&problem, &Budget::new(Goal::Fit, NODES)), &text);
        }
    }
}

fn check(problem: &Problem, result: &PackResult, text: &str) {
    let PackResult { placement, bound, lower_bound, verdict, .. } = result;
    let (height, capacity) = (placement.height, problem.capacity());
    let context = format!("{verdict:?}, {height} bytes high, bound {}, capacity {capacity}:\n{text}", bound.bytes);
    assert!(bound.bytes <= *lower_bound && *lower_bound <= height, "{context}");
    let roomy = problem.with_capacity(NO_LIMIT);
    assert_eq!(validate(&roomy, &placement.offsets), Ok(()), "{context}");
    match verdict {
        Verdict::Fits { optimal } => {
            assert!(height <= capacity && (!optimal || *lower_bound == height), "{context}");
        }
        Verdict::OverCapacity { overshoot } => assert!(*overshoot > 0 && height > capacity, "{context}"),
        Verdict::Fragmented => {
            assert!(height > capacity, "{context}");
            let core = explain::irreducible(problem, NODES, None);
            assert!(core.is_none_or(|core| !core.buffers.is_empty()), "{context}");
        }
        Verdict::Undecided => assert!(height > capacity || problem.capacity() == NO_LIMIT, "{context}"),
    }
    let solution = csv::read(&csv::write(problem, Some(&placement.offsets)), NO_LIMIT);
    assert!(solution.is_ok(), "the solution is not read: {solution:?}; {context}");
    assert!(svg::draw(problem, &placement.offsets).starts_with("<svg"), "{context}");
}
