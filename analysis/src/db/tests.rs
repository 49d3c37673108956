use proptest::prelude::*;
use salsa::Setter;
use tilefit_python::eval;

use super::*;

/// A file of statements, in a database of its own.
struct File {
    db: Database,
    file: SourceFile,
}

impl File {
    fn new(text: &str) -> File {
        let db = Database::default();
        let file = SourceFile::of(&db, "/w/k.py".to_owned(), Document::new(text));
        File { db, file }
    }

    fn write(&mut self, text: &str) {
        self.file.set_document(&mut self.db).to(Document::new(text));
    }

    /// The value of a name of the module, and what it rests on.
    fn value(&self, name: &str) -> String {
        let db: &dyn salsa::Database = &self.db;
        let value = super::scope::constant(db, self.file, None, Name::new(db, name.to_owned()), 0, Default::default());
        let unit = units(db, self.file)[0];
        format!("{:?} {:?}", value, assumptions_of_name(db, unit, name))
    }
}

/// `a{i} = …` in terms of the name that the strategy chose, which may be itself, or one that is not there.
fn module(definitions: &[(usize, u8)]) -> String {
    let line = |(i, &(other, form)): (usize, &(usize, u8))| match form {
        0 => format!("a{i} = {other}\n"),
        1 => format!("a{i} = {{\"k\": a{other}, \"l\": 1}}\n"),
        2 => format!("a{i} = a{other} if a{} else 2\n", other / 2),
        3 => format!("a{i} = int(os.getenv(\"N\", a{other}))\n"),
        _ => format!("a{i} = a{other} + 1\n"),
    };
    "import os\n".to_owned() + &definitions.iter().enumerate().map(line).collect::<String>()
}

/// Mostly the name before, so that chains are long.
fn definitions() -> impl Strategy<Value = Vec<(usize, u8)>> {
    prop::collection::vec((0..24_usize, 0..160_usize, 0..60_u8), 1..160).prop_map(|all| {
        let other = |(i, (far, any, form)): (usize, (usize, usize, u8))| {
            let other = if far == 0 { any } else { i.saturating_sub(1) };
            (other, form)
        };
        all.into_iter().enumerate().map(other).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_value_does_not_depend_on_what_was_asked_before(
        before in definitions(),
        after in definitions(),
        asked in prop::collection::vec(0..160_usize, 1..12),
    ) {
        let mut edited = File::new(&module(&before));
        for name in &asked {
            edited.value(&format!("a{name}"));
        }
        let text = module(&after);
        edited.write(&text);
        for name in &asked {
            let name = format!("a{name}");
            prop_assert_eq!(edited.value(&name), File::new(&text).value(&name), "{} in\n{}", name, text);
        }
    }
}

#[test]
fn long_chains_of_names_end() {
    let chain: String = (1..200).map(|i| format!("a{i} = a{}\n", i - 1)).collect();
    let mut file = File::new(&format!("a0 = 1\n{chain}"));
    assert_eq!(file.value("a63"), "Some(Int(1)) []");
    assert_eq!(
        file.value("a64"),
        r#"Some(Unknown(Reason(Explanation { what: "`a0` is defined through more than 64 other names, or in terms of itself", remedy: None }))) []"#
    );
    (0..200).for_each(|i| drop(file.value(&format!("a{i}"))));
    file.write(&format!("a0 = 2\n{chain}"));
    assert!(file.value("a199").starts_with("Some(Unknown"));
    assert_eq!(file.value("a63"), "Some(Int(2)) []");
}

#[test]
fn names_in_terms_of_themselves_end() {
    for text in [
        "x = x",
        "x = {1: x, 2: x}",
        "
x = y
y = x",
        "
x = [y, z]
y = {1: x, 2: z}
z = (x, y)",
        "
x = f(x)
def f(a):
    return x",
    ] {
        let file = File::new(text);
        assert!(file.value("x").len() > 10, "{text}");
        let db: &dyn salsa::Database = &file.db;
        for &unit in units(db, file.file) {
            let _ = calls::calls(db, unit);
        }
    }
}

#[test]
fn host_code_that_goes_on_without_end_ends() {
    let file = File::new(
        r#"
@pl.jit
def kernel(n):
    pass

def again(n):
    for i in range(1000):
        other(n)
        again(n)

def other(n):
    for i in range(1000):
        again([n, n])

kernel(64)
again(1)
"#,
    );
    let db: &dyn salsa::Database = &file.db;
    let all = units(db, file.file).iter().flat_map(|&unit| calls::calls(db, unit).iter());
    assert!(all.into_iter().any(|call| call.callee == "kernel" && call.args[0].value == eval::Constant::Int(64)));
}

#[test]
fn what_only_the_program_binds_does_not_count_where_the_file_binds_the_name_itself() {
    let file = File::new(
        r#"
ROWS = 64
if __name__ == "__main__":
    ROWS = parse()
    COLS = 8
"#,
    );
    assert_eq!(
        file.value("ROWS"),
        r#"Some(Int(64)) ["the file is imported, so `if __name__ == \"__main__\":` does nothing"]"#
    );
    assert_eq!(
        file.value("COLS"),
        r#"Some(Unknown(Reason(Explanation { what: "`COLS` is assigned only when the file runs as a script", remedy: None }))) []"#
    );
}
