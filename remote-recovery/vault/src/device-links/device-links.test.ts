import "fake-indexeddb/auto";

import type { DeviceOffer } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { list } from "../operations/list.ts";
import { listOpeners } from "../operations/openers.ts";
import { protect } from "../operations/protect.ts";
import { openSmallSecret } from "../operations/open-secret.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";
import { copyOf } from "../seal/bytes.ts";
import {
  deriveDeviceLinkId,
  generateDeviceCode,
  openLinkRequest,
  parseDeviceCode,
  sealLinkAnswer,
  sealLinkRequest,
  type LinkRequest,
} from "../seal/device-link.ts";
import { computeStateDigest } from "../seal/state.ts";
import type { PresentedKey } from "../rpc/presented-opener.ts";
import { lastOf } from "../testing/fake-account.ts";
import { createWorld, makePicture, textSecret, userId, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { admitDevice, inspectRequestingDevice } from "./admit-device.ts";
import { joinDevice, offerDevice } from "./join-device.ts";

const errorWithCode = (expected: string, details?: unknown): unknown =>
  expect.objectContaining({ code: expected, ...(details === undefined ? {} : { details }) });
const makePasskey = (fill = 7): PresentedKey => ({ kind: "passkey", prf: copyOf(new Uint8Array(32).fill(fill)) });
const textOf = ({ content }: { readonly content: Uint8Array }): string => new TextDecoder().decode(content);
const codeOf = ({ words }: DeviceOffer): string => words.join(" ");
const otherId = "019a9e2c-7c1e-7abc-8def-ba9876543210";

/** Opens a phone with secrets, and a new laptop that offers its passkey. */
async function openPhoneAndLaptop(
  ...titles: readonly string[]
): Promise<{ world: World; phone: VaultSession; laptop: VaultSession; ids: string[]; offer: DeviceOffer }> {
  const world = createWorld();
  const phone = await world.open("phone");
  const ids: string[] = [];
  for (const [index, title] of ["First", ...titles].entries())
    ids.push((await protect(phone, textSecret(title, index === 0 ? makePicture("market") : undefined), {})).secretId);
  const laptop = await world.open("laptop");
  const offer = await offerDevice(laptop, { key: makePasskey(), name: "New laptop" });
  return { world, phone, laptop, ids, offer };
}

function mailboxOf({ service }: World, offer: DeviceOffer): { message: string; answer: string | null } {
  const link = service.deviceLinks.get(deriveDeviceLinkId(parseDeviceCode(codeOf(offer))));
  if (link === undefined) throw new TypeError("expected a mailbox");
  return link;
}

const statesOf = ({ service }: World): { state_rev: number; state: string }[] => {
  if (service.account.keyring === null) throw new TypeError("expected a keyring");
  return service.account.keyring.states;
};

/** Replaces the message, like an attacker who has the code. */
async function replaceMessage(
  world: World,
  offer: DeviceOffer,
  change: (request: LinkRequest) => LinkRequest,
  code = parseDeviceCode(codeOf(offer)),
): Promise<void> {
  const link = mailboxOf(world, offer);
  const request = await openLinkRequest(parseDeviceCode(codeOf(offer)), userId, link.message);
  link.message = await sealLinkRequest(code, change(request));
}

describe("adding a device from an unlocked one", () => {
  it("opens the list and every secret on the new device with the new passkey", async () => {
    const { world, phone, laptop, ids, offer } = await openPhoneAndLaptop("Second", "Third");
    expect(offer.words).toHaveLength(12);
    expect(await inspectRequestingDevice(phone, codeOf(offer))).toEqual({ name: "New laptop", secretCount: 3 });
    const progressEvents: string[] = [];
    const options = {
      onProgress: ({ phase, done, total }: { phase: string; done: number; total: number }) =>
        progressEvents.push(`${phase} ${String(done)}/${String(total)}`),
    };
    expect(await admitDevice(phone, ` ${codeOf(offer).toUpperCase()}\n`, makePicture("market"), options)).toEqual({
      resealedCount: 3,
      skippedIds: [],
      notified: true,
    });
    expect(progressEvents).toEqual(expect.arrayContaining(["sealing 0/3", "sealing 3/3"]));
    await joinDevice(laptop, offer, makePasskey());
    expect((await list(laptop)).map(({ label }) => label?.title).sort()).toEqual(["First", "Second", "Third"]);
    for (const [index, id] of ids.entries())
      expect(textOf(await openSmallSecret(laptop, id, makePasskey(), {}))).toBe(
        `content of ${["First", "Second", "Third"][index] ?? ""}`,
      );
    expect((await listOpeners(laptop)).openers).toMatchObject([
      { kind: "image" },
      { kind: "passkey", name: "New laptop", secretCount: 3 },
    ]);
    expect((await laptop.device.read()).passkeyOpener).not.toBeNull();
    expect((await phone.device.read()).passkeyOpener).toBeNull(); // the passkey was created elsewhere
    expect(JSON.stringify(world.service.bodies)).not.toContain("New laptop");
  });

  it("polls until there is an answer, despite lost calls", async () => {
    const { world, phone, laptop, offer } = await openPhoneAndLaptop();
    let pollCount = 0;
    world.service.beforeCall = async (call) => {
      if (!/^GET .*\/answer$/.test(call)) return;
      pollCount++;
      if (pollCount === 2) throw new PortalError("service_unavailable");
      if (pollCount === 4) await admitDevice(phone, codeOf(offer), makePicture("market"));
    };
    await joinDevice(laptop, offer, makePasskey());
    expect(pollCount).toBe(4);
    expect(laptop.state).toMatchObject({ status: "unlocked" });
  });

  it("expires by the service's response or the device's clock; another code works with the same passkey", async () => {
    const { world, phone, laptop, offer } = await openPhoneAndLaptop();
    await expect(joinDevice(laptop, { ...offer, expiresAt: new Date(0).toISOString() }, makePasskey())).rejects.toEqual(
      errorWithCode("device_link_expired"),
    );
    world.service.deviceLinks.clear();
    await expect(joinDevice(laptop, offer, makePasskey())).rejects.toEqual(errorWithCode("device_link_expired"));
    await expect(admitDevice(phone, codeOf(offer), makePicture("market"))).rejects.toEqual(
      errorWithCode("device_link_unavailable"),
    );
    const secondOffer = await offerDevice(laptop, { key: makePasskey(), name: "New laptop" });
    expect(secondOffer.words).not.toEqual(offer.words);
    await admitDevice(phone, codeOf(secondOffer), makePicture("market"));
    await joinDevice(laptop, secondOffer, makePasskey());
    expect((await listOpeners(phone)).openers).toHaveLength(2);
  });

  it("can be cancelled at once", async () => {
    const { laptop, offer } = await openPhoneAndLaptop();
    const controller = new AbortController();
    controller.abort();
    await expect(joinDevice(laptop, offer, makePasskey(), { signal: controller.signal })).rejects.toEqual(
      errorWithCode("cancelled"),
    );
  });

  it("continues with the same code after lost calls, and adds the device once", async () => {
    const { world, phone, laptop, offer } = await openPhoneAndLaptop("Second");
    let failedCalls = 0;
    world.service.beforeCall = (call) => {
      if (call.endsWith("/answer") && call.startsWith("PUT") && failedCalls++ < 3) throw new PortalError("offline");
    };
    await expect(admitDevice(phone, codeOf(offer), makePicture("market"))).rejects.toEqual(errorWithCode("offline"));
    expect(await admitDevice(phone, codeOf(offer), makePicture("market"))).toEqual({
      resealedCount: 0,
      skippedIds: [],
      notified: true,
    });
    expect((await listOpeners(phone)).openers).toHaveLength(2);
    await joinDevice(laptop, offer, makePasskey());
    expect(laptop.state).toMatchObject({ status: "unlocked" });
  });

  it("adds a device that no longer waits: the device's passkey unlocks it", async () => {
    const { world, phone, laptop, ids, offer } = await openPhoneAndLaptop();
    world.service.beforeCall = (call) => {
      if (call.startsWith("PUT /device-links/")) world.service.deviceLinks.clear();
    };
    expect(await admitDevice(phone, codeOf(offer), makePicture("market"))).toEqual({
      resealedCount: 1,
      skippedIds: [],
      notified: false,
    });
    await expect(joinDevice(laptop, offer, makePasskey())).rejects.toEqual(errorWithCode("device_link_expired"));
    expect(textOf(await openSmallSecret(laptop, ids[0] ?? "", makePasskey(), {}))).toBe("content of First");
  });

  it("reports unreadable words by their positions, before any call", async () => {
    const { world, phone, offer } = await openPhoneAndLaptop();
    const callCountBefore = world.service.calls.length;
    const inspectWords = (words: readonly string[]): Promise<unknown> =>
      inspectRequestingDevice(phone, words.join(" ")).catch((error: unknown) => error);
    expect(await inspectWords(offer.words.slice(1))).toEqual(errorWithCode("device_code_unreadable", { words: 11 }));
    expect(await inspectWords(offer.words.with(2, "relicario").with(11, "zzz"))).toEqual(
      errorWithCode("device_code_unreadable", { unknown: ["3", "12"] }),
    );
    expect(await inspectWords(Array<string>(12).fill("abandon"))).toEqual(errorWithCode("device_code_unreadable", {}));
    expect(await inspectWords([])).toEqual(errorWithCode("device_code_unreadable", { words: 0 }));
    expect(world.service.calls).toHaveLength(callCountBefore);
  });

  it("needs an unlocked device and an opener of the account; the new passkey cannot authorise itself", async () => {
    const { world, phone, laptop, offer } = await openPhoneAndLaptop();
    await expect(inspectRequestingDevice(laptop, codeOf(offer))).rejects.toEqual(errorWithCode("vault_locked"));
    await expect(admitDevice(laptop, codeOf(offer), makePicture("market"))).rejects.toEqual(
      errorWithCode("vault_locked"),
    );
    await expect(admitDevice(phone, codeOf(offer), makePicture("harbour"))).rejects.toEqual(
      errorWithCode("not_this_picture"),
    );
    await expect(admitDevice(phone, codeOf(offer), makePasskey())).rejects.toEqual(errorWithCode("not_this_passkey"));
    expect(mailboxOf(world, offer).answer).toBeNull();
    expect((await listOpeners(phone)).openers).toHaveLength(1);
  });

  it("reports device_link_own when the service forbids reading this browser's own message", async () => {
    const { world, phone, offer } = await openPhoneAndLaptop();
    world.service.beforeCall = (call) => {
      if (call.startsWith("GET /device-links/")) throw new PortalError("forbidden");
    };
    await expect(inspectRequestingDevice(phone, codeOf(offer))).rejects.toEqual(errorWithCode("device_link_own"));
  });

  it("accepts only passkeys, with a name", async () => {
    const { laptop } = await openPhoneAndLaptop();
    await expect(offerDevice(laptop, { key: makePasskey(), name: "" })).rejects.toEqual(
      errorWithCode("validation_error", { fields: ["name"] }),
    );
    await expect(offerDevice(laptop, { key: { kind: "recovery_code", code: "x" }, name: "Paper" })).rejects.toEqual(
      errorWithCode("validation_error", { fields: ["handle"] }),
    );
    await expect(
      offerDevice(laptop, { key: { kind: "passkey", prf: copyOf(new Uint8Array(16)) }, name: "Short" }),
    ).rejects.toEqual(errorWithCode("passkey_without_prf"));
  });
});

describe("browsers without Ed25519", () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it("admit devices and are admitted; they save no keys, and the passkey unlocks after a reload", async () => {
    const { subtle } = crypto;
    const importKey = subtle.importKey.bind(subtle) as (...parameters: unknown[]) => Promise<CryptoKey>;
    jest
      .spyOn(subtle, "importKey")
      .mockImplementation((...parameters: unknown[]) =>
        parameters[2] === "Ed25519"
          ? Promise.reject(new DOMException("", "NotSupportedError"))
          : importKey(...parameters),
      );
    const { world, phone, laptop, ids, offer } = await openPhoneAndLaptop("Second");
    expect(await admitDevice(phone, codeOf(offer), makePicture("market"))).toEqual({
      resealedCount: 2,
      skippedIds: [],
      notified: true,
    });
    await joinDevice(laptop, offer, makePasskey());
    expect(await setDeviceKind(laptop, "own")).toEqual({ keysSaved: false });
    expect((await laptop.device.read()).metadataKeys).toBeNull();
    const reloadedLaptop = await world.open("laptop");
    expect((await list(reloadedLaptop)).map(({ label }) => label)).toEqual([null, null]);
    expect(textOf(await openSmallSecret(reloadedLaptop, ids[1] ?? "", makePasskey(), {}))).toBe("content of Second");
    expect((await list(reloadedLaptop)).map(({ label }) => label?.title).sort()).toEqual(["First", "Second"]);
  });
});

describe("a hostile service between two devices", () => {
  it("that swaps the message is refused before anything is shown or added", async () => {
    const { world, phone, laptop, offer } = await openPhoneAndLaptop();
    const link = mailboxOf(world, offer);
    const { message } = link;
    const otherOffer = await offerDevice(laptop, { key: makePasskey(9), name: "Another" });
    const swaps: (() => Promise<void> | void)[] = [
      () => void (link.message = mailboxOf(world, otherOffer).message),
      () => replaceMessage(world, offer, (request) => request, generateDeviceCode()),
      () => replaceMessage(world, offer, (request) => ({ ...request, user_id: otherId })),
      () =>
        replaceMessage(world, offer, ({ opener, ...request }) => ({
          ...request,
          opener: { ...opener, recipient: `${opener.recipient.slice(0, -6)}qqqqqq` },
        })),
      () => void (link.message = `${message.slice(0, -3)}${message.endsWith("AAA") ? "BBB" : "AAA"}`),
    ];
    for (const swap of swaps) {
      link.message = message;
      await swap();
      await expect(inspectRequestingDevice(phone, codeOf(offer))).rejects.toEqual(errorWithCode("decryption_failed"));
      await expect(admitDevice(phone, codeOf(offer), makePicture("market"))).rejects.toEqual(
        errorWithCode("decryption_failed"),
      );
    }
    expect((await listOpeners(phone)).openers).toHaveLength(1);
  });

  it("cannot replace another opener: an id in use is refused", async () => {
    const { world, phone, offer } = await openPhoneAndLaptop();
    const [image] = (await listOpeners(phone)).openers;
    const slots = JSON.stringify(world.service.account.keyring?.slots);
    await replaceMessage(world, offer, ({ opener, ...request }) => ({
      ...request,
      opener: { ...opener, id: image?.id ?? "" },
    }));
    await expect(admitDevice(phone, codeOf(offer), makePicture("market"))).rejects.toEqual(errorWithCode("id_taken"));
    expect(JSON.stringify(world.service.account.keyring?.slots)).toBe(slots);
  });

  it("cannot forge an answer, or return the message or the answer of another code or account", async () => {
    const { world, phone, laptop, offer } = await openPhoneAndLaptop();
    const otherOffer = await offerDevice(laptop, { key: makePasskey(), name: "New laptop" });
    await admitDevice(phone, codeOf(otherOffer), makePicture("market"));
    const { state_rev: stateRev = 0, state = "" } = lastOf(statesOf(world)) ?? {};
    const latestState = {
      v: 1 as const,
      user_id: userId,
      state_rev: stateRev,
      state_sha256: computeStateDigest(state),
    };
    const link = mailboxOf(world, offer);
    for (const answer of [
      link.message,
      mailboxOf(world, otherOffer).answer,
      await sealLinkAnswer(generateDeviceCode(), latestState),
      await sealLinkAnswer(parseDeviceCode(codeOf(offer)), { ...latestState, user_id: otherId }),
    ]) {
      link.answer = answer;
      await expect(joinDevice(laptop, offer, makePasskey())).rejects.toEqual(errorWithCode("decryption_failed"));
      expect(laptop.keys).toBeNull();
    }
  });

  it("that shows the new device an older state is detected", async () => {
    const { world, phone, laptop, offer } = await openPhoneAndLaptop();
    await admitDevice(phone, codeOf(offer), makePicture("market"));
    const olderAccount = world.service.snapshot();
    await protect(phone, textSecret("Second"), {});
    const { state_rev: stateRev = 0, state = "" } = lastOf(statesOf(world)) ?? {};
    mailboxOf(world, offer).answer = await sealLinkAnswer(parseDeviceCode(codeOf(offer)), {
      v: 1,
      user_id: userId,
      state_rev: stateRev,
      state_sha256: computeStateDigest(state),
    });
    world.service.account = olderAccount;
    await expect(joinDevice(laptop, offer, makePasskey())).rejects.toEqual(errorWithCode("histories_differ"));
    expect(laptop.keys).toBeNull();
    expect((await laptop.device.read()).remembered).toBeNull();
  });

  it("that shows two devices different histories is detected", async () => {
    const { world, phone, laptop, offer } = await openPhoneAndLaptop();
    await admitDevice(phone, codeOf(offer), makePicture("market"));
    const forkedAccount = world.service.snapshot();
    await protect(phone, textSecret("Second"), {});
    const { state_rev: stateRev = 0, state = "" } = lastOf(statesOf(world)) ?? {};
    mailboxOf(world, offer).answer = await sealLinkAnswer(parseDeviceCode(codeOf(offer)), {
      v: 1,
      user_id: userId,
      state_rev: stateRev,
      state_sha256: computeStateDigest(state),
    });
    world.service.account = forkedAccount;
    const tablet = await world.open("tablet");
    (await unlock(tablet, makePicture("market"), {})).opener.wipe();
    await protect(tablet, textSecret("Another second"), {});
    await protect(tablet, textSecret("Third"), {});
    await expect(joinDevice(laptop, offer, makePasskey())).rejects.toEqual(errorWithCode("histories_differ"));
    expect(laptop.keys).toBeNull();
  });

  it("that claims an empty account, or omits states, is detected", async () => {
    const { world, phone, laptop, offer } = await openPhoneAndLaptop();
    await admitDevice(phone, codeOf(offer), makePicture("market"));
    await protect(phone, textSecret("Second"), {});
    world.service.transformResponse = (call, response) =>
      call === "GET /user/keyring" ? { ...(response as object), states: [] } : response;
    await expect(joinDevice(laptop, offer, makePasskey())).rejects.toEqual(errorWithCode("histories_differ"));
    world.service.transformResponse = (call, response) => (call === "GET /user/keyring" ? null : response);
    await expect(joinDevice(laptop, offer, makePasskey())).rejects.toEqual(errorWithCode("histories_differ"));
    world.service.transformResponse = (_call, response) => response;
    await joinDevice(laptop, offer, makePasskey()); // later states follow from the state in the answer
    expect((await list(laptop)).map(({ label }) => label?.title).sort()).toEqual(["First", "Second"]);
  });

  it("that does not serve the state of the answer yet is refused until it serves that state", async () => {
    const { world, phone, laptop, offer } = await openPhoneAndLaptop();
    const accountBefore = world.service.snapshot();
    await admitDevice(phone, codeOf(offer), makePicture("market"));
    const accountAfter = world.service.account;
    world.service.account = accountBefore;
    await expect(joinDevice(laptop, offer, makePasskey())).rejects.toEqual(errorWithCode("histories_differ"));
    world.service.account = accountAfter;
    await joinDevice(laptop, offer, makePasskey());
    expect(laptop.state).toMatchObject({ status: "unlocked" });
  });

  it("that withholds the new slot leaves the device locked", async () => {
    const { world, phone, laptop, offer } = await openPhoneAndLaptop();
    await admitDevice(phone, codeOf(offer), makePicture("market"));
    world.service.transformResponse = (call, response) =>
      call === "GET /user/keyring"
        ? { ...(response as object), slots: world.service.account.keyring?.slots.slice(0, 1) }
        : response;
    await expect(joinDevice(laptop, offer, makePasskey())).rejects.toEqual(errorWithCode("not_this_passkey"));
    expect(laptop.keys).toBeNull();
  });

  it("cannot return a device with a checkpoint to an older state", async () => {
    const { world, phone } = await openPhoneAndLaptop();
    const tablet = await world.open("tablet");
    const offer = await offerDevice(tablet, { key: makePasskey(), name: "Tablet" });
    await admitDevice(phone, codeOf(offer), makePicture("market"));
    const olderAccount = world.service.snapshot();
    await protect(phone, textSecret("Second"), {});
    (await unlock(tablet, makePicture("market"), {})).opener.wipe();
    world.service.account = olderAccount;
    await expect(joinDevice(await world.open("tablet"), offer, makePasskey())).rejects.toEqual(
      errorWithCode("older_state"),
    );
  });
});
