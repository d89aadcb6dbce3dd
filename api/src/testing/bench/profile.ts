import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

/** V8's format: microseconds of the monotonic clock. */
interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface TimeShare {
  readonly label: string;
  /** Of the thread's busy time. */
  readonly percent: number;
}

/**
 * Where a process was busy between two times (`process.hrtime.bigint()`), from the `--cpu-prof`
 * files in the folder: functions by self time, and packages.
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
      .map(([label, time]) => ({ label, percent: (100 * time) / busyMicroseconds }));
  return { functions: toTimeShares(functions), packages: toTimeShares(packages) };
}

function getLocation(url: string): string {
  const path = url.replace(/^file:\/\//, "");
  return path.includes("/node_modules/")
    ? path.slice(path.lastIndexOf("/node_modules/") + "/node_modules/".length)
    : path.replace(/^.*\/(?=(api|shared)\/src\/)/, "");
}

/** The package of a function; without a file it is V8's or the system's. */
function getPackageName({ url, functionName }: ProfileNode["callFrame"]): string {
  const location = getLocation(url);
  if (location === "") return functionName.startsWith("(") ? functionName : "(native)";
  if (location.startsWith("node:")) return "node";
  return location
    .split("/")
    .slice(0, location.startsWith("@") || /^(api|shared)\//.test(location) ? 2 : 1)
    .join("/");
}
