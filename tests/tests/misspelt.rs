//! Two letters of one random use of a name swapped: something must be said of it, or the kernel must no longer be exact. A kernel that
//! looks right because a name was not understood is the worst that this project can do.
//!
//! `TILEFIT_MISSPELT=1000` makes as many, `TILEFIT_CORPUS=<folder>` makes them of the Python files below a folder, `TILEFIT_SEED=7` makes
//! others.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use tilefit_analysis::{AnalysisHost, FileId};
use tilefit_python::diagnostics::Code;
use tilefit_syntax::ast::{Ast, Expr, ExprId, Spans, Stmt};
use tilefit_syntax::tokens::{TokenKind, tokens};
use tilefit_syntax::{BlockKind, Document, TextRange, ast};
use tilefit_tests::corpus;
use tilefit_tests::random::Random;

#[test]
fn no_slip_of_the_fingers_goes_unsaid() {
    let number = |name: &str| env::var(name).ok().and_then(|value| value.parse::<usize>().ok());
    let count = number("TILEFIT_MISSPELT").unwrap_or(150);
    let mut random = Random::new(number("TILEFIT_SEED").unwrap_or(1) as u64, 0);
    let sources: Vec<(PathBuf, String, Vec<Use>)> = sources().into_iter().map(with_uses).collect();
    let all: Vec<(usize, usize)> =
        sources.iter().enumerate().flat_map(|(file, (.., uses))| (0..uses.len()).map(move |at| (file, at))).collect();
    let mut chosen: BTreeMap<usize, Vec<(usize, usize, usize)>> = BTreeMap::new();
    for _ in 0..count {
        let &(file, at) = &all[random.below(all.len())];
        let (one, other) = swapped(&sources[file].2[at].name, &mut random);
        chosen.entry(file).or_default().push((at, one, other));
    }
    let mut made: BTreeMap<Kind, usize> = BTreeMap::new();
    let mut silent = Vec::new();
    for (file, slips) in chosen {
        let (path, text, uses) = &sources[file];
        let mut session = Session::new(path, text);
        for (at, one, other) in slips {
            let slip = &uses[at];
            let mut letters: Vec<char> = slip.name.chars().collect();
            letters.swap(one, other);
            let misspelt: String = letters.into_iter().collect();
            // Another name of the file is no slip: the text means that one.
            if names_of(text).contains(&misspelt) {
                continue;
            }
            *made.entry(slip.kind).or_default() += 1;
            let mut mutant = text.clone();
            mutant.replace_range(slip.range.start..slip.range.end, &misspelt);
            if session.is_silent(&mutant) {
                let line = text[..slip.range.start].matches('\n').count() + 1;
                silent.push(format!("{}:{line}: {:?} `{}` as `{misspelt}`", path.display(), slip.kind, slip.name));
            }
        }
    }
    let total: usize = made.values().sum();
    println!("{} of {total} misspelt names in silence; {made:?}", silent.len());
    silent.iter().for_each(|each| println!("  {each}"));
    assert!(silent.len() * 200 <= total, "more than 5 of 1,000 in silence:\n{}", silent.join("\n"));
}

/// Warnings of names that are well spelt would make everybody turn the code off.
#[test]
fn every_name_of_the_corpora_is_defined() {
    for (path, text) in sources() {
        let session = Session::new(&path, &text);
        let diagnostics = session.host.snapshot().diagnostics(session.file).expect("nothing is edited");
        let unknown: Vec<_> = diagnostics.iter().filter(|it| it.code == Code::UnknownName).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", path.display());
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Variable,
    Dtype,
    Attribute,
    Keyword,
    Operation,
}

/// A place where a name is used, in a function that becomes a kernel or has scopes that do.
struct Use {
    kind: Kind,
    name: String,
    /// Bytes of the file.
    range: TextRange,
}

/// A file that is analysed again and again, with what was said of it as it was.
struct Session {
    host: AnalysisHost,
    file: FileId,
    said: Vec<(Code, String)>,
    inexact: usize,
}

impl Session {
    fn new(path: &Path, text: &str) -> Self {
        let mut host = AnalysisHost::new();
        let file = host.file_id(&path.to_string_lossy());
        host.set_document(file, Document::new(text));
        read_imports(&mut host, file);
        let mut session = Session { host, file, said: Vec::new(), inexact: 0 };
        (session.said, session.inexact) = session.state();
        session
    }

    fn state(&self) -> (Vec<(Code, String)>, usize) {
        let analysis = self.host.snapshot();
        let diagnostics = analysis.diagnostics(self.file).expect("nothing is edited");
        let plans = analysis.plans(self.file).expect("nothing is edited");
        let inexact = plans.iter().filter(|plan| !["exact", "predicted"].contains(&plan.status)).count();
        (diagnostics.into_iter().map(|it| (it.code, it.message)).collect(), inexact)
    }

    /// Whether nothing is said of a mutant that is not said of the text, and no kernel is less exact.
    fn is_silent(&mut self, mutant: &str) -> bool {
        self.host.set_document(self.file, Document::new(mutant));
        let (said, inexact) = self.state();
        inexact <= self.inexact && said.iter().all(|each| self.said.contains(each))
    }
}

fn read_imports(host: &mut AnalysisHost, file: FileId) {
    let mut asked: Vec<Vec<String>> = Vec::new();
    loop {
        let wanted = host.snapshot().unknown_imports(file).expect("nothing is edited");
        let new: Vec<_> = wanted.iter().filter(|candidates| !asked.contains(candidates)).cloned().collect();
        if new.is_empty() {
            return;
        }
        for candidates in &new {
            let found = candidates.iter().find_map(|path| Some((path, std::fs::read_to_string(path).ok()?)));
            if let Some((path, text)) = found {
                let imported = host.file_id(path);
                host.set_document(imported, Document::new(&text));
            }
        }
        asked.extend(new);
    }
}

/// The files that mutants are made of.
fn sources() -> Vec<(PathBuf, String)> {
    let read = |path: PathBuf| Some((path.clone(), std::fs::read_to_string(path).ok()?));
    let texts = corpus::files().into_iter().filter_map(read);
    texts.filter(|(_, text)| text.contains("import pypto.language as pl")).collect()
}

fn with_uses((path, text): (PathBuf, String)) -> (PathBuf, String, Vec<Use>) {
    let document = Document::new(&text);
    let mut uses = Vec::new();
    for block in document.blocks() {
        if block.key.kind == BlockKind::Function && block.source.text.contains("@pl.") {
            let (ast, spans) = ast::parse(&block.source);
            uses.extend(uses_in(&ast, &spans, &block.source.text, block.start));
        }
    }
    uses.retain(|each| text.get(each.range.start..each.range.end) == Some(each.name.as_str()));
    uses.retain(|each| each.name.chars().any(|letter| !each.name.starts_with(letter)));
    (path, text, uses)
}

fn uses_in(ast: &Ast, spans: &Spans, text: &str, start: usize) -> Vec<Use> {
    let mut bound = Vec::new();
    ast.stmts().for_each(|(_, stmt)| match stmt {
        Stmt::Function(function) => {
            bound.push(function.name);
            bound.extend(function.params.iter().map(|param| param.name));
        }
        Stmt::Assign { targets, .. } => bound.extend(targets.iter().flat_map(|&target| names_in(ast, target))),
        Stmt::For { target, .. } => bound.extend(names_in(ast, *target)),
        Stmt::With { items, .. } => bound.extend(items.iter().filter_map(|item| item.target)),
        _ => {}
    });
    let called: Vec<ExprId> = ast
        .exprs()
        .filter_map(|(_, expr)| if let Expr::Call { func, .. } = expr { Some(*func) } else { None })
        .collect();
    let mut uses = Vec::new();
    for (id, expr) in ast.exprs() {
        let range = spans.expr(id);
        match expr {
            Expr::Name(name) if !bound.contains(&id) => {
                uses.push(Use { kind: Kind::Variable, name: name.clone(), range: range.shifted(start) });
            }
            Expr::Attribute { name, .. } => {
                let is_dtype = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
                    && name.ends_with(|c: char| c.is_ascii_digit());
                let kind = match (called.contains(&id), is_dtype) {
                    (true, _) => Kind::Operation,
                    (false, true) => Kind::Dtype,
                    (false, false) => Kind::Attribute,
                };
                let range = TextRange::new(range.end - name.len(), range.end);
                uses.push(Use { kind, name: name.clone(), range: range.shifted(start) });
            }
            Expr::Call { args, .. } => {
                for arg in args {
                    let Some(keyword) = &arg.keyword else { continue };
                    let value = spans.expr(arg.value).start;
                    let Some(at) = text[..value].rfind(keyword.as_str()) else { continue };
                    let range = TextRange::new(at, at + keyword.len());
                    uses.push(Use { kind: Kind::Keyword, name: keyword.clone(), range: range.shifted(start) });
                }
            }
            _ => {}
        }
    }
    uses
}

fn names_in(ast: &Ast, target: ExprId) -> Vec<ExprId> {
    match ast.expr(target) {
        Expr::Name(_) => vec![target],
        Expr::Tuple(parts) | Expr::List(parts) => parts.iter().flat_map(|&part| names_in(ast, part)).collect(),
        _ => Vec::new(),
    }
}

/// Two letters of a name that differ.
fn swapped(name: &str, random: &mut Random) -> (usize, usize) {
    let letters: Vec<char> = name.chars().collect();
    loop {
        let (one, other) = (random.below(letters.len()), random.below(letters.len()));
        if letters[one] != letters[other] {
            return (one, other);
        }
    }
}

/// All names of a text.
fn names_of(text: &str) -> Vec<String> {
    let names = tokens(text).into_iter().filter(|token| token.kind == TokenKind::Name);
    names.map(|token| text[token.range.start..token.range.end].to_owned()).collect()
}
