import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { z } from "zod";

import { forgetEarlierRecordKeys, loadServiceSecrets, rotateKey } from "./process-secrets.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relicario-keys-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SessionKeys = z.looseObject({ keys: z.array(z.looseObject({ kid: z.string() })) });

async function readKeys(): Promise<{ session: string[]; record: string[] }> {
  const { SESSION_KEYS, RECORD_KEY } = await loadServiceSecrets(folder, {});
  return {
    session: SessionKeys.parse(JSON.parse(SESSION_KEYS)).keys.map(({ kid }) => kid),
    record: RECORD_KEY.split(","),
  };
}

describe("loadServiceSecrets", () => {
  it("takes keys of the environment first, and keeps the others", async () => {
    const stored = await loadServiceSecrets(folder, {});
    expect(await loadServiceSecrets(folder, { SESSION_KEYS: "set", RECORD_KEY: "" })).toEqual({
      SESSION_KEYS: "set",
      RECORD_KEY: stored.RECORD_KEY,
    });
    expect(await loadServiceSecrets(folder, {})).toEqual(stored);
  });
});

describe("rotateKey", () => {
  it.each(["session", "record"] as const)("makes the next %s key current, and keeps the earlier one", async (name) => {
    const before = await readKeys();
    await rotateKey(folder, name);
    const after = await readKeys();
    const [current, next] = before[name];
    expect(after[name]).toEqual([next, expect.any(String), current]);
    expect(new Set(after[name]).size).toBe(3);
    const other = name === "session" ? "record" : "session";
    expect(after[other]).toEqual(before[other]);
    expect(statSync(join(folder, "service.json")).mode & 0o077).toBe(0);
  });

  it("keeps two earlier session keys, and every earlier record key until it is forgotten", async () => {
    for (let count = 0; count < 4; count++)
      for (const name of ["session", "record"] as const) await rotateKey(folder, name);
    const { session, record } = await readKeys();
    expect([session.length, record.length]).toEqual([4, 6]);
    await forgetEarlierRecordKeys(folder);
    expect((await readKeys()).record).toEqual(record.slice(0, 2));
  });
});
