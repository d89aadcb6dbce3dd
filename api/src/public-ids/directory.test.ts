import { randomBytes } from "node:crypto";

import { v7 as uuidv7 } from "uuid";

import type { Db } from "../db/database.ts";
import { startService, type TestService } from "../testing/service.ts";
import { registerPublicId, releasePublicId, findOwnerId } from "./directory.ts";

let service: TestService;
let db: Db;
beforeAll(async () => {
  service = await startService();
  ({ db } = service.app.services);
});
afterAll(() => service.stop());

const createPublicId = (): string => randomBytes(16).toString("base64url");
const [anaId, martaId] = [uuidv7(), uuidv7()];

describe("the directory of public ids", () => {
  it("finds the account of an id of this kind only", async () => {
    const id = createPublicId();
    await db.transaction((tx) => registerPublicId(tx, { publicId: id, kind: "share", accountId: anaId }));
    expect(await findOwnerId(db, "share", id)).toBe(anaId);
    expect(await findOwnerId(db, "request", id)).toBeNull();
    expect(await findOwnerId(db, "share", createPublicId())).toBeNull();
  });

  it("refuses a taken id of any account and kind, and leaves the id with its owner", async () => {
    const id = createPublicId();
    await db.transaction((tx) => registerPublicId(tx, { publicId: id, kind: "share", accountId: anaId }));
    for (const entry of [
      { kind: "share", accountId: martaId },
      { kind: "mailbox", accountId: anaId },
    ] as const) {
      await expect(db.transaction((tx) => registerPublicId(tx, { publicId: id, ...entry }))).rejects.toMatchObject({
        code: "id_taken",
      });
    }
    expect(await findOwnerId(db, "share", id)).toBe(anaId);
  });

  it("is rolled back with the owner's transaction", async () => {
    const id = createPublicId();
    const rolledBackTransaction = db.transaction(async (tx) => {
      await registerPublicId(tx, { publicId: id, kind: "request", accountId: anaId });
      throw new Error("undone");
    });
    await expect(rolledBackTransaction).rejects.toThrow("undone");
    expect(await findOwnerId(db, "request", id)).toBeNull();
  });

  it("releases an id for its owner only", async () => {
    const id = createPublicId();
    await db.transaction((tx) => registerPublicId(tx, { publicId: id, kind: "share", accountId: anaId }));
    await db.transaction((tx) => releasePublicId(tx, martaId, id));
    expect(await findOwnerId(db, "share", id)).toBe(anaId);
    await db.transaction((tx) => releasePublicId(tx, anaId, id));
    expect(await findOwnerId(db, "share", id)).toBeNull();
  });

  it.each(["", "short", "A".repeat(23), `${"A".repeat(21)}/`])(
    "refuses anything but 128 bits in base64url: %j",
    async (malformedId) => {
      await expect(
        db.transaction((tx) => registerPublicId(tx, { publicId: malformedId, kind: "share", accountId: anaId })),
      ).rejects.toThrow();
    },
  );
});
