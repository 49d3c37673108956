//! Element types, by the names that TileLang and PyTorch give them.

use tilefit_python::spelling;

use crate::program::Dtype;

/// Names without lanes, with the bits of one element.
const TYPES: [(&str, u64); 31] = [
    ("float16", 16),
    ("float32", 32),
    ("float64", 64),
    ("bfloat16", 16),
    ("int8", 8),
    ("int16", 16),
    ("int32", 32),
    ("int64", 64),
    ("uint8", 8),
    ("uint16", 16),
    ("uint32", 32),
    ("uint64", 64),
    ("int4", 4),
    ("uint4", 4),
    ("int1", 1),
    ("uint1", 1),
    ("int2", 2),
    ("uint2", 2),
    ("float8_e3m4", 8),
    ("float8_e4m3", 8),
    ("float8_e4m3b11fnuz", 8),
    ("float8_e4m3fn", 8),
    ("float8_e4m3fnuz", 8),
    ("float8_e5m2", 8),
    ("float8_e5m2fnuz", 8),
    ("float8_e8m0fnu", 8),
    ("float6_e2m3fn", 6),
    ("float6_e3m2fn", 6),
    ("float4_e2m1fn", 4),
    ("bool", 8),
    ("handle", 64),
];

/// Other names of them.
const ALIASES: [(&str, &str); 9] = [
    ("half", "float16"),
    ("float", "float32"),
    ("double", "float64"),
    ("short", "int16"),
    ("int", "int32"),
    ("uint", "uint32"),
    ("long", "int64"),
    ("boolean", "bool"),
    ("tfloat32", "custom[tfloat32]"),
];

/// The name of a type that a plan shows; of one with lanes that of its elements.
pub fn name(dtype: &Dtype) -> &'static str {
    let element = dtype.name.split_once('x').map_or(&*dtype.name, |(element, _)| element);
    TYPES.iter().find(|(name, _)| *name == element).map_or("custom", |(name, _)| *name)
}

/// The type of a name, also with lanes: `float16x8`.
pub fn parse(name: &str) -> Option<Dtype> {
    if name == "tfloat32" || name == "custom[tfloat32]" {
        return Some(Dtype { name: "custom[tfloat32]".into(), bits: 32 });
    }
    if name == "float4_e2m1_unpacked" || name == "custom[float4_e2m1_unpacked]8" {
        return Some(Dtype { name: "custom[float4_e2m1_unpacked]8".into(), bits: 8 });
    }
    let (base, lanes) = match name.rsplit_once('x') {
        Some((base, lanes)) if base.chars().next_back().is_some_and(|last| last.is_ascii_alphanumeric()) => {
            match lanes.parse::<u64>() {
                Ok(lanes @ 1..=1024) => (base, Some(lanes)),
                _ => (name, None),
            }
        }
        _ => (name, None),
    };
    let base = ALIASES.iter().find(|(alias, _)| *alias == base).map_or(base, |(_, name)| name);
    let bits = TYPES.iter().find(|(known, _)| *known == base).map(|(_, bits)| *bits)?;
    Some(match lanes {
        Some(lanes) => Dtype { name: format!("{base}x{lanes}").into(), bits: bits * lanes },
        None => Dtype { name: base.into(), bits },
    })
}

/// The type that PyTorch calls so.
pub(crate) fn of_torch(name: &str) -> Option<Dtype> {
    match name {
        "uint8" | "int8" | "int16" | "int32" | "int64" | "float16" | "float32" | "float64" | "bfloat16" | "bool"
        | "float8_e4m3fn" | "float8_e4m3fnuz" | "float8_e5m2" | "float8_e5m2fnuz" | "float8_e8m0fnu" | "half"
        | "float" | "double" | "int" | "long" | "short" | "uint16" | "uint32" | "uint64" => parse(name),
        _ => None,
    }
}

/// The name that may have been meant.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    spelling::nearest(name, TYPES.iter().map(|(name, _)| *name).chain(ALIASES.iter().map(|(alias, _)| *alias)))
}
