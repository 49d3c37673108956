/** The inside of the panel of configurations: a table that sorts itself. */

import { blocksText, bytesText, caption, columnsOf, csv, detail, grouped, nextSort, percent, registersText, sorted } from "../src/configurationsModel";
import type { Column, Configuration, KernelConfigurations, Sort } from "../src/configurationsModel";
import type { FromConfigurations, ToConfigurations } from "../src/panelMessages";

interface State {
  sort: Sort | undefined;
}

declare function acquireVsCodeApi(): {
  postMessage(message: FromConfigurations): void;
  getState(): State | undefined;
  setState(state: State): void;
};

const host = acquireVsCodeApi();
const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const main = element("configurations");
const note = element("note");
const select = element<HTMLSelectElement>("kernel");
const copy = element<HTMLButtonElement>("copy");

/** A panel that was hidden starts anew. */
let sort = host.getState()?.sort;
let last: ToConfigurations | undefined;

window.addEventListener("message", ({ data }: MessageEvent<ToConfigurations>) => {
  last = data;
  show(data);
});

function show({ kernels, shown, note: text }: ToConfigurations): void {
  note.textContent = text;
  copy.hidden = !shown;
  offer(kernels, shown);
  const focused = document.activeElement?.getAttribute("data-column");
  main.classList.toggle("old", text !== "");
  main.replaceChildren(...(shown ? [table(shown)] : []));
  keepInSight();
  [...main.querySelectorAll<HTMLElement>("[data-column]")].find((head) => head.dataset.column === focused)?.focus();
}

/** In a narrow panel, the bytes of the last device stay left of the last column. */
function keepInSight(): void {
  const [head] = [...main.querySelectorAll<HTMLElement>("thead tr:last-child th")].slice(-1);
  main.style.setProperty("--last-column", `${head?.offsetWidth ?? 0}px`);
}

/** Two kernels may have one name. */
function offer(kernels: ToConfigurations["kernels"], shown: KernelConfigurations | undefined): void {
  (select.parentElement as HTMLElement).hidden = kernels.length < 2;
  // An open list must not lose its entries to an answer that has the same.
  const names = kernels.map(({ kernel, line }) => `${kernel} (line ${line})`);
  if ([...select.options].map((option) => option.text).join("\n") !== names.join("\n")) {
    select.replaceChildren(...names.map((name, nth) => new Option(name, String(nth))));
  }
  select.value = String(kernels.findIndex((it) => it.kernel === shown?.kernel && it.line === shown.line));
}

function table(kernel: KernelConfigurations): HTMLTableElement {
  const columns = columnsOf(kernel);
  const head = make("thead", {}, [deviceHeads(kernel, columns), columnHeads(kernel, columns)]);
  const rows = sorted(kernel, sort).map((row) => line(kernel, columns, row));
  const assumes = (kernel.assumes ?? []).map((assumed) => make("div", { class: "assumed" }, [`Assumed: ${assumed}`]));
  return make("table", {}, [make("caption", {}, [caption(kernel), ...assumes]), head, make("tbody", {}, rows)]) as HTMLTableElement;
}

function deviceHeads(kernel: KernelConfigurations, columns: Column[]): HTMLElement {
  const values = columns.filter(({ kind }) => kind === "value").length;
  const heads = kernel.devices.map((device, nth) => {
    const capacity = kernel.configurations.find(({ on }) => on[nth])?.on[nth]?.capacity;
    const size = capacity === undefined ? "" : `, ${grouped(capacity)} bytes`;
    const columnsOfIt = columns.filter((column) => column.kind !== "value" && column.device === nth).length;
    return make("th", { colspan: String(columnsOfIt), scope: "colgroup", class: "device" }, [device, make("small", {}, [size])]);
  });
  return make("tr", {}, [make("td", { colspan: String(values + 1) }, []), ...heads]);
}

function columnHeads(kernel: KernelConfigurations, columns: Column[]): HTMLElement {
  const heads = columns.map((column) => {
    const order = sort?.column !== column.id ? "none" : sort.descending ? "descending" : "ascending";
    const arrow = { none: "", ascending: " ▲", descending: " ▼" }[order];
    const name = column.kind === "value" ? column.title : `${column.title}, ${kernel.devices[column.device]}`;
    const button = make("button", { "data-column": column.id, "aria-label": name, title: `Sort by ${name}` }, [column.title, arrow]);
    button.addEventListener("click", () => {
      sort = nextSort(sort, column.id);
      host.setState({ sort });
      if (last) {
        show(last);
      }
    });
    return make("th", { scope: "col", "aria-sort": order, class: classOf(kernel, column) }, [button]);
  });
  return make("tr", {}, [make("td", {}, []), ...heads]);
}

function classOf(kernel: KernelConfigurations, column: Column): string {
  const isLast = column.kind === "bytes" && column.device === kernel.devices.length - 1;
  return isLast ? "bytes last" : column.kind;
}

/** It has the verdict of the kernel's own device, and the cells of others have theirs. */
function line(kernel: KernelConfigurations, columns: Column[], row: Configuration): HTMLElement {
  const mark = row.selected ? [sign("▸", "shown: the plan and the errors of the kernel are of this one")] : [];
  const cells = columns.map((column) => cell(kernel, row, column));
  const of = { class: `${row.on[0]?.verdict ?? "unknown"}${row.selected ? " selected" : ""}`, "aria-current": String(row.selected) };
  return make("tr", of, [make("td", { class: "mark" }, mark), ...cells]);
}

function cell(kernel: KernelConfigurations, row: Configuration, column: Column): HTMLElement {
  if (column.kind === "value") {
    return make("td", { class: "value" }, [row.values[column.title] ?? ""]);
  }
  const on = row.on[column.device] ?? null;
  const device = kernel.devices[column.device] ?? "";
  const isLaunched = !row.not_on?.includes(device);
  const told = { class: `${classOf(kernel, column)} ${on?.verdict ?? "unknown"}`, title: detail(on, device, isLaunched) };
  if (column.kind === "blocks") {
    return make("td", told, [blocksText(on, isLaunched)]);
  }
  if (column.kind === "registers") {
    return make("td", told, [registersText(on?.machine)]);
  }
  const parts: (Node | string)[] = [bytesText(on)];
  if (on) {
    const bar = make("span", { class: "bar", "aria-hidden": "true" }, []);
    // By script: the policy of the page allows no style attributes.
    bar.style.width = `${Math.min(100, percent(on))}%`;
    parts.unshift(bar);
  }
  if (on?.recorded) {
    parts.push(" ", sign("✓", "recorded: the compiler said so when your own run compiled this text"));
  } else if (on?.confirmed) {
    parts.push(" ", sign("✓", "confirmed by the compiler"));
  }
  if (on?.predicted) {
    parts.push(" ", sign("≠", `by the compiler; predicted: ${bytesText(on.predicted)}`));
  }
  return make("td", told, parts);
}

function sign(text: string, title: string): HTMLElement {
  return make("span", { role: "img", title, "aria-label": title }, [text]);
}

function make(tag: string, attributes: Record<string, string>, children: (Node | string)[]): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

select.addEventListener("change", () => {
  const chosen = last?.kernels[Number(select.value)];
  if (chosen) {
    host.postMessage({ type: "kernel", ...chosen });
  }
});
copy.addEventListener("click", () => {
  if (last?.shown) {
    host.postMessage({ type: "copy", csv: csv(last.file, last.shown, sorted(last.shown, sort)) });
  }
});
host.postMessage({ type: "ready" });
