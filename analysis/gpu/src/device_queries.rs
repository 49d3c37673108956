//! What host code is told when it asks which device there is: the one that kernels are compiled for.

use tilefit_syntax::ast::BinaryOp;

use tilefit_python::eval::{Argument, Behaviour, Constant, Object, Weighed};

use super::device::Arch;

/// What a name of PyTorch says of the device.
pub fn name(path: &[&str], device: Arch) -> Option<Constant> {
    let version = |is_it: bool| if is_it { Constant::Str(TOOLKIT.to_owned()) } else { Constant::None };
    match path {
        ["torch", "version", "hip"] => Some(version(device.is_amd())),
        ["torch", "version", "cuda"] => Some(version(!device.is_amd())),
        _ => None,
    }
}

/// The version of CUDA or ROCm, which nothing here asks for more exactly.
const TOOLKIT: &str = "13.0";

/// What a call of PyTorch or Triton says of the device.
pub fn call(path: &[&str], arguments: &dyn Fn() -> Vec<Argument>, device: Arch) -> Option<Constant> {
    let properties = |view| Constant::object(Device { arch: device, view });
    match path {
        [.., "cuda", "get_device_capability"] => {
            let (major, minor) = capability(device);
            Some(Constant::Tuple([Constant::Int(major), Constant::Int(minor)].into()))
        }
        [.., "cuda", "get_device_properties"] => Some(properties(View::Properties)),
        [.., "get_device_name"] => board(device).map(|name| Constant::Str(name.to_owned())),
        [.., "cuda", "is_available"] => Some(Constant::Bool(true)),
        // One device is enough to launch a kernel on.
        [.., "device_count"] if arguments().is_empty() => Some(Constant::Int(1)),
        [.., "driver", "active", "get_current_target"] => Some(properties(View::Target)),
        [.., "driver", "active", "utils", "get_device_properties"] => {
            let smem = Constant::Int(i64::try_from(device.smem()).ok()?);
            let entry = |key: &str, value| (Constant::Str(key.to_owned()), value);
            let warp = Constant::Int(warp_size(device));
            Some(Constant::Dict([entry("max_shared_mem", smem), entry("warpSize", warp)].into_iter().collect()))
        }
        _ => None,
    }
}

/// Of sm_86 8 and 6, of sm_100 10 and 0, of gfx942 9 and 4.
fn capability(device: Arch) -> (i64, i64) {
    let number = i64::from(device.capability());
    let number = if device.is_amd() { number / 10 } else { number };
    (number / 10, number % 10)
}

fn warp_size(device: Arch) -> i64 {
    if device.is_amd() && device.capability() < 1000 { 64 } else { 32 }
}

/// The name of the board that most have.
fn board(device: Arch) -> Option<&'static str> {
    Some(match device.name() {
        "sm_70" => "Tesla V100-SXM2-16GB",
        "sm_75" => "Tesla T4",
        "sm_80" => "NVIDIA A100-SXM4-80GB",
        "sm_86" => "NVIDIA GeForce RTX 3090",
        "sm_89" => "NVIDIA GeForce RTX 4090",
        "sm_90" => "NVIDIA H100 80GB HBM3",
        "sm_100" => "NVIDIA B200",
        "sm_120" => "NVIDIA GeForce RTX 5090",
        "gfx942" => "AMD Instinct MI300X",
        "gfx950" => "AMD Instinct MI350X",
        _ => return None,
    })
}

/// A device as an object of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Device {
    arch: Arch,
    view: View,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    /// `triton.backends.compiler.GPUTarget`
    Target,
    /// `torch.cuda.get_device_properties()`
    Properties,
}

impl Device {
    fn backend(self) -> &'static str {
        if self.arch.is_amd() { "hip" } else { "cuda" }
    }

    fn property(self, name: &str) -> Option<Constant> {
        let (major, minor) = capability(self.arch);
        Some(match name {
            "major" => Constant::Int(major),
            "minor" => Constant::Int(minor),
            "name" => Constant::Str(board(self.arch)?.to_owned()),
            "gcnArchName" if self.arch.is_amd() => Constant::Str(self.arch.to_string()),
            "shared_memory_per_block_optin" => Constant::Int(i64::try_from(self.arch.smem()).ok()?),
            "shared_memory_per_block" if !self.arch.is_amd() => Constant::Int(48 << 10),
            "warp_size" => Constant::Int(warp_size(self.arch)),
            _ => return None,
        })
    }
}

impl Weighed for Device {
    fn weight(&self) -> usize {
        1
    }

    fn depth(&self) -> u32 {
        0
    }
}

impl Behaviour for Device {
    fn truth(&self) -> Option<bool> {
        Some(true)
    }

    fn is_known(&self) -> bool {
        true
    }

    fn is_lasting(&self) -> bool {
        true
    }

    fn equals(&self, other: &Object) -> bool {
        other.get() == Some(self)
    }

    fn named(&self, _: &str) -> Option<Constant> {
        None
    }

    fn member(&self, name: &str) -> Option<Constant> {
        match (self.view, name) {
            (View::Properties, name) => self.property(name),
            (View::Target, "backend") => Some(Constant::Str(self.backend().to_owned())),
            (View::Target, "arch") if self.arch.is_amd() => Some(Constant::Str(self.arch.to_string())),
            (View::Target, "arch") => Some(Constant::Int(self.arch.capability().into())),
            (View::Target, "warp_size") => Some(Constant::Int(warp_size(self.arch))),
            (View::Target, _) => None,
        }
    }

    fn with_member(&self, _: &str, _: &Constant) -> Option<Constant> {
        None
    }

    fn method(&self, name: &str, _: &[Constant]) -> Option<Constant> {
        let backend = name.strip_prefix("is_")?.strip_suffix("_backend").filter(|_| self.view == View::Target)?;
        Some(Constant::Bool(backend == self.backend()))
    }

    fn either(&self, _: &Object) -> Option<Constant> {
        None
    }

    fn binary(&self, _: BinaryOp, _: &Constant, _: &Constant) -> Option<Constant> {
        None
    }
}
