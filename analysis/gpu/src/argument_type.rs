//! Types of arguments, as in the signature that a launch makes.

use super::language::Dtype;

/// The type of an argument that is no constexpr. Element types are as in Triton's signatures: `fp16`, `bf16`, `fp8e4nv`, `i32`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentType {
    /// `*fp16`
    Pointer { element: String },
    /// `i64`
    Scalar { dtype: String },
    /// `fp16[64,64]`, `tensordesc<fp16[64,64],NVMMASharedLayout(…)>`
    Descriptor {
        element: String,
        /// Elements along each axis of what one load brings.
        block: Vec<u64>,
        /// As Python text; `None`: the default of the block.
        layout: Option<String>,
    },
}

impl ArgumentType {
    /// `fp16[64,64]`, `*fp16`, `i64`, `tensordesc<fp16[64,64],LAYOUT>`
    pub fn from_text(text: &str) -> Option<ArgumentType> {
        let text = text.trim();
        let is_dtype = |name: &str| Dtype::from_name(name).is_some();
        if let Some(element) = text.strip_prefix('*') {
            // Of pointers to constants Triton writes `*kfp16`.
            let element = if is_dtype(element) { element } else { element.strip_prefix('k')? };
            return is_dtype(element).then(|| ArgumentType::Pointer { element: element.to_owned() });
        }
        if is_dtype(text) {
            return Some(ArgumentType::Scalar { dtype: text.to_owned() });
        }
        let descriptor = text.strip_prefix("tensordesc<").or_else(|| text.strip_prefix("tensordesc_im2col<"));
        let (inner, may_have_layout) = match descriptor.and_then(|rest| rest.strip_suffix('>')) {
            Some(inner) => (inner, true),
            None => (text, false),
        };
        let (element, rest) = inner.split_once('[')?;
        let (extents, layout) = rest.split_once(']')?;
        let block: Vec<u64> = extents.split(',').map(|extent| extent.trim().parse().ok()).collect::<Option<_>>()?;
        let layout = match layout.trim().strip_prefix(',') {
            Some(layout) if may_have_layout => {
                // Of an image the rank comes first.
                let layout = layout.trim();
                let behind_rank = layout.strip_prefix("input_rank=").and_then(|rest| rest.split_once(','));
                Some(behind_rank.map_or(layout, |(_, layout)| layout.trim()).to_owned())
            }
            None if layout.trim().is_empty() => None,
            _ => return None,
        };
        is_dtype(element).then(|| ArgumentType::Descriptor { element: element.to_owned(), block, layout })
    }

    /// Of what a pointer or a descriptor leads to.
    pub fn element(&self) -> Option<Dtype> {
        match self {
            ArgumentType::Pointer { element } | ArgumentType::Descriptor { element, .. } => Dtype::from_name(element),
            ArgumentType::Scalar { .. } => None,
        }
    }
}
