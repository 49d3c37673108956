//! Which part of a tile or tensor holds data when a window of it is read or written (the compiler's InferWindowReadValidShape and
//! InferWriteValidShapeUnion).

use tilefit_python::finding::Reason;

use super::proof::{Proof, Prover};
use super::{notation, scalar};
use crate::ir::{Scalar, ScalarBinary, Var};

/// A window that is read.
pub(super) struct Read<'a> {
    /// Extents of what it is taken from, and the part of it that holds data.
    pub(super) source: &'a [Scalar],
    pub(super) valid: &'a [Scalar],
    pub(super) offsets: &'a [Scalar],
    pub(super) window: &'a [Scalar],
    /// The part that the author says is valid.
    pub(super) requested: Option<&'a [Scalar]>,
    /// Whether all of the window has to lie in the source, not only what is read of it.
    pub(super) exact: bool,
    /// Whether what is read ends at the source's edge.
    pub(super) clamp: bool,
    /// What the author may do about a window that reaches past the edge.
    pub(super) remedy: &'static str,
    pub(super) vars: &'a [Var],
}

impl Read<'_> {
    /// The valid part of the window, or what the compiler refuses.
    pub(super) fn valid(&self) -> Result<Vec<Scalar>, String> {
        (0..self.window.len()).map(|axis| self.axis(axis)).collect()
    }

    fn axis(&self, axis: usize) -> Result<Scalar, String> {
        self.check(axis)?;
        let (window, requested) = (&self.window[axis], self.requested.map(|requested| &requested[axis]));
        let available = self.available(axis);
        let Some(requested) = requested else { return Ok(available) };
        if available == *window {
            return Ok(requested.clone());
        }
        Ok(match self.prover().less_equal(&available, requested) {
            Proof::Yes => available,
            Proof::No | Proof::Open => requested.clone(),
            Proof::Unsure => undecided(),
        })
    }

    fn check(&self, axis: usize) -> Result<(), String> {
        let (offset, window, source) = (&self.offsets[axis], &self.window[axis], &self.source[axis]);
        if self.prover().less_equal(&Scalar::Int(0), offset) == Proof::No {
            return Err(format!(
                "offset {axis} is negative ({}); a window must start inside its source",
                self.shown(offset)
            ));
        }
        let requested = self.requested.map(|requested| &requested[axis]);
        if let Some(requested) = requested
            && self.prover().less_equal(requested, window) == Proof::No
        {
            return Err(format!(
                "`valid_shape` {axis} is {}, which exceeds the window's extent {}; a valid part cannot be larger than the shape that holds it",
                self.shown(requested),
                self.shown(window)
            ));
        }
        let reach = requested.filter(|_| !self.exact).unwrap_or(window);
        if !self.clamp && self.prover().less_equal(&sum(offset, reach), source) == Proof::No {
            return Err(format!(
                "reads past the end of dimension {axis}: offset {} + extent {} exceeds the source extent {}; {}",
                self.shown(offset),
                self.shown(reach),
                self.shown(source),
                self.remedy
            ));
        }
        Ok(())
    }

    fn prover(&self) -> Prover<'_> {
        Prover { vars: self.vars }
    }

    fn shown(&self, scalar: &Scalar) -> String {
        notation::scalar(scalar, self.vars)
    }

    /// As much of the window as the source has data for.
    fn available(&self, axis: usize) -> Scalar {
        let (offset, window, valid) = (&self.offsets[axis], &self.window[axis], &self.valid[axis]);
        if *valid == self.source[axis] && !self.clamp {
            return window.clone();
        }
        let rest = match offset.as_int() {
            Some(0) => valid.clone(),
            _ => difference(&larger(self.prover(), valid, offset), offset),
        };
        smaller(self.prover(), &rest, window)
    }
}

/// A window that is written.
pub(super) struct Write<'a> {
    pub(super) target: &'a [Scalar],
    /// The part of the target that holds data so far.
    pub(super) target_valid: &'a [Scalar],
    pub(super) source: &'a [Scalar],
    pub(super) source_valid: &'a [Scalar],
    pub(super) offsets: &'a [Scalar],
    /// Whether all of the source is written, not only the part that holds data.
    pub(super) exact: bool,
    pub(super) vars: &'a [Var],
}

impl Write<'_> {
    /// The part of the target that holds data then, or what the compiler refuses.
    pub(super) fn valid(&self) -> Result<Vec<Scalar>, String> {
        let rank = self.target.len();
        (0..rank).try_for_each(|axis| self.check(axis))?;
        let is_empty = |extent: &Scalar| extent.as_int() == Some(0);
        if self.source_valid.iter().any(is_empty) {
            return Ok(self.target_valid.to_vec());
        }
        let at_origin = self.offsets.iter().all(is_empty);
        if let Some(axis) = self.target_valid.iter().position(is_empty) {
            return match at_origin {
                true => Ok(self.source_valid.to_vec()),
                false => Err(format!(
                    "writes at {} into a target that holds no data (dimension {axis} is valid for 0); the first write must start at the origin",
                    self.list(self.offsets)
                )),
            };
        }
        if all(self.target_valid, self.target, |one, other| self.prover().equal(one, other)) == Proof::Yes {
            return Ok(self.target_valid.to_vec());
        }
        self.union(at_origin)
    }

    fn check(&self, axis: usize) -> Result<(), String> {
        let (offset, target) = (&self.offsets[axis], &self.target[axis]);
        if self.prover().less_equal(&Scalar::Int(0), offset) == Proof::No {
            return Err(format!(
                "offset {axis} is negative ({}); a write must start inside its target",
                self.shown(offset)
            ));
        }
        let reach = if self.exact { &self.source[axis] } else { &self.source_valid[axis] };
        if self.prover().less_equal(&sum(offset, reach), target) == Proof::No {
            return Err(format!(
                "writes past the end of dimension {axis}: offset {} + extent {} exceeds the target extent {}",
                self.shown(offset),
                self.shown(reach),
                self.shown(target)
            ));
        }
        Ok(())
    }

    fn union(&self, at_origin: bool) -> Result<Vec<Scalar>, String> {
        let rank = self.target.len();
        let edges: Vec<Scalar> = (0..rank).map(|axis| sum(&self.offsets[axis], &self.source_valid[axis])).collect();
        let inside: Vec<Proof> =
            (0..rank).map(|axis| self.prover().less_equal(&edges[axis], &self.target_valid[axis])).collect();
        if inside.contains(&Proof::Unsure) {
            return Ok(vec![undecided(); rank]);
        }
        let growing: Vec<usize> = (0..rank).filter(|axis| inside[*axis] != Proof::Yes).collect();
        let [axis] = growing.as_slice() else {
            if growing.is_empty() {
                return Ok(self.target_valid.to_vec());
            }
            return self.replaced(at_origin)?.map_or_else(|| Err(self.grows_twice(&growing)), Ok);
        };
        if let Some(replaced) = self.replaced(at_origin)? {
            return Ok(replaced);
        }
        self.grown(*axis, &edges[*axis])
    }

    fn prover(&self) -> Prover<'_> {
        Prover { vars: self.vars }
    }

    fn shown(&self, scalar: &Scalar) -> String {
        notation::scalar(scalar, self.vars)
    }

    fn list(&self, scalars: &[Scalar]) -> String {
        notation::extents(scalars, self.vars)
    }

    /// What is written covers all that there was.
    fn replaced(&self, at_origin: bool) -> Result<Option<Vec<Scalar>>, String> {
        if !at_origin {
            return Ok(None);
        }
        Ok(match all(self.target_valid, self.source_valid, |one, other| self.prover().less_equal(one, other)) {
            Proof::Yes => Some(self.source_valid.to_vec()),
            Proof::Unsure => Some(vec![undecided(); self.target.len()]),
            Proof::No | Proof::Open => None,
        })
    }

    fn grows_twice(&self, growing: &[usize]) -> String {
        let axes: Vec<String> = growing.iter().map(usize::to_string).collect();
        format!(
            "grows the valid part along dimensions {} at once: data in {} of the target and {} at {} do not form a rectangle; write one side first",
            axes.join(" and "),
            self.list(self.target_valid),
            self.list(self.source_valid),
            self.list(self.offsets)
        )
    }

    /// The target holds more data along one axis: what is written has to begin where the data ends, at the latest, and to be as
    /// wide as it is.
    fn grown(&self, axis: usize, edge: &Scalar) -> Result<Vec<Scalar>, String> {
        let (offset, valid) = (&self.offsets[axis], &self.target_valid[axis]);
        match self.prover().less_equal(offset, valid) {
            Proof::Yes => {}
            Proof::Unsure => return Ok(vec![undecided(); self.target.len()]),
            Proof::No | Proof::Open => {
                return Err(format!(
                    "leaves a gap in dimension {axis}: the write starts at {}, but the target holds data up to {}; write the adjoining part first",
                    self.shown(offset),
                    self.shown(valid)
                ));
            }
        }
        for other in (0..self.target.len()).filter(|other| *other != axis) {
            if self.offsets[other].as_int() != Some(0) {
                return Err(format!(
                    "grows dimension {axis}, so it must span dimension {other} from the origin, but it starts at {}: the data would not form a rectangle",
                    self.shown(&self.offsets[other])
                ));
            }
            match self.prover().equal(&self.source_valid[other], &self.target_valid[other]) {
                Proof::Yes => {}
                Proof::Unsure => return Ok(vec![undecided(); self.target.len()]),
                Proof::No | Proof::Open => {
                    return Err(format!(
                        "grows dimension {axis}, so its extent in dimension {other} ({}) must equal what the target holds there ({})",
                        self.shown(&self.source_valid[other]),
                        self.shown(&self.target_valid[other])
                    ));
                }
            }
        }
        let mut result = self.target_valid.to_vec();
        result[axis] = smaller(self.prover(), &larger(self.prover(), valid, edge), &self.target[axis]);
        Ok(result)
    }
}

/// The weakest of the proofs for each pair.
fn all(ones: &[Scalar], others: &[Scalar], prove: impl Fn(&Scalar, &Scalar) -> Proof) -> Proof {
    let proofs: Vec<Proof> = ones.iter().zip(others).map(|(one, other)| prove(one, other)).collect();
    let weakest = [Proof::No, Proof::Open, Proof::Unsure].into_iter().find(|weak| proofs.contains(weak));
    weakest.unwrap_or(Proof::Yes)
}

fn undecided() -> Scalar {
    Scalar::Unknown(Reason::new("a valid extent"))
}

fn sum(one: &Scalar, other: &Scalar) -> Scalar {
    match (one.as_int(), other.as_int()) {
        (Some(0), _) => other.clone(),
        (_, Some(0)) => one.clone(),
        _ => scalar::binary(ScalarBinary::Add, one.clone(), other.clone()),
    }
}

fn difference(one: &Scalar, other: &Scalar) -> Scalar {
    scalar::binary(ScalarBinary::Sub, one.clone(), other.clone())
}

fn smaller(prover: Prover<'_>, one: &Scalar, other: &Scalar) -> Scalar {
    match (prover.less_equal(one, other), prover.less_equal(other, one)) {
        (Proof::Yes, _) => one.clone(),
        (_, Proof::Yes) => other.clone(),
        _ => scalar::binary(ScalarBinary::Min, one.clone(), other.clone()),
    }
}

fn larger(prover: Prover<'_>, one: &Scalar, other: &Scalar) -> Scalar {
    match (prover.less_equal(one, other), prover.less_equal(other, one)) {
        (Proof::Yes, _) => other.clone(),
        (_, Proof::Yes) => one.clone(),
        _ => scalar::binary(ScalarBinary::Max, one.clone(), other.clone()),
    }
}
