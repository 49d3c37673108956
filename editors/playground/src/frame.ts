/** The inside of the frame with the memory map: the panel of the VS Code extension, with this page in the place of VS Code. */

import "./frameHost";
import "../../vscode/webview/map";
