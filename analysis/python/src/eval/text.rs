//! Values as texts.

use super::{Constant, LONGEST, unknown};

/// `str(value)`, for values whose text does not depend on Python's ways with floats.
pub(super) fn text(value: &Constant) -> Option<String> {
    Some(match value {
        Constant::Str(text) => text.clone(),
        Constant::Int(value) => value.to_string(),
        Constant::Bool(true) => "True".to_owned(),
        Constant::Bool(false) => "False".to_owned(),
        Constant::None => "None".to_owned(),
        _ => return None,
    })
}

/// The text of an f-string.
pub(super) fn joined(parts: &[Constant]) -> Constant {
    let text: Option<String> = parts.iter().map(text).collect();
    match text {
        Some(text) if text.len() <= LONGEST => Constant::Str(text),
        _ => unknown("an f-string of a value that is not plain"),
    }
}
