//! `triton.Config`: values that autotuning tries together, and the options of their launch.

use tilefit_python::eval::{Argument, Behaviour, Constant, Object, Weighed, keyword};
use tilefit_python::finding::Reason;
use tilefit_syntax::ast::BinaryOp;

/// A configuration of `triton.autotune`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// A dictionary.
    pub values: Constant,
    pub options: Options,
}

/// The options of a launch, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    pub num_warps: Option<u32>,
    pub num_ctas: Option<u32>,
    pub num_stages: Option<u32>,
    /// The most registers of a thread, which no memory depends on.
    pub maxnreg: Option<u32>,
}

impl Options {
    /// Those of a `triton.Config` that gives none, on every device (`Config.__init__` in `python/triton/runtime/autotuner.py`).
    const OF_CONFIGURATION: Options =
        Options { num_warps: Some(4), num_ctas: Some(1), num_stages: Some(3), maxnreg: None };

    /// Takes the value where that is an option of the launch.
    pub fn set(&mut self, name: &str, value: &Constant) -> bool {
        let option = match name {
            "num_warps" => &mut self.num_warps,
            "num_ctas" => &mut self.num_ctas,
            "num_stages" => &mut self.num_stages,
            "maxnreg" => &mut self.maxnreg,
            _ => return false,
        };
        // One that is computed is not the default.
        *option = if let Constant::Int(value) = value { u32::try_from(*value).ok() } else { None };
        true
    }
}

/// `triton.Config(values, num_warps=…, …)`
pub fn configuration(arguments: &[Argument]) -> Constant {
    let values = arguments.first().filter(|argument| argument.keyword.is_none()).map(|argument| &argument.value);
    let Some(values) = values.or_else(|| keyword(arguments, "kwargs")) else {
        return Constant::Unknown(Reason::new("a configuration without values"));
    };
    let mut options = Options::OF_CONFIGURATION;
    let names = ["kwargs", "num_warps", "num_stages", "num_ctas"];
    for (nth, argument) in arguments.iter().enumerate() {
        if let Some(name) = argument.keyword.as_deref().or(names.get(nth).copied()) {
            options.set(name, &argument.value);
        }
    }
    Constant::object(Config { values: values.clone(), options })
}

impl Weighed for Config {
    fn weight(&self) -> usize {
        1 + self.values.weight()
    }

    fn depth(&self) -> u32 {
        1 + self.values.depth()
    }
}

impl Behaviour for Config {
    fn truth(&self) -> Option<bool> {
        Some(true)
    }

    fn is_known(&self) -> bool {
        false
    }

    /// `config.kwargs` is changed in place.
    fn is_lasting(&self) -> bool {
        false
    }

    fn equals(&self, other: &Object) -> bool {
        other.get() == Some(self)
    }

    fn named(&self, _: &str) -> Option<Constant> {
        None
    }

    fn member(&self, name: &str) -> Option<Constant> {
        let option = match name {
            "kwargs" => return Some(self.values.clone()),
            "num_warps" => self.options.num_warps,
            "num_ctas" => self.options.num_ctas,
            "num_stages" => self.options.num_stages,
            "maxnreg" => self.options.maxnreg,
            _ => return None,
        };
        option.map(|option| Constant::Int(i64::from(option)))
    }

    fn with_member(&self, _: &str, _: &Constant) -> Option<Constant> {
        None
    }

    fn method(&self, _: &str, _: &[Constant]) -> Option<Constant> {
        None
    }

    fn either(&self, _: &Object) -> Option<Constant> {
        None
    }

    fn binary(&self, _: BinaryOp, _: &Constant, _: &Constant) -> Option<Constant> {
        None
    }
}
