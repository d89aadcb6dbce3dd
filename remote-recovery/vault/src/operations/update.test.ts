import "fake-indexeddb/auto";

import { ed25519 } from "@noble/curves/ed25519.js";
import { toBase64url } from "@relicario/shared/api";
import { buildSignedMessage } from "@relicario/shared/api/signatures";
import { PortalError } from "@relicario/shared/errors";

import { sealTo } from "../seal/age.ts";
import { randomBytes } from "../seal/bytes.ts";
import { serializeDocument } from "../seal/document.ts";
import { openLabel, parseUnverifiedRev } from "../seal/label.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { lastOf } from "../testing/fake-account.ts";
import { rewriteRow } from "../testing/rewrite-row.ts";
import type { SecretChange } from "../rpc/presented-opener.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import { list } from "./list.ts";
import { protect } from "./protect.ts";
import { maxConflictTries } from "../keyring/publish.ts";
import { purge } from "./purge.ts";
import { openSmallSecret } from "./open-secret.ts";
import { restoreFromTrash, moveToTrash } from "./favorite-and-trash.ts";
import { recogniseImage } from "../openers/recognise-image.ts";
import { unlock } from "../openers/unlock.ts";
import { update } from "./update.ts";
import { listVersions, removeVersions, restoreVersion } from "./versions.ts";

const errorWithCode = (expectedCode: string): unknown => expect.objectContaining({ code: expectedCode });
const market = makePicture("market");
const textContent = (content: string): NonNullable<SecretChange["content"]> => ({
  contentKind: "text",
  name: "secret.txt",
  mime: "text/plain",
  content: new Blob([content]),
});
const readContent = async (vault: VaultSession, secretId: string, version?: number): Promise<string> =>
  new TextDecoder().decode(
    (await openSmallSecret(vault, secretId, market, version === undefined ? {} : { version })).content,
  );
const readTitles = async (vault: VaultSession): Promise<(string | undefined)[]> =>
  (await list(vault)).map((row) => row.label?.title);

/** One secret, and two unlocked devices. */
async function createTwoDevices(): Promise<{
  world: World;
  laptop: VaultSession;
  phone: VaultSession;
  secretId: string;
}> {
  const world = createWorld();
  const laptop = await world.open();
  const { secretId } = await protect(laptop, textSecret("First", market, "one"), {});
  const phone = await world.open("phone");
  (await unlock(phone, market, {})).opener.wipe();
  return { world, laptop, phone, secretId };
}

/** Runs an operation of another device just before the next call of this kind. */
function runBeforeNext(world: World, call: string, operation: () => Promise<unknown>): void {
  world.service.beforeCall = async (receivedCall) => {
    if (receivedCall !== call) return;
    world.service.beforeCall = () => undefined;
    await operation();
  };
}

describe("a new label", () => {
  it("needs no opener, creates no version, and keeps other fields", async () => {
    const { world, laptop, secretId } = await createTwoDevices();
    world.engine.calls.length = 0;
    expect(await update(laptop, secretId, { baseVersion: 1, baseRev: 1, title: "Renamed" }, {})).toEqual({
      version: 1,
    });
    expect(await update(laptop, secretId, { baseVersion: 1, baseRev: 2, tags: [] }, {})).toEqual({ version: 1 });
    expect(world.engine.calls).toEqual([]);
    expect(await list(laptop)).toMatchObject([
      { version: 1, rev: 3, label: { title: "Renamed", tags: [], name: "secret.txt" } },
    ]);
    expect(await openSmallSecret(laptop, secretId, market, {})).toMatchObject({
      title: "Renamed",
      signatureStatus: "verified",
      version: 1,
    });
  });

  it("is not sent if nothing changes", async () => {
    const { world, laptop, secretId } = await createTwoDevices();
    world.service.bodies.length = 0;
    await update(laptop, secretId, { baseVersion: 1, title: "First", tags: ["paper"] }, {});
    expect(world.service.bodies).toEqual([]);
  });

  it("conflicts when based on an older label", async () => {
    const { laptop, phone, secretId } = await createTwoDevices();
    await update(phone, secretId, { baseVersion: 1, baseRev: 1, title: "By the phone" }, {});
    await expect(update(laptop, secretId, { baseVersion: 1, baseRev: 1, title: "By the laptop" }, {})).rejects.toEqual(
      expect.objectContaining({ code: "version_conflict", details: { version: 1 } }),
    );
    expect(await readTitles(laptop)).toEqual(["By the phone"]);
  });

  it("conflicts when another device renames between reading and sending", async () => {
    const { world, laptop, phone, secretId } = await createTwoDevices();
    runBeforeNext(world, "POST /secrets/store", () =>
      update(phone, secretId, { baseVersion: 1, title: "By the phone" }, {}),
    );
    await expect(update(laptop, secretId, { baseVersion: 1, baseRev: 1, title: "By the laptop" }, {})).rejects.toEqual(
      errorWithCode("version_conflict"),
    );
    expect(await readTitles(laptop)).toEqual(["By the phone"]);
  });

  it("keeps another device's title when the edit names only the version", async () => {
    const { world, laptop, phone, secretId } = await createTwoDevices();
    runBeforeNext(world, "POST /secrets/store", () =>
      update(phone, secretId, { baseVersion: 1, title: "By the phone" }, {}),
    );
    await update(laptop, secretId, { baseVersion: 1, tags: ["by the laptop"] }, {});
    expect(await list(laptop)).toMatchObject([{ rev: 3, label: { title: "By the phone", tags: ["by the laptop"] } }]);
  });

  it("is published once when its response is lost", async () => {
    const { world, laptop, secretId } = await createTwoDevices();
    world.service.transformResponse = (call, response) => {
      if (call !== "POST /secrets/store") return response;
      throw new PortalError("service_unavailable");
    };
    expect(await update(laptop, secretId, { baseVersion: 1, baseRev: 1, title: "Renamed" }, {})).toEqual({
      version: 1,
    });
    expect(await list(laptop)).toMatchObject([{ rev: 2, label: { title: "Renamed" } }]);
  });

  it.each<[string, SecretChange, string[]]>([
    ["no title", { baseVersion: 1, title: "" }, ["title"]],
    ["too many tags", { baseVersion: 1, tags: Array.from({ length: 33 }, String) }, ["tags"]],
    [
      "a protection without content",
      { baseVersion: 1, protection: { kind: "openers", openerIds: [] } },
      ["protection"],
    ],
    ["an invalid version", { baseVersion: 0, title: "T" }, ["baseVersion"]],
  ])("is refused with %s, before anything is sent", async (_case, change, fields) => {
    const { world, laptop, secretId } = await createTwoDevices();
    world.service.calls.length = 0;
    await expect(update(laptop, secretId, change, {})).rejects.toEqual(
      expect.objectContaining({ code: "validation_error", details: { fields } }),
    );
    expect(world.service.calls).toEqual([]);
  });

  it("needs an unlocked device and an existing secret", async () => {
    const { world, laptop, secretId } = await createTwoDevices();
    await expect(update(await world.open("tablet"), secretId, { baseVersion: 1, title: "T" }, {})).rejects.toEqual(
      errorWithCode("vault_locked"),
    );
    await expect(
      update(laptop, "019a9e2c-7c1e-7abc-8def-0123456789ff", { baseVersion: 1, title: "T" }, {}),
    ).rejects.toEqual(errorWithCode("not_found"));
  });
});

describe("a new version", () => {
  it("needs no opener, has its own content identity, and opens with the same openers", async () => {
    const { world, laptop, phone, secretId } = await createTwoDevices();
    const formerIdentity = (await openSmallSecret(laptop, secretId, market, {})).ageFile.identity;
    world.engine.calls.length = 0;
    expect(
      await update(laptop, secretId, { baseVersion: 1, baseRev: 1, title: "Second", content: textContent("two") }, {}),
    ).toEqual({ version: 2 });
    expect(world.engine.calls).toEqual([]);
    expect(await list(phone)).toMatchObject([{ version: 2, rev: 2, label: { title: "Second", tags: ["paper"] } }]);
    const openedSecret = await openSmallSecret(phone, secretId, market, {});
    expect(openedSecret).toMatchObject({ version: 2, current: true, signatureStatus: "verified" });
    expect(openedSecret.ageFile.identity).toMatch(/^AGE-SECRET/);
    expect(openedSecret.ageFile.identity).not.toBe(formerIdentity);
  });

  it("can be protected by another picture, which becomes an opener", async () => {
    const { laptop, secretId } = await createTwoDevices();
    await update(
      laptop,
      secretId,
      {
        baseVersion: 1,
        content: textContent("two"),
        protection: { kind: "picture", picture: makePicture("forest"), name: "The forest" },
      },
      {},
    );
    expect(new TextDecoder().decode((await openSmallSecret(laptop, secretId, makePicture("forest"), {})).content)).toBe(
      "two",
    );
  });

  it("is sealed only to the chosen openers", async () => {
    const { laptop, secretId } = await createTwoDevices();
    await protect(laptop, textSecret("Other", makePicture("forest")), {});
    const forestId = (await list(laptop))[1]?.label?.openerIds[1] ?? "";
    await update(
      laptop,
      secretId,
      { baseVersion: 1, content: textContent("two"), protection: { kind: "openers", openerIds: [forestId] } },
      {},
    );
    await expect(openSmallSecret(laptop, secretId, market, {})).rejects.toEqual(errorWithCode("opener_needed"));
    // the former version keeps its openers
    expect(await readContent(laptop, secretId, 1)).toBe("one");
    await expect(openSmallSecret(laptop, secretId, makePicture("forest"), { version: 1 })).rejects.toEqual(
      errorWithCode("opener_needed"),
    );
  });

  it("is built again on a state conflict, with the same sealed content", async () => {
    const { world, laptop, phone, secretId } = await createTwoDevices();
    runBeforeNext(world, "POST /secrets/store", () => protect(phone, textSecret("Phone"), {}));
    world.service.bodies.length = 0;
    await update(laptop, secretId, { baseVersion: 1, content: textContent("two") }, {});
    const sentContents = world.service.bodies
      .filter((body) => (body as { base_version?: number }).base_version === 1)
      .map((body) => (body as { content: string }).content);
    expect(sentContents).toHaveLength(2);
    expect(new Set(sentContents).size).toBe(1);
    expect(await readContent(laptop, secretId)).toBe("two");
  });

  it("gives up after eight tries", async () => {
    const { world, laptop, secretId } = await createTwoDevices();
    world.service.calls.length = 0;
    world.service.beforeCall = (call) => {
      if (call === "POST /secrets/store") throw new PortalError("state_conflict");
    };
    await expect(update(laptop, secretId, { baseVersion: 1, content: textContent("two") }, {})).rejects.toEqual(
      errorWithCode("state_conflict"),
    );
    expect(world.service.calls.filter((call) => call === "POST /secrets/store")).toHaveLength(maxConflictTries);
  });

  it("can be cancelled until it is sent", async () => {
    const { world, laptop, secretId } = await createTwoDevices();
    const controller = new AbortController();
    const options = {
      signal: controller.signal,
      onProgress: ({ done }: { done: number }) => {
        if (done === 1) controller.abort();
      },
    };
    await expect(update(laptop, secretId, { baseVersion: 1, content: textContent("two") }, options)).rejects.toEqual(
      errorWithCode("cancelled"),
    );
    expect(world.service.account.rows.get(secretId)?.versions).toHaveLength(1);
  });
});

describe("two devices or two tabs that edit one secret", () => {
  it.each([["phone"], ["laptop"]])(
    "never lose a save: the second, on a %s, gets a conflict and can save afterwards",
    async (secondDeviceName) => {
      const { world, laptop, phone, secretId } = await createTwoDevices();
      const secondDevice = secondDeviceName === "phone" ? phone : await world.open(); // a second tab of the same device
      if (secondDevice.keys === null) (await unlock(secondDevice, market, {})).opener.wipe();
      const outcomes = await Promise.allSettled([
        update(laptop, secretId, { baseVersion: 1, baseRev: 1, content: textContent("by the first") }, {}),
        update(secondDevice, secretId, { baseVersion: 1, baseRev: 1, content: textContent("by the second") }, {}),
      ]);
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      const rejected =
        outcomes[0].status === "rejected"
          ? { vault: laptop, ownText: "by the first", error: outcomes[0].reason as unknown }
          : {
              vault: secondDevice,
              ownText: "by the second",
              error: outcomes[1].status === "rejected" ? (outcomes[1].reason as unknown) : null,
            };
      expect(rejected.error).toEqual(expect.objectContaining({ code: "version_conflict", details: { version: 2 } }));
      await update(rejected.vault, secretId, { baseVersion: 2, content: textContent(rejected.ownText) }, {});
      expect([await readContent(laptop, secretId, 2), await readContent(laptop, secretId)].toSorted()).toEqual([
        "by the first",
        "by the second",
      ]);
      expect(await readContent(laptop, secretId, 1)).toBe("one");
    },
  );

  it("recognise a save whose response was lost, even after another change", async () => {
    const { world, laptop, phone, secretId } = await createTwoDevices();
    let isResponseLost = false;
    world.service.transformResponse = (call, response) => {
      if (call !== "POST /secrets/store" || isResponseLost) return response;
      isResponseLost = true;
      throw new PortalError("timed_out");
    };
    let sendCount = 0;
    world.service.beforeCall = async (call) => {
      if (call !== "POST /secrets/store" || ++sendCount !== 2) return;
      world.service.beforeCall = () => undefined;
      await protect(phone, textSecret("Phone"), {});
    };
    expect(await update(laptop, secretId, { baseVersion: 1, content: textContent("two") }, {})).toEqual({ version: 2 });
    expect(await listVersions(laptop, secretId, {})).toHaveLength(2);
  });

  it("report a conflict when another version followed, and keep their version as a former version", async () => {
    const { world, laptop, phone, secretId } = await createTwoDevices();
    let isResponseLost = false;
    world.service.transformResponse = (call, response) => {
      if (call !== "POST /secrets/store" || isResponseLost) return response;
      isResponseLost = true;
      throw new PortalError("timed_out");
    };
    let sendCount = 0;
    world.service.beforeCall = async (call) => {
      if (call !== "POST /secrets/store" || ++sendCount !== 2) return;
      world.service.beforeCall = () => undefined;
      await update(phone, secretId, { baseVersion: 2, content: textContent("three") }, {});
    };
    await expect(update(laptop, secretId, { baseVersion: 1, content: textContent("two") }, {})).rejects.toEqual(
      errorWithCode("version_conflict"),
    );
    expect([await readContent(laptop, secretId, 2), await readContent(laptop, secretId)]).toEqual(["two", "three"]);
  });
});

describe("two tabs of one device", () => {
  it("write one after another, with a Web Lock of the account", async () => {
    const { world, laptop, secretId } = await createTwoDevices();
    const tab = await world.open();
    (await unlock(tab, market, {})).opener.wipe();
    world.service.calls.length = 0;
    await Promise.all([
      update(laptop, secretId, { baseVersion: 1, title: "A" }, {}),
      protect(tab, textSecret("Tab"), {}),
      protect(laptop, textSecret("Laptop"), {}),
    ]);
    expect(world.service.calls.filter((call) => call === "POST /secrets/store")).toHaveLength(3);
    expect((await readTitles(tab)).toSorted()).toEqual(["A", "Laptop", "Tab"]);
    expect(world.locks.names.size).toBe(1);
  });
});

describe("the fields that a new label keeps", () => {
  it("are copy checks, kits and source, through renamings and versions; a check ends with its opener", async () => {
    const { world, laptop, secretId } = await createTwoDevices();
    const { opener } = await recogniseImage(laptop, market, null, {});
    const [newestAt, earlierAt] = ["2026-11-21T11:00:00.000Z", "2026-11-20T11:00:00.000Z"];
    const digest = toBase64url(randomBytes(32));
    const preserved = {
      rehearsed: [{ opener_id: opener.openerId, at: earlierAt }],
      kits: [{ sha256: digest, made_at: newestAt, key_epoch: 1, ticket_sha256: digest }],
      source: digest,
    };
    await rewriteRow(world, laptop, secretId, opener, {
      label: preserved,
      seal: (ticket) => sealTo([opener.recipient], serializeDocument(ticket)),
    });
    const readLabel = async () => {
      const row = world.service.account.rows.get(secretId);
      const jwe = lastOf(row?.versions)?.label ?? "";
      return openLabel(
        laptop.requireKeys(),
        laptop.userId,
        { secretId, version: row?.versions.length ?? 0, rev: parseUnverifiedRev(jwe) },
        jwe,
      );
    };
    await update(laptop, secretId, { baseVersion: 1, title: "Renamed" }, {});
    expect(await readLabel()).toMatchObject({ ...preserved, former_sha256: null });
    await update(laptop, secretId, { baseVersion: 1, content: textContent("two") }, {});
    expect(await readLabel()).toMatchObject({ ...preserved, former_sha256: expect.any(String) as string });
    const { former_sha256: formerDigest } = await readLabel();
    await update(laptop, secretId, { baseVersion: 2, title: "Renamed again" }, {});
    expect(await readLabel()).toMatchObject({ ...preserved, former_sha256: formerDigest });
    expect((await list(laptop))[0]?.label).toMatchObject({ copyCheckedAt: earlierAt });
    const bothChecks = { rehearsed: [{ opener_id: opener.openerId, at: newestAt }, ...preserved.rehearsed] };
    await rewriteRow(world, laptop, secretId, opener, {
      label: bothChecks,
      seal: (ticket) => sealTo([opener.recipient], serializeDocument(ticket)),
    });
    expect((await list(laptop))[0]?.label).toMatchObject({ copyCheckedAt: newestAt }); // the newest check
    const protection = { kind: "picture", picture: makePicture("forest"), name: "The forest" } as const;
    await update(laptop, secretId, { baseVersion: 2, content: textContent("three"), protection }, {});
    const { openers, ...otherFields } = await readLabel();
    // the picture `market` still opens the secret
    expect([openers.length, otherFields.rehearsed]).toEqual([2, bothChecks.rehearsed]);
    const forestIds = openers.filter((id) => id !== opener.openerId);
    await update(
      laptop,
      secretId,
      { baseVersion: 3, content: textContent("four"), protection: { kind: "openers", openerIds: forestIds } },
      {},
    );
    expect(await readLabel()).toMatchObject({
      openers: forestIds,
      rehearsed: [],
      kits: preserved.kits,
      source: digest,
    });
  });
});

describe("history", () => {
  it("lists the versions, newest first, without an opener", async () => {
    const { world, laptop, secretId } = await createTwoDevices();
    await update(laptop, secretId, { baseVersion: 1, content: textContent("two") }, {});
    expect(await listVersions(await world.open("tablet"), secretId, {})).toMatchObject([
      { version: 2, current: true },
      { version: 1, current: false },
    ]);
    await expect(listVersions(laptop, "../x", {})).rejects.toEqual(errorWithCode("not_found"));
    expect(await listVersions(laptop, secretId, {})).toMatchObject([
      { version: 2, current: true, dropped: false },
      { version: 1, current: false, dropped: false },
    ]);
    world.service.transformResponse = (call, response) =>
      call.endsWith("/versions") ? { ...(response as object), versions: [] } : response;
    await expect(listVersions(laptop, secretId, {})).rejects.toEqual(errorWithCode("list_mismatch"));
    await expect(listVersions(await world.open("tablet"), secretId, {})).rejects.toEqual(
      errorWithCode("list_mismatch"),
    );
  });

  it("opens a former version as not current, with its names and a verified signature", async () => {
    const { world, laptop, secretId } = await createTwoDevices();
    await update(laptop, secretId, { baseVersion: 1, title: "Second", content: textContent("two") }, {});
    const phone = await world.open("tablet");
    expect(await openSmallSecret(phone, secretId, market, { version: 1 })).toMatchObject({
      version: 1,
      current: false,
      title: "First",
      signatureStatus: "verified",
    });
    await expect(openSmallSecret(phone, secretId, market, { version: 3 })).rejects.toEqual(errorWithCode("not_found"));
  });

  it("restores a former content as a new version, and keeps the names", async () => {
    const { laptop, secretId } = await createTwoDevices();
    await update(
      laptop,
      secretId,
      { baseVersion: 1, title: "Second", content: { ...textContent("two"), name: "two.txt" } },
      {},
    );
    expect(await restoreVersion(laptop, secretId, 1, market, {})).toEqual({ version: 3 });
    expect(await openSmallSecret(laptop, secretId, market, {})).toMatchObject({
      version: 3,
      title: "Second",
      name: "secret.txt",
      signatureStatus: "verified",
    });
    expect(await readContent(laptop, secretId)).toBe("one");
    expect(await restoreVersion(laptop, secretId, 3, market, {})).toEqual({ version: 3 });
    await expect(restoreVersion(laptop, secretId, 1, makePicture("forest"), {})).rejects.toEqual(
      errorWithCode("not_this_picture"),
    );
  });

  it.each<
    [string, string, (former: { ticket: string; content: string }, newest: { ticket: string; content: string }) => void]
  >([
    [
      "the newest ticket",
      "list_mismatch",
      (former, newest) => {
        former.ticket = newest.ticket;
      },
    ],
    [
      "the newest content",
      "decryption_failed",
      (former, newest) => {
        former.content = newest.content;
      },
    ],
  ])("refuses %s in place of an older version's", async (_case, expectedCode, tamper) => {
    const { world, laptop, secretId } = await createTwoDevices();
    await update(laptop, secretId, { baseVersion: 1, content: textContent("two") }, {});
    const [former, newest] = world.service.account.rows.get(secretId)?.versions ?? [];
    if (former === undefined || newest === undefined) throw new TypeError("expected two versions");
    tamper(former, newest);
    await expect(openSmallSecret(laptop, secretId, market, { version: 1 })).rejects.toEqual(
      errorWithCode(expectedCode),
    );
  });

  it("refuses an older version in place of the newest", async () => {
    const { world, laptop, secretId } = await createTwoDevices();
    await update(laptop, secretId, { baseVersion: 1, content: textContent("two") }, {});
    const [former, newest] = world.service.account.rows.get(secretId)?.versions ?? [];
    Object.assign(newest ?? {}, { ticket: former?.ticket, content: former?.content });
    await expect(openSmallSecret(laptop, secretId, market, {})).rejects.toEqual(errorWithCode("list_mismatch"));
  });

  it("opens a former version of another author as not verified, and refuses to restore that version", async () => {
    const { world, laptop, secretId } = await createTwoDevices();
    const { opener } = await recogniseImage(laptop, market, null, {});
    await rewriteRow(world, laptop, secretId, opener, {
      seal: (ticket) =>
        sealTo(
          [opener.recipient],
          serializeDocument({
            ...ticket,
            sig: toBase64url(ed25519.sign(buildSignedMessage("ticket", ticket), randomBytes(32))),
          }),
        ),
    });
    await update(laptop, secretId, { baseVersion: 1, content: textContent("two") }, {});
    expect((await openSmallSecret(laptop, secretId, market, { version: 1 })).signatureStatus).toBe("not_verified");
    await expect(restoreVersion(laptop, secretId, 1, market, {})).rejects.toEqual(errorWithCode("decryption_failed"));
  });
});

describe("removing former versions", () => {
  /** A secret with three versions. */
  const createThreeVersions = async () => {
    const devices = await createTwoDevices();
    await update(devices.laptop, devices.secretId, { baseVersion: 1, content: textContent("two") }, {});
    await update(devices.laptop, devices.secretId, { baseVersion: 2, content: textContent("three") }, {});
    return devices;
  };

  it("is one signed keyring change; the remaining versions open as before, and the next version follows", async () => {
    const { world, laptop, phone, secretId } = await createThreeVersions();
    await removeVersions(laptop, secretId, [1], {});
    expect(lastOf(world.service.bodies)).toMatchObject({
      purge_versions: [{ secret_db_id: secretId, versions: [1] }],
      sig: expect.any(String) as string,
    });
    expect((await listVersions(phone, secretId, {})).map(({ version, dropped }) => [version, dropped])).toEqual([
      [3, false],
      [2, false],
      [1, true],
    ]);
    await expect(openSmallSecret(phone, secretId, market, { version: 1 })).rejects.toEqual(
      errorWithCode("content_gone"),
    );
    expect(await readContent(phone, secretId, 2)).toBe("two");
    expect(await update(phone, secretId, { baseVersion: 3, content: textContent("four") }, {})).toEqual({ version: 4 });
    expect(await readContent(laptop, secretId, 3)).toBe("three");
  });

  it("succeeds when another device has removed the versions meanwhile, and sends nothing for dropped versions", async () => {
    const { world, laptop, phone, secretId } = await createThreeVersions();
    runBeforeNext(world, "PUT /user/keyring", () => removeVersions(phone, secretId, [1], {}));
    await removeVersions(laptop, secretId, [1, 2], {});
    expect(lastOf(world.service.bodies)).toMatchObject({ purge_versions: [{ secret_db_id: secretId, versions: [2] }] });
    const sentCount = world.service.bodies.length;
    await removeVersions(laptop, secretId, [1, 2], {});
    await removeVersions(laptop, secretId, [], {});
    expect(world.service.bodies).toHaveLength(sentCount);
  });

  it("refuses the current version, unknown versions and a locked device", async () => {
    const { world, laptop, secretId } = await createThreeVersions();
    for (const versions of [[3], [1, 9], [0], [1.5]])
      await expect(removeVersions(laptop, secretId, versions, {})).rejects.toEqual(errorWithCode("not_found"));
    await expect(removeVersions(laptop, "../x", [1], {})).rejects.toEqual(errorWithCode("not_found"));
    await expect(removeVersions(await world.open("tablet"), secretId, [1], {})).rejects.toEqual(
      errorWithCode("vault_locked"),
    );
  });

  it("makes room when there are too many versions", async () => {
    const { world, laptop, secretId } = await createThreeVersions();
    world.service.account.formerVersionLimit = 2;
    const next = { baseVersion: 3, content: textContent("four") };
    await expect(update(laptop, secretId, next, {})).rejects.toEqual(errorWithCode("too_many_versions"));
    await removeVersions(laptop, secretId, [2], {});
    expect(await update(laptop, secretId, next, {})).toEqual({ version: 4 });
  });
});

describe("emptying the trash", () => {
  it("is one signed keyring change; the rows leave the state on every device", async () => {
    const { world, laptop, phone, secretId } = await createTwoDevices();
    await protect(laptop, textSecret("Stays"), {});
    await list(phone);
    await moveToTrash(laptop, secretId);
    await purge(laptop, [secretId], {});
    expect(lastOf(world.service.bodies)).toMatchObject({ purge: [secretId], sig: expect.any(String) as string });
    expect(await readTitles(laptop)).toEqual(["Stays"]);
    expect(await readTitles(phone)).toEqual(["Stays"]);
    await expect(openSmallSecret(laptop, secretId, market, {})).rejects.toEqual(errorWithCode("not_found"));
  });

  it("reaches a device that receives no purged ids from the service, because it fetches the whole list", async () => {
    const { world, laptop, phone, secretId } = await createTwoDevices();
    await protect(laptop, textSecret("Stays"), {});
    await list(phone);
    await moveToTrash(laptop, secretId);
    await purge(laptop, [secretId], {});
    world.service.transformResponse = (call, response) =>
      call === "GET /secrets/store" ? { ...(response as object), purged: undefined } : response;
    expect(await readTitles(phone)).toEqual(["Stays"]);
  });

  it("purges only secrets in the trash, all or none", async () => {
    const { world, laptop, secretId } = await createTwoDevices();
    const { secretId: secondId } = await protect(laptop, textSecret("Second"), {});
    await moveToTrash(laptop, secretId);
    await expect(purge(laptop, [secretId, secondId], {})).rejects.toEqual(errorWithCode("not_in_trash"));
    await expect(purge(laptop, [secretId, "019a9e2c-7c1e-7abc-8def-0123456789ff"], {})).rejects.toEqual(
      errorWithCode("not_found"),
    );
    await expect(purge(await world.open("tablet"), [secretId], {})).rejects.toEqual(errorWithCode("vault_locked"));
    await purge(laptop, [], {});
    expect(await list(laptop)).toHaveLength(2);
  });

  it("does not purge a secret that another device has restored meanwhile", async () => {
    const { world, laptop, phone, secretId } = await createTwoDevices();
    await moveToTrash(laptop, secretId);
    runBeforeNext(world, "PUT /user/keyring", async () => {
      await restoreFromTrash(phone, secretId);
      await protect(phone, textSecret("Phone"), {});
    });
    await expect(purge(laptop, [secretId], {})).rejects.toEqual(errorWithCode("not_in_trash"));
    expect(await readTitles(laptop)).toContain("First");
  });

  it("succeeds when another device, or a call with a lost response, has emptied the trash", async () => {
    const { world, laptop, phone, secretId } = await createTwoDevices();
    await moveToTrash(laptop, secretId);
    runBeforeNext(world, "PUT /user/keyring", () => purge(phone, [secretId], {}));
    await purge(laptop, [secretId], {});
    const { secretId: secondId } = await protect(laptop, textSecret("Second"), {});
    await moveToTrash(laptop, secondId);
    world.service.transformResponse = (call, response) => {
      if (call !== "PUT /user/keyring") return response;
      throw new PortalError("timed_out");
    };
    await purge(laptop, [secondId], {});
    expect(await list(laptop)).toEqual([]);
  });
});

describe("the cached list", () => {
  it("is fetched whole once; later only changes are fetched", async () => {
    const { world, laptop, phone, secretId } = await createTwoDevices();
    for (const title of ["B", "C", "D", "E"]) await protect(laptop, textSecret(title), {});
    world.service.calls.length = 0;
    await update(laptop, secretId, { baseVersion: 1, title: "A" }, {});
    await list(laptop);
    // five rows would need two pages each time
    expect(world.service.calls.filter((call) => call === "GET /secrets/store")).toHaveLength(2);
    world.service.calls.length = 0;
    expect(await readTitles(phone)).toEqual(["A", "B", "C", "D", "E"]);
    expect(world.service.calls.filter((call) => call === "GET /secrets/store")).toHaveLength(2);
  });

  it("is fetched again when the changes do not match the state", async () => {
    const { world, laptop } = await createTwoDevices();
    await protect(laptop, textSecret("Second"), {});
    world.service.transformResponse = (call, response) => {
      const page = response as { purged?: unknown };
      if (call !== "GET /secrets/store" || page.purged === undefined) return response;
      return { ...page, secrets: [] };
    };
    await protect(
      await world.open("tablet").then(async (tablet) => {
        (await unlock(tablet, market, {})).opener.wipe();
        return tablet;
      }),
      textSecret("Third"),
      {},
    );
    expect(await readTitles(laptop)).toEqual(["First", "Second", "Third"]);
  });

  it("delivers rows in batches, newest first, and opens each label once", async () => {
    const { laptop } = await createTwoDevices();
    for (const title of ["B", "C"]) await protect(laptop, textSecret(title), {});
    const decrypt = jest.spyOn(crypto.subtle, "decrypt");
    const batches: [(string | undefined)[], number, number][] = [];
    const [rows, sameRows] = await Promise.all([
      list(laptop, {
        onRows: (batch, { opened, total }) => {
          batches.push([batch.map((row) => row.label?.title), opened, total]);
        },
      }),
      list(laptop),
    ]);
    expect(batches).toEqual([[["C", "B", "First"], 3, 3]]);
    expect(sameRows).toEqual(rows);
    expect(rows.map((row) => row.label?.title)).toEqual(["First", "B", "C"]);
    const decryptCountBefore = decrypt.mock.calls.length;
    await list(laptop);
    // state, book and its inner, shares, but no label
    expect(decrypt.mock.calls.length - decryptCountBefore).toBeLessThanOrEqual(4);
    decrypt.mockRestore();
  });
});
