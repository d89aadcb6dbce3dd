import { PortalError } from "@relicario/shared/errors";

import { GateReason, GateVerdict, type Engine, type GateReport, type Sketch } from "@relicario/engine";
import { concatBytes, copyOf, equalBytes, sha256, utf8 } from "../seal/bytes.ts";

/**
 * Creates a fast, deterministic engine without pixels, for tests of the operations. A picture is
 * the text `photo:<subject>`. Anything after a `/` is a changed copy of it (`photo:market/small`),
 * and `/cropped` changes too much to recover. A subject that begins with `plain-` is refused, with
 * `marginal-` is marginal, with `pale-` is marginal once its copies were tested.
 */
export function createFakeEngine(): Engine & { readonly calls: string[] } {
  const calls: string[] = [];
  const recordCall = (call: string, signal: AbortSignal | undefined): void => {
    calls.push(call);
    if (signal?.aborted === true) throw new PortalError("cancelled");
  };
  return {
    calls,
    inspect: (picture, options) =>
      runAsync(() => {
        recordCall(options?.selfTest === true ? "inspect with copies" : "inspect", options?.signal);
        const gate = buildGateReport(parsePicture(picture).subject);
        return options?.selfTest === true ? addCopyTest(gate, parsePicture(picture).subject) : gate;
      }),
    enrol: (picture, knownSketches, options) =>
      runAsync(() => {
        recordCall(`enrol against ${String(knownSketches.length)}`, options?.signal);
        const { subject, cropped } = parsePicture(picture);
        const index = knownSketches.findIndex((sketch) => isSketchOf(sketch, subject));
        const gate = buildGateReport(subject);
        if (index === -1 && gate.verdict === GateVerdict.refused)
          throw new PortalError("picture_too_plain", { details: { reasons: gate.reasons } });
        const match =
          index === -1 ? null : { index, score: 0.5, imageSecretBytes: cropped ? null : computeImageSecret(subject) };
        return {
          gate: match === null ? addCopyTest(gate, subject) : gate,
          sketch: createFakeSketch(subject),
          imageSecretBytes: computeImageSecret(subject),
          knownPicture: match,
        };
      }),
    recover: (picture, sketches, options) =>
      runAsync(() => {
        recordCall(`recover among ${String(sketches.length)}`, options?.signal);
        const { subject, cropped } = parsePicture(picture);
        const index = sketches.findIndex((sketch) => isSketchOf(sketch, subject));
        if (index === -1) return { outcome: "not_this_picture" as const, score: 0.1 };
        if (cropped) return { outcome: "too_many_errors" as const, index, score: 0.3 };
        return {
          outcome: "recovered" as const,
          index,
          imageSecretBytes: computeImageSecret(subject),
          errors: 3,
          score: 0.5,
        };
      }),
  };
}

export function fakePicture(name: string): Blob {
  return new Blob([`photo:${name}`]);
}

export function createFakeSketch(subject: string): Sketch {
  const noise = Array.from({ length: 11 }, (_, index) => sha256(utf8(`sketch ${String(index)} of ${subject}`)));
  const bytes = concatBytes(...noise).subarray(0, 342);
  bytes[255] = (bytes[255] ?? 0) & 0x7f;
  bytes[341] = (bytes[341] ?? 0) & 0x03;
  return { choice: copyOf(bytes.subarray(0, 256)), syndrome: copyOf(bytes.subarray(256)) };
}

function computeImageSecret(subject: string): Uint8Array {
  return sha256(utf8(`secret of ${subject}`));
}

function isSketchOf(sketch: Sketch, subject: string): boolean {
  return equalBytes(sketch.choice, createFakeSketch(subject).choice);
}

function parsePicture(picture: Uint8Array): { subject: string; cropped: boolean } {
  const text = new TextDecoder().decode(picture);
  if (!text.startsWith("photo:")) throw new PortalError("picture_unreadable", { details: { reason: "not_a_picture" } });
  const [subject = "", change] = text.slice("photo:".length).split("/");
  return { subject, cropped: change === "cropped" };
}

function buildGateReport(subject: string): GateReport {
  const verdict = subject.startsWith("plain-")
    ? GateVerdict.refused
    : subject.startsWith("marginal-")
      ? GateVerdict.marginal
      : GateVerdict.good;
  const reasons = verdict === GateVerdict.good ? [] : (["estimate"] as const);
  const refusalReasons = verdict === GateVerdict.refused ? reasons : [];
  const measures = { coverage: 0.9, spread: 90, median: 9, tenth: 3, peak: 4, slope: -1, estimate: 0.8 };
  return { verdict, reasons, refusalReasons, width: 3000, height: 2000, measures };
}

function addCopyTest(gate: GateReport, subject: string): GateReport {
  return subject.startsWith("pale-")
    ? { ...gate, verdict: GateVerdict.marginal, reasons: [GateReason.copyBright] }
    : gate;
}

function runAsync<T>(callback: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(callback());
  });
}
