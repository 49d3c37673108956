//! Which open documents may import which files, so that an edit looks at these and not at all that are open.

use std::collections::{HashMap, HashSet};

use tower_lsp::ls_types::Uri;

/// By the names of modules: that of a file is the last word of any import of it. Whether a document imports it indeed, the analysis knows.
#[derive(Default)]
pub(super) struct Importers {
    by_module: HashMap<String, HashSet<Uri>>,
    modules: HashMap<Uri, HashSet<String>>,
    /// Documents whose diagnostics are being computed. What they import is not known yet, or other files than before.
    expected: HashSet<Uri>,
}

impl Importers {
    /// Begins to find out what a document imports.
    pub(super) fn expect(&mut self, uri: Uri) {
        self.expected.insert(uri);
    }

    /// It imports what it did.
    pub(super) fn unexpect(&mut self, uri: &Uri) {
        self.expected.remove(uri);
    }

    /// Says which files the imports of a document, and of what it imports, lead to or may lead to.
    pub(super) fn set<'p>(&mut self, uri: &Uri, paths: impl Iterator<Item = &'p String>) {
        self.expected.remove(uri);
        let modules: HashSet<String> = paths.map(|path| module_of(path).to_owned()).collect();
        if self.modules.get(uri).is_some_and(|known| *known == modules) {
            return;
        }
        self.remove(uri);
        for module in &modules {
            self.by_module.entry(module.clone()).or_default().insert(uri.clone());
        }
        if !modules.is_empty() {
            self.modules.insert(uri.clone(), modules);
        }
    }

    pub(super) fn remove(&mut self, uri: &Uri) {
        self.expected.remove(uri);
        for module in self.modules.remove(uri).unwrap_or_default() {
            let Some(importers) = self.by_module.get_mut(&module) else { continue };
            importers.remove(uri);
            if importers.is_empty() {
                self.by_module.remove(&module);
            }
        }
    }

    /// Documents that may rest on the file at a path; some of them twice.
    pub(super) fn that_may_import(&self, path: &str) -> Vec<Uri> {
        let importers = self.by_module.get(module_of(path)).into_iter().flatten();
        importers.chain(&self.expected).cloned().collect()
    }
}

/// The last word of an import of a file: `rows` for `config/rows.py` and `config/rows/__init__.py`.
fn module_of(path: &str) -> &str {
    let (folder, file) = path.rsplit_once(['/', '\\']).unwrap_or(("", path));
    match file.strip_suffix(".py").unwrap_or(file) {
        "__init__" => folder.rsplit(['/', '\\']).next().unwrap_or_default(),
        module => module,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> Uri {
        text.parse().expect("a URI")
    }

    #[test]
    fn a_document_is_found_by_the_modules_that_it_imports_now() {
        let (mut importers, user) = (Importers::default(), uri("file:///w/user.py"));
        importers.expect(user.clone());
        assert_eq!(importers.that_may_import("/w/any.py"), std::slice::from_ref(&user), "nothing is known of it yet");
        importers.set(&user, ["/w/rows.py".to_owned(), "/w/cols/__init__.py".to_owned()].iter());
        assert_eq!(importers.that_may_import("/w/rows/__init__.py"), std::slice::from_ref(&user));
        assert_eq!(importers.that_may_import("/v/cols.py"), std::slice::from_ref(&user));
        assert!(importers.that_may_import("/w/any.py").is_empty());
        importers.set(&user, ["/w/any.py".to_owned()].iter());
        assert!(importers.that_may_import("/w/rows.py").is_empty());
        importers.remove(&user);
        assert!(importers.by_module.is_empty() && importers.modules.is_empty() && importers.expected.is_empty());
    }
}
