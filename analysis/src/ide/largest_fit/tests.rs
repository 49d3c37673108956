use std::fmt::Write as _;

use expect_test::{Expect, expect};
use tilefit_syntax::Document;

use super::*;
use crate::{Analysis, AnalysisHost, FileId};

fn open(text: &str) -> (Analysis, FileId) {
    let mut host = AnalysisHost::new();
    let file = host.file_id("k.py");
    host.set_document(file, Document::new(text));
    (host.snapshot(), file)
}

fn said(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Fits => "fits".to_owned(),
        Verdict::Exceeds(MemoryUse { memory, used, capacity, .. }) => format!("exceeds {memory}: {used} of {capacity}"),
        Verdict::Refused(why) => format!("refused: {why}"),
        Verdict::Unknown(why) => format!("unknown: {why}"),
    }
}

/// Prints what is found for the constant at `$0`, and what an editor offers. What is offered is held against the verdict of its text.
#[track_caller]
fn check(marked: &str, expected: Expect) {
    let offset = marked.find("$0").expect("a cursor");
    let text = marked.replace("$0", "");
    let (analysis, file) = open(&text);
    let mut shown = String::new();
    match analysis.largest_fit(file, offset, Patience::CommandLine).expect("no edit") {
        Err(why) => writeln!(shown, "{why}").expect("a string"),
        Ok(found) => {
            let LargestFit { constant, present, best, next, values, kernels, memories, .. } = &found;
            let name = constant.name.as_deref().unwrap_or("-");
            let _ =
                writeln!(shown, "{name} = {} in line {} of {values}: {}", constant.value, constant.line, said(present));
            let used = |of: &[MemoryUse]| -> Vec<String> {
                of.iter().map(|it| format!("{} {}", it.memory, it.used)).collect()
            };
            let _ = writeln!(
                shown,
                "of {}: {} -> {}",
                kernels.join(", "),
                used(&memories[0]).join(" "),
                used(&memories[1]).join(" ")
            );
            let next = next.as_ref().map(|(value, verdict)| format!("{value} {}", said(verdict)));
            let _ = writeln!(shown, "best {best:?}, next {}", next.unwrap_or_default());
            for (value, verdict) in &found.tried {
                let (analysis, file) =
                    open(&(text[..constant.range.start].to_owned() + &value.to_string() + &text[constant.range.end..]));
                let errors = analysis.diagnostics(file).expect("no edit");
                let is_too_large = errors.iter().any(|it| it.code == Code::CapacityExceeded);
                assert_eq!(is_too_large, matches!(verdict, Verdict::Exceeds(_)), "{value}: {verdict:?} {errors:?}");
            }
        }
    }
    if let Some(action) = analysis.largest_fit_action(file, offset).expect("no edit") {
        let kind = match action.effect {
            Effect::Fix(fix) => fix.fixes.code.name(),
            _ => "no diagnostic",
        };
        let _ = writeln!(shown, "{} [{kind}]", action.title);
    }
    expected.assert_eq(&shown);
}

fn kernel(head: &str, params: &str, body: &str) -> String {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "
import pypto.language as pl

{head}
@pl.function(type=pl.FunctionType.InCore)
def k({params}):
{body}    return out
"
    )
}

const LOOP: &str = "for i in pl.range(N // TILE):
    x = pl.load(a, [i * TILE, 0], [TILE, 512])
    y = pl.exp(x)
    out = pl.store(y, [i * TILE, 0], out)";

#[test]
fn the_value_with_room_and_the_one_without() {
    let params = "a: pl.Tensor[[1024, 512], pl.FP32], out: pl.Out[pl.Tensor[[1024, 512], pl.FP32]]";
    check(
        &kernel("N, TILE = 1024, $032\n", params, LOOP),
        expect![[r#"
        TILE = 32 in line 4 of multiples of 32, and halves that divide 1024: fits
        of k: Vec 65536 -> Vec 131072
        best Some(64), next 128 exceeds Vec: 262144 of 188416
        Set `TILE` to 64, the largest value that fits (128 takes 256 KiB of 184 KiB Vec) [no diagnostic]
    "#]],
    );
    check(
        &kernel("N, TILE = 1024, 256$0\n", params, LOOP),
        expect![[r#"
        TILE = 256 in line 4 of multiples of 32, and halves that divide 1024: exceeds Vec: 524288 of 188416
        of k: Vec 524288 -> Vec 131072
        best Some(64), next 128 exceeds Vec: 262144 of 188416
        Set `TILE` to 64, the largest value that fits (128 takes 256 KiB of 184 KiB Vec) [capacity-exceeded]
    "#]],
    );
    check(
        &kernel("N, TI$0LE = 1024, 64\n", params, LOOP),
        expect![[r#"
        TILE = 64 in line 4 of multiples of 32, and halves that divide 1024: fits
        of k: Vec 131072 -> Vec 131072
        best Some(64), next 128 exceeds Vec: 262144 of 188416
    "#]],
    );
    // What the loop runs over does not matter.
    check(
        &kernel("N, TILE = 10$024, 64\n", params, LOOP),
        expect![[r#"
        the memory of no kernel depends on it
    "#]],
    );
}
