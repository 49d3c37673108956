import { NotificationType, RequestType } from "vscode-languageclient";
import type { Position, Range, TextDocumentIdentifier, TextDocumentPositionParams } from "vscode-languageclient";

import type { ConfigurationsAnswer } from "./configurationsModel";
import type { MemoryMapAnswer, Scale } from "./mapModel";

/** The C++ of one kernel, and which of its lines come from where in the source. */
export interface GeneratedCodeResult {
  kernel: string;
  language: "cpp";
  text: string;
  /** Of the source document, when the text was made. */
  version: number;
  map: { generatedLine: number; range: Range }[];
  /** What the text lacks, where the diagnostics of the source do not say it. */
  gaps: { range: Range; code: string; message: string }[];
}

/** The C++ of the kernel at a position, else of the nearest; null in a file without kernels. */
export const generatedCode = new RequestType<TextDocumentPositionParams, GeneratedCodeResult | null, void>(
  "tilefit/generatedCode",
);

/** The IR of one kernel: after memory is allocated, or after each step of the compiler. */
export interface KernelIrResult {
  kernel: string;
  language: "python" | "mlir";
  text: string;
  /** Of the source document, when the text was made. */
  version: number;
  map: { generatedLine: number; range: Range }[];
}

/** The allocated IR of the kernel at a position, else of the nearest; null in a file without kernels. */
export const allocatedIr = new RequestType<TextDocumentPositionParams, KernelIrResult | null, void>(
  "tilefit/allocatedIr",
);

/** The MLIR of the TLX kernel around a position; null where there is none. */
export const loweredIr = new RequestType<TextDocumentPositionParams, KernelIrResult | null, void>("tilefit/loweredIr");

export type { Position };

export interface MemoryMapParams extends TextDocumentPositionParams {
  planner: string | undefined;
  target: string | undefined;
  picture: { kind: "html"; width: number; height: number; scale: Scale } | undefined;
}

export type MemoryMapChanged = MemoryMapAnswer & { uri: string };

/** The map of the kernel at a position, else of the nearest; null in a file without kernels. */
export const memoryMap = new RequestType<MemoryMapParams, MemoryMapAnswer | null, void>("tilefit/memoryMap");

/** From now on the server sends the map after every edit; without a position, no longer. */
export const watchMemoryMap = new NotificationType<MemoryMapParams | { textDocument: TextDocumentIdentifier }>(
  "tilefit/watchMemoryMap",
);

export const memoryMapChanged = new NotificationType<MemoryMapChanged>("tilefit/memoryMapChanged");

/** What every configuration of the kernels of a file takes on each device; asked again when an edit overtakes it. */
export const configurations = new RequestType<{ textDocument: TextDocumentIdentifier }, ConfigurationsAnswer, void>(
  "tilefit/configurations",
);

/** What each kernel of a file is planned for, in text order: it need not be what the settings say. */
export interface KernelPlannedFor {
  kernel: string;
  /** Of its function. */
  range: Range;
  /** The machine: `sm_90`, `ascend910b`. */
  target: string;
  planner: string;
  /** Nothing names the machine. */
  assumed: boolean;
}

export const plannedFor = new RequestType<
  { textDocument: TextDocumentIdentifier },
  { version: number; kernels: KernelPlannedFor[] },
  void
>("tilefit/plannedFor");

/** What client, project and defaults come to. Sent at the start and after every change to clients that can `tilefitSettings`. */
export interface SettingsInForce {
  target: string;
  planner: string;
  /** The GPU of TLX kernels. */
  arch: string;
  from: { target: SettingSource; planner: SettingSource; arch: SettingSource };
}

export type SettingSource = "default" | "settings" | "tilefit.toml" | "pyproject.toml";

export const settingsInForce = new NotificationType<SettingsInForce>("tilefit/settings");
