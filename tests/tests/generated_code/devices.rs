//! Kernels that several devices run together, each in a thread: they move data through windows of each other's memory.

use std::fmt::Write as _;

use tilefit_pypto::codegen::{self, Options, model};
use tilefit_pypto::ir::Type;

use crate::generated_code::host::{c_type, pascal, planned};
use crate::generated_code::library::compile_and_run;

const DEVICES: usize = 3;
const HEAD: &str = "import pypto.language as pl\nimport pypto.language.distributed as pld\n\n";

/// What all devices hold of a tensor afterwards; each began with `1000 * device + 100 * parameter + place`, and signals with zero.
fn run(name: &str, text: &str, output: &str) -> Vec<Vec<f64>> {
    let (kernel, plan) = planned(&format!("{HEAD}{text}")).remove(0);
    assert!(kernel.notes.is_empty() && kernel.rejections.is_empty(), "{name}: {:?}", kernel.notes);
    let sequenced = codegen::sequence(&kernel, &plan, codegen::Insertion::Complete);
    assert_eq!(model::problems(&sequenced.program), [], "{name}: the pipes are not in step");
    let generated = codegen::generate_as(&kernel, &plan, Options::default());
    assert_eq!(generated.findings, Vec::new(), "{name}");
    let (mut windows, mut args, mut bytes, mut print) = (String::new(), String::new(), 0, String::new());
    let mut contexts = 0;
    for (slot, param) in kernel.params.iter().enumerate() {
        let var = kernel.var(*param);
        let Type::Tensor(tensor) = &var.ty else { panic!("{name} has scalars") };
        let dtype = tensor.dtype.unwrap();
        let (ty, count): (_, i64) =
            (c_type(dtype), tensor.shape.iter().map(|extent| extent.as_int().unwrap()).product());
        let first = if dtype.is_float() { format!("1000 * device + {} + i", 100 * slot) } else { "0".to_owned() };
        let at = format!("reinterpret_cast<{ty}*>(window[device] + {bytes})");
        let _ = writeln!(windows, "        for (int i = 0; i < {count}; ++i) {at}[i] = {first};");
        let _ = writeln!(args, "        args[{slot}] = reinterpret_cast<int64_t>({at});");
        if var.name == output {
            let _ = writeln!(print, "        for (int i = 0; i < {count}; ++i) std::printf(\"%g \", double({at}[i]));");
        }
        bytes += count * 8;
        contexts += usize::from(generated.text.contains(&format!("__gm__ int64_t* {}_ctx = ", var.name)));
    }
    let slots = kernel.params.len();
    let function = pascal(&kernel.name);
    let source = format!(
        "{prelude}
#include <cstdio>
#include <pto/comm.hpp>

namespace kernels {{
{text}}}

int main()
{{
    static char window[{DEVICES}][{bytes}];
    static int64_t context[{DEVICES}][132];
    for (int device = 0; device < {DEVICES}; ++device) {{
        host::tensors()[window[device]] = sizeof window[device];
        context[device][2] = (int64_t({DEVICES}) << 32) | device;
        for (int other = 0; other < {DEVICES}; ++other) context[device][4 + other] = reinterpret_cast<int64_t>(window[other]);
{windows}    }}
    host::devices({DEVICES}, [&](int device) {{
        int64_t args[{slots} + {contexts} + 1];
{args}        for (int i = 0; i < {contexts}; ++i) args[{slots} + i] = reinterpret_cast<int64_t>(context[device]);
        kernels::run{function}(args);
    }});
    for (int device = 0; device < {DEVICES}; ++device) {{
{print}        std::printf(\"\\n\");
    }}
}}
",
        prelude = codegen::prelude(),
        text = generated.text,
    );
    let printed = String::from_utf8(compile_and_run(&format!("devices_{name}"), &source)).unwrap();
    let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("{name}: {printed}"));
    printed.lines().map(|line| line.split_whitespace().map(number).collect()).collect()
}

fn expect(got: &[Vec<f64>], want: impl Fn(usize, usize) -> f64) {
    assert_eq!(got.len(), DEVICES);
    for (device, values) in got.iter().enumerate() {
        let wanted: Vec<f64> = (0..values.len()).map(|at| want(device, at)).collect();
        assert_eq!(values, &wanted, "device {device}");
    }
}

const STEP: &str = "    me = pld.rank(pld.get_comm_ctx(data))
    count = pld.nranks(pld.get_comm_ctx(data))
    next = (me + 1) % count
    before = (me + count - 1) % count
";

#[test]
fn a_tile_is_loaded_from_the_next_device() {
    let text = format!(
        "@pl.jit.incore
def kernel(data: pld.DistributedTensor[[4, 16], pl.FP32], signal: pld.DistributedTensor[[4, 1], pl.INT32], out: pl.Out[pl.Tensor[[2, 16], pl.FP32]]):
{STEP}    own = pl.load(data, [0, 0], [4, 16])
    data = pl.store(pl.add(own, 0.5), [0, 0], data)
    pld.system.notify(signal, peer=before, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    pld.system.wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    theirs = pld.tile.remote_load(data, peer=next, offsets=[2, 0], shape=[2, 16])
    out = pl.store(theirs, [0, 0], out)
    return out
"
    );
    let got = run("remote_load", &text, "out");
    expect(&got, |device, at| ((device + 1) % DEVICES * 1000 + 32 + at) as f64 + 0.5);
}

#[test]
fn tiles_are_stored_on_all_devices() {
    let text = format!(
        "@pl.jit.incore
def kernel(data: pld.DistributedTensor[[3, 16], pl.FP32], signal: pld.DistributedTensor[[4, 1], pl.INT32], x: pl.Tensor[[1, 16], pl.FP32], out: pl.Out[pl.Tensor[[3, 16], pl.FP32]]):
{STEP}    tile = pl.load(x, [0, 0], [1, 16])
    for peer in pl.range(count):
        pld.tile.remote_store(tile, data, peer=peer, offsets=[me, 0])
        pld.system.notify(signal, peer=peer, offsets=[me, 0], value=7, op=pld.NotifyOp.Set)
    for peer in pl.range(count):
        pld.system.wait(signal, offsets=[peer, 0], expected=7, cmp=pld.WaitCmp.Eq)
    whole = pl.load(data, [0, 0], [3, 16])
    out = pl.store(whole, [0, 0], out)
    return out
"
    );
    let got = run("remote_store", &text, "out");
    expect(&got, |_, at| (at / 16 * 1000 + 200 + at % 16) as f64);
}

#[test]
fn transfers_go_through_staging_tiles() {
    let text = format!(
        "@pl.jit.incore
def kernel(data: pld.DistributedTensor[[4, 16], pl.FP32], inbox: pld.DistributedTensor[[4, 16], pl.FP32], signal: pld.DistributedTensor[[4, 1], pl.INT32], out: pl.Out[pl.Tensor[[4, 16], pl.FP32]]):
{STEP}    pld.tensor.put(inbox, peer=next, src=data, atomic=pld.AtomicType.Add)
    pld.system.notify(signal, peer=next, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    pld.system.wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    pld.tensor.get(data, peer=me, src=inbox, dst_offsets=[0, 0], src_offsets=[2, 0], shape=[2, 16])
    whole = pl.load(data, [0, 0], [4, 16])
    out = pl.store(whole, [0, 0], out)
    return out
"
    );
    let got = run("staged", &text, "out");
    let data = |device: usize, at: usize| (1000 * device + at) as f64;
    expect(&got, |device, at| {
        let before = (device + DEVICES - 1) % DEVICES;
        // Two rows of the inbox, which has got all of the data of the device before.
        if at < 32 { data(device, at + 32) + 100.0 + data(before, at + 32) } else { data(device, at) }
    });
}
