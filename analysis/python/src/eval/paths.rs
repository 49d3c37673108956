//! Names of files that host code puts together, of which not every part is known, and the files of such names.

use tilefit_syntax::ast::BinaryOp;

use super::{Behaviour, Constant, Object, Weighed, text, unknown};

/// A text, or a file that has it for a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// What is known of it, in order. Between two of them is any text.
    pieces: Vec<String>,
    is_file: bool,
}

/// What stands between the parts of a path.
const SEPARATORS: [char; 2] = ['/', '\\'];
/// A text has no more pieces than these, and no more bytes.
const MOST_PIECES: usize = 32;
const LONGEST: usize = 4096;

impl Pattern {
    /// What a text is known to be.
    fn of_text(value: &Constant) -> Pattern {
        match (value.get::<Pattern>(), text::text(value)) {
            (Some(pattern), _) if !pattern.is_file => pattern.clone(),
            (_, Some(text)) => Pattern { pieces: vec![text], is_file: false },
            _ => Pattern { pieces: vec![String::new(); 2], is_file: false },
        }
    }

    fn push(&mut self, other: &Pattern) {
        let Some((first, rest)) = other.pieces.split_first() else { return };
        if let Some(last) = self.pieces.last_mut() {
            last.push_str(first);
        }
        self.pieces.extend(rest.iter().cloned());
    }

    fn value(self) -> Constant {
        if self.pieces.len() > MOST_PIECES || self.pieces.iter().map(String::len).sum::<usize>() > LONGEST {
            return unknown("a text of too many parts");
        }
        match self.pieces.as_slice() {
            [only] if !self.is_file => Constant::Str(only.clone()),
            _ => Constant::object(self),
        }
    }

    /// The folder that it is in, and what is known of its name there; `None` where the folder is not known.
    pub fn in_folder(value: &Constant) -> Option<(String, Pattern)> {
        let pattern = match value {
            Constant::Str(path) => Pattern { pieces: vec![path.clone()], is_file: false },
            value => value.get::<Pattern>()?.clone(),
        };
        let (first, rest) = pattern.pieces.split_first()?;
        let (folder, name) = first.rsplit_once(SEPARATORS)?;
        let is_below = rest.iter().any(|piece| piece.contains(SEPARATORS));
        let pieces = [name.to_owned()].into_iter().chain(rest.iter().cloned()).collect();
        (!is_below).then(|| (folder.to_owned(), Pattern { pieces, is_file: false }))
    }

    /// Whether it may be this text.
    pub fn may_be(&self, text: &str) -> bool {
        let Some((first, rest)) = self.pieces.split_first() else { return false };
        let Some((last, between)) = rest.split_last() else { return text == first };
        let Some(inside) = text.strip_prefix(first.as_str()).and_then(|rest| rest.strip_suffix(last.as_str())) else {
            return false;
        };
        between.iter().try_fold(inside, |rest, piece| rest.split_once(piece.as_str()).map(|(_, rest)| rest)).is_some()
    }
}

/// More ways of a part than these are any text.
const MOST_WAYS: usize = 8;

/// A part of a text, which is any where it may be much.
pub(super) fn closed(value: Constant) -> Constant {
    match value {
        Constant::OneOf(choice) if choice.is_open() || choice.cases.len() > MOST_WAYS => unknown("one of many"),
        value => value,
    }
}

/// The text of an f-string of which some parts are not known.
pub(super) fn joined(parts: &[Constant]) -> Constant {
    let mut all = Pattern { pieces: vec![String::new()], is_file: false };
    parts.iter().for_each(|part| all.push(&Pattern::of_text(part)));
    all.value()
}

/// `os.path.function(values)`
pub(super) fn call(function: &str, values: &[Constant]) -> Option<Constant> {
    Some(match (function, values) {
        ("realpath" | "abspath" | "normpath" | "expanduser", [path]) => path.clone(),
        ("dirname", [path]) => {
            let path = Pattern::of_text(path);
            let at = path.pieces.iter().rposition(|piece| piece.contains(SEPARATORS))?;
            let mut pieces = path.pieces[..at].to_vec();
            pieces.push(path.pieces[at].rsplit_once(SEPARATORS)?.0.to_owned());
            Pattern { pieces, is_file: false }.value()
        }
        ("join", [first, rest @ ..]) => {
            let mut path = Pattern::of_text(first);
            for part in rest {
                path.push(&Pattern { pieces: vec!["/".to_owned()], is_file: false });
                path.push(&Pattern::of_text(part));
            }
            path.value()
        }
        _ => return None,
    })
}

/// Whether a value is a file, or one of some.
pub(super) fn is_file(value: &Constant) -> bool {
    match value {
        Constant::OneOf(choice) => choice.values().all(is_file),
        value => value.get::<Pattern>().is_some_and(|pattern| pattern.is_file),
    }
}

/// `open(path)`
pub(super) fn opened(path: &Constant) -> Constant {
    match path {
        Constant::Str(_) => Constant::object(Pattern { is_file: true, ..Pattern::of_text(path) }),
        path if path.get::<Pattern>().is_some() => {
            Constant::object(Pattern { is_file: true, ..Pattern::of_text(path) })
        }
        _ => unknown("a file of an unknown name"),
    }
}

impl Weighed for Pattern {
    fn weight(&self) -> usize {
        1 + self.pieces.iter().map(String::len).sum::<usize>()
    }

    fn depth(&self) -> u32 {
        0
    }
}

impl Behaviour for Pattern {
    fn truth(&self) -> Option<bool> {
        (self.is_file || self.pieces.iter().any(|piece| !piece.is_empty())).then_some(true)
    }

    fn is_known(&self) -> bool {
        false
    }

    fn is_lasting(&self) -> bool {
        true
    }

    fn equals(&self, other: &Object) -> bool {
        other.get() == Some(self)
    }

    fn named(&self, _: &str) -> Option<Constant> {
        None
    }

    fn member(&self, _: &str) -> Option<Constant> {
        None
    }

    fn with_member(&self, _: &str, _: &Constant) -> Option<Constant> {
        None
    }

    /// What a file holds is known by its name.
    fn method(&self, name: &str, args: &[Constant]) -> Option<Constant> {
        (self.is_file && name == "read" && args.is_empty()).then(|| Constant::object(self.clone()))
    }

    fn either(&self, _: &Object) -> Option<Constant> {
        None
    }

    fn binary(&self, op: BinaryOp, left: &Constant, right: &Constant) -> Option<Constant> {
        (op == BinaryOp::Add && !self.is_file).then(|| joined(&[left.clone(), right.clone()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_which_parts_are_known() {
        let text = |text: &str| Constant::Str(text.to_owned());
        let name = joined(&[text("N="), unknown("n"), text(",device="), text("H100"), unknown("type"), text(".json")]);
        let path = call("join", &[text("/w/ops"), text("configs"), name]).expect("a path");
        let (folder, name) = Pattern::in_folder(&opened(&path)).expect("a folder");
        assert_eq!(folder, "/w/ops/configs");
        for (file, is_it) in [
            ("N=64,device=H100,dtype=fp8.json", true),
            ("N=64,device=H100.json", true),
            ("N=64,device=H200.json", false),
            ("E=1,N=64,device=H100.json", false),
            (".json", false),
        ] {
            assert_eq!(name.may_be(file), is_it, "{file}");
        }
        assert_eq!(call("dirname", &[text("/w/ops/a.py")]), Some(text("/w/ops")));
        assert_eq!(Pattern::in_folder(&joined(&[unknown("folder"), text("/a.json")])), None);
        assert_eq!(joined(&[text("a"), Constant::Int(1)]), text("a1"));
    }
}
