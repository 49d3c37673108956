//! The smallest text that still shows a difference: statements, branches, operands and parameters are taken away as long as the
//! verdict stays of its kind.

use std::path::Path;

use serde_json::Value as Json;

use super::generator::sizes;
use super::judge::{self, Configuration, Kind, Verdict};
use super::kinds::Signature;
use super::oracle::Oracle;

/// Rounds of asking at most; each asks about many candidates at once.
const ROUNDS: usize = 40;

/// Candidates of one round.
const AT_ONCE: usize = 24;

/// A text, the compiler's answer about it and the verdicts.
#[derive(Debug, Clone)]
pub struct Found {
    pub text: String,
    pub answer: Json,
    pub verdicts: Vec<(Configuration, Verdict)>,
}

impl Found {
    fn shows(&self, configuration: Configuration, wanted: &Signature) -> bool {
        self.verdicts.iter().any(|(of, verdict)| {
            *of == configuration
                && verdict.kind == wanted.kind
                // What the compiler refuses stays the same refusal; an error of ours stays the same error.
                && (!matches!(wanted.kind, Kind::Missed | Kind::FalseError) || Signature::of(verdict) == *wanted)
        })
    }
}

/// Texts, asked about and judged.
pub fn asked(
    oracle: &Oracle,
    folder: &Path,
    texts: &[String],
    only: Option<Configuration>,
) -> std::io::Result<Vec<Found>> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(format!("{}.py", sizes::MODULE)), sizes::text())?;
    let mut files = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let file = folder.join(format!("kernel_{at:05}.py"));
        std::fs::write(&file, text)?;
        files.push(file);
    }
    let answers = oracle.ask(&files, only)?;
    let found = texts.iter().zip(files).zip(answers).map(|((text, file), answer)| {
        let verdicts = judge::verdicts(&file.to_string_lossy(), text, &answer);
        Found { text: text.clone(), answer, verdicts }
    });
    Ok(found.collect())
}

/// A smaller text with the same difference.
pub fn minimised(oracle: &Oracle, folder: &Path, found: Found, configuration: Configuration) -> std::io::Result<Found> {
    let verdict = found.verdicts.iter().find(|(of, verdict)| *of == configuration && verdict.kind.is_difference());
    let Some(wanted) = verdict.map(|(_, verdict)| Signature::of(verdict)) else { return Ok(found) };
    let mut best = found;
    let mut from = 0;
    for _ in 0..ROUNDS {
        let all = candidates(&best.text);
        if from >= all.len() {
            break;
        }
        let some: Vec<String> = all[from..].iter().take(AT_ONCE).cloned().collect();
        let tried = asked(oracle, folder, &some, Some(configuration))?;
        let shorter = tried.into_iter().filter(|found| found.shows(configuration, &wanted));
        match shorter.min_by_key(|found| found.text.len()) {
            Some(shorter) => {
                best = shorter;
                from = 0;
            }
            None => from += AT_ONCE,
        }
    }
    // What the other configurations say of it.
    Ok(asked(oracle, folder, &[best.text], None)?.remove(0))
}

/// Texts with one thing less, the largest pieces first.
fn candidates(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let body = lines.iter().rposition(|line| line.trim_start().starts_with("def ")).unwrap_or(0) + 1;
    let mut all = Vec::new();
    let statements = statements(&lines, body);
    let count = statements.len();
    // Halves, quarters, … of the statements, then each.
    let mut share = count / 2;
    while share > 1 {
        for start in (0..count).step_by(share) {
            let part = &statements[start..(start + share).min(count)];
            all.push(without(&lines, part));
        }
        share /= 2;
    }
    for one in &statements {
        all.push(without(&lines, &[*one]));
        all.extend(unwrapped(&lines, *one));
        all.extend(renamed(&lines, *one));
    }
    all.extend(simpler_expressions(&lines, body));
    all.extend(fewer_parameters(&lines));
    all.retain(|candidate| candidate.len() < text.len());
    all.dedup();
    all.sort_by_key(String::len);
    all
}

/// Lines from and to of a statement with its block.
type Range = (usize, usize);

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn statements(lines: &[&str], from: usize) -> Vec<Range> {
    let last = lines.iter().rposition(|line| line.trim_start().starts_with("return")).unwrap_or(lines.len());
    let mut found = Vec::new();
    for at in 0..lines.len() {
        let line = lines[at].trim_start();
        let is_declaration = at < from && line.contains("MemRef") && !line.contains("def ");
        if !is_declaration && (at < from || at >= last || line.is_empty()) {
            continue;
        }
        let mut end = at + 1;
        while end < lines.len() && !lines[end].trim().is_empty() && indent(lines[end]) > indent(lines[at]) {
            end += 1;
        }
        // A branch goes with what else there is.
        let takes_else = line.starts_with("if ");
        while takes_else && end < lines.len() && indent(lines[end]) == indent(lines[at]) {
            let next = lines[end].trim_start();
            if !(next.starts_with("else:") || next.starts_with("elif ")) {
                break;
            }
            end += 1;
            while end < lines.len() && indent(lines[end]) > indent(lines[at]) {
                end += 1;
            }
        }
        found.push((at, end));
    }
    found
}

fn joined(lines: &[String]) -> String {
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        text.push_str(line);
        text.push('\n');
        let is_head = line.trim_end().ends_with(':') && !line.trim_start().starts_with('#');
        let deeper = lines.get(at + 1).is_some_and(|next| indent(next) > indent(line));
        if is_head && !deeper {
            text.push_str(&format!("{}pass\n", " ".repeat(indent(line) + 4)));
        }
    }
    text
}

fn without(lines: &[&str], ranges: &[Range]) -> String {
    let kept = |at: &usize| !ranges.iter().any(|(from, to)| (*from..*to).contains(at));
    joined(&(0..lines.len()).filter(kept).map(|at| lines[at].to_owned()).collect::<Vec<_>>())
}

/// The body of a loop or of the first branch in the place of the whole.
fn unwrapped(lines: &[&str], (from, to): Range) -> Option<String> {
    let line = lines[from].trim_start();
    if to <= from + 1 || !["if ", "for ", "while ", "elif ", "else:"].iter().any(|start| line.starts_with(start)) {
        return None;
    }
    let mut kept: Vec<String> = lines[..from].iter().map(|&line| line.to_owned()).collect();
    let inner = lines[from + 1..to].iter().take_while(|line| indent(line) > indent(lines[from]));
    kept.extend(inner.filter(|line| line.trim() != "pass").map(|line| line[4..].to_owned()));
    kept.extend(lines[to..].iter().map(|&line| line.to_owned()));
    Some(joined(&kept))
}

/// An assignment taken away, its name replaced by one of its operands.
fn renamed(lines: &[&str], (from, to): Range) -> Vec<String> {
    let Some((name, value)) = lines[from].trim_start().split_once(" = ").filter(|_| to == from + 1) else {
        return Vec::new();
    };
    let name = name.split(':').next().unwrap_or(name).trim();
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return Vec::new();
    }
    let is_value = |word: &&str| {
        word.len() > 1
            && word.starts_with(['t', 'y', 'c', 's', 'x'])
            && word[1..].bytes().all(|byte| byte.is_ascii_digit())
    };
    let words = value.split(|c: char| !c.is_alphanumeric() && c != '_').filter(is_value).filter(|word| *word != name);
    let mut all = Vec::new();
    for word in words.take(3) {
        let mut kept: Vec<String> = lines[..from].iter().map(|&line| line.to_owned()).collect();
        kept.extend(lines[to..].iter().map(|line| replaced(line, name, word)));
        all.push(joined(&kept));
    }
    all
}

/// A line with each mention of a name replaced.
fn replaced(line: &str, name: &str, by: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in line.chars().chain(['\n']) {
        if c.is_alphanumeric() || c == '_' || c == '.' {
            word.push(c);
            continue;
        }
        out.push_str(if word == name { by } else { &word });
        word.clear();
        out.push(c);
    }
    out.pop();
    out
}

/// Calls in calls replaced by their first operand, keywords and annotations left out.
fn simpler_expressions(lines: &[&str], from: usize) -> Vec<String> {
    let mut all = Vec::new();
    for at in from..lines.len() {
        let line = lines[at];
        let mut shorter: Vec<String> = Vec::new();
        if let Some((left, right)) = line.split_once(" = ")
            && let Some((name, _)) = left.split_once(": pl.Tile")
        {
            shorter.push(format!("{name} = {right}"));
        }
        for (start, _) in line.match_indices("pl.") {
            let Some(open) = line[start..].find('(').map(|open| start + open) else { continue };
            let is_nested = line[..start].contains('(') && !line[..start].trim_end().ends_with('=');
            let Some(close) = closing(line, open) else { continue };
            if is_nested && let Some(first) = line[open + 1..close].split(',').next() {
                shorter.push(format!("{}{first}{}", &line[..start], &line[close + 1..]));
            }
        }
        for (comma, _) in line.match_indices(", ") {
            let end = line[comma + 2..].find([',', ')']).map(|end| comma + 2 + end);
            if let Some(end) = end
                && line[comma..end].contains('=')
                && !line[comma..end].contains('(')
            {
                shorter.push(format!("{}{}", &line[..comma], &line[end..]));
            }
        }
        all.extend(shorter.into_iter().map(|shorter| {
            let mut kept: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
            kept[at] = shorter;
            joined(&kept)
        }));
    }
    all
}

fn closing(line: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in line[open..].char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(open + at);
        }
    }
    None
}

/// Parameters that nothing mentions, and outputs with their results.
fn fewer_parameters(lines: &[&str]) -> Vec<String> {
    let Some(at) = lines.iter().rposition(|line| line.trim_start().starts_with("def ")) else { return Vec::new() };
    let head = lines[at];
    let Some((open, close)) = head.find('(').and_then(|open| Some((open, closing(head, open)?))) else {
        return Vec::new();
    };
    let parameters = split_top(&head[open + 1..close]);
    let rest = &lines[at + 1..];
    let mut all = Vec::new();
    for one in 0..parameters.len() {
        let name = parameters[one].split(':').next().unwrap_or_default().trim();
        let mentions = |line: &&&str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
        let mentioned: Vec<&str> = rest.iter().filter(mentions).copied().collect();
        if name == "self" {
            continue;
        }
        let only_returned = mentioned.len() == 1 && mentioned[0].trim_start().starts_with("return");
        if !mentioned.is_empty() && !only_returned {
            continue;
        }
        let kept: Vec<&str> =
            (0..parameters.len()).filter(|other| *other != one).map(|other| parameters[other].as_str()).collect();
        let mut head = format!("{}{}{}", &head[..=open], kept.join(", "), &head[close..]);
        let mut tail: Vec<String> = rest.iter().map(|&line| line.to_owned()).collect();
        if only_returned {
            let Some((new_head, new_tail)) = without_result(&head, &tail, name) else { continue };
            (head, tail) = (new_head, new_tail);
        }
        let mut whole: Vec<String> = lines[..at].iter().map(|&line| line.to_owned()).collect();
        whole.push(head);
        whole.extend(tail);
        all.push(joined(&whole));
    }
    all
}

/// A function that returns one result less.
fn without_result(head: &str, tail: &[String], name: &str) -> Option<(String, Vec<String>)> {
    let mut tail = tail.to_vec();
    let last = tail.iter().rposition(|line| line.trim_start().starts_with("return"))?;
    let space = " ".repeat(indent(&tail[last]));
    let results: Vec<String> =
        tail[last].trim_start()["return".len()..].split(',').map(|one| one.trim().to_owned()).collect();
    let at = results.iter().position(|one| one == name)?;
    let kept: Vec<String> = results.iter().filter(|one| *one != name).cloned().collect();
    if kept.is_empty() {
        return None;
    }
    tail[last] = format!("{space}return {}", kept.join(", "));
    let Some((start, result)) = head.split_once(" -> ") else { return Some((head.to_owned(), tail)) };
    let inner = result.strip_prefix("tuple[")?.strip_suffix("]:")?;
    let mut types = split_top(inner);
    types.remove(at.min(types.len() - 1));
    let result = if types.len() == 1 { types[0].clone() } else { format!("tuple[{}]", types.join(", ")) };
    Some((format!("{start} -> {result}:"), tail))
}

/// Pieces between commas that no bracket is around.
fn split_top(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                pieces.push(String::new());
                continue;
            }
            _ => {}
        }
        pieces.last_mut().expect("there is a piece").push(c);
    }
    pieces.into_iter().map(|piece| piece.trim().to_owned()).collect()
}
