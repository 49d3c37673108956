//! Small mistakes: a number, a name or a type that is another one.

use crate::random::Random;

const DTYPES: &[&str] = &["pl.FP32", "pl.FP16", "pl.BF16", "pl.INT32", "pl.INT16", "pl.INT8", "pl.UINT8"];

/// The text with one of its numbers, names of values or types changed.
pub(super) fn slip(text: &str, random: &mut Random) -> String {
    let start = text.find("):\n").or_else(|| text.find(":\n        ")).unwrap_or(0);
    let words = words(text, start);
    let is_kind: fn(&str) -> bool = match random.below(3) {
        0 => |word| word.bytes().all(|byte| byte.is_ascii_digit()),
        1 => is_value,
        _ => |word| DTYPES.contains(&word),
    };
    let fitting: Vec<(usize, &str)> = words.into_iter().filter(|(_, word)| is_kind(word)).collect();
    if fitting.len() < 2 {
        return text.to_owned();
    }
    let (at, word) = fitting[random.below(fitting.len())];
    let other = if DTYPES.contains(&word) {
        random.of(DTYPES).to_owned()
    } else if is_value(word) {
        fitting[random.below(fitting.len())].1.to_owned()
    } else {
        let number: u64 = word.parse().unwrap_or(1);
        random.of(&[number + 1, number * 2, number / 2, number.saturating_sub(1), 0]).to_string()
    };
    format!("{}{other}{}", &text[..at], &text[at + word.len()..])
}

fn is_value(word: &str) -> bool {
    word.len() > 1 && word.starts_with(['t', 'y', 'c']) && word[1..].bytes().all(|byte| byte.is_ascii_digit())
}

/// Words after an offset, with theirs; a dotted name is one.
fn words(text: &str, start: usize) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut rest = start;
    while let Some(from) = text[rest..].find(is_part) {
        let from = rest + from;
        let length = text[from..].find(|c| !is_part(c)).unwrap_or(text.len() - from);
        found.push((from, &text[from..from + length]));
        rest = from + length;
    }
    found
}
