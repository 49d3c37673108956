//! Configurations that stand in a YAML file beside the code, as FlagGems has them: by the name of an operation, those that `autotune` tries
//! (`TunedConfigLoader` in `flag_gems/runtime/configs_loader.py`).

use tilefit_python::eval::{Argument, Constant, Parts};
use tilefit_python::finding::Reason;

use super::configuration::configuration;
use super::device::Arch;
use super::yaml;

/// The function that takes the name of an operation.
pub const FUNCTION: &str = "get_tuned_config";

/// A folder of a library that may have such a file.
struct Folder {
    path: &'static str,
    is_for: fn(Arch) -> bool,
}

/// The first one for a device that has an operation counts.
const FOLDERS: [Folder; 5] = [
    Folder { path: "runtime/backend/_nvidia/hopper", is_for: |arch| !arch.is_amd() && arch.capability() / 10 == 9 },
    Folder { path: "runtime/backend/_nvidia/ampere", is_for: |arch| !arch.is_amd() && arch.capability() / 10 == 8 },
    Folder { path: "runtime/backend/_nvidia", is_for: |arch| !arch.is_amd() },
    Folder { path: "runtime/backend/_amd/rdna4", is_for: |arch| arch.is_amd() && arch.capability() >= 1200 },
    Folder { path: "runtime/backend/_amd", is_for: Arch::is_amd },
];
/// What such a file is called.
pub const FILE: &str = "tune_configs.yaml";

/// In the place of a file of a folder: all JSON files in it, as one object by their names.
pub const TABLES: &str = "*.json";
/// The function that reads such a file.
pub const READING: &str = "json.load";

/// The files that may have them, as paths from the folder of a library.
pub fn files() -> impl Iterator<Item = String> {
    FOLDERS.iter().map(Folder::file)
}

/// Those for a device.
pub fn files_for(arch: Arch) -> impl Iterator<Item = String> {
    FOLDERS.iter().filter(move |folder| (folder.is_for)(arch)).map(Folder::file)
}

impl Folder {
    fn file(&self) -> String {
        format!("{}/{FILE}", self.path)
    }
}

/// What such a file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuned {
    operations: Entries,
}

type Entries = Parts<(Constant, Constant)>;

/// What a configuration does not say of the launch.
const DEFAULTS: [(&str, i64); 3] = [("num_warps", 4), ("num_stages", 2), ("num_ctas", 1)];
/// Lists have no more combinations than these that are looked at.
const MOST_COMBINATIONS: usize = 1024;

impl Tuned {
    /// `None`: it is no such file.
    pub fn from_text(text: &str) -> Option<Tuned> {
        match yaml::value(text)? {
            Constant::Dict(operations) => Some(Tuned { operations }),
            _ => None,
        }
    }

    /// The configurations of an operation, as a list for `autotune`; `None` where the file has none.
    pub fn configurations(&self, operation: &str) -> Option<Constant> {
        let rows = list(entry(&self.operations, operation)?).filter(|rows| !rows.is_empty())?;
        let all = rows.iter().flat_map(|row| match row {
            Constant::Dict(row) if entry(row, "gen").is_some() => combinations(row),
            Constant::Dict(row) => vec![stated(row)],
            _ => vec![not_read()],
        });
        Some(Constant::List(all.collect()))
    }
}

/// Of a key that stands there twice, the last.
fn entry<'e>(entries: &'e [(Constant, Constant)], name: &str) -> Option<&'e Constant> {
    entries.iter().rev().find(|(key, _)| matches!(key, Constant::Str(key) if key == name)).map(|(_, value)| value)
}

fn list(value: &Constant) -> Option<&[Constant]> {
    if let Constant::List(values) = value { Some(values) } else { None }
}

fn not_read() -> Constant {
    Constant::Unknown(Reason::new(format!("a configuration in `{FILE}` that tilefit does not read")))
}

/// `{META: {BLOCK_M: 64}, num_warps: 8}`
fn stated(row: &[(Constant, Constant)]) -> Constant {
    match entry(row, "META") {
        Some(Constant::Dict(meta)) => made(meta, row),
        _ => not_read(),
    }
}

fn made(meta: &[(Constant, Constant)], options: &[(Constant, Constant)]) -> Constant {
    let values = Argument { keyword: None, value: Constant::Dict(meta.iter().cloned().collect()) };
    let option = |(name, default): &(&str, i64)| Argument {
        keyword: Some((*name).to_owned()),
        value: entry(options, name).cloned().unwrap_or(Constant::Int(*default)),
    };
    configuration(&[values].into_iter().chain(DEFAULTS.iter().map(option)).collect::<Vec<_>>())
}

/// `{gen: true, param_map: {META: {BLOCK_M: block_m}, num_warps: warps}, block_m: [64, 128], warps: [4, 8]}`: each combination, the last first.
fn combinations(row: &[(Constant, Constant)]) -> Vec<Constant> {
    let all = || {
        let Constant::Dict(of) = entry(row, "param_map")? else { return None };
        let meta = entry(of, "META")?;
        let options = of
            .iter()
            .filter(|(name, _)| *name != Constant::Str("META".to_owned()))
            .map(|(name, list)| (Place::Option(name), list));
        let places: Vec<(Place<'_>, &Constant)> = match meta {
            Constant::Dict(meta) => meta.iter().map(|(name, list)| (Place::Meta(name), list)).collect(),
            whole => vec![(Place::WholeMeta, whole)],
        };
        let mut ways = vec![Way::default()];
        for (place, of) in places.into_iter().chain(options) {
            let values = match of {
                Constant::Str(name) => list(entry(row, name)?)?,
                Constant::List(values) => values,
                Constant::Int(_) => std::slice::from_ref(of),
                _ => return None,
            };
            if ways.len().checked_mul(values.len())? > MOST_COMBINATIONS {
                return None;
            }
            let longer = ways.iter().flat_map(|way| values.iter().rev().map(|value| way.with(&place, value)));
            ways = longer.collect::<Option<_>>()?;
        }
        Some(ways.iter().map(|way| made(&way.meta, &way.options)).collect())
    };
    all().unwrap_or_else(|| vec![not_read()])
}

/// Where a value of a list goes.
enum Place<'a> {
    Meta(&'a Constant),
    WholeMeta,
    Option(&'a Constant),
}

#[derive(Clone, Default)]
struct Way {
    meta: Vec<(Constant, Constant)>,
    options: Vec<(Constant, Constant)>,
}

impl Way {
    fn with(&self, place: &Place<'_>, value: &Constant) -> Option<Way> {
        let mut way = self.clone();
        match (place, value) {
            (Place::Meta(name), value) => way.meta.push(((*name).clone(), value.clone())),
            (Place::WholeMeta, Constant::Dict(meta)) => way.meta = meta.iter().cloned().collect(),
            (Place::WholeMeta, _) => return None,
            (Place::Option(name), value) => way.options.push(((*name).clone(), value.clone())),
        }
        Some(way)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::configuration::Config;
    use super::*;

    fn check(text: &str, expected: Expect) {
        let shown = |config: &Constant| match (config, config.get::<Config>()) {
            (_, Some(config)) => {
                let Constant::Dict(values) = &config.values else { return "no values".to_owned() };
                let values = values.iter().map(|(name, value)| format!("{}={}", name.shown(), value.shown()));
                format!("{} {:?}", values.collect::<Vec<_>>().join(" "), config.options.num_warps)
            }
            (Constant::Unknown(reason), None) => reason.to_string(),
            _ => "something else".to_owned(),
        };
        let found = Tuned::from_text(text).and_then(|tuned| tuned.configurations("mm"));
        expected.assert_eq(&match &found {
            Some(Constant::List(all)) => all.iter().map(shown).collect::<Vec<_>>().join("\n"),
            _ => "none".to_owned(),
        });
    }

    #[test]
    fn rows_and_lists() {
        check(
            "mm:\n  - META:\n      BLOCK_M: 64\n      FLAG: true\n    num_warps: 8\n  - META: {BLOCK_M: 32}\n",
            expect![[r#"
                "BLOCK_M"=64 "FLAG"=True Some(8)
                "BLOCK_M"=32 Some(4)"#]],
        );
        check(
            "mm:\n- gen: true\n  param_map:\n    META: {BLOCK_M: m, BLOCK_N: n}\n    num_warps: w\n  m: [16, 32]\n  n: [64]\n  w: [4, 8]\n",
            expect![[r#"
                "BLOCK_M"=32 "BLOCK_N"=64 Some(8)
                "BLOCK_M"=32 "BLOCK_N"=64 Some(4)
                "BLOCK_M"=16 "BLOCK_N"=64 Some(8)
                "BLOCK_M"=16 "BLOCK_N"=64 Some(4)"#]],
        );
        check(
            "mm:\n- {gen: true, param_map: {META: metas, num_warps: 2}, metas: [{A: 1}, {A: 2}]}\n",
            expect![[r#"
                "A"=2 Some(2)
                "A"=1 Some(2)"#]],
        );
    }

    #[test]
    fn what_is_no_table() {
        check("mm: 3", expect!["none"]);
        check("- a", expect!["none"]);
        check("other:\n- META: {}\n", expect!["none"]);
        check("mm: 3\nmm:\n- META: {A: 1}\n", expect![[r#""A"=1 Some(4)"#]]);
        check(
            "mm:\n- [1]\n- {META: 3}\n- {gen: true, param_map: {META: {A: lost}}}\n",
            expect![[r#"
            a configuration in `tune_configs.yaml` that tilefit does not read
            a configuration in `tune_configs.yaml` that tilefit does not read
            a configuration in `tune_configs.yaml` that tilefit does not read"#]],
        );
    }
}
