//! What each kernel of a file is planned for, which need not be what the settings say.

use tilefit_syntax::TextRange;

use super::{Context, languages};

/// A kernel, its machine, and by whose rules its memory is given out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFor {
    /// `Program.kernel`
    pub kernel: String,
    /// Bytes; the function that it is written in.
    pub range: TextRange,
    pub target: &'static str,
    pub planner: &'static str,
    /// Nothing names the machine.
    pub is_assumed: bool,
}

/// Of all kernels of a file, in text order; of several kernels of one function on one machine, the first.
pub(crate) fn planned_for(context: &Context<'_>) -> Vec<PlannedFor> {
    let mut all: Vec<PlannedFor> = Vec::new();
    for placed in context.units() {
        let range = TextRange::new(placed.start, placed.start + placed.len);
        for kernel in languages::all_kernels(context, placed.unit) {
            let planned = PlannedFor {
                kernel: context.qualified_name(placed.unit, kernel.name()),
                range,
                target: kernel.target(),
                planner: kernel.planner(),
                is_assumed: kernel.is_target_assumed(),
            };
            let is_known = |other: &PlannedFor| {
                (other.range, other.target, other.planner) == (range, planned.target, planned.planner)
            };
            if !all.iter().rev().any(is_known) {
                all.push(planned);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::Fixture;

    #[test]
    fn each_kernel_says_what_it_is_planned_for() {
        let text = "import triton\nimport triton.language as tl\n\n# tilefit: arch=gfx942\n@triton.jit\ndef a(x):\n    tl.store(x, 1)\n\n\n@triton.jit\ndef b(x):\n    tl.store(x, 1)\n";
        let planned = Fixture::new(text).planned_for();
        let lines = planned.iter().map(|it| format!("{} {} {} {}\n", it.kernel, it.target, it.planner, it.is_assumed));
        expect![[r#"
            a gfx942 triton 3.9 false
            b sm_100 triton 3.9 true
        "#]]
        .assert_eq(&lines.collect::<String>());
    }
}
