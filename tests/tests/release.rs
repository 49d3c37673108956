//! What has the version of the workspace in it has the same one; `docs/releases.md` tells how a release is made.

use std::fs;
use std::path::Path;

#[test]
fn every_place_has_the_version() {
    let version = env!("CARGO_PKG_VERSION");
    let places = [
        ("CHANGELOG.md", format!("\n## [{version}] - ")),
        ("docs/guide/install.md", format!("\"tilefit=={version}\"")),
        ("editors/vscode/package.json", format!("\n  \"version\": \"{version}\"")),
        ("editors/vscode/package-lock.json", format!("\n  \"version\": \"{version}\"")),
        ("editors/zed/Cargo.toml", format!("\nversion = \"{version}\"")),
        ("editors/zed/extension.toml", format!("\nversion = \"{version}\"")),
        ("packaging/conda-forge/recipe.yaml", format!("\n  version: \"{version}\"")),
        ("packaging/homebrew/tilefit.rb", format!("/tags/v{version}.tar.gz\"")),
        ("packaging/mason/package.yaml", format!("pkg:pypi/tilefit@{version}\n")),
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (file, version) in places {
        let text = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(text.contains(&version), "{file} does not have {version:?}");
    }
}
