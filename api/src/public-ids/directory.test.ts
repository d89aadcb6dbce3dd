import { randomBytes } from "node:crypto";

import { v7 as uuidv7 } from "uuid";

import type { Db } from "../db/database.ts";
import { startService, type TestService } from "../testing/service.ts";
import { registerPublicId, releasePublicId, findOwner } from "./directory.ts";

let service: TestService;
let db: Db;
beforeAll(async () => {
  service = await startService();
  ({ db } = service.app.services);
});
afterAll(() => service.stop());

const newId = (): string => randomBytes(16).toString("base64url");
const [ana, marta] = [uuidv7(), uuidv7()];

describe("the directory of public ids", () => {
  it("leads to the account that made an id, of that kind alone", async () => {
    const id = newId();
    await db.transaction((tx) => registerPublicId(tx, { publicId: id, kind: "share", accountId: ana }));
    expect(await findOwner(db, "share", id)).toBe(ana);
    expect(await findOwner(db, "request", id)).toBeNull();
    expect(await findOwner(db, "share", newId())).toBeNull();
  });

  it("refuses an id that is taken, by whomever and of whatever kind, and leaves it with its owner", async () => {
    const id = newId();
    await db.transaction((tx) => registerPublicId(tx, { publicId: id, kind: "share", accountId: ana }));
    for (const entry of [
      { kind: "share", accountId: marta },
      { kind: "mailbox", accountId: ana },
    ] as const) {
      await expect(db.transaction((tx) => registerPublicId(tx, { publicId: id, ...entry }))).rejects.toMatchObject({
        code: "id_taken",
      });
    }
    expect(await findOwner(db, "share", id)).toBe(ana);
  });

  it("stands or falls with the owner's transaction", async () => {
    const id = newId();
    const undone = db.transaction(async (tx) => {
      await registerPublicId(tx, { publicId: id, kind: "request", accountId: ana });
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    expect(await findOwner(db, "request", id)).toBeNull();
  });

  it("forgets an id for its owner alone", async () => {
    const id = newId();
    await db.transaction((tx) => registerPublicId(tx, { publicId: id, kind: "share", accountId: ana }));
    await db.transaction((tx) => releasePublicId(tx, marta, id));
    expect(await findOwner(db, "share", id)).toBe(ana);
    await db.transaction((tx) => releasePublicId(tx, ana, id));
    expect(await findOwner(db, "share", id)).toBeNull();
  });

  it.each(["", "short", "A".repeat(23), `${"A".repeat(21)}/`])(
    "keeps nothing that is not 128 bits in base64url: %j",
    async (bad) => {
      await expect(
        db.transaction((tx) => registerPublicId(tx, { publicId: bad, kind: "share", accountId: ana })),
      ).rejects.toThrow();
    },
  );
});
