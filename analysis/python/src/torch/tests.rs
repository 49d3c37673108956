use expect_test::{Expect, expect};

use super::*;
use crate::eval::{Language, Scope, Standalone};

/// Prints what the expressions are, a line each.
fn check(expressions: &[&str], expect: Expect) {
    let language = Language { name: name::<Dtype>, call: call::<Dtype> };
    let lines = expressions.iter().map(|expression| {
        let value = Standalone::in_language(&format!("import torch\n\nx = {expression}"), language).constant("x");
        let shown = value.as_ref().map_or_else(|| "not bound".to_owned(), shown);
        format!("{expression}: {shown}\n")
    });
    expect.assert_eq(&lines.collect::<String>());
}

fn shown(value: &Constant) -> String {
    match (value, value.get::<Tensor<Dtype>>()) {
        (Constant::Unknown(reason), _) => format!("unknown: {reason}"),
        (_, Some(Tensor { shape, dtype, is_contiguous })) => {
            let extent = |extent: &Constant| int(extent).map_or_else(|| "?".to_owned(), |extent| extent.to_string());
            let extents = |shape: &Parts<Constant>| shape.iter().map(extent).collect::<Vec<_>>().join(", ");
            let shape = shape.as_ref().map_or_else(|| "...".to_owned(), extents);
            let dtype = dtype.map_or("?", Dtype::name);
            let order = match is_contiguous {
                Some(true) => "",
                Some(false) => " strided",
                None => " in any order",
            };
            format!("[{shape}] {dtype}{order}")
        }
        _ => value.shown(),
    }
}

#[test]
fn functions_make_tensors() {
    check(
        &[
            "torch.randn(4, 8)",
            "torch.zeros((4, 8), dtype=torch.half)",
            "torch.ones(size=[2], dtype=torch.float8_e8m0fnu)",
            "torch.zeros(4, 8, dtype=torch.complex64)",
            "torch.full((2, 3), 1)",
            "torch.full((2, 3), True)",
            "torch.randint(0, 9, (3,))",
            "torch.arange(7)",
            "torch.arange(1, 7)",
            "torch.arange(0, 7, 2)",
            "torch.arange(0.5)",
            "torch.tensor([[1.0, 2.0], [3.0, 4.0]])",
            "torch.tensor([])",
            "torch.zeros(4, 8).t()",
            "torch.zeros_like(torch.zeros(4, 8).t())",
            "torch.exp(torch.arange(7))",
            "torch.matmul(torch.zeros(4, 8), torch.zeros(8, 2))",
            "torch.matmul(torch.zeros(4, 8), torch.zeros(7, 2))",
            "torch.stack([])",
        ],
        expect![[r#"
            torch.randn(4, 8): [4, 8] FP32
            torch.zeros((4, 8), dtype=torch.half): [4, 8] FP16
            torch.ones(size=[2], dtype=torch.float8_e8m0fnu): [2] FP8E8M0
            torch.zeros(4, 8, dtype=torch.complex64): [4, 8] ?
            torch.full((2, 3), 1): [2, 3] INT64
            torch.full((2, 3), True): [2, 3] BOOL
            torch.randint(0, 9, (3,)): [3] INT64
            torch.arange(7): [7] INT64
            torch.arange(1, 7): [6] INT64
            torch.arange(0, 7, 2): [?] INT64
            torch.arange(0.5): [?] FP32
            torch.tensor([[1.0, 2.0], [3.0, 4.0]]): [2, 2] FP32
            torch.tensor([]): [...] ?
            torch.zeros(4, 8).t(): [8, 4] FP32 strided
            torch.zeros_like(torch.zeros(4, 8).t()): [8, 4] FP32 in any order
            torch.exp(torch.arange(7)): [7] FP32
            torch.matmul(torch.zeros(4, 8), torch.zeros(8, 2)): [4, 2] FP32 in any order
            torch.matmul(torch.zeros(4, 8), torch.zeros(7, 2)): unknown: calls `torch.matmul`, which tilefit does not evaluate
            torch.stack([]): unknown: calls `torch.stack`, which tilefit does not evaluate
        "#]],
    );
}

#[test]
fn methods_change_shapes_and_types() {
    check(
        &[
            "torch.zeros(4, 8).shape",
            "torch.zeros(4, 8).size(-1)",
            "torch.zeros(4, 8).size(2)",
            "torch.zeros(4, 8).stride()",
            "torch.zeros(4, 8).t().stride()",
            "torch.zeros(4, 8).numel()",
            "torch.zeros(4, 8).to(torch.bfloat16)",
            "torch.zeros(4, 8).to('npu')",
            "torch.zeros(4, 8).half().element_size()",
            "torch.zeros(4, 8).reshape(2, -1)",
            "torch.zeros(4, 8).reshape(-1, 5)",
            "torch.zeros(4, 8).reshape(5, 5)",
            "torch.zeros(4, 8).view(-1, -1)",
            "torch.zeros(0, 8).view(0, -1)",
            "torch.zeros(4, 8).unsqueeze(-1)",
            "torch.zeros(4, 8).unsqueeze(3)",
            "torch.zeros(4, 8, 2).permute(2, 0, 1)",
            "torch.zeros(4, 8, 2).transpose(-1, 0)",
            "torch.zeros(4, 8).transpose(0, 5)",
            "torch.zeros(4, 8).chunk(2)",
        ],
        expect![[r#"
            torch.zeros(4, 8).shape: an object
            torch.zeros(4, 8).size(-1): 8
            torch.zeros(4, 8).size(2): unknown: an extent of a tensor whose shape is not known
            torch.zeros(4, 8).stride(): an object
            torch.zeros(4, 8).t().stride(): unknown: calls a method `stride`, which tilefit does not evaluate
            torch.zeros(4, 8).numel(): 32
            torch.zeros(4, 8).to(torch.bfloat16): [4, 8] BF16
            torch.zeros(4, 8).to('npu'): [4, 8] FP32
            torch.zeros(4, 8).half().element_size(): 2
            torch.zeros(4, 8).reshape(2, -1): [2, 16] FP32
            torch.zeros(4, 8).reshape(-1, 5): [...] FP32
            torch.zeros(4, 8).reshape(5, 5): [...] FP32
            torch.zeros(4, 8).view(-1, -1): [?, ?] FP32
            torch.zeros(0, 8).view(0, -1): [0, ?] FP32
            torch.zeros(4, 8).unsqueeze(-1): [4, 8, 1] FP32
            torch.zeros(4, 8).unsqueeze(3): [...] FP32
            torch.zeros(4, 8, 2).permute(2, 0, 1): [2, 4, 8] FP32 strided
            torch.zeros(4, 8, 2).transpose(-1, 0): [2, 8, 4] FP32 strided
            torch.zeros(4, 8).transpose(0, 5): [...] FP32 in any order
            torch.zeros(4, 8).chunk(2): an object
        "#]],
    );
}

#[test]
fn arithmetic_keeps_what_pytorch_keeps() {
    check(
        &[
            "torch.zeros(4, 8) * 2",
            "torch.arange(7) * 2",
            "torch.arange(7) * 0.5",
            "torch.arange(7) / 2",
            "torch.zeros(4, 8) + torch.ones(4, 8)",
            "torch.zeros(4, 8) + torch.ones(8)",
            "torch.zeros(4, 8) + torch.ones(4, 8).half()",
            "torch.zeros(4, 8) @ torch.zeros(8, 2)",
            "torch.zeros(2, 4, 8) @ torch.zeros(2, 8, 2)",
        ],
        expect![[r#"
            torch.zeros(4, 8) * 2: [4, 8] FP32
            torch.arange(7) * 2: [7] INT64
            torch.arange(7) * 0.5: [7] FP32
            torch.arange(7) / 2: [7] FP32
            torch.zeros(4, 8) + torch.ones(4, 8): [4, 8] FP32
            torch.zeros(4, 8) + torch.ones(8): [...] FP32 in any order
            torch.zeros(4, 8) + torch.ones(4, 8).half(): unknown: arithmetic of tensors
            torch.zeros(4, 8) @ torch.zeros(8, 2): [4, 2] FP32 in any order
            torch.zeros(2, 4, 8) @ torch.zeros(2, 8, 2): [...] FP32 in any order
        "#]],
    );
}

#[test]
fn a_tensor_is_known_where_all_of_it_is_and_it_has_elements() {
    let known = |expression: &str| {
        let language = Language { name: name::<Dtype>, call: call::<Dtype> };
        let value = Standalone::in_language(&format!("import torch\n\nx = {expression}"), language).constant("x");
        value.as_ref().and_then(Known::<Dtype>::of_constant)
    };
    assert_eq!(known("torch.zeros(4, 8)"), Known::from_text("[4, 8] fp32"));
    for expression in ["torch.zeros(0)", "torch.zeros(())", "torch.zeros(n, 8)", "torch.zeros(4, dtype=of)", "4"] {
        assert_eq!(known(expression), None, "{expression}");
    }
}
