//! What the instruction library calls the modes that attributes number (`docs/reference/codegen.md`, "Operations").

/// `mask_pattern` of a gather or scatter: the bits, from the right, of the elements of each two or four that it takes.
pub(super) fn mask_pattern(pattern: i64) -> Option<&'static str> {
    let patterns = ["P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"];
    usize::try_from(pattern - 1).ok().and_then(|pattern| patterns.get(pattern)).copied()
}

/// `mode` of a cast.
pub(super) fn round_mode(mode: i64) -> Option<&'static str> {
    let modes = [
        "RoundMode::CAST_NONE",
        "RoundMode::CAST_RINT",
        "RoundMode::CAST_ROUND",
        "RoundMode::CAST_FLOOR",
        "RoundMode::CAST_CEIL",
        "RoundMode::CAST_TRUNC",
        "RoundMode::CAST_ODD",
    ];
    usize::try_from(mode).ok().and_then(|mode| modes.get(mode)).copied()
}

/// `cmp_type` of a comparison.
pub(super) fn compare_mode(mode: i64) -> Option<&'static str> {
    let modes = ["CmpMode::EQ", "CmpMode::NE", "CmpMode::LT", "CmpMode::LE", "CmpMode::GT", "CmpMode::GE"];
    usize::try_from(mode).ok().and_then(|mode| modes.get(mode)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_names() {
        assert_eq!(mask_pattern(1), Some("P0101"));
        assert_eq!(mask_pattern(0), None);
        assert_eq!(round_mode(2), Some("RoundMode::CAST_ROUND"));
        assert_eq!(round_mode(7), None);
        assert_eq!(compare_mode(5), Some("CmpMode::GE"));
        assert_eq!(compare_mode(-1), None);
    }
}
