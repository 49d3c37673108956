//! What was recorded, as the tests read it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use tilefit_python::eval::Constant;
use tilefit_syntax::ast::FloatBits;

pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/tilelang")
}

pub(crate) fn text(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn json(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap()
}

pub(crate) fn arguments(args: &Value) -> BTreeMap<String, Constant> {
    let Some(args) = args.as_object() else { return BTreeMap::new() };
    args.iter().map(|(name, value)| (name.clone(), constant(value))).collect()
}

fn constant(value: &Value) -> Constant {
    match value {
        Value::Null => Constant::None,
        Value::Bool(value) => Constant::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Constant::Int(number),
            None => Constant::Float(FloatBits::new(number.as_f64().unwrap())),
        },
        // `Tensor([1024, 64], torch.float16)`: its shape.
        Value::String(text) => match text.strip_prefix("Tensor([").and_then(|text| text.split_once(']')) {
            Some((sizes, _)) => {
                let sizes = sizes.split(',').filter_map(|size| size.trim().parse().ok()).map(Constant::Int);
                Constant::Tuple(sizes.collect::<Vec<_>>().into())
            }
            None => Constant::Str(text.clone()),
        },
        Value::Array(items) => Constant::List(items.iter().map(constant).collect::<Vec<_>>().into()),
        Value::Object(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| (Constant::Str(key.clone()), constant(value)));
            Constant::Dict(pairs.collect::<Vec<_>>().into())
        }
    }
}
