//! What IPython adds to Python in the cells of a notebook, put out of the way: magics (`%matplotlib inline`, `%%bash`), commands of
//! the shell (`!pip install …`) and questions (`name?`). Lines stay lines, and what stands before a magic keeps its column.

use crate::outline::{self, LogicalLines};

/// What a magic does with the text after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runs {
    /// As Python, with the names of the notebook.
    Here,
    /// As Python, in a function of its own: what it binds is gone afterwards.
    Apart,
    /// As something else, and no name comes of it.
    Elsewhere,
    /// In ways that may give the notebook any name.
    Anything,
}

use Runs::{Anything, Apart, Elsewhere, Here};

/// `%name text`. One that is not listed may give the notebook any name.
const OF_LINES: [(&str, Runs); 3] = [("time", Here), ("prun", Here), ("timeit", Apart)];

/// Magics of one line that leave the names of the notebook alone.
const SET_UP: [&str; 46] = [
    "alias",
    "alias_magic",
    "autoawait",
    "autocall",
    "autoindent",
    "autoreload",
    "bookmark",
    "cat",
    "cd",
    "clear",
    "colors",
    "conda",
    "config",
    "cp",
    "debug",
    "dirs",
    "doctest_mode",
    "env",
    "gui",
    "history",
    "less",
    "load_ext",
    "ls",
    "mamba",
    "matplotlib",
    "micromamba",
    "mkdir",
    "mv",
    "pdb",
    "pip",
    "popd",
    "pprint",
    "precision",
    "pushd",
    "pwd",
    "reload_ext",
    "rm",
    "save",
    "set_env",
    "tensorboard",
    "unload_ext",
    "uv",
    "watermark",
    "who",
    "whos",
    "xmode",
];

/// `%%name` with the rest of its cell. One that is not listed may run the cell in any way.
const OF_CELLS: [(&str, Runs); 23] = [
    ("time", Here),
    ("capture", Here),
    ("prun", Here),
    ("timeit", Apart),
    ("bash", Elsewhere),
    ("sh", Elsewhere),
    ("script", Elsewhere),
    ("system", Elsewhere),
    ("sx", Elsewhere),
    ("writefile", Elsewhere),
    ("file", Elsewhere),
    ("html", Elsewhere),
    ("HTML", Elsewhere),
    ("svg", Elsewhere),
    ("SVG", Elsewhere),
    ("javascript", Elsewhere),
    ("js", Elsewhere),
    ("latex", Elsewhere),
    ("markdown", Elsewhere),
    ("perl", Elsewhere),
    ("ruby", Elsewhere),
    ("python", Elsewhere),
    ("python3", Elsewhere),
];

/// What a statement becomes that may define any name. No file has that name, so that no import is found.
const ANY_NAMES: &str = "from get_ipython import *";
/// What a value becomes that only IPython knows.
const ANY_VALUE: &str = "get_ipython()";
/// What a statement becomes that does nothing, so that the suite that it is in keeps one.
const NOTHING: &str = "0";

/// The Python of a cell, with as many lines as the cell has; each ends with `\n` alone.
pub fn python_of(cell: &str) -> String {
    let text = cell.replace("\r\n", "\n").replace('\r', "\n");
    match cell_magic(&text) {
        None => without_line_magics(&text),
        Some(CellMagic { start, body, runs }) => {
            let blank = "\n".repeat(text[..start].matches('\n').count());
            let rest = &text[body..];
            let is_kept = runs == Here || runs == Apart && binds_nothing(rest);
            let lines = || "\n".repeat(rest.matches('\n').count());
            match runs {
                _ if is_kept => blank + &line_break(&text, body) + &without_line_magics(rest),
                Anything => blank + ANY_NAMES + &line_break(&text, body) + &lines(),
                _ => blank + &line_break(&text, body) + &lines(),
            }
        }
    }
}

struct CellMagic {
    /// Offset of its line.
    start: usize,
    /// Offset of the line after it.
    body: usize,
    runs: Runs,
}

/// That of the first line that is not blank.
fn cell_magic(text: &str) -> Option<CellMagic> {
    let start = text.len() - text.trim_start().len();
    let line = text[start..].lines().next()?;
    let name = word(line.strip_prefix("%%")?);
    if line.trim_end().ends_with('?') {
        return None;
    }
    let is_shell = name.is_empty() && line.starts_with("%%!");
    let listed = OF_CELLS.iter().find(|(listed, _)| *listed == name).map(|(_, runs)| *runs);
    let runs = if is_shell { Elsewhere } else { listed.unwrap_or(Anything) };
    let body = (start + line.len() + 1).min(text.len());
    Some(CellMagic { start, body, runs })
}

/// The line break before an offset, if there is one.
fn line_break(text: &str, offset: usize) -> String {
    if text[..offset].ends_with('\n') { "\n".to_owned() } else { String::new() }
}

fn without_line_magics(text: &str) -> String {
    let mut python = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let line = &text[at..at + end_of_line(&text[at..])];
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let (_, rest) = line.split_at(indent);
        match magic_of(rest) {
            None => {
                let end = match assigned_magic(line) {
                    Some(value) => {
                        python.push_str(&line[..value]);
                        python.push_str(ANY_VALUE);
                        continue_over(text, at, &mut python)
                    }
                    None => {
                        let end = outline::end_of_logical_line(text, at);
                        python.push_str(&text[at..end]);
                        end
                    }
                };
                at = end;
            }
            Some(Magic::Statement(statement)) => {
                // `%time` has four letters and a blank: there is room for a statement before the one that is timed.
                python.push_str(&line[..indent]);
                let before = rest.len() - statement.len();
                python.push_str(&format!("{:before$}", format!("{NOTHING};")));
                let from = at + indent + before;
                let end = outline::end_of_logical_line(text, from).max(from);
                python.push_str(&text[from..end]);
                at = end;
            }
            Some(Magic::Hidden(instead)) => {
                python.push_str(&line[..indent]);
                python.push_str(instead);
                at = continue_over(text, at, &mut python);
            }
        }
    }
    python
}

enum Magic<'t> {
    /// This much of the line is Python.
    Statement(&'t str),
    Hidden(&'static str),
}

/// What a line is that starts, after its indentation, with `rest`.
fn magic_of(rest: &str) -> Option<Magic<'_>> {
    let hidden = Some(Magic::Hidden(NOTHING));
    match rest.bytes().next()? {
        b'%' if !rest.starts_with("%%") => {
            let name = word(&rest[1..]);
            let listed = OF_LINES.iter().find(|(listed, _)| *listed == name).map(|(_, runs)| *runs);
            let runs = listed.unwrap_or(if SET_UP.contains(&name) { Elsewhere } else { Anything });
            let statement = without_options(&rest[1 + name.len()..]);
            match runs {
                Here | Apart if statement.trim().is_empty() => hidden,
                Here => Some(Magic::Statement(statement)),
                Apart if binds_nothing(statement) => Some(Magic::Statement(statement)),
                Anything => Some(Magic::Hidden(ANY_NAMES)),
                Apart | Elsewhere => hidden,
            }
        }
        // Calls without brackets: `/f x`, `,f x`, `;f x`.
        b'%' | b'!' | b'?' | b'/' | b',' | b';' => hidden,
        _ if is_question(rest) => hidden,
        _ => None,
    }
}

/// `name?`, `name.member??`, `%magic?`
fn is_question(rest: &str) -> bool {
    let Some(asked) = rest.trim_end().strip_suffix('?') else { return false };
    let asked = asked.strip_suffix('?').unwrap_or(asked).trim_end();
    !asked.is_empty() && asked.chars().all(|c| c.is_alphanumeric() || "_.*[]-".contains(c))
}

/// Where the value starts in `name = %magic` and `name = !command`.
fn assigned_magic(line: &str) -> Option<usize> {
    let equals = line.find('=')?;
    let is_target = |c: char| c.is_alphanumeric() || c.is_whitespace() || "_.,*".contains(c);
    let (target, value) = (&line[..equals], &line[equals + 1..]);
    let start = equals + 1 + value.len() - value.trim_start().len();
    (!target.trim().is_empty() && target.chars().all(is_target) && line[start..].starts_with(['%', '!']))
        .then_some(start)
}

/// Leaves out the rest of a magic's line and the lines that it goes on in, but for their line breaks; returns where they end.
fn continue_over(text: &str, at: usize, python: &mut String) -> usize {
    let mut at = at;
    loop {
        let line = &text[at..at + end_of_line(&text[at..])];
        at += line.len();
        if at == text.len() {
            return at;
        }
        python.push('\n');
        at += 1;
        if !line.ends_with('\\') {
            return at;
        }
    }
}

/// What follows `-n 10 -r3 -q`.
fn without_options(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(option) = rest.strip_prefix('-') {
        let (letters, after) = option.split_at(option.find(char::is_whitespace).unwrap_or(option.len()));
        rest = after.trim_start();
        let takes_number = letters.len() == 1 && rest.starts_with(|c: char| c.is_ascii_digit());
        if takes_number {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        }
    }
    rest
}

/// Whether a text is calls and nothing else, as far as its margin shows: `f(x)`, `kernel[grid](x)`.
fn binds_nothing(text: &str) -> bool {
    let mut lines = LogicalLines::new(text);
    std::iter::from_fn(|| lines.next_text()).all(|line| {
        let called = line.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
        let is_call = called.len() < line.len() && called.starts_with(['(', '[']);
        line.trim().is_empty() || line.starts_with('#') || is_call
    })
}

fn word(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())]
}

fn end_of_line(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(cell: &str, expected: Expect) {
        expected.assert_eq(&python_of(cell));
    }

    #[test]
    fn magics_become_statements_that_do_nothing() {
        check(
            "%matplotlib inline\n!pip install \\\n    triton\nimport torch\ntorch.compile?\n??torch\nif True:\n    %cd x\n    y = 1\n",
            expect![[r#"
                0
                0

                import torch
                0
                0
                if True:
                    0
                    y = 1
            "#]],
        );
    }

    #[test]
    fn what_is_timed_stays_where_it_is() {
        check(
            "%time x = f(1,  \n  2)\n    %timeit -n 10 -r3 k[grid](x, BLOCK=64)\n%timeit x = 2\n%time\n",
            expect![[r#"
                0;    x = f(1,  
                  2)
                    0;                k[grid](x, BLOCK=64)
                0
                0
            "#]],
        );
        check(
            "\n%%time\nBLOCK = 64\n%pip list\n",
            expect![[r#"


                BLOCK = 64
                0
            "#]],
        );
        check(
            "%%timeit -n 3\nk[grid](x)\ntorch.cuda.synchronize()",
            expect![[r#"

                k[grid](x)
                torch.cuda.synchronize()"#]],
        );
        assert_eq!(python_of("%%timeit\nBLOCK = 32\nk[grid](x)"), "\n\n");
    }

    #[test]
    fn cells_of_other_languages_are_blank() {
        assert_eq!(python_of("%%bash\nfor i in 1 2; do\n# tilefit: BLOCK=1\ndone\n"), "\n\n\n\n");
        check(
            "%%my_magic now\ndef f(): pass\n",
            expect![[r#"
                from get_ipython import *

            "#]],
        );
        check("%%bash", expect![""]);
    }

    #[test]
    fn a_magic_that_is_not_known_may_define_any_name() {
        let any = format!("{ANY_NAMES}\n");
        for magic in ["%pylab", "%run setup.py", "%my_kernels load"] {
            assert_eq!(python_of(&format!("{magic}\n")), any, "{magic}");
        }
        assert_eq!(python_of("%matplotlib\n"), format!("{NOTHING}\n"));
    }

    #[test]
    fn values_of_magics_are_not_known() {
        check(
            "files = !ls *.py\na, b = %sql select 1\nx.y = %time f()\n%run setup.ipynb\nx == 1\nz = 5\n",
            expect![[r#"
                files = get_ipython()
                a, b = get_ipython()
                x.y = get_ipython()
                from get_ipython import *
                x == 1
                z = 5
            "#]],
        );
    }

    #[test]
    fn python_is_left_alone() {
        for python in [
            "x = (a\n% b)\ns = '''\n%time\n!ls\n'''\n",
            "x = 1 + \\\n  2 \\\n  % 3\n",
            "f(  # why?\n    y)\n# what?\nz = {'a': 1}  # ?\n",
            "@triton.jit\ndef k(x):\n    pass",
            "",
            "\n\n",
        ] {
            assert_eq!(python_of(python), python);
        }
    }

    proptest! {
        #[test]
        fn every_line_stays_a_line(text in "(%|%%time|!|\\?|[a-z=('\"é \\\\]|\n|\r|\r\n){0,40}") {
            let lines = text.replace("\r\n", "\n").replace('\r', "\n").matches('\n').count();
            let python = python_of(&text);
            prop_assert_eq!(python.matches('\n').count(), lines, "{:?}", python);
            prop_assert!(!python.contains('\r'));
        }
    }
}
