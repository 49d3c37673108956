//! An interpreter that is none: a script in its place that answers every question of confirmation as a test says.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A kernel of one buffer: 256 bytes at 0, in line 13.
pub const KERNEL: &str = "\
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


# tilefit: x=fp16 arch=sm_90
@gluon.jit
def copy(x):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    lane = gl.arange(0, 128, layout)

    tile = gl.allocate_shared_memory(gl.float16, [128], shared)
    tile.store(gl.load(x + lane))
    gl.store(x + lane, tile.load(layout))
";

/// Says of [`KERNEL`] what tilefit says.
pub const SAME: &str = r#"
say({"id": asked["id"], "by": {"name": "triton", "version": "3.9.0"}, "shared": 256,
     "buffers": [{"op": "ttg.local_alloc", "line": 13, "offset": 0, "size": 256, "kind": "explicit"}]})
"#;

/// Says what tilefit says, and where it is asked for machine code, that it spills.
pub const SPILLING: &str = r#"
machine = {"by": "ptxas 13.4.59", "registers": 255, "stack": 720, "spills": {"stored": 1792, "loaded": 1280}, "warps": 4, "barriers": 1}
say({"id": asked["id"], "by": {"name": "triton", "version": "3.9.0"}, "shared": 256,
     "buffers": [{"op": "ttg.local_alloc", "line": 13, "offset": 0, "size": 256, "kind": "explicit"}],
     **({"machine": machine} if asked.get("full") else {})})
"#;

/// Says something else of it.
pub const OTHER: &str = r#"
say({"id": asked["id"], "by": {"name": "triton", "version": "3.9.0"}, "shared": 512,
     "buffers": [{"op": "ttg.local_alloc", "line": 13, "offset": 256, "size": 256, "kind": "explicit"}]})
"#;

/// Where the interpreter in a folder has its compiler.
pub fn package(folder: &Path) -> PathBuf {
    folder.join("site-packages").join("triton")
}

/// Writes an interpreter into a folder that does this for each question, which is `asked`. It leaves its process number in `pid` beside it.
pub fn python(folder: &Path, answer: &str) -> PathBuf {
    let package = package(folder);
    fs::create_dir_all(&package).expect("the folder is writable");
    let body = answer.trim().replace('\n', "\n    ");
    let text = format!(
        "#!/usr/bin/env python3\n\
         import json, os, sys, time\n\
         def say(answer):\n    print(json.dumps(answer), flush=True)\n\
         here = os.path.dirname(os.path.abspath(sys.argv[0]))\n\
         open(os.path.join(here, 'pid'), 'w').write(str(os.getpid()))\n\
         say({{'hello': 1, 'packages': {{'triton': {{'path': {package:?}}}}}}})\n\
         for line in sys.stdin:\n    asked = json.loads(line)\n    if 'cancel' in asked: continue\n    {body}\n"
    );
    let path = folder.join("python");
    fs::write(&path, text).expect("the folder is writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path
}
