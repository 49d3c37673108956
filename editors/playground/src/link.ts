/** Links that carry a kernel. It is in the part of the address that no browser sends to a server. */

export interface Shared {
  text: string;
  target?: string;
  planner?: string;
}

/** Characters of a text that is taken from a link: a link of a few bytes must not fill the memory. */
const LONGEST = 1_000_000;

const NAME = "kernel";

/** The fragment of the address, with `#`. */
export async function toFragment(shared: Shared): Promise<string> {
  const compressed = new Blob([JSON.stringify(shared)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(compressed).arrayBuffer());
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return `#${NAME}=${base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** Undefined if the address carries no kernel; throws if it carries what is none. */
export async function fromFragment(fragment: string): Promise<Shared | undefined> {
  const carried = new URLSearchParams(fragment.replace(/^#/, "")).get(NAME);
  if (carried === null) {
    return undefined;
  }
  const bytes = Uint8Array.from(atob(carried.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  const text = await limited(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")));
  const shared: unknown = JSON.parse(text);
  if (typeof shared !== "object" || shared === null || !("text" in shared) || typeof shared.text !== "string") {
    throw new Error("there is no text in it");
  }
  const named = (key: "target" | "planner"): string | undefined => {
    const value = (shared as Record<string, unknown>)[key];
    return typeof value === "string" ? value : undefined;
  };
  return { text: shared.text, target: named("target"), planner: named("planner") };
}

async function limited(stream: ReadableStream<Uint8Array>): Promise<string> {
  const [reader, decoder] = [stream.getReader(), new TextDecoder()];
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return text + decoder.decode();
    }
    text += decoder.decode(value, { stream: true });
    if (text.length > LONGEST) {
      await reader.cancel();
      throw new Error("its text is too long");
    }
  }
}
