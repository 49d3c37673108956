//! The binary `tilefit` as a user has it, of the package `server`.

use std::path::Path;
use std::sync::OnceLock;

use escargot::CargoBuild;
use escargot::format::Message;

/// Where it lies, built anew where the sources have changed, in the profile of the tests.
pub fn tilefit() -> &'static Path {
    static BINARY: OnceLock<Box<Path>> = OnceLock::new();
    BINARY.get_or_init(|| {
        // Beside a test, with the features that all tests are built with: nothing is compiled a second time. With it come other binaries.
        let build = CargoBuild::new().args(["--workspace", "--test", "all"]).bin("tilefit").current_release();
        let messages = build.exec().expect("cargo is there").map(|message| message.expect("`tilefit` builds"));
        let executables = messages.filter_map(|message| match message.decode() {
            Ok(Message::CompilerArtifact(artifact)) if artifact.target.name == "tilefit" => {
                artifact.executable.map(|path| path.into_owned())
            }
            _ => None,
        });
        executables.last().expect("`tilefit` builds").into()
    })
}
