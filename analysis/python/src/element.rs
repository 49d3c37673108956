//! The elements of tiles and tensors: their types, and what fills the part of a tile that holds no data.

use std::fmt;

macro_rules! dtypes {
    ($($variant:ident $name:literal $logical:literal $storage:literal $byte:literal;)*) => {
        /// Element types (`docs/reference/memory.md`, "Element types").
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Dtype { $($variant),* }

        impl Dtype {
            pub const ALL: &'static [Dtype] = &[$(Dtype::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $(Dtype::$variant => $name),* }
            }

            /// Bits that carry information.
            pub fn logical_bits(self) -> u64 {
                match self { $(Dtype::$variant => $logical),* }
            }

            /// Bits that one element takes in memory.
            pub fn storage_bits(self) -> u64 {
                match self { $(Dtype::$variant => $storage),* }
            }

            /// What `pl.X.get_byte()` gives.
            pub fn get_byte(self) -> u64 {
                match self { $(Dtype::$variant => $byte),* }
            }
        }
    };
}

/// More letters than this are not a slip.
const MOST_SLIPS: usize = 2;

impl Dtype {
    /// The names that begin with `wrong`, else those with the fewest slips.
    pub fn nearest(wrong: &str) -> Vec<&'static str> {
        let wrong = wrong.to_uppercase();
        let names = || Dtype::ALL.iter().map(|dtype| dtype.name());
        let longer: Vec<_> = names().filter(|name| name.starts_with(&wrong)).collect();
        if !longer.is_empty() {
            return longer;
        }
        // Letters that changed places are one slip.
        let slips = |name: &str| strsim::osa_distance(&wrong, name);
        let fewest = names().map(slips).min().filter(|&slips| slips <= MOST_SLIPS);
        names().filter(|name| Some(slips(name)) == fewest).collect()
    }
}

dtypes! {
    Bool "BOOL" 1 8 1;
    Int4 "INT4" 4 4 1;
    Int8 "INT8" 8 8 1;
    Int16 "INT16" 16 16 2;
    Int32 "INT32" 32 32 4;
    Int64 "INT64" 64 64 8;
    Uint4 "UINT4" 4 4 1;
    Uint8 "UINT8" 8 8 1;
    Uint16 "UINT16" 16 16 2;
    Uint32 "UINT32" 32 32 4;
    Uint64 "UINT64" 64 64 8;
    Fp4 "FP4" 4 4 1;
    Fp8E4M3Fn "FP8E4M3FN" 8 8 1;
    Fp8E5M2 "FP8E5M2" 8 8 1;
    Fp8E8M0 "FP8E8M0" 8 8 1;
    Fp16 "FP16" 16 16 2;
    Fp32 "FP32" 32 32 4;
    Bf16 "BF16" 16 16 2;
    Hf4 "HF4" 4 4 1;
    Hf8 "HF8" 8 8 1;
    Index "INDEX" 64 64 8;
    TaskId "TASK_ID" 64 64 8;
}

impl Dtype {
    pub fn from_name(name: &str) -> Option<Dtype> {
        Dtype::ALL.iter().copied().find(|dtype| dtype.name() == name)
    }

    pub fn is_float(self) -> bool {
        use Dtype::*;
        matches!(self, Fp4 | Fp8E4M3Fn | Fp8E5M2 | Fp8E8M0 | Fp16 | Fp32 | Bf16 | Hf4 | Hf8)
    }

    /// An integer to the compiler: indices are, Booleans are not.
    pub fn is_integer(self) -> bool {
        !self.is_float() && !matches!(self, Dtype::Bool | Dtype::TaskId)
    }

    /// The type of signed integers as wide as these unsigned ones; others are what they are.
    pub fn signed(self) -> Dtype {
        match self {
            Dtype::Uint8 => Dtype::Int8,
            Dtype::Uint16 => Dtype::Int16,
            Dtype::Uint32 => Dtype::Int32,
            other => other,
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What fills the part of a tile that holds no data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pad {
    Null,
    Zero,
    Max,
    Min,
}

impl Pad {
    const ALL: [Pad; 4] = [Pad::Null, Pad::Zero, Pad::Max, Pad::Min];

    /// The name after `pl.PadValue.`
    pub fn name(self) -> &'static str {
        match self {
            Pad::Null => "null",
            Pad::Zero => "zero",
            Pad::Max => "max",
            Pad::Min => "min",
        }
    }

    pub fn from_name(name: &str) -> Option<Pad> {
        Pad::ALL.into_iter().find(|pad| pad.name() == name)
    }
}
