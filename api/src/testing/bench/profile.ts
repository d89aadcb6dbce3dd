import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

/** Of V8: times in microseconds of the monotonic clock. */
interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface TimeShare {
  readonly what: string;
  /** Of the time that the thread was busy. */
  readonly percent: number;
}

/**
 * Where a process was busy between two moments (`process.hrtime.bigint()`), by what `--cpu-prof`
 * left in the folder: functions by their own time, and packages.
 */
export function findBusiest(
  folder: string,
  fromNanoseconds: bigint,
  toNanoseconds: bigint,
): { readonly functions: readonly TimeShare[]; readonly packages: readonly TimeShare[] } {
  const functions = new Map<string, number>();
  const packages = new Map<string, number>();
  let busyMicroseconds = 0;
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".cpuprofile"))) {
    const profile = JSON.parse(readFileSync(join(folder, name), "utf8")) as Profile;
    const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
    let time = profile.startTime;
    profile.samples.forEach((sample, index) => {
      time += profile.timeDeltas[index] ?? 0;
      const frame = frames.get(sample);
      if (
        frame === undefined ||
        frame.functionName === "(idle)" ||
        BigInt(Math.round(time)) * 1_000n < fromNanoseconds ||
        BigInt(Math.round(time)) * 1_000n > toNanoseconds
      )
        return;
      const duration = profile.timeDeltas[index + 1] ?? 0;
      busyMicroseconds += duration;
      const location = getLocation(frame.url);
      const label =
        location === ""
          ? frame.functionName
          : `${frame.functionName || "(anonymous)"} ${location}:${String(frame.lineNumber + 1)}`;
      functions.set(label, (functions.get(label) ?? 0) + duration);
      const packageName = getPackageName(frame);
      packages.set(packageName, (packages.get(packageName) ?? 0) + duration);
    });
  }
  const toTimeShares = (times: ReadonlyMap<string, number>): TimeShare[] =>
    [...times]
      .sort(([, a], [, b]) => b - a)
      .map(([what, time]) => ({ what, percent: (100 * time) / busyMicroseconds }));
  return { functions: toTimeShares(functions), packages: toTimeShares(packages) };
}

function getLocation(url: string): string {
  const path = url.replace(/^file:\/\//, "");
  return path.includes("/node_modules/")
    ? path.slice(path.lastIndexOf("/node_modules/") + "/node_modules/".length)
    : path.replace(/^.*\/(?=(api|shared)\/src\/)/, "");
}

/** The package that a function belongs to; what has no file is V8's or the system's. */
function getPackageName({ url, functionName }: ProfileNode["callFrame"]): string {
  const location = getLocation(url);
  if (location === "") return functionName.startsWith("(") ? functionName : "(native)";
  if (location.startsWith("node:")) return "node";
  return location
    .split("/")
    .slice(0, location.startsWith("@") || /^(api|shared)\//.test(location) ? 2 : 1)
    .join("/");
}
