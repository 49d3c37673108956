//! The C++ names of IR variables (`docs/reference/codegen.md`, "Names").

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::work;

use crate::ir::VarId;

#[derive(Debug, Default)]
pub(super) struct Context {
    names: FxHashMap<VarId, String>,
    taken: FxHashSet<String>,
    /// The first number that may make a name with these suffixes free; none of those before it ever does again.
    numbers: FxHashMap<(String, &'static [&'static str]), u32>,
    naturals: FxHashSet<VarId>,
    /// Extents that are known at run time only, by the name that `pl.dynamic` gives them.
    extents: FxHashMap<String, String>,
}

/// What a tensor parameter declares besides its pointer.
const TENSOR_SUFFIXES: &[&str] = &["", "Global", "GlobalType", "ShapeDim5", "StrideDim5"];
/// What a tile declares besides its object.
const TILE_SUFFIXES: &[&str] = &["", "Type"];

impl Context {
    /// Names a variable once; a second registration of the same variable keeps the first name.
    fn register(&mut self, var: VarId, name: &str, suffixes: &'static [&'static str]) -> String {
        if let Some(name) = self.names.get(&var) {
            debug_assert!(false, "`{name}` is registered twice");
            return name.clone();
        }
        let name = self.fresh(name, suffixes);
        self.names.insert(var, name.clone());
        name
    }

    pub(super) fn register_tensor(&mut self, var: VarId, name: &str) -> String {
        self.register(var, name, TENSOR_SUFFIXES)
    }

    pub(super) fn register_tile(&mut self, var: VarId, name: &str) -> String {
        self.register(var, name, TILE_SUFFIXES)
    }

    pub(super) fn register_scalar(&mut self, var: VarId, name: &str) -> String {
        self.register(var, name, &[""])
    }

    pub(super) fn register_extent(&mut self, name: &str) -> String {
        let given = self.fresh(name, &[""]);
        self.extents.insert(name.to_string(), given.clone());
        given
    }

    pub(super) fn extent(&self, name: &str) -> Option<&str> {
        self.extents.get(name).map(String::as_str)
    }

    /// Another name for what already has one: the result of a loop is its carried variable.
    pub(super) fn alias(&mut self, var: VarId, name: String) {
        self.names.insert(var, name);
    }

    pub(super) fn name(&self, var: VarId) -> Option<&str> {
        self.names.get(&var).map(String::as_str)
    }

    /// Notes that an integer is never negative.
    pub(super) fn mark_natural(&mut self, var: VarId) {
        self.naturals.insert(var);
    }

    pub(super) fn is_natural(&self, var: VarId) -> bool {
        self.naturals.contains(&var)
    }

    /// A name for a tile that has no variable.
    pub(super) fn fresh_tile(&mut self, name: &str) -> String {
        self.fresh(name, TILE_SUFFIXES)
    }

    pub(super) fn fresh_wrapper(&mut self, name: &str) -> String {
        self.fresh(name, &["", "Type"])
    }

    pub(super) fn fresh_scalar(&mut self, name: &str) -> String {
        self.fresh(name, &[""])
    }

    fn fresh(&mut self, name: &str, suffixes: &'static [&'static str]) -> String {
        let mut base = sanitize(name);
        if RESERVED_PREFIXES.iter().any(|prefix| base.starts_with(prefix)) {
            base.insert(0, 'v');
        }
        let numbered = |number: u32| match number {
            0 => base.clone(),
            number => format!("{base}_{number}"),
        };
        let number = self.numbers.entry((base.clone(), suffixes)).or_default();
        let mut candidate = numbered(*number);
        while suffixes.iter().any(|suffix| {
            let derived = format!("{candidate}{suffix}");
            is_reserved(&derived) || self.taken.contains(&derived)
        }) {
            work::spend(1);
            *number += 1;
            candidate = numbered(*number);
        }
        self.taken.extend(suffixes.iter().map(|suffix| format!("{candidate}{suffix}")));
        candidate
    }
}

/// An ASCII C++ identifier: every other character becomes `_`.
pub(super) fn sanitize(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (index, c) in name.chars().enumerate() {
        let keep = c == '_' || c.is_ascii_alphabetic() || (index > 0 && c.is_ascii_digit());
        out.push(if keep { c } else { '_' });
    }
    if out.is_empty() { "var".to_string() } else { out }
}

/// `run` and the kernel's name in Pascal case: `simple_add` is `runSimpleAdd`.
pub(super) fn function_name(kernel: &str) -> String {
    let mut name = String::from("run");
    for part in sanitize(kernel).split('_') {
        let mut chars = part.chars();
        if let Some(first) = chars.next() {
            name.push(first.to_ascii_uppercase());
            name.push_str(chars.as_str());
        }
    }
    name
}

/// Keywords, and what the prelude and the instruction library make visible inside of a kernel.
fn is_reserved(name: &str) -> bool {
    let instruction =
        name.len() > 2 && name.starts_with('T') && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    instruction || RESERVED.binary_search(&name).is_ok()
}

/// No number after such a name makes it free.
const RESERVED_PREFIXES: &[&str] = &["PIPE_", "EVENT_ID", "__"];

const RESERVED: &[&str] = &[
    "AtomicType",
    "BLayout",
    "CmpMode",
    "Coalesce",
    "CompactMode",
    "DYNAMIC",
    "Direction",
    "GatherOOB",
    "GlobalTensor",
    "GlobalTensorDim",
    "Layout",
    "MGATHER",
    "MSCATTER",
    "MaskPattern",
    "MrgSortExecutedNumList",
    "PadValue",
    "RoundMode",
    "SLayout",
    "SYNCALL",
    "Shape",
    "Stride",
    "SyncAllMode",
    "SyncCoreType",
    "TPipe",
    "TRandomCounter",
    "TRandomKey",
    "Tile",
    "TileLeft",
    "TileRight",
    "TileSplitAxis",
    "TileType",
    "abs",
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "args",
    "asm",
    "auto",
    "bfloat16",
    "bfloat16_t",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "comm",
    "comm_nranks",
    "comm_rank",
    "comm_window",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "float8_e4m3_t",
    "float8_e5m2_t",
    "float8_e8m0_t",
    "floor_div",
    "floor_mod",
    "for",
    "friend",
    "get_block_idx",
    "get_block_num",
    "get_subblockid",
    "goto",
    "half",
    "hifloat8_t",
    "if",
    "inline",
    "int",
    "int16_t",
    "int32_t",
    "int64_t",
    "int8_t",
    "long",
    "main",
    "max",
    "min",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "pipe_barrier",
    "pow",
    "private",
    "protected",
    "pto",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "return",
    "set_flag",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "std",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "true_div",
    "try",
    "typedef",
    "typeid",
    "typename",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uint8_t",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wait_flag",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sanitizes() {
        assert_eq!(sanitize(""), "var");
        assert_eq!(sanitize("1x"), "_x");
        assert_eq!(sanitize("a.b-c"), "a_b_c");
        assert_eq!(sanitize("größe"), "gr__e");
    }

    #[test]
    fn names_functions_in_pascal_case() {
        assert_eq!(function_name("simple_add"), "runSimpleAdd");
        assert_eq!(function_name("SimpleAdd"), "runSimpleAdd");
        assert_eq!(function_name("main_incore_0"), "runMainIncore0");
    }

    #[test]
    fn the_reserved_words_are_sorted() {
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn names_do_not_collide() {
        let mut context = Context::default();
        assert_eq!(context.register_tensor(VarId(0), "x"), "x");
        assert_eq!(context.register_tile(VarId(1), "x"), "x_1");
        assert_eq!(context.register_tile(VarId(2), "x"), "x_2");
        assert_eq!(context.register_scalar(VarId(3), "xGlobal"), "xGlobal_1");
        assert_eq!(context.register_scalar(VarId(4), "args"), "args_1");
        assert_eq!(context.register_tile(VarId(5), "TADD"), "TADD_1");
        assert_eq!(context.register_tensor(VarId(6), "half"), "half_1");
        assert_eq!(context.register_scalar(VarId(7), "__gm_pipe_buffer"), "v__gm_pipe_buffer");
        assert_eq!(context.register_scalar(VarId(8), "PIPE_V"), "vPIPE_V");
        assert_eq!(context.register_tile(VarId(9), "TADD"), "TADD_2");
        assert_eq!(context.name(VarId(2)), Some("x_2"));
    }
}
