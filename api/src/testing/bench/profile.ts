import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Frame {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

/** Of V8: times in microseconds of the monotonic clock. */
interface Profile {
  readonly nodes: readonly Frame[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface Share {
  readonly what: string;
  /** Of the time that the thread was busy. */
  readonly percent: number;
}

/**
 * Where a process was busy between two moments (`process.hrtime.bigint()`), by what `--cpu-prof`
 * left in the folder: functions by their own time, and packages.
 */
export function busiest(
  folder: string,
  from: bigint,
  to: bigint,
): { readonly functions: readonly Share[]; readonly packages: readonly Share[] } {
  const functions = new Map<string, number>();
  const packages = new Map<string, number>();
  let busy = 0;
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".cpuprofile"))) {
    const profile = JSON.parse(readFileSync(join(folder, name), "utf8")) as Profile;
    const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
    let at = profile.startTime;
    profile.samples.forEach((sample, index) => {
      at += profile.timeDeltas[index] ?? 0;
      const frame = frames.get(sample);
      if (
        frame === undefined ||
        frame.functionName === "(idle)" ||
        BigInt(Math.round(at)) * 1_000n < from ||
        BigInt(Math.round(at)) * 1_000n > to
      )
        return;
      const lasted = profile.timeDeltas[index + 1] ?? 0;
      busy += lasted;
      const where = placeOf(frame.url);
      const what =
        where === ""
          ? frame.functionName
          : `${frame.functionName || "(anonymous)"} ${where}:${String(frame.lineNumber + 1)}`;
      functions.set(what, (functions.get(what) ?? 0) + lasted);
      const owner = ownerOf(frame);
      packages.set(owner, (packages.get(owner) ?? 0) + lasted);
    });
  }
  const shares = (times: ReadonlyMap<string, number>): Share[] =>
    [...times].sort(([, a], [, b]) => b - a).map(([what, time]) => ({ what, percent: (100 * time) / busy }));
  return { functions: shares(functions), packages: shares(packages) };
}

function placeOf(url: string): string {
  const path = url.replace(/^file:\/\//, "");
  return path.includes("/node_modules/")
    ? path.slice(path.lastIndexOf("/node_modules/") + "/node_modules/".length)
    : path.replace(/^.*\/(?=(api|shared)\/src\/)/, "");
}

/** The package that a function belongs to; what has no file is V8's or the system's. */
function ownerOf({ url, functionName }: Frame["callFrame"]): string {
  const place = placeOf(url);
  if (place === "") return functionName.startsWith("(") ? functionName : "(native)";
  if (place.startsWith("node:")) return "node";
  return place
    .split("/")
    .slice(0, place.startsWith("@") || /^(api|shared)\//.test(place) ? 2 : 1)
    .join("/");
}
