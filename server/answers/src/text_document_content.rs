//! `workspace/textDocumentContent` (LSP 3.18): generated C++ as documents that have no file, and how their URIs name the source.

use ls_types::Uri;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Of documents that the client asks for: `tilefit-cpp:///Program.kernel.cpp?source`.
pub const SCHEME: &str = "tilefit-cpp";

/// The document with the C++ of a kernel.
pub fn uri_of(source: &Uri, kernel: &str) -> Option<Uri> {
    let encode = |text| utf8_percent_encode(text, NON_ALPHANUMERIC);
    format!("{SCHEME}:///{}.cpp?{}", encode(kernel), encode(source.as_str())).parse().ok()
}

/// The source and the kernel of such a document.
pub fn source_of(uri: &Uri) -> Option<(Uri, String)> {
    let (path, source) = uri.as_str().strip_prefix(SCHEME)?.strip_prefix(":///")?.split_once('?')?;
    let decode = |text| percent_decode_str(text).decode_utf8().ok();
    Some((decode(source)?.parse().ok()?, decode(path.strip_suffix(".cpp")?)?.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_uri_names_its_source_and_kernel() {
        for (source, kernel) in [("file:///a/b%20c.py", "Gate.gate"), ("untitled:Untitled-1", "κ.f#1?x")] {
            let source: Uri = source.parse().expect("a URI");
            let content = uri_of(&source, kernel).expect("a URI");
            assert_eq!(source_of(&content), Some((source, kernel.to_owned())));
        }
        let other: Uri = "file:///Gate.gate.cpp?x".parse().expect("a URI");
        assert_eq!(source_of(&other), None);
    }
}
