//! Words of a scenario comment that say nothing: a name that the kernel does not have, a value that an option does not take.

use tilefit_python::spelling::nearest;
use tilefit_syntax::TextRange;

use super::device::{Arch, Compiler};
use super::scenario::{DIVISIBLE, MARK, OPTIONS, WORDS, words_at};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slip {
    pub at: TextRange,
    pub message: String,
    /// What the author most likely meant.
    pub suggestion: Option<String>,
}

/// Names for a device that people try.
const DEVICE: [&str; 5] = ["capability", "cuda", "device", "gpu", "sm"];

/// The slips of all scenario comments in the text of a kernel. `is_read`: a name that it reads, be it a parameter or not.
pub fn slips(text: &str, kernel: &str, params: &[&str], is_read: &dyn Fn(&str) -> bool) -> Vec<Slip> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some(mark) = line.find(MARK) {
            let comment = &line[mark + MARK.len()..];
            for (at, word) in words_at(comment.trim_end()) {
                let Some((name, value)) = word.split_once('=') else { continue };
                let name_at = start + mark + MARK.len() + at;
                let value_at = name_at + name.len() + 1;
                match name {
                    DIVISIBLE => {
                        let mut part_at = value_at;
                        for part in value.split(',') {
                            let name = part.trim_matches(['"', '\'', ' ']);
                            if !name.is_empty() && !params.contains(&name) {
                                let name_at = part_at + part.find(name).unwrap_or(0);
                                found.push(no_parameter(kernel, name, name_at, params, &[]));
                            }
                            part_at += part.len() + 1;
                        }
                    }
                    "arch" | "target" if params.contains(&name) => {}
                    _ if WORDS.contains(&name) => found.extend(not_understood(name, value, value_at)),
                    _ if params.contains(&name) || is_read(name) => {}
                    _ => found.push(no_parameter(kernel, name, name_at, params, &WORDS)),
                }
            }
        }
        start += line.len();
    }
    found
}

fn no_parameter(kernel: &str, name: &str, at: usize, params: &[&str], words: &[&str]) -> Slip {
    let is_device = DEVICE.contains(&name) && !words.is_empty();
    let all = params.iter().chain(words).copied();
    let suggestion = if is_device { Some("arch") } else { nearest(name, all) };
    let mut message = format!("`{kernel}` has no parameter `{name}`");
    if !words.is_empty() {
        message += ", and a scenario no such option";
    }
    match suggestion {
        Some(suggestion) => message += &format!("; did you mean `{suggestion}`?"),
        None if !words.is_empty() => message += &format!(": they are {}", words.join(", ")),
        None => {}
    }
    Slip { at: TextRange::new(at, at + name.len()), message, suggestion: suggestion.map(str::to_owned) }
}

/// Of a value that an option does not take.
fn not_understood(option: &str, value: &str, at: usize) -> Option<Slip> {
    let text = value.trim_matches(['"', '\'']);
    let (taken, is_understood) = match option {
        "arch" | "target" => (Arch::all().map(Arch::name).collect(), Arch::from_name(text).is_some()),
        "triton" => (Compiler::all().map(Compiler::name).collect(), Compiler::from_name(text).is_some()),
        _ => (Vec::new(), text.parse::<u32>().is_ok()),
    };
    // Nothing yet: it is being typed.
    if is_understood || text.is_empty() {
        return None;
    }
    let suggestion = nearest(text, taken.iter().copied());
    let takes = if OPTIONS.contains(&option) { "a number".to_owned() } else { taken.join(", ") };
    let mut message = format!("`{option}` is not `{text}`: it takes {takes}");
    if let Some(suggestion) = suggestion {
        message += &format!("; did you mean `{suggestion}`?");
    }
    let from = at + value.find(text).unwrap_or(0);
    let at = TextRange::new(from, from + text.len());
    Some(Slip { at, message, suggestion: suggestion.map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expect: Expect) {
        let found = slips(text, "k", &["x", "BLOCK"], &|name| name == "LIMIT");
        let line = |slip: &Slip| format!("{}: {}\n", &text[slip.at.start..slip.at.end], slip.message);
        expect.assert_eq(&found.iter().map(line).collect::<String>());
    }

    #[test]
    fn names_that_a_kernel_does_not_have() {
        check(
            "# tilefit: BLCK=64 device=sm_90, x=fp16\ndef k(x, BLOCK): # tilefit: BLOCK=64 LIMIT=3 tuned for speed\n",
            expect![[r#"
                BLCK: `k` has no parameter `BLCK`, and a scenario no such option; did you mean `BLOCK`?
                device: `k` has no parameter `device`, and a scenario no such option; did you mean `arch`?
            "#]],
        );
        check(
            "# tilefit: other=1 divisible=x,y\n# tilefit: divisible=\"x,BLOCK\"",
            expect![[r#"
                other: `k` has no parameter `other`, and a scenario no such option: they are arch, target, triton, num_warps, num_ctas, num_stages, divisible
                y: `k` has no parameter `y`; did you mean `x`?
            "#]],
        );
    }

    #[test]
    fn values_that_options_do_not_take() {
        check(
            "# tilefit: arch=sm_90a triton=3.9 num_warps=8 target='gfx942'\n# tilefit: triton=3.7 num_warps=many",
            expect![[r#"
                3.7: `triton` is not `3.7`: it takes 3.8, 3.9, fork; did you mean `3.8`?
                many: `num_warps` is not `many`: it takes a number
            "#]],
        );
        check("# tilefit: arch=", expect![[r#""#]]);
        let found = slips("# tilefit: target=i64 arch=sm_90", "k", &["target"], &|_| false);
        assert_eq!(found, []);
    }
}
