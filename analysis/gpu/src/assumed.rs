//! What nothing says and a plan rests on. It is named wherever the plan's numbers are shown, and no error depends on it.

use std::fmt;

use super::device::{Arch, Compiler};
use super::language::Dtype;

/// Something that a plan takes for given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assumed {
    Device(Arch, Hint),
    /// Warps of a block, as many as the compiler takes by itself.
    Warps(u64),
    /// Stages of the loops that the compiler overlaps, as many as it takes by itself.
    Stages(i64),
    /// The last compiler that takes the kernel.
    Compiler(Compiler),
    /// An argument that what is in shared memory depends on is a number of this type.
    Number(String, &'static str),
    /// A pointer that an operand of a product is loaded through leads to elements of as many bits as this type has: those of the other operand, or 16.
    Elements(String, Dtype),
    /// A size of a tensor is a large multiple of the tiles, where any that is comes to the same.
    Large(String),
    /// What host code leaves open is as in this launch, in which something else is different.
    Launch(String),
}

/// Why one device is taken rather than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// It is the default.
    Nothing,
    /// The name of the file, what it begins with, or a text in it has the name of this device, and of no other.
    File,
}

impl Assumed {
    /// Whether another launch of the kernel may have another one.
    pub fn is_option(&self) -> bool {
        !matches!(self, Assumed::Device(..) | Assumed::Compiler(_))
    }

    /// `sm_90`, `4 warps`, for one line.
    pub fn short(&self) -> String {
        match self {
            Assumed::Device(arch, _) => arch.to_string(),
            Assumed::Warps(1) => "1 warp".to_owned(),
            Assumed::Warps(warps) => format!("{warps} warps"),
            Assumed::Stages(1) => "1 stage".to_owned(),
            Assumed::Stages(stages) => format!("{stages} stages"),
            Assumed::Compiler(compiler) => format!("triton {compiler}"),
            Assumed::Number(name, dtype) => format!("{name}: {dtype}"),
            Assumed::Elements(name, dtype) => format!("{name}: {} bits", dtype.bits),
            Assumed::Large(name) => format!("large {name}"),
            Assumed::Launch(launch) => format!("the rest of {launch}"),
        }
    }
}

/// A sentence.
impl fmt::Display for Assumed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Assumed::Device(arch, Hint::Nothing) => write!(f, "the device is {arch} (none is named)"),
            Assumed::Device(arch, Hint::File) => {
                write!(f, "the device is {arch} (the only one that the file speaks of)")
            }
            Assumed::Warps(_) => write!(f, "the kernel has {} (no number is given)", self.short()),
            Assumed::Stages(_) => write!(f, "loops have {} (no number is given)", self.short()),
            Assumed::Compiler(compiler) => {
                write!(f, "the compiler is Triton {compiler} (the last one with block pointers)")
            }
            Assumed::Number(name, dtype) => write!(f, "`{name}` is an {dtype} (no type is given)"),
            Assumed::Elements(name, dtype) => {
                let like = if dtype.bits == 16 {
                    "operands of products mostly do"
                } else {
                    "the other operand of a product does"
                };
                write!(f, "the elements of `{name}` have {} bits, as {like} (no type is given)", dtype.bits)
            }
            Assumed::Large(name) => write!(f, "`{name}` is a large multiple of the tiles (no value is given)"),
            Assumed::Launch(launch) => {
                write!(f, "what host code leaves open is as in {launch}, which has other values")
            }
        }
    }
}

/// ` · assumes sm_100, 4 warps, a, b: 16 bits`; empty where nothing is assumed.
pub fn mark(assumed: &[Assumed]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (nth, it) in assumed.iter().enumerate() {
        // Pointers to elements of as many bits stand together, and so do sizes.
        let before = nth.checked_sub(1).and_then(|before| assumed.get(before));
        let next = match (it, assumed.get(nth + 1)) {
            (Assumed::Large(name), _) if matches!(before, Some(Assumed::Large(_))) => name.clone(),
            (Assumed::Elements(name, dtype), Some(Assumed::Elements(_, next))) if next.bits == dtype.bits => {
                name.clone()
            }
            _ => it.short(),
        };
        parts.push(next);
    }
    if parts.is_empty() { String::new() } else { format!(" · assumes {}", parts.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assumptions_in_words() {
        let arch = Arch::default();
        assert_eq!(mark(&[]), "");
        assert_eq!(mark(&[Assumed::Device(arch, Hint::Nothing), Assumed::Warps(4)]), " · assumes sm_100, 4 warps");
        assert_eq!(Assumed::Stages(3).to_string(), "loops have 3 stages (no number is given)");
        let elements = |name: &str| Assumed::Elements(name.to_owned(), Dtype::named("float16"));
        assert_eq!(mark(&[elements("a"), elements("b")]), " · assumes a, b: 16 bits");
        let sentence = "the elements of `a` have 16 bits, as operands of products mostly do (no type is given)";
        assert_eq!(elements("a").to_string(), sentence);
        let large = |name: &str| Assumed::Large(name.to_owned());
        assert_eq!(mark(&[large("M"), large("N")]), " · assumes large M, N");
        let tied = Assumed::Elements("b".to_owned(), Dtype::named("float32"));
        let sentence = "the elements of `b` have 32 bits, as the other operand of a product does (no type is given)";
        assert_eq!(tied.to_string(), sentence);
    }
}
