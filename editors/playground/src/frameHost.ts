/** What VS Code gives to the pages of its panels, and what is used of it. */

const dark = matchMedia("(prefers-color-scheme: dark)");
const dress = (): void => {
  document.body.className = dark.matches ? "vscode-dark" : "vscode-light";
};
dark.addEventListener("change", dress);
dress();

Object.assign(globalThis, {
  acquireVsCodeApi: () => ({ postMessage: (message: unknown) => parent.postMessage(message, location.origin) }),
});
