/** The table of the configurations of a kernel, as far as it needs no editor. */

/** What a configuration takes on a device. */
export interface OnDevice {
  /** Bytes of shared memory, at least and at most; null where nothing bounds it. */
  low: number;
  high: number | null;
  capacity: number;
  /** Of tensor memory, at least. */
  columns: number;
  verdict: "fits" | "exceeds" | "depends" | "refused" | "unknown";
  /** The parameter without a value for which it is not known. */
  needs?: string;
  /** That the shared memory of a multiprocessor holds at once. */
  blocks: number | null;
  /** The compiler says so, and it is among what was predicted. */
  confirmed: boolean;
  /** The author's own run said so, of this very text. */
  recorded: boolean;
  /** What was predicted, where the compiler says something that this rules out; all else is the compiler's. */
  predicted?: { low: number; high: number | null; verdict: OnDevice["verdict"] };
  /** What it takes as machine code, where the compiler was asked for that. */
  machine?: MachineCode;
}

export interface MachineCode {
  /** The assembler. */
  by: string;
  /** Of a thread. */
  registers: number;
  /** Of a thread: bytes, of AMD registers. */
  spills: { stored: number; loaded: number } | { registers: number };
  /** How many blocks a multiprocessor runs at once, and what leaves no room for another. */
  occupancy: { blocks: number; limits: string[] } | null;
}

export interface Configuration {
  values: Record<string, string>;
  /** The plan of the kernel and its errors are of this one. */
  selected: boolean;
  /** A way to give what the configuration before leaves open; written by nobody. */
  possible?: boolean;
  /** One for each device; null where too many others came before. */
  on: (OnDevice | null)[];
  /** The devices on which host code does not launch it. */
  not_on?: string[];
}

export interface KernelConfigurations {
  kernel: string;
  /** Of its name, from 1. */
  line: number;
  /** The kernel's own first. */
  devices: string[];
  /** How many fit each device, in words. */
  summary: string;
  /** What nothing says and the numbers rest on, a sentence each. */
  assumes?: string[];
  configurations: Configuration[];
}

export interface ConfigurationsAnswer {
  version: number;
  kernels: KernelConfigurations[];
}

/** `device` is an index into the devices of the kernel. */
export type Column = { id: string; title: string } & (
  | { kind: "value" }
  | { kind: "bytes" | "registers" | "blocks"; device: number }
);

export interface Sort {
  /** The `id` of a column; the column may be gone after an edit. */
  column: string;
  descending: boolean;
}

/**
 * The kernel to show for a line (from 0): of those with the `name` that was shown before, the nearest; else the last one
 * that starts at or above the line, else the first.
 */
export function kernelAt(kernels: KernelConfigurations[], line: number, name?: string): KernelConfigurations | undefined {
  const far = (kernel: KernelConfigurations): number => Math.abs(kernel.line - 1 - line);
  const [named] = kernels.filter(({ kernel }) => kernel === name).sort((a, b) => far(a) - far(b));
  const inOrder = [...kernels].sort((a, b) => a.line - b.line);
  return named ?? inOrder.findLast((kernel) => kernel.line - 1 <= line) ?? inOrder[0];
}

export function columnsOf(kernel: KernelConfigurations): Column[] {
  const names = Object.keys(kernel.configurations[0]?.values ?? {});
  const values = names.map((name): Column => ({ id: `value ${name}`, title: name, kind: "value" }));
  const devices = kernel.devices.flatMap((name, device) => {
    const isAssembled = kernel.configurations.some(({ on }) => on[device]?.machine);
    const kinds = ["bytes", ...(isAssembled ? (["registers"] as const) : []), "blocks"] as const;
    return kinds.map((kind): Column => ({ id: `${kind} ${name}`, title: kind, kind, device }));
  });
  return [...values, ...devices];
}

export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

/** `98,304`, `65,536 – 98,304`, `≤ 98,304`, `≥ 98,304`; empty where nothing is known. */
export function bytesText(on: Pick<OnDevice, "low" | "high"> | null): string {
  if (!on || (on.high === null && on.low === 0)) {
    return "";
  }
  if (on.high === null) {
    return `≥ ${grouped(on.low)}`;
  }
  if (on.low === 0 && on.high > 0) {
    return `≤ ${grouped(on.high)}`;
  }
  return on.low === on.high ? grouped(on.high) : `${grouped(on.low)} – ${grouped(on.high)}`;
}

/** Why there is no number of blocks is said in its place, so that no verdict is told by its colour alone. */
export function blocksText(on: OnDevice | null, isLaunched = true): string {
  if (!isLaunched) {
    return "not launched";
  }
  if (!on) {
    return "not surveyed";
  }
  if (bytesText(on) === "" && on.needs !== undefined) {
    return `needs ${on.needs}`;
  }
  const occupancy = on.machine?.occupancy;
  if (occupancy && on.verdict === "fits") {
    const limits = occupancy.limits.map((limit) => (limit === "shared memory" ? "SMEM" : limit));
    return `${grouped(occupancy.blocks)} (${limits.join(", ")})`;
  }
  return on.blocks === null ? on.verdict : grouped(on.blocks);
}

/** `255, 1,792 B spilled`, `168` */
export function registersText(machine: MachineCode | undefined): string {
  const spilled = machine && spillsText(machine);
  return machine ? `${machine.registers}${spilled ? `, ${spilled}` : ""}` : "";
}

function spillsText({ spills }: MachineCode): string | undefined {
  const [amount, unit] = "stored" in spills ? [spills.stored, " B"] : [spills.registers, ""];
  return amount > 0 ? `${grouped(amount)}${unit} spilled` : undefined;
}

/** `255 registers, 1,792 B spilled by ptxas 13.4.59` */
function machineText(machine: MachineCode): string {
  return `${machine.registers} registers, ${spillsText(machine) ?? "no spills"} by ${machine.by}`;
}

/** Per cent of the capacity: of the most that it may take, where that is known. */
export function percent({ low, high, capacity }: OnDevice): number {
  return capacity > 0 ? Math.round((100 * (high ?? low)) / capacity) : 0;
}

/** The numbers of a cell in words. */
export function detail(on: OnDevice | null, device: string, isLaunched = true): string {
  if (!isLaunched) {
    return `${device}: not launched`;
  }
  if (!on) {
    return `${device}: not surveyed, there are too many configurations`;
  }
  const share = bytesText(on) === "" ? "" : `${on.high === null ? "at least " : ""}${percent(on)} % of `;
  const columns = on.columns > 0 ? `, ${grouped(on.columns)} columns of tensor memory` : "";
  const predicted = on.predicted ? `; the compiler contradicts the prediction of ${bytesText(on.predicted)} bytes` : "";
  const machine = on.machine ? `; ${machineText(on.machine)}` : "";
  return `${device}: ${on.verdict}, ${share}${grouped(on.capacity)} bytes${columns}${predicted}${machine}`;
}

/** `9 of 12 fit sm_90, 1 depends; 4 of 12 fit sm_86`, and how many of them the compiler contradicts. */
export function caption({ summary, configurations }: KernelConfigurations): string {
  const contradicted = configurations.flatMap(({ on }) => on).filter((on) => on?.predicted).length;
  return [summary, ...(contradicted > 0 ? [`the compiler contradicts ${contradicted}`] : [])].join("; ");
}

/** A click on a head: ascending, then descending, then as in the source. */
export function nextSort(sort: Sort | undefined, column: string): Sort | undefined {
  if (sort?.column !== column) {
    return { column, descending: false };
  }
  return sort.descending ? undefined : { column, descending: true };
}

/** As in the source without a sort. What is not known comes last in both directions. */
export function sorted(kernel: KernelConfigurations, sort: Sort | undefined): Configuration[] {
  const column = columnsOf(kernel).find(({ id }) => id === sort?.column);
  if (!column || !sort) {
    return kernel.configurations;
  }
  const sign = sort.descending ? -1 : 1;
  return [...kernel.configurations].sort((a, b) => {
    const [left, right] = [sortKey(a, column), sortKey(b, column)];
    if (left === undefined || right === undefined) {
      return Number(left === undefined) - Number(right === undefined);
    }
    return sign * compared(left, right);
  });
}

function sortKey(row: Configuration, column: Column): number | string | undefined {
  if (column.kind === "value") {
    const text = row.values[column.title];
    return text === undefined || text.trim() === "" || Number.isNaN(Number(text)) ? text || undefined : Number(text);
  }
  const on = row.on[column.device];
  if (!on) {
    return undefined;
  }
  if (column.kind === "registers") {
    return on.machine?.registers;
  }
  if (column.kind === "blocks") {
    return on.machine?.occupancy?.blocks ?? on.blocks ?? undefined;
  }
  return bytesText(on) === "" ? undefined : (on.high ?? Infinity);
}

/** Numbers by number, and before text. */
function compared(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") {
    return a === b ? 0 : a - b;
  }
  return typeof a === typeof b ? String(a).localeCompare(String(b)) : typeof a === "number" ? -1 : 1;
}

/** What `tilefit configs --format csv` prints of a kernel, with the rows in an order of its own. */
export function csv(file: string, kernel: KernelConfigurations, rows: Configuration[]): string {
  const head = "file,line,kernel,configuration,device,low,high,capacity,columns,verdict,blocks,confirmed";
  const lines = rows.flatMap(({ values, on }) => {
    const configuration = Object.entries(values).map((pair) => pair.join("=")).join(" ");
    return kernel.devices.flatMap((device, nth) => {
      const it = on[nth];
      if (!it) {
        return [];
      }
      const { low, high, capacity, columns, verdict, blocks, confirmed } = it;
      const cells = [file, kernel.line, kernel.kernel, configuration, device, low, high, capacity, columns, verdict, blocks, confirmed];
      return [cells.map((cell) => quoted(String(cell ?? ""))).join(",")];
    });
  });
  return [head, ...lines, ""].join("\n");
}

/** A field of RFC 4180. */
function quoted(cell: string): string {
  return /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
