import { wordlist } from "@scure/bip39/wordlists/english.js";

import {
  errorWithCode,
  requireFirst,
  listSecretIds,
  decodeContent,
  type CreateHarness,
} from "./describe-vault.harness.ts";

const oneSecret = { secrets: [{ title: "Deed", content: "house" }] };
/** A valid device code that no device shows. */
const unknownCode = "legal winner thank year wave sausage worth useful legal winner thank yellow";

export function describeDeviceLinksAndReset(make: CreateHarness): void {
  describe("another device", () => {
    it("offers its passkey, and is unlocked after another device admits it", async () => {
      const { vault, makeKeyHandle, admitElsewhere } = await make({ ...oneSecret, unlocked: false });
      await vault.refresh();
      const passkeyOpener = { handle: makeKeyHandle("passkey", "7"), name: "New laptop" };
      await expect(vault.deviceLinks.offer({ ...passkeyOpener, name: "" })).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["name"] }),
      );
      const offer = await vault.deviceLinks.offer(passkeyOpener);
      expect(offer.words).toHaveLength(12);
      expect(Date.parse(offer.expiresAt)).toBeGreaterThan(Date.now());
      await admitElsewhere(offer.words);
      await vault.deviceLinks.join(offer, passkeyOpener.handle);
      expect(vault.getState()).toEqual({ status: "unlocked", device: null });
      const [id] = await listSecretIds(vault);
      expect(await decodeContent(await vault.openSecret(id, passkeyOpener.handle))).toBe("house");
      await expect(vault.openers.list()).resolves.toMatchObject({
        openers: [{ kind: "image" }, { kind: "passkey", name: "New laptop", secretCount: 1 }],
      });
    });

    it("stops waiting when its code expires or the call is aborted", async () => {
      const { vault, makeHandle, makeKeyHandle } = await make({ ...oneSecret, unlocked: false });
      await vault.refresh();
      const passkey = makeKeyHandle("passkey", "7");
      const { words } = await vault.generateRecoveryCode();
      await expect(vault.deviceLinks.offer({ handle: makeHandle("garden"), name: "x" })).rejects.toEqual(
        errorWithCode("opener_needed"),
      );
      await expect(
        vault.deviceLinks.offer({ handle: makeKeyHandle("recovery_code", words.join(" ")), name: "x" }),
      ).rejects.toEqual(errorWithCode("validation_error", { fields: ["handle"] }));
      const offer = await vault.deviceLinks.offer({ handle: passkey, name: "New laptop" });
      await expect(vault.deviceLinks.join({ ...offer, expiresAt: new Date(0).toISOString() }, passkey)).rejects.toEqual(
        errorWithCode("device_link_expired"),
      );
      const controller = new AbortController();
      const joining = vault.deviceLinks.join(offer, passkey, { signal: controller.signal });
      controller.abort();
      await expect(joining).rejects.toEqual(errorWithCode("cancelled"));
      expect(vault.getState()).toEqual({ status: "locked" });
    });

    it("is found by the numbers of its code", async () => {
      const { vault, requestingDeviceCode: shownCode } = await make({
        ...oneSecret,
        requestingDevice: { name: "New laptop" },
      });
      const numbers = shownCode.split(" ").map((word) => wordlist.indexOf(word) + 1);
      await expect(vault.deviceLinks.inspect(numbers.join(" "))).resolves.toMatchObject({ name: "New laptop" });
    });

    it("is admitted by its code", async () => {
      const {
        vault,
        makeHandle,
        requestingDeviceCode: shownCode,
      } = await make({ ...oneSecret, requestingDevice: { name: "New laptop" } });
      await expect(vault.deviceLinks.inspect(shownCode.toUpperCase())).resolves.toEqual({
        name: "New laptop",
        secretCount: 1,
      });
      const { openers } = await vault.openers.list();
      expect(openers).toHaveLength(1); // the inspection changed nothing
      await expect(vault.deviceLinks.approve(shownCode, makeHandle("sea"))).rejects.toEqual(
        errorWithCode("not_this_picture"),
      );
      const progress: string[] = [];
      await expect(
        vault.deviceLinks.approve(shownCode, makeHandle("garden"), {
          onProgress: ({ phase, done, total }) => progress.push(`${phase} ${String(done)}/${String(total)}`),
        }),
      ).resolves.toEqual({ resealedCount: 1, skippedIds: [], notified: true });
      expect(progress).toEqual(expect.arrayContaining(["sealing 0/1", "sealing 1/1"]));
      await expect(vault.openers.list()).resolves.toMatchObject({
        openers: [{ kind: "image" }, { kind: "passkey", name: "New laptop", secretCount: 1, hasSlot: true }],
      });
    });

    it("is not found by another code", async () => {
      const {
        vault,
        makeHandle,
        requestingDeviceCode: shownCode,
      } = await make({ ...oneSecret, requestingDevice: { name: "New laptop" } });
      for (const operation of [
        (codeInput: string) => vault.deviceLinks.inspect(codeInput),
        (codeInput: string) => vault.deviceLinks.approve(codeInput, makeHandle("garden")),
      ]) {
        await expect(operation(unknownCode)).rejects.toEqual(errorWithCode("device_link_unavailable"));
        await expect(operation("abandon ability")).rejects.toEqual(
          errorWithCode("device_code_unreadable", { words: 2 }),
        );
        await expect(operation(shownCode.replace(/^\w+/, "relicario"))).rejects.toEqual(
          errorWithCode("device_code_unreadable", { unknown: ["1"] }),
        );
      }
      await vault.lock();
      await expect(vault.deviceLinks.inspect(shownCode)).rejects.toEqual(errorWithCode("vault_locked"));
      await expect(vault.deviceLinks.approve(shownCode, makeHandle("garden"))).rejects.toEqual(
        errorWithCode("vault_locked"),
      );
      await expect(vault.deviceLinks.inspect("abandon")).rejects.toEqual(errorWithCode("device_code_unreadable"));
    });
  });

  describe("an account reset", () => {
    it("is requested once, and cancelled", async () => {
      const { vault } = await make({ ...oneSecret, unlocked: false });
      await vault.refresh();
      await expect(vault.accountReset.end("objected")).resolves.toMatchObject({ state: "none" });
      const status = await vault.accountReset.request();
      expect(status).toEqual({
        state: "waiting",
        requestedAt: expect.any(String) as string,
        readyAt: expect.any(String) as string,
        endedAt: null,
        retainedUntil: null,
      });
      await expect(vault.accountReset.request()).resolves.toEqual(status);
      await expect(vault.accountReset.status()).resolves.toEqual(status);
      await expect(vault.accountReset.end("cancelled")).resolves.toMatchObject({
        state: "cancelled",
        endedAt: expect.any(String) as string,
        retainedUntil: null,
      });
      await expect(vault.accountReset.end("objected")).resolves.toMatchObject({ state: "cancelled" });
    });

    it("is refused before its waiting time is over", async () => {
      const { vault, makeHandle } = await make({ ...oneSecret, accountReset: "waiting", unlocked: false });
      await expect(vault.accountReset.complete({ handle: makeHandle("lake"), name: "Lake" })).rejects.toEqual(
        errorWithCode("conflict"),
      );
      await expect(vault.accountReset.end("objected")).resolves.toMatchObject({ state: "objected" });
      await vault.unlock(makeHandle("garden"));
      expect(requireFirst(await vault.list()).label?.title).toBe("Deed");
    });

    it.each([true, false])("leaves nothing but the new picture (unlocked: %s)", async (unlocked) => {
      const { vault, makeHandle, makeKeyHandle } = await make({
        ...oneSecret,
        keys: [{ kind: "passkey", name: "Phone", credential: "7" }],
        ownRequests: [{ title: "The permit" }],
        accountReset: "ready",
        unlocked,
        device: "own",
      });
      await vault.refresh();
      await expect(vault.accountReset.complete({ handle: makeHandle("lake"), name: "" })).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["name"] }),
      );
      await expect(
        vault.accountReset.complete({ handle: makeKeyHandle("passkey", "7"), name: "Lake" }),
      ).rejects.toEqual(errorWithCode("picture_needed"));
      await vault.accountReset.complete({ handle: makeHandle("lake"), name: "Lake" });
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
      await expect(vault.accountReset.status()).resolves.toMatchObject({
        state: "begun",
        retainedUntil: expect.any(String) as string,
      });
      for (const list of [vault.list, vault.shares.list, vault.people.list]) await expect(list()).resolves.toEqual([]);
      await expect(vault.openers.list()).resolves.toMatchObject({
        openers: [{ kind: "image", name: "Lake" }],
        secrets: [],
      });
      await expect(vault.unlock(makeHandle("garden"))).rejects.toEqual(errorWithCode("not_this_picture"));
      await expect(vault.unlock(makeKeyHandle("passkey", "7"))).rejects.toEqual(errorWithCode("not_this_passkey"));
      await vault.unlock(makeHandle("lake"));
    });
  });
}
