//! Configuration: `tilefit.toml`, `[tool.tilefit]` of `pyproject.toml`, editor settings. All have the same keys.

use std::collections::BTreeMap;

use toml::{Table, Value};

use tilefit_gpu::device::{Arch, Compiler};
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_gpu::tlx::Rules;
use tilefit_pypto::codegen::{self, Insertion};
use tilefit_pypto::target::{Planner, Space, Target};
use tilefit_python::diagnostics::{Code, Severity};
use tilefit_python::element::Dtype;
use tilefit_python::spelling::did_you_mean;
use tilefit_python::torch::Known;
use tilefit_python::work::Limits;

use crate::confirm::UpTo;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    pub target: Target,
    pub planner: Planner,
    /// Capacities in bytes that replace those of the target.
    pub capacity: BTreeMap<Space, u64>,
    /// Severities that replace those of the codes; `None` turns a code off.
    pub severity: BTreeMap<Code, Option<Severity>>,
    /// Patterns in the syntax of `.gitignore`, from the workspace's root: the files that are looked at. Without any, all.
    pub include: Vec<String>,
    /// The files among them that are not.
    pub exclude: Vec<String>,
    pub inlay_hints: bool,
    /// Flags and barriers of generated C++ after the statements that they order.
    pub sync_hints: bool,
    pub code_lens: bool,
    pub completion: bool,
    /// Highlights of a tile show those that share its memory too.
    pub highlight_group: bool,
    /// The form of generated C++.
    pub codegen: codegen::Options,
    /// Tensors that parameters of `@pl.jit` functions are given, by function and parameter.
    pub shapes: BTreeMap<String, BTreeMap<String, Known<Dtype>>>,
    /// The GPU of TLX kernels whose scenario names none.
    pub tlx_arch: Arch,
    /// The compiler of GPU kernels whose scenario names none.
    pub triton: Option<Compiler>,
    /// GPUs that configurations are shown for, beside the kernel's own.
    pub devices: Vec<Arch>,
    /// Whether a setting names the GPU, which is a default otherwise.
    pub is_gpu_named: bool,
    pub tlx_rules: Rules,
    /// Values for the parameters of kernels for GPUs by the name of the kernel; `*` is for all that have none of their own.
    pub tlx_scenarios: BTreeMap<String, Vec<Scenario>>,
    /// What one kernel may cost.
    pub limits: Limits,
    /// When the author's compiler is asked.
    pub confirm: Confirm,
    /// How far it goes then.
    pub confirm_up_to: UpTo,
    /// The Python that runs it; found where none is named.
    pub python: Option<String>,
    /// Who gave settings their values, by their keys; of the others the default counts.
    pub given: BTreeMap<&'static str, Giver>,
}

/// Where a setting gets its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Giver {
    /// An editor, or whoever calls the command line.
    User,
    TilefitToml,
    PyprojectToml,
}

impl Giver {
    /// As an editor is told of it.
    pub fn name(self) -> &'static str {
        match self {
            Giver::User => "settings",
            Giver::TilefitToml => "tilefit.toml",
            Giver::PyprojectToml => "pyproject.toml",
        }
    }
}

/// When the author's compiler is asked to confirm a plan, which imports the author's module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Confirm {
    #[default]
    Never,
    /// When the author asks for it.
    Command,
    /// Whenever a file is saved, too.
    Save,
}

/// A GPU: an NPU is another setting's.
fn gpu(name: &str) -> Option<Arch> {
    Arch::from_name(name).filter(|arch| !arch.is_npu())
}

impl Default for Config {
    fn default() -> Self {
        Config {
            target: Target::default(),
            planner: Planner::default(),
            capacity: BTreeMap::new(),
            severity: BTreeMap::new(),
            include: Vec::new(),
            exclude: Vec::new(),
            inlay_hints: true,
            sync_hints: false,
            code_lens: true,
            completion: true,
            highlight_group: false,
            codegen: codegen::Options::default(),
            shapes: BTreeMap::new(),
            tlx_arch: Arch::default(),
            triton: None,
            devices: Vec::new(),
            is_gpu_named: false,
            tlx_rules: Rules::default(),
            tlx_scenarios: BTreeMap::new(),
            limits: Limits::DEFAULT,
            confirm: Confirm::default(),
            confirm_up_to: UpTo::default(),
            python: None,
            given: BTreeMap::new(),
        }
    }
}

/// A setting that was not understood. The rest of the configuration is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// `inlayHints.enable`
    pub key: String,
    pub message: String,
}

/// A setting: its key, what it is for, what it takes, and how it is put into the configuration.
pub struct Setting {
    pub key: &'static str,
    /// Markdown, for the authors of kernels.
    pub about: &'static str,
    pub shape: Shape,
    takes: &'static str,
    set: fn(&mut Config, &Value) -> Option<()>,
}

impl Setting {
    /// Sets what takes one of several names to one of them, if it is one.
    pub fn choose(&self, config: &mut Config, name: &str) {
        (self.set)(config, &name.into());
    }

    /// The code in a table of severities that does not exist, in words for the user.
    fn misspelt(&self, value: &Value) -> Option<String> {
        let (Shape::Severities, Some(table)) = (&self.shape, value.as_table()) else { return None };
        let code = table.keys().find(|code| Code::from_name(code).is_none())?;
        Some(format!("unknown diagnostic code `{code}` in [{}]{}", self.key, Code::instead_of(code)))
    }
}

/// The values that a setting takes, for schemas.
pub enum Shape {
    /// A name out of several, each with what it means; the first one is the default.
    OneOf(&'static [(&'static str, &'static str)]),
    /// A GPU.
    Arch,
    /// Several of them.
    Archs,
    /// Words of any kind; nothing without being set.
    Text,
    /// Whether it is on without being set.
    Flag(bool),
    Patterns,
    /// By memory space.
    Bytes,
    /// A number above zero, and what it is without being set.
    Count(u64),
    /// By diagnostic code.
    Severities,
    /// Values of parameters, by kernel.
    Scenarios,
    /// Tensors, by function and parameter.
    Tensors,
}

/// The names of severities in settings.
pub const SEVERITIES: [&str; 5] = ["error", "warning", "info", "hint", "off"];

pub const SETTINGS: &[Setting] = &[
    Setting {
        key: "target",
        about: "The device to plan for: the NPU for kernels of PyPTO and of TileLang for Ascend, or the GPU for TLX, Gluon, Triton and TileLang kernels that do not name one.",
        shape: Shape::OneOf(&[
            ("ascend910b", "Ascend 910B: 184 KiB of Vec, 512 KiB of Mat, 128 KiB of Acc"),
            ("ascend950", "Ascend 950: 240 KiB of Vec, 512 KiB of Mat, 256 KiB of Acc"),
            ("sm_70", "GPU: 98,304 bytes of shared memory per block"),
            ("sm_75", "GPU: 65,536 bytes of shared memory per block"),
            ("sm_80", "GPU: 166,912 bytes of shared memory per block"),
            ("sm_86", "GPU: 101,376 bytes of shared memory per block"),
            ("sm_87", "GPU: 166,912 bytes of shared memory per block"),
            ("sm_89", "GPU: 101,376 bytes of shared memory per block"),
            ("sm_90", "GPU: 232,448 bytes of shared memory per block"),
            ("sm_100", "GPU: 232,448 bytes of shared memory per block"),
            ("sm_103", "GPU: 232,448 bytes of shared memory per block"),
            ("sm_107", "GPU: 232,448 bytes of shared memory per block"),
            ("sm_110", "GPU: 232,448 bytes of shared memory per block"),
            ("sm_120", "GPU: 101,376 bytes of shared memory per block"),
            ("sm_121", "GPU: 101,376 bytes of shared memory per block"),
            ("gfx942", "GPU: 65,536 bytes of shared memory per block"),
            ("gfx950", "GPU: 163,840 bytes of shared memory per block"),
            ("gfx1250", "GPU: 327,680 bytes of shared memory per block"),
        ]),
        takes: "\"ascend910b\", \"ascend950\" or a GPU architecture, such as \"sm_100\"",
        set: |config, value| {
            let name = value.as_str()?;
            match gpu(name) {
                Some(arch) => (config.tlx_arch, config.is_gpu_named) = (arch, true),
                None => config.target = Target::from_name(name)?,
            }
            Some(())
        },
    },
    Setting {
        key: "planner",
        about: "How buffers are placed in each memory space.",
        shape: Shape::OneOf(&[
            ("auto", "sequential if it fits, else packed"),
            ("sequential", "As the PyPTO compiler's default planner"),
            ("packed", "Freed buffers are split and reused"),
            ("dsa-rp", "As the PyPTO compiler's opt-in planner DSA_RP"),
        ]),
        takes: "\"auto\", \"sequential\", \"packed\" or \"dsa-rp\"",
        set: |config, value| {
            config.planner = Planner::from_name(value.as_str()?)?;
            Some(())
        },
    },
    Setting {
        key: "capacity",
        about: "Capacities in bytes that replace those of the target, by memory space: `{ \"Vec\": 196608 }`.",
        shape: Shape::Bytes,
        takes: "a table of bytes by memory space, such as { Vec = 196608 }",
        set: |config, value| {
            let entries = value.as_table()?.iter().map(|(space, bytes)| {
                let bytes = u64::try_from(bytes.as_integer()?).ok()?;
                Some((Space::from_name(space)?, bytes))
            });
            config.capacity = entries.collect::<Option<_>>()?;
            Some(())
        },
    },
    Setting {
        key: "severity",
        about: "Severities that replace the defaults, by diagnostic code: `{ \"not-modelled\": \"off\" }`.",
        shape: Shape::Severities,
        takes: "a table of \"error\", \"warning\", \"info\", \"hint\" or \"off\" by diagnostic code",
        set: |config, value| {
            let entries = value.as_table()?.iter().map(|(code, severity)| {
                let severity = match severity.as_str()? {
                    "error" => Some(Severity::Error),
                    "warning" => Some(Severity::Warning),
                    "info" => Some(Severity::Info),
                    "hint" => Some(Severity::Hint),
                    "off" => None,
                    _ => return None,
                };
                Some((Code::from_name(code)?, severity))
            });
            config.severity = entries.collect::<Option<_>>()?;
            Some(())
        },
    },
    Setting {
        key: "include",
        about: "Analyse only files that match one of these patterns, written as in a `.gitignore`. An empty list means all files.",
        shape: Shape::Patterns,
        takes: "a list of patterns, such as [\"kernels/\", \"*_kernel.py\"]",
        set: |config, value| {
            config.include = patterns(value)?;
            Some(())
        },
    },
    Setting {
        key: "exclude",
        about: "Do not analyse files that match one of these patterns, written as in a `.gitignore`.",
        shape: Shape::Patterns,
        takes: "a list of patterns, such as [\"build_output/\"]",
        set: |config, value| {
            config.exclude = patterns(value)?;
            Some(())
        },
    },
    Setting {
        key: "inlayHints.enable",
        about: "Show memory, address and size after each tile.",
        shape: Shape::Flag(true),
        takes: "true or false",
        set: |config, value| {
            config.inlay_hints = value.as_bool()?;
            Some(())
        },
    },
    Setting {
        key: "inlayHints.sync",
        about: "Show the barriers and events that the generated C++ has at each statement.",
        shape: Shape::Flag(false),
        takes: "true or false",
        set: |config, value| {
            config.sync_hints = value.as_bool()?;
            Some(())
        },
    },
    Setting {
        key: "codeLens.enable",
        about: "Show the use of each memory space above each kernel.",
        shape: Shape::Flag(true),
        takes: "true or false",
        set: |config, value| {
            config.code_lens = value.as_bool()?;
            Some(())
        },
    },
    Setting {
        key: "highlight.reuseGroup",
        about: "Also highlight the tiles that share the memory of the tile under the cursor.",
        shape: Shape::Flag(false),
        takes: "true or false",
        set: |config, value| {
            config.highlight_group = value.as_bool()?;
            Some(())
        },
    },
    Setting {
        key: "codegen.externC",
        about: "Declare the generated C++ functions `extern \"C\"`.",
        shape: Shape::Flag(false),
        takes: "true or false",
        set: |config, value| {
            config.codegen.extern_c = value.as_bool()?;
            Some(())
        },
    },
    Setting {
        key: "codegen.drain",
        about: "Wait for the last store at the end of the generated C++ of a kernel.",
        shape: Shape::Flag(false),
        takes: "true or false",
        set: |config, value| {
            config.codegen.drain = value.as_bool()?;
            Some(())
        },
    },
    Setting {
        key: "completion.enable",
        about: "Offer completions in kernels. A Python server that finds the package of the kernels offers the same names.",
        shape: Shape::Flag(true),
        takes: "true or false",
        set: |config, value| {
            config.completion = value.as_bool()?;
            Some(())
        },
    },
    Setting {
        key: "codegen.alwaysAssign",
        about: "Emit `TASSIGN` before every load and store of the generated C++, even when the pointer has not changed.",
        shape: Shape::Flag(false),
        takes: "true or false",
        set: |config, value| {
            config.codegen.always_assign = value.as_bool()?;
            Some(())
        },
    },
    Setting {
        key: "codegen.insertSync",
        about: "Insert the synchronisation that the generated C++ needs between its statements.",
        shape: Shape::Flag(true),
        takes: "true or false",
        set: |config, value| {
            config.codegen.insertion = if value.as_bool()? { Insertion::Complete } else { Insertion::InStatements };
            Some(())
        },
    },
    Setting {
        key: "tlx.arch",
        about: "The GPU for TLX, Gluon, Triton and TileLang kernels that do not name one. `target` sets the same.",
        shape: Shape::Arch,
        takes: "a GPU architecture, such as \"sm_100\" or \"gfx950\"",
        set: |config, value| {
            (config.tlx_arch, config.is_gpu_named) = (gpu(value.as_str()?)?, true);
            Some(())
        },
    },
    Setting {
        key: "devices",
        about: "Devices to show the configurations of a kernel for, in addition to its own: `[\"sm_80\", \"sm_90\"]`.",
        shape: Shape::Archs,
        takes: "a list of devices, such as [\"sm_80\", \"sm_90\"]",
        set: |config, value| {
            let names = value.as_array()?.iter().map(|name| Arch::from_name(name.as_str()?));
            config.devices = names.collect::<Option<_>>()?;
            Some(())
        },
    },
    Setting {
        key: "triton",
        about: "The Triton compiler for TLX, Gluon and Triton kernels that do not name one. With `any`, Gluon and Triton are planned for 3.9, and a TLX plan covers all of them.",
        shape: Shape::OneOf(&[
            ("any", "Triton 3.9 for Gluon and Triton, any of them for TLX"),
            ("3.8", "Triton 3.8"),
            ("3.9", "Triton 3.9"),
            ("fork", "Meta's fork of Triton"),
        ]),
        takes: "\"any\", \"3.8\", \"3.9\" or \"fork\"",
        set: |config, value| {
            let name = value.as_str()?;
            config.triton = match name {
                "any" => None,
                name => Some(Compiler::from_name(name)?),
            };
            Some(())
        },
    },
    Setting {
        key: "tlx.rules",
        about: "The rules for TLX kernels.",
        shape: Shape::OneOf(&[
            ("compiler", "As the Triton compiler"),
            ("seed", "As the design document of storage alias specs"),
        ]),
        takes: "\"compiler\" or \"seed\"",
        set: |config, value| {
            config.tlx_rules = Rules::from_name(value.as_str()?)?;
            Some(())
        },
    },
    Setting {
        key: "shapes",
        about: "Shapes for parameters of `@pl.jit` functions whose annotation has none, by function and parameter: \
                `{ \"norm\": { \"x\": \"[4096, 7168] bf16\" } }`. A comment in the source overrides it.",
        shape: Shape::Tensors,
        takes: "tables of tensors by function, such as { norm = { x = \"[4096, 7168] bf16\" } }",
        set: |config, value| {
            let functions = value.as_table()?.iter().map(|(function, params)| {
                let tensor =
                    |(param, tensor): (&String, &Value)| Some((param.clone(), Known::from_text(tensor.as_str()?)?));
                Some((function.clone(), params.as_table()?.iter().map(tensor).collect::<Option<_>>()?))
            });
            config.shapes = functions.collect::<Option<_>>()?;
            Some(())
        },
    },
    Setting {
        key: "tlx.scenarios",
        about: "Values for the parameters of kernels for GPUs, by kernel: `{ \"attention\": { \"HEAD_DIM\": [64, 128], \"desc_q\": \"bf16\" } }`. \
                A list is one scenario for each element; `*` is for every kernel without its own entry.",
        shape: Shape::Scenarios,
        takes: "tables of values by kernel, such as { attention = { HEAD_DIM = [64, 128], q = \"bf16\" } }",
        set: |config, value| {
            let kernels = value.as_table()?.iter();
            let scenarios = kernels.map(|(kernel, value)| Some((kernel.clone(), scenario::from_settings(value)?)));
            config.tlx_scenarios = scenarios.collect::<Option<_>>()?;
            Some(())
        },
    },
    Setting {
        key: "confirm",
        about: "When to ask the installed compiler to confirm plans. That imports the file, as running its tests does. Allowed only in the settings of a user or an editor, never in those of a repository.",
        shape: Shape::OneOf(&[
            ("never", "Never run a compiler"),
            ("command", "On request"),
            ("save", "On request, and whenever a file with kernels is saved"),
        ]),
        takes: "\"never\", \"command\" or \"save\"",
        set: |config, value| {
            config.confirm = match value.as_str()? {
                "never" => Confirm::Never,
                "command" => Confirm::Command,
                "save" => Confirm::Save,
                _ => return None,
            };
            Some(())
        },
    },
    Setting {
        key: "confirmFull",
        about: "Whether the compiler, when it confirms a plan, also makes machine code, and says registers, spills and how many blocks run at once. That takes about a second more for each configuration. Allowed only in the settings of a user or an editor, never in those of a repository.",
        shape: Shape::Flag(false),
        takes: "true or false",
        set: |config, value| {
            config.confirm_up_to = if value.as_bool()? { UpTo::MachineCode } else { UpTo::Plan };
            Some(())
        },
    },
    Setting {
        key: "python",
        about: "The Python with the compiler, or its virtual environment. Default: the active virtual environment, `.venv` of the workspace, the first Python on the path. Allowed only in the settings of a user or an editor, never in those of a repository.",
        shape: Shape::Text,
        takes: "a path, such as \"~/kernels/.venv\" or \"python3.12\"",
        set: |config, value| {
            let path = value.as_str()?;
            config.python = (!path.is_empty()).then(|| path.to_owned());
            Some(())
        },
    },
    Setting {
        key: "limits.statements",
        about: "Largest number of statements of a kernel up to which loops that the compiler copies (`pl.unroll`, `pl.pipeline`) are copied.",
        shape: Shape::Count(Limits::DEFAULT.statements),
        takes: "a number above zero",
        set: |config, value| {
            config.limits.statements = count(value)?;
            Some(())
        },
    },
    Setting {
        key: "limits.steps",
        about: "Largest number of steps (about ten million per second) of one stage of the analysis. A kernel that needs more is not analysed.",
        shape: Shape::Count(Limits::DEFAULT.steps),
        takes: "a number above zero",
        set: |config, value| {
            config.limits.steps = count(value)?;
            Some(())
        },
    },
];

fn count(value: &Value) -> Option<u64> {
    u64::try_from(value.as_integer()?).ok().filter(|count| *count > 0)
}

fn patterns(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|pattern| pattern.as_str().map(str::to_owned)).collect()
}

/// Keys that belong to the editor extensions; the server passes over them.
const CLIENT_KEYS: [&str; 4] = ["server", "trace", "enable", "logLevel"];

/// Keys that say what programs are run: a repository has no say in them.
pub const PERSONAL: [&str; 3] = ["confirm", "confirmFull", "python"];

impl Config {
    /// Puts `settings` over this configuration, and returns what was not understood.
    pub fn apply(&mut self, settings: &Table) -> Vec<ConfigProblem> {
        self.apply_of(Giver::User, settings)
    }

    fn apply_of(&mut self, giver: Giver, settings: &Table) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        self.apply_under("", giver, settings, &mut problems);
        problems
    }

    fn apply_under(&mut self, prefix: &str, giver: Giver, settings: &Table, problems: &mut Vec<ConfigProblem>) {
        for (name, value) in settings {
            let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            if let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) {
                if (setting.set)(self, value).is_some() {
                    // A GPU as the target says nothing of the NPU.
                    let is_gpu = setting.key == "target" && value.as_str().and_then(gpu).is_some();
                    self.given.insert(if is_gpu { "tlx.arch" } else { setting.key }, giver);
                } else {
                    let message = setting
                        .misspelt(value)
                        .unwrap_or_else(|| format!("`{key}` takes {}, not {value}", setting.takes));
                    problems.push(ConfigProblem { key, message });
                }
                continue;
            }
            match value.as_table() {
                Some(inner) if SETTINGS.iter().any(|setting| setting.key.starts_with(&format!("{key}."))) => {
                    self.apply_under(&key, giver, inner, problems);
                }
                _ if CLIENT_KEYS.contains(&key.as_str()) => {}
                _ => {
                    let meant = did_you_mean(&key, SETTINGS.iter().map(|setting| setting.key));
                    let message = format!("there is no setting `{key}`{meant}");
                    problems.push(ConfigProblem { key, message });
                }
            }
        }
    }

    /// Puts settings of a repository over this configuration, which may come from anybody.
    fn apply_of_repository(&mut self, giver: Giver, mut settings: Table) -> Vec<ConfigProblem> {
        let personal = PERSONAL.iter().filter(|key| settings.remove(**key).is_some());
        let refused = personal.map(|key| ConfigProblem {
            key: (*key).to_owned(),
            message: format!(
                "`{key}` is allowed only in the settings of your editor, because a repository may come from anybody"
            ),
        });
        let refused: Vec<ConfigProblem> = refused.collect();
        self.apply_of(giver, &settings).into_iter().chain(refused).collect()
    }

    /// Puts the text of a `tilefit.toml` over this configuration.
    pub fn apply_tilefit_toml(&mut self, text: &str) -> Vec<ConfigProblem> {
        match text.parse::<Table>() {
            Ok(settings) => self.apply_of_repository(Giver::TilefitToml, settings),
            Err(error) => vec![ConfigProblem { key: String::new(), message: error.message().to_owned() }],
        }
    }

    /// Puts `[tool.tilefit]` of a `pyproject.toml` over this configuration. Other tools report broken TOML there.
    pub fn apply_pyproject_toml(&mut self, text: &str) -> Vec<ConfigProblem> {
        section_of_pyproject(text)
            .map_or_else(Vec::new, |settings| self.apply_of_repository(Giver::PyprojectToml, settings))
    }

    /// Whether a `pyproject.toml` has settings of tilefit.
    pub fn is_in_pyproject_toml(text: &str) -> bool {
        section_of_pyproject(text).is_some()
    }

    /// Who gave a setting its value: `default`, `settings`, or the name of a file.
    pub fn giver_of(&self, key: &str) -> &'static str {
        self.given.get(key).map_or("default", |giver| giver.name())
    }

    /// The severity in force; `None` where the code is turned off.
    pub fn severity_of(&self, code: Code, severity: Severity) -> Option<Severity> {
        self.severity.get(&code).copied().unwrap_or(code.is_on_by_default().then_some(severity))
    }
}

/// A file with settings.
pub struct SettingsFile {
    pub name: &'static str,
    /// Whether a text has settings of ours; one that has not is passed over.
    pub counts: fn(&str) -> bool,
    pub apply: fn(&mut Config, &str) -> Vec<ConfigProblem>,
}

/// Of one folder, the first that counts.
pub const SETTINGS_FILES: [SettingsFile; 2] = [
    SettingsFile { name: "tilefit.toml", counts: |_| true, apply: Config::apply_tilefit_toml },
    SettingsFile { name: "pyproject.toml", counts: Config::is_in_pyproject_toml, apply: Config::apply_pyproject_toml },
];

fn section_of_pyproject(text: &str) -> Option<Table> {
    let project = text.parse::<Table>().ok()?;
    project.get("tool")?.get("tilefit")?.as_table().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_applied_and_mistakes_are_named() {
        let mut config = Config::default();
        let problems = config.apply_tilefit_toml(
            "target = \"ascend950\"\nplaner = \"auto\"\nplanner = 3\ncapacity = { Vec = 1024 }\n[inlayHints]\nenable = false\n[severity]\nnot-modelled = \"off\"\n",
        );
        assert_eq!(config.target, Target::Ascend950);
        assert_eq!(config.capacity[&Space::Vec], 1024);
        assert!(!config.inlay_hints);
        assert_eq!(config.severity_of(Code::NotModelled, Severity::Hint), None);
        let messages: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "there is no setting `planer`; did you mean `planner`?",
                "`planner` takes \"auto\", \"sequential\", \"packed\" or \"dsa-rp\", not 3",
            ]
        );
    }

    #[test]
    fn shapes_are_read_by_function_and_parameter() {
        let mut config = Config::default();
        assert!(config.apply_tilefit_toml("[shapes.norm]\nx = \"[4096, 7168] bf16\"\n").is_empty());
        assert_eq!(Some(&config.shapes["norm"]["x"]), Known::from_text("[4096,7168] BF16").as_ref());
        for wrong in ["x", "[4096] bf17", "[M] bf16", "[0] bf16", "[] bf16"] {
            assert_eq!(config.apply_tilefit_toml(&format!("[shapes.norm]\nx = \"{wrong}\"\n")).len(), 1, "{wrong}");
        }
    }

    #[test]
    fn a_repository_does_not_say_what_is_run() {
        let mut config = Config::default();
        let problems = config
            .apply_tilefit_toml("confirm = \"save\"\nconfirmFull = true\npython = \"./evil\"\nplanner = \"packed\"\n");
        assert_eq!((config.confirm, &config.python, config.planner), (Confirm::Never, &None, Planner::Packed));
        assert_eq!(problems.iter().map(|problem| problem.key.as_str()).collect::<Vec<_>>(), PERSONAL);
        assert_eq!(config.apply_pyproject_toml("[tool.tilefit]\nconfirm = \"save\"\n").len(), 1);
        assert_eq!(config.confirm, Confirm::Never);
    }

    #[test]
    fn pyproject_has_a_section() {
        let mut config = Config::default();
        assert!(config.apply_pyproject_toml("[tool.tilefit]\nplanner = \"packed\"\n[tool.ruff]\nx = 1\n").is_empty());
        assert_eq!(config.planner, Planner::Packed);
        assert!(config.apply_pyproject_toml("not toml").is_empty());
        let problems = config.apply_pyproject_toml("[tool.tilefit]\nexlude = []\ninclude = \"kernels\"\n");
        let messages: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "there is no setting `exlude`; did you mean `exclude`?",
                "`include` takes a list of patterns, such as [\"kernels/\", \"*_kernel.py\"], not \"kernels\"",
            ]
        );
    }
}
