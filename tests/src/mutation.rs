//! Texts with a few tokens, lines or numbers changed at random.

use crate::random::Random;

/// The text after one to six changes.
pub fn mutant(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..1 + random.below(6) {
        text = match random.below(12) {
            0..=3 => mutated(&tokens(&text), random),
            4..=5 => mutated(&text.split_inclusive('\n').collect::<Vec<_>>(), random),
            6..=8 => with_number(&text, random),
            9 => with_word(&text, random),
            10 => with_indentation(&text, random),
            _ => truncated(text, random),
        };
    }
    text
}

/// Identifiers, numbers, blanks, and every other character by itself.
fn tokens(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        ' ' => 1,
        _ => 2,
    };
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match class(first) {
            2 => first.len_utf8(),
            same => rest.find(|c| class(c) != same).unwrap_or(rest.len()),
        };
        let (token, behind) = rest.split_at(end);
        tokens.push(token);
        rest = behind;
    }
    tokens
}

/// One part deleted, doubled, replaced by another one, or two of them swapped.
fn mutated(parts: &[&str], random: &mut Random) -> String {
    if parts.is_empty() {
        return String::new();
    }
    let mut parts = parts.to_vec();
    let (one, other) = (random.below(parts.len()), random.below(parts.len()));
    match random.below(4) {
        0 => drop(parts.remove(one)),
        1 => parts.insert(one, parts[one]),
        2 => parts[one] = parts[other],
        _ => parts.swap(one, other),
    }
    parts.concat()
}

const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "3",
    "7",
    "1 << 62",
    "2 ** 63 - 1",
    "-2 ** 63",
    "10 ** 10 ** 10",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "340282366920938463463374607431768211456",
    "1e400",
    "1.5",
    "0x7fffffffffffffff",
    "1000000",
    "N",
    "None",
];

fn with_number(text: &str, random: &mut Random) -> String {
    let tokens = tokens(text);
    let numbers: Vec<usize> =
        (0..tokens.len()).filter(|&at| tokens[at].starts_with(|c: char| c.is_ascii_digit())).collect();
    if numbers.is_empty() {
        return text.to_owned();
    }
    let mut tokens = tokens;
    tokens[random.of(&numbers)] = random.of(NUMBERS);
    tokens.concat()
}

const WORDS: &[&str] = &[
    "\t",
    "\x0c",
    "\0",
    "\r",
    "\r\n",
    "\u{feff}",
    "\\\n",
    "é",
    "漢字",
    "𝒳",
    "👩‍👩‍👧",
    "\"\"\"",
    "'",
    "f\"{",
    "#",
    ":",
    ";",
    "=",
    "*",
    "**",
    "@",
    "->",
    "(",
    "[",
    "{",
    ")",
    "]",
    "}",
    "lambda: 0",
    "yield",
    "await x",
    "print 'x'",
    "exec 'x' in d",
    "raise E, 'x'",
    "`x`",
    "<>",
    "match x:\n    case 1:\n        pass\n",
    "self",
    "pl",
    "if True:",
    "else:",
    "for i in pl.range(1 << 40):",
    "while True:",
    "break",
    "continue",
    "return",
    "del x",
    "global x",
    "pl.range(10 ** 9)",
    "pl.unroll(100000)",
    "pl.pipeline(0, 1 << 40, stage=1000)",
    "[0] * (1 << 40)",
    "init_values=(a, b)",
    "pl.yield_(x, y)",
    "tlx.local_alloc((1 << 40, 1 << 40), tl.float32, 1 << 40)",
    "pl.MemRef(slots=1 << 60)",
    "[x for x in range(1 << 40)]",
];

fn with_word(text: &str, random: &mut Random) -> String {
    let tokens = tokens(text);
    let at = random.below(tokens.len() + 1);
    let word = random.of(WORDS);
    let times = random.of(&[1, 1, 1, 2, 300, 3000]);
    // A word of many letters makes a long text, which is slow in itself.
    let repeated = word.repeat(if word.len() <= 4 { times } else { times.min(3) });
    [&tokens[..at].concat(), repeated.as_str(), &tokens[at..].concat()].concat()
}

fn with_indentation(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    if lines.is_empty() {
        return String::new();
    }
    let from = random.below(lines.len());
    let count = 1 + random.below(4);
    for line in lines.iter_mut().skip(from).take(count) {
        *line = match random.below(3) {
            0 => format!("    {line}"),
            1 => format!("\t{line}"),
            _ => line.strip_prefix("    ").unwrap_or(line).to_owned(),
        };
    }
    lines.concat()
}

fn truncated(mut text: String, random: &mut Random) -> String {
    let mut at = random.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    text.truncate(at);
    text
}
