/** The examples of the book. */

import branch from "../../../docs/examples/branch.py";
import chainedMatmul from "../../../docs/examples/chained_matmul.py";
import elementwise from "../../../docs/examples/elementwise.py";
import matmulKloop from "../../../docs/examples/matmul_kloop.py";
import matmulMoves from "../../../docs/examples/matmul_moves.py";
import onlineSoftmax from "../../../docs/examples/online_softmax.py";
import overflow from "../../../docs/examples/overflow.py";
import pingPong from "../../../docs/examples/ping_pong.py";
import rmsnorm from "../../../docs/examples/rmsnorm.py";
import scopeOverflow from "../../../docs/examples/scope_overflow.py";
import scopeProjection from "../../../docs/examples/scope_projection.py";
import scopeRmsnorm from "../../../docs/examples/scope_rmsnorm.py";
import softmax from "../../../docs/examples/softmax.py";
import tilelangGemm from "../../../docs/examples/tilelang_gemm.py";
import tlxAttention from "../../../docs/examples/tlx_attention.py";
import tlxHopperGemm from "../../../docs/examples/tlx_hopper_gemm.py";
import tunedMatmul from "../../../docs/examples/tuned_matmul.py";

export interface Example {
  /** Of its file. */
  name: string;
  title: string;
  text: string;
}

export const examples: Example[] = [
  { name: "overflow", title: "A gate that is over capacity", text: overflow },
  { name: "softmax", title: "Softmax", text: softmax },
  { name: "rmsnorm", title: "RMS normalisation", text: rmsnorm },
  { name: "elementwise", title: "Elementwise, tiled by rows", text: elementwise },
  { name: "branch", title: "A branch", text: branch },
  { name: "online_softmax", title: "Online softmax", text: onlineSoftmax },
  { name: "ping_pong", title: "Double buffering", text: pingPong },
  { name: "matmul_moves", title: "Matrix product, every move", text: matmulMoves },
  { name: "matmul_kloop", title: "Matrix product over K", text: matmulKloop },
  { name: "chained_matmul", title: "Chain of matrix products", text: chainedMatmul },
  { name: "scope_rmsnorm", title: "RMS normalisation on tensors", text: scopeRmsnorm },
  { name: "scope_projection", title: "Projection on tensors", text: scopeProjection },
  { name: "scope_overflow", title: "Softmax on tensors, over capacity", text: scopeOverflow },
  { name: "tlx_hopper_gemm", title: "TLX: product on Hopper", text: tlxHopperGemm },
  { name: "tlx_attention", title: "TLX: attention on Blackwell", text: tlxAttention },
  { name: "tilelang_gemm", title: "TileLang: product", text: tilelangGemm },
  { name: "tuned_matmul", title: "Triton: autotuned product", text: tunedMatmul },
];
