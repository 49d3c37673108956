//! Functions of `pl` that stand for an operation on tiles and for one on tensors: their parameters have names of their own. Of all
//! other functions an operation's row says what they take.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What a function takes, as its callers may name it.
#[derive(Debug, Clone, Copy)]
pub struct Signature {
    names: &'static [&'static str],
    pub positional: &'static [&'static str],
    pub required: usize,
    pub keywords: &'static [&'static str],
    /// Parameters that only mean something for tiles: scratch, which the compiler makes for tensors.
    pub tiles_only: &'static [&'static str],
    /// Parameters that only mean something for tensors.
    pub tensors_only: &'static [&'static str],
}

const fn of(names: &'static [&'static str], positional: &'static [&'static str], required: usize) -> Signature {
    Signature { names, positional, required, keywords: &[], tiles_only: &[], tensors_only: &[] }
}

static SIGNATURES: &[Signature] = &[
    of(
        &[
            "add",
            "sub",
            "mul",
            "part_add",
            "part_mul",
            "part_max",
            "part_min",
            "fmod",
            "fmods",
            "maximum",
            "minimum",
            "row_expand",
            "row_expand_sub",
            "row_expand_mul",
            "row_expand_div",
            "row_expand_max",
            "row_expand_min",
            "row_expand_expdif",
            "col_expand",
            "col_expand_add",
            "col_expand_sub",
            "col_expand_mul",
            "col_expand_div",
            "col_expand_max",
            "col_expand_min",
            "col_expand_expdif",
            "batch_matmul",
            "and_",
            "ands",
            "or_",
            "ors",
            "shl",
            "shls",
            "shr",
            "shrs",
        ],
        &["lhs", "rhs"],
        2,
    ),
    of(&["div"], &["lhs", "rhs", "high_precision"], 2),
    of(&["exp", "sin", "cos", "neg", "abs", "sqrt", "not_", "col_max", "col_min", "col_prod"], &["input"], 1),
    of(&["log", "recip"], &["input", "high_precision"], 1),
    Signature { tensors_only: &["high_precision"], ..of(&["rsqrt"], &["input", "high_precision"], 1) },
    Signature { tiles_only: &["tmp"], ..of(&["row_expand_add", "xor", "xors"], &["lhs", "rhs", "tmp"], 2) },
    of(&["expands"], &["target", "scalar"], 2),
    of(&["reshape"], &["input", "shape"], 2),
    Signature { keywords: &["shape"], ..of(&["reinterpret_view"], &["data", "dtype"], 2) },
    of(&["transpose"], &["input", "axis1", "axis2"], 3),
    of(&["concat"], &["src0", "src1"], 2),
    Signature {
        tensors_only: &["clamp"],
        ..of(&["slice"], &["input", "shape", "offset", "valid_shape", "drop_dims", "pad_value", "clamp"], 3)
    },
    of(&["fillpad"], &["value", "pad_value"], 1),
    of(&["fillpad_expand"], &["value", "shape", "pad_value"], 2),
    Signature {
        tensors_only: &["a_trans", "b_trans", "c_matrix_nz"],
        ..of(&["matmul"], &["lhs", "rhs", "out_dtype", "a_trans", "b_trans", "c_matrix_nz"], 2)
    },
    Signature {
        tensors_only: &["a_trans", "b_trans"],
        ..of(&["matmul_acc"], &["acc", "lhs", "rhs", "a_trans", "b_trans", "init_cond"], 3)
    },
    Signature {
        tiles_only: &["tmp_tile"],
        ..of(
            &[
                "row_max",
                "row_sum",
                "row_min",
                "row_prod",
                "col_sum",
                "row_argmax",
                "row_argmin",
                "col_argmax",
                "col_argmin",
            ],
            &["input", "tmp_tile"],
            1,
        )
    },
    of(&["cast"], &["input", "target_type", "mode"], 2),
    of(&["cmp"], &["lhs", "rhs", "cmp_type"], 2),
    of(&["set_validshape"], &["input", "valid_rows", "valid_cols"], 3),
    of(&["read"], &["src", "offset"], 2),
    of(&["write"], &["dst", "offset", "value"], 3),
    Signature { keywords: &["atomic"], ..of(&["assemble"], &["target", "source", "offset"], 3) },
    Signature {
        keywords: &["valid_shape"],
        ..of(&["gather_row"], &["dst", "src", "dst_offset", "src_offset", "shapes", "transpose"], 5)
    },
    of(&["sort32"], &["src", "idx"], 2),
    Signature {
        keywords: &["exhausted", "block_len"],
        tiles_only: &["tmp"],
        ..of(&["mrgsort"], &["src0", "src1", "src2", "src3", "tmp"], 1)
    },
];

/// Keywords of what is no operation: loops, scopes and what they are given.
const CONSTRUCTS: &[(&str, &[&str])] = &[
    ("range", &["init_values", "attrs"]),
    ("parallel", &["init_values", "attrs"]),
    ("unroll", &["init_values", "attrs"]),
    ("pipeline", &["init_values", "stage", "attrs"]),
    (
        "at",
        &[
            "level",
            "role",
            "optimizations",
            "name_hint",
            "allow_early_resolve",
            "windowize",
            "deps",
            "no_dep_args",
            "dumps",
        ],
    ),
    ("spmd", &["core_num", "sync_start", "name_hint", "optimizations", "allow_early_resolve", "predicate", "deps"]),
    ("split", &["slot_num"]),
    ("cross_core_slot", &["slot_num"]),
    ("function", &["type", "level", "role", "attrs", "auto_scope", "strict_ssa", "external_source"]),
];

/// The keywords of a loop, a scope or a decorator of `pl`.
pub fn construct(name: &str) -> Option<&'static [&'static str]> {
    CONSTRUCTS.iter().find(|(construct, _)| *construct == name).map(|(_, keywords)| *keywords)
}

/// The parameters of `pl.NAME`, where they are not those of one operation.
pub fn signature(name: &str) -> Option<&'static Signature> {
    static BY_NAME: LazyLock<HashMap<&str, &Signature>> = LazyLock::new(|| {
        let named =
            SIGNATURES.iter().rev().flat_map(|signature| signature.names.iter().map(move |name| (*name, signature)));
        named.collect()
    });
    BY_NAME.get(name).copied()
}

impl Signature {
    pub fn has(&self, name: &str) -> bool {
        self.positional.contains(&name) || self.keywords.contains(&name)
    }

    /// The names, as a message lists them.
    pub fn listed(&self) -> String {
        let names: Vec<&str> = self.positional.iter().chain(self.keywords).copied().collect();
        names.join(", ")
    }
}
