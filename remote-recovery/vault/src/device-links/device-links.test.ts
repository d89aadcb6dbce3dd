import "fake-indexeddb/auto";

import type { DeviceOffer } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { list } from "../acts/list.ts";
import { listOpeners } from "../acts/openers.ts";
import { protect } from "../acts/protect.ts";
import { recover } from "../acts/recover.ts";
import { answerDevice, unlock } from "../acts/unlock.ts";
import { copyOf } from "../seal/bytes.ts";
import {
  deviceLinkId,
  newDeviceCode,
  openLinkRequest,
  readDeviceCode,
  sealLinkAnswer,
  sealLinkRequest,
  type LinkRequest,
} from "../seal/device-link.ts";
import { stateDigest } from "../seal/state.ts";
import type { ShownKey } from "../shown-image.ts";
import { lastOf } from "../testing/fake-account.ts";
import { createWorld, shown, textSecret, userId, type World } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";
import { admitDevice, askingDevice } from "./admit.ts";
import { joinDevice, offerDevice } from "./join.ts";

const code = (expected: string, details?: unknown): unknown =>
  expect.objectContaining({ code: expected, ...(details === undefined ? {} : { details }) });
const passkey = (fill = 7): ShownKey => ({ kind: "passkey", prf: copyOf(new Uint8Array(32).fill(fill)) });
const plain = ({ content }: { readonly content: Uint8Array }): string => new TextDecoder().decode(content);
const typed = ({ words }: DeviceOffer): string => words.join(" ");
const otherId = "019a9e2c-7c1e-7abc-8def-ba9876543210";

/** A phone with secrets, and a new laptop that offers its passkey. */
async function phoneAndLaptop(
  ...titles: readonly string[]
): Promise<{ world: World; phone: VaultContext; laptop: VaultContext; ids: string[]; offer: DeviceOffer }> {
  const world = createWorld();
  const phone = await world.open("phone");
  const ids: string[] = [];
  for (const [index, title] of ["First", ...titles].entries())
    ids.push((await protect(phone, textSecret(title, index === 0 ? shown("market") : undefined), {})).secretId);
  const laptop = await world.open("laptop");
  const offer = await offerDevice(laptop, { key: passkey(), name: "New laptop" });
  return { world, phone, laptop, ids, offer };
}

/** The mailbox of an offer, as the service holds it. */
function mailboxOf({ service }: World, offer: DeviceOffer): { message: string; answer: string | null } {
  const link = service.deviceLinks.get(deviceLinkId(readDeviceCode(typed(offer))));
  if (link === undefined) throw new TypeError("no mailbox");
  return link;
}

const statesOf = ({ service }: World): { state_rev: number; state: string }[] => {
  if (service.account.keyring === null) throw new TypeError("no keyring");
  return service.account.keyring.states;
};

/** What somebody who has the code could leave in its place. */
async function leave(
  world: World,
  offer: DeviceOffer,
  change: (request: LinkRequest) => LinkRequest,
  by = readDeviceCode(typed(offer)),
): Promise<void> {
  const link = mailboxOf(world, offer);
  const request = await openLinkRequest(readDeviceCode(typed(offer)), userId, link.message);
  link.message = await sealLinkRequest(by, change(request));
}

describe("another device by a device at hand", () => {
  it("gets the list back and the contents of every secret, by its own passkey", async () => {
    const { world, phone, laptop, ids, offer } = await phoneAndLaptop("Second", "Third");
    expect(offer.words).toHaveLength(12);
    expect(await askingDevice(phone, typed(offer))).toEqual({ name: "New laptop", secrets: 3 });
    const steps: string[] = [];
    const options = {
      onProgress: ({ phase, done, total }: { phase: string; done: number; total: number }) =>
        steps.push(`${phase} ${String(done)}/${String(total)}`),
    };
    expect(await admitDevice(phone, ` ${typed(offer).toUpperCase()}\n`, shown("market"), options)).toEqual({
      covered: 3,
      left: [],
      answered: true,
    });
    expect(steps).toEqual(expect.arrayContaining(["sealing 0/3", "sealing 3/3"]));
    await joinDevice(laptop, offer, passkey());
    expect((await list(laptop)).map(({ label }) => label?.title).sort()).toEqual(["First", "Second", "Third"]);
    for (const [index, id] of ids.entries())
      expect(plain(await recover(laptop, id, passkey(), {}))).toBe(
        `content of ${["First", "Second", "Third"][index] ?? ""}`,
      );
    expect((await listOpeners(laptop)).openers).toMatchObject([
      { kind: "image" },
      { kind: "passkey", name: "New laptop", opens: 3 },
    ]);
    expect((await laptop.device.read()).passkeyOpener).not.toBeNull();
    expect((await phone.device.read()).passkeyOpener).toBeNull(); // made elsewhere
    expect(JSON.stringify(world.service.bodies)).not.toContain("New laptop");
  });

  it("waits until the answer is there, over calls that get lost", async () => {
    const { world, phone, laptop, offer } = await phoneAndLaptop();
    let looks = 0;
    world.service.before = async (call) => {
      if (!/^GET .*\/answer$/.test(call)) return;
      looks++;
      if (looks === 2) throw new PortalError("service_unavailable");
      if (looks === 4) await admitDevice(phone, typed(offer), shown("market"));
    };
    await joinDevice(laptop, offer, passkey());
    expect(looks).toBe(4);
    expect(laptop.getState()).toMatchObject({ status: "unlocked" });
  });

  it("gives up after its time, by the service's word or by its own clock; another code takes the same passkey", async () => {
    const { world, phone, laptop, offer } = await phoneAndLaptop();
    await expect(joinDevice(laptop, { ...offer, expiresAt: new Date(0).toISOString() }, passkey())).rejects.toEqual(
      code("device_link_expired"),
    );
    world.service.deviceLinks.clear();
    await expect(joinDevice(laptop, offer, passkey())).rejects.toEqual(code("device_link_expired"));
    await expect(admitDevice(phone, typed(offer), shown("market"))).rejects.toEqual(code("device_link_unavailable"));
    const again = await offerDevice(laptop, { key: passkey(), name: "New laptop" });
    expect(again.words).not.toEqual(offer.words);
    await admitDevice(phone, typed(again), shown("market"));
    await joinDevice(laptop, again, passkey());
    expect((await listOpeners(phone)).openers).toHaveLength(2);
  });

  it("can be left, and says so at once", async () => {
    const { laptop, offer } = await phoneAndLaptop();
    const leaving = new AbortController();
    leaving.abort();
    await expect(joinDevice(laptop, offer, passkey(), { signal: leaving.signal })).rejects.toEqual(code("cancelled"));
  });

  it("goes on with the same code after a lost answer: nothing is entered twice", async () => {
    const { world, phone, laptop, offer } = await phoneAndLaptop("Second");
    let lost = 0;
    world.service.before = (call) => {
      if (call.endsWith("/answer") && call.startsWith("PUT") && lost++ < 3) throw new PortalError("offline");
    };
    await expect(admitDevice(phone, typed(offer), shown("market"))).rejects.toEqual(code("offline"));
    expect(await admitDevice(phone, typed(offer), shown("market"))).toEqual({ covered: 0, left: [], answered: true });
    expect((await listOpeners(phone)).openers).toHaveLength(2);
    await joinDevice(laptop, offer, passkey());
    expect(laptop.getState()).toMatchObject({ status: "unlocked" });
  });

  it("that no longer waits is an opener all the same: its passkey unlocks it", async () => {
    const { world, phone, laptop, ids, offer } = await phoneAndLaptop();
    world.service.before = (call) => {
      if (call.startsWith("PUT /device-links/")) world.service.deviceLinks.clear();
    };
    expect(await admitDevice(phone, typed(offer), shown("market"))).toEqual({ covered: 1, left: [], answered: false });
    await expect(joinDevice(laptop, offer, passkey())).rejects.toEqual(code("device_link_expired"));
    expect(plain(await recover(laptop, ids[0] ?? "", passkey(), {}))).toBe("content of First");
  });

  it("tells which words cannot be read by their places, before anything is asked of the service", async () => {
    const { world, phone, offer } = await phoneAndLaptop();
    const before = world.service.calls.length;
    const wrong = (words: readonly string[]): Promise<unknown> =>
      askingDevice(phone, words.join(" ")).catch((error: unknown) => error);
    expect(await wrong(offer.words.slice(1))).toEqual(code("device_code_unreadable", { words: 11 }));
    expect(await wrong(offer.words.with(2, "relicario").with(11, "zzz"))).toEqual(
      code("device_code_unreadable", { unknown: ["3", "12"] }),
    );
    expect(await wrong(Array<string>(12).fill("abandon"))).toEqual(code("device_code_unreadable", {}));
    expect(await wrong([])).toEqual(code("device_code_unreadable", { words: 0 }));
    expect(world.service.calls).toHaveLength(before);
  });

  it("takes an unlocked device and an opener of the account; the new passkey cannot vouch for itself", async () => {
    const { world, phone, laptop, offer } = await phoneAndLaptop();
    await expect(askingDevice(laptop, typed(offer))).rejects.toEqual(code("vault_locked"));
    await expect(admitDevice(laptop, typed(offer), shown("market"))).rejects.toEqual(code("vault_locked"));
    await expect(admitDevice(phone, typed(offer), shown("harbour"))).rejects.toEqual(code("not_this_picture"));
    await expect(admitDevice(phone, typed(offer), passkey())).rejects.toEqual(code("not_this_passkey"));
    expect(mailboxOf(world, offer).answer).toBeNull();
    expect((await listOpeners(phone)).openers).toHaveLength(1);
  });

  it("says in the words of the service that the code is this browser's own", async () => {
    const { world, phone, offer } = await phoneAndLaptop();
    world.service.before = (call) => {
      if (call.startsWith("GET /device-links/")) throw new PortalError("forbidden");
    };
    await expect(askingDevice(phone, typed(offer))).rejects.toEqual(code("device_link_own"));
  });

  it("offers passkeys alone, with a name", async () => {
    const { laptop } = await phoneAndLaptop();
    await expect(offerDevice(laptop, { key: passkey(), name: "" })).rejects.toEqual(
      code("validation_error", { fields: ["name"] }),
    );
    await expect(offerDevice(laptop, { key: { kind: "recovery_code", code: "x" }, name: "Paper" })).rejects.toEqual(
      code("validation_error", { fields: ["shown"] }),
    );
    await expect(
      offerDevice(laptop, { key: { kind: "passkey", prf: copyOf(new Uint8Array(16)) }, name: "Short" }),
    ).rejects.toEqual(code("passkey_without_prf"));
  });
});

describe("browsers without Ed25519", () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it("let devices in and are let in; nothing is kept there, and the passkey unlocks the next page", async () => {
    const { subtle } = crypto;
    const importKey = subtle.importKey.bind(subtle) as (...given: unknown[]) => Promise<CryptoKey>;
    jest
      .spyOn(subtle, "importKey")
      .mockImplementation((...given: unknown[]) =>
        given[2] === "Ed25519" ? Promise.reject(new DOMException("", "NotSupportedError")) : importKey(...given),
      );
    const { world, phone, laptop, ids, offer } = await phoneAndLaptop("Second");
    expect(await admitDevice(phone, typed(offer), shown("market"))).toEqual({ covered: 2, left: [], answered: true });
    await joinDevice(laptop, offer, passkey());
    expect(await answerDevice(laptop, "own")).toEqual({ remembers: false });
    expect((await laptop.device.read()).titlesKeys).toBeNull();
    const later = await world.open("laptop");
    expect((await list(later)).map(({ label }) => label)).toEqual([null, null]);
    expect(plain(await recover(later, ids[1] ?? "", passkey(), {}))).toBe("content of Second");
    expect((await list(later)).map(({ label }) => label?.title).sort()).toEqual(["First", "Second"]);
  });
});

describe("a service between two devices", () => {
  it("that swaps what lies in the mailbox is refused before anything is shown or entered", async () => {
    const { world, phone, laptop, offer } = await phoneAndLaptop();
    const link = mailboxOf(world, offer);
    const { message } = link;
    const another = await offerDevice(laptop, { key: passkey(9), name: "Another" });
    const swapped: (() => Promise<void> | void)[] = [
      () => void (link.message = mailboxOf(world, another).message),
      () => leave(world, offer, (request) => request, newDeviceCode()),
      () => leave(world, offer, (request) => ({ ...request, user_id: otherId })),
      () =>
        leave(world, offer, ({ opener, ...request }) => ({
          ...request,
          opener: { ...opener, recipient: `${opener.recipient.slice(0, -6)}qqqqqq` },
        })),
      () => void (link.message = `${message.slice(0, -3)}${message.endsWith("AAA") ? "BBB" : "AAA"}`),
    ];
    for (const swap of swapped) {
      link.message = message;
      await swap();
      await expect(askingDevice(phone, typed(offer))).rejects.toEqual(code("decryption_failed"));
      await expect(admitDevice(phone, typed(offer), shown("market"))).rejects.toEqual(code("decryption_failed"));
    }
    expect((await listOpeners(phone)).openers).toHaveLength(1);
  });

  it("cannot have another opener replaced: an id that is taken is refused", async () => {
    const { world, phone, offer } = await phoneAndLaptop();
    const [image] = (await listOpeners(phone)).openers;
    const slots = JSON.stringify(world.service.account.keyring?.slots);
    await leave(world, offer, ({ opener, ...request }) => ({ ...request, opener: { ...opener, id: image?.id ?? "" } }));
    await expect(admitDevice(phone, typed(offer), shown("market"))).rejects.toEqual(code("id_taken"));
    expect(JSON.stringify(world.service.account.keyring?.slots)).toBe(slots);
  });

  it("cannot answer by itself, nor give back the question, or the answer to another code or account", async () => {
    const { world, phone, laptop, offer } = await phoneAndLaptop();
    const other = await offerDevice(laptop, { key: passkey(), name: "New laptop" });
    await admitDevice(phone, typed(other), shown("market"));
    const { state_rev: stateRev = 0, state = "" } = lastOf(statesOf(world)) ?? {};
    const told = { v: 1 as const, user_id: userId, state_rev: stateRev, state_sha256: stateDigest(state) };
    const link = mailboxOf(world, offer);
    for (const answer of [
      link.message,
      mailboxOf(world, other).answer,
      await sealLinkAnswer(newDeviceCode(), told),
      await sealLinkAnswer(readDeviceCode(typed(offer)), { ...told, user_id: otherId }),
    ]) {
      link.answer = answer;
      await expect(joinDevice(laptop, offer, passkey())).rejects.toEqual(code("decryption_failed"));
      expect(laptop.keys).toBeNull();
    }
  });

  it("that shows the new device an older state is found out", async () => {
    const { world, phone, laptop, offer } = await phoneAndLaptop();
    await admitDevice(phone, typed(offer), shown("market"));
    const older = world.service.snapshot();
    await protect(phone, textSecret("Second"), {});
    const { state_rev: stateRev = 0, state = "" } = lastOf(statesOf(world)) ?? {};
    mailboxOf(world, offer).answer = await sealLinkAnswer(readDeviceCode(typed(offer)), {
      v: 1,
      user_id: userId,
      state_rev: stateRev,
      state_sha256: stateDigest(state),
    });
    world.service.account = older;
    await expect(joinDevice(laptop, offer, passkey())).rejects.toEqual(code("histories_differ"));
    expect(laptop.keys).toBeNull();
    expect((await laptop.device.read()).remembered).toBeNull();
  });

  it("that shows two devices different histories is found out", async () => {
    const { world, phone, laptop, offer } = await phoneAndLaptop();
    await admitDevice(phone, typed(offer), shown("market"));
    const fork = world.service.snapshot();
    await protect(phone, textSecret("Second"), {});
    const { state_rev: stateRev = 0, state = "" } = lastOf(statesOf(world)) ?? {};
    mailboxOf(world, offer).answer = await sealLinkAnswer(readDeviceCode(typed(offer)), {
      v: 1,
      user_id: userId,
      state_rev: stateRev,
      state_sha256: stateDigest(state),
    });
    world.service.account = fork;
    const tablet = await world.open("tablet");
    (await unlock(tablet, shown("market"), {})).opener.forget();
    await protect(tablet, textSecret("Another second"), {});
    await protect(tablet, textSecret("Third"), {});
    await expect(joinDevice(laptop, offer, passkey())).rejects.toEqual(code("histories_differ"));
    expect(laptop.keys).toBeNull();
  });

  it("that says there is nothing yet, or leaves out states in between, is found out", async () => {
    const { world, phone, laptop, offer } = await phoneAndLaptop();
    await admitDevice(phone, typed(offer), shown("market"));
    await protect(phone, textSecret("Second"), {});
    world.service.answer = (call, answer) =>
      call === "GET /user/keyring" ? { ...(answer as object), states: [] } : answer;
    await expect(joinDevice(laptop, offer, passkey())).rejects.toEqual(code("histories_differ"));
    world.service.answer = (call, answer) => (call === "GET /user/keyring" ? null : answer);
    await expect(joinDevice(laptop, offer, passkey())).rejects.toEqual(code("histories_differ"));
    world.service.answer = (_call, answer) => answer;
    await joinDevice(laptop, offer, passkey()); // what was published since leads on from the answer
    expect((await list(laptop)).map(({ label }) => label?.title).sort()).toEqual(["First", "Second"]);
  });

  it("that tells of a state before it is there is not followed, and is once it shows it", async () => {
    const { world, phone, laptop, offer } = await phoneAndLaptop();
    const before = world.service.snapshot();
    await admitDevice(phone, typed(offer), shown("market"));
    const after = world.service.account;
    world.service.account = before;
    await expect(joinDevice(laptop, offer, passkey())).rejects.toEqual(code("histories_differ"));
    world.service.account = after;
    await joinDevice(laptop, offer, passkey());
    expect(laptop.getState()).toMatchObject({ status: "unlocked" });
  });

  it("that keeps the new slot back leaves the device locked", async () => {
    const { world, phone, laptop, offer } = await phoneAndLaptop();
    await admitDevice(phone, typed(offer), shown("market"));
    world.service.answer = (call, answer) =>
      call === "GET /user/keyring"
        ? { ...(answer as object), slots: world.service.account.keyring?.slots.slice(0, 1) }
        : answer;
    await expect(joinDevice(laptop, offer, passkey())).rejects.toEqual(code("not_this_passkey"));
    expect(laptop.keys).toBeNull();
  });

  it("cannot lead a device that holds the account back to what it knows to be old", async () => {
    const { world, phone } = await phoneAndLaptop();
    const tablet = await world.open("tablet");
    const offer = await offerDevice(tablet, { key: passkey(), name: "Tablet" });
    await admitDevice(phone, typed(offer), shown("market"));
    const older = world.service.snapshot();
    await protect(phone, textSecret("Second"), {});
    (await unlock(tablet, shown("market"), {})).opener.forget();
    world.service.account = older;
    await expect(joinDevice(await world.open("tablet"), offer, passkey())).rejects.toEqual(code("older_state"));
  });
});
