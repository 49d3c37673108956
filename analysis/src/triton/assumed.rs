//! What nothing says and a plan rests on. It is named wherever the plan's numbers are shown, and no error depends on it.

use std::fmt;

use super::device::Arch;
use super::language::Dtype;

/// Something that a plan takes for given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assumed {
    Device(Arch, Hint),
    /// Warps of a block, as many as the compiler takes by itself.
    Warps(u64),
    /// Stages of the loops that the compiler overlaps, as many as it takes by itself.
    Stages(i64),
    /// An argument that what is in shared memory hangs on is a number of this type.
    Number(String, &'static str),
    /// Pointers that operands of products are loaded through lead to elements of as many bits as this type has: those of the other operand, or 16.
    Elements(Vec<String>, Dtype),
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
    /// `sm_90`, `4 warps`, for one line.
    pub fn short(&self) -> String {
        match self {
            Assumed::Device(arch, _) => arch.to_string(),
            Assumed::Warps(1) => "1 warp".to_owned(),
            Assumed::Warps(warps) => format!("{warps} warps"),
            Assumed::Stages(1) => "1 stage".to_owned(),
            Assumed::Stages(stages) => format!("{stages} stages"),
            Assumed::Number(name, dtype) => format!("{name}: {dtype}"),
            Assumed::Elements(names, dtype) => format!("{}: {} bits", names.join(", "), dtype.bits),
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
            Assumed::Number(name, dtype) => write!(f, "`{name}` is an {dtype} (no type is given)"),
            Assumed::Elements(names, dtype) => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                let (names, bits) = (names.join(", "), dtype.bits);
                write!(
                    f,
                    "the elements of {names} have {bits} bits, as operands of products mostly do (no type is given)"
                )
            }
        }
    }
}

/// ` · assumes sm_100, 4 warps`; empty where nothing is assumed.
pub fn mark(assumed: &[Assumed]) -> String {
    match assumed {
        [] => String::new(),
        all => format!(" · assumes {}", all.iter().map(Assumed::short).collect::<Vec<_>>().join(", ")),
    }
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
        let elements = Assumed::Elements(vec!["a".to_owned(), "b".to_owned()], Dtype::named("float16"));
        assert_eq!(mark(std::slice::from_ref(&elements)), " · assumes a, b: 16 bits");
        assert_eq!(
            elements.to_string(),
            "the elements of `a`, `b` have 16 bits, as operands of products mostly do (no type is given)"
        );
    }
}
